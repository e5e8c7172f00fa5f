"""How long the GPU takes for a launch: the cost model.

A launch uses several resources at once: warps issue instructions, occupy units and memory, and each waits for its own
chain of results while other warps on the SM run. If these overlapped fully, the time would be the longest of them; if
not at all, their sum. Measured times are between: the parts are added to the power of OVERLAP.

The pipes of an SM work at the same time for one kernel. For several kernels they do not, as it seems: with the sum of
what each kernel alone takes for arithmetic, estimates of 60 interleaved pairs of benchmarks/unseen, none held out,
correlate with measured gains by 0.65; with the pipes of all kernels beside each other by 0.27.

Code that the instruction cache does not hold has to be fetched in every pass, which is one more part.

The result ranks candidates for running the same kernels and does not predict times. What is unknown of the kernels is
assumed (assumptions.py).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from math import ceil, inf

from goptx.analysis.registers.register_demand import FULL
from goptx.analysis.registers.register_limit import MOST, UNIT
from goptx.cost.code_size import NO_CODE, CodeSize
from goptx.cost.hardware import QUARTERS, WARP, Machine, machine_of
from goptx.cost.register_estimate import STEP, Pressure
from goptx.cost.work import arithmetic
from goptx.device.occupancy import occupancy

OVERLAP = 3.0  # 1: nothing overlaps; above 2 the choice hardly changes
LOADED = 1.5  # memory latency under load, as a multiple of that for one warp alone
# Registers that a cap may take, for one step of occupancy. Of 594 caps measured on an H200, those that took so many
# gained 7 % (median); those that took 6 to 8 gained 1 % and lost up to 32 %, since spills cost more than a step gains.
NEAR = 5
ENOUGH = 0.75  # of an SM's warps, the least share for a cap: with fewer, more warps hide little, or much spills
BY_WARP = ("warps", "registers")  # limits of an SM of which a warp that ends frees its part
# What of that other CTAs use, which need places for all of their warps: 0.5 fits the fitted pairs of benchmarks/unseen
# best (mean square of the logarithms of estimates over measurements; 0, 0.25, ..., 1 were tried).
REUSED = 0.5
# Of the longest CTA: for how long SMs are idle at the end of a launch of several kernels, in which long CTAs may be the
# last: while these end one by one, half of the GPU is used on average. Of 0, 0.25, ..., 1 it fits 200 pairs of
# benchmarks/unseen that are not held out best. Separate launches begin with the kernel of the longer ones.
TAIL = 0.5
# Cycles of a quarter of an SM for a register that a warp stores and loads once: in every pass of the code, for as a
# rule most words are live in loops. Besides, the memory moves so many bytes.
SPILL = {"arithmetic": 2.0, "shared": 8.0}
SPILLED = 128


@dataclass(frozen=True, slots=True)
class Load:
    """The work of a kernel, independent of its launch: `ctas` CTAs of `threads` threads, `joined` of which are one CTA
    in the launch. `units` are the cycles for which a warp occupies each unit (`Work.units`); only the share `live` of
    the CTAs does that, the others end at once after `ended`."""

    units: Mapping[str, float]
    ctas: int
    threads: int
    joined: int = 1
    live: float = 1.0
    ended: Mapping[str, float] = field(default_factory=dict)

    @property
    def warps(self) -> float:
        """Of a CTA, for each quarter of an SM."""
        return ceil(self.threads / WARP) / QUARTERS

    def all(self, machine: Machine) -> Counter[str]:
        """Cycles of each unit of an SM for its share of all CTAs."""
        each = self.ctas / machine.sms * self.warps
        found = Counter(_times(self.units, each * self.live))
        found.update(_times(self.ended, each * (1.0 - self.live)))
        return found

    @property
    def one(self) -> Counter[str]:
        """Cycles of each unit for one CTA of the launch."""
        return Counter(_times(self.units, self.joined * self.warps))


def _times(units: Mapping[str, float], times: float) -> dict[str, float]:
    return {unit: cycles * times for unit, cycles in units.items()}


def resources(*used: Mapping[str, float]) -> dict[str, float]:
    """Cycles of each resource of an SM, of which each unit is `used` for so many by each kernel. The pipes work at the
    same time for one kernel."""
    shared, memory = (sum(own[unit] for own in used) for unit in ("shared", "memory"))
    return {"arithmetic": sum(map(arithmetic, used)), "shared": shared, "memory": memory}


@dataclass(frozen=True, slots=True)
class Wave:
    """CTAs as they are launched: their number, the threads of one that do not end at once, the cycles of one alone, the
    code of a warp, for how many cycles a warp occupies the pipe that it uses most, the mean cycles of its warps as a
    share of its own (warps without a thread of a kernel with a smaller block end earlier), the registers that a thread
    keeps in memory, and whether they end at once."""

    ctas: float
    threads: int
    latency: float
    code: CodeSize = NO_CODE
    pipe: float = inf
    mean: float = 1.0
    spilled: int = 0
    ends: bool = False


@dataclass(frozen=True, slots=True)
class Estimate:
    """Estimated cycles of the GPU's clock, the part of each resource, the registers and occupancy assumed, and the
    share of the GPU's places for CTAs that is filled."""

    cycles: float
    parts: Mapping[str, float]
    registers: int
    occupancy: float
    filled: float = 1.0

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
            min(self.occupancy, other.occupancy), max(self.filled, other.filled),
        )  # fmt: skip


