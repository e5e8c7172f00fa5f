"""Binding to SMs: the SM on which a CTA begins decides which of two kernels it runs (POD-Attention, ASPLOS 2025).

Requires: an interleaved plan that is bound. Ensures: each CTA of the fused kernel runs one of the CTAs (or persistent
CTAs) of one kernel, and each of these is run once, whatever `%smid` is; CTAs that begin on one SM take turns as the
plan's `round` says, as long as both kernels have CTAs left. In which order the hardware places CTAs does not matter.

One thread draws. A counter of the SM says which kernel's turn it is. It may begin with any value, so it is not reset,
and SMs and launches may share it. Then the thread draws the number of its CTA from the launch's counter: one word of 64
bits has a half for each kernel, so one `atom.add` tells how many CTAs both have given out. If the kernel has none left,
the other one has, because the launch has as many CTAs as both together: a second `atom.add` draws that. Who draws the
last number of all sees that in the word, and sets it to 0. Nobody draws after that, so the next launch finds it as this
one did.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from goptx.analysis.cfg import Block, Flow
from goptx.analysis.numbering import completed
from goptx.analysis.terminators import Branch, Jump
from goptx.launch.launch_plan import TICKETS
from goptx.ptx.ir import Address, Guard, Immediate, Instruction, Name, Registers, Sum, Vector
from goptx.ptx.walk import free_name
from goptx.weaving.emit.reconverge import RECONVERGE
from goptx.weaving.folding.ticket_code import SMS, WORD, Tickets
from goptx.weaving.merging.merge_input import MergeInput, ProductState
from goptx.weaving.model import SmBinding, TeamRegisters
from goptx.weaving.shapes.interleaved import Interleaved
from goptx.weaving.shapes.scalar_code import Fresh, Scalars, Value, operand
from goptx.weaving.shapes.thread_view import View

SECOND = 1 << 32  # one CTA of the second kernel, in the launch's counter


def sm_binding(
    views: Sequence[Callable[[Scalars], View]], tickets: Tickets, registers: Sequence[TeamRegisters], fresh: Fresh
) -> SmBinding:
    """The code, after which the registers of both kernels are set; `views` make those of the two kernels."""
    scalars, drawing = Scalars(fresh), Scalars(fresh)
    waiting = scalars.compare("ne", views[0](scalars).number("block"), 0)
    role, box = fresh.register(".b32"), fresh.register(".b32")
    drawn = _drawn([view(drawing) for view in views], tickets, role, box, fresh)
    after = (
        Instruction("mov.u32", (box, Name(tickets.box))),
        Instruction("ld.shared.u32", (role, Address((box,)))),
        *(Instruction("ld.shared.u32", (own.place, Address((Sum(box, (f"+{WORD}",)),)))) for own in registers),
        *(
            Instruction("setp.ne.u32", (own.absent, role, Immediate(str(number))))
            for number, own in enumerate(registers)
        ),
    )
    meeting = (RECONVERGE, Instruction("barrier.sync", (Immediate("0"),)))
    return SmBinding(tuple(scalars.code), waiting.text, drawn, (*meeting, *after))


def registers_of_binding(own: TeamRegisters) -> tuple[Registers, ...]:
    """Those of a kernel that are set by the code of the binding."""
    return tuple(Registers((type_,), ((r.text, None),)) for type_, r in ((".b32", own.place), (".pred", own.absent)))


def _drawn(views: Sequence[View], tickets: Tickets, role: Name, box: Name, fresh: Fresh) -> tuple[Instruction, ...]:
    """What the one thread does: it leaves the number of a kernel, and the number of one of its CTAs, in the box."""
    s, plan = views[0].scalars, views[0].plan
    assert isinstance(plan, Interleaved)
    ctas = [plan.number_of_ctas(view) for view in views]
    counter = s.element(Name(tickets.counters), views[0].hidden(TICKETS), tickets.set_bytes)
    turn = fresh.register(".b32")
    unit, old = fresh.register(".b64"), fresh.register(".b64")
    halves = fresh.register(".b32"), fresh.register(".b32")
    number, most = fresh.register(".b32"), fresh.register(".b32")
    wanted, gone, second, last = (fresh.register(".pred") for _ in range(4))

    def draw(predicate: Name, guard: Guard | None) -> tuple[Instruction, ...]:
        """A CTA of the second kernel where the predicate holds, else of the first. Where nothing is drawn, the halves
        of the word stay as they are."""
        return (
            Instruction("selp.b64", (unit, Immediate(str(SECOND)), Immediate("1"), predicate)),
            Instruction("atom.global.add.u64", (old, Address((counter,)), unit), guard),
            Instruction("mov.b64", (Vector(halves), old)),
            Instruction("selp.b32", (number, halves[1], halves[0], predicate)),
        )

    return (
        *s.code,
        *_turn(turn, plan.round, tickets, fresh),
        Instruction("setp.ne.u32", (wanted, turn, Immediate("0"))),
        *draw(wanted, None),
        Instruction("selp.b32", (most, operand(ctas[1]), operand(ctas[0]), wanted)),
        Instruction("setp.ge.u32", (gone, number, most)),
        Instruction("xor.pred", (second, wanted, gone)),
        *draw(second, Guard(gone)),
        *_is_last(halves, ctas, last, fresh),
        Instruction("atom.global.exch.b64", (old, Address((counter,)), Immediate("0")), Guard(last)),
        Instruction("selp.b32", (role, Immediate("1"), Immediate("0"), second)),
        Instruction("mov.u32", (box, Name(tickets.box))),
        Instruction("st.shared.u32", (Address((box,)), role)),
        Instruction("st.shared.u32", (Address((Sum(box, (f"+{WORD}",)),)), number)),
    )


def _turn(bit: Name, order: Sequence[int], tickets: Tickets, fresh: Fresh) -> tuple[Instruction, ...]:
    """Sets the register to the kernel whose turn it is on the SM: 0 for the first one, 1 for the second."""
    own, sm = Scalars(fresh), fresh.register(".b32")
    place = own.element(Name(tickets.sms), sm, WORD)
    seconds = sum(kernel << i for i, kernel in enumerate(order))
    return (
        Instruction("mov.u32", (sm, Name("%smid"))),
        Instruction("and.b32", (sm, sm, Immediate(str(SMS - 1)))),
        *own.code,
        Instruction("atom.global.inc.u32", (bit, Address((place,)), Immediate(str(len(order) - 1)))),
        Instruction("min.u32", (bit, bit, Immediate(str(len(order) - 1)))),
        Instruction("shr.u32", (bit, Immediate(str(seconds)), bit)),
        Instruction("and.b32", (bit, bit, Immediate("1"))),
    )


def _is_last(halves: tuple[Name, Name], ctas: Sequence[Value], last: Name, fresh: Fresh) -> tuple[Instruction, ...]:
    """Whether all CTAs but the one that was drawn just now had been drawn before. Kernels without CTAs left may have
    been asked for more."""
    s = Scalars(fresh)
    before = s.add(s.least(halves[0], ctas[0]), s.least(halves[1], ctas[1]))
    every = s.subtract(s.add(*ctas), 1)
    return (*s.code, Instruction("setp.eq.u32", (last, operand(before), operand(every))))


def bound_to_sms(whole: MergeInput, binding: SmBinding) -> MergeInput:
    """The kernels side by side, after the code by which their CTA learns which of them it runs. No code of it shares a
    block with theirs."""
    flow, kernel = whole.flow, whole.kernels[0]
    taken = {*flow.blocks}
    asked, drawn, bound = (free_name(f"${word}", taken) for word in ("turn", "draw", "bound"))
    blocks = {
        asked: Block(binding.before, Branch(Guard(Name(binding.waiting)), bound, drawn), alone=True),
        drawn: Block(binding.drawn, Jump(bound), alone=True),
        bound: Block(binding.after, Jump(flow.entry), alone=True),
        **flow.blocks,
    }
    states = {n: ProductState({kernel: n}, frozenset({kernel})) for n in (asked, drawn, bound)}
    made = completed(Flow(asked, blocks), kernel)
    return replace(whole, flow=made, states={**(whole.states or {}), **states})
