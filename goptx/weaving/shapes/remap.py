"""Gives each kernel the shape in which it was to be launched, whatever the shape of the fused kernel.

Requires: linked kernels, and a shape for each. Ensures: a kernel reads its own %tid, %ctaid, %ntid and so on; threads
and CTAs that do not belong to the kernel end it before its first instruction (whole warps and CTAs by its range guard,
single lanes by a branch in its flow); its dynamic shared memory is its own. Sizes known at launch only are hidden
parameters. Each copy of a coarsened kernel is a CTA of it; what all of them need is computed once, in a prologue.
What cannot be preserved so is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from goptx.analysis.cfg import EXIT, Block, Flow, loops
from goptx.analysis.terminators import Branch, Jump
from goptx.errors import CannotWeave
from goptx.launch.launch_plan import ALIGNMENT, Plan
from goptx.launch.shape import Shape
from goptx.options import Placement
from goptx.ptx.flatten import FlatBody
from goptx.ptx.ir import Function, Guard, Instruction, Name, Operand, Registers, Statement, Sum, Variable
from goptx.ptx.walk import free_name, in_vectors, operand_names
from goptx.weaving.folding.cta_loops import cta_loop
from goptx.weaving.folding.divided_ctas import first_obstacle
from goptx.weaving.folding.divided_products import with_room_for_sums
from goptx.weaving.folding.sm_binding import registers_of_binding, sm_binding
from goptx.weaving.folding.ticket_code import Tickets, ctas_of_a_ticket, drawing, tickets_of
from goptx.weaving.link.clone_functions import Change, cloned_functions, declared_in
from goptx.weaving.link.link import check_parameters
from goptx.weaving.link.substitute import Substitution
from goptx.weaving.model import CopyPredicates, CtaLoop, Kernel, Linked, RangeGuard, TeamRegisters
from goptx.weaving.shapes.folded import Folded
from goptx.weaving.shapes.launch_demands import check_clusters, check_fits, common_block, may_be_dynamic, settled
from goptx.weaving.shapes.scalar_code import Fresh, Scalars, Value, free_stem, operand
from goptx.weaving.shapes.shared_pool import STATIC_LIMIT, Own, packed, pool_variable, shared_of, static_total
from goptx.weaving.shapes.strided import strided
from goptx.weaving.shapes.thread_view import WARP, View

NUMBERED = {
    True: "of which one CTA of folded grids has several; inline the function or leave out fold=",
    False: "which a CTA that is bound to an SM draws; inline the function or leave out binding=",
}
LANES = "lanes"  # the block at whose end the threads end that do not belong to the kernel


Layout = Callable[[Plan], Plan]  # where the kernels run in the fused kernel


def of_own_lanes(flow: Flow) -> Flow:
    """The flow of a kernel as its own threads go through it."""
    first = flow.blocks[flow.entry]
    if flow.entry != LANES or not isinstance(first.end, Branch):
        return flow
    return Flow(LANES, {**flow.blocks, LANES: replace(first, end=Jump(first.end.fallen))})


def with_shapes(
    linked: Linked,
    shapes: Sequence[Shape] | None,
    placement: Placement | None,
    layout: Layout | None = None,
    compiled: Sequence[Shape | None] = (),
) -> Linked:
    """By the plan as the `layout`, if there is one, changes it. `shapes` is None for kernels that are launched in one
    common shape, whatever it is but for what they were `compiled` for.

    Raises `InputError` where a shape contradicts its kernel, `CannotWeave` where a kernel would not be right in
    that of the fused kernel, `CannotLink` where parameters are too many."""
    own = [shared_of(k, linked) for k in linked.kernels]
    carve = static_total(own) > STATIC_LIMIT
    common = False
    given = [(k, o) for k, o in zip(linked.kernels, own, strict=True) if not k.copy]
    if shapes is None:
        known = next((own.block for own in compiled if own), common_block(linked))
        shapes = [
            Shape(None, known, own.shared if own else None if may_be_dynamic(k, linked) else 0)
            for (k, _), own in zip(given, compiled, strict=True)
        ]
        common = True
    plan = Plan(
        letters=tuple(k.letter for k, _ in given),
        shapes=tuple(settled(k, s) for (k, _), s in zip(given, shapes, strict=True)),
        placement=placement or "spread",
        carved=tuple(packed(o.static)[1] if carve else 0 for _, o in given),
        coarse=linked.coarse,
        common=common,
    )
    plan = layout(plan) if layout else plan
    if not placement:
        plan = plan.few_first()
        plan = plan if layout or common else replace(plan, strided=strided(linked, plan))
    plan = replace(plan, carved=tuple(n or _in_pool(plan, k, given) for k, n in enumerate(plan.carved)))
    check_clusters(linked, plan)
    linked = with_room_for_sums(linked, plan)
    tickets = tickets_of(linked, plan) if plan.draws else None
    pool = _pool(linked, plan, own, alone=not tickets)
    hidden = {r: Variable(".param", (".u32",), f"{linked.name}_{r.replace('.', '_')}") for r in plan.roles}
    teams = {k.letter: _team_registers(k) for k in linked.given}
    shaping = {
        k.prefix: _Shaping(k, plan.letters.index(k.letter), linked, plan, o, hidden, pool, teams[k.letter], tickets)
        for k, o in zip(linked.kernels, own, strict=True)
    }
    prologues = {s.kernel.letter: s.prologue() for s in shaping.values() if s.is_copy and not s.kernel.copy}
    items, renames = cloned_functions(linked, lambda kernel, f, body: shaping[kernel.prefix].function(f, body))
    kernels = tuple(
        s.kernel_within(r, prologues.get(s.kernel.letter)) for s, r in zip(shaping.values(), renames, strict=True)
    )
    if pool:
        moved = {name for s in shaping.values() for name in s.places}
        items = (pool_variable(pool), *(i for i in items if not isinstance(i, Variable) or i.name not in moved))
    items = (*(tickets.variables if tickets else ()), *items)
    check_parameters(kernels, linked.version, hidden.values())
    roles = [f"parameters after those of the kernels: {', '.join(plan.roles)}"] if plan.roles else []
    notes = (*linked.notes, str(plan), *roles)
    prologue = tuple(i for a in prologues.values() for i in a.before)
    begin = linked.begin if plan.is_bound else (*linked.begin, *prologue)
    together = {letter: a.together for letter, a in prologues.items()}
    linked = replace(linked, items=items, kernels=kernels, begin=begin, together=together)
    linked = replace(linked, hidden=hidden, plan=plan, notes=notes)
    if plan.folds:
        linked = _in_loops(linked, shaping.values(), prologues)
    return _bound(linked, list(shaping.values()), prologue) if plan.is_bound else linked


def _in_pool(plan: Plan, kernel: int, given: Sequence[tuple[Kernel, Own]]) -> int:
    """Bytes of the kernel's static memory that are in the dynamic memory, for not all CTAs or threads of the fused
    kernel have the same."""
    overlaid = plan.overlaid and sum(bool(own.static) for _, own in given) > 1
    return packed(given[kernel][1].static)[1] if overlaid or plan.places_of(kernel) > 1 else 0


def _team_registers(kernel: Kernel) -> TeamRegisters:
    names = ("cta", "team", "barrier", "place", "absent")
    return TeamRegisters(*(Name(free_stem(f"%{kernel.prefix}_{name}", kernel.register_names())) for name in names))


def _bound(linked: Linked, shaping: Sequence[_Shaping], prologue: tuple[Instruction, ...]) -> Linked:
    """With the code by which CTAs get their roles, and the prologues of kernels after that."""
    first, *_ = given = [each for each in shaping if not each.kernel.copy]
    fresh = Fresh(free_stem(f"%{first.kernel.prefix}_bind", first.kernel.register_names()))
    assert first.tickets is not None
    made = sm_binding([each.view for each in given], first.tickets, [each.team for each in given], fresh)
    own = {each.kernel.letter: registers_of_binding(each.team) for each in given}
    own[first.kernel.letter] = (*own[first.kernel.letter], *fresh.declared())
    kernels = (k if k.copy else replace(k, registers=(*k.registers, *own[k.letter])) for k in linked.kernels)
    return replace(linked, kernels=tuple(kernels), binding=replace(made, after=(*made.after, *prologue)))


def _in_loops(linked: Linked, shaping: Iterable[_Shaping], prologues: Mapping[str, _Prologue]) -> Linked:
    """With the loops over the kernels' CTAs and their registers."""
    loops, declared = {}, {}
    given = [each for each in shaping if not each.kernel.copy]
    for each in given:
        letter, plan = each.kernel.letter, each.plan
        prologue = prologues.get(letter)
        helper = plan.helper if isinstance(plan, Folded) and plan.helpers_of(each.position) else None
        registers = None if helper is None else given[helper].team
        loops[letter], declared[letter] = each.loop(prologue.of_each_cta if prologue else (), registers)
    kernels = tuple(k if k.copy else replace(k, registers=(*k.registers, *declared[k.letter])) for k in linked.kernels)
    return replace(linked, kernels=kernels, loops=loops)


