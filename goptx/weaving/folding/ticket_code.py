"""Tickets: in folded grids a team that is done gets the next virtual CTA that no other team has.

Requires: a folded plan that draws. Ensures: the teams of all CTAs of the fused kernel run each CTA of the kernel once,
however many CTAs are launched, and each counter is 0 again when the launch has ended, as before it. Launches that may
run at once have to use different counters: a hidden parameter has their number (device/launches/ticket_counters.py).

With n teams and G virtual CTAs, team t begins with virtual CTA t, if there is one. Ticket k is virtual CTA n + k, and a
team that draws a number beyond the kernel's CTAs ends. So G tickets are drawn in all: one by each team that ran any,
and one for each virtual CTA that was not the first of a team. `atom.inc` with G - 1 sets the counter to 0 with the last
one. Where h teams of another kernel help (helping.py), each of them draws until it gets none, so G + h tickets are
drawn. Where warps need nothing of each other, a ticket of a large grid stands for several virtual CTAs: one counter
gives out a ticket in about 2 ns (measured on an H200), however many draw.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from goptx.analysis.cfg import Flow, loops
from goptx.errors import CannotWeave
from goptx.launch.launch_plan import COUNTERS, TICKETS, Plan
from goptx.launch.shape import MOST_CTAS
from goptx.ptx.ir import Address, Function, Guard, Instruction, Name, Operand, Sum, Variable
from goptx.ptx.walk import free_name
from goptx.weaving.model import Linked
from goptx.weaving.shapes.scalar_code import Fresh, Scalars, operand
from goptx.weaving.shapes.thread_view import View

WORD = 4  # bytes of a counter, and of a ticket
BOUND = 2 * WORD  # bytes of the counter from which CTAs draw their roles, and of the places for what they have drawn
SMS = 256  # SMs with counters of their own; others share these
# Tickets for each team at least, so that all end at about the same time; and where a kernel has loops, so that its CTAs
# may last differently long.
ROUNDS, ROUNDS_OF_LOOPS = 32, 128
MOST_AT_ONCE = 64  # virtual CTAs of a ticket


@dataclass(frozen=True, slots=True)
class Tickets:
    """The variables of a fused kernel: the `counters`, in global memory, a set for each launch; and the `box` in shared
    memory, in which a thread leaves for others what it has drawn. Each team has two places there, which take turns, so
    nobody writes one while others still read it.

    teams: that run each kernel in a CTA. by_team: whether teams draw. sms: the counters of SMs, if CTAs are bound to
    these (sm_binding.py); then the set of a launch, and the box, begin with what that needs."""

    counters: str
    box: str
    teams: tuple[int, ...]
    by_team: bool
    sms: str = ""

    @property
    def set_bytes(self) -> int:
        """Of the counters of one launch."""
        return self._bound + WORD * len(self.teams) * self.by_team

    @property
    def _bound(self) -> int:
        return BOUND if self.sms else 0

    def counter(self, kernel: int) -> Operand:
        """The place of the kernel's counter in the first set."""
        return _at(self.counters, self._bound + WORD * kernel)

    def places(self, kernel: int) -> Operand:
        """Those of the kernel's first team."""
        return _at(self.box, self._bound + 2 * WORD * sum(self.teams[:kernel]))

    @property
    def variables(self) -> tuple[Variable, ...]:
        places = self._bound + 2 * WORD * sum(self.teams) * self.by_team
        made = [_variable(".global", self.counters, COUNTERS * self.set_bytes), _variable(".shared", self.box, places)]
        return (*made, *([_variable(".global", self.sms, SMS * WORD)] if self.sms else []))


def _variable(space: str, name: str, size: int) -> Variable:
    return Variable(space, (f".align {2 * WORD}", ".b8"), name, (str(size),))


