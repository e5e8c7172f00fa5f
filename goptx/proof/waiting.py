"""Whether all threads of a CTA pass the fused kernel's barriers in one order, so that nobody waits for a thread that
waits for somebody else.

Threads that may be in different places are followed together, as a set of places: they are at the same barrier, or they
part at branches that all threads of the CTA take alike. A branch of a kernel around a barrier of that kernel must be
taken alike by all threads for the kernel's own sake: that is presumed, and the certificate names it.

Requires: the projections have been proved.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from goptx.proof.kernel_code import END, NotProved, Program, Step
from goptx.proof.projection import Projection
from goptx.proof.varying import varying_branches
from goptx.ptx.opcodes import Scope

MOST_SETS = 4096
Place = tuple[int, int]  # a block, and the position of a step in it
Label = tuple[str, str, bool]  # of a barrier: its id, the kernels that wait there, whether it is a reduction


@dataclass
class Waits:
    """What was found: how many barriers, and what is presumed of them."""

    barriers: int = 0
    presumed: list[str] = field(default_factory=list)


def is_barrier(step: Step) -> bool:
    """Whether threads of the CTA, or of more, wait there or arrive."""
    return step.facts.row.scope >= Scope.CTA


def is_plain(step: Step) -> bool:
    """Whether all threads of the CTA come to the barrier and wait."""
    words = step.opcode.split(".")
    count = len(step.sources) - (1 if "red" in words else 0)
    return step.facts.base in ("bar", "barrier") and "arrive" not in words and "cluster" not in words and count == 1


def other_waits(program: Program) -> list[Step]:
    """Steps by which threads wait other than at a plain barrier of the CTA or with their warp: loops among them that
    end when another thread has written something."""
    found = []
    for step in program.steps:
        row = step.facts.row
        blocks = (row.blocking or row.releases) and row.scope != Scope.WARP
        if blocks and not (is_barrier(step) and is_plain(step)):
            found.append(step)
    for loop in program.loops.values():
        steps = [program.steps[n] for start in loop for n in program.blocks[start]]
        asking = [s for s in steps if s.facts.is_strong_read or s.facts.bypasses_l1]
        if asking and _decides(program, asking, steps, loop):
            found.append(asking[0])
    return found


def _decides(program: Program, asking: Sequence[Step], steps: Sequence[Step], loop: frozenset[int]) -> bool:
    """Whether the end of a loop may depend on what these steps read."""
    names = {w for s in asking for w in s.writes}
    in_memory = False
    while True:
        before = len(names), in_memory
        for step in steps:
            if not program.reads(step).isdisjoint(names) or (in_memory and step.facts.loads):
                names.update(step.writes)
                in_memory |= "s" in step.facts.row.access
                if step.is_branch:
                    region = program.region(program.block_of[step.number]) & loop
                    inside = [program.steps[n] for start in region for n in program.blocks[start]]
                    names.update(w for s in inside for w in s.writes)
                    in_memory |= any("s" in s.facts.row.access for s in inside)
        if before == (len(names), in_memory):
            break
    leaving = [
        s
        for s in steps
        if s.is_branch and any(t == END or program.block_of[t] not in loop for t in program.following(s))
    ]
    return any(not program.reads(s).isdisjoint(names) for s in leaving)


def check_waiting(fused: Program, projections: Mapping[str, Projection]) -> Waits:
    """Raises `NotProved`."""
    inside = (fused.steps[n] for start in fused.order for n in fused.blocks[start])
    barriers = [step for step in inside if is_barrier(step)]
    own = {letter: [s for s in barriers if s.number in p.matched] for letter, p in projections.items()}
    added = [s for s in barriers if not any(s in its for its in own.values())]
    waiting = {letter: other_waits(p.kernel) for letter, p in projections.items()}
    for letter, steps in waiting.items():
        others = [s for other, its in own.items() if other != letter for s in its]
        others += [*added, *(s for other, its in waiting.items() if other != letter for s in its)]
        if steps and others:
            raise NotProved(
                others[0].line,
                f"kernel {letter} waits by `{steps[0].statement}` in line {steps[0].line}; another kernel waits, too",
            )
    _check_ids(projections, own, added)
    found = Waits(len(barriers))
    if barriers and not any(waiting.values()):
        for step in barriers:
            if step.guard:
                raise NotProved(step.line, f"`{step.statement}` is guarded, so some threads may not come to it")
        _Order(fused, projections, own, found).check()
    return found


@dataclass
class _Order:
    """Follows sets of places from barrier to barrier."""

    fused: Program
    projections: Mapping[str, Projection]
    own: Mapping[str, Sequence[Step]]
    found: Waits

    def check(self) -> None:
        waiting = [self._next([(0, 0)])]
        seen = set(waiting)
        while waiting:
            places = waiting.pop()
            if len(seen) > MOST_SETS:
                raise NotProved(self.fused.steps[0].line, "too many sets of places to follow the barriers")
            for following in self._after(places):
                after = self._next(following)
                if after and after not in seen:
                    seen.add(after)
                    waiting.append(after)

    def _next(self, places: Sequence[Place]) -> frozenset[Place]:
        """The barriers, and branches that all threads take alike, that are next."""
        found, seen, waiting = set[Place](), set[Place](), list(places)
        while waiting:
            start, position = waiting.pop()
            if (start, position) in seen:
                continue
            seen.add((start, position))
            block = self.fused.blocks[start]
            for number in block[position:]:
                step = self.fused.steps[number]
                if is_barrier(step) or (step.is_branch and start in self._deciding):
                    found.add((start, number - block[0]))
                    break
            else:
                waiting += [(t, 0) for t in self.fused.successors(start) if t != END]
        return frozenset(found)

    @cached_property
    def _varying(self) -> frozenset[int]:
        return varying_branches(self.fused, Scope.CTA)

    @cached_property
    def _labels(self) -> dict[int, frozenset[Label | None]]:
        """Of each block the barriers that are next from its beginning, None for the end."""
        found: dict[int, frozenset[Label | None]] = dict.fromkeys(self.fused.order, frozenset())
        changed = True
        while changed:
            changed = False
            for start in reversed(self.fused.order):
                first = next((s for s in self._steps(start) if is_barrier(s)), None)
                now = frozenset([self._label(first)]) if first else self._joined(found, start)
                if now != found[start]:
                    found[start], changed = now, True
        return found

    def _joined(self, labels: Mapping[int, frozenset[Label | None]], start: int) -> frozenset[Label | None]:
        ends = self.fused.successors(start)
        return frozenset().union(*(frozenset([None]) if t == END else labels[t] for t in ends))

    @cached_property
    def _deciding(self) -> frozenset[int]:
        """The blocks that end in a branch which decides what barrier is next, and which all threads take alike."""
        found = set()
        for start in self.fused.order:
            ends = set(self.fused.successors(start))
            differ = len({frozenset([None]) if t == END else self._labels[t] for t in ends}) > 1
            if differ and (start not in self._varying or self._of_kernel(start) or self._is_presumed(start)):
                found.add(start)
        return frozenset(found)

    def _is_presumed(self, start: int) -> bool:
        """Whether the branch is a kernel's own, around that kernel's barriers and no others."""
        last = self.fused.steps[self.fused.blocks[start][-1]]
        region = self.fused.region(start)
        inside = [s for b in region for s in self._steps(b) if is_barrier(s)]
        for letter, projection in self.projections.items():
            if last.number in projection.branches and inside and all(s in self.own[letter] for s in inside):
                kernel = projection.kernel
                own = [
                    n
                    for n in projection.branches[last.number]
                    if kernel.block_of[n] in varying_branches(kernel, Scope.CTA)
                ]
                numbers = [n for s in inside for n in projection.matched[s.number]]
                if any(kernel.block_of[n] in kernel.region(kernel.block_of[b]) for b in own for n in numbers):
                    self.found.presumed.append(
                        f"all threads of a CTA take the branch in line {last.line} alike: barriers of {letter} need it"
                    )
                    return True
        return False

    def _steps(self, start: int) -> Iterator[Step]:
        return (self.fused.steps[n] for n in self.fused.blocks[start])

    def _label(self, step: Step) -> Label:
        letters = "".join(letter for letter, its in self.own.items() if step in its)
        return _id(step), letters, "red" in step.opcode.split(".")

    def _after(self, places: frozenset[Place]) -> Iterator[list[Place]]:
        """What follows, for each way that all threads may go together."""
        steps = {place: self.fused.steps[self.fused.blocks[place[0]][place[1]]] for place in places}
        branches = [s for s in steps.values() if s.is_branch]
        if not branches:
            labels = {self._label(s): s for s in steps.values()}
            if len(labels) > 1:
                first, second, *_ = sorted(labels.values(), key=lambda s: s.number)
                raise NotProved(
                    second.line,
                    f"some threads of a CTA may be at `{second.statement}`, others at the one in line {first.line}",
                )
            yield [self._after_step(place) for place in places]
            return
        if len(places) == 1:
            ((start, _),) = places
            for target in dict.fromkeys(self.fused.successors(start)):
                if target != END:
                    yield [(target, 0)]
            return
        if len(branches) < len(places):
            step = next(s for s in steps.values() if not s.is_branch)
            raise NotProved(
                step.line,
                f"some threads of a CTA may be at `{step.statement}`, others at the branch in line {branches[0].line}",
            )
        yield from self._alike({place[0]: s for place, s in steps.items()})

    def _alike(self, branches: Mapping[int, Step]) -> Iterator[list[Place]]:
        """Copies of one branch of a kernel, which all threads take alike."""
        known = {start: self._of_kernel(start) for start in branches}
        if None not in known.values() and len({own[:2] for own in known.values() if own}) == 1:
            for side in (True, False):
                targets = (self._side(start, side == own[2]) for start, own in known.items() if own)
                yield [(target, 0) for target in targets if target != END]
            return
        first, second, *_ = branches.values()
        raise NotProved(
            second.line,
            f"some threads of a CTA may be at this branch while others are at the branch in line {first.line}",
        )

    def _of_kernel(self, start: int) -> tuple[str, int, bool] | None:
        """The kernel and its branch that a block ends in, and whether both go the same way, if all threads take that
        branch alike in the kernel. Threads that are at a branch, or at copies of it, have passed as many barriers of
        the kernel; so they are at it for the same time if the kernel passes a barrier before it is there again."""
        last = self.fused.steps[self.fused.blocks[start][-1]]
        for letter, projection in self.projections.items():
            number, same = projection.polarity.get(last.number, (END, None))
            if same is not None and not any(c.place == END for c in projection.ends[start][1]):
                kernel = projection.kernel
                block = kernel.block_of[number]
                if block not in varying_branches(kernel, Scope.CTA) and _passes_a_barrier(kernel, block):
                    return letter, number, same
        return None

    def _side(self, start: int, taken: bool) -> int:
        step = self.fused.steps[self.fused.blocks[start][-1]]
        return self.fused.following(step)[0 if taken else -1]

    def _after_step(self, place: Place) -> Place:
        return place[0], place[1] + 1


def _passes_a_barrier(kernel: Program, block: int) -> bool:
    """Whether every way from a block of the kernel back to it passes a barrier."""
    waiting = {kernel.block_of[s.number] for s in kernel.steps if is_barrier(s)}

    def following(b: int) -> tuple[int, ...]:
        return () if b in waiting else kernel.successors(b)

    return block in waiting or not any(t != END and block in kernel.reached(t, following) for t in following(block))


def _check_ids(projections: Mapping[str, Projection], own: Mapping[str, Sequence[Step]], added: Sequence[Step]) -> None:
    """That barriers of one kernel stay distinct as they are in it, and that kernels share only plain ones."""
    users: dict[str, set[tuple[str, bool]]] = {}
    for step in added:
        users.setdefault(_id(step), set()).add(("", True))
    for letter, steps in own.items():
        ids: dict[str, str] = {}
        for step in steps:
            number = min(projections[letter].matched[step.number])
            mine, new = (_id(s) for s in (projections[letter].kernel.steps[number], step))
            if ids.setdefault(new, mine) != mine:
                raise NotProved(
                    step.line, f"barrier {new} stands for the barriers {ids[new]} and {mine} of kernel {letter}"
                )
            users.setdefault(new, set()).add((letter, is_plain(step)))
    for name, its in users.items():
        if len({letter for letter, _ in its}) > 1 and not all(plain for _, plain in its):
            line = next(s.line for steps in own.values() for s in steps if _id(s) == name)
            raise NotProved(line, f"kernels share barrier {name}, which not all threads wait at")


def _id(step: Step) -> str:
    """The number of a barrier, as text."""
    position = step.facts.barrier_id - len(step.writes)
    return step.sources[max(position, 0)].text if step.sources else "0"
