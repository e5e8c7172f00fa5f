"""The places of one kernel at which a lane of the fused kernel may be, and how the kernel follows a block of it."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from goptx.proof.evaluation import operands_of
from goptx.proof.formulas import FALSE, TRUE
from goptx.proof.kernel_code import END, NotProved, Step
from goptx.proof.memory_order import Access, may_change_places
from goptx.ptx.opcodes import Scope

if TYPE_CHECKING:
    from goptx.proof.projection import Projection

MOST_SPLITS = 4096  # of the cases in one block
MOST_BRANCHES = 4  # in a row after which code is looked for
Lanes = tuple[int, dict[str, int], frozenset[int]]  # where a lane is, the kernel's registers, and `Case.moved`
Cases = Mapping[int, Lanes]


@dataclass(slots=True)
class Case:
    """Lanes at one place of the kernel: where the formula `given` holds. `done` are the steps of the fused kernel's
    block that the kernel has had, `order` the events among them as the kernel had them. `moved` are the loops of the
    fused kernel since whose beginning the kernel has gone on."""

    place: int
    given: int
    registers: dict[str, int]
    moved: frozenset[int] = frozenset()
    done: frozenset[int] = frozenset()
    order: tuple[int, ...] = ()

    def at(self, place: int, given: int) -> Case:
        """A copy there."""
        return Case(place, given, dict(self.registers), self.moved, self.done, self.order)


@dataclass(frozen=True, slots=True)
class Event:
    """A step of the fused kernel that the kernel has to do as well, where `guard` holds."""

    step: Step
    guard: int
    operands: tuple[int, ...]
    results: tuple[int, ...]
    access: Access | None


@dataclass(slots=True)
class State:
    """Before a block of the fused kernel: the values of its registers, and by the kernel's places the formula that a
    lane is there, with the kernel's registers."""

    registers: dict[str, int]
    cases: Cases


