"""The numbers of the virtual CTAs that a team runs, where grids are folded (folded.py).

Requires: a view of the kernel, its plan one of folded grids. Ensures: the teams of all CTAs of the fused kernel run
each CTA of the kernel once, however many CTAs are launched: their number is read when the kernel begins.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from goptx.launch.shape import MOST_CTAS, MOST_THREADS
from goptx.options import Fold
from goptx.ptx.ir import Immediate, Instruction, Name, Registers
from goptx.weaving.folding.helping import joining_code
from goptx.weaving.folding.ticket_code import Drawing
from goptx.weaving.merging.barrier_ids import BARRIER_IDS
from goptx.weaving.model import CtaLoop, TeamRegisters
from goptx.weaving.shapes.folded import Folded
from goptx.weaving.shapes.scalar_code import Fresh, Scalars, Value, operand
from goptx.weaving.shapes.thread_view import View


@dataclass(frozen=True, slots=True)
class _Numbers:
    """The first number of a team, the one at which it ends, and what the next one is above each."""

    first: Value
    end: Value
    step: Value


def cta_loop(
    view: View,
    fold: Fold,
    registers: TeamRegisters,
    fresh: Fresh,
    begin: tuple[Instruction, ...],
    draw: Callable[[Name], Drawing] | None = None,
    helper: TeamRegisters | None = None,
    early: bool = False,
    several: int = 1,
) -> tuple[CtaLoop, tuple[Registers, ...]]:
    """The loop over the kernel's CTAs, and its registers. The scalars of the view are empty; `begin` is the code of
    `CtaLoop.begin`; `draw` makes the code that draws tickets and sets a predicate, where numbers are drawn; `helper`
    has the registers of a kernel whose teams help. `early`: a team draws when it begins a CTA, not when it is done, so
    that the ticket has come by then. `several`: CTAs of a ticket."""
    s, number = view.scalars, registers.number
    own = _own_team(replace(view, scalars=Scalars(fresh)), registers)
    ctas, team, teams = view.runs(), view.team_of_all(), view.all_teams()
    first = team if several == 1 else s.multiply(team, several)
    found = _chunk(s, ctas, team, teams) if fold == "chunk" else _Numbers(first, ctas, teams)
    none = s.compare("ge", found.first, found.end)
    if view.plan.overlaid and view.more_warps():  # nothing else is left for these warps to do
        none = s.either(none, s.compare("ge", view.thread_of_kernel(), view.warps_threads))
    more = fresh.register(".pred")
    before = (*_moved(view), *own, *s.code, Instruction("mov.u32", (number, operand(found.first))))
    if draw:
        made = draw(more)
        before = (*before, *made.before)
        drawn = made.handed if early else (*made.drawn, *made.handed)
        loop = CtaLoop(before, none.text, begin, made.step, more.text, drawn, view.warps_threads)
        if several > 1:
            loop = _of_several(loop, number, ctas, several, fresh)
            loop = replace(loop, head=made.drawn) if early else loop
        elif early:
            loop = replace(loop, begin=(*begin, *made.drawn))
        if helper:
            joining = joining_code(replace(view, scalars=Scalars(fresh)), registers, helper, made.before)
            loop = replace(loop, joining=(*joining, *made.drawn) if early else joining)
    else:
        step = (
            Instruction("add.u32", (number, number, operand(found.step))),
            Instruction("setp.lt.u32", (more, number, operand(found.end))),
        )
        loop = CtaLoop(before, none.text, begin, step, more.text)
    named = (number, registers.team) if view.places > 1 else (number,)
    ids = [Registers((".b32",), ((registers.barrier.text, BARRIER_IDS),))] if view.places > 1 else []
    return replace(loop, teams=view.places, registers=registers), (*map(_one, named), *ids, *fresh.declared())


def _of_several(loop: CtaLoop, number: Name, ctas: Value, several: int, fresh: Fresh) -> CtaLoop:
    """With the inner loop over the CTAs of a ticket, of which the last one may have fewer."""
    within, left, place = fresh.register(".pred"), fresh.register(".pred"), fresh.register(".b32")
    again = (
        Instruction("add.u32", (number, number, operand(1))),
        Instruction("and.b32", (place, number, operand(several - 1))),
        Instruction("setp.ne.u32", (within, place, operand(0))),
        Instruction("setp.lt.u32", (left, number, operand(ctas))),
        Instruction("and.pred", (within, within, left)),
    )
    return replace(loop, again=again, within=within.text)


def _one(register: Name) -> Registers:
    return Registers((".b32",), ((register.text, None),))


def _own_team(view: View, registers: TeamRegisters) -> tuple[Instruction, ...]:
    """Which team of its CTA the thread belongs to, if there are several."""
    if view.places == 1:
        return ()
    found = view.scalars.of_warp(view.scalars.divide(view.thread_of_kernel(), view.warps_threads, MOST_THREADS))
    return (*view.scalars.code, Instruction("mov.u32", (registers.team, operand(found))))


def _chunk(s: Scalars, ctas: Value, team: Value, teams: Value) -> _Numbers:
    """Contiguous pieces, the first ones longer by one where they do not come out even."""
    each = s.divide(ctas, teams, MOST_CTAS[0])
    rest = s.subtract(ctas, s.multiply(each, teams))
    first = s.multiply_add(team, each, s.least(team, rest))
    end = s.add(s.add(first, each), s.select(s.compare("lt", team, rest), 1, 0))
    return _Numbers(first, end, 1)


def _moved(view: View) -> tuple[Instruction, ...]:
    """Before any thread of the team may end: those that take registers wait for those that give them up."""
    plan = view.plan
    if not isinstance(plan, Folded) or not plan.moves or not plan.registers_at_entry:
        return ()
    at_entry, wanted = plan.registers_at_entry, plan.registers[view.position]
    if wanted == at_entry:
        return ()
    way = "inc" if wanted > at_entry else "dec"
    return (Instruction(f"setmaxnreg.{way}.sync.aligned.u32", (Immediate(str(wanted)),)),)
