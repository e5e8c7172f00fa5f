"""How long the GPU takes for a launch: the cost model.

A launch uses several resources at once: warps issue instructions, occupy units and memory, and each waits for its own
chain of results while other warps on the SM run. If these overlapped fully, the time would be the longest of them; if
not at all, their sum. Measured times are between: the parts are added to the power of OVERLAP.

Code that the instruction cache does not hold has to be fetched in every pass, which is one more part.

The result ranks candidates for running the same kernels and does not predict times: data caches, and threads that end
early, are not known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from math import ceil, inf

from goptx.analysis.registers.register_estimate import Pressure
from goptx.cost.code_size import NO_CODE, CodeSize
from goptx.cost.hardware import QUARTERS, WARP, Machine, machine_of
from goptx.cost.work import Work
from goptx.device.occupancy import occupancy

OVERLAP = 3.0  # 1: nothing overlaps; above 2 the choice hardly changes
LOADED = 1.5  # memory latency under load, as a multiple of that for one warp alone
NEAR = 7  # registers that a cap may take, for one step of occupancy; spilling more costs more than it gains
ENOUGH = 0.75  # of an SM's warps, the least share for a cap: with fewer, more warps hide little, or much spills
SPILL = {"issue": 2.0, "shared": 8.0}  # cycles of a quarter of an SM for a register that is stored and loaded once


@dataclass(frozen=True, slots=True)
class Load:
    """The work of a kernel, independent of its launch: `ctas` CTAs of `threads` threads, whose warps each do `work`;
    `joined` of these CTAs are one CTA in the launch."""

    work: Work
    ctas: int
    threads: int
    joined: int = 1


@dataclass(frozen=True, slots=True)
class Wave:
    """CTAs as they are launched: their number, their threads, the cycles of one alone, and the code of a warp."""

    ctas: int
    threads: int
    latency: float
    code: CodeSize = NO_CODE


@dataclass(frozen=True, slots=True)
class Estimate:
    """Estimated cycles of the GPU's clock, the part of each resource, and the registers and occupancy assumed."""

    cycles: float
    parts: Mapping[str, float]
    registers: int
    occupancy: float

    @property
    def decided_by(self) -> str:
        """The resource with the largest part."""
        return max(self.parts, key=lambda part: self.parts[part])

    def then(self, other: Estimate) -> Estimate:
        """This launch followed by the other."""
        every = dict.fromkeys((*self.parts, *other.parts))
        parts = {part: self.parts.get(part, 0.0) + other.parts.get(part, 0.0) for part in every}
        return Estimate(
            self.cycles + other.cycles, parts, max(self.registers, other.registers),
            min(self.occupancy, other.occupancy),
        )  # fmt: skip


def estimate(
    loads: Sequence[Load], waves: Sequence[Wave], pressure: Pressure, shared: int, arch: str, cap: int | None = None
) -> Estimate:
    """The estimate of one launch. `shared` are the bytes of shared memory of a CTA, `cap` the most registers per
    thread. The cycles are infinite if no CTA fits on an SM, and for several kernels of which a thread has no room for
    the registers: what is live around a loop would be spilled in every iteration."""
    machine = machine_of(arch)
    spilled = max(pressure.registers - cap, 0) if cap else 0
    registers = pressure.registers - spilled
    fits = occupancy(arch, registers, shared, max(wave.threads for wave in waves))
    if not fits.ctas_per_sm or (len(loads) > 1 and pressure.spilled()):
        return Estimate(inf, {}, registers, 0.0)
    parts = dict.fromkeys(("arithmetic", "shared", "memory", "latency"), machine.gap)
    for load in loads:
        warps = max(load.ctas / machine.sms, load.joined) * ceil(load.threads / WARP) / QUARTERS
        parts["arithmetic"] += warps * load.work.arithmetic
        parts["shared"] += warps * load.work.units["shared"]
        parts["memory"] += warps * load.work.units["memory"]
    for wave in waves:
        rounds = max(wave.ctas / (machine.sms * fits.ctas_per_sm), 1)
        warps = max(wave.ctas / machine.sms, 1) * ceil(wave.threads / WARP) / QUARTERS
        parts["arithmetic"] += warps * spilled * SPILL["issue"]
        parts["shared"] += warps * spilled * SPILL["shared"]
        parts["latency"] += rounds * (machine.turnover + LOADED * wave.latency)
    if fetched := _fetched(waves, machine):  # a warp that waits for code issues nothing
        parts["instructions"] = parts.pop("arithmetic") + fetched
    cycles = sum(part**OVERLAP for part in parts.values()) ** (1 / OVERLAP)
    return Estimate(cycles, parts, registers, fits.fraction)


def _fetched(waves: Sequence[Wave], machine: Machine) -> float:
    """Cycles in which an SM fetches code that its instruction cache does not hold. CTAs of several kernels on one SM
    share the cache: the bytes that all miss are divided in proportion to the bytes that the warps of each pass."""
    whole = reduce(CodeSize.beside, (wave.code for wave in waves))
    missed = whole.missed(machine.code_cache)
    if not missed:
        return 0.0
    passed = sum(wave.code.passed for wave in waves)
    cycles = 0.0
    for wave in waves:
        warps = max(wave.ctas / machine.sms, 1) * ceil(wave.threads / WARP)
        cycles += warps * missed * wave.code.passed / passed / machine.fetch
    return cycles


def next_step(pressure: Pressure, shared: int, threads: int, arch: str) -> int | None:
    """The cap with which one more CTA fits on an SM, if that takes few registers from a thread and fills most of the
    SM; else None."""
    now = occupancy(arch, pressure.registers, shared, threads).ctas_per_sm
    for cap in range(pressure.registers - 1, max(pressure.registers - NEAR, pressure.least) - 1, -1):
        fits = occupancy(arch, cap, shared, threads)
        if fits.ctas_per_sm > now:
            return cap if fits.fraction >= ENOUGH else None
    return None
