"""Makes one way to run kernels, with its machine code: what an executor's processes do. Needs no GPU."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

from goptx.device.occupancy import occupancy
from goptx.device.register_bound import register_bound
from goptx.device.resources import Resources
from goptx.errors import GoptxError
from goptx.launch.shape import Shape
from goptx.results.fused_kernel import Woven
from goptx.sources.kernel_text import Chosen
from goptx.strategies.candidate import Candidate
from goptx.strategies.coarsen import coarsen
from goptx.strategies.fuse import fuse
from goptx.tuning.space.space import ALONE
from goptx.tuning.trials import Trial

CTAS = 3  # CTAs more on an SM, for each of which a register cap is tried
LEAST = 0.5  # of the registers that a kernel has without a cap: with fewer it spills
SPILLS = 256  # bytes of a thread beyond those without a cap
STEP = 8  # registers are given out in such steps


@dataclass(frozen=True, slots=True)
class Job:
    """What is to be made: kernels in these shapes, for an architecture."""

    kernels: tuple[Chosen, ...]
    shapes: tuple[Shape, ...]
    tunable: tuple[bool, ...]
    way: Candidate
    arch: str | None


@dataclass(frozen=True, slots=True)
class Made:
    """A trial for the way without a cap and for each cap that is worth one, those to be timed with status "timed"; and
    the kernel with its machine code, None if it was refused."""

    trials: tuple[Trial, ...]
    woven: Woven | None = None


def make(job: Job) -> Made:
    """Never raises what goptx raises on purpose."""
    try:
        woven = fused(job)
        resources = woven.resources()
    except GoptxError as error:
        return Made((Trial(job.way, "refused", str(error)),))
    if resources.occupancy == 0:
        return Made((_trial(job.way, resources).failed("pruned", "no CTA fits on an SM"),))
    code = sha256(f"{woven.shape} {woven.streams}\n{woven.ptx}".encode()).hexdigest()
    return Made((replace(_trial(job.way, resources), code=code), *_capped(job, woven, resources)), woven)


def fused(job: Job) -> Woven:
    """The kernels run in that way, without its cap."""
    way, options = job.way, dict(job.way.options)
    if way.strategy == ALONE:
        return coarsen(job.kernels[0], way.factors[0], arch=job.arch, shape=job.shapes[0], **options)
    if "partition" in options:
        options["tunable"] = job.tunable
    return fuse(*way.coarse(job.kernels), strategy=way.strategy, arch=job.arch, shapes=job.shapes, **options)


def _trial(way: Candidate, found: Resources) -> Trial:
    return Trial(way, "timed", "", found.registers, found.spill_bytes, found.occupancy)


def _capped(job: Job, woven: Woven, free: Resources) -> Iterator[Trial]:
    """Where a cap lets more CTAs onto an SM, and spills little for it."""
    if woven.shape is None or not woven.shape.threads:
        return
    for cap in caps(job, woven, free.registers):
        yield under_cap(replace(job.way, cap=cap), woven)


def under_cap(way: Candidate, woven: Woven) -> Trial:
    """The trial of a way with a cap, by the machine code of what the way makes without it."""
    free = woven.resources()
    try:
        found = woven.resources(way.cap)
    except GoptxError as error:
        return Trial(way, "refused", str(error))
    trial = _trial(way, found)
    if found.spill_bytes > free.spill_bytes + SPILLS:
        return trial.failed("pruned", f"spills {found.spill_bytes} bytes of a thread")
    if (found.occupancy or 0) <= (free.occupancy or 0):
        return trial.failed("pruned", "no more CTAs fit on an SM than without the cap")
    return trial


def caps(job: Job, woven: Woven, registers: int) -> list[int]:
    """Those below the `registers` of a thread with which more CTAs fit on an SM, the largest first; of a horizontal
    kernel also that of the HFUSE paper."""
    shape, made = woven.shape, woven.assembly()
    assert shape and shape.threads
    shared, threads = made.shared_bytes + (shape.shared or 0), shape.threads

    def ctas(cap: int) -> int:
        return occupancy(made.arch, cap, shared, threads, barriers=made.barriers).ctas_per_sm

    found: list[int] = []
    most = ctas(registers)
    for cap in range((registers - 1) // STEP * STEP, int(LEAST * registers), -STEP):
        if ctas(cap) > most and len(found) < CTAS:
            most = ctas(cap)
            found.append(cap)
    if job.way.strategy == "horizontal":
        bound = register_bound(_threads(job), _registers(job), made.arch, shared)
        found += [bound] if bound and bound < registers and bound not in found else []
    return found


def _threads(job: Job) -> Sequence[int]:
    """Of each kernel in a CTA of a horizontal one."""
    own: Any = job.way.option("partition")
    return own or [-(-(s.threads or 0) // 32) * 32 for s in job.shapes]


def _registers(job: Job) -> list[int]:
    """Of a thread of each kernel alone."""
    alone = (
        fuse(k, strategy="separate", arch=job.arch, shapes=[s]) for k, s in zip(job.kernels, job.shapes, strict=True)
    )
    return [kernel.resources().registers for kernel in alone]
