"""Whether the fused kernel, seen from one lane of one kernel, does what that kernel does.

The fused kernel is executed symbolically, block by block. Beside it runs the kernel: at each point there are cases, each
a place in the kernel with the condition under which a lane is there, and the kernel's registers. A step of the kernel
that does more than to compute a value must be an event of the fused kernel, with the same operands, in an order that
keeps the kernel's memory order. No register map is trusted: equality of values is found out by terms.

Requires: for each step of the fused kernel the steps of the kernel that it claims to be. A wrong claim can only make the
proof fail.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from goptx.proof.evaluation import Evaluation
from goptx.proof.formulas import FALSE, TRUE
from goptx.proof.memory_order import Access, may_change_places, size_of
from goptx.proof.program import CARRY, END, NOWHERE, Program, Step
from goptx.proof.terms import Terms

MOST_VISITS = 12  # of a block, on average
MOST_SPLITS = 4096  # of the cases in one block
DEBUG = False


class NotProved(Exception):
    """What could not be shown, by the line of the fused kernel."""

    def __init__(self, line: int, what: str) -> None:
        super().__init__(what)
        self.line = line
        self.what = what


@dataclass(slots=True)
class Case:
    """Lanes at one place of the kernel: where the formula `given` holds. `done` are the claims that are used up,
    `order` the events that the kernel has had in this block."""

    place: int
    given: int
    registers: dict[str, int]
    done: frozenset[int] = frozenset()
    order: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Event:
    """A step of the fused kernel that the kernel has to do as well, where `guard` holds."""

    step: Step
    guard: int
    operands: tuple[int, ...]
    results: tuple[int, ...]
    access: Access | None


@dataclass(frozen=True, slots=True)
class _Moved:
    case: Case
    is_through: bool = False


@dataclass(slots=True)
class State:
    """Before a block of the fused kernel: the values of its registers, and the cases of the kernel by their place."""

    registers: dict[str, int]
    cases: dict[int, tuple[int, dict[str, int]]]


@dataclass
class Projection:
    """`claims` has for each step of the fused kernel the steps of the kernel that it claims to be, best first."""

    terms: Terms
    fused: Program
    kernel: Program
    claims: Mapping[int, tuple[int, ...]]
    symbols: Mapping[str, str]
    kernel_symbols: Mapping[str, str]
    foreign: frozenset[int] = frozenset()  # steps that claim to be another kernel's
    branches: Mapping[int, tuple[int, ...]] = field(default_factory=dict)  # the kernel's that a branch claims to be
    visits: int = 0
    polarity: dict[int, tuple[int, bool | None]] = field(default_factory=dict)
    ends: dict[int, tuple[dict[str, int], list[Case]]] = field(default_factory=dict)
    ballots: dict[int, frozenset[str]] = field(default_factory=dict)  # which a step's mask is cut by
    renamed: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.formulas = self.terms.formulas
        self.renamed = self._renaming()
        back = {new: old for old, new in self.renamed.items()}
        self.outer = Evaluation(self.terms, self.fused, self.symbols, lambda r: self._undefined(back.get(r, f"fused {r}"), self.fused, r))
        self.inner = Evaluation(self.terms, self.kernel, self.kernel_symbols, lambda r: self._undefined(r, self.kernel, r))
        self.claimed = frozenset(n for numbers in self.claims.values() for n in numbers)

    def _undefined(self, name: str, program: Program, register: str) -> int:
        if program.is_predicate(register):
            return self.terms.atom(f"undefined {name}")
        return self.terms.make(f"undefined {name}")

    def _renaming(self) -> dict[str, str]:
        """A guess at which register of the fused kernel stands for which of the kernel. Nothing rests on it."""
        found: dict[str, str] = {CARRY: CARRY}
        for step in self.fused.steps:
            for number in self.claims.get(step.number, ())[:1]:
                other = self.kernel.steps[number]
                for old, new in zip(other.writes, step.writes, strict=False):
                    found.setdefault(old, new)
                for a, b in zip(other.sources, step.sources, strict=False):
                    for old, new in zip(a.names, b.names, strict=False):
                        if self.kernel.type_of(old) and self.fused.type_of(new):
                            found.setdefault(old, new)
        return found

    # The fixpoint ---------------------------------------------------------------------------------

    def check(self) -> None:
        """Raises `NotProved`."""
        rank = {start: i for i, start in enumerate(self.fused.order)}
        edges: dict[int, dict[int, State]] = {start: {} for start in self.fused.order}
        before: dict[int, State] = {}
        edges[0][END] = State({}, {0: (TRUE, {})})
        waiting, queued = [0], {0}
        most = MOST_VISITS * len(rank) + 64
        while waiting:
            start = self.fused.order[heapq.heappop(waiting)]
            queued.discard(rank[start])
            state = self._joined(start, edges[start])
            if start in before and before[start] == state:
                continue
            before[start] = state
            self.visits += 1
            if self.visits > most:
                raise NotProved(self._line(start), "the values of a loop do not settle")
            for target, after in self._through(start, state):
                edges[target][start] = after
                if rank[target] not in queued:
                    queued.add(rank[target])
                    heapq.heappush(waiting, rank[target])

    def _line(self, start: int) -> int:
        return self.fused.steps[start].line

    # Through a block ------------------------------------------------------------------------------

    def _through(self, start: int, state: State) -> Iterator[tuple[int, State]]:
        registers = dict(state.registers)
        events: dict[int, Event] = {}
        claimed: dict[int, list[int]] = {}
        computed: dict[int, list[int]] = {}
        known = TRUE
        block = self.fused.blocks[start]
        last = self.fused.steps[block[-1]]
        for number in block:
            step = self.fused.steps[number]
            if step.is_branch:
                break
            for own in self.claims.get(number, ()):
                claimed.setdefault(own, []).append(number)
            if not step.is_effect:
                computed[number] = self.outer.values(registers, step)
                self.outer.write(registers, step, computed[number])
            elif number in self.foreign:
                self.outer.write(registers, step, list(self._results(step)))
            elif self.claims.get(number):
                events[number] = self._event(registers, step)
            else:
                known = self.formulas.both(known, self._added(registers, step))
        cases = [
            Case(place, given, own)
            for place, (before, own) in state.cases.items()
            if (given := self.formulas.both(before, known)) != FALSE
        ]
        self._now, self._computed = registers, computed
        ended = self._advanced(cases, events, claimed)
        for case in ended:
            for number, event in events.items():
                if number not in case.done and self._holds(event.guard, case.given) != FALSE:
                    self._unmatched(case, event)
                if case.place == END and event.step.facts.row.scope:
                    self._check_mask(case, event)
        self.ends[start] = registers, ended
        self._note_polarity(last, registers, ended)
        if not last.is_branch:
            yield from self._edge(registers, ended, TRUE, last, self.fused.following(last)[0])
            return
        if last.facts.base == "brx":
            index = self.outer.source(registers, last.sources[0])
            for k, target in enumerate(last.targets):
                chosen = self.terms.atom("equals", index, self.terms.make(str(k)))
                yield from self._edge(registers, ended, chosen, last, target)
            return
        test = self.outer.guard(registers, last)
        taken = END if last.facts.row.ends == "exit" else last.targets[0]
        yield from self._edge(registers, ended, test, last, taken)
        if last.guard:
            after = last.number + 1 if last.number + 1 < len(self.fused.steps) else END
            if after != taken:
                yield from self._edge(registers, ended, self.formulas.negation(test), last, after)

    def _note_polarity(self, last: Step, registers: Mapping[str, int], cases: Sequence[Case]) -> None:
        """Whether a branch goes where the kernel's branch goes, or the other way round; None where that is not one."""
        for number in self.branches.get(last.number, ()):
            own = self.kernel.steps[number]
            if own.facts.base != "bra" or not own.guard or not last.guard:
                continue
            for case in cases:
                if case.place == number:
                    outer, inner = self.outer.guard(registers, last), self.inner.guard(case.registers, own)
                    same = self.truths_are_equal(outer, inner, case.given)
                    opposite = self.truths_are_equal(outer, self.formulas.negation(inner), case.given)
                    self.polarity[last.number] = number, same if same != opposite else None

    def _edge(
        self, registers: dict[str, int], cases: Sequence[Case], test: int, last: Step, target: int
    ) -> Iterator[tuple[int, State]]:
        found: dict[int, tuple[int, dict[str, int]]] = {}
        for case in cases:
            given = self.formulas.both(case.given, test)
            if given == FALSE:
                continue
            place = self._settled(case.place, given, case.registers)
            own = self._pruned(case.registers, place)
            if place in found:
                other, its = found[place]
                own = self._either(other, its, given, own, registers)
                given = self.formulas.either(other, given)
            found[place] = given, own
            if target == END and place != END:
                step = self.kernel.steps[place]
                raise NotProved(last.line, f"the fused kernel ends before line {step.line} of the kernel, `{step.statement}`")
        if target != END and found:
            yield target, State(registers, found)

    def _settled(self, place: int, given: int, registers: dict[str, int]) -> int:
        """The place after the branches that are decided."""
        for _ in range(len(self.kernel.steps)):
            if place == END or not self.kernel.steps[place].is_branch:
                return place
            step = self.kernel.steps[place]
            following = self._chosen(step, given, registers)
            if following is None:
                return place
            place = following
        return place

    def _chosen(self, step: Step, given: int, registers: dict[str, int]) -> int | None:
        """Where a branch of the kernel goes, None where that is not decided."""
        if step.facts.base == "brx":
            index = self.terms.resolved(self.inner.source(registers, step.sources[0]), given)
            for k, target in enumerate(step.targets):
                if self.formulas.under(self.terms.atom("equals", index, self.terms.make(str(k))), given) == TRUE:
                    return target
            return None
        taken = END if step.facts.row.ends == "exit" else step.targets[0]
        if not step.guard:
            return taken
        test = self._holds(self.inner.guard(registers, step), given)
        after = step.number + 1 if step.number + 1 < len(self.kernel.steps) else END
        return {TRUE: taken, FALSE: after}.get(test)

    def _holds(self, formula: int, given: int) -> int:
        """The formula where `given` holds: `TRUE`, `FALSE`, or one that may be either."""
        return self.terms.formula_under(formula, given)

    def _pruned(self, registers: Mapping[str, int], place: int) -> dict[str, int]:
        if place == END:
            return {}
        live = self.kernel.live[place]
        return {r: v for r, v in registers.items() if r in live}

    def _either(
        self, test: int, first: Mapping[str, int], other: int, second: Mapping[str, int], now: Mapping[str, int]
    ) -> dict[str, int]:
        """The kernel's registers where either of two cases may be. A register of the fused kernel that has the value in
        both of them gives it its name."""
        found = {}
        for name in dict.fromkeys((*first, *second)):
            a, b = (self.inner.read(r, name) for r in (first, second))
            if a != b:
                is_predicate = self.kernel.is_predicate(name)
                twin = self.renamed.get(name)
                if twin in now and self.fused.is_predicate(twin) == is_predicate:
                    equal = self.truths_are_equal if is_predicate else self.are_equal
                    outer = now[twin]
                    if (name not in first or equal(a, outer, test)) and (name not in second or equal(b, outer, other)):
                        found[name] = outer
                        continue
                if self.formulas.both(test, other) != FALSE:  # a lane may be in either: nobody knows which value it has
                    a = (self.terms.atom if is_predicate else self.terms.make)(f"either {a} {b}")
                else:
                    a = (self.formulas.ite if is_predicate else self.terms.choice)(test, a, b)
            found[name] = a
        return found

    # Events -----------------------------------------------------------------------------------------

    def _event(self, registers: dict[str, int], step: Step) -> Event:
        guard = self.outer.guard(registers, step)
        operands = self._operands(self.outer, registers, step)
        results = self._results(step)
        access = self._access(self.outer, registers, step)
        self.outer.write(registers, step, list(results))
        return Event(step, guard, operands, results, access)

    def _results(self, step: Step) -> tuple[int, ...]:
        names = [(w, f"result {step.number}.{k}") for k, w in enumerate(step.writes)]
        block = self.fused.block_of[step.number]
        made = [(w, self.terms.opaque(n, block)) for w, n in names]
        return tuple(self.formulas.variable(v) if self.fused.is_predicate(w) else v for w, v in made)

    def _operands(self, side: Evaluation, registers: Mapping[str, int], step: Step) -> tuple[int, ...]:
        parts = [side.source(registers, s) for s in step.sources]
        parts += [side.name(registers, w) for w in step.writes if step.facts.row.updates]
        return tuple(parts)

    def _access(self, side: Evaluation, registers: Mapping[str, int], step: Step) -> Access | None:
        found = [s for s in step.sources if s.offset is not None]
        if len(found) != 1 or found[0].offset is None:
            return None
        return Access(side.source(registers, found[0]), found[0].offset, size_of(step))

    def _added(self, registers: dict[str, int], step: Step) -> int:
        """Executes a step that was added, and what is known of its result: votes of a warp."""
        words = step.opcode.split(".")
        if step.facts.base == "vote" and step.writes and not step.guard and is_full(step):
            asked = self.outer.truth(registers, step.sources[0])
            if "ballot" in words:
                block = self.fused.block_of[step.number]
                self.outer.write(registers, step, [self.terms.opaque(f"ballot {step.number}", block, asked)])
                return TRUE
            (found,) = self._results(step)
            self.outer.write(registers, step, [found])
            if "any" in words:
                return self.formulas.implies(asked, found)
            if "all" in words:
                return self.formulas.implies(found, asked)
            return TRUE
        if step.facts.base == "bar" and "warp" in words and not step.guard and is_full(step):
            return TRUE
        raise NotProved(step.line, f"`{step.statement}` belongs to no kernel, and its effect is not known")

    def _unmatched(self, case: Case, event: Event) -> None:
        if case.place == END and event.step.facts.row.scope and event.step.facts.row.access in ("", "f"):
            return  # a thread that has ended comes along: it counts as one that does
        own = self.claims[event.step.number]
        if DEBUG:
            for f in (event.guard, case.given):
                print("formula", f, [self.show(v) for v in sorted(self.formulas.support(f))])
        where = "has ended" if case.place == END else f"is at line {self.kernel.steps[case.place].line}"
        lines = ", ".join(str(self.kernel.steps[n].line) for n in own)
        raise NotProved(
            event.step.line,
            f"`{event.step.statement}` claims to be line {lines} of the kernel, but a lane whose kernel {where} may execute it",
        )

    # The kernel beside it ---------------------------------------------------------------------------

    def _advanced(self, cases: list[Case], events: Mapping[int, Event], claimed: Mapping[int, list[int]]) -> list[Case]:
        """The cases as far as the claims of this block take them."""
        order = {start: i for i, start in enumerate(self.kernel.order)}
        waiting: list[tuple[tuple[int, int], int, Case]] = []
        count = 0

        def add(case: Case) -> None:
            nonlocal count
            count += 1
            if count > MOST_SPLITS:
                raise NotProved(self.fused.steps[min(claimed[min(claimed)])].line, "too many cases")
            if DEBUG and count > MOST_SPLITS - 12:
                print(case.place, case.place != END and str(self.kernel.steps[case.place].statement), case.given, sorted(case.done))
            at = (order[self.kernel.block_of[case.place]], case.place) if case.place != END else (len(order), 0)
            heapq.heappush(waiting, (at, count, case))

        for case in cases:
            add(case)
        ended: list[Case] = []
        while waiting:
            at, _, case = heapq.heappop(waiting)
            while waiting and waiting[0][0] == at and self._open(waiting[0][2], events) == self._open(case, events):
                other = heapq.heappop(waiting)[2]
                case = Case(
                    case.place,
                    self.formulas.either(case.given, other.given),
                    self._pruned(
                        self._either(case.given, case.registers, other.given, other.registers, self._now), case.place
                    ),
                    case.done | other.done,
                    (*case.order, *(n for n in other.order if n not in case.order)),
                )
            apart = [case]
            while apart:
                outcome = self._step(apart.pop(), events, claimed)
                if isinstance(outcome, list):
                    count += len(outcome)
                    apart += outcome
                elif outcome.is_through:
                    ended.append(outcome.case)
                else:
                    add(outcome.case)
        return ended

    def _open(self, case: Case, events: Mapping[int, Event]) -> frozenset[int]:
        """The events that the kernel has not had and must have."""
        return frozenset(
            n for n, e in events.items() if n not in case.done and self._holds(e.guard, case.given) != FALSE
        )

    def _step(self, case: Case, events: Mapping[int, Event], claimed: Mapping[int, list[int]]) -> _Moved | list[Case]:
        """Goes on to the end of the kernel's block, or as far as this block of the fused kernel has it; cases that have
        to be told apart first come back as a list."""
        case = Case(case.place, case.given, dict(case.registers), case.done, case.order)
        while case.place != END:
            step = self.kernel.steps[case.place]
            if step.is_branch:
                following = self._chosen(step, case.given, case.registers)
                if following is not None:
                    return _Moved(self._at(case, following))
                if not self._is_wanted(case, step.number, claimed, 4):
                    break
                return self._split(case, self._undecided(step, case))
            numbers = [n for n in claimed.get(step.number, ()) if n not in case.done]
            if not numbers and (step.is_effect or step.number in self.claimed):
                break
            if step.is_effect:
                found = self._matched(case, step, numbers, events)
                if isinstance(found, list):
                    return found
                if found is None:
                    break
            else:
                self._compute(case, step, numbers[:1])
            case.place = step.number + 1 if step.number + 1 < len(self.kernel.steps) else END
            if case.place in self.kernel.blocks:
                return _Moved(self._at(case, case.place))
        return _Moved(case, is_through=True)

    def _compute(self, case: Case, step: Step, numbers: Sequence[int]) -> None:
        """Executes a step that has no effect; what equals the fused kernel's value is called by that from now on."""
        values = self.inner.values(case.registers, step)
        for number in numbers:
            pairs = zip(step.writes, values, self._computed[number], strict=False)
            values[: len(step.writes)] = [self._as_outer(name, *pair, case.given) for name, *pair in pairs]
        self.inner.write(case.registers, step, values)
        case.done = case.done.union(numbers)

    def _as_outer(self, name: str, value: int, outer: int, given: int) -> int:
        if value == outer:
            return value
        equal = self.truths_are_equal if self.kernel.is_predicate(name) else self.are_equal
        return outer if equal(value, outer, given) else value

    def _at(self, case: Case, place: int) -> Case:
        return Case(place, case.given, self._pruned(case.registers, place), case.done, case.order)

    def _undecided(self, step: Step, case: Case) -> int:
        if step.facts.base == "brx":
            index = self.terms.resolved(self.inner.source(case.registers, step.sources[0]), case.given)
            for k in range(len(step.targets)):
                chosen = self.terms.atom("equals", index, self.terms.make(str(k)))
                if self.formulas.under(chosen, case.given) is None:
                    return chosen
        return self.inner.guard(case.registers, step)

    def _split(self, case: Case, test: int) -> list[Case]:
        found = []
        for condition in (test, self.formulas.negation(test)):
            given = self.formulas.both(case.given, condition)
            if given != FALSE:
                found.append(Case(case.place, given, dict(case.registers), case.done, case.order))
        return found

    def _is_wanted(self, case: Case, number: int, claimed: Mapping[int, list[int]], depth: int) -> bool:
        """Whether code after the branch stands in this block of the fused kernel."""
        for target in self.kernel.following(self.kernel.steps[number]):
            if target == END:
                continue
            if self.kernel.steps[target].is_branch:
                if depth and self._is_wanted(case, target, claimed, depth - 1):
                    return True
            elif any(n not in case.done for n in claimed.get(target, ())):
                return True
        return False

    def _matched(
        self, case: Case, step: Step, numbers: Sequence[int], events: Mapping[int, Event]
    ) -> bool | list[Case] | None:
        """Lets the kernel have an event, or says which cases have to be told apart first; None where it is missing."""
        test = self._holds(self.inner.guard(case.registers, step), case.given)
        if test not in (TRUE, FALSE):
            return self._split(case, test)
        for number in numbers:
            event = events[number]
            guard = self._holds(event.guard, case.given)
            if guard not in (TRUE, FALSE):
                return self._split(case, guard)
            if guard == FALSE and test == FALSE:
                case.done |= {number}
                return True
            if guard == TRUE and test == TRUE:
                return self._same(case, step, event)
        return True if test == FALSE else None

    def _same(self, case: Case, step: Step, event: Event) -> bool | list[Case]:
        number = event.step.number
        if plain(step) != plain(event.step):
            raise NotProved(event.step.line, f"`{event.step.statement}` is not line {step.line} of the kernel, `{step.statement}`")
        mine = self._operands(self.inner, case.registers, step)
        if step.facts.row.scope == 3:
            mine = ()
        mask = len(step.sources) + step.facts.row.mask if step.facts.row.mask is not None else None
        for position, (a, b) in enumerate(zip(mine, event.operands, strict=False)):
            first, second = self.terms.resolved(a, case.given), self.terms.resolved(b, case.given)
            if first != second and not (position == mask and self._is_cut(first, second, event.step)):
                for term in (second, first):
                    test = self.terms.undecided(term)
                    if test is not None and (parts := self._split(case, test)) and len(parts) > 1:
                        return parts
                if DEBUG:
                    print(self.show(first), '\n', self.show(second), '\ngiven', case.given, case.place)
                raise NotProved(
                    event.step.line,
                    f"`{event.step.statement}` has other operands than line {step.line} of the kernel, `{step.statement}`"
                )
        access = self._access(self.inner, case.registers, step)
        for earlier in case.order:
            if earlier > number:
                before = self.fused.steps[earlier]
                if not may_change_places(before, self._at_event(earlier), event.step, event.access):
                    raise NotProved(
                        event.step.line,
                        f"`{event.step.statement}` stands before `{before.statement}`, which the kernel has before it",
                    )
        self._accesses[number] = event.access or access
        self.inner.write(case.registers, step, list(event.results))
        case.done |= {number}
        case.order = (*case.order, number)
        return True

    def show(self, number, depth=6):
        t = self.terms[number]
        if not depth: return f"#{number}"
        return f"{t.head}({', '.join(self.show(p, depth-1) for p in t.parts)}{'' if t.formula<0 else ' |f%d' % t.formula})"

    def _check_mask(self, case: Case, event: Event) -> None:
        """That of the lanes that have ended, the mask names those that come along and no others."""
        step = event.step
        if step.facts.row.mask is None:
            return
        mask = event.operands[len(step.sources) + step.facts.row.mask]
        for comes in (TRUE, FALSE):
            given = self.formulas.both(case.given, self.formulas.same(event.guard, comes))
            for found, here in self.terms.outcomes(mask, given) if given != FALSE else ():
                term = self.terms[found]
                bits = {p.formula for p in map(self.terms.__getitem__, term.parts) if p.head.startswith("ballot ")}
                if (comes not in bits) if term.head == "and.b32" and bits else not comes:
                    raise NotProved(
                        step.line, f"`{step.statement}` may wait for a lane whose kernel has ended and which does not come"
                    )

    def _is_cut(self, mask: int, other: int, step: Step) -> bool:
        """Whether a mask of lanes is the kernel's, less lanes for which the kernel has ended."""
        term = self.terms[other]
        ballots = [self.terms[p].head for p in term.parts if self._is_ballot(p)]
        self.ballots[step.number] = self.ballots.get(step.number, frozenset()).union(ballots)
        return term.head == "and.b32" and mask in term.parts and bool(ballots)

    def _is_ballot(self, number: int) -> bool:
        """Whether the term is an added ballot in which this lane has its bit."""
        term = self.terms[number]
        return term.head.startswith("ballot ") and term.formula == TRUE

    def are_equal(self, first: int, second: int, given: int, splits: int = 64) -> bool:
        """Whether two terms have one value wherever the formula holds, as far as `splits` cases show it."""
        waiting = [given]
        while waiting and splits:
            splits -= 1
            given = waiting.pop()
            a, b = self.terms.resolved(first, given), self.terms.resolved(second, given)
            if a == b:
                continue
            tests = (self.terms.undecided(t) for t in (b, a))
            test = next((t for t in tests if t is not None), None)
            parts = [] if test is None else [self.formulas.both(given, t) for t in (test, self.formulas.negation(test))]
            if FALSE in parts or not parts:
                return False
            waiting += parts
        return not waiting

    def truths_are_equal(self, first: int, second: int, given: int) -> bool:
        """Whether two formulas have one value wherever `given` holds."""
        a, b = self.terms.formula_under(first, given), self.terms.formula_under(second, given)
        return a == b or self.formulas.both(given, self.formulas.negation(self.formulas.same(a, b))) == FALSE

    def _at_event(self, number: int) -> Access | None:
        return self._accesses.get(number)

    _accesses: dict[int, Access | None] = field(default_factory=dict)
    _now: dict[str, int] = field(default_factory=dict)
    _computed: dict[int, list[int]] = field(default_factory=dict)

    # Joins ------------------------------------------------------------------------------------------

    def _joined(self, start: int, edges: Mapping[int, State]) -> State:
        states = list(edges.values())
        if len(states) == 1 and len(self.fused.predecessors[start]) + (start == 0) == 1:
            return states[0]
        loop = self.fused.loops.get(start, frozenset())
        entries = [i for i, source in enumerate(edges) if source not in loop]
        return _Join(self, start, states, loop, entries).joined()


