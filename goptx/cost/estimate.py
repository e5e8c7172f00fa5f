"""How long the GPU takes for a launch: the cost model.

A launch asks for several things at once: warps issue, hold units and memory, and each waits for its own chain of
answers while as many others run as fit. If all that overlapped fully, the longest would decide; if not at all, their
sum. What is measured lies between: they are added to the power of OVERLAP.

The result ranks ways to run the same kernels and is no prediction: caches, and threads that end early, are not known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, inf

from goptx.cost.machine import QUARTERS, WARP, machine_of
from goptx.cost.registers import Pressure
from goptx.cost.work import Work
from goptx.device.occupancy import occupancy

OVERLAP = 3.0  # 1: nothing overlaps; from 2 on it hardly changes what is chosen
LOADED = 1.5  # times as long as for one warp alone memory takes to answer where many ask
NEAR = 7  # registers that a cap may take: one step of occupancy; what is spilled beyond them costs more than is gained
ENOUGH = 0.75  # of an SM's warps: with fewer there is enough to hide latency by as it is, or spilling would not end
SPILL = {"issue": 2.0, "shared": 8.0}  # cycles of a quarter for a register that is stored and loaded once


@dataclass(frozen=True, slots=True)
class Load:
    """What is to be done, however it is launched: `ctas` CTAs of `threads` threads, whose warps each do `work`;
    `joined` of them are one in the launch."""

    work: Work
    ctas: int
    threads: int
    joined: int = 1


@dataclass(frozen=True, slots=True)
class Wave:
    """CTAs as they are launched: how many, of how many threads, and how long each takes alone."""

    ctas: int
    threads: int
    latency: float


@dataclass(frozen=True, slots=True)
class Estimate:
    """Cycles of the GPU's clock, what asks for how many of them, and what was assumed."""

    cycles: float
    parts: Mapping[str, float]
    registers: int
    occupancy: float

    @property
    def decided_by(self) -> str:
        """What asks for the most."""
        return max(self.parts, key=lambda part: self.parts[part])

    def then(self, other: Estimate) -> Estimate:
        """One launch after the other."""
        parts = {part: cycles + other.parts.get(part, 0.0) for part, cycles in self.parts.items()}
        return Estimate(
            self.cycles + other.cycles, parts, max(self.registers, other.registers),
            min(self.occupancy, other.occupancy),
        )  # fmt: skip


def estimate(
    loads: Sequence[Load], waves: Sequence[Wave], pressure: Pressure, shared: int, arch: str, cap: int | None = None
) -> Estimate:
    """Of one launch. `shared` is what each of its CTAs has in bytes, `cap` the most registers that a thread may have.
    Infinitely many cycles where not one CTA fits on an SM."""
    machine = machine_of(arch)
    spilled = max(pressure.registers - cap, 0) if cap else 0
    registers = pressure.registers - spilled
    fits = occupancy(arch, registers, shared, max(wave.threads for wave in waves))
    if not fits.ctas_per_sm:
        return Estimate(inf, {}, registers, 0.0)
    parts = dict.fromkeys(("arithmetic", "shared", "memory", "latency"), machine.gap)
    for load in loads:
        warps = max(load.ctas / machine.sms, load.joined) * ceil(load.threads / WARP) / QUARTERS
        parts["arithmetic"] += warps * load.work.arithmetic
        parts["shared"] += warps * load.work.units["shared"]
        parts["memory"] += warps * load.work.units["memory"]
    for wave in waves:
        turns = max(wave.ctas / (machine.sms * fits.ctas_per_sm), 1)
        warps = max(wave.ctas / machine.sms, 1) * ceil(wave.threads / WARP) / QUARTERS
        parts["arithmetic"] += warps * spilled * SPILL["issue"]
        parts["shared"] += warps * spilled * SPILL["shared"]
        parts["latency"] += turns * (machine.turnover + LOADED * wave.latency)
    cycles = sum(part**OVERLAP for part in parts.values()) ** (1 / OVERLAP)
    return Estimate(cycles, parts, registers, fits.fraction)


def next_step(pressure: Pressure, shared: int, threads: int, arch: str) -> int | None:
    """The cap with which one more CTA fits on an SM, if that takes few registers from a thread and most of the SM is in
    use then."""
    now = occupancy(arch, pressure.registers, shared, threads).ctas_per_sm
    for cap in range(pressure.registers - 1, max(pressure.registers - NEAR, pressure.least) - 1, -1):
        fits = occupancy(arch, cap, shared, threads)
        if fits.ctas_per_sm > now:
            return cap if fits.fraction >= ENOUGH else None
    return None
