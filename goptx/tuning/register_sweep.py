"""sweep(): one kernel at several register caps, launched by the caller or as launch specifications describe it.

Described launches are first compared with the kernels alone, on fresh data. They are then timed, interleaved, by a
process of their own: the bench that tuning uses.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from contextlib import closing, nullcontext
from dataclasses import replace
from numbers import Integral
from statistics import median
from typing import TYPE_CHECKING, Any

from goptx.device import sweep as by_hand
from goptx.device.sweep import CAPS, UNCAPPED, Sweep, Sweepable, SweepRow, check_runs
from goptx.errors import AssemblyError, InputError
from goptx.launch.coarsening import ALONE
from goptx.launch.shape import Shape
from goptx.launch.specification import find_specification
from goptx.measuring.bench.bench import Bench
from goptx.measuring.bench.questions import Failed
from goptx.measuring.profiling.profiled_launches import Subject
from goptx.results.fused_kernel import Woven
from goptx.sources.kernel_text import Chosen
from goptx.tuning.judging import BenchLike
from goptx.tuning.measured import Arguments, Measured, Specification, measured
from goptx.tuning.tune import WrongOutput

if TYPE_CHECKING:
    from cuda.core import Kernel

REPEATS, WARMUPS = 20, 3
NAN = math.nan
WRONG = "it does not write what its kernels alone write"


def sweep(
    woven: Sweepable,
    run: Callable[[Kernel, Any], object] | None = None,
    registers: Sequence[int] = CAPS,
    *,
    spec: Specification | None = None,
    shapes: Sequence[Shape] | None = None,
    args: Arguments | None = None,
    seed: int = 0,
    tolerance: float | None = None,
    block: int | tuple[int, ...] | None = None,
    stream: Any = None,
    warmups: int = WARMUPS,
    repeats: int = REPEATS,
    bench: BenchLike | None = None,
) -> Sweep:
    """Assembles a kernel at each cap of `registers` and times it on the GPU (the sweep of GoPTX, DAC 2025).

    woven: a kernel from `goptx.weave`, `goptx.fuse` or `goptx.coarsen`. With `run`, any object with the methods
        `resources` and `load`.
    run: `run(kernel, stream)` launches the kernel once on that stream, and does not wait. Without it, the kernel is
        launched as `spec` describes its kernels, or the launch specifications beside their files.
    registers: caps per thread, 1 to 255; 256 and more stand for no cap.
    spec, shapes, args, seed, tolerance: as in `goptx.tune`: launch specifications, or instead the shape of each kernel
        and arguments.
    block, stream: with `run`: threads of a CTA, from which occupancy is computed, and the stream to launch on (a
        cuda.core Stream or any object with `__cuda_stream__`; by default a new one).
    warmups, repeats: untimed and timed launches at each cap.
    bench: where to measure, instead of on the first GPU; it stays open.

    A described launch is compared with the kernels alone before it is timed, bit for bit, as in `goptx.tune`. A cap at
    which the kernel writes something else is not timed and gives a `WrongOutput` warning. The runs of all caps are
    interleaved, each run on fresh inputs. With `run`, nothing is compared, and the launches of a cap follow each other:
    for a kernel shorter than what the host needs to queue a launch (some 20 microseconds), that time is measured
    instead. A cap at which no CTA fits on an SM is not run.

    Raises `InputError`, before it needs a GPU, if nothing describes the launch or the description does not fit the
    kernel; `DeviceError` without a GPU; `AssemblyError`.
    """
    caps = checked_caps(registers, warmups, repeats)
    if run is not None:
        if not (spec is None and shapes is None and args is None and bench is None):
            raise InputError("run= launches the kernel by itself; leave spec=, shapes=, args= and bench= out, or run=.")
        return by_hand.sweep(woven, run, caps, block=block, stream=stream, warmups=warmups, repeats=repeats)
    if block is not None or stream is not None:
        raise InputError("block= and stream= belong to run=; without it, launch specifications describe the launch.")
    if not isinstance(woven, Woven):
        kind = type(woven).__name__
        raise InputError(f"{kind} is not a kernel that goptx made; give run=, a function that launches it.")
    subject = described(woven, spec, shapes, args, seed, tolerance)
    with closing(Bench()) if bench is None else nullcontext(bench) as place:
        return swept(woven, subject.raised(place.described().arch), caps, place, warmups, repeats)


def checked_caps(registers: Sequence[int], warmups: int = WARMUPS, repeats: int = REPEATS) -> tuple[int, ...]:
    """The caps, each once. Raises `InputError`."""
    wrong = [cap for cap in registers if isinstance(cap, bool) or not isinstance(cap, Integral) or cap < 1]
    if not len(registers) or wrong:
        raise InputError(
            f"registers={list(registers)} takes caps per thread: numbers from 1 to 255, and {UNCAPPED} for no cap."
        )
    check_runs(repeats, warmups)
    return tuple(dict.fromkeys(map(int, registers)))


def described(
    woven: Woven,
    spec: Specification | None = None,
    shapes: Sequence[Shape] | None = None,
    args: Arguments | None = None,
    seed: int = 0,
    tolerance: float | None = None,
) -> Measured:
    """The kernels of which `woven` is made, as they are launched alone. Raises `InputError`."""
    if not woven.is_separate and (woven.depends or any(p.instead is not None for p in woven.params)):
        raise InputError(
            f"the kernels of `{woven.name}` depend on each other, and launch specifications describe each of them "
            "alone; give run=, a function that launches it."
        )
    kernels = [replace(kernel, coarse=ALONE) for kernel in woven.chosen]
    if spec is None and shapes is None and args is None and not all(map(_is_described, kernels)):
        raise InputError(
            f"nothing describes how `{woven.name}` is launched; give launch specifications of its kernels, "
            'spec=["A.toml", "B.toml"], or run=, a function that launches it.'
        )
    subject = measured(kernels, spec, None, shapes, args, None, seed, tolerance)
    common_shape(woven, subject)
    return subject


def _is_described(kernel: Chosen) -> bool:
    return kernel.path is not None and find_specification(kernel.path, kernel.entry) is not None


def common_shape(woven: Woven, subject: Measured) -> Shape | None:
    """The one shape of all kernels, None if the fused kernel was made for the shape of each. Raises `InputError` if the
    fused kernel was made of other kernels or for other shapes."""
    own = Subject(subject.workload, subject.shapes, woven)
    if woven.plan is not None and all(shape.known for shape in woven.plan.shapes):
        own.check()
        return None
    grids = {(shape.sizes("grid"), shape.sizes("block")) for shape in subject.shapes}
    shared = {shape.shared for shape in subject.shapes if shape.shared}
    if len(grids) > 1 or len(shared) > 1:
        raise InputError(
            f"`{woven.name}` was made for one common shape, but its kernels are launched as "
            f"{', '.join(map(str, subject.shapes))}; make it for these, by shapes=."
        )
    (grid, block), bytes_ = grids.pop(), max(shared, default=0)
    woven.starts(grid, block, bytes_ or 0)
    return Shape(grid, block, bytes_)


def swept(
    woven: Woven,
    subject: Measured,
    caps: Sequence[int],
    place: BenchLike,
    warmups: int = WARMUPS,
    repeats: int = REPEATS,
) -> Sweep:
    """The sweep, measured on this bench."""
    common = common_shape(woven, subject)
    place.open(subject.workload)
    rows = [_judged(woven, cap, common, place) for cap in caps]
    timed = _timed([row for row in rows if place.holds(_name(row.cap))], place, warmups, repeats)
    return Sweep(tuple(timed.get(row.cap, row) for row in rows))


def _timed(rows: Sequence[SweepRow], place: BenchLike, warmups: int, repeats: int) -> dict[int, SweepRow]:
    """The timed rows, by cap. All are timed in one measurement; if that fails, each alone, to find the failing one."""
    if not rows:
        return {}
    found = place.time([_name(row.cap) for row in rows], repeats, warmups)
    if not found.problem:
        return {row.cap: _with_times(row, found.ms[_name(row.cap)]) for row in rows}
    if len(rows) == 1:
        return {rows[0].cap: replace(rows[0], problem=found.problem)}
    return {cap: one for row in rows for cap, one in _timed([row], place, warmups, repeats).items()}


def _with_times(row: SweepRow, runs: Sequence[float]) -> SweepRow:
    """runs: milliseconds."""
    return replace(row, ms=median(runs), ms_min=min(runs), ms_max=max(runs))


def _judged(woven: Woven, cap: int, common: Shape | None, place: BenchLike) -> SweepRow:
    """The costs of a cap, not timed. The bench holds the kernel afterwards if its results are right."""
    try:
        block, shared = (common.threads, common.shared or 0) if common else (None, 0)
        cost = woven.resources(cap, block, shared)
    except AssemblyError as error:
        if cap >= UNCAPPED:
            raise
        return SweepRow(cap, 0, 0, None, NAN, NAN, NAN, str(error))
    row = SweepRow(cap, cost.registers, cost.spill_bytes, cost.occupancy, NAN, NAN, NAN)
    if cost.occupancy == 0:
        return row
    answer = place.judge(_name(cap), woven, cap, common)
    if isinstance(answer, Failed):
        return replace(row, problem=answer.problem)
    if not answer.wrong:
        return replace(row, contracted=answer.contracted)
    name = f"`{woven.name}` capped at {cap}" if cap < UNCAPPED else f"`{woven.name}`"
    warnings.warn(f"{name}: {answer.wrong}; please report it", WrongOutput, stacklevel=4)
    return replace(row, problem=f"{WRONG}: {answer.wrong}")


def _name(cap: int) -> str:
    return f"capped at {cap}"
