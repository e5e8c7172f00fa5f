"""Teams that help: where no CTA of their own kernel is left, they run those of another kernel in folded grids.

Requires: tickets, and teams of the other kernel that are no larger, their sizes powers of two. Ensures: a team that
helps is one or several of the other kernel's. Each has its own part of that kernel's shared memory and its own
barriers, begins by drawing a ticket, and has as many registers as the other kernel's teams.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from goptx.analysis.cfg import Block
from goptx.analysis.terminators import Jump
from goptx.launch.shape import MOST_THREADS
from goptx.ptx.ir import Immediate, Instruction
from goptx.weaving.model import TeamRegisters
from goptx.weaving.shapes.folded import Folded
from goptx.weaving.shapes.scalar_code import Value, operand
from goptx.weaving.shapes.thread_view import View

Place = tuple[int, str]  # the number of a kernel, and a block of its flow


@dataclass(frozen=True, slots=True)
class Helping:
    """From which block of a kernel's flow, which leads to its end, teams go on, and at which block of another's."""

    left: Place
    joined: Place

    def linked(self, blocks: dict[str, Block], names: Sequence[dict[str, str]]) -> dict[str, Block]:
        """The blocks of both kernels, which have these names now, with the one leading to the other."""
        left, joined = (names[kernel][name] for kernel, name in (self.left, self.joined))
        return {**blocks, left: replace(blocks[left], end=Jump(joined))}


def joining_code(
    view: View, own: TeamRegisters, helper: TeamRegisters, before: tuple[Instruction, ...]
) -> tuple[Instruction, ...]:
    """What a team of the helper does before it draws a ticket of the view's kernel: from there on it is one of that
    kernel's teams, or several, after those of the kernel itself. `before` finds the place for the team's tickets. The
    scalars of the view are empty."""
    plan, s = view.plan, view.scalars
    assert isinstance(plan, Folded) and plan.helper is not None
    number: Value = helper.team if plan.teams_of(plan.helper) > 1 else 0
    if plan.teams_in_helper > 1:
        thread = s.remainder(
            s.subtract(s.read("%tid.x"), plan.first_thread(plan.helper)), plan.partition[plan.helper], MOST_THREADS
        )
        within = s.of_warp(s.divide(thread, view.warps_threads, MOST_THREADS))
        number = s.multiply_add(number, plan.teams_in_helper, within) if number else within
    team = operand(s.add(number, view.teams))
    return (*_given_up(plan, view.position), *s.code, Instruction("mov.u32", (own.team, team)), *before)


def _given_up(plan: Folded, helped: int) -> tuple[Instruction, ...]:
    """All that come to the code of the kernel have the same registers, so the assembler knows how many these are."""
    assert plan.helper is not None
    if not plan.moves or not plan.registers or plan.registers[plan.helper] == plan.registers[helped]:
        return ()
    return (Instruction("setmaxnreg.dec.sync.aligned.u32", (_plain(plan.registers[helped]),)),)


def _plain(number: int) -> Immediate:
    return Immediate(str(number))
