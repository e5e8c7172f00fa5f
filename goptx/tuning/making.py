"""Makes one candidate and its machine code: the work of an executor's processes. Needs no GPU."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

from goptx.device.assembler_log import read_serialized
from goptx.device.occupancy import occupancy
from goptx.device.register_bound import register_bound
from goptx.device.resources import Resources
from goptx.errors import GoptxError
from goptx.launch.shape import Shape
from goptx.results.expected_gain import unjudged
from goptx.results.fused_kernel import Woven
from goptx.sources.kernel_text import Chosen
from goptx.strategies.candidate import Candidate
from goptx.strategies.coarsen import coarsen
from goptx.strategies.fuse import fuse
from goptx.tuning.space.role_demand import SPILLS
from goptx.tuning.space.space import ALONE
from goptx.tuning.trials import Trial

CTAS = 3  # caps are tried for at most so many higher counts of CTAs on an SM
LEAST = 0.5  # the least cap, as a share of the registers without a cap: with fewer registers a kernel spills
STEP = 8  # the hardware allocates registers in such steps


@dataclass(frozen=True, slots=True)
class Job:
    """What to make: a candidate of these kernels in these shapes, for an architecture."""

    kernels: tuple[Chosen, ...]
    shapes: tuple[Shape, ...]
    tunable: tuple[bool, ...]
    candidate: Candidate
    arch: str | None


@dataclass(frozen=True, slots=True)
class Made:
    """A trial of the candidate without a cap and of each cap worth a trial; those to be timed have the status "timed".
    `woven` is the kernel with its machine code, None if it was refused."""

    trials: tuple[Trial, ...]
    woven: Woven | None = None


def make(job: Job) -> Made:
    """Makes the candidate. A `GoptxError` is not raised: it becomes a refused trial."""
    try:
        with unjudged():  # it is measured
            woven = fused(job)
        resources = woven.resources()
    except GoptxError as error:
        return Made((Trial(job.candidate, "refused", str(error)),))
    if resources.occupancy == 0:
        return Made((_trial(job.candidate, resources).failed("pruned", "no CTA fits on an SM"),))
    if "role_registers" in dict(job.candidate.options) and (why := _short_of_registers(woven, resources)):
        return Made((_trial(job.candidate, resources).failed("pruned", why),))
    code = sha256(f"{woven.shape} {woven.streams}\n{woven.ptx}".encode()).hexdigest()
    return Made((replace(_trial(job.candidate, resources), code=code), *_capped(job, woven, resources)), woven)


def fused(job: Job) -> Woven:
    """The kernel of the candidate, without its cap."""
    candidate, options = job.candidate, dict(job.candidate.options)
    if candidate.strategy == ALONE:
        return coarsen(job.kernels[0], candidate.factors[0], arch=job.arch, shape=job.shapes[0], **options)
    if "partition" in options:
        options["tunable"] = job.tunable
    if candidate.strategy == "weave":
        options.setdefault("policy", "latency")  # interleaved even where that is estimated to cost too many registers
    return fuse(
        *candidate.coarse(job.kernels), strategy=candidate.strategy, arch=job.arch, shapes=job.shapes, **options
    )


def _short_of_registers(woven: Woven, found: Resources) -> str:
    """Why the registers that its kernels were given are too few; "" if they are enough."""
    if found.spill_bytes > SPILLS:
        return f"spills {found.spill_bytes} bytes per thread"
    remark = read_serialized(woven.assembly().log)
    return f"the assembler warns: {remark}" if remark else ""


def _trial(candidate: Candidate, found: Resources) -> Trial:
    return Trial(candidate, "timed", "", found.registers, found.spill_bytes, found.occupancy)


def _capped(job: Job, woven: Woven, free: Resources) -> Iterator[Trial]:
    """Trials of the caps that let more CTAs onto an SM. Kernels that have registers of their own take none."""
    if job.candidate.option("role_registers") or woven.shape is None or not woven.shape.threads:
        return
    for cap in caps(job, woven, free.registers):
        yield under_cap(replace(job.candidate, cap=cap), woven)


def under_cap(candidate: Candidate, woven: Woven, always: bool = False) -> Trial:
    """The trial of a candidate with a cap. `woven` is its kernel without the cap. `always`: to be timed even if the cap
    spills much or lets no more CTAs onto an SM."""
    free = woven.resources()
    try:
        found = woven.resources(candidate.cap)
    except GoptxError as error:
        return Trial(candidate, "refused", str(error))
    trial = _trial(candidate, found)
    if always and found.occupancy != 0:
        return trial
    if found.spill_bytes > free.spill_bytes + SPILLS:
        return trial.failed("pruned", f"spills {found.spill_bytes} bytes per thread")
    if (found.occupancy or 0) <= (free.occupancy or 0):
        return trial.failed("pruned", "no more CTAs fit on an SM than without the cap")
    return trial


def caps(job: Job, woven: Woven, registers: int) -> list[int]:
    """The caps below `registers` (per thread) with which more CTAs fit on an SM, the largest first; for a horizontal
    kernel also the cap of the HFUSE paper."""
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
    if job.candidate.strategy == "horizontal":
        bound = register_bound(_threads(job), _registers(job), made.arch, shared)
        found += [bound] if bound and bound < registers and bound not in found else []
    return found


def _threads(job: Job) -> Sequence[int]:
    """The threads of each kernel in a CTA of the horizontal kernel."""
    own: Any = job.candidate.option("partition")
    return own or [-(-(s.threads or 0) // 32) * 32 for s in job.shapes]


def _registers(job: Job) -> list[int]:
    """The registers per thread of each kernel alone."""
    alone = (
        fuse(k, strategy="separate", arch=job.arch, shapes=[s]) for k, s in zip(job.kernels, job.shapes, strict=True)
    )
    return [kernel.resources().registers for kernel in alone]
