"""Folded grids among the candidates of `auto`: a kernel with `wgmma` beside one that is limited by memory.

Few warps keep the tensor cores busy with `wgmma`, which does not wait for its results, so the SM has issue slots and
places for the other kernel. Kernels without it fill these themselves, and are not folded unless that is asked for.
Needs no assembler: how many registers each kernel needs follows from what is live in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from goptx.analysis.sync.sync_spans import is_of_warpgroup
from goptx.cost.estimate import Estimate
from goptx.cost.hardware import machine_of
from goptx.cost.kernels import Alone
from goptx.cost.register_estimate import OWN
from goptx.cost.role_registers import LOOP, Registers, RoleDemand, divisions, rounded_up
from goptx.device.occupancy import occupancy
from goptx.launch.shape import MOST_THREADS, Shape
from goptx.strategies.candidate import Candidate
from goptx.strategies.candidates import divides
from goptx.strategies.estimates.judge import Judge
from goptx.weaving.shapes.folded import FEWEST_REGISTERS, SM_REGISTERS, moves_registers
from goptx.weaving.shapes.thread_view import WARPGROUP

WOVEN = (1, 2)  # virtual CTAs of the kernel that is limited by memory: two have twice the loads in flight
FREE = (1, 2, 4)  # the same, where that takes no register from the other kernel
TEAMS = ((2, 1), (1, 2))  # teams of each of two kernels in a CTA, where one CTA of both leaves registers unused
Role = Literal["tensor", "memory"]


def role_of(kernel: Alone, shape: Shape, alone: Estimate) -> Role | None:
    """Which part a kernel may have on folded grids; None if none. `alone`: the estimate of a launch of its own."""
    if not may_be_folded(shape) or (shape.threads or 0) % WARPGROUP or not alone.parts:  # it fits on no SM
        return None
    tensor, by_memory = any(map(is_of_warpgroup, kernel.flow.instructions())), alone.decided_by == "memory"
    return None if tensor == by_memory else "tensor" if tensor else "memory"


def fold_candidates(judge: Judge, arch: str, spared: int = 0) -> list[Candidate]:
    """None unless the warps of a CTA can be shared out between two teams, of which one runs kernels with `wgmma` and
    the other kernels that are limited by memory. The teams are those of `judge`, by default each of two kernels.
    `spared`: registers that the first are to do without, of those that they are estimated to need."""
    count = len(judge.kernels)
    teams = judge.teams or [(k,) for k in range(count)]
    if len(teams) != 2:
        return []
    roles = [role_of(*each) for each in zip(judge.kernels, judge.shapes, judge.each_alone(), strict=True)]
    of_team = [{roles[k] for k in team} for team in teams]
    if of_team not in ([{"tensor"}, {"memory"}], [{"memory"}, {"tensor"}]):
        return []
    return list(_of_teams(judge, teams, of_team.index({"memory"}), arch, spared))


def may_be_folded(shape: Shape) -> bool:
    """Whether the grid and the block are known, and there is no cluster."""
    return bool(shape.ctas and shape.threads and not shape.cluster)


def _of_teams(
    judge: Judge, teams: Sequence[Sequence[int]], streaming: int, arch: str, spared: int
) -> Iterator[Candidate]:
    shapes = judge.shapes
    first, second = (max(shapes[k].threads or 0 for k in team) for team in teams)
    if first + second > MOST_THREADS:
        return
    for factor in FREE:
        factors = tuple(factor if k in teams[streaming] else 1 for k in range(len(shapes)))
        copies = [own * before for own, before in zip(factors, judge.before, strict=True)]
        if not all(map(divides, copies, shapes)):
            continue
        shared = sum(max(_shared(judge, k) * factors[k] for k in team) for team in teams)
        most = occupancy(arch, FEWEST_REGISTERS, shared, first + second).ctas_per_sm
        if max(sum(shapes[k].ctas or 0 for k in team) for team in teams) <= machine_of(arch).sms * most:
            return
        demands = [_demand(judge.kernels[k], n, k in teams[streaming], spared) for k, n in enumerate(copies)]
        roles = [_hungriest([demands[k] for k in team]) for team in teams]
        folded = Candidate("horizontal", factors).having(fold="static")
        if most * (first + second) * max(role.free for role in roles) <= SM_REGISTERS:
            yield folded
        elif factor in WOVEN and moves_registers(arch):
            moved = [r for r in divisions((first, second), roles[0], roles[1], most) if r]
            if moved:
                yield folded.having(role_registers=_fullest(moved, roles, streaming))
            elif len(shapes) == len(teams):
                yield from _of_several_teams(judge, folded, roles, streaming, arch)


def _of_several_teams(
    judge: Judge, folded: Candidate, roles: Sequence[RoleDemand], streaming: int, arch: str
) -> Iterator[Candidate]:
    """Two teams of one kernel beside one of the other."""
    for teams in TEAMS:
        each = list(zip(judge.shapes, folded.factors, teams, strict=True))
        first, second = ((shape.threads or 0) * n for shape, _, n in each)
        if first + second > MOST_THREADS:
            continue
        shared = sum(_shared(judge, k) * factor * n for k, (_, factor, n) in enumerate(each))
        most = occupancy(arch, FEWEST_REGISTERS, shared, first + second).ctas_per_sm
        moved = [r for r in divisions((first, second), roles[0], roles[1], most) if r]
        if moved:
            yield folded.having(role_registers=_fullest(moved, roles, streaming), teams=teams)


def _fullest(moved: Sequence[Registers], roles: Sequence[RoleDemand], streaming: int) -> Registers:
    """The division with which the kernels with `wgmma` are least short of registers; what is left goes to those that
    are limited by memory."""
    return max(moved, key=lambda r: (min(r[1 - streaming], roles[1 - streaming].free), r[streaming]))


def _shared(judge: Judge, kernel: int) -> int:
    """Bytes of shared memory of a CTA."""
    return judge.kernels[kernel].shared + (judge.shapes[kernel].shared or 0)


def _demand(kernel: Alone, copies: int, streaming: bool, spared: int) -> RoleDemand:
    """The kernel that is limited by memory gets room for all that is live in its code: with less, the assembler would
    put off loads that are to be in flight, or spill. The other one gets at least what it cannot do without, and what it
    would be given where there is room for it; or the former less `spared`, if that is not 0."""
    needed = kernel.pressure.needed.value.times(copies)
    if streaming:
        registers = rounded_up(needed.written + OWN)
        return RoleDemand(registers, registers, registers)
    least = rounded_up(needed.live + LOOP - spared)
    return RoleDemand(least if spared else max(rounded_up(needed.registers + LOOP), least), least, least)


def _hungriest(demands: Sequence[RoleDemand]) -> RoleDemand:
    """Of a team that runs several kernels."""
    return max(demands, key=lambda demand: demand.free)
