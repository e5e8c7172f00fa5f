"""fusion(): launches are recorded instead of done, and done as one at the end."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self, Unpack, overload

from goptx.device import recorded_streams
from goptx.display import as_html, as_text, brief
from goptx.errors import InputError
from goptx.launch.device_arrays import Extent, extent_of, raw
from goptx.log import LOG
from goptx.region.argument_aliasing import meeting
from goptx.region.completion import Completion, RegionOptions, completed, in_turn, start
from goptx.region.fused_comparison import Comparison, compared
from goptx.region.recorded import Recorded, recorded
from goptx.results.fused_kernel import Woven
from goptx.results.given_kernels import MOST_KERNELS, Source
from goptx.results.temporary import Temporary
from goptx.strategies.fuse import check_strategy

if TYPE_CHECKING:
    from goptx.device.stream_watch import Seen
    from goptx.options import Strategy
    from goptx.region.fusion_options import (
        FusionAuto,
        FusionHorizontal,
        FusionInterleave,
        FusionSeparate,
        FusionVertical,
        FusionWeave,
    )

OVERTAKEN = (
    "something was put on the stream while a fusion region was open on it, and comes before all launches that the "
    "region recorded; put it before or after the region, or use goptx.fusion(stream, capture=True), which keeps its "
    "place."
)
FOUND_OUT = ("entries", "shapes", "depends", "same", "private", "local", "noalias")  # options that launches answer


@overload
def fusion(stream: Any, strategy: Literal["auto"] = "auto", **options: Unpack[FusionAuto]) -> Fusion: ...
@overload
def fusion(stream: Any, strategy: Literal["weave"], **options: Unpack[FusionWeave]) -> Fusion: ...
@overload
def fusion(stream: Any, strategy: Literal["vertical"], **options: Unpack[FusionVertical]) -> Fusion: ...
@overload
def fusion(stream: Any, strategy: Literal["horizontal"], **options: Unpack[FusionHorizontal]) -> Fusion: ...
@overload
def fusion(stream: Any, strategy: Literal["interleave"], **options: Unpack[FusionInterleave]) -> Fusion: ...
@overload
def fusion(stream: Any, strategy: Literal["separate"], **options: Unpack[FusionSeparate]) -> Fusion: ...
def fusion(
    stream: Any,
    strategy: Strategy = "auto",
    *,
    capture: bool = False,
    compare: bool = False,
    assume_local: bool = False,
    no_barriers: bool = False,
    independent: bool = False,
    max_registers: int | None = None,
    assume_private: bool = False,
    **options: Any,
) -> Fusion:
    """A region in which launches are recorded; at its end they are done as one fused kernel.

        with goptx.fusion(stream) as f:
            f.launch(kernel_a, grid_a, block_a, *args_a)
            f.launch(kernel_b, grid_b, block_b, *args_b)

    What the fused kernel leaves in memory is what the launches in order would leave. Where arguments say that one
    kernel writes a buffer that another touches, it has to be shown that each thread, or with a barrier each CTA, meets
    itself alone there; else the kernels are launched one after the other, and the reason is logged ("goptx") and in
    `report`. Nothing is launched after an exception inside, nor where the end raises one.

    stream: a cuda.core Stream, any object with `__cuda_stream__`, or None for the default stream.
    strategy: "auto" (what is estimated to be fastest), or one of `goptx.fuse`, whose `options` may follow.
        What a strategy refuses is launched one after the other.
    capture: capture the stream into a CUDA graph meanwhile, so that launches and copies of whatever framework keep
        their place among the recorded launches; what is given is a `CapturedFusion` then.
    compare: at the end time the fused kernel, and the launches one after the other, several times with the recorded
        arguments; `report.comparison` has both. Memory holds what one run of the region leaves, and the end waits for
        the stream. What the launches write is copied meanwhile, so nothing else may write it then.
    assume_local: the caller's word that what kernels hand on to each other stays within a CTA, where that is not shown.
    no_barriers: the caller's word that kernels that touch one buffer within a CTA need no barrier between them;
        `fused.report.notes` names each barrier that is left out.
    independent: the caller's word that no kernel touches what another writes; arguments are not compared then.
    max_registers: a cap, as of `Woven.launch`.
    assume_private: the caller's word that what a thread loads from a buffer declared with `private()` is what it has
        stored last itself to that element, where that cannot be proved.

    Buffers are told by their addresses: arrays that share memory from different addresses on are not fused. Of raw
    pointers nothing is known but whether they are equal.

    While the region is open, goptx launches nothing else on the stream, and no region begins within it; both are
    `InputError`, and so is anything that is asked of `f.stream`. What is done to the stream by other means (its own
    `sync`, launches and copies of a framework) does not wait for the recorded launches and comes before them. It is
    noticed only where a stream that had no work when the region began has work when it ends, which is a warning
    ("goptx"); `capture=True` keeps the order.
    """
    check_strategy(strategy, options)
    if given := [name for name in FOUND_OUT if name in options]:
        raise InputError(f"fusion() takes no `{given[0]}`: that follows from the launches, private() and local().")
    how = RegionOptions(strategy, assume_local, no_barriers, independent, max_registers, options, assume_private)
    if not capture:
        return Fusion(stream, how, compare)
    if compare:
        raise InputError("compare=True times a region's launches alone; leave capture=True out.")
    from goptx.region.captured import CapturedFusion

    return CapturedFusion(stream, how)


@dataclass(frozen=True, slots=True)
class RegionReport:
    """How a region was completed.

    strategy: of the fused kernel, or "separate"; reason: why the launches are not fused, "" if they are.
    anew: whether it was made now, or found in memory.
    preparing, launching: seconds that it took now to make, assemble and load it, or to find it, and to launch it.
    first: seconds that it took to make, assemble and load it when that was done.
    temporaries: of each buffer that was declared with `private()` or `local()`, where its elements are now, and why;
        empty for a region that was cancelled.
    comparison: with `compare=True` how long the fused kernel and the separate launches take.
    """

    __repr__ = brief

    strategy: str
    reason: str
    anew: bool
    preparing: float
    launching: float
    first: float
    temporaries: tuple[Temporary, ...] = ()
    comparison: Comparison | None = None

    _repr_pretty_ = as_text

    _repr_html_ = as_html

    def __str__(self) -> str:
        made = "made" if self.anew else f"found in memory (made in {self.first:.3g} s)"
        said = f"{self.strategy}, {made}: {self.preparing:.3g} s to prepare, {self.launching:.3g} s to launch"
        said = f"{said}; not fused: {self.reason}" if self.reason else said
        compared = f"; {self.comparison}" if self.comparison and not self.reason else ""
        return "\n".join((said + compared, *map(str, self.temporaries)))


class Fusion:
    """A region, made by `goptx.fusion`. After it, `fused` is what was launched, `report` (`RegionReport`) says
    how; both are None where nothing was launched."""

    def __init__(self, stream: Any, how: RegionOptions, compare: bool = False) -> None:
        self.fused: Woven | None = None
        self.report: RegionReport | None = None
        self.stream = recorded_streams.RecordedStream(stream)
        self._given, self._how, self._compare = stream, how, compare
        self._recording: Hashable = None
        self._seen: Seen | None = None
        self.state = "has not begun"
        self._launches: list[Recorded] = []
        self._temporaries: dict[str, list[Extent]] = {"private": [], "local": []}

    _repr_html_ = as_html

    def launch(
        self, kernel: Source, grid: Any, block: Any, *args: object, entry: str | None = None, shared: int = 0
    ) -> None:
        """Records the launch of one kernel, with the arguments as they are now.

        kernel: whatever `goptx.weave` takes for one: a path, PTX text, its bytes, a module, a coarsened kernel.
        grid, block: CTAs, and threads of one; shared: bytes of dynamic shared memory of a CTA. A kernel that knows the
            last two (one of Triton's) takes None for the block.
        entry: may be left out where the module has only one.

        Raises `InputError` for what cannot be launched, `PtxSyntaxError`.
        """
        self._check_open("launch")
        if len(self._launches) == MOST_KERNELS:
            raise InputError(f"a fusion region takes at most {MOST_KERNELS} launches; begin another one.")
        letter = chr(ord("A") + len(self._launches))
        self._launches.append(recorded(kernel, entry, letter, (fixed_extent(grid), fixed_extent(block), shared), args))

    def private(self, *buffers: object) -> None:
        """Says that these arrays, or raw pointers, hold nothing but what a thread hands on to itself in a later kernel.
        Nobody needs what is in them afterwards."""
        self._declare("private", buffers)

    def local(self, *buffers: object) -> None:
        """Says that these hold nothing but what threads of one CTA hand on to each other. Nobody needs what is in them
        afterwards."""
        self._declare("local", buffers)

    def _declare(self, kind: str, buffers: Sequence[object]) -> None:
        self._check_open(kind)
        for buffer in buffers:
            extent = raw(buffer) if type(buffer) is int else extent_of(buffer)
            if extent is None or not extent[0]:
                raise InputError(f"{kind}() takes device arrays and addresses, not a {type(buffer).__name__}.")
            self._temporaries[kind].append(extent)

    def cancel(self) -> None:
        """Ends the region and launches what is recorded, one kernel after the other."""
        self._check_open("cancel")
        self._end("was cancelled")
        if self._launches:
            self._warn_of_other_work()
            self._start(in_turn(self._launches, self._how, "the region was cancelled"), True, perf_counter())

    def __enter__(self) -> Self:
        if self.state != "has not begun":
            raise InputError(f"the fusion region {self.state}; make another one with goptx.fusion().")
        self._begin()
        self.state = "is open"
        return self

    def _begin(self) -> None:
        from goptx.device import stream_watch

        self._recording = recorded_streams.begin(self._given)
        self._seen = stream_watch.seen(self._given)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self.state != "is open":  # it was cancelled
            return
        self._end("has ended")
        if kind is None and self._launches:
            self._warn_of_other_work()
            self._compare_and_start(*self._prepared())

    def _prepared(self) -> tuple[Completion, bool, float]:
        """What the launches become, whether it was made now, and when that began."""
        begin = perf_counter()
        met = meeting(self._launches, self._temporaries["private"], self._temporaries["local"])
        return *completed(self._launches, met, self._how), begin

    def _compare_and_start(self, done: Completion, anew: bool, begin: float) -> None:
        if not self._compare:
            self._start(done, anew, begin)
            return
        now = perf_counter()
        comparison = compared(done.fused, self._launches, self._given, self._how)
        self._start(done, anew, begin + perf_counter() - now)
        assert self.report
        self.report = replace(self.report, comparison=comparison)

    def _warn_of_other_work(self) -> None:
        from goptx.device import stream_watch

        if stream_watch.has_new_work(self._given, self._seen):
            LOG.warning(OVERTAKEN)

    def _start(self, done: Completion, anew: bool, begin: float) -> None:
        prepared = perf_counter()
        start(done.fused, self._given, self._launches, self._how)
        times = prepared - begin, perf_counter() - prepared
        self._launches = []  # and their arrays
        self.fused = done.fused
        self.report = RegionReport(done.fused.strategy, done.reason, anew, *times, done.seconds, done.temporaries)

    def _end(self, state: str) -> None:
        self.state = state
        recorded_streams.end(self._recording)
        self.stream.release()

    def _check_open(self, what: str) -> None:
        if self.state != "is open":
            raise InputError(f"{what}() of a fusion region is for within it, and the region {self.state}.")


def fixed_extent(extent: Any) -> Any:
    return tuple(extent) if isinstance(extent, list) else extent
