"""Folded grids among the candidates of `auto`: a kernel with `wgmma` beside one that is limited by memory.

Few warps keep the tensor cores busy with `wgmma`, which does not wait for its results, so the SM has issue slots and
places for the other kernel. Kernels without it fill these themselves, and are not folded unless that is asked for.
Needs no assembler: each kernel is taken to need as many registers as the cost model expects.
"""

from __future__ import annotations

from collections.abc import Iterator

from goptx.analysis.sync.sync_spans import is_of_warpgroup
from goptx.cost.hardware import machine_of
from goptx.cost.kernels import Alone
from goptx.cost.register_estimate import OWN
from goptx.cost.role_registers import RoleDemand, divisions, rounded_up
from goptx.device.occupancy import occupancy
from goptx.launch.shape import MOST_THREADS, Shape
from goptx.strategies.candidate import Candidate
from goptx.strategies.candidates import Judge, divides
from goptx.weaving.shapes.folded import FEWEST_REGISTERS, moves_registers
from goptx.weaving.shapes.thread_view import WARPGROUP

WOVEN = (1, 2)  # virtual CTAs of the kernel that is limited by memory: two have twice the loads in flight
ONE, TEAMS = (1, 1), ((2, 1), (1, 2))  # teams of each kernel in a CTA
LOOP = 6  # registers of the loop over virtual CTAs: the number, the end, the step, and what is computed from them


def fold_candidates(judge: Judge, arch: str) -> list[Candidate]:
    """None unless registers can be moved between two kernels, of which one has `wgmma` and the other is limited by
    memory."""
    if len(judge.kernels) != 2 or not moves_registers(arch) or not all(map(_may_be_folded, judge.shapes)):
        return []
    tensor = [any(map(is_of_warpgroup, kernel.flow.instructions())) for kernel in judge.kernels]
    alone = judge.each_alone()
    if not all(estimate.parts for estimate in alone):  # one of them fits on no SM
        return []
    by_memory = [estimate.decided_by == "memory" for estimate in alone]
    if sorted(zip(tensor, by_memory, strict=True)) != [(False, True), (True, False)]:
        return []
    return list(_of_pair(judge, by_memory.index(True), arch))


def _may_be_folded(shape: Shape) -> bool:
    return bool(shape.ctas and shape.threads and shape.threads % WARPGROUP == 0 and not shape.cluster)


def _of_pair(judge: Judge, streaming: int, arch: str) -> Iterator[Candidate]:
    shapes = judge.shapes
    most = _most(judge, ONE, arch)
    if not most or max(s.ctas or 0 for s in shapes) <= machine_of(arch).sms * most:
        return
    for factor in WOVEN:
        if not divides(factor * judge.before[streaming], shapes[streaming]):
            continue
        factors = tuple(factor if k == streaming else 1 for k in range(2))
        found = _with_teams(judge, streaming, factors, ONE, arch)
        if found:
            yield found
        else:  # one CTA of both fills an SM, but leaves registers unused
            several = (_with_teams(judge, streaming, factors, teams, arch) for teams in TEAMS)
            yield from (candidate for candidate in several if candidate)


def _with_teams(
    judge: Judge, streaming: int, factors: tuple[int, ...], teams: tuple[int, int], arch: str
) -> Candidate | None:
    """None where no registers are moved: what is left goes to the kernel that is limited by memory."""
    each = enumerate(zip(judge.kernels, factors, judge.before, strict=True))
    roles = [_demand(kernel, own * before, k == streaming) for k, (kernel, own, before) in each]
    first, second = ((s.threads or 0) * n for s, n in zip(judge.shapes, teams, strict=True))
    moved = [r for r in divisions((first, second), roles[0], roles[1], _most(judge, teams, arch)) if r]
    if not moved:
        return None
    made = Candidate("horizontal", factors).having(fold="static", role_registers=max(moved, key=lambda r: r[streaming]))
    return made if teams == ONE else made.having(teams=teams)


def _most(judge: Judge, teams: tuple[int, int], arch: str) -> int:
    """CTAs on an SM, by threads and shared memory."""
    each = list(zip(judge.kernels, judge.shapes, teams, strict=True))
    threads = sum((shape.threads or 0) * n for _, shape, n in each)
    shared = sum((kernel.shared + (shape.shared or 0)) * n for kernel, shape, n in each)
    return occupancy(arch, FEWEST_REGISTERS, shared, threads).ctas_per_sm if threads <= MOST_THREADS else 0


def _demand(kernel: Alone, copies: int, streaming: bool) -> RoleDemand:
    """The kernel that is limited by memory gets room for all that is live in its code: with less, the assembler would
    put off loads that are to be in flight, or spill. The other one gets what it is expected to take."""
    needed = kernel.pressure.times(copies)
    registers = rounded_up(needed.live + OWN if streaming else needed.registers + LOOP)
    return RoleDemand(registers, registers, registers)
