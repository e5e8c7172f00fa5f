"""profile(): what Nsight Compute counts for kernels alone, and fused."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from goptx.errors import InputError
from goptx.launch.shape import Shape
from goptx.measuring.profiling.metrics import ALL, COUNTERS
from goptx.measuring.profiling.ncu import find_ncu
from goptx.measuring.profiling.profile_result import Launched, Profile
from goptx.measuring.profiling.profiled_launches import Subject, profiled
from goptx.options import Strategy
from goptx.results.fused_kernel import Woven
from goptx.results.given_kernels import Source
from goptx.strategies.fuse import check_strategy, fuse, options_of
from goptx.tuning.measured import Arguments, Measured, Specification, measured

LIMIT = 900  # seconds


def profile(
    *sources: Source,
    spec: Specification | None = None,
    entries: Sequence[str | None] | None = None,
    shapes: Sequence[Shape] | None = None,
    args: Arguments | None = None,
    fused: Woven | None = None,
    strategy: Strategy = "auto",
    arch: str | None = None,
    seed: int = 0,
    limit: float = LIMIT,
    progress: Callable[[str], None] | None = None,
) -> Profile:
    """Counts each kernel alone and the kernels fused, each launched once under Nsight Compute (`ncu`).

    sources, spec: the kernels; without sources, those of the launch specifications `spec`. The launches are described
        by `spec`, or by specifications beside the kernels' files.
    shapes, args: override these: a shape for each kernel, and a sequence of arguments for each kernel or arguments by
        name ("A:2"). Arrays are copied.
    fused: the kernel made of these kernels, in this order; by default `goptx.fuse(..., strategy=strategy)` makes it.
    seed: of the described data. limit: seconds for each run of Nsight Compute. progress: called with a text before
        each step.

    Raises `DeviceError` if `ncu`, a GPU, or the permission to read counters is missing, `InputError`,
    `DependentKernels`, and what `goptx.fuse` raises.
    """
    check_strategy(strategy)
    if not limit > 0:
        raise InputError(f"limit={limit} is not a time above 0; give seconds.")
    ncu = find_ncu()
    note = progress or (lambda _: None)
    given = measured(sources, spec, entries, shapes, args, arch, seed)
    if fused is None:
        note(f"fusing {len(given.kernels)} kernels ({strategy})")
        fused = _fused(given, strategy, arch)
    subject = Subject(given.workload, given.shapes, fused)
    subject.check()
    subject.assemble()
    note(f"{ncu} counts {', '.join((*subject.alone, *fused.entries))}")
    found, device = profiled(ncu, subject, COUNTERS, limit)
    letters = list(given.workload.separate.report.kernels)
    several = len(fused.entries) > 1
    names = [f"fused {i + 1}" if several else "fused" for i in range(len(fused.entries))]
    launches = [
        Launched(label, one.kernel, {metric.short: one.values[metric.counter] for metric in ALL})
        for label, one in zip([*letters, *names], found, strict=True)
    ]
    return Profile(
        tuple(launches[: len(letters)]),
        tuple(launches[len(letters) :]),
        fused.strategy,
        device["name"],
        device["arch"],
        str(ncu),
        fused.report,
    )


def _fused(given: Measured, strategy: Strategy, arch: str | None) -> Woven:
    options: dict[str, Any] = {"shapes": given.shapes, "arch": arch}
    if "tunable" in options_of(strategy):
        options["tunable"] = given.tunable
    return fuse(*given.kernels, strategy=strategy, **options)
