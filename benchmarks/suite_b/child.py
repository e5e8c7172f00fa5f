"""The child process: both kernels and what is fused of them on a GPU, compared, then timed.

Requires a GPU, cuda-python and CuPy. Ensures: whatever it begins it first says through a connection, so that it is
known what hangs; only what is right is timed.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import cache
from multiprocessing.connection import Connection
from typing import Any

from measuring import Data, Single

import goptx
from goptx.errors import GoptxError
from suite_b import PAIR, WAYS, Candidate, bound_of, fused, launches
from suite_b.reference import errors, reference, tolerable

WARMUPS, REPEATS = 3, 30
STREAMS = {"streams": (0, 1), "streams, the other first": (1, 0)}
GRAPHS = {"graph": (0, 1), "graph, the other first": (1, 0)}
IN_TURN = "one after the other"
BASELINES = (IN_TURN, *GRAPHS, *STREAMS)
BEGIN, END, RESULT = "begin", "end", "result"

Run = Callable[[], None]
Blocks = tuple[tuple[int, ...], ...]
Outputs = list[dict[str, Any]]


def serve(connection: Connection, skipped: Collection[str], small: bool) -> None:
    """Runs the kernels alone, then sends (BEGIN, what), (END, what, row of a way) and in the end (RESULT, all that was
    found). What is `skipped` is left out."""
    pair = Pair(small)
    found: dict[str, Any] = {"reference": pair.reference_errors(pair.own_blocks), "ways": {}}
    found["right"] = tolerable(found["reference"])
    timed: dict[str, Run] = {}
    for way in WAYS:
        if (name := str(way)) in skipped:
            continue
        connection.send((BEGIN, name))
        try:
            row, run = pair.compared(way)
        except GoptxError as error:
            row, run = {"right": False, "problem": f"{type(error).__name__}: {error}"}, None
        if row is None:
            continue
        connection.send((END, name, row))
        found["ways"][name] = row
        found["right"] &= row["right"]
        if row["right"] and run:
            timed[name] = run
    if not small:
        alone = {f"{name} alone": pair.separate(pair.own_blocks, True, (k,)) for k, name in enumerate(PAIR)}
        streams = {name: pair.separate(pair.own_blocks, True, order) for name, order in STREAMS.items()}
        unchanged = {name: pair.graph(streams[of]) for name, of in zip(GRAPHS, STREAMS, strict=True)}
        unchanged[IN_TURN] = pair.graph(pair.in_turn())
        ways = {name: pair.graph(run) for name, run in {**alone, **timed}.items()}
        found["ms"] = pair.times({**streams, **unchanged, **ways}, lambda name: connection.send((BEGIN, name)))
    found["registers"] = pair.registers
    found["launches"] = {one.entry: [one.grid, one.block, one.shared] for one in pair.launches}
    connection.send((RESULT, found))


class Pair:
    """Both kernels with their data, and how each way leaves it."""

    def __init__(self, small: bool) -> None:
        from goptx.device.load import current_device

        self.device = current_device()
        self.streams = [self.device.create_stream() for _ in PAIR]
        self.launches = launches(small)
        self.data = [Data(one, 1000 * k) for k, one in enumerate(self.launches)]
        self.singles = [Single(one.file) for one in self.launches]
        self.registers = [single.assembly(True).registers for single in self.singles]
        self.own_blocks: Blocks = tuple(one.block for one in self.launches)
        self.reference = reference(*[self.arguments_by_name(k) for k in range(len(PAIR))])
        self.kernel = cache(self._kernel)
        self.expected = cache(self._expected)
        self.woven = cache(lambda way: fused(way, self.launches))

    def arguments_by_name(self, which: int) -> dict[str, Any]:
        names = [argument.name for argument in self.launches[which].arguments]
        return dict(zip(names, self.data[which].arguments, strict=True))

    def compared(self, way: Candidate) -> tuple[dict[str, Any] | None, Run | None]:
        """What is found out about a way, and what is to be timed; None for a bound that the kernel keeps anyway."""
        woven = self.woven(replace(way, bounded=False))
        bound = bound_of(way, woven, self.registers)
        if way.bounded and (bound is None or bound >= woven.resources().registers):
            return None, None
        cap = bound if way.bounded else None
        assert woven.plan is not None and woven.shape is not None
        blocks = tuple(tuple(n or 1 for n in woven.plan.shapes[way.order.index(k)].block) for k in range(len(PAIR)))
        exact = self.differences(self.fused(way, woven, cap, False), self.expected(blocks, False))
        run = self.fused(way, woven, cap, True)
        reference = self.reference_errors(blocks)
        resources = woven.resources(cap)
        row = {
            "shape": str(woven.shape),
            "blocks": blocks,
            "bound": bound,
            "cap": cap,
            "registers": resources.registers,
            "spill_bytes": resources.spill_bytes,
            "shared_bytes": resources.shared_bytes + (woven.shape.shared or 0),
            "occupancy": resources.occupancy,
            "assembler": resources.assembler,
            "woven_fraction": woven.report.woven_fraction,
            "differences_without_contraction": exact,
            "differences_with_contraction": self.differences(run, self.expected(blocks, True)),
            "reference": reference,
            "right": not any(count for count, _ in exact) and tolerable(reference),
        }
        return row, run

    # launches -------------------------------------------------------------------------------------------

    def _kernel(self, which: int, fmad: bool) -> Any:
        from goptx.device.load import load

        return load(self.singles[which].assembly(fmad).cubin, self.singles[which].name)

    def separate(self, blocks: Blocks, fmad: bool, order: Sequence[int] = (0, 1)) -> Run:
        """Launches of the kernels, each in a stream of its own; the first one's waits for all."""
        from goptx.device.load import launch

        made = [
            (self.kernel(k, fmad), self.singles[k].pack(self.data[k].arguments), self.launches[k], blocks[k])
            for k in order
        ]

        def run() -> None:
            first, *others = self.streams[: len(made)]
            fork = first.record()
            for stream in others:
                stream.wait(fork)
            for stream, (kernel, packed, one, block) in zip(self.streams, made, strict=False):
                launch(kernel, stream, packed, grid=one.grid, block=block, shared=one.shared)
            for stream in others:
                first.wait(stream.record())

        return run

    def in_turn(self) -> Run:
        """Launches of the kernels one after the other, on the first stream."""
        runs = [self.separate(self.own_blocks, True, (k,)) for k in range(len(PAIR))]

        def run() -> None:
            for one in runs:
                one()

        return run

    def graph(self, run: Run) -> Run:
        """The CUDA graph of what `run` launches; what it launches is loaded."""
        from goptx.measuring.bench.baseline_runs import Graphs

        return Graphs(self.streams[0]).of(run)

    def fused(self, way: Candidate, woven: goptx.Woven, cap: int | None, fmad: bool) -> Run:
        from goptx.device.load import launch, load

        assert woven.shape is not None
        kernel = load(woven.cubin(cap, fmad=fmad), woven.name)
        packed = woven.arguments(*[self.data[k].arguments for k in way.order])
        grid, block, shared = woven.shape.sizes("grid"), woven.shape.sizes("block"), woven.shape.shared or 0
        return lambda: launch(kernel, self.streams[0], packed, grid=grid, block=block, shared=shared)

    def once(self, run: Run, poison: int) -> None:
        import cupy as cp

        for own in self.data:
            own.reset(poison)
        cp.cuda.Device().synchronize()
        run()
        self.device.sync()

    # comparing ------------------------------------------------------------------------------------------

    def _expected(self, blocks: Blocks, fmad: bool) -> Outputs:
        """What the kernels leave alone, in these blocks: in others, sums of floats are rounded otherwise."""
        self.once(self.separate(blocks, fmad), 0xA5)
        return [own.outputs() for own in self.data]

    def differences(self, run: Run, expected: Outputs) -> list[tuple[int, float]]:
        self.once(run, 0x5A)
        return [own.difference(e) for own, e in zip(self.data, expected, strict=True)]

    def reference_errors(self, blocks: Blocks) -> dict[str, float]:
        """Of the kernels alone, in these blocks."""
        found = self.expected(blocks, True)
        return errors({name: array for own in found for name, array in own.items()}, self.reference)

    # timing ---------------------------------------------------------------------------------------------

    def times(self, timed: dict[str, Run], says: Callable[[str], None]) -> dict[str, list[float]]:
        """Milliseconds of each: median, least, most; all in turn, from fresh inputs."""
        import cupy as cp

        taken: dict[str, list[float]] = {name: [] for name in timed}
        for repeat in range(WARMUPS + REPEATS):
            for name, run in timed.items():
                says(name)
                for own in self.data:
                    own.reset()
                cp.cuda.Device().synchronize()
                begin = self.streams[0].record(options={"timing_enabled": True})
                run()
                end = self.streams[0].record(options={"timing_enabled": True})
                end.sync()
                if repeat >= WARMUPS:
                    taken[name].append(end - begin)
        return {name: [statistics.median(t), min(t), max(t)] for name, t in taken.items()}