def tickets_of(linked: Linked, plan: Plan) -> Tickets:
    """With names that nothing else has. Raises `CannotWeave` for kernels with addresses of 32 bits."""
    if linked.address_size != 64:
        kernel = linked.given[0]
        remedy = "leave out binding=" if plan.is_bound else 'give fold="static"'
        raise CannotWeave(
            f"{kernel.at(kernel.entry.line)}: tickets are drawn from counters with addresses of 64 bits, and the "
            f"module has .address_size {linked.address_size}; {remedy}.",
            rule="folded-grids",
        )
    named = (i.name for i in linked.items if isinstance(i, Function | Variable))
    taken = {linked.name, *named, *(p.name for k in linked.kernels for p in k.parameters)}
    counters, box, sms = (free_name(f"{linked.name}_{what}", taken) for what in ("counters", "box", "sms"))
    teams = tuple(map(plan.places_of, range(len(linked.given))))
    return Tickets(counters, box, teams, plan.fold_of_teams == "ticket", sms if plan.is_bound else "")


@dataclass(frozen=True, slots=True)
class Drawing:
    """The code with which a team draws: `before` the loop, `drawn` by one of its threads, which hands the ticket to the
    others later (`handed`), and `step` by all of them after that, which sets the predicate `more`."""

    before: tuple[Instruction, ...]
    drawn: tuple[Instruction, ...]
    handed: tuple[Instruction, ...]
    step: tuple[Instruction, ...]


def ctas_of_a_ticket(ctas: float, teams: int, flow: Flow) -> int:
    """How many of so many virtual CTAs of a kernel, a power of two, if so many teams draw."""
    most = min(int(ctas / (teams * (ROUNDS_OF_LOOPS if loops(flow) else ROUNDS))), MOST_AT_ONCE)
    return 1 << (most.bit_length() - 1) if most > 1 else 1


def drawing(view: View, tickets: Tickets, number: Name, more: Name, fresh: Fresh, several: int = 1) -> Drawing:
    """`number` is the register with the number of the virtual CTA; the scalars of the view are empty. `several`: the
    virtual CTAs of a ticket."""
    s, k = view.scalars, view.position
    place, ticket = fresh.register(".b32"), fresh.register(".b32")
    ctas = view.runs() if several == 1 else s.divide(s.add(view.runs(), several - 1), several, MOST_CTAS[0])
    draws = Guard(_is_first(view))
    counter = s.element(tickets.counter(k), view.hidden(TICKETS), tickets.set_bytes)
    helpers = s.multiply(s.read("%nctaid.x"), helping) if (helping := view.plan.helpers_of(k)) else 0
    taken = (ticket, Address((counter,)), operand(s.add(s.subtract(ctas, 1), helpers)))
    drawn = (*s.code, Instruction("atom.global.inc.u32", taken, draws))
    later = replace(view, scalars=Scalars(fresh))
    teams = operand(later.all_teams())
    handed = (
        *later.scalars.code,
        Instruction("add.u32", (ticket, ticket, teams), draws),
        Instruction("st.shared.u32", (Address((place,)), ticket), draws),
    )
    step = (
        Instruction("ld.shared.u32", (number, Address((place,)))),
        Instruction("xor.b32", (place, place, operand(WORD))),
        Instruction("setp.lt.u32", (more, number, operand(ctas))),
        *([Instruction("mul.lo.u32", (number, number, operand(several)))] if several > 1 else []),
    )
    box = tickets.places(k)
    first, own = Scalars(fresh), view.team()
    found = operand(first.multiply_add(own, 2 * WORD, first.read_address(box))) if own else box
    before = (*first.code, Instruction("mov.u32", (place, found)))
    return Drawing(before, drawn, handed, step)


def _is_first(view: View) -> Name:
    """The predicate of the first thread of a team."""
    s = view.scalars
    if view.places == 1 and not view.plan.overlaid:
        return s.compare("eq", s.read("%tid.x"), view.first_thread)
    return s.compare("eq", view.thread_of_team(), 0)


def _at(name: str, offset: int) -> Operand:
    return Sum(Name(name), (f"+{offset}",)) if offset else Name(name)
