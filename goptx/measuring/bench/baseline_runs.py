"""Runs the unchanged kernels in the ways of `baselines.py`, and anything that is launched as a CUDA graph.

Requires a current device. What runs was launched once before it is captured into a graph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from goptx.device.cuda_graph import captured
from goptx.device.load import bindings, launch, load_all, must
from goptx.launch.shape import Shape
from goptx.measuring.bench.baselines import ASSEMBLED, GRAPH, GRAPH_REVERSED, SEPARATE, STREAMS, STREAMS_REVERSED
from goptx.measuring.bench.workload import Workload
from goptx.results.fused_kernel import Woven

Run = Callable[[], None]
Start = Callable[[Any], None]
"""Launches something on a stream."""


@dataclass(frozen=True, slots=True)
class Runnable:
    """Something that is timed: as it is `launched` from the host, and as it is timed `on_device`."""

    launched: Run
    on_device: Run


MoreRuns = Callable[[Workload, Sequence[list[object]], Any], Iterator[tuple[str, Runnable]]]
"""Further ways to run the unchanged kernels of a workload, with their arguments, beside what is on a stream."""


def no_more(workload: Workload, arguments: Sequence[list[object]], stream: Any) -> Iterator[tuple[str, Runnable]]:
    return iter(())


class Graphs:
    """Makes CUDA graphs of launches on a stream; keeps them until `close`."""

    def __init__(self, stream: Any) -> None:
        self._driver = bindings()
        self._stream = self._driver.CUstream(int(stream.handle))
        self._made: list[Any] = []

    def of(self, run: Run) -> Run:
        """Launches the graph of what `run` launches, which is captured when it is first needed."""
        made: list[Any] = []

        def launched() -> None:
            if not made:
                made.append(self._captured(run))
            must(self._driver.cuGraphLaunch(made[0], self._stream))

        return launched

    def _captured(self, run: Run) -> Any:
        driver, graph = self._driver, captured(self._stream, run)
        executable = must(driver.cuGraphInstantiate(graph, 0))
        driver.cuGraphDestroy(graph)
        must(driver.cuGraphUpload(executable, self._stream))
        self._made.append(executable)
        return executable

    def close(self) -> None:
        for executable in self._made:
            self._driver.cuGraphExecDestroy(executable)
        self._made.clear()


def baseline_runs(
    workload: Workload, arguments: Sequence[list[object]], streams: Sequence[Any], graphs: Graphs
) -> Iterator[tuple[str, Runnable]]:
    """Each way with its name. `streams`: one for each kernel; the first is that of `graphs`."""
    for ending in ("", ASSEMBLED) if workload.has_native else ("",):
        starts = [
            assembled(kernel, None, True, [own]) if ending else prepared(kernel, [own])
            for kernel, own in zip(workload.each, arguments, strict=True)
        ]
        in_turn = partial(_in_turn, starts, streams[0])
        yield SEPARATE + ending, Runnable(in_turn, graphs.of(in_turn))
        if len(starts) == 1:
            continue
        for order, on_streams, as_graph in ((1, STREAMS, GRAPH), (-1, STREAMS_REVERSED, GRAPH_REVERSED)):
            forked = partial(_forked, starts[::order], streams)
            graph = graphs.of(forked)
            yield on_streams + ending, Runnable(forked, forked)
            yield as_graph + ending, Runnable(graph, graph)


def _in_turn(starts: Sequence[Start], stream: Any) -> None:
    for start in starts:
        start(stream)


def _forked(starts: Sequence[Start], streams: Sequence[Any]) -> None:
    """Each on a stream of its own: after what is on the first stream, and before what comes there later."""
    first, *others = streams
    for other in others:
        other.wait(first)
    for start, stream in zip(starts, streams, strict=True):
        start(stream)
    for other in others:
        first.wait(other)


def prepared(woven: Woven, arguments: Sequence[list[object]]) -> Start:
    """Launches a kernel with arguments that were packed before, as a careful user does."""
    woven.load()
    executable = woven.executable
    contents, _ = executable.packing.packed(arguments, independent=True)
    start = executable.starter(None, None, 0, None, None)
    memory = start.memory()
    memory.fill(contents)
    return lambda stream: start(stream, memory)


def bound(woven: Woven, cap: int | None, arguments: Sequence[list[object]], common: Shape | None = None) -> Start:
    """Launches a result of goptx with arguments that were packed before, as `prepared` does, in the way of its users.
    Shapes are those of `assembled`."""
    return woven.bind(*arguments, **sizes_of(common), max_registers=cap, independent=True).launch


def assembled(
    woven: Woven, cap: int | None, fmad: bool, arguments: Sequence[list[object]], common: Shape | None = None
) -> Start:
    """Launches the machine code that goptx's assembler makes, with contraction or without. The kernel was made for
    known shapes, or is launched in the `common` shape."""
    kernels = load_all(woven.cubin(cap, fmad=fmad), woven.entries)
    packed: list[Any] = woven.arguments(*arguments)
    each = packed if woven.is_separate else [packed]
    starts = [
        partial(
            launch, kernel, args=own, grid=one.shape.sizes("grid"), block=one.shape.sizes("block"),
            shared=one.shape.shared or 0,
        )
        for kernel, one, own in zip(kernels, woven.starts(**sizes_of(common)), each, strict=True)
    ]  # fmt: skip

    def start(stream: Any) -> None:
        for one in starts:
            one(stream=stream)

    return start


def sizes_of(common: Shape | None) -> dict[str, Any]:
    """The arguments of `Woven.launch` for a kernel in the shape of all its kernels; None: it was made for known
    shapes."""
    if common is None:
        return {"grid": None, "block": None}
    return {"grid": common.sizes("grid"), "block": common.sizes("block"), "shared": common.shared}
