"""How long the GPU takes for a launch of folded grids, in which each kernel is a role: teams of warps in every CTA run
its CTAs, one after the other.

Requires: the resources and the latency of each role (estimate.py). The roles work at the same time. Each waits for its
own results only, and shares the SM with the other one while both run: the shorter role meets the part of the other's
work that is done until it ends, the longer one all work of both. So the longer role decides. It gains by more of its
CTAs at a time, which hardly matter for the shorter one. What is spilled is not counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, inf

from goptx.analysis.cfg import Flow
from goptx.cost.estimate import LOADED, OVERLAP, Estimate, Load, Wave, fetched, resources
from goptx.cost.hardware import Machine, machine_of
from goptx.device.occupancy import occupancy
from goptx.weaving.folding.ticket_code import ctas_of_a_ticket

TICKET = 300  # cycles until a team has its next ticket: a round trip to L2 (264 on an H800, published) and a barrier
DRAW = 3.5  # cycles from one ticket of a counter to the next, whoever draws them (measured on an H200: 2 ns)


@dataclass(frozen=True, slots=True)
class Role:
    """The kernels that a role runs, and `wave`, the virtual CTAs of all of them, with the threads and the mean latency
    of one. teams: how many run side by side in a CTA. free: the flow of the kernel, if it is one and its warps need
    nothing of each other. pieces: into which each `wgmma` is divided (divided_products.py)."""

    loads: Sequence[Load]
    wave: Wave
    teams: int = 1
    free: Flow | None = None
    pieces: int = 1

    @property
    def threads(self) -> int:
        """Of all its teams in a CTA."""
        return self.wave.threads * self.teams

    def used(self, machine: Machine) -> Counter[str]:
        """Cycles of each resource of an SM."""
        found = sum((load.all(machine) for load in self.loads), Counter[str]())
        return found + Counter({"shared": (self.pieces - 1) * found["again"]})


@dataclass(frozen=True, slots=True)
class Folding:
    """How virtual CTAs are given out. ctas: that are launched; None: as many as the GPU holds at once. draws: whether
    teams draw tickets. helper: the role whose teams run virtual CTAs of the other when they are done."""

    ctas: int | None = None
    draws: bool = False
    helper: int | None = None


def folded(roles: Sequence[Role], how: Folding, registers: int, shared: int, arch: str) -> Estimate:
    """The estimate of one launch. `registers` are those of a thread when the kernel begins, `shared` are the bytes of a
    CTA. The cycles are infinite if no CTA fits on an SM. The parts are those of the role that takes longest."""
    machine = machine_of(arch)
    fits = occupancy(arch, registers, shared, sum(role.threads for role in roles))
    if not fits.ctas_per_sm:
        return Estimate(inf, {}, registers, 0.0)
    places = machine.sms * fits.ctas_per_sm
    most = max(ceil(role.wave.ctas / role.teams) for role in roles)
    launched = min(how.ctas or places, most)
    latencies = _with_help([_latency(role, how, launched, places, machine) for role in roles], roles, how.helper)
    used = [role.used(machine) for role in roles]
    alone = [_combined({**resources(u), "latency": own}) for u, own in zip(used, latencies, strict=True)]
    code = fetched([_all_teams(role) for role in roles], machine)
    found = [_parts(k, used, alone, latencies[k], code, machine) for k in range(len(roles))]
    longest = max(found, key=_combined)
    return Estimate(_combined(longest), longest, registers, fits.fraction, min(most / places, 1.0))


def _latency(role: Role, how: Folding, launched: int, places: int, machine: Machine) -> float:
    """Cycles until the last team of the role is done, if nothing is waited for but its own results and tickets."""
    several = ctas_of_a_ticket(role.wave.ctas, launched * role.teams, role.free) if role.free else 1
    drawn = how.draws / several
    each = drawn * TICKET + LOADED * role.wave.latency
    in_turn = ceil(launched / places)
    taken = in_turn * (machine.turnover + ceil(role.wave.ctas / (launched * role.teams)) * each)
    return max(taken, drawn * DRAW * role.wave.ctas)


def _with_help(latencies: Sequence[float], roles: Sequence[Role], helper: int | None) -> list[float]:
    """The same, where the teams of the helper run what is left of the other role's when they are done."""
    found = list(latencies)
    if helper is not None and found[helper] < found[1 - helper]:
        own, others = roles[1 - helper].threads, roles[helper].threads
        found[1 - helper] = found[helper] + (found[1 - helper] - found[helper]) * own / (own + others)
    return found


def _parts(
    role: int, used: Sequence[Counter[str]], alone: Sequence[float], latency: float, code: float, machine: Machine
) -> dict[str, float]:
    """The parts of a role's time: of the others' resources it meets those that are used before it is done."""
    met = [min(alone[role] / other, 1.0) if other else 1.0 for other in alone]
    shares = ({unit: share * cycles for unit, cycles in own.items()} for share, own in zip(met, used, strict=True))
    parts = {part: machine.gap + cycles for part, cycles in resources(sum(map(Counter, shares), Counter())).items()}
    parts["latency"] = machine.gap + latency
    if code:
        parts["instructions"] = parts.pop("arithmetic") + code
    return parts


def _all_teams(role: Role) -> Wave:
    """Its virtual CTAs, in groups of as many as it has teams in a CTA."""
    return Wave(role.wave.ctas / role.teams, role.threads, role.wave.latency, role.wave.code)


def _combined(parts: Mapping[str, float]) -> float:
    return float(sum(part**OVERLAP for part in parts.values()) ** (1 / OVERLAP))
