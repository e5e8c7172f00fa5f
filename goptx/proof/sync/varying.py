"""Which branches of the fused kernel all threads of a warp, or of a CTA, decide alike.

A value varies if it comes from the thread's place, from memory, or from a value that varies; so does what is written
between a branch that varies and the point where its sides meet. Everything else is the same for all threads that are
there together. The rules are coarser than a compiler's: what is not known varies.
"""

from __future__ import annotations

from functools import lru_cache

from goptx.proof.kernel_code import CARRY, END, Program, Step
from goptx.proof.sync.unaided import joins
from goptx.ptx.opcodes import Scope

_SAME_EVERYWHERE = frozenset(
    """%ctaid %ntid %nctaid %nwarpid %gridid %clusterid %nclusterid %nsmid %cluster_ctaid %cluster_nctaid
    %cluster_ctarank %cluster_nctarank %is_explicit_cluster %dynamic_smem_size %total_smem_size
    %aggr_smem_size""".split()
)


@lru_cache(maxsize=16)
def varying_branches(
    program: Program, scope: Scope, together: frozenset[int] = frozenset(), steady: bool = False
) -> frozenset[int]:
    """The blocks that end in a branch which threads of a warp (`Scope.WARP`) or of a CTA may take differently, without
    those that they take `together` for another reason. `steady`: where a load finds one value for all of them."""
    found: set[int] = set()
    while True:
        varying = _varying_at_ends(program, scope, found, steady)
        more = {
            start
            for start, names in varying.items()
            if len(set(program.successors(start))) > 1
            and start not in together
            and _depends(program, program.steps[program.blocks[start][-1]], names, scope, steady)
        }
        if more <= found:
            return frozenset(found)
        found |= more


@lru_cache(maxsize=16)
def varying_steps(program: Program, scope: Scope, together: frozenset[int] = frozenset()) -> frozenset[int]:
    """The steps whose guards may differ between threads."""
    found = set[int]()
    _varying_at_ends(program, scope, set(varying_branches(program, scope, together)), False, found)
    return frozenset(found)


def _varying_at_ends(
    program: Program, scope: Scope, branches: set[int], steady: bool, guarded: set[int] | None = None
) -> dict[int, frozenset[str]]:
    """For each block the registers that vary when it ends. `guarded` gets the steps whose guards vary."""
    at_meeting: dict[int, set[str]] = {}
    for branch in branches:
        for starts, region in joins(program, branch):
            written = {w for start in region for n in program.blocks[start] for w in _writes(program.steps[n])}
            for start in starts:
                at_meeting.setdefault(start, set()).update(written)
    before: dict[int, frozenset[str]] = {0: program.live[0]}  # what was never written may be anything
    after: dict[int, frozenset[str]] = {}
    waiting = [0]
    while waiting:
        start = waiting.pop()
        names = set(before[start]) | at_meeting.get(start, set())
        for number in program.blocks[start]:
            step = program.steps[number]
            if guarded is not None and step.guard in names:
                guarded.add(number)
            if _depends(program, step, names, scope, steady):
                names.update(_writes(step))
            elif not step.guard:
                names.difference_update(_writes(step))
        now = frozenset(names)
        if after.get(start) == now:
            continue
        after[start] = now
        for target in program.successors(start):
            if target != END and (target not in before or not names <= before[target]):
                before[target] = before.get(target, frozenset()) | names
                waiting.append(target)
            elif target != END and target not in after:
                waiting.append(target)
    return after


def _writes(step: Step) -> tuple[str, ...]:
    return (*step.writes, CARRY) if step.facts.sets_carry else step.writes


def _depends(program: Program, step: Step, varying: set[str] | frozenset[str], scope: Scope, steady: bool) -> bool:
    """Whether what a step writes, or where it goes, may vary."""
    facts, row = step.facts, step.facts.row
    if step.guard in varying:
        return True
    if scope == Scope.WARP and step.number in program.uniform:
        return False
    if row.scope >= Scope.CTA:  # a reduction over all threads that come to the barrier
        return any(n in varying or _is_of_thread(program, n) for s in step.sources[:-1] for n in s.names)
    if row.scope == Scope.WARP and facts.base in ("vote", "redux"):
        lanes = step.sources[-1].names  # lanes may be in groups of their own
        return scope > Scope.WARP or any(n in varying or _is_of_thread(program, n) for n in lanes)
    if facts.base == "shfl" and _reads_one_lane(step):
        lanes = (*step.sources[1].names, *step.sources[3].names)
        return scope > Scope.WARP or any(n in varying or _is_of_thread(program, n) for n in lanes)
    if program.is_effect(step):
        constant = (facts.read_only and scope == Scope.WARP) or (steady and row.access == "l" and facts.base == "ld")
        return not constant or any(n in varying or _is_of_thread(program, n) for s in step.sources for n in s.names)
    return any(n in varying or _is_of_thread(program, n) for s in step.sources for n in s.names) or (
        (facts.uses_carry and CARRY in varying) or (row.updates and any(w in varying for w in step.writes))
    )


def _reads_one_lane(step: Step) -> bool:
    """Whether lanes that name one lane all read that one: it is of the whole warp, not of a part of it."""
    return {"sync", "idx"} <= {*step.facts.modifiers} and step.sources[2].text == "31"


def _is_of_thread(program: Program, name: str) -> bool:
    """Whether it is a special register that may differ between threads."""
    return name.startswith("%") and program.type_of(name) is None and not is_same_everywhere(name)


def is_same_everywhere(name: str) -> bool:
    """Whether it is a special register that has one value for all threads of a CTA."""
    return name.partition(".")[0] in _SAME_EVERYWHERE
