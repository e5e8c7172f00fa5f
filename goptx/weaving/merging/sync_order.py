"""Which moves of the merger keep one synchronization order, so that no two threads wait for each other.

Requires: two converged flows, each of one kernel or of several merged ones. Ensures for the allowed moves:

*Order.* As long as all branches are CTA-uniform, the threads of a CTA run the same pairs in the same order. After a
branch that warps may take differently they do not. From there on, all code of one kernel, the leader, that is in the
synchronization order comes first: the other kernel waits before its own.

*Spans.* A span reaches from a kernel's first wait that is not a CTA-wide barrier, or release for such a wait, to its
last (sync_spans.py). Within it the other kernel may not delay a thread, for other threads may wait for that thread. So
code of the other kernel that waits stands before the span or after it, while its other code may stand anywhere. An
instruction of a whole warp delays lanes until all lanes of the warp are there. That matters only to a kernel whose
lanes may come to its waits, or leave them, one by one: where they do so together, all lanes of a warp come to an
instruction of the other kernel by themselves.

*Warpgroups.* The warps of a warpgroup execute one and the same instruction, not copies of it. Where warps may have
branched differently, the leader runs such instructions only before the other kernel has begun, and the other runs its
own only after the leader's end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass

from goptx.analysis.cfg import EXIT, Code, Flow, closure
from goptx.analysis.sync.barriers import is_cta_barrier, is_reduction
from goptx.analysis.sync.sync_spans import is_warp_wide, sync_points
from goptx.ptx.ir import Instruction, Operand
from goptx.weaving.merging.product import ANY, Move, Pair, Pairs


@dataclass(frozen=True, slots=True)
class Waits:
    """The properties of a kernel, or of several merged ones, that the synchronization order depends on.

    warp_branches: the blocks of its flow whose branch warps of a CTA may take differently.
    lanes_wait_separately: whether lanes of one warp may come to its waits one by one.
    threads: how many threads arrive at the barriers of a kernel, where its CTA is larger.
    merged: whether there are several kernels.
    """

    flow: Flow
    warp_branches: frozenset[str]
    lanes_wait_separately: bool
    threads: tuple[Operand, ...] = ()
    merged: bool = False


class Order:
    """The rules for two kernels, or merged kernels. The one numbered `leader` comes first where warps may have branched
    differently."""

    def __init__(self, kernels: Sequence[Waits]) -> None:
        self.leader = 0
        self.entries = [k.flow.entry for k in kernels]
        self.waiting = [sync_points(k.flow, k.threads, k.merged) for k in kernels]
        self.before = [
            w.ordered | closure(w.ordered, k.flow.predecessors()) for w, k in zip(self.waiting, kernels, strict=True)
        ]
        self.after_warp_branches = [closure(k.warp_branches, k.flow.successors()) for k in kernels]
        # For each kernel, whether its instructions of whole warps are ordered with the waits of the other.
        self.lanes_matter = [bool(self.waiting[1 - k].other) and kernels[1 - k].lanes_wait_separately for k in range(2)]
        self.holding = [
            w.waits | w.lanes if m else w.waits for w, m in zip(self.waiting, self.lanes_matter, strict=True)
        ]

        # For each kernel, the blocks that rules apply to; any move is allowed at all others.
        self.ruled = [w.ordered | w.warpgroups | h for w, h in zip(self.waiting, self.holding, strict=True)]

    def led_by(self, leader: int) -> Order:
        """The rules with that kernel as the leader."""
        found = copy(self)
        found.leader = leader
        return found

    @property
    def chooses_leader(self) -> bool:
        """Whether the choice of the leader may matter."""
        return any(w.other or w.warpgroups for w in self.waiting)

    def forbids_copies(self, pair: Pair) -> bool:
        """Whether code at the pair may not be copied."""
        return self.warps_may_differ(pair) and any(n in w.warpgroups for n, w in zip(pair, self.waiting, strict=True))

    def warps_may_differ(self, pair: Pair) -> bool:
        """Whether warps may have come to the pair by different paths."""
        return any(name in after for name, after in zip(pair, self.after_warp_branches, strict=True))

    def allows(self, pair: Pair, move: Move, in_lockstep: bool = False) -> bool:
        """Whether the move keeps the order at the pair; it may still lead to pairs without a move, see `safe_moves`.
        `in_lockstep`: on every path a warp comes to the code here of both kernels at one time."""
        runs = (move != Move.SECOND, move != Move.FIRST)
        for k in range(2):
            if runs[1 - k] and (
                self._holds_up(pair, k, runs[k]) or (k == self.leader and not in_lockstep and self._overtakes(pair))
            ):
                return False
            if runs[k] and self._splits_warpgroups(pair, k):
                return False
        return True

    def _splits_warpgroups(self, pair: Pair, kernel: int) -> bool:
        """Whether warps of a warpgroup could run different copies of the kernel's code at the pair."""
        alone = self.entries[1 - kernel] if kernel == self.leader else EXIT
        among = pair[kernel] in self.waiting[kernel].warpgroups
        return among and pair[1 - kernel] != alone and self.warps_may_differ(pair)

    def _overtakes(self, pair: Pair) -> bool:
        """Whether the follower, by running at the pair, would synchronize before the leader."""
        leader, follower = pair[self.leader], pair[1 - self.leader]
        waits = follower in self.waiting[1 - self.leader].ordered
        return waits and leader in self.before[self.leader] and self.warps_may_differ(pair)

    def _holds_up(self, pair: Pair, kernel: int, runs: bool) -> bool:
        """Whether the other kernel, by running at the pair, could delay threads within the span of this one. `runs`:
        this one runs there too, by which it may enter its span."""
        own, other = pair[kernel], pair[1 - kernel]
        if runs and own in self.waiting[kernel].other and other in self.waiting[1 - kernel].other:
            return True
        within = own in self.waiting[kernel].span or (runs and own in self.waiting[kernel].other)
        return within and other in self.holding[1 - kernel]

    def cuts(self, kernel: int, code: Sequence[Code]) -> list[int]:
        """Where to cut a block of the kernel, so that the kernels can wait for each other at these places only: before
        code in the synchronization order, and after code that may begin or end a span. Barriers of several kernels that
        are one barrier stay one."""
        other = self.waiting[1 - kernel]
        if not other.ordered and not (self.lanes_matter[1 - kernel] and other.lanes):
            return []
        begins = set[int]()
        position = 0
        while position < len(code):
            end = position + 1
            if self.has_place(kernel, code[position]):
                begins.add(position)
                end = position + max(common(code, position), 1)  # one barrier stays one
                if self.waiting[kernel].delimits_span(code[position]):
                    begins.add(end)
            position = end
        return sorted(begins - {0, len(code)})

    def layout(self, first: Sequence[Code], second: Sequence[Code]) -> tuple[Code, ...]:
        """The code of both at one pair, in the synchronization order. Where both begin with a CTA-wide barrier, one
        barrier will serve both: all threads come to them together, for where warps may have branched differently no
        two stand at one pair."""
        one, other = common(first), common(second)
        if not (one and other and can_be_one([*first[:one], *second[:other]])):
            return (*first, *second)
        return (*first[:one], *second[:other], *first[one:], *second[other:])

    def has_place(self, kernel: int, code: Code) -> bool:
        """Whether code of the kernel in a merged block is in the synchronization order of both."""
        return self.waiting[kernel].in_sync_order(code) or (self.lanes_matter[kernel] and is_warp_wide(code))


