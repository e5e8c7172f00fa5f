"""Copies blocks so that every loop of a flow is single-entry (node splitting).

Requires: a flow whose blocks can all be reached. Ensures: the same paths, and no irreducible loop. Merging makes such
loops where one kernel ends amid a loop of the other, and ptxas loses convergence in them: on an H200 a vote after a
divergent branch of such a flow was taken by a part of the warp only (ptxas 13.0, -O1 and above).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf

import networkx as nx

from goptx.analysis.cfg import Flow
from goptx.weaving.merging.size_limits import TooLarge


def is_reducible(flow: Flow) -> bool:
    return next(_Splitting(flow).irreducible(), None) is None


def reducible(flow: Flow, most: float = inf, mark: str = "_c") -> tuple[Flow, dict[str, str]]:
    """The flow with copies, and for each copy the name of its original. The name of a copy is that, the mark and a
    number.

    Raises `TooLarge` where that takes more than `most` instructions, branches among them.
    """
    splitting = _Splitting(flow, mark)
    size = sum(block.size for block in flow.blocks.values())
    for loop in splitting.irreducible():
        size += splitting.split(loop)
        if size > most:
            raise TooLarge
    return Flow(splitting.entry, splitting.blocks), splitting.origin


@dataclass(frozen=True, slots=True)
class _Loop:
    """A multiple-entry loop, and the blocks at which it is entered."""

    blocks: tuple[str, ...]
    entries: tuple[str, ...]


class _Splitting:
    """A flow while its blocks are copied; `origin` says what each copy is a copy of."""

    def __init__(self, flow: Flow, mark: str = "") -> None:
        self.mark = mark
        self.entry = flow.entry
        self.blocks = dict(flow.blocks)
        self.origin: dict[str, str] = {}
        self._sources: dict[str, list[str]] = {n: [] for n in flow.blocks}  # of each block those that lead to it
        for name in flow.blocks:
            self._note_targets(name)
        self._work: list[Sequence[str]] = [tuple(flow.blocks)]

    def irreducible(self) -> Iterator[_Loop]:
        """The multiple-entry loops, from the outermost inwards. Each has to be split before the next is asked
        for: that one may lie in the copies, or in what is left of the loop without its header."""
        while self._work:
            for blocks in self._cycles(self._work.pop()):
                inside = frozenset(blocks)
                entries = tuple(n for n in blocks if n == self.entry or not inside.issuperset(self._sources[n]))
                if len(entries) > 1:
                    yield _Loop(blocks, entries)
                else:
                    self._work.append([n for n in blocks if n not in entries])

    def split(self, loop: _Loop) -> int:
        """Makes the entry that takes fewest copies the only one; what the others reach before they come to it is
        copied for them. Returns the instructions of the copies."""
        inside = frozenset(loop.blocks)
        within = {n: [t for t in self.blocks[n].end.successors() if t in inside] for n in loop.blocks}
        reached = {h: _reached(within, [e for e in loop.entries if e != h], h) for h in loop.entries}
        cost = {h: sum(self.blocks[n].size for n in reached[h]) for h in loop.entries}
        header = min(loop.entries, key=lambda h: len(reached[h]))
        copies = self._new_names([n for n in loop.blocks if n in reached[header]])
        for name in copies:
            for source in [s for s in self._sources[name] if s not in inside]:
                self._retarget(source, copies)
        for name, copy in copies.items():
            self.blocks[copy] = replace(self.blocks[name], end=self.blocks[name].end.retarget(copies))
            self._note_targets(copy)
        self.entry = copies.get(self.entry, self.entry)
        self._work += [[n for n in loop.blocks if n != header], list(copies.values())]
        return cost[header]

    def _new_names(self, names: Collection[str]) -> dict[str, str]:
        copies = {n: f"{self.origin.get(n, n)}{self.mark}{len(self.origin) + i}" for i, n in enumerate(names)}
        for name, copy in copies.items():
            self.origin[copy] = self.origin.get(name, name)
            self._sources[copy] = []
        return copies

    def _retarget(self, source: str, new: dict[str, str]) -> None:
        block = self.blocks[source]
        for target in block.end.successors():
            self._sources[target].remove(source)
        self.blocks[source] = replace(block, end=block.end.retarget(new))
        self._note_targets(source)

    def _note_targets(self, name: str) -> None:
        for target in self.blocks[name].end.successors():
            self._sources[target].append(name)

    def _cycles(self, names: Collection[str]) -> Iterator[tuple[str, ...]]:
        """The strongly connected pieces of more than one block among these."""
        inside = frozenset(names)
        graph: nx.DiGraph[str] = nx.DiGraph()
        graph.add_nodes_from(names)
        graph.add_edges_from((n, t) for n in names for t in self.blocks[n].end.successors() if t in inside)
        for component in nx.strongly_connected_components(graph):
            if len(component) > 1:
                yield tuple(n for n in names if n in component)  # sets have no fixed order


def _reached(within: Mapping[str, Sequence[str]], starts: Sequence[str], header: str) -> set[str]:
    """What `starts` lead to within the loop without passing the header, themselves among it."""
    reached, work = set(starts), list(starts)
    while work:
        for target in within[work.pop()]:
            if target != header and target not in reached:
                reached.add(target)
                work.append(target)
    return reached