def _pool(linked: Linked, plan: Plan, own: Sequence[Own], alone: bool) -> str:
    """The name of the one dynamic array; "" where the kernels' own arrays may stay as they are. `alone`: there is no
    other static memory."""
    users = [plan.letters.index(k.letter) for k, o in zip(linked.kernels, own, strict=True) if o.dynamic]
    alone = alone and not any(plan.places_of(k) > 1 for k in users)
    begins_there = users == plan.order[:1] or (plan.overlaid and len(users) == len({*users}))
    if not any(plan.carved) and (not users or (begins_there and alone)):
        return ""
    return free_name(f"{linked.name}_shared", {i.name for i in linked.items if isinstance(i, Function | Variable)})


@dataclass(frozen=True, slots=True)
class _Prologue:
    """What all copies of a kernel share: `scalars` has what is computed before the fused kernel's code, the same for
    all threads of a CTA; the range guard of each, which ends no thread; `cta` is the number of their CTA, where the
    guard computes that; `together` has the predicates of the threads that skip copies. Where grids are folded, all but
    the first `fixed` instructions are computed for each virtual CTA."""

    scalars: Scalars
    range_guard: RangeGuard | None
    cta: Value | None
    together: CopyPredicates
    fixed: int | None = None

    @property
    def before(self) -> tuple[Instruction, ...]:
        """The code at the beginning of the fused kernel."""
        return tuple(self.scalars.code[: self.fixed])

    @property
    def of_each_cta(self) -> tuple[Instruction, ...]:
        """The code at the beginning of each virtual CTA."""
        return () if self.fixed is None else tuple(self.scalars.code[self.fixed :])