@dataclass
class LaneCases:
    """How the kernel follows one block of the fused kernel: `now` are the registers at its end, `claimed` its steps by
    the kernel's steps that they claim to be, `computed` the values that they compute."""

    of: Projection
    now: dict[str, int]
    events: dict[int, Event] = field(default_factory=dict)
    claimed: dict[int, list[int]] = field(default_factory=dict)
    computed: dict[int, list[int]] = field(default_factory=dict)

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
        for case in through:
            self._check_left(case)
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
        registers = self._either(case.given, case.registers, other.given, other.registers)
        order = (*case.order, *(n for n in other.order if n not in case.order))
        given = self.formulas.either(case.given, other.given)
        own = self._pruned(registers, case.place)
        return Case(case.place, given, own, case.moved & other.moved, case.done | other.done, order)

    def _pruned(self, registers: Mapping[str, int], place: int) -> dict[str, int]:
        live = self.kernel.live[place] if place != END else frozenset[str]()
        return {r: v for r, v in registers.items() if r in live}

    def _either(self, test: int, first: Mapping[str, int], other: int, second: Mapping[str, int]) -> dict[str, int]:
        """The kernel's registers where either of two cases may be. A register of the fused kernel that has the value in
        both of them gives it its name."""
        found = {}
        for name in dict.fromkeys((*first, *second)):
            a, b = (self.inner.read(r, name) for r in (first, second))
            if a != b:
                is_predicate = self.kernel.is_predicate(name)
                twin = self.now.get(self.of.renamed.get(name, ""))
                equal = self.terms.truths_are_equal if is_predicate else self.terms.are_equal
                if twin is not None and all(
                    name not in its or equal(value, twin, given)
                    for its, value, given in ((first, a, test), (second, b, other))
                ):
                    a = twin
                elif self.formulas.both(test, other) != FALSE:  # a lane may be in both: its value is not known
                    a = (self.terms.atom if is_predicate else self.terms.make)(f"either {a} {b}")
                else:
                    a = (self.formulas.ite if is_predicate else self.terms.choice)(test, a, b)
            found[name] = a
        return found

    def on_edge(self, cases: Sequence[Case], test: int, last: Step, target: int) -> dict[int, Lanes]:
        """The cases of the lanes that leave the block where `test` holds, after the branches that it decides."""
        found: dict[int, Lanes] = {}
        for case in cases:
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
                raise NotProved(last.line, f"the fused kernel ends before {_quoted(step)}")
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
            self.of.followed.add(self.kernel.block_of[case.place])
            case.place = following
        return case.place

    def _tests(self, step: Step, case: Case) -> list[tuple[int, int]]:
        """Where a branch of the kernel leads, with the formula that a lane goes there."""
        following = self.kernel.following(step)
        if step.facts.base == "brx":
            index = self.terms.resolved(self.inner.source(case.registers, step.sources[0]), case.given)
            numbers = [self.terms.make(str(k)) for k in range(len(step.targets))]
            return [(t, self.terms.atom("equals", index, n)) for t, n in zip(step.targets, numbers, strict=True)]
        test = self.inner.guard(case.registers, step)
        return list(zip(following, (test, self.formulas.negation(test)), strict=False))

    def _chosen(self, step: Step, case: Case) -> int | None:
        """Where a branch of the kernel goes, None where that is not decided."""
        return next((t for t, test in self._tests(step, case) if self._is(test, case) == TRUE), None)

    def _follow(self, case: Case) -> tuple[Case, bool] | list[Case]:
        """Goes on to the end of the kernel's block, or as far as this block of the fused kernel has it: then with True.
        Cases that must be distinguished first come back as a list."""
        case = case.at(case.place, case.given)
        if case.place != END:
            self.of.followed.add(self.kernel.block_of[case.place])
        while case.place != END:
            step = self.kernel.steps[case.place]
            if step.is_branch:
                following = self._chosen(step, case)
                if following is not None:
                    return self._gone(case, following), False
                if not self._is_wanted(case, step, MOST_BRANCHES):
                    break
                test = next((t for _, t in self._tests(step, case) if self._is(t, case) != FALSE), None)
                return [] if test is None else self._split(case, test)  # no lane is there: it would miss the table
            numbers = [n for n in self.claimed.get(step.number, ()) if n not in case.done]
            effect = self.kernel.is_effect(step)
            if not numbers and (effect or step.number in self.of.claimed):
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
            if following in self.kernel.blocks:
                return case, False
        return case, True

    def _gone(self, case: Case, place: int) -> Case:
        registers = (
            self._pruned(case.registers, place) if place == END or place in self.kernel.blocks else case.registers
        )
        return Case(place, case.given, registers, self.of.fused.loop_heads, case.done, case.order)

    def _is_wanted(self, case: Case, branch: Step, depth: int) -> bool:
        """Whether code after the branch stands in this block of the fused kernel."""
        for target in self.kernel.following(branch):
            step = self.kernel.steps[target] if target != END else None
            if step and step.is_branch:
                if depth and self._is_wanted(case, step, depth - 1):
                    return True
            elif step and any(n not in case.done for n in self.claimed.get(target, ())):
                return True
        return False

    def _split(self, case: Case, test: int) -> list[Case]:
        return [case.at(case.place, given) for given in self.formulas.halves(case.given, test)]

    def _compute(self, case: Case, step: Step, numbers: Sequence[int]) -> None:
        """Executes a step that has no effect; what equals the fused kernel's value is called by that from now on."""
        values = self.inner.values(case.registers, step)
        for number in numbers:
            for k, (name, outer) in enumerate(zip(step.writes, self.computed[number], strict=False)):
                equal = self.terms.truths_are_equal if self.kernel.is_predicate(name) else self.terms.are_equal
                if values[k] != outer and equal(values[k], outer, case.given):
                    values[k] = outer
        self.inner.write(case.registers, step, values)
        case.done |= frozenset(numbers)

    def _event(self, case: Case, step: Step, numbers: Sequence[int]) -> bool | list[Case]:
        """Lets the kernel have an event, or says which cases must be distinguished first; False where the
        event is missing."""
        test = self._is(self.inner.guard(case.registers, step), case)
        if test not in (TRUE, FALSE):
            return self._split(case, test)
        for event in (self.events[n] for n in numbers):
            guard = self._is(event.guard, case)
            if guard not in (TRUE, FALSE):
                return self._split(case, guard)
            if guard == test:
                if guard == TRUE:
                    return self._same(case, step, event)
                case.done |= {event.step.number}
                return True
        return test == FALSE

    def _same(self, case: Case, step: Step, event: Event) -> bool | list[Case]:
        fused = event.step
        mine = operands_of(self.inner, case.registers, step)
        if form_of(step) != form_of(fused) or len(mine) != len(event.operands):
            raise NotProved(fused.line, f"`{fused.statement}` is not {_quoted(step)}")
        named = step.facts.barrier_id - len(step.writes) if step.facts.row.scope >= Scope.CTA else None
        for position, pair in enumerate(zip(mine, event.operands, strict=True)):
            first, second = (self.terms.resolved(t, case.given) for t in pair)
            if (
                first == second
                or position == named
                or (position == mask_of(step) and self._is_cut(first, second, fused))
            ):
                continue
            for term in (second, first):
                test = self.terms.undecided(term)
                if test is not None and len(parts := self._split(case, test)) > 1:
                    return parts
            raise NotProved(fused.line, f"`{fused.statement}` has other operands than {_quoted(step)}")
        for earlier in (self.events[n] for n in case.order if n > fused.number):
            if not may_change_places(earlier.step, earlier.access, fused, event.access):
                before = f"`{earlier.step.statement}`, which the kernel has before it"
                raise NotProved(fused.line, f"`{fused.statement}` stands before {before}")
            self.of.exchanged.add((fused.number, earlier.step.number))
        self.inner.write(case.registers, step, list(event.results))
        self.of.matched.setdefault(fused.number, set()).add(step.number)
        case.done |= {fused.number}
        case.order = (*case.order, fused.number)
        return True

    def _is_cut(self, mask: int, other: int, step: Step) -> bool:
        """Whether a mask of lanes is the kernel's, less lanes for which the kernel has ended: an added ballot in which
        this lane has its bit."""
        term = self.terms[other]
        ballots = [
            b.head
            for b in map(self.terms.__getitem__, term.parts)
            if b.head.startswith("ballot ") and b.formula == TRUE
        ]
        self.of.ballots.setdefault(step.number, set()).update(ballots)
        return term.head == "and.b32" and mask in term.parts and bool(ballots)

    def _check_left(self, case: Case) -> None:
        """That the kernel has had all events of the block which a lane may execute. A lane for which the kernel has
        ended may come along to where threads meet, since there it counts as one that does."""
        for event in self.events.values():
            step, meets = event.step, event.step.facts.row.scope and event.step.facts.row.access in ("", "f")
            if case.place == END and meets:
                self._check_mask(case, event)
            elif step.number not in case.done and self._is(event.guard, case) != FALSE:
                place = "has ended" if case.place == END else f"is at {_quoted(self.kernel.steps[case.place])}"
                raise NotProved(step.line, f"a lane whose kernel {place} may execute `{step.statement}`")

    def _check_mask(self, case: Case, event: Event) -> None:
        """That of the lanes that have ended, the mask names those that come along and no others."""
        step, position = event.step, mask_of(event.step)
        if position is None:
            return
        for comes in (TRUE, FALSE):
            given = self.formulas.both(case.given, self.formulas.same(event.guard, comes))
            for found, _ in self.terms.outcomes(event.operands[position], given) if given != FALSE else ():
                term = self.terms[found]
                bits = {p.formula for p in map(self.terms.__getitem__, term.parts) if p.head.startswith("ballot ")}
                if (comes not in bits) if term.head == "and.b32" and bits else not comes:
                    what = "may wait for a lane whose kernel has ended and which does not come"
                    raise NotProved(step.line, f"`{step.statement}` {what}")

    def _note_polarity(self, cases: Sequence[Case], last: Step) -> None:
        """Whether a branch goes where the kernel's branch goes, or the other way; None where that is not one."""
        for number in self.of.branches.get(last.number, ()):
            own = self.kernel.steps[number]
            for case in cases if own.guard and last.guard else ():
                if case.place == number:
                    outer, inner = self.of.outer.guard(self.now, last), self.inner.guard(case.registers, own)
                    same = self.terms.truths_are_equal(outer, inner, case.given)
                    opposite = self.terms.truths_are_equal(outer, self.formulas.negation(inner), case.given)
                    self.of.polarity[last.number] = number, same if same != opposite else None


def mask_of(step: Step) -> int | None:
    """The position of the lane mask among the sources."""
    return None if step.facts.row.mask is None else len(step.sources) + step.facts.row.mask


def is_full(step: Step) -> bool:
    """Whether its mask names all lanes of the warp."""
    return step.sources[-1].text.lower() in ("-1", "0xffffffff", "4294967295")


def form_of(step: Step) -> tuple[str, tuple[str, ...], tuple[int | None, ...]]:
    """What an event is, without its registers. A load may lose `.nc`: it then reads what is there. A barrier may be
    one that warps need not come to whole, and have another number."""
    opcode = step.opcode.replace(".nc", "") if step.facts.base == "ld" else step.opcode
    texts = [s.text for s in step.sources]
    if step.facts.base in ("bar", "barrier") and step.facts.row.scope >= Scope.CTA:
        opcode = ".".join(["barrier", *(w for w in opcode.split(".")[1:] if w not in ("aligned", "cta"))])
        texts[max(step.facts.barrier_id - len(step.writes), 0)] = "id"
    return opcode, tuple(texts), tuple(s.offset for s in step.sources)


def _quoted(step: Step) -> str:
    return f"`{step.statement}` in line {step.line} of the kernel"
