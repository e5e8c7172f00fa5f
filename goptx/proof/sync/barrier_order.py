"""Follows the threads of a CTA from barrier to barrier: in what order they come to those at which all of them wait.

Threads that may be in different places are followed together, as a set of places: they are at the same barrier, or at
branches that all threads of the CTA take alike. Where some come to such a branch of a kernel before others, the way
that they go is noted until all pass a barrier of that kernel: the others go the same way. A branch of a kernel around a
barrier of that kernel must be taken alike by all threads for the kernel's own sake: that is presumed, and the
certificate names it.

Requires: the projections have been proved.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from goptx.proof.code.kernel_code import END, NotProved, Program, Step
from goptx.proof.code.step_forms import count_of
from goptx.proof.formulas import LAST, TRUE
from goptx.proof.projection import Projection
from goptx.proof.sync.held_up import Holds
from goptx.proof.sync.varying import varying_branches
from goptx.proof.sync.waits import is_barrier, is_plain, is_plain_barrier
from goptx.ptx.opcodes import Scope

MOST_SETS = 4096
_RESULT = re.compile(r"result ([0-9]+)\.[0-9]+")
Place = tuple[int, int]  # a block, and the position of a step in it
GONE: Place = (END, 0)  # of threads that have ended, where that matters
Label = tuple[str, str, str]  # of a barrier: its id, the kernels that wait there, and what it reduces and counts
Labels = dict[int, frozenset[object]]
Ways = frozenset[tuple[str, int, bool]]  # branches of kernels that some threads have taken, and whether they jumped
State = tuple[frozenset[Place], frozenset[int], Ways]  # places, other waits that may have been passed, and ways


@dataclass
class Found:
    """How many barriers there are, and what is presumed of them."""

    barriers: int = 0
    presumed: list[str] = field(default_factory=list)


@dataclass
class BarrierOrder:
    """Follows sets of places from barrier to barrier. `counted` are the barriers that wait for all threads that are
    followed, also for those that have ended; `together` other instructions that all of them have to come to."""

    fused: Program
    projections: Mapping[str, Projection]
    own: Mapping[str, Sequence[Step]]
    found: Found
    holds: Holds | None = None
    counted: frozenset[int] = frozenset()
    together: frozenset[int] = frozenset()
    far: bool = False  # whether branches that decide no more than a later barrier are followed, too
    shared: set[tuple[int, int]] = field(
        default_factory=set
    )  # branches that go one way, with barriers that decide that
    beside: set[frozenset[int]] = field(default_factory=set)  # barriers to which threads come at the same time

    def check(self) -> None:
        first = self._next([(0, 0)], frozenset(), frozenset())
        seen, waiting = {first}, [first]
        while waiting:
            places, held, ways = waiting.pop()
            gone, places = places & {GONE}, places - {GONE}
            if not places:
                continue
            for step in map(self._step, places) if gone else ():
                if step.number in self.counted:
                    raise NotProved(step.line, f"`{step.statement}` counts threads that may have ended")
            if len(seen) > MOST_SETS:
                raise NotProved(self.fused.steps[0].line, "too many sets of places to follow the barriers")
            for found, passes, taken in self._after(places, held, ways):
                after = found | gone, passes, taken
                if after not in seen:
                    seen.add(after)
                    waiting.append(after)
        for branch, number in self.shared:
            self._check_last(branch, self.fused.steps[number])

    def _check_last(self, branch: int, barrier: Step) -> None:
        """That threads which take a branch by the result of a barrier, or of copies of it, have it of the last time
        that all threads came to one of these."""
        copies = self._copies(barrier.number)
        others = (self.fused.steps[n] for n in copies - {barrier.number})
        old = [
            s
            for s in others
            if any(self.fused.comes_to(t, {branch}, {barrier.number}) for t in self.fused.following(s))
        ]
        if old or any(copies & its and not its <= copies for its in self.beside):
            what = f"not all threads of a CTA come to `{barrier.statement}` at the same time"
            raise NotProved(barrier.line, what)

    def _copies(self, barrier: int) -> frozenset[int]:
        """The reductions to which threads come while others come to this one, or to another of them."""
        found = frozenset([barrier])
        while (
            more := frozenset(n for its in self.beside if its & found for n in its if self.fused.steps[n].facts.reduces)
            - found
        ):
            found |= more
        return found

    def _is_met(self, step: Step) -> bool:
        """Whether all threads that are followed come there, or all of a kernel."""
        return step.number in self._met

    @cached_property
    def _met(self) -> frozenset[int]:
        known = {s.number for its in self.own.values() for s in its}
        barriers = (s for s in self.fused.steps if is_barrier(s) and (not self.counted or s.number in known))
        return self.together.union(s.number for s in barriers if stands_for_plain(s, self.projections))

    def _step(self, place: Place) -> Step:
        return self.fused.steps[self.fused.blocks[place[0]][place[1]]]

    def _next(self, places: Iterable[Place], held: frozenset[int], ways: Ways) -> State:
        """The plain barriers, and branches that all threads take alike, that are next, and the other waits since the
        last plain barrier; `held` are those before these places."""
        found, seen, waiting, passed = set[Place](), set[Place](), list(places), set(held)
        while waiting:
            start, position = waiting.pop()
            if start == END or (start, position) in seen:
                found |= {GONE} if start == END and self.counted else set()
                continue
            seen.add((start, position))
            block = self.fused.blocks[start]
            for number in block[position:]:
                step = self.fused.steps[number]
                if self._is_met(step):
                    found.add((start, number - block[0]))
                    break
                if step.is_branch and start in self._deciding:
                    target = self._known_way(start, ways)
                    found |= {(start, number - block[0])} if target is None else set()
                    waiting += [(target, 0)] if target is not None else []
                    break
                if self.holds and number in self.holds.held:
                    passed.add(number)
            else:
                waiting += [(t, 0) for t in self.fused.successors(start)]
        if self.holds:
            self.holds.check_held(frozenset(passed), [s for s in map(self._step, found) if not s.is_branch])
        return frozenset(found), frozenset(passed), ways

    def _known_way(self, start: int, ways: Ways) -> int | None:
        """Where the branch of a block leads, if other threads of the CTA have taken it since the last barrier of its
        kernel."""
        of_kernel = self._of_kernel(start) if ways else None
        if of_kernel:
            letter, number, same = of_kernel
            for taken in (True, False):
                if (letter, number, taken) in ways:
                    return self._side(start, taken == same)
        return None

    @cached_property
    def _varying(self) -> frozenset[int]:
        return varying_branches(self.fused, Scope.CTA)

    @cached_property
    def _labels(self) -> Labels:
        """Of each block the barriers that are next from its beginning, None for the end. `far`: those that differ in
        what is next after them are different barriers."""
        classes: dict[int, int] = {}
        while True:
            found = self._next_labels(classes)
            if not self.far:
                return found
            numbers: dict[object, int] = {}
            refined = {}
            for start in self.fused.order:
                after = self._joined(found, start)
                for step in reversed([*self._steps(start)]):
                    if self._is_met(step):
                        key = self._label(step), after
                        refined[step.number] = numbers.setdefault(key, len(numbers))
                        after = frozenset([(*self._label(step), classes.get(step.number, 0))])
            if len(numbers) == len(set(classes.values())):
                return found
            classes = refined

    def _next_labels(self, classes: Mapping[int, int]) -> Labels:
        found: Labels = dict.fromkeys(self.fused.order, frozenset())
        changed = True
        while changed:
            changed = False
            for start in reversed(self.fused.order):
                first = next((s for s in self._steps(start) if self._is_met(s)), None)
                own = (*self._label(first), classes.get(first.number, 0)) if first else None
                now = frozenset([own]) if first else self._joined(found, start)
                if now != found[start]:
                    found[start], changed = now, True
        return found

    def _joined(self, labels: Labels, start: int) -> frozenset[object]:
        ends = self.fused.successors(start)
        return frozenset().union(*(frozenset([None]) if t == END else labels[t] for t in ends))

    @cached_property
    def _deciding(self) -> frozenset[int]:
        """The blocks that end in a branch which decides what barrier is next, and which all threads take alike."""
        found = set()
        for start in self.fused.order:
            ends = set(self.fused.successors(start))
            differ = len({frozenset([None]) if t == END else self._labels[t] for t in ends}) > 1
            alike = start not in self._varying or self._of_kernel(start)
            if differ and (alike or (not self.counted | self.together and self._is_presumed(start))):
                found.add(start)
        return frozenset(found)

    def _is_presumed(self, start: int) -> bool:
        """Whether the branch is a kernel's own, around that kernel's barriers and no others."""
        last = self.fused.steps[self.fused.blocks[start][-1]]
        region = self.fused.region(start)
        inside = [s for b in region for s in self._steps(b) if self._is_met(s)]
        for letter, projection in self.projections.items():
            if last.number in projection.polarity and inside and all(s in self.own[letter] for s in inside):
                kernel, (n, _) = projection.kernel, projection.polarity[last.number]
                own = [n] if kernel.block_of[n] in varying_branches(kernel, Scope.CTA) else []
                numbers = [n for s in inside for n in projection.matched[s.number]]
                mine = [b for b in own if any(kernel.block_of[n] in kernel.region(kernel.block_of[b]) for n in numbers)]
                if mine and not any(kernel.block_of[b] in _by_thread(kernel) for b in mine):
                    self.found.presumed.append(
                        f"all threads of a CTA take the branch in line {last.line} alike: barriers of {letter} need it"
                    )
                    return True
        return False

    def _steps(self, start: int) -> Iterator[Step]:
        return (self.fused.steps[n] for n in self.fused.blocks[start])

    def _label(self, step: Step) -> Label:
        if step.number in self.together:
            return str(step.number), "", ""
        letters = "".join(letter for letter, p in self.projections.items() if p.own(step.number))
        ids = {new for p in self.projections.values() for _, new in p.barrier_ids.get(step.number, ())}
        named = step.sources[0].text if step.sources else step.opcode
        operation = next((w for w in step.opcode.split(".") if w in ("and", "or", "popc")), "")
        counting = next(iter(self.projections.values())).counting.get(step.number, set(letters))
        counted = "" if count_of(step) is None else " ".join(sorted(counting))
        return " ".join(sorted(ids)) or named, letters, f"{operation} {counted}"

    def _after(self, places: frozenset[Place], held: frozenset[int], ways: Ways) -> Iterator[State]:
        """What follows, for each way that all threads may go together."""
        steps = {place: self._step(place) for place in places}
        branches = {start: s for (start, _), s in steps.items() if s.is_branch}
        if not branches:
            yield self._after_meeting(steps, held, ways)
        elif len(places) == 1:
            ((start, _),) = places
            for target in dict.fromkeys(self.fused.successors(start)):
                if target != END:
                    yield self._next([(target, 0)], held, ways)
        elif alike := self._alike(branches, rest=len(branches) < len(places)):
            (letter, number, _), *_ = alike.values()
            others = [place for place in places if place[0] not in alike]
            for side in (True, False):
                targets = [(self._side(start, side == same), 0) for start, (_, _, same) in alike.items()]
                yield self._next(targets + others, held, ways | {(letter, number, side)} if others else ways)
        else:
            raise self._elsewhere([*steps.values()])

    def _after_meeting(self, steps: Mapping[Place, Step], held: frozenset[int], ways: Ways) -> State:
        labels = {self._label(s): s for s in steps.values()}
        if len(labels) > 1:
            raise self._elsewhere([*labels.values()])
        step = next(iter(labels.values()))
        if is_barrier(step):
            self.beside.add(frozenset(s.number for s in steps.values()))
            held, ways = frozenset(), frozenset(w for w in ways if not self.projections[w[0]].own(step.number))
        return self._next([(start, position + 1) for start, position in steps], held, ways)

    def _elsewhere(self, steps: Sequence[Step]) -> NotProved:
        """Why threads at these places may not go on together."""
        first, second, *_ = sorted(steps, key=lambda s: s.number)
        at, others = f"`{second.statement}`", f"the one in line {first.line}"
        if first.is_branch and not second.is_branch:
            others = f"the branch in line {first.line}"
        elif second.is_branch:
            at, others = "this branch", f"`{first.statement}` in line {first.line}"
        return NotProved(second.line, f"some threads of a CTA may be at {at} while others are at {others}")

    def _alike(self, branches: Mapping[int, Step], rest: bool) -> dict[int, tuple[str, int, bool]]:
        """Copies of one branch of a kernel, which all threads take alike, or branches by one result of a barrier; these
        are all, and there is no `rest` of threads elsewhere."""
        known = {start: found for start in branches if (found := self._of_kernel(start))}
        if known:
            which = min((letter, number) for letter, number, _ in known.values())
            return {start: found for start, found in known.items() if found[:2] == which}
        known = {start: found for start in branches if (found := self._by_barrier(start))}
        if rest or len(known) < len(branches) or len({min(self._copies(n)) for _, n, _ in known.values()}) > 1:
            return {}
        self.shared |= {(branches[start].number, n) for start, (_, n, _) in known.items()}
        return known

    def _by_barrier(self, start: int) -> tuple[str, int, bool] | None:
        """The barrier whose result decides a branch, and whether it is taken where that holds: the last time that the
        thread came to the barrier, since values of an earlier trip of a loop have other names."""
        projection = next(iter(self.projections.values()))
        last, formulas, terms = self.fused.steps[self.fused.blocks[start][-1]], projection.formulas, projection.terms
        test = projection.outer.guard(projection.ends[start][0], last) if start in projection.ends else TRUE
        (variable, *others) = formulas.support(test) or (LAST,)
        found = None if others or variable == LAST else _RESULT.fullmatch(terms[variable].head)
        barrier = self.fused.steps[int(found[1])] if found else None
        if barrier is None or not barrier.facts.reduces or barrier.guard or not self._is_met(barrier):
            return None
        return "", barrier.number, test == formulas.variable(variable)

    def _of_kernel(self, start: int) -> tuple[str, int, bool] | None:
        """The kernel and its branch that a block ends in, and whether both go the same way, if all threads take that
        branch alike in the kernel. Threads that are at a branch, or at copies of it, have passed as many barriers of
        the kernel; so they are at it for the same time if the kernel passes a barrier before it is there again."""
        last = self.fused.steps[self.fused.blocks[start][-1]]
        for letter, projection in self.projections.items():
            if last.number in projection.polarity:
                number, same = projection.polarity[last.number]
                kernel = projection.kernel
                block = kernel.block_of[number]
                if block not in varying_branches(kernel, Scope.CTA) and _passes_a_barrier(kernel, block):
                    return letter, number, same
        return None

    def _side(self, start: int, taken: bool) -> int:
        step = self.fused.steps[self.fused.blocks[start][-1]]
        return self.fused.following(step)[0 if taken else -1]


def _by_thread(kernel: Program) -> frozenset[int]:
    """The blocks that end in a branch which threads may take differently, though all find the same in memory."""
    return varying_branches(kernel, Scope.CTA, steady=True)


def stands_for_plain(step: Step, projections: Mapping[str, Projection]) -> bool:
    """Whether it is a plain barrier, or one that counts the threads of a kernel where that has a plain barrier, or
    none: then it was added."""
    own = [(p.kernel, n) for p in projections.values() for n in p.own(step.number)]
    return is_plain(step) or all(is_plain(kernel.steps[n]) for kernel, n in own)


def _passes_a_barrier(kernel: Program, block: int) -> bool:
    """Whether every way from a block of the kernel back to it passes a barrier."""
    waiting = {kernel.block_of[s.number] for s in kernel.steps if is_plain_barrier(s)}

    def following(b: int) -> tuple[int, ...]:
        return () if b in waiting else kernel.successors(b)

    return block in waiting or not any(t != END and block in kernel.reached(t, following) for t in following(block))