@dataclass(frozen=True, slots=True)
class _Shaping:
    """The kernel at `position` of the plan, or a copy of it, with the shared memory that it has alone, the hidden
    parameters by role, and the name of the one dynamic array, if there is one. `team` has the registers with the number
    of the kernel's CTA, and so on, where grids are folded; `tickets` are the variables with which numbers are drawn, if
    they are."""

    kernel: Kernel
    position: int
    linked: Linked
    plan: Plan
    own: Own
    hidden: Mapping[str, Variable]
    pool: str
    team: TeamRegisters
    tickets: Tickets | None = None

    def kernel_within(self, functions: Mapping[str, str], prologue: _Prologue | None) -> Kernel:
        """The kernel as it is within the fused kernel; `functions` are those that it calls by other names."""
        kernel = self.kernel
        fresh = Fresh(free_stem(f"%{kernel.prefix}_shape", kernel.register_names()))
        range_guard, cta = (prologue.range_guard, prologue.cta) if prologue else self.range_guard(Scalars(fresh))
        scalars = Scalars(fresh, made=dict(prologue.scalars.made) if prologue else {})
        common = prologue.scalars.fresh.declared() if prologue and not kernel.copy else ()
        view = self.view(scalars, cta=cta)
        check_fits(kernel, self.linked, view)
        values = self.values(list(kernel.flow.codes()), view)
        addresses = {}
        if self.moved:
            values = {n: v for n, v in values.items() if n not in self.places}
            addresses = {n: partial(self.address, view, place) for n, place in self.places.items()}
        calls = {old: Name(new) for old, new in functions.items()}
        substitution = Substitution({**values, **calls}, kernel.at, addresses)
        flow = substitution.flow(kernel.flow)
        ended = scalars.compare("ge", view.number("block"), view.total("block")) if view.end_at_once() else None
        end = Branch(Guard(ended), EXIT, flow.entry, line=kernel.entry.line) if ended else Jump(flow.entry)
        begin = LANES if ended else "shape"
        start = self.plan.start(self.position, kernel.copy)
        begun = Flow(begin, {begin: Block(tuple(scalars.code), end), **flow.blocks}).pruned()
        return replace(
            kernel,
            flow=begun,
            range_guard=range_guard,
            symbols=kernel.calling(functions),
            callees=tuple(map(substitution.statement, kernel.callees)),
            registers=(*kernel.registers, *common, *fresh.declared()),
            variables=tuple(d for d in kernel.variables if d.variable.name not in self.places),
            pool=self.pool,
            pooled={} if self.moved else {name: start + place for name, place in self.places.items()},
        )

    def function(self, function: Function, body: FlatBody) -> Change | None:
        """What changes in a device function that the kernel calls. Parameters of the entry cannot be read there."""

        def unknown(role: str) -> Value:
            if role in self.of_team:
                raise CannotWeave(
                    f"{self.kernel.at(function.line)}: the device function `{function.name}` depends on the number of "
                    f"its CTA, {NUMBERED[self.plan.folds]}.",
                    rule="folded-grids",
                )
            raise CannotWeave(
                f"{self.kernel.at(function.line)}: the device function `{function.name}` depends on {role}, which is "
                "known at launch only; give the sizes of all kernels when weaving, or inline the function.",
                rule="known-shapes",
            )

        declared = declared_in(function, body)
        fresh = Fresh(free_stem("%shape", declared))
        scalars = Scalars(fresh)
        if self.moved and any(n in self.places for n in operand_names(body.code)):
            unknown(f"{next(iter(self.unknown_before))}.shared" if self.unknown_before else next(iter(self.of_team)))
        view = self.view(scalars, unknown)
        values = {n: v for n, v in self.values(body.code, view).items() if n not in declared}
        return Change(Substitution(values, self.kernel.at), (*fresh.declared(), *scalars.code)) if values else None

    def range_guard(self, scalars: Scalars) -> tuple[RangeGuard | None, Value | None]:
        """The guard that only the warps and CTAs of the kernel pass, and the number of its CTA, where the guard
        computes that. What depends on the thread is in its code, and not among the cached scalars."""
        view = self.view(scalars)
        ended: list[Name] = []
        cta = None
        if view.fewer_ctas():
            cta, none = view.carrying()
            ended += [none] if none else []
        threads = None
        scalars = replace(scalars, made=dict(scalars.made))
        if view.pass_by():
            view = self.view(scalars)
            waits = view.warps_threads if view.parts > 1 else scalars.round_up(view.total("block"), WARP)
            ended.append(scalars.compare("ge", view.thread_of_kernel(), scalars.multiply(waits, view.teams)))
            threads = operand(waits)
        if not ended:
            return None, None
        either = scalars.either(*ended) if len(ended) > 1 else ended[0]
        if isinstance(self.plan, Folded) and self.plan.helper is not None:  # warps of both kernels come to one loop
            either = scalars.holds_for_warp(either)
        return RangeGuard(tuple(scalars.code), either.text, threads), cta

    @property
    def is_copy(self) -> bool:
        return self.plan.coarse[self.position].factor > 1

    def prologue(self) -> _Prologue:
        """What is computed once for all copies, at the first of them."""
        scalars = Scalars(Fresh(free_stem(f"%{self.kernel.prefix}_coarse", self.kernel.register_names())))
        range_guard, cta = self.range_guard(scalars)
        fixed = len(scalars.code) if self.plan.folds else None
        left_over = self.view(scalars, cta=cta).left_over()
        view, beyond = self.view(replace(scalars, made=dict(scalars.made))), None
        if view.warps_end():
            beyond = view.scalars.compare("ge", view.number("block"), view.scalars.round_up(view.total("block"), WARP))
        ends = (n.text if n else None for n in (left_over, beyond))
        together = CopyPredicates(range_guard.ended if range_guard else None, *ends)
        guard = RangeGuard((), None, range_guard.threads) if range_guard else None
        return _Prologue(scalars, guard, cta, together, fixed)

    def loop(
        self, begin: tuple[Instruction, ...], helper: TeamRegisters | None
    ) -> tuple[CtaLoop, tuple[Registers, ...]]:
        """That over the CTAs of folded grids, and its registers; `helper` has those of the kernel whose teams help."""
        fold = self.plan.fold_of_teams
        assert fold is not None
        fresh = Fresh(free_stem(f"%{self.kernel.prefix}_fold", self.kernel.register_names()))
        view, tickets, number = self.view(Scalars(fresh)), self.tickets, self.team.number
        if not tickets or not tickets.by_team:
            return cta_loop(view, fold, self.team, fresh, begin)
        several, early = self.ctas_of_a_ticket(), not loops(self.kernel.flow)
        draw = partial(drawing, self.view(Scalars(fresh)), tickets, number, fresh=fresh, several=several)
        return cta_loop(view, fold, self.team, fresh, begin, draw, helper, early, several)

    def ctas_of_a_ticket(self) -> int:
        """More than one where the number is known, and warps need nothing of each other: they meet at tickets only."""
        plan, ctas = self.plan, self.view(Scalars(Fresh(""))).runs()
        meets = self.own.static or self.own.dynamic or first_obstacle(self.kernel.flow)
        if not isinstance(plan, Folded) or meets or not isinstance(ctas, int):
            return 1
        return ctas_of_a_ticket(ctas, plan.ctas * plan.places_of(self.position), self.kernel.flow)

    @property
    def of_team(self) -> dict[str, Name]:
        """The registers of a team, by what a view asks for them by."""
        team = self.team
        roles = {"cta": team.number, "team": team.team, "place": team.place, "absent": team.absent}
        return {f"{self.kernel.letter}.{role}": register for role, register in roles.items()}

    @property
    def moved(self) -> bool:
        """Whether the addresses of its variables in the dynamic array are computed."""
        return bool(self.unknown_before) or self.plan.places_of(self.position) > 1

    def view(self, scalars: Scalars, hidden: Callable[[str], Value] | None = None, cta: Value | None = None) -> View:
        def parameter(role: str) -> Value:
            if role in self.of_team:
                return self.of_team[role]
            return scalars.parameter(self.hidden[role].name)

        static, arch = self.own.static_bytes, self.linked.target[0]
        return View(self.plan, self.position, scalars, hidden or parameter, static, arch, cta, self.place)

    @property
    def place(self) -> int:
        """Which of the CTAs that are in one the copy is. The last copy is the first CTA, which runs alone where
        CTAs are left over."""
        return (self.kernel.copy + 1) % self.plan.coarse[self.position].factor

    # names -------------------------------------------------------------------------------------------

    def values(self, code: Sequence[Statement], view: View) -> dict[str, Operand]:
        """What stands for special registers and for variables in the dynamic array."""
        start = self.plan.start(self.position, self.kernel.copy)
        found: dict[str, Operand] = {}
        packed = in_vectors(code)
        for name in operand_names(code):
            if name in self.places:
                found[name] = Sum(Name(self.pool), (f"+{start + self.places[name]}",))
            elif value := view.of(name, name in packed):
                found[name] = value
        return found

    @property
    def places(self) -> dict[str, int]:
        """Where in the kernel's part of the dynamic array its variables lie, bytes."""
        if self.pool and self.plan.carved[self.position]:
            return self.own.places()
        return dict.fromkeys((v.name for v in self.own.dynamic), 0) if self.pool else {}

    @property
    def unknown_before(self) -> dict[str, int]:
        """How many parts of which kernels lie before this one's and have a size that is known at launch only."""
        earlier = [] if self.plan.overlaid else self.plan.order[: self.plan.order.index(self.position)]
        parts = {k: self.plan.coarse[k].factor for k in earlier} | {self.position: self.kernel.copy}
        return {self.plan.letters[k]: n for k, n in parts.items() if n and self.plan.shapes[k].shared is None}

    def address(self, view: View, place: int, offset: int, size: int) -> Name:
        """Of a variable after parts of unknown size, or in the team's part, `offset` bytes on, in 32 or 64 bits."""
        scalars = view.scalars
        start = self.plan.start(self.position, self.kernel.copy)
        base: Value = scalars.read(self.pool)
        for letter, parts in self.unknown_before.items():
            base = scalars.multiply_add(scalars.round_up(view.hidden(f"{letter}.shared"), ALIGNMENT), parts, base)
        base = scalars.multiply_add(view.team(), self.plan.stride(self.position), base)
        found = scalars.add(base, start + place + offset)
        assert isinstance(found, Name)
        return scalars.widened(found) if size == 8 else found
