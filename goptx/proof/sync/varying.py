"""Which branches of the fused kernel all threads of a warp, or of a CTA, decide alike.

A value varies if it comes from the thread's place, from memory, or from a value that varies; so does what is written
between a branch that varies and the point where its sides meet. Everything else is the same for all threads that are
there together. The rules are coarser than a compiler's: what is not known varies.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache

from goptx.proof.code.kernel_code import CARRY, END, Program, Source, Step
from goptx.proof.sync.unaided import joins
from goptx.ptx.opcodes import Scope

_SAME_EVERYWHERE = frozenset(
    """%ctaid %ntid %nctaid %nwarpid %gridid %clusterid %nclusterid %nsmid %cluster_ctaid %cluster_nctaid
    %cluster_ctarank %cluster_nctarank %is_explicit_cluster %dynamic_smem_size %total_smem_size
    %aggr_smem_size""".split()
)
_WORDS = ("u32", "s32", "u64", "s64")  # as which lanes' numbers are compared; a multiple of 32 wraps to one
_BELOW, _ABOVE = ("lt", "ge", "lo", "hs"), ("gt", "le", "hi", "ls")
_ADDING = {f"{name}.{type}" for name in ("add", "sub") for type in _WORDS}


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


@dataclass
class _Held:
    """What registers hold at a point: `varying` may differ between threads; of these, `lanes` are a multiple of 32 that
    is one for the warp, and the lane's number. `multiples` are multiples of 32 that are one for the warp."""

    varying: set[str]
    lanes: set[str]
    multiples: set[str]

    def joins(self, other: _Held) -> bool:
        """Whether these are changed by what registers hold on another edge."""
        before = len(self.varying), len(self.lanes), len(self.multiples)
        self.varying |= other.varying
        self.lanes &= other.lanes
        self.multiples &= other.multiples
        return before != (len(self.varying), len(self.lanes), len(self.multiples))

    def without(self, names: Collection[str]) -> _Held:
        """Where threads come together that may hold different values in these registers."""
        return _Held(self.varying.union(names), self.lanes.difference(names), self.multiples.difference(names))

    def execute(self, program: Program, step: Step, scope: Scope, steady: bool) -> None:
        written, whole = _writes(step), scope == Scope.WARP and not step.guard
        lanes = whole and (step.number in program.of_warp.lanes or self._adds(step, self.lanes))
        multiples = whole and (step.number in program.of_warp.multiples or self._adds(step, self.multiples))
        if not self._compares_lanes(step, whole) and _depends(program, step, self.varying, scope, steady):
            self.varying.update(written)
        elif not step.guard:
            self.varying.difference_update(written)
        for holds, names in ((lanes, self.lanes), (multiples, self.multiples)):
            (names.update if holds else names.difference_update)(written)

    def _adds(self, step: Step, names: set[str]) -> bool:
        """Whether a step adds a multiple of 32 to one of these registers."""
        if step.opcode not in _ADDING:
            return False
        first, second = step.sources
        return (self._is_in(first, names) and self._is_multiple(second)) or (
            "add" in step.opcode and self._is_in(second, names) and self._is_multiple(first)
        )

    def _compares_lanes(self, step: Step, whole: bool) -> bool:
        """Whether a step asks if a lane's number and a multiple of 32 are below another one."""
        words = step.opcode.split(".")
        if not whole or words[0] != "setp" or len(words) != 3 or len(step.sources) != 2 or words[2] not in _WORDS:
            return False
        first, second = step.sources
        if words[1] in _BELOW:
            return self._is_in(first, self.lanes) and self._is_multiple(second)
        return words[1] in _ABOVE and self._is_in(second, self.lanes) and self._is_multiple(first)

    def _is_multiple(self, source: Source) -> bool:
        constant = not source.names and source.text.removeprefix("-").isdigit()
        return int(source.text) % 32 == 0 if constant else self._is_in(source, self.multiples)

    @staticmethod
    def _is_in(source: Source, names: set[str]) -> bool:
        return source.text == "{}" and not source.negated and source.names[0] in names


def _varying_at_ends(
    program: Program, scope: Scope, branches: set[int], steady: bool, guarded: set[int] | None = None
) -> dict[int, set[str]]:
    """For each block the registers that vary when it ends. `guarded` gets the steps whose guards vary."""
    at_meeting: dict[int, set[str]] = {}
    for branch in branches:
        for starts, region in joins(program, branch):
            written = {w for start in region for n in program.blocks[start] for w in _writes(program.steps[n])}
            for start in starts:
                at_meeting.setdefault(start, set()).update(written)
    before = {0: _Held(set(program.live[0]), set(), set())}  # what was never written may be anything
    after: dict[int, set[str]] = {}
    waiting = [0]
    while waiting:
        start = waiting.pop()
        now = before[start].without(at_meeting.get(start, ()))
        for number in program.blocks[start]:
            step = program.steps[number]
            if guarded is not None and step.guard in now.varying:
                guarded.add(number)
            now.execute(program, step, scope, steady)
        after[start] = now.varying
        for target in program.successors(start):
            if target == END:
                continue
            if target not in before:
                before[target] = now.without(())
            elif not before[target].joins(now):
                continue
            waiting.append(target)
    return after


def _writes(step: Step) -> tuple[str, ...]:
    return (*step.writes, CARRY) if step.facts.sets_carry else step.writes


def _depends(program: Program, step: Step, varying: set[str] | frozenset[str], scope: Scope, steady: bool) -> bool:
    """Whether what a step writes, or where it goes, may vary."""
    facts, row = step.facts, step.facts.row
    if step.guard in varying:
        return True
    if scope == Scope.WARP and step.number in program.of_warp.uniform:
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
        constant = facts.read_only or (steady and row.access == "l" and facts.base == "ld")
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
