"""The numbers of the virtual CTAs that a team runs, where grids are folded (folded.py).

Requires: a view of the kernel, its plan one of folded grids. Ensures: the teams of all CTAs of the fused kernel run
each CTA of the kernel once, however many CTAs are launched: their number is read when the kernel begins.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from goptx.launch.shape import MOST_CTAS
from goptx.ptx.ir import Immediate, Instruction, Name, Registers
from goptx.weaving.model import CtaLoop
from goptx.weaving.shapes.folded import Folded
from goptx.weaving.shapes.scalar_code import Fresh, Scalars, Value, operand
from goptx.weaving.shapes.thread_view import View
from goptx.weaving.shapes.ticket_code import Drawing


@dataclass(frozen=True, slots=True)
class _Numbers:
    """The first number of a team, the one at which it ends, and what the next one is above each."""

    first: Value
    end: Value
    step: Value


def cta_loop(
    view: View,
    plan: Folded,
    number: Name,
    fresh: Fresh,
    begin: tuple[Instruction, ...],
    draw: Callable[[Name], Drawing] | None = None,
) -> tuple[CtaLoop, tuple[Registers, ...]]:
    """The loop over the kernel's CTAs, and its registers. `number` is the register that holds the number of the present
    one; the scalars of the view are empty; `begin` is the code of `CtaLoop.begin`; `draw` makes the code that draws
    tickets and sets a predicate, where numbers are drawn."""
    s = view.scalars
    ctas, team = view.total("grid"), s.read("%ctaid.x")
    found = _chunk(s, ctas, team) if plan.fold == "chunk" else _static(s, ctas, team)
    none = s.compare("ge", found.first, found.end)
    more = fresh.register(".pred")
    before = (*_moved(plan, view.position), *s.code, Instruction("mov.u32", (number, operand(found.first))))
    if draw:
        made = draw(more)
        threads = plan.partition[view.position]
        loop = CtaLoop((*before, *made.before), none.text, begin, made.step, more.text, made.drawn, threads)
        return loop, (_one(number), *fresh.declared())
    step = (
        Instruction("add.u32", (number, number, operand(found.step))),
        Instruction("setp.lt.u32", (more, number, operand(found.end))),
    )
    loop = CtaLoop(before, none.text, begin, step, more.text)
    return loop, (_one(number), *fresh.declared())


def _one(register: Name) -> Registers:
    return Registers((".b32",), ((register.text, None),))


def _static(s: Scalars, ctas: Value, team: Name) -> _Numbers:
    """Team t of n runs t, t + n, t + 2n and so on; or t, and then what it draws."""
    return _Numbers(team, ctas, s.read("%nctaid.x"))


def _chunk(s: Scalars, ctas: Value, team: Name) -> _Numbers:
    """Contiguous pieces, the first ones longer by one where they do not come out even."""
    teams = s.read("%nctaid.x")
    each = s.divide(ctas, teams, MOST_CTAS[0])
    rest = s.subtract(ctas, s.multiply(each, teams))
    first = s.multiply_add(team, each, s.least(team, rest))
    end = s.add(s.add(first, each), s.select(s.compare("lt", team, rest), 1, 0))
    return _Numbers(first, end, 1)


def _moved(plan: Folded, position: int) -> tuple[Instruction, ...]:
    """Before any thread of the team may end: those that take registers wait for those that give them up."""
    at_entry = plan.registers_at_entry
    if at_entry is None or not plan.moves or plan.registers[position] == at_entry:
        return ()
    wanted = plan.registers[position]
    way = "inc" if wanted > at_entry else "dec"
    return (Instruction(f"setmaxnreg.{way}.sync.aligned.u32", (Immediate(str(wanted)),)),)
