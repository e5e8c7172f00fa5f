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
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

from goptx.proof.code.kernel_code import ASKED, CARRY, END, OF_CTA, REDUCED, VOTED, NotProved, Program, Step
from goptx.proof.code.step_forms import count_of, is_full
from goptx.proof.dependent.handed_on import Cells, Moved
from goptx.proof.evaluation import Evaluation, operands_of
from goptx.proof.formulas import FALSE, TRUE
from goptx.proof.lanes.joins import joined
from goptx.proof.lanes.lane_cases import LaneCases
from goptx.proof.lanes.lane_states import Case, Cases, Event, State
from goptx.proof.memory_order import Access, access_of
from goptx.proof.placement.placement import Placements
from goptx.proof.sync.unaided import leaves
from goptx.proof.sync.waits import id_position, waits_for_all
from goptx.proof.terms import Terms

MOST_VISITS = 12  # of a block, on average


@dataclass
class Projection:
    """`claims` has for each step of the fused kernel the steps of the kernel that it claims to be, `branches` the
    branches, `foreign` the steps that claim to be another kernel's only. Filled by `check`: `ends` are the
    registers and cases at the end of each block, `ended` the lanes that leave it with the kernel at its end, `taken`
    the blocks to which lanes go from it, with the kernel's places there,
    `matched` the kernel's steps that an event was, `ballots` those by which a step's lane mask is cut, `polarity`
    for a branch the kernel's branch that it is, and whether it goes the same way, `divided` that branch for the
    lanes whose kernel has not ended; `computed` the values of the fused kernel's steps that only compute; `handed`
    are the steps of the fused kernel that only move a value and claim to be the kernel's loads or stores, `cells`
    says what registers hold of memory, None where that is not yet known. `accesses` is where events of all kernels
    access memory, `replaced` what the kernel loads or stores at the steps `handed`. `comes_in` has
    for a value at the beginning of a block what it is on each edge, and whether that begins a loop again. `back`
    the lanes that begin a loop again, with whether the kernel has gone on, `asked` whether they asked for it,
    `comers` the barriers with a count to which lanes come along for others of their warp, `barrier_ids` the numbers
    of a barrier in the kernel and in the fused kernel, "" if one is not known, `indexed` the indirect branches that
    are the kernel's, with the same index, `promised` those that it says to go one way, `cuts` the ballots by which the
    lanes that a step finds active are cut, `followed` the kernel's blocks that a lane comes to,
    `swapped` the pairs of its steps that have changed places,
    `counts` what a barrier counts, `counting` the kernels whose threads an added one waits for if it has a count,
    `joint` whether lanes are known
    to take branches together which lead to different aligned barriers,
    `asking` the blocks that a vote leads from, `asking_of_cta` those that the result of a barrier leads from."""

    terms: Terms
    fused: Program
    kernel: Program
    claims: Mapping[int, tuple[int, ...]]
    symbols: Mapping[str, str]
    kernel_symbols: Mapping[str, str]
    foreign: frozenset[int] = frozenset()
    branches: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    letter: str = ""
    placements: Placements = field(default_factory=Placements)
    handed: Set[int] = frozenset()
    cells: Cells | None = None
    # Filled by `check`. What is not an argument begins empty in the second check, with `cells`.
    accesses: dict[int, Access | None] = field(default_factory=dict)
    replaced: dict[int, list[Moved]] = field(default_factory=dict, init=False)
    comes_in: dict[int, tuple[tuple[bool, int], ...]] = field(default_factory=dict)
    ends: dict[int, tuple[dict[str, int], list[Case]]] = field(default_factory=dict, init=False)
    matched: dict[int, set[int]] = field(default_factory=dict, init=False)
    ballots: dict[int, set[str]] = field(default_factory=dict, init=False)
    polarity: dict[int, tuple[int, bool]] = field(default_factory=dict, init=False)
    divided: dict[int, int] = field(default_factory=dict, init=False)
    back: dict[tuple[int, int], dict[int, tuple[int, bool]]] = field(default_factory=dict, init=False)
    asked: dict[tuple[int, int], dict[str, int]] = field(default_factory=dict, init=False)
    counting: dict[int, set[str]] = field(default_factory=dict, init=False)
    counts: dict[int, int] = field(default_factory=dict, init=False)
    joint: bool = field(default=True, init=False)
    asking: set[int] = field(default_factory=set, init=False)
    asking_of_cta: set[int] = field(default_factory=set, init=False)
    active: dict[int, tuple[int, int]] = field(default_factory=dict, init=False)
    ended: dict[int, int] = field(default_factory=dict)
    taken: dict[int, dict[int, frozenset[int]]] = field(default_factory=dict, init=False)
    cuts: dict[int, set[int]] = field(default_factory=dict, init=False)
    comers: set[int] = field(default_factory=set, init=False)
    barrier_ids: dict[int, set[tuple[str, str]]] = field(default_factory=dict, init=False)
    indexed: set[int] = field(default_factory=set, init=False)
    promised: set[int] = field(default_factory=set, init=False)
    computed: dict[int, list[int]] = field(default_factory=dict, init=False)
    followed: set[int] = field(default_factory=set, init=False)
    swapped: set[tuple[int, int]] = field(default_factory=set, init=False)
    visits: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self.formulas = self.terms.formulas
        self.renamed = self._renaming()
        back = {new: f"{self.letter} {old}" for old, new in self.renamed.items()}
        own = {old: f"{self.letter} {old}" for old in self.renamed}
        self.placement, integers = self.placements.of(self.letter), self.placements.integers
        self.outer = Evaluation(
            self.terms, self.fused, self.symbols, back, "fused", self.placements.special, integers
        )  # fmt: skip
        self.inner = Evaluation(
            self.terms, self.kernel, self.kernel_symbols, own, f"own {self.letter}", self.placement.special, integers
        )  # fmt: skip
        self.claimed = frozenset(n for numbers in self.claims.values() for n in numbers)
        written = [{w for s in self.fused.steps if (s.number in self.foreign) == foreign for w in s.writes}
                   for foreign in (True, False)]  # fmt: skip
        self.others = frozenset(written[0] - written[1])

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

    def check_cells(self, cells: Cells) -> None:
        """The same from the beginning, with what is known of registers that hold elements of memory. Raises
        `NotProved` where they do not hold what the kernel loads."""
        found = replace(self, cells=cells)
        found.check()
        for number, its in found.replaced.items():
            for moved in its if not self.stores(number) else ():
                cells.check(self.fused.steps[number], moved)

    def own(self, number: int) -> frozenset[int]:
        """The kernel's steps that a step of the fused kernel is, or claims to be where only lanes come for which the
        kernel has ended."""
        return frozenset(self.matched.get(number, ()) or self.claims.get(number, ()))

    def stores(self, number: int) -> bool:
        """Whether a step that moves a value may stand for a store of the kernel."""
        return any(not self.kernel.steps[n].facts.loads for n in self.claims[number])

    def check(self) -> None:
        """Raises `NotProved`."""
        for step in self.fused.steps:
            self._check_guard(step)
        rank = {start: i for i, start in enumerate(self.fused.order)}
        edges: dict[int, dict[int, State]] = {start: {} for start in rank}
        registers = self.cells.empty() if self.cells else {}
        edges[0][END] = State(registers, {place: (given, {}, frozenset()) for place, given in self._begin()})
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

    def _check_guard(self, step: Step) -> None:
        """That nothing rests on a guard which the assembler does not honour."""
        if not step.guard or step.facts.row.guardable or step.number in self.foreign:
            return
        own = [self.kernel.steps[n] for n in self.claims.get(step.number, ())]
        if not own or not all(s.guard for s in own):
            raise NotProved(step.line, f"`{step.statement}`, whose guard assemblers do not honour")

    def _begin(self) -> Iterator[tuple[int, int]]:
        """Where lanes are in the kernel at first, with the formulas: those that do not belong to it have ended."""
        belongs = self.placement.belongs
        for place, given in ((0, belongs), (END, self.formulas.negation(belongs))):
            if (found := self.formulas.both(self.placements.facts, given)) != FALSE:
                yield place, found

    def _through(self, start: int, state: State) -> Iterator[tuple[int, State]]:
        """Executes a block, lets the kernel follow, and gives the state for each block after it."""
        registers = dict(state.registers)
        here = LaneCases(self, start, registers)
        known = self.placements.facts
        block = self.fused.blocks[start]
        last = self.fused.steps[block[-1]]
        for number in block:
            step = self.fused.steps[number]
            if step.is_branch:
                break
            for own in self.claims.get(number, ()):
                here.claimed.setdefault(own, []).append(number)
            for name in step.writes:
                registers.pop(f"{VOTED}{name}", None)
                registers.pop(f"{REDUCED}{name}", None)
            if self.cells:
                self.cells.note(self.outer, registers, step)
            if number in self.handed:
                here.events[number] = self._handed(registers, step)
            elif not self.fused.is_effect(step):
                here.computed[number] = self._computed(registers, step)
                self.outer.write(registers, step, here.computed[number])
                self.computed[number] = here.computed[number]
            elif number in self.foreign:
                self.accesses[number] = access_of(self.outer, registers, step)
                self.outer.write(registers, step, self._results(step))
            elif self.claims.get(number):
                here.events[number] = self._event(registers, step, state.cases)
            else:
                known = self.formulas.both(known, self._added(registers, step))
            for name in step.writes:
                if name in registers:
                    here.written.setdefault(name, []).append((number, registers[name]))
        for number in block:
            for noted in (self.matched, self.ballots, self.polarity, self.divided, self.replaced, self.barrier_ids):
                noted.pop(number, None)
            self.comers.discard(number)
        cases = here.advanced(state.cases, known)
        self.indexed.discard(last.number)
        self.promised.discard(last.number)
        if last.facts.base == "brx":
            most = self.outer.most(self.outer.source(registers, last.sources[0]))
            followed = here.indexed(cases, last)
            if followed or (most is not None and most < len(last.targets)):
                self.indexed.add(last.number)
            if followed and all("uni" in step.facts.modifiers for step in followed):
                self.promised.add(last.number)
        self.ends[start] = registers, cases
        self.ended[start], self.taken[start] = FALSE, {}
        for target, tests in self._ways(registers, last).items():
            found = here.on_edge(cases, tests, last, target)
            if found:
                self.taken[start][target] = frozenset(found)
            if END in found and not leaves(self.fused, start, target):
                self.ended[start] = self.formulas.either(self.ended[start], found[END][0])
            after = self._asking(registers, last, target)
            if (start, target) in self.fused.back_edges:
                self.asked[start, target] = {r: v for r, v in after.items() if r.startswith(ASKED)}
                self.back[start, target] = {
                    place: (given, target in moved) for place, (given, _, moved) in found.items()
                }
            if target != END and found:
                yield target, State(after, found)

    def _computed(self, registers: dict[str, int], step: Step) -> list[int]:
        """What a step without an effect computes. The lanes that are active, cut by an added ballot in which this lane
        has its bit, are those that are active: lanes for which the kernel goes on have theirs."""
        found = self.outer.values(registers, step)
        parts = self.terms[found[0]].parts if found and not self.fused.is_predicate(step.writes[0]) else ()
        if step.opcode == "and.b32" and step.number not in self.claims and len(parts) == 2:
            first, ballot = parts
            counted = self.terms[ballot].formula
            is_ballot = self.terms[ballot].head.startswith("ballot ")
            every = self.terms.resolved(first, counted)
            lanes, event = self.active.get(every, (every, END))
            if is_ballot and event in self.fused.blocks[self.fused.block_of[step.number]]:
                self.cuts.setdefault(event, set()).add(ballot)
                return [self.terms.choice(counted, lanes, found[0])]
        return found

    def _asking(self, registers: dict[str, int], last: Step, target: int) -> dict[str, int]:
        """The registers where a block is left; where that is because a predicate holds for any lane of the warp, with
        registers more that hold whether it does for this lane: one for the block, and one for the last such block, of
        all and of those by that predicate. The same where it holds for any thread of the CTA."""
        ways = self.fused.following(last)
        if len(ways) < 2 or target != ways[last.negated] or last.number in self.foreign:
            return registers
        block, of_cta = self.fused.block_of[last.number], registers.get(f"{REDUCED}{last.guard}")
        if of_cta is not None:
            self.asking_of_cta.add(block)
            return {**registers, **{f"{ASKED}{OF_CTA}{name}": of_cta for name in (block, self.letter, last.guard)}}
        asked = self._asked(registers, last)
        if asked is None:
            return registers
        self.asking.add(block)
        return {**registers, **{f"{ASKED}{name}": asked for name in (block, self.letter, last.guard)}}

    def _asked(self, registers: dict[str, int], step: Step) -> int | None:
        """Whether this lane asked for it, where a vote gave a step's guard to the whole warp."""
        return registers.get(f"{VOTED}{step.guard}") if step.guard else None

    def _ways(self, registers: dict[str, int], last: Step) -> dict[int, list[int]]:
        """The blocks after a block, with the formulas that a lane goes there: of an indirect branch one for each index
        that leads to a block, since a block may stand in the table more than once."""
        following = self.fused.following(last)
        if last.facts.base == "brx":
            ways: dict[int, list[int]] = {target: [] for target in following}
            index = self.outer.source(registers, last.sources[0])
            for target, test in zip(last.targets, self.outer.indexed(index, len(last.targets)), strict=True):
                ways[target].append(test)
            return ways
        if len(following) == 1:
            return {following[0]: [TRUE]}
        test = self.outer.guard(registers, last)
        return {following[0]: [test], following[1]: [self.formulas.negation(test)]}

    def _event(self, registers: dict[str, int], step: Step, cases: Cases) -> Event:
        """Where lanes may come along for which the kernel has ended, more may be active than in the kernel."""
        guard = self.outer.guard(registers, step)
        operands = operands_of(self.outer, registers, step)
        access = self.accesses[step.number] = access_of(self.outer, registers, step)
        count = count_of(step)
        if count is not None:
            self.counts[step.number] = operands[count]
        results = self._results(step)
        found = list(results)
        if step.facts.reads_active_mask:
            self.cuts.pop(step.number, None)
            self.active.pop(results[0], None)
            if any(self._may_end(place, self.claims[step.number]) for place in cases):
                found = [self.terms.make("with others", results[0])]
            self.active[found[0]] = results[0], step.number
        asked = None if step.negated else self._asked(registers, step)
        self.outer.write(registers, step, found)
        return Event(step, guard, operands, tuple(results), access, asked=asked)

    def _handed(self, registers: dict[str, int], step: Step) -> Event:
        """A step that moves a value in place of a load or store of the kernel."""
        guard = self.outer.guard(registers, step)
        operands = operands_of(self.outer, registers, step)
        results = self.outer.values(registers, step)
        cell = self.cells.at(registers, step) if self.cells else None
        self.outer.write(registers, step, results)
        return Event(step, guard, operands, tuple(results), None, cell=cell)

    def _may_end(self, place: int, own: Sequence[int]) -> bool:
        """Whether the kernel has ended, or may end before it does one of these steps."""
        ends = {s.number for s in self.kernel.steps if s.facts.row.ends == "exit"}
        return place == END or self.kernel.comes_to(place, ends, own)

    def _results(self, step: Step) -> list[int]:
        """Values of which nothing is known but the step that gives them."""
        block = self.fused.block_of[step.number]
        made = [(w, self.terms.opaque(f"result {step.number}.{k}", block)) for k, w in enumerate(step.writes)]
        return [self.formulas.variable(v) if self.fused.is_predicate(w) else v for w, v in made]

    def _added(self, registers: dict[str, int], step: Step) -> int:
        """Executes a step that was added, and gives the formula that holds of its result: votes of a warp, or of a CTA
        at a barrier."""
        words = step.opcode.split(".")
        whole = not step.guard and bool(step.sources) and is_full(step)
        if whole and step.facts.base == "bar" and "warp" in words:
            return TRUE
        numbered = self._is_numbered(registers, step)
        if numbered and "sync" in words:
            return TRUE  # all threads of the CTA come there: waiting.py
        of_cta = numbered and step.facts.reduces and not words.count("popc")
        if not of_cta and (not whole or step.facts.base != "vote" or "uni" in words):
            raise NotProved(step.line, f"`{step.statement}` belongs to no kernel, and its effect is not known")
        asked = self.outer.truth(registers, step.sources[-1 if of_cta else 0])
        if "ballot" in words:
            block = self.fused.block_of[step.number]
            self.outer.write(registers, step, [self.terms.opaque(f"ballot {step.number}", block, asked)])
            return TRUE
        if not all(map(self.fused.is_predicate, step.writes)):
            raise NotProved(step.line, f"`{step.statement}` belongs to no kernel and writes no predicate")
        (found,) = self._results(step)
        self.outer.write(registers, step, [found])
        for_any = "any" in words or "or" in words
        if for_any:
            registers[f"{REDUCED if of_cta else VOTED}{step.writes[0]}"] = asked
        return self.formulas.implies(asked, found) if for_any else self.formulas.implies(found, asked)

    def _is_numbered(self, registers: dict[str, int], step: Step) -> bool:
        """Whether it is a barrier without a guard and with a known number, of all threads of the CTA or of as many as
        kernels have in whole warps: `counting` then has these."""
        position, count = id_position(step), count_of(step)
        if (
            position is None
            or "arrive" in step.facts.modifiers
            or step.guard
            or not step.sources[position].text.isdigit()
        ):
            return False
        if count is None:
            return waits_for_all(step)
        own = self.outer.source(registers, step.sources[count])
        self.counting[step.number] = {k for k, its in self.placements.kernels.items() if its.count == own}
        return bool(self.counting[step.number])
