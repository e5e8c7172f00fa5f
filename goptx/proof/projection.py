"""Whether the fused kernel, seen from one lane of one kernel, does what that kernel does.

The fused kernel is executed symbolically, block by block, and the kernel beside it: at each point there are cases, each
a place in the kernel with the condition under which a lane is there, and the kernel's registers (lane_cases.py). A step
of the kernel that does more than to compute a value must be an event of the fused kernel, with the same operands, in an
order that preserves the kernel's memory order. No map of registers is trusted: equal values are found by their terms.

Requires: for each step of the fused kernel the steps of the kernel that it claims to be. A wrong claim can only make
the proof fail.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from goptx.proof.evaluation import Evaluation, operands_of
from goptx.proof.formulas import TRUE
from goptx.proof.joins import joined
from goptx.proof.kernel_code import ASKED, CARRY, END, NotProved, Program, Step
from goptx.proof.lane_cases import Case, Event, LaneCases, State, is_full
from goptx.proof.memory_order import access_of
from goptx.proof.terms import Terms

MOST_VISITS = 12  # of a block, on average


@dataclass
class Projection:
    """`claims` has for each step of the fused kernel the steps of the kernel that it claims to be, `branches` the
    branches, `foreign` the steps that claim to be another kernel's only. Filled by `check`: `ends` are the registers
    and cases at the end of each block, `matched` the kernel's steps that an event was, `ballots` those by which a
    step's lane mask is cut, `polarity` for a branch the kernel's branch that it is, and whether it goes the same way;
    `back` the lanes that begin a loop again, with whether the kernel has gone on, `asked` whether they asked for it;
    `followed` the kernel's blocks that a lane comes to, `exchanged` the pairs of events in another order than the
    kernel's."""

    terms: Terms
    fused: Program
    kernel: Program
    claims: Mapping[int, tuple[int, ...]]
    symbols: Mapping[str, str]
    kernel_symbols: Mapping[str, str]
    foreign: frozenset[int] = frozenset()
    branches: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    letter: str = ""
    ends: dict[int, tuple[dict[str, int], list[Case]]] = field(default_factory=dict)
    matched: dict[int, set[int]] = field(default_factory=dict)
    ballots: dict[int, set[str]] = field(default_factory=dict)
    polarity: dict[int, tuple[int, bool | None]] = field(default_factory=dict)
    back: dict[tuple[int, int], dict[int, tuple[int, bool]]] = field(default_factory=dict)
    asked: dict[tuple[int, int], dict[str, int]] = field(default_factory=dict)
    votes: dict[int, int] = field(default_factory=dict)
    followed: set[int] = field(default_factory=set)
    exchanged: set[tuple[int, int]] = field(default_factory=set)
    visits: int = 0

    def __post_init__(self) -> None:
        self.formulas = self.terms.formulas
        self.renamed = self._renaming()
        back = {new: f"{self.letter} {old}" for old, new in self.renamed.items()}
        self.outer = Evaluation(self.terms, self.fused, self.symbols, back)
        own = {old: f"{self.letter} {old}" for old in self.renamed}
        self.inner = Evaluation(self.terms, self.kernel, self.kernel_symbols, own)
        self.claimed = frozenset(n for numbers in self.claims.values() for n in numbers)

    def _renaming(self) -> dict[str, str]:
        """A guess at which register of the fused kernel stands for which of the kernel. Nothing rests on it."""
        found: dict[str, str] = {CARRY: CARRY}
        for step in self.fused.steps:
            for number in self.claims.get(step.number, ())[:1]:
                other = self.kernel.steps[number]
                pairs = list(zip(other.writes, step.writes, strict=False))
                for a, b in zip(other.sources, step.sources, strict=False):
                    pairs += zip(a.names, b.names, strict=False)
                for old, new in pairs:
                    if self.kernel.type_of(old) and self.kernel.is_predicate(old) == self.fused.is_predicate(new):
                        found.setdefault(old, new)
        return found

    def check(self) -> None:
        """Raises `NotProved`."""
        rank = {start: i for i, start in enumerate(self.fused.order)}
        edges: dict[int, dict[int, State]] = {start: {} for start in rank}
        edges[0][END] = State({}, {0: (TRUE, {}, frozenset())})
        before: dict[int, State] = {}
        waiting, queued = [0], {0}
        while waiting:
            start = self.fused.order[heapq.heappop(waiting)]
            queued.discard(rank[start])
            state = joined(self, start, edges[start])
            if before.get(start) == state:
                continue
            before[start] = state
            self.visits += 1
            if self.visits > MOST_VISITS * len(rank) + 64:
                raise NotProved(self.fused.steps[start].line, "the values of a loop do not settle")
            for target, after in self._through(start, state):
                edges[target][start] = after
                if rank[target] not in queued:
                    queued.add(rank[target])
                    heapq.heappush(waiting, rank[target])

    def _through(self, start: int, state: State) -> Iterator[tuple[int, State]]:
        """Executes a block, lets the kernel follow, and gives the state for each block after it."""
        registers = dict(state.registers)
        here = LaneCases(self, registers)
        known = TRUE
        block = self.fused.blocks[start]
        last = self.fused.steps[block[-1]]
        for number in block:
            step = self.fused.steps[number]
            if step.is_branch:
                break
            for own in self.claims.get(number, ()):
                here.claimed.setdefault(own, []).append(number)
            if not self.fused.is_effect(step):
                here.computed[number] = self.outer.values(registers, step)
                self.outer.write(registers, step, here.computed[number])
            elif number in self.foreign:
                self.outer.write(registers, step, self._results(step))
            elif self.claims.get(number):
                here.events[number] = self._event(registers, step)
            else:
                known = self.formulas.both(known, self._added(registers, step))
        for number in block:
            for noted in (self.matched, self.ballots, self.polarity):
                noted.pop(number, None)
        cases = here.advanced(state.cases, known)
        self.ends[start] = registers, cases
        for target, test in self._ways(registers, last):
            found = here.on_edge(cases, test, last, target)
            after = self._asking(registers, start, test)
            if (start, target) in self.fused.back_edges:
                self.asked[start, target] = {r: v for r, v in after.items() if r.startswith(ASKED)}
                self.back[start, target] = {
                    place: (given, target in moved) for place, (given, _, moved) in found.items()
                }
            if target != END and found:
                yield target, State(after, found)

    def _asking(self, registers: dict[str, int], start: int, test: int) -> dict[str, int]:
        """The registers where a block is left; where that asks whether a predicate holds for any lane of the warp, with
        a register more that holds whether it does for this lane."""
        asked = self.votes.get(test)
        return registers if asked is None else {**registers, f"{ASKED}{start}": asked}

    def _ways(self, registers: dict[str, int], last: Step) -> Iterator[tuple[int, int]]:
        """The blocks after a block, with the formula that a lane goes there."""
        following = self.fused.following(last)
        if last.facts.base == "brx":
            index = self.outer.source(registers, last.sources[0])
            for k, target in enumerate(last.targets):
                yield target, self.terms.atom("equals", index, self.terms.make(str(k)))
        elif len(following) == 1:
            yield following[0], TRUE
        else:
            test = self.outer.guard(registers, last)
            yield from zip(following, (test, self.formulas.negation(test)), strict=True)

    def _event(self, registers: dict[str, int], step: Step) -> Event:
        guard = self.outer.guard(registers, step)
        operands = operands_of(self.outer, registers, step)
        access = access_of(self.outer, registers, step)
        results = self._results(step)
        self.outer.write(registers, step, results)
        return Event(step, guard, operands, tuple(results), access)

    def _results(self, step: Step) -> list[int]:
        """Values of which nothing is known but the step that gives them."""
        block = self.fused.block_of[step.number]
        made = [(w, self.terms.opaque(f"result {step.number}.{k}", block)) for k, w in enumerate(step.writes)]
        return [self.formulas.variable(v) if self.fused.is_predicate(w) else v for w, v in made]

    def _added(self, registers: dict[str, int], step: Step) -> int:
        """Executes a step that was added, and gives the formula that holds of its result: votes of a warp."""
        words = step.opcode.split(".")
        whole = not step.guard and bool(step.sources) and is_full(step)
        if whole and step.facts.base == "bar" and "warp" in words:
            return TRUE
        if not whole or step.facts.base != "vote" or "uni" in words:
            raise NotProved(step.line, f"`{step.statement}` belongs to no kernel, and its effect is not known")
        asked = self.outer.truth(registers, step.sources[0])
        if "ballot" in words:
            block = self.fused.block_of[step.number]
            self.outer.write(registers, step, [self.terms.opaque(f"ballot {step.number}", block, asked)])
            return TRUE
        (found,) = self._results(step)
        self.outer.write(registers, step, [found])
        if "any" in words:
            self.votes[found] = asked
        return self.formulas.implies(asked, found) if "any" in words else self.formulas.implies(found, asked)
