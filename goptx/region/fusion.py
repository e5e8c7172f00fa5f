"""fusion(): launches are recorded, and done as one launch at the end."""

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
from goptx.region.completion import Completion, RegionOptions, completed, in_sequence, start
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
    "something was put on the stream while a fusion region was open on it, and runs before all launches that the "
    "region recorded; put it before or after the region, or use goptx.fusion(stream, capture=True), which preserves "
    "the order."
)
# Options derived from the launches, or that name kernels which are not known before.
DERIVED = ("entries", "shapes", "assume", "depends", "same", "private", "local", "noalias")


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

    The fused kernel leaves in memory what the launches in order would leave. If one kernel writes a buffer that another
    accesses, it must be proved that each element is accessed by one thread only, or with a barrier by one CTA only.
    Else the kernels are launched one after the other, and the reason is logged ("goptx") and in `report`. Nothing is
    launched after an exception inside, nor if the end raises one.

    stream: a cuda.core Stream, any object with `__cuda_stream__`, or None for the default stream.
    strategy: "auto" (the one estimated to be fastest), or one of `goptx.fuse`, whose `options` may follow.
        If a strategy refuses the kernels, they are launched one after the other.
    capture: capture the stream into a CUDA graph while the region is open, so that launches and copies of any framework
        stay in order with the recorded launches; the result is a `CapturedFusion`.
    compare: at the end time the fused kernel, and the launches one after the other, several times with the recorded
        arguments; `report.comparison` has both. Memory holds what one run of the region leaves, and the end waits for
        the stream. The memory that the launches write is copied meanwhile, so nothing else may write it then.
    assume_local: the caller asserts that dependences between the kernels stay within a CTA, if that cannot be proved.
    no_barriers: the caller asserts that kernels that access one buffer within a CTA need no barrier between them;
        `fused.report.notes` names each barrier that is left out.
    independent: the caller asserts that no kernel accesses what another writes; arguments are not compared then.
    max_registers: a cap, as in `Woven.launch`.
    assume_private: the caller asserts that a thread loads from a buffer declared with `private()` only what it stored
        there last itself, if that cannot be proved.

    Buffers are identified by their addresses: kernels whose arrays overlap at different addresses are not fused. Of raw
    pointers it is known only whether they are equal.

    While the region is open, goptx launches nothing else on the stream, and no region begins within it; both are
    `InputError`, and so is any use of `f.stream`. Other uses of the stream (its own `sync`, launches and copies of a
    framework) do not wait for the recorded launches and come before them. This is noticed only if a stream that had no
    work when the region began has work when it ends, which gives a warning ("goptx"); `capture=True` preserves the
    order.
    """
    check_strategy(strategy, options)
    if given := [name for name in DERIVED if name in options]:
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
    first: seconds that it took to make, assemble and load it the first time.
    temporaries: for each buffer declared with `private()` or `local()`, where its elements are now, and why; empty for
        a region that was cancelled.
    comparison: with `compare=True` the times of the fused kernel and of the separate launches.
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
        text = f"{self.strategy}, {made}: {self.preparing:.3g} s to prepare, {self.launching:.3g} s to launch"
        text = f"{text}; not fused: {self.reason}" if self.reason else text
        compared = f"; {self.comparison}" if self.comparison and not self.reason else ""
        return "\n".join((text + compared, *map(str, self.temporaries)))


class Fusion:
    """A region, made by `goptx.fusion`. After it, `fused` is the launched kernel, and `report` is its `RegionReport`;
    both are None if nothing was launched."""

    def __init__(self, stream: Any, how: RegionOptions, compare: bool = False) -> None:
        self.fused: Woven | None = None
        self.report: RegionReport | None = None
        self.stream = recorded_streams.RecordedStream(stream)
        self._given, self._how, self._compare = stream, how, compare
        self._recording: Hashable = None
        self._seen: Seen | None = None
        self.state = "has not begun"
        self._launches: list[Recorded] = []
        self._held: list[object] = []  # the arguments, so that arrays live until they are launched
        self._temporaries: dict[str, list[Extent]] = {"private": [], "local": []}

    _repr_html_ = as_html

    def __repr__(self) -> str:
        return f"{type(self).__name__}(strategy={self._how.strategy!r}, the region {self.state})"

    def __str__(self) -> str:
        return str(self.report) if self.report else f"a fusion region, strategy {self._how.strategy}, that {self.state}"

    def launch(
        self, kernel: Source, grid: Any, block: Any, *args: object, entry: str | None = None, shared: int = 0
    ) -> None:
        """Records the launch of one kernel, with the arguments as they are now.

        kernel: as for `goptx.weave`: a path, PTX text, its bytes, a module, a coarsened kernel.
        grid, block: CTAs, and threads of a CTA; shared: bytes of dynamic shared memory of a CTA. A kernel that was
            compiled for a block and shared memory (one of Triton's) takes None for the block.
        entry: may be left out if the module has only one.

        Raises `InputError` for a kernel or arguments that cannot be launched, `PtxSyntaxError`.
        """
        self._check_open("launch")
        if len(self._launches) == MOST_KERNELS:
            raise InputError(f"a fusion region takes at most {MOST_KERNELS} launches; begin another one.")
        letter = chr(ord("A") + len(self._launches))
        self._launches.append(recorded(kernel, entry, letter, (fixed_extent(grid), fixed_extent(block), shared), args))
        self._held.append(args)

    def private(self, *buffers: object) -> None:
        """Declares that a thread reads from these arrays, or raw pointers, only what it wrote itself in an earlier
        kernel. Their content is undefined afterwards."""
        self._declare("private", buffers)

    def local(self, *buffers: object) -> None:
        """Declares that a thread reads from these only what threads of its own CTA wrote. Their content is undefined
        afterwards."""
        self._declare("local", buffers)

    def _declare(self, kind: str, buffers: Sequence[object]) -> None:
        self._check_open(kind)
        for buffer in buffers:
            extent = raw(buffer) if type(buffer) is int else extent_of(buffer)
            if extent is None or not extent[0]:
                raise InputError(f"{kind}() takes device arrays and addresses, not `{type(buffer).__name__}`.")
            self._temporaries[kind].append(extent)

    def cancel(self) -> None:
        """Ends the region and launches the recorded kernels, one after the other."""
        self._check_open("cancel")
        self._end("was cancelled")
        if self._launches:
            self._warn_of_other_work()
            self._start(in_sequence(self._launches, self._how, "the region was cancelled"), True, perf_counter())

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
        """The completion of the launches, whether it was made now, and the time when that began."""
        begin = perf_counter()
        private, local = self._temporaries["private"], self._temporaries["local"]
        return *completed(self._launches, private, local, self._how), begin

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
        self._launches, self._held = [], []
        self.fused = done.fused
        self.report = RegionReport(done.fused.strategy, done.reason, anew, *times, done.seconds, done.temporaries)

    def _end(self, state: str) -> None:
        self.state = state
        recorded_streams.end(self._recording)
        self.stream.release()

    def _check_open(self, what: str) -> None:
        if self.state != "is open":
            raise InputError(f"{what}() belongs inside a fusion region, and the region {self.state}.")


def fixed_extent(extent: Any) -> Any:
    return tuple(extent) if isinstance(extent, list) else extent
