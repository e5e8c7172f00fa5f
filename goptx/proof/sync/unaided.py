"""Where threads come to their end unaided, and where the others of a branch meet.

*Unaided* blocks are those from which threads come to their end whatever others do: nothing waits there, no instruction
is of several threads, and there is no loop. All other code is common: threads may wait there for each other, but not
for those that have left. A thread leaves only by a way on which it meets none of those that stay: an assembler may make
lanes of a warp wait where their ways meet, for all that were together before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache

from goptx.proof.code.kernel_code import END, Program, Step, nearest_of_all


@lru_cache(maxsize=16)
def unaided(program: Program) -> frozenset[int]:
    """The blocks from which threads come to their end unaided."""
    return _ending(program, lambda step: not concerns_others(step))


@lru_cache(maxsize=16)
def _returns(program: Program) -> frozenset[int]:
    """The blocks from which threads do nothing but to end."""
    return _ending(program, lambda step: step.is_branch)


def _ending(program: Program, passes: Callable[[Step], bool]) -> frozenset[int]:
    """The blocks from which each way leads to the end, past such steps only and through no loop."""
    found: set[int] = set()
    for start in reversed(program.order):  # the blocks after one come before it, but for loops
        steps = (program.steps[n] for n in program.blocks[start])
        if all(t == END or t in found for t in program.successors(start)) and all(map(passes, steps)):
            found.add(start)
    return frozenset(found)


def only_ends(program: Program, number: int) -> bool:
    """Whether threads do nothing after a step but to end."""
    block = program.blocks[program.block_of[number]]
    ends = all(t == END or t in _returns(program) for t in program.successors(block[0]))
    return ends and all(program.steps[n].is_branch for n in block if n > number)


@lru_cache(maxsize=1024)
def leaves(program: Program, branch: int, target: int) -> bool:
    """Whether threads that take this side of a branch come to their end unaided, and meet no others on their way."""
    if target == END or target in _returns(program):
        return True
    if target not in unaided(program):
        return False
    own = program.reached(target, program.successors)
    return own.isdisjoint(_of_others(program, branch, target) - _returns(program))


def _of_others(program: Program, branch: int, target: int) -> frozenset[int]:
    """The blocks to which threads may come that take another side of the branch, until they are at it again."""
    others = [t for t in program.successors(branch) if t not in (END, target)]
    return frozenset().union(
        *(program.reached(t, lambda b: () if b == branch else program.successors(b)) for t in others)
    )


def concerns_others(step: Step) -> bool:
    """Whether a thread may wait there for others, or executes it with them."""
    row = step.facts.row
    return bool(row.scope or row.blocking or step.facts.acts_on_mbarrier or step.facts.controls_grids)


@lru_cache(maxsize=16)
def _ways(program: Program) -> dict[int, list[int]]:
    """For each common block those that are next."""
    common = [b for b in program.order if b not in unaided(program)]
    return {b: [t for t in program.successors(b) if t in common] for b in common}


@lru_cache(maxsize=16)
def _meeting_points(program: Program) -> dict[int, int]:
    """For each common block the nearest one at which threads are together again that stay in such blocks. In a loop
    that they leave in no other way, they meet before it begins again."""
    ways = _ways(program)
    before = {b: [p for p in program.predecessors[b] if p in ways] for b in ways}
    rank = {start: i for i, start in enumerate(program.order)}
    last = set()  # the beginnings of loops that no way leads out of
    for head in {t for _, t in program.back_edges if t in ways}:
        after = program.reached(head, ways.__getitem__)
        if after <= program.reached(head, before.__getitem__) and rank[head] == min(rank[b] for b in after):
            last.add(head)
    again = {(b, t) for b, t in program.back_edges if t in last}
    found = nearest_of_all([*ways], lambda b: [END if (b, t) in again else t for t in ways[b]])
    return found | {b: its[0] for b, its in ways.items() if len(its) == 1}


def common_side(program: Program, branch: int, target: int) -> frozenset[int]:
    """The common blocks on one side of a branch, until those threads of the sides have met that stay in such blocks."""
    ways, meeting = _ways(program), _meeting_points(program).get(branch, END)
    if branch not in ways or target not in ways:
        return frozenset()
    awaiting = [t for t in program.successors(branch) if t not in ways and not leaves(program, branch, t)]
    if awaiting:  # in code in which the others meet them before they end
        return program.reached(target, lambda b: () if b == branch else ways[b])
    if target == meeting:
        return frozenset()
    return program.reached(target, lambda b: (t for t in ways[b] if t != meeting))


def common_region(program: Program, branch: int) -> frozenset[int]:
    """The blocks of all these sides of a branch."""
    return frozenset().union(*(common_side(program, branch, t) for t in program.successors(branch)))


def joins(program: Program, branch: int) -> Iterator[tuple[frozenset[int], frozenset[int]]]:
    """The blocks at which threads of several sides of a branch come together, with those on these sides: first the
    unaided ones, then the common ones. Sides may join before the point that all paths pass."""
    ends = dict.fromkeys(program.successors(branch))
    for of_unaided in (True, False):
        if of_unaided:
            sides, meeting = [program.side(branch, t) for t in ends], program.meeting_points[branch]
        else:
            sides, meeting = [common_side(program, branch, t) for t in ends], _meeting_points(program).get(branch, END)
        found = {b for i, its in enumerate(sides) for b in its if any(b in other for other in sides[:i])} | {meeting}
        yield frozenset(b for b in found if (b in unaided(program)) == of_unaided), frozenset().union(*sides)
