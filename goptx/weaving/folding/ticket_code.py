"""Tickets: in folded grids a team that is done gets the next virtual CTA that no other team has.

Requires: a folded plan that draws. Ensures: the teams of all CTAs of the fused kernel run each CTA of the kernel once,
however many CTAs are launched, and each counter is 0 again when the launch has ended, as before it. Launches that may
run at once have to use different counters: a hidden parameter has their number (device/launches/ticket_counters.py).

With n teams and G virtual CTAs, team t begins with virtual CTA t, if there is one. Ticket k is virtual CTA n + k, and a
team that draws a number beyond the kernel's CTAs ends. So G tickets are drawn in all: one by each team that ran any,
and one for each virtual CTA that was not the first of a team. `atom.inc` with G - 1 sets the counter to 0 with the last
one.
"""

from __future__ import annotations

from dataclasses import dataclass

from goptx.errors import CannotWeave
from goptx.launch.launch_plan import COUNTERS, TICKETS, Plan
from goptx.ptx.ir import Address, Function, Guard, Instruction, Name, Operand, Sum, Variable
from goptx.ptx.walk import free_name
from goptx.weaving.model import Linked
from goptx.weaving.shapes.scalar_code import Fresh, Scalars, operand
from goptx.weaving.shapes.thread_view import View

WORD = 4  # bytes of a counter, and of a ticket


@dataclass(frozen=True, slots=True)
class Tickets:
    """The variables of a fused kernel of `kernels`: the `counters`, in global memory, one for each kernel of a launch;
    and the `box` in shared memory, in which a thread leaves the ticket for its team. Each team has two places there,
    which take turns, so nobody writes one while others still read it. `teams`: of each kernel in a CTA."""

    counters: str
    box: str
    teams: tuple[int, ...]

    @property
    def kernels(self) -> int:
        return len(self.teams)

    @property
    def variables(self) -> tuple[Variable, ...]:
        sizes = {".global": COUNTERS * self.kernels * WORD, ".shared": 2 * sum(self.teams) * WORD}
        names = (self.counters, self.box)
        return tuple(
            Variable(space, (f".align {2 * WORD}", ".b8"), name, (str(size),))
            for (space, size), name in zip(sizes.items(), names, strict=True)
        )


def tickets_of(linked: Linked, plan: Plan) -> Tickets:
    """With names that nothing else has. Raises `CannotWeave` for kernels with addresses of 32 bits."""
    if linked.address_size != 64:
        kernel = linked.given[0]
        raise CannotWeave(
            f"{kernel.at(kernel.entry.line)}: tickets are drawn from counters with addresses of 64 bits, and the "
            f'module has .address_size {linked.address_size}; give fold="static".',
            rule="folded-grids",
        )
    named = (i.name for i in linked.items if isinstance(i, Function | Variable))
    taken = {linked.name, *named, *(p.name for k in linked.kernels for p in k.parameters)}
    counters, box = (free_name(f"{linked.name}_{what}", taken) for what in ("counters", "box"))
    return Tickets(counters, box, tuple(map(plan.teams_of, range(len(linked.given)))))


@dataclass(frozen=True, slots=True)
class Drawing:
    """The code with which a team draws: `before` the loop, `drawn` by one of its threads, `step` by all of them after
    that, which sets the predicate `more`."""

    before: tuple[Instruction, ...]
    drawn: tuple[Instruction, ...]
    step: tuple[Instruction, ...]


def drawing(view: View, tickets: Tickets, number: Name, more: Name, fresh: Fresh) -> Drawing:
    """`number` is the register with the number of the virtual CTA; the scalars of the view are empty."""
    s, k = view.scalars, view.position
    place, ticket = fresh.register(".b32"), fresh.register(".b32")
    ctas = view.total("grid")
    draws = Guard(_is_first(view))
    counter = s.element(_at(tickets.counters, WORD * k), view.hidden(TICKETS), WORD * tickets.kernels)
    taken = (ticket, Address((counter,)), operand(s.subtract(ctas, 1)))
    drawn = (
        Instruction("atom.global.inc.u32", taken, draws),
        Instruction("add.u32", (ticket, ticket, operand(view.all_teams())), draws),
        Instruction("st.shared.u32", (Address((place,)), ticket), draws),
    )
    step = (
        Instruction("ld.shared.u32", (number, Address((place,)))),
        Instruction("xor.b32", (place, place, operand(WORD))),
        Instruction("setp.lt.u32", (more, number, operand(ctas))),
    )
    box = _at(tickets.box, 2 * WORD * sum(tickets.teams[:k]))
    first, own = Scalars(fresh), view.team()
    found = operand(first.multiply_add(own, 2 * WORD, first.read_address(box))) if own else box
    before = (*first.code, Instruction("mov.u32", (place, found)))
    return Drawing(before, (*s.code, *drawn), step)


def _is_first(view: View) -> Name:
    """The predicate of the first thread of a team."""
    s = view.scalars
    if view.teams == 1:
        return s.compare("eq", s.read("%tid.x"), view.first_thread)
    return s.compare("eq", view.number("block"), 0)


def _at(name: str, offset: int) -> Operand:
    return Sum(Name(name), (f"+{offset}",)) if offset else Name(name)
