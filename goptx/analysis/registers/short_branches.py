"""Blocks as the assembler schedules them: it runs short sides of a branch under predicates, as part of what is around.

Requires: the operations of each block. Ensures: the same operations, in fewer and longer blocks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from goptx.analysis.cfg import EXIT, Flow
from goptx.analysis.dataflow import solve
from goptx.analysis.registers.machine_operations import Operation, Operations, Words

SHORT = 12  # operations of a side that is run under a predicate, at most


@dataclass(frozen=True, slots=True)
class Joined:
    """Blocks in reverse postorder: their operations, the words that their ends read, and their successors."""

    blocks: dict[str, list[Operation]]
    ends: dict[str, Words]
    successors: dict[str, list[str]]


def with_short_branches_joined(flow: Flow, found: Operations) -> Joined:
    """The blocks of a flow with short sides of branches joined to the blocks before and after them."""
    successors = {n: [t for t in flow.blocks[n].end.successors() if t in found.blocks] for n in found.blocks}
    joining = _Joining(dict(found.blocks), dict(found.ends), successors)
    changed = True
    while changed:
        changed = False
        for name in found.blocks:
            changed |= name in joining.blocks and joining.join(name)
    return Joined(joining.blocks, joining.ends, joining.successors)


class _Joining:
    def __init__(
        self, blocks: dict[str, list[Operation]], ends: dict[str, Words], successors: dict[str, list[str]]
    ) -> None:
        self.blocks, self.ends, self.successors = blocks, ends, successors
        self.predecessors: dict[str, set[str]] = {name: set() for name in blocks}
        for name, targets in successors.items():
            for target in targets:
                self.predecessors[target].add(name)

    def join(self, name: str) -> bool:
        """Joins to the block what belongs to it. Returns whether there was something."""
        targets = self.successors[name]
        if len(targets) == 1 and self._is_side(targets[0], name):
            ends = self.ends[targets[0]]
            self._append(name, targets[0])
            self.ends[name] = ends
            return True
        if len(targets) != 2:
            return False
        one, other = targets
        for side, after in ((one, other), (other, one)):
            if self._is_short_side(side, name) and self.successors[side] == [after] and after != name:
                self.successors[name] = [after, side]
                self._append(name, side)
                return True
        sides = all(self._is_short_side(side, name) for side in targets)
        after_both = self.successors[one]
        if sides and len(after_both) == 1 and after_both == self.successors[other] and after_both[0] not in targets:
            self._append(name, one)
            self._append(name, other)
            return True
        return False

    def _is_side(self, side: str, before: str) -> bool:
        return side not in (before, EXIT) and self.predecessors[side] == {before}

    def _is_short_side(self, side: str, before: str) -> bool:
        own = self.blocks[side]
        plain = len(own) <= SHORT and not any(o.alone or o.access in ("f", "c") for o in own)
        return self._is_side(side, before) and plain

    def _append(self, name: str, side: str) -> None:
        """Moves the operations of a side to the end of the block before it."""
        self.blocks[name] = self.blocks[name] + self.blocks.pop(side)
        del self.ends[side], self.predecessors[side]
        targets = self.successors.pop(side)
        left = [t for t in self.successors[name] if t != side]
        self.successors[name] = list(dict.fromkeys((*left, *targets)))
        for target in targets:
            self.predecessors[target] = self.predecessors[target] - {side} | {name}


def live_words(joined: Joined) -> tuple[Mapping[str, frozenset[int]], Mapping[str, frozenset[int]]]:
    """The words that are live at the beginning and at the end of each block. A word is live only where a definition of
    it reaches."""
    order = list(joined.blocks)
    used: dict[str, frozenset[int]] = {}
    made: dict[str, frozenset[int]] = {}
    for name, own in joined.blocks.items():
        reads, defines = set[int](), set[int]()
        for operation in own:
            reads.update(w for w in operation.uses if w not in defines)
            defines.update(operation.defines)
        reads.update(w for w in joined.ends[name] if w not in defines)
        used[name], made[name] = frozenset(reads), frozenset(defines)
    predecessors: dict[str, list[str]] = {name: [] for name in order}
    for name, targets in joined.successors.items():
        for target in targets:
            predecessors[target].append(name)

    def wanted(name: str, values: Mapping[str, frozenset[int]]) -> frozenset[int]:
        after = frozenset[int]().union(*(values[s] for s in joined.successors[name] if s in values))
        return used[name] | (after - made[name])

    def defined(name: str, values: Mapping[str, frozenset[int]]) -> frozenset[int]:
        return made[name].union(*(values[p] for p in predecessors[name] if p in values))

    begin = solve(order[::-1], joined.successors, wanted)
    reached = solve(order, predecessors, defined)
    nothing = frozenset[int]()
    live_in = {n: begin[n] & nothing.union(*(reached[p] for p in predecessors[n])) for n in order}
    live_out = {n: nothing.union(joined.ends[n], *(begin[s] for s in joined.successors[n])) & reached[n] for n in order}
    return live_in, live_out
