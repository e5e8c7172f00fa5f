"""Runs a captured graph and graphs made of it in place: whether they leave the same, and which is fastest.

Requires: graphs on the device, and the effects of the captured one's nodes. Ensures: what they may write has the same
contents afterwards as before. A graph of which it is not known what it writes is not run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from statistics import median
from typing import Any

import numpy as np

from goptx.device.graphs import torch_memory
from goptx.device.graphs.replayed import Bytes, Interval, Replayed
from goptx.errors import DeviceError
from goptx.graph.graph_description import EMPTY, KERNEL, Graph
from goptx.graph.node_effects import LAST, Effects, Memory
from goptx.graph.running.launchable_graph import LaunchableGraph

ROUNDS, WARMUPS = 15, 3
FINALS = 3  # times as many rounds for the last comparison
MOST_BYTES = 1 << 34  # that are saved: the copies must fit beside the program


class Trial:
    """note: why nothing is run; "" if graphs are run."""

    def __init__(self, captured: LaunchableGraph, effects: Sequence[Effects], stream: Any = None) -> None:
        self.captured, self._stream = captured, stream
        pieces, self.note = written(captured.program.graph, effects)
        self._replayed: Replayed | None = None
        self._expected: list[Bytes] = []
        self._steady: list[Any] = []
        if not self.note and (size := sum(end - start for start, end in pieces)) > MOST_BYTES:
            self.note = f"it may write {size} bytes, which are too many to be saved"
        if not self.note:
            try:
                self._replayed = Replayed(stream, pieces)
            except DeviceError as error:
                self.note = f"it could not be prepared ({error})"

    def __enter__(self) -> Trial:
        return self

    def __exit__(self, *error: object) -> None:
        manager: AbstractContextManager[object] = self._replayed or nullcontext()
        manager.__exit__(None, None, None)

    def different(self, graph: LaunchableGraph) -> str:
        """What a graph leaves in memory other than the captured one; "" if nothing. Bytes in which two runs of the
        captured one differ are not compared."""
        run = self._replayed
        if run is None:
            return ""
        if not self._expected:
            self._expected = run.left(self.captured.starter(self._stream))
            again = run.left(self.captured.starter(self._stream))
            self._steady = [one == other for one, other in zip(self._expected, again, strict=True)]
        found = run.left(graph.starter(self._stream))
        for (start, _), one, other, steady in zip(run.pieces, self._expected, found, self._steady, strict=True):
            wrong = np.flatnonzero((one != other) & steady)
            if wrong.size:
                return f"it leaves {wrong.size} other bytes, the first at {start + int(wrong[0]):#x}"
        return ""

    def milliseconds(self, graphs: Mapping[str, LaunchableGraph]) -> dict[str, float]:
        """The median time of each graph, run in turn; empty where nothing is run."""
        return {name: median(times) for name, times in self.rounds(graphs).items()}

    def rounds(self, graphs: Mapping[str, LaunchableGraph], times: int = 1) -> dict[str, list[float]]:
        """The milliseconds of each graph in each round, `times` as many rounds as usual; empty where nothing is run.
        Each round begins with another graph, for a graph may be faster after one than after another."""
        run = self._replayed
        if run is None:
            return {}
        found: dict[str, list[float]] = {name: [] for name in graphs}
        turns = list(graphs.items())
        for _ in range(WARMUPS + ROUNDS * times):
            for name, graph in turns:
                found[name].append(run.milliseconds(graph.starter(self._stream)))
            turns = [*turns[1:], *turns[:1]]
        return {name: each[WARMUPS:] for name, each in found.items()}


def written(graph: Graph, effects: Sequence[Effects]) -> tuple[list[Interval], str]:
    """The memory that a graph may write, in as few pieces as possible; and why that is not known, else ""."""
    memory = Memory(graph.allocations)
    found: set[Interval] = set()
    for node, effect in zip(graph.nodes, effects, strict=True):
        if node.kind == EMPTY:
            continue
        if node.kind != KERNEL and effect.everything:
            return [], f"node {node.id} is a {node.kind} node, and goptx does not know what it writes"
        if effect.everything:
            own = torch_memory.arrays()
            if not own:
                return [], f"node {node.id} `{node.entry}` may write anywhere: {effect.everything}"
            found |= {(start, end) for start, end in own} | set(memory.extents)
        for span in effect.spans:
            if span.writes and span.end == LAST:
                return [], f"node {node.id} `{node.entry}` writes by a pointer to memory that is not known"
            if span.writes:
                found.add((span.start, span.end))
    return merged(found), ""


def merged(pieces: set[Interval]) -> list[Interval]:
    """The same memory in as few pieces as possible."""
    found: list[Interval] = []
    for start, end in sorted(pieces):
        if found and start < found[-1][1]:  # not those beside each other, which may be two allocations
            found[-1] = found[-1][0], max(end, found[-1][1])
        elif end > start:
            found.append((start, end))
    return found
