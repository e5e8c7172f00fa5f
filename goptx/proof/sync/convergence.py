"""Whether instructions that threads of a warp execute together are executed in the fused kernel by those threads that
execute them together in their kernel.

Where threads of a warp may diverge, an instruction of the kernel may stand on one side only: then those that take this
side are the ones that come to it in the kernel. Threads whose kernel has ended come along, or the instruction's lane
mask does not name them.

Requires: the projection of the kernel has been proved.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from goptx.proof.code.kernel_code import END, NotProved, Program, Step
from goptx.proof.formulas import FALSE, TRUE
from goptx.proof.lanes.lane_states import Case
from goptx.proof.projection import Projection
from goptx.proof.sync.unaided import common_region, common_side, leaves
from goptx.proof.sync.varying import varying_branches, varying_steps
from goptx.proof.sync.waits import is_aligned, is_barrier, is_counted
from goptx.ptx.ir import Instruction
from goptx.ptx.opcodes import Scope


def diverging_branches(projections: Iterable[Projection]) -> frozenset[int]:
    """The blocks of the fused kernel that end in a branch which lanes of a warp may take differently."""
    together = set()
    for projection in projections:
        together |= {projection.fused.block_of[n] for n in _taken_together(projection)}
    return varying_branches(projection.fused, Scope.WARP, frozenset(together))


def _taken_together(projection: Projection) -> frozenset[int]:
    """The branches of the fused kernel that are such ones of the kernel as lanes of a warp take together."""
    joint = _joint_branches(projection.kernel) if projection.joint else ()
    return frozenset(n for n, (own, _) in projection.polarity.items() if own in joint)


def settle_joint_branches(projections: Sequence[Projection]) -> None:
    """Rests on branches that lanes take together only in those kernels whose barriers stand where that needs them."""
    for projection in projections:
        if _taken_together(projection):
            try:
                check_convergence(projection, diverging_branches(projections))
            except NotProved:
                projection.joint = False
                settle_joint_branches(projections)
                return


@lru_cache(maxsize=16)
def _joint_branches(kernel: Program) -> frozenset[int]:
    """The kernel's branches whose sides come to different aligned barriers first, and not to the end: the lanes of a
    warp execute such a barrier together, so they take the branch together."""
    found = set()
    for start in kernel.order:
        nexts = [_next_aligned(kernel, t) for t in set(kernel.successors(start))]
        if len(nexts) == 2 and END not in nexts[0] | nexts[1] and nexts[0].isdisjoint(nexts[1]):
            found.add(kernel.blocks[start][-1])
    return frozenset(found)


def _next_aligned(kernel: Program, start: int) -> frozenset[int]:
    """The aligned barriers of the CTA that may be next from the beginning of a block, `END` if there may be none."""
    found, seen, waiting = set[int](), set[int](), [start]
    while waiting:
        start = waiting.pop()
        if start in seen or start == END:
            found |= {start} & {END}
            continue
        seen.add(start)
        for step in map(kernel.steps.__getitem__, kernel.blocks[start]):
            if is_aligned(step):
                found.add(step.number)
                if not step.guard:
                    break
        else:
            waiting += kernel.successors(start)
    return frozenset(found)


def check_convergence(projection: Projection, diverging: frozenset[int]) -> int:
    """How many instructions were looked at. Raises `NotProved`."""
    fused = projection.fused
    steps = [s for s in fused.steps if s.number not in projection.foreign]
    own = [s for s in steps if s.number in projection.matched]
    counted = [s for s in own if any(is_counted(projection.kernel.steps[n]) for n in projection.matched[s.number])]
    other = [s for s in steps if s.number not in projection.matched]  # claims are of no account where no lane comes
    added = [s for s in other if s.facts.row.scope == Scope.WARP or (s.facts.row.scope and s.facts.aligned)]
    if projection.comers:  # then all lanes of a warp come to each of these, so that they have come to as many
        added += counted
    joint = list[Step]()
    if _taken_together(projection):  # the same
        joint = [s for s in own if any(is_aligned(projection.kernel.steps[n]) for n in projection.matched[s.number])]
    for step in (s for s in fused.steps if s.facts.calls and s.guard):
        promised = isinstance(step.statement, Instruction) and "uni" in step.statement.opcode.split(".")
        if promised and step.number in varying_steps(fused, Scope.WARP):
            raise NotProved(step.line, f"`{step.statement}` has a guard, which may differ between lanes")
    whole = [s for s in own if is_aligned(s)]
    for step in dict.fromkeys((*whole, *counted)):
        _check_guard(projection, step)
    together = [s for s in own if s.facts.row.scope in (Scope.WARP, Scope.WARPGROUP)]
    for branch in sorted(diverging):
        last, region = fused.steps[fused.blocks[branch][-1]], common_region(fused, branch)
        same = projection.polarity.get(last.number)  # a branch that all lanes take as the kernel's branch
        mine = same[:1] if same else ()
        here = () if _go_one_way(projection, branch, last) else joint
        sides = region if "uni" in last.facts.modifiers else fused.region(branch)  # that is checked below
        for step in (*added, *(() if mine else whole), *here):
            if fused.block_of[step.number] in (sides if _is_of_warp(step) else region):
                what = f"not all lanes of a warp may come to `{step.statement}`, by the branch in line {last.line}"
                raise NotProved(step.line, what)
        promised = last.number in projection.promised
        promised |= any("uni" in projection.kernel.steps[n].facts.modifiers for n in mine)
        if "uni" in last.facts.modifiers and not promised and last.number not in projection.foreign:
            what = f"`{last.statement}` says that all lanes of a warp go one way, which is not proved"
            raise NotProved(last.line, what)
        _check_sides(projection, branch, last, together)
        _check_counted(projection, branch, last, counted)
    return len(together)


def check_warpgroups(projection: Projection) -> None:
    """That what threads of a warpgroup execute together stands on one side of branches that they may take differently.
    Raises `NotProved`."""
    fused = projection.fused
    steps = [fused.steps[n] for n in projection.matched if fused.steps[n].facts.row.scope == Scope.WARPGROUP]
    for branch in sorted(varying_branches(fused, Scope.WARPGROUP)) if steps else ():
        _check_sides(projection, branch, fused.steps[fused.blocks[branch][-1]], steps)


def _is_of_warp(step: Step) -> bool:
    """Whether it is a barrier of the warp, of which the manual does not say that it goes on when lanes have ended."""
    return step.facts.base == "bar" and "warp" in step.opcode.split(".")


def _check_guard(projection: Projection, step: Step) -> None:
    """That the lanes of a warp come to a barrier together, or as they do in the kernel. A barrier that is not aligned
    waits for those that do not come until they end."""
    fused, kernel = projection.fused, projection.kernel
    cases = projection.ends[fused.block_of[step.number]][1]
    if is_aligned(step):
        ended = any(c.place == END and step.number not in c.done for c in cases)
    else:
        ended = any(_may_end(projection, c.place) for c in cases if not _comes_to_barrier(fused, step, c))
    own = all(kernel.steps[n].guard for n in projection.matched[step.number]) and not ended
    if step.number in varying_steps(fused, Scope.WARP) and not own:
        raise NotProved(step.line, f"not all lanes of a warp may execute `{step.statement}`, which waits for them")


def _comes_to_barrier(fused: Program, step: Step, case: Case) -> bool:
    """Whether lanes of a case come to another barrier of their kernel in the block, after that step."""
    return any(n > step.number and is_barrier(fused.steps[n]) for n in case.order)


def _may_end(projection: Projection, place: int) -> bool:
    """Whether a lane of the kernel may come to the end before a barrier."""
    kernel = projection.kernel
    ends = {s.number for s in kernel.steps if END in kernel.following(s)}
    barriers = {s.number for s in kernel.steps if is_barrier(s) and not s.guard}
    return place == END or kernel.comes_to(place, ends, barriers)


def _check_counted(projection: Projection, branch: int, last: Step, counted: list[Step]) -> None:
    """That lanes at a barrier with a count do not wait for others of their warp which the branch leads elsewhere: in
    the kernel it waits for these until they end, and they go on where that has ended."""
    fused = projection.fused
    sides = {t: common_side(fused, branch, t) for t in fused.successors(branch)}
    for step in (s for s in counted if not _is_around(projection, last, s)):
        for target, places in projection.taken[branch].items():
            others = frozenset().union(*(its for t, its in sides.items() if t != target))
            stays = not leaves(fused, branch, target)
            if stays and fused.block_of[step.number] in others and any(_may_end(projection, p) for p in places):
                what = f"which the branch in line {last.line} leads elsewhere, and whose kernel may end"
                raise NotProved(step.line, f"`{step.statement}` may wait for a lane of its warp {what}")


def _is_around(projection: Projection, last: Step, step: Step) -> bool:
    """Whether the branch is one of the kernel around aligned barriers, and its sides meet before the end: all lanes of
    a warp take such a branch alike."""
    kernel = projection.kernel
    block = kernel.block_of[projection.polarity[last.number][0]] if last.number in projection.polarity else END
    if block == END or _only_ends(kernel, kernel.meeting_points[block]):
        return False
    own = [kernel.steps[n] for n in projection.matched[step.number]]
    return all(is_aligned(s) and kernel.block_of[s.number] in kernel.region(block) for s in own)


def _only_ends(kernel: Program, block: int) -> bool:
    """Whether a lane does nothing more from a block on."""
    after = kernel.reached(block, kernel.successors) if block != END else ()
    return not any(kernel.is_effect(kernel.steps[n]) for b in after for n in kernel.blocks[b])


def _check_sides(projection: Projection, branch: int, last: Step, together: list[Step]) -> None:
    """That what threads execute together stands on one side of a branch only."""
    fused = projection.fused
    sides = [common_side(fused, branch, target) for target in dict.fromkeys(fused.successors(branch))]
    for step in together:
        copies = {
            fused.block_of[s.number] for s in together if projection.matched[s.number] & projection.matched[step.number]
        }
        on = [side for side in sides if not side.isdisjoint(copies)]
        if not any(fused.block_of[step.number] in side for side in sides):
            continue
        if len(on) > 1:
            what = f"stands on several sides of the branch in line {last.line}"
            raise NotProved(step.line, f"`{step.statement}` {what}, which threads of a warp may take differently")
        if not _is_on_a_side(projection, branch, last, step):
            what = f"stands on a side of the branch in line {last.line}, and not of one in its kernel"
            raise NotProved(step.line, f"`{step.statement}` {what}")
        _check_ended(projection, branch, last, step)


def _is_on_a_side(projection: Projection, branch: int, last: Step, step: Step) -> bool:
    """Whether the branch is one in the kernel, too, for lanes whose kernel has not ended, with the step on one of its
    sides; or all of them go one way."""
    kernel = projection.kernel
    if _go_one_way(projection, branch, last):
        return True
    own = projection.divided.get(last.number)
    region = kernel.region(kernel.block_of[own]) if own is not None else ()
    return all(kernel.block_of[n] in region for n in projection.matched[step.number])


def _go_one_way(projection: Projection, branch: int, last: Step) -> bool:
    """Whether all lanes whose kernel has not ended go one way."""
    registers, cases = projection.ends[branch]
    test = projection.outer.guard(registers, last)
    found = {projection.terms.formula_under(test, c.given) for c in cases if c.place != END}
    return bool(last.guard) and found in ({TRUE}, {FALSE}, set())


def _check_ended(projection: Projection, branch: int, last: Step, step: Step) -> None:
    """That a thread whose kernel has ended by the branch is not waited for, if it may take another side."""
    registers, _ = projection.ends[branch]
    given = projection.ended[branch]
    if given == FALSE or step.facts.row.mask is None:  # without a mask, the kernel needs all threads of the warp
        return
    values = (v for r, v in registers.items() if not projection.fused.is_predicate(r))
    if not any(_leaves_out(projection, v, projection.ballots.get(step.number, set()), given) for v in values):
        what = f"may wait for a thread whose kernel has ended, which the branch in line {last.line} leads elsewhere"
        raise NotProved(step.line, f"`{step.statement}` {what}")


def _leaves_out(projection: Projection, value: int, ballots: set[str], given: int) -> bool:
    """Whether the value is a ballot that the instruction's mask is cut by, and a thread there has no bit in it."""
    terms = projection.terms
    return all(
        terms[found].head in ballots and terms.formula_under(terms[found].formula, here) == FALSE
        for found, here in terms.outcomes(value, given)
    )