@dataclass
class _Join:
    """The state before a block of several edges: what is one value on each of them gets one name."""

    of: Projection
    start: int
    states: list[State]
    loop: frozenset[int]  # the blocks of the loop that begins here
    entries: list[int]  # the states from outside it
    held: frozenset[int] = frozenset()  # variables that keep their meaning
    edges: dict[int, int] = field(default_factory=dict)

    def joined(self) -> State:
        of, formulas = self.of, self.of.formulas
        live = of.fused.live[self.start]
        names = sorted(r for r in live if any(r in s.registers for s in self.states))
        registers: dict[str, int] = {}
        data: dict[tuple[int, ...], int] = {}
        truths: dict[tuple[int, ...], int] = {}
        links: list[tuple[int, tuple[int, ...]]] = []  # new atoms and what they were
        for name in names:
            values = tuple(of.outer.read(s.registers, name) for s in self.states)
            if of.fused.is_predicate(name):
                registers[name] = self._truth(f"{self.start} {name}", values, truths, links)
            else:
                registers[name] = self._value(f"{self.start} {name}", values, data)
        cases: dict[int, tuple[int, dict[str, int]]] = {}
        for place in sorted({p for s in self.states for p in s.cases}):
            own = [i for i, s in enumerate(self.states) if place in s.cases]
            cases[place] = self._case(place, own, registers, links)
        return State(registers, cases)

    def _value(self, name: str, values: tuple[int, ...], known: dict[tuple[int, ...], int]) -> int:
        if values not in known:
            first = values[0]
            if all(v == first for v in values) and self.of.terms.blocks(first).isdisjoint(self.loop):
                known[values] = first
                self.held |= self.of.terms.atoms(first)
            elif any(self.of.terms[v].head.startswith("ballot ") for v in values) and self._is_entered_with(values):
                known[values] = self._by_edge(values)
            else:
                known[values] = self.of.terms.opaque(f"join {name}", self.start)
        return known[values]

    def _is_entered_with(self, values: tuple[int, ...]) -> bool:
        """Whether each edge into a loop brings a value from outside it, and those back bring what came in."""
        outside = (self.of.terms.blocks(values[i]).isdisjoint(self.loop) for i in self.entries)
        return all(outside) and all(v == self._by_edge(values) for i, v in enumerate(values) if i not in self.entries)

    def _by_edge(self, values: tuple[int, ...]) -> int:
        """The value that each edge brings; a ballot has to be known with what it counts."""
        *first, last = self.entries
        found = values[last]
        for i in first:
            found = self.of.terms.choice(self._edge(i), values[i], found)
        self.held |= self.of.terms.atoms(found)
        return found

    def _edge(self, i: int) -> int:
        """The formula that a lane came by that edge."""
        if i not in self.edges:
            self.edges[i] = self.of.formulas.variable(self.of.terms.opaque(f"edge {self.start} {i}", self.start))
        return self.edges[i]

    def _truth(
        self, name: str, values: tuple[int, ...], known: dict[tuple[int, ...], int], links: list[tuple[int, tuple[int, ...]]]
    ) -> int:
        formulas = self.of.formulas
        if all(v == values[0] for v in values) and self.of.terms.blocks_of_formula(values[0]).isdisjoint(self.loop):
            self.held |= formulas.support(values[0])
            return values[0]
        if values not in known:
            opposite = tuple(formulas.negation(v) for v in values)
            if opposite in known:
                known[values] = formulas.negation(known[opposite])
            else:
                known[values] = formulas.variable(self.of.terms.opaque(f"join {name}", self.start))
                links.append((known[values], values))
        return known[values]

    def _case(
        self, place: int, own: list[int], outer: Mapping[str, int], links: list[tuple[int, tuple[int, ...]]]
    ) -> tuple[int, dict[str, int]]:
        of, formulas = self.of, self.of.formulas
        live = of.kernel.live[place] if place != END else frozenset()
        names = sorted({r for i in own for r in self.states[i].cases[place][1] if r in live})
        registers: dict[str, int] = {}
        more: list[tuple[int, tuple[int, ...]]] = []
        data: dict[tuple[int, ...], int] = {}
        truths: dict[tuple[int, ...], int] = {}
        seen: dict[tuple[bool, tuple[int, ...]], int] = {}
        for name, value in outer.items():
            kind = of.fused.is_predicate(name)
            key = kind, tuple(self._outer(i, place, name) for i in own)
            seen.setdefault(key, value)
            if kind:
                seen.setdefault((kind, tuple(formulas.negation(v) for v in key[1])), formulas.negation(value))
        for name in names:
            kind = of.kernel.is_predicate(name)
            values = tuple(self._inner(i, place, name) for i in own)
            twin = of.renamed.get(name)
            if twin in outer and of.fused.is_predicate(twin) == kind and self._are_twins(own, place, name, twin):
                registers[name] = outer[twin]
            elif (kind, values) in seen:
                registers[name] = seen[kind, values]
            elif kind:
                registers[name] = self._truth(f"{self.start} at {place} {name}", values, truths, more)
            else:
                registers[name] = self._value(f"{self.start} at {place} {name}", values, data)
        given = FALSE
        for position, i in enumerate(own):
            condition = self.states[i].cases[place][0]
            olds = set(formulas.support(condition))
            for other, came in self.edges.items() if i in self.entries else ():
                condition = formulas.both(condition, came if other == i else formulas.negation(came))
            given_here = condition
            for atom, value in (*((a, v[i]) for a, v in links), *((a, v[position]) for a, v in more)):
                value = of.terms.formula_under(value, given_here)
                olds |= formulas.support(value)
                condition = formulas.both(condition, formulas.same(atom, value))
            fresh = {v for atom, _ in (*links, *more) for v in formulas.support(atom)}
            fresh |= {v for came in self.edges.values() for v in formulas.support(came)}
            given = formulas.either(given, formulas.without(condition, olds - fresh - self.held))
        return given, registers

    def _inner(self, i: int, place: int, name: str) -> int:
        """The value of a kernel's register; one that was never written may be whatever the fused kernel has."""
        of = self.of
        registers = self.states[i].cases[place][1]
        if name in registers:
            return self._given(i, place, registers[name], of.kernel.is_predicate(name))
        twin = of.renamed.get(name)
        if twin is not None and of.fused.is_predicate(twin) == of.kernel.is_predicate(name):
            return self._outer(i, place, twin)
        return of.inner.undefined(name)

    def _are_twins(self, own: list[int], place: int, name: str, twin: str) -> bool:
        of = self.of
        for i in own:
            given, registers = self.states[i].cases[place]
            if name not in registers:
                continue
            values = registers[name], of.outer.read(self.states[i].registers, twin)
            test = of.truths_are_equal if of.kernel.is_predicate(name) else of.are_equal
            if not test(*values, given):
                return False
        return True

    def _outer(self, i: int, place: int, name: str) -> int:
        """The value of a register of the fused kernel, where the lane is at that place of the kernel."""
        return self._given(i, place, self.of.outer.read(self.states[i].registers, name), self.of.fused.is_predicate(name))

    def _given(self, i: int, place: int, value: int, is_predicate: bool) -> int:
        given = self.states[i].cases[place][0]
        return (self.of.terms.formula_under if is_predicate else self.of.terms.resolved)(value, given)


def is_full(step: Step) -> bool:
    """Whether its mask names all lanes of the warp."""
    return step.sources[-1].text in ("-1", "0xffffffff", "0xFFFFFFFF", "4294967295")


def plain(step: Step) -> tuple[str, tuple[str, ...], tuple[int | None, ...]]:
    """What an event is, without its registers. A load may lose `.nc`: it then reads what is there."""
    opcode = step.opcode.replace(".nc", "") if step.facts.base == "ld" else step.opcode
    if step.facts.base in ("bar", "barrier") and step.facts.row.scope == 3:
        words = [w for w in opcode.split(".") if w not in ("aligned", "cta")]
        return ".".join(["barrier", *words[1:]]), (), ()
    return opcode, tuple(s.text for s in step.sources), tuple(s.offset for s in step.sources)
