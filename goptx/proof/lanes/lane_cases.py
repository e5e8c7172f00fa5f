"""The places of one kernel at which a lane of the fused kernel may be, and how the kernel follows a block of it."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, NoReturn

from goptx.proof.code.kernel_code import END, NotProved, Step
from goptx.proof.code.step_forms import FULL, count_of, form_of, mask_of, quoted, without
from goptx.proof.dependent.handed_on import Moved, check_move, lanes_of
from goptx.proof.evaluation import operands_of
from goptx.proof.formulas import FALSE, TRUE
from goptx.proof.lanes.lane_states import Case, Cases, Event, Lanes
from goptx.proof.lanes.left_lanes import LeftLanes, ballots_in
from goptx.proof.memory_order import Access, may_change_places
from goptx.proof.sync.waits import id_position, waits_for_all
from goptx.ptx.opcodes import Scope

if TYPE_CHECKING:
    from goptx.proof.projection import Projection

MOST_SPLITS = 4096  # of the cases in one block
BARRIERS = 16  # of a CTA
MOST_BRANCHES = 4  # in a row after which code is looked for


@dataclass
class LaneCases:
    """How the kernel follows the block `start` of the fused kernel: `now` are the registers at its end, `claimed` its
    steps by the kernel's steps that they claim to be, `computed` the values that they compute, `written` what registers
    hold after steps that write them, `together` the steps that threads execute together."""

    of: Projection
    start: int
    now: dict[str, int]
    events: dict[int, Event] = field(default_factory=dict)
    claimed: dict[int, list[int]] = field(default_factory=dict)
    computed: dict[int, list[int]] = field(default_factory=dict)
    written: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    together: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.terms, self.formulas = self.of.terms, self.of.formulas
        self.kernel, self.inner = self.of.kernel, self.of.inner

    def advanced(self, before: Cases, known: int) -> list[Case]:
        """The cases as far as the claims of the block take them; `known` holds of all lanes."""
        rank = {start: i for i, start in enumerate(self.kernel.order)}
        waiting: list[tuple[tuple[int, int], int, Case]] = []
        todo = [
            Case(place, self.formulas.both(given, known), own, moved) for place, (given, own, moved) in before.items()
        ]
        through: list[Case] = []
        count = 0
        while todo or waiting:
            while todo:
                case, count = todo.pop(), count + 1
                if count > MOST_SPLITS:
                    raise NotProved(self._line(), "too many cases")
                at = (rank[self.kernel.block_of[case.place]], case.place) if case.place != END else (len(rank), 0)
                if case.given != FALSE:
                    heapq.heappush(waiting, (at, count, case))
            if not waiting:
                break
            at, _, case = heapq.heappop(waiting)
            while waiting and waiting[0][0] == at and self._open(waiting[0][2]) == self._open(case):
                case = self._united(case, heapq.heappop(waiting)[2])
            parts = [case]
            while parts:
                outcome = self._follow(parts.pop())
                if isinstance(outcome, list):
                    count += len(outcome)
                    parts += outcome
                else:
                    (through if outcome[1] else todo).append(outcome[0])
        left = LeftLanes(self.of, self.events)
        for case in through:
            left.check(case, through)
        return through

    def _line(self) -> int:
        return self.of.fused.steps[min(n for its in self.claimed.values() for n in its)].line

    def _open(self, case: Case) -> frozenset[int]:
        """The events that the kernel must have and has not had."""
        return frozenset(n for n, e in self.events.items() if n not in case.done and self._is(e.guard, case) != FALSE)

    def _is(self, formula: int, case: Case) -> int:
        """The formula in that case: `TRUE`, `FALSE`, or one that may be either."""
        return self.terms.formula_under(formula, case.given)

    def _united(self, case: Case, other: Case) -> Case:
        done = case.done | other.done
        registers = self._either(case.given, case.registers, other.given, other.registers, done)
        order = (*case.order, *(n for n in other.order if n not in case.order))
        given = self.formulas.either(case.given, other.given)
        own = self._pruned(registers, case.place)
        taken = case.taken if case.taken == other.taken else None
        met = case.met & other.met
        return Case(case.place, given, own, case.moved & other.moved, done, order, taken, met)

    def _pruned(self, registers: Mapping[str, int], place: int) -> dict[str, int]:
        live = self.kernel.live[place] if place != END else frozenset[str]()
        return {r: v for r, v in registers.items() if r in live}

    def _either(
        self, test: int, first: Mapping[str, int], other: int, second: Mapping[str, int], done: Set[int] | None = None
    ) -> dict[str, int]:
        """The kernel's registers where either of two cases may be. A register of the fused kernel that has the value in
        both of them gives it its name: after the last of the steps `done` that write it, or at the end of the block."""
        found = {}
        for name in dict.fromkeys((*first, *second)):
            a, b = (self.inner.read(r, name) for r in (first, second))
            if a != b:
                is_predicate = self.kernel.is_predicate(name)
                its = [(value, given) for r, value, given in ((first, a, test), (second, b, other)) if name in r]
                twin = next((t for t in self._twins(name, done) if self._holds(t, its, is_predicate)), None)
                if twin is not None:
                    a = twin
                elif self.formulas.both(test, other) != FALSE:  # a lane may be in both: its value is not known
                    a = self._unknown(f"either {a} or {b} by {test} {other} in {name}", is_predicate)
                else:
                    a = (self.formulas.ite if is_predicate else self.terms.choice)(test, a, b)
            found[name] = a
        return found

    def _holds(self, value: int, its: Sequence[tuple[int, int]], is_predicate: bool) -> bool:
        """Whether all of these are that value, each where its formula holds."""
        equal = self.terms.truths_are_equal if is_predicate else self.terms.are_equal
        return all(equal(own, value, given) for own, given in its)

    def _twins(self, name: str, done: Set[int] | None) -> Iterator[int]:
        """What the register of the fused kernel that stands for one of the kernel holds after the last of the steps
        `done` that write it, and at the end of the block."""
        twin = self.of.renamed.get(name, "")
        if done:
            yield from [value for number, value in self.written.get(twin, []) if number in done][-1:]
        if twin in self.now:
            yield self.now[twin]

    def _unknown(self, head: str, is_predicate: bool) -> int:
        """A value of this block of which nothing is known."""
        found = self.terms.opaque(f"{head} {self.start}", self.start)
        return self.formulas.variable(found) if is_predicate else found

    def on_edge(self, cases: Sequence[Case], tests: Sequence[int], last: Step, target: int) -> dict[int, Lanes]:
        """The cases of the lanes that leave the block where one of `tests` holds, past branches that it decides."""
        found: dict[int, Lanes] = {}
        for case, test in product(cases, tests):
            given = self.formulas.both(case.given, test)
            if given == FALSE:
                continue
            place = self._settled(case.at(case.place, given))
            own = self._pruned(case.registers, place)
            moved = case.moved if place == case.place else self.of.fused.loop_heads
            if place in found:
                other, its, also = found[place]
                own, moved = self._either(other, its, given, own), moved & also
                given = self.formulas.either(other, given)
            found[place] = given, own, moved
            if target == END and place != END:
                step = self.kernel.steps[place]
                raise NotProved(last.line, f"the fused kernel ends before {quoted(step)}")
        self._note_polarity(cases, last)
        return found

    def _settled(self, case: Case) -> int:
        """The place after the branches that are decided."""
        for _ in range(len(self.kernel.steps)):
            if case.place == END or not self.kernel.steps[case.place].is_branch:
                break
            following = self._chosen(self.kernel.steps[case.place], case)
            if following is None:
                break
            case.place = following
        return case.place

    def _tests(self, step: Step, case: Case) -> list[tuple[int, int]]:
        """Where a branch of the kernel leads, with the formula that a lane goes there."""
        following = self.kernel.following(step)
        if step.facts.base == "brx":
            index = self.inner.source(case.registers, step.sources[0])
            tests = self.inner.indexed(index, len(step.targets))
            if self.formulas.support(case.given).isdisjoint(v for t in tests for v in self.formulas.support(t)):
                tests = self.inner.indexed(self.terms.resolved(index, case.given), len(step.targets))
            ways = dict.fromkeys(step.targets, FALSE)
            for target, test in zip(step.targets, tests, strict=True):
                ways[target] = self.formulas.either(ways[target], test)
            return [*ways.items()]
        test = self.inner.guard(case.registers, step)
        return list(zip(following, (test, self.formulas.negation(test)), strict=False))

    def indexed(self, cases: Sequence[Case], last: Step) -> list[Step]:
        """The indirect branches of the kernel at which all lanes are, with the same index, and with no more targets:
        what an index beyond them does is undefined. None if some lane is elsewhere."""
        index = self.of.outer.source(self.now, last.sources[0])
        found = []
        for case in cases:
            own = self.kernel.steps[case.place]
            if case.place == END or own.facts.base != "brx" or len(own.targets) > len(last.targets):
                return []
            if not self.terms.are_equal(index, self.inner.source(case.registers, own.sources[0]), case.given):
                return []
            found.append(own)
        return found

    def _chosen(self, step: Step, case: Case) -> int | None:
        """Where a branch of the kernel goes, None where that is not decided."""
        return next((t for t, test in self._tests(step, case) if self._is(test, case) == TRUE), None)

    def _follow(self, case: Case) -> tuple[Case, bool] | list[Case]:
        """Goes on to the end of the kernel's block, or as far as this block of the fused kernel has it: then with True.
        Cases that must be distinguished first come back as a list."""
        case = case.at(case.place, case.given)
        while case.place != END:
            self.of.followed.add(self.kernel.block_of[case.place])
            step = self.kernel.steps[case.place]
            if step.is_branch:
                following = self._chosen(step, case)
                if following is not None:
                    if step.guard:
                        case.taken = step.number, self.inner.guard(case.registers, step)
                    return self._gone(case, following), False
                if not self._is_wanted(case, step, MOST_BRANCHES):
                    break
                tests = [t for _, t in self._tests(step, case) if self._is(t, case) != FALSE]
                return self._split(case, tests[0]) if tests else []  # an index beyond the targets is undefined
            numbers = [n for n in self.claimed.get(step.number, ()) if n not in case.done]
            effect = self.kernel.is_effect(step)
            if not numbers and (effect or step.number in self._awaited):
                break
            if effect:
                found = self._event(case, step, numbers)
                if isinstance(found, list):
                    return found
                if not found:
                    break
            else:
                self._compute(case, step, numbers[:1])
            (following,) = self.kernel.following(step)
            case = self._gone(case, following)
            if following in self.kernel.blocks or (effect and step.guard):  # there, cases are united again
                return case, False
        return case, True

    def _gone(self, case: Case, place: int) -> Case:
        registers = (
            self._pruned(case.registers, place) if place == END or place in self.kernel.blocks else case.registers
        )
        return replace(case, place=place, registers=registers, moved=self.of.fused.loop_heads)

    def _is_wanted(self, case: Case, branch: Step, depth: int) -> bool:
        """Whether code after the branch stands in this block of the fused kernel."""
        for target in map(self._first_claimed, self.kernel.following(branch)):
            step = self.kernel.steps[target] if target != END else None
            if step and step.is_branch:
                if depth and self._is_wanted(case, step, depth - 1):
                    return True
            elif step and any(n not in case.done for n in self.claimed.get(target, ())):
                return True
        return False

    @cached_property
    def _awaited(self) -> frozenset[int]:
        """The kernel's steps at which it waits for the fused kernel: that has them here or later. What it has computed
        before, out of the kernel's order, is computed once more."""
        fused, later = self.of.fused, set(self.claimed)
        for target in fused.successors(self.start):
            for block in fused.reached(target, fused.successors) if target != END else ():
                later.update(own for number in fused.blocks[block] for own in self.of.claims.get(number, ()))
        return frozenset(n for n in self.of.claimed if n in later or self.kernel.is_effect(self.kernel.steps[n]))

    def _first_claimed(self, place: int) -> int:
        """The place, or the first after it whose step does more than to compute what the fused kernel does not need."""
        while place != END and not self.kernel.steps[place].is_branch and place not in self._awaited:
            (place,) = self.kernel.following(self.kernel.steps[place])
        return place

    def _split(self, case: Case, test: int, same: int | None = None) -> list[Case]:
        """The cases in which a test holds and does not. `same` has the same value here, by other comparisons."""
        given = case.given if same is None else self.formulas.both(case.given, self.formulas.same(test, same))
        return [case.at(case.place, half) for half in self.formulas.halves(given, test)]

    def _compute(self, case: Case, step: Step, numbers: Sequence[int]) -> None:
        """Executes a step that has no effect; what equals the fused kernel's value is called by that from now on."""
        values = self.inner.values(case.registers, step)
        for number in numbers:
            for k, (name, outer) in enumerate(zip(step.writes, self.computed.get(number, ()), strict=False)):
                equal = self.terms.truths_are_equal if self.kernel.is_predicate(name) else self.terms.are_equal
                if values[k] != outer and equal(values[k], outer, case.given):
                    values[k] = outer
        self.inner.write(case.registers, step, values)
        case.done |= frozenset(numbers)

    def _event(self, case: Case, step: Step, numbers: Sequence[int]) -> bool | list[Case]:
        """Lets the kernel have an event, or says which cases must be distinguished first; False where the
        event is missing."""
        own = self.inner.guard(case.registers, step)
        test = self._is(own, case)
        if test not in (TRUE, FALSE):
            return self._split(case, test, own)
        for event in (self.events[n] for n in numbers if n in self.events):
            guard = self._is(event.guard, case)
            if guard not in (TRUE, FALSE):
                return self._split(case, guard, event.guard)
            # known by other comparisons, perhaps, which are lost where cases are united
            case.given = self.formulas.both(case.given, self.formulas.same(event.guard, guard))
            if guard == test:
                if guard == TRUE:
                    same = self._handed if event.step.number in self.of.handed else self._same
                    return same(case, step, event)
                case.done |= {event.step.number}
                return True
        return test == FALSE

    def _same(self, case: Case, step: Step, event: Event) -> bool | list[Case]:
        fused = event.step
        mine = operands_of(self.inner, case.registers, step)
        own, form, operands = form_of(step), form_of(fused), event.operands
        count = count_of(fused)
        if count is not None and count_of(step) is None and self._counts_all(operands[count], case):
            form, operands = without(form, count), operands[:count] + operands[count + 1 :]
        written = [[p.is_predicate(w) for w in s.writes] for p, s in ((self.kernel, step), (self.of.fused, fused))]
        gained = fused.facts.aligned > step.facts.aligned
        gained |= fused.facts.uses_read_only_path and not step.facts.uses_read_only_path
        alike = own == form and written[0] == written[1] and len(mine) == len(operands)
        serves = waits_for_all(step) and waits_for_all(fused) and fused.facts.reduces and not step.facts.reduces
        if gained or not (alike or serves):
            raise NotProved(fused.line, f"`{fused.statement}` is not {quoted(step)}")
        if step.facts.row.scope and self.together.setdefault(step.number, fused.number) != fused.number:
            what = f"`{fused.statement}` stands in a block twice, so that lanes may come to it one by one"
            raise NotProved(fused.line, what)
        for position, pair in enumerate(zip(mine, operands, strict=False)):
            first, second = (self.terms.resolved(t, case.given) for t in pair)
            if position == id_position(step) and self._are_ids(first, second, fused):
                continue
            if (
                first == second
                or self._are_equal_predicates(first, second, case.given)
                or (position == mask_of(step) and self._is_cut(first, second, fused))
            ):
                continue
            return self._halved(case, pair) or self._other_operands(fused, step)
        for earlier in (self.events[n] for n in case.order if n > fused.number):
            if not may_change_places(earlier.step, earlier.access, fused, event.access):
                before = f"`{earlier.step.statement}`, which the kernel has before it"
                raise NotProved(fused.line, f"`{fused.statement}` stands before {before}")
            self.of.swapped.add((earlier.step.number, fused.number))
        self.inner.write(case.registers, step, list(event.results))
        self.of.matched.setdefault(fused.number, set()).add(step.number)
        case.done |= {fused.number}
        case.order = (*case.order, fused.number)
        case.met |= {fused.number} if fused.facts.row.scope else set()
        if fused.facts.row.scope >= Scope.CTA:
            case.taken = None
        return True

    def _counts_all(self, count: int, case: Case) -> bool:
        """Whether it is the number of the kernel's threads in whole warps, which is what a barrier without count
        waits for in the kernel alone."""
        return self.terms.resolved(count, case.given) == self.of.placement.count

    def _handed(self, case: Case, step: Step, event: Event) -> bool | list[Case]:
        """Lets the kernel have a load or store in whose place the fused kernel moves values between registers."""
        lanes = lanes_of(self.inner, case.registers, step, event.step.line)
        numbers = [n for n in self.claimed[step.number] if n in self.of.handed and n not in case.done]
        group = [self.events[n] for n in numbers[: len(lanes)]]
        if len(group) < len(lanes):
            return False
        values = dict.fromkeys(step.writes, FALSE)
        for lane, own in zip(lanes, group, strict=True):
            guard = self._is(own.guard, case)
            if guard != TRUE:
                return self._split(case, guard, own.guard) if guard != FALSE else False
            pair = (lane.stored, own.operands[0]) if lane.stored is not None else ()
            if pair and not self.terms.are_equal(*pair, case.given):
                return self._halved(case, pair) or self._other_operands(own.step, step)
            check_move(own.step, step, lane)
            access = Access(self.terms.resolved(lane.access.base, case.given), lane.access.offset, lane.access.size)
            later = [n for n in case.order if n > own.step.number]
            if any(self.of.stores(n) or lane.stored is not None for n in later if n in self.of.handed):
                raise NotProved(own.step.line, f"`{own.step.statement}` stands before what the kernel has before it")
            self.of.swapped.update((n, own.step.number) for n in later if self.events[n].step.facts.is_acquire)
            self.of.replaced.setdefault(own.step.number, []).append(Moved(access, case.given, own.cell))
            self.of.matched.setdefault(own.step.number, set()).add(step.number)
            values[lane.register] = own.results[0]
            case.done |= {own.step.number}
            case.order = (*case.order, own.step.number)
        self.inner.write(case.registers, step, list(values.values()))
        return True

    def _halved(self, case: Case, pair: Sequence[int]) -> list[Case]:
        """The cases to distinguish before two terms can be compared; none if that is no use."""
        for term in reversed(pair):
            test = self.terms.undecided(self.terms.resolved(term, case.given))
            if test is not None and len(parts := self._split(case, test)) > 1:
                return parts
        return []

    @staticmethod
    def _other_operands(fused: Step, step: Step) -> NoReturn:
        raise NotProved(fused.line, f"`{fused.statement}` has other operands than {quoted(step)}")

    def _are_ids(self, first: int, second: int, fused: Step) -> bool:
        """Whether these may be the numbers of one barrier: known ones, or one that is not known."""
        names = [self._number(t) for t in (first, second)]
        self.of.barrier_ids.setdefault(fused.number, set()).add((names[0], names[1]))
        return all(names) or first == second

    def _number(self, value: int) -> str:
        """The number of a barrier that is a constant, as it is or moved to a register; "" for anything else."""
        term = self.terms[value]
        if term.head.startswith("mov.") and len(term.parts) == 1:
            term = self.terms[term.parts[0]]
        return term.head if term.head.isdigit() and int(term.head) < BARRIERS else ""

    def _are_equal_predicates(self, first: int, second: int, given: int) -> bool:
        one, two = self.terms[first], self.terms[second]
        return one.head == two.head == "predicate" and self.terms.truths_are_equal(one.formula, two.formula, given)

    def _is_cut(self, mask: int, other: int, step: Step) -> bool:
        """Whether a mask of lanes is the kernel's, less lanes for which the kernel has ended: an added ballot in which
        this lane has its bit."""
        ballots = [b for b in ballots_in(self.terms, other) if b.formula == TRUE]
        self.of.ballots.setdefault(step.number, set()).update(b.head for b in ballots)
        alike = [t for t in (mask, other) if self.terms[t].head in FULL]
        whole = self.terms[other].parts == () and self.terms[mask].head in FULL
        return len(alike) == 2 or (bool(ballots) and (whole or mask in self.terms[other].parts))

    def _note_polarity(self, cases: Sequence[Case], last: Step) -> None:
        """Whether a branch goes where the kernel's branch goes, or the other way, for all lanes that come to it."""
        for number in self.of.branches.get(last.number, ()):
            own = self.kernel.steps[number]
            if not (own.guard and last.guard):
                continue
            outer = self.of.outer.guard(self.now, last)
            other = self.formulas.negation(outer)
            tests = [(self._test_of(case, own), case.given) for case in cases]
            ways = self.kernel.following(own)
            for same, test in ((True, outer), (False, other)):
                if all(t is not None and self.terms.truths_are_equal(test, t, given) for t, given in tests):
                    self.of.polarity[last.number] = number, same
                goes = [(outer, ways[0 if same else -1]), (other, ways[-1 if same else 0])]
                if all(self._is_on_side(c, test, own, target) for c in cases for test, target in goes):
                    self.of.divided[last.number] = number

    def _is_on_side(self, case: Case, test: int, branch: Step, target: int) -> bool:
        """Whether lanes of a case for which the test holds have gone from the kernel's branch that way, or will."""
        given = self.formulas.both(case.given, test)
        if given == FALSE or case.place == END:
            return True
        asked = self._test_of(case, branch)
        if asked is not None:
            taken = target == self.kernel.following(branch)[0]
            return self.terms.formula_under(asked, given) == (TRUE if taken else FALSE)
        side = self.kernel.side(self.kernel.block_of[branch.number], target)
        return self.kernel.block_of[case.place] in side | {target}

    def _test_of(self, case: Case, branch: Step) -> int | None:
        """Whether the kernel takes the branch that it is at, or has just passed."""
        if case.place == branch.number:
            return self.inner.guard(case.registers, branch)
        return case.taken[1] if case.taken and case.taken[0] == branch.number else None