def can_be_one(barriers: Sequence[Code]) -> bool:
    """Whether one barrier can replace all of them: each is a CTA-wide barrier without a guard, and at most one gives a
    result."""
    plain = all(isinstance(b, Instruction) and b.guard is None and is_cta_barrier(b) for b in barriers)
    return plain and sum(map(is_reduction, barriers)) <= 1


def common(code: Sequence[Code], begin: int = 0) -> int:
    """How many instructions of the code at one pair, from `begin` on, are CTA-wide barriers that can become one: each
    is
    of another kernel."""
    count = 0
    while begin + count < len(code) and can_be_one(found := code[begin : begin + count + 1]):
        if len({c.kernel for c in found}) <= count:
            break
        count += 1
    return count


def safe_moves(pairs: Pairs, moves: Mapping[Pair, Sequence[Move]]) -> Mapping[Pair, Sequence[Move]]:
    """The moves at each pair that never lead to a pair without a move. Any move may be made at pairs that are not
    given."""
    left = {pair: list(found) for pair, found in moves.items()}
    work = [pair for pair, found in left.items() if not found]
    while work:
        for pair, move in pairs.predecessors(work.pop()):
            found = left.get(pair)
            if found is None:
                found = left[pair] = list(ANY)
            if move in found:
                found.remove(move)
                if not found:
                    work.append(pair)
    return left