def estimate(
    loads: Sequence[Load], waves: Sequence[Wave], pressure: Pressure, shared: int, arch: str, cap: int | None = None,
    together: bool = True, longest_first: bool = False,
) -> Estimate:  # fmt: skip
    """The estimate of one launch. `shared` are the bytes of shared memory of a CTA, `cap` the most registers per
    thread. `together`: a CTA of the launch has a CTA of each load, rather than of one of them. `longest_first`: no CTA
    comes after a shorter one, so that SMs are idle for a short time only at the end. The cycles are infinite if no CTA
    fits on an SM, and if a thread has no room for the registers of several kernels: what is live around a loop would be
    spilled in every iteration. Where the assembler may give a thread one number of registers or another, they are a
    mean."""
    if together and len(loads) > 1 and pressure.spills:
        return Estimate(inf, {}, min(pressure.registers, cap or MOST), 0.0)
    copies = together and sum(load.joined for load in loads) > 1
    likely = {min(pressure.registers, cap): 1.0} if cap else pressure.likely(copies)
    found = [_of_registers(n, loads, waves, shared, arch, together, longest_first) for n in likely]
    return replace(found[0], cycles=sum(n * each.cycles for n, each in zip(likely.values(), found, strict=True)))


def _of_registers(
    registers: int, loads: Sequence[Load], waves: Sequence[Wave], shared: int, arch: str, together: bool,
    longest_first: bool,
) -> Estimate:  # fmt: skip
    """The estimate where a thread has so many registers."""
    machine = machine_of(arch)
    launched = max(wave.threads for wave in waves)
    fits = occupancy(arch, registers, shared, launched)
    if not fits.ctas_per_sm:
        return Estimate(inf, {}, registers, 0.0)
    each = [load.one for load in loads]
    one = resources(sum(each, Counter()) if together else {u: max(e[u] for e in each) for u in each[0]})
    every = resources(*(load.all(machine) for load in loads))
    parts = {part: machine.gap + max(one[part], every[part]) for part in every}
    resident = machine.sms * fits.ctas_per_sm
    longest = in_turn = among_others = after = 0.0
    for wave in waves:
        # Warps that have ended leave their place to those of other CTAs (measured: kernels of 32 threads interleaved
        # with those of 256 are as fast as alone).
        own = occupancy(arch, registers, shared, wave.threads, launched=launched)
        places = machine.sms * own.ctas_per_sm
        if wave.spilled:
            warps = max(wave.ctas / machine.sms, 1) * ceil(wave.threads / WARP) / QUARTERS
            moved = SPILLED * machine.sms * QUARTERS / machine.memory
            for part, taken in (*SPILL.items(), ("memory", moved)):
                parts[part] += warps * wave.spilled * wave.code.rounds * taken
        lasts = lasting(wave.latency, machine)
        freed = REUSED * (1.0 - wave.mean) if own.limited_by in BY_WARP else 0.0
        passing = wave.ctas / places * lasts * (1.0 - freed)
        if wave.ends and len(waves) > 1:  # as a rule they have the higher numbers, and come when all others have ended
            after += passing
            continue
        in_turn += passing
        if lasts > longest:  # each instruction of a warp may wait for one of every other
            longest, among_others = lasts, lasts + wave.pipe * fits.warps_per_sm / QUARTERS
    parts["latency"] = machine.gap + max(longest, in_turn)
    idle = 0.0
    if len(loads) > 1 and not longest_first:
        idle = _idle(max(parts.values()) - machine.gap, longest, in_turn, among_others)
    if code := fetched(waves, machine):  # a warp that waits for code issues nothing
        parts["instructions"] = parts.pop("arithmetic") + code
    cycles = sum(part**OVERLAP for part in parts.values()) ** (1 / OVERLAP) + idle + after
    filled = min(sum(wave.ctas for wave in waves) / resident, 1.0)
    return Estimate(cycles, parts, registers, fits.fraction, filled)


def lasting(latency: float, machine: Machine) -> float:
    """Cycles until the next CTA can begin in the place of one with this latency."""
    return machine.turnover + LOADED * latency


def _idle(busy: float, longest: float, in_turn: float, among_others: float) -> float:
    """Cycles in which SMs are idle at the end, if one of the longest CTAs begins last. `busy` are the cycles of the
    resource that is used most: where the CTAs wait for it rather than for themselves, each lasts longer, the longest
    ones at most as long as they are `among_others`."""
    lasts = min(longest * max(busy / max(in_turn, longest), 1.0), among_others)
    return TAIL * max(min(busy - lasts, lasts), 0.0)


def side_by_side(kernels: Sequence[Estimate], loads: Sequence[Load], arch: str) -> Estimate:
    """The estimate of launches on several streams. A kernel that fills the GPU leaves no place to others before its end
    is near; kernels that fill parts of it run at the same time, as far as they do not want the same resources. Each
    launch beside another costs as much as one after it, for the streams have to wait for each other."""
    machine = machine_of(arch)
    every = resources(sum((load.all(machine) for load in loads), Counter[str]()))
    after_each_other = reduce(Estimate.then, kernels)
    longest = max(kernel.cycles for kernel in kernels)
    cycles = max(longest, sum(kernel.cycles * kernel.filled for kernel in kernels), *every.values())
    cycles += machine.gap * (len(kernels) - 1)
    return replace(after_each_other, cycles=min(cycles, after_each_other.cycles))


def fetched(waves: Sequence[Wave], machine: Machine) -> float:
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


def steps(pressure: Pressure, shared: int, threads: Sequence[int], arch: str) -> list[int]:
    """The caps with which more CTAs of so many threads fit on an SM, for any of these numbers, the mildest first. There
    are none if the assembler may keep to the registers with which an SM is full by itself."""

    def fitting(registers: int) -> list[int]:
        return [occupancy(arch, registers, shared, own, launched=max(threads)).ctas_per_sm for own in threads]

    each = range(FULL, pressure.registers, UNIT)[::-1] if pressure.registers >= STEP else ()
    return [cap for cap in each if cap >= pressure.least and fitting(cap) != fitting(cap + 1)]
