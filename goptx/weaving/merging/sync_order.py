"""Which moves of the merger keep one order of waiting, so that no thread waits for one that waits for it.

Requires: two converged flows, each of one kernel or of several that are merged. Ensures, of the moves that it allows,
these two:

*Apart.* As long as all branches are CTA-uniform, the threads of a CTA run the same pairs in the same order. Once warps
may have come different ways they do not, and then all that one kernel, the leader, has in the order of waiting comes
first: the other waits ahead of its own.

*Spans.* From a kernel's first wait of another kind than a rendezvous, or release for one, to its last (sync_spans.py),
no thread may be held up by the other kernel, for it may be the one that is waited for. So what another kernel waits for
stands before that span or behind it, while its other code may stand anywhere. Instructions of a warp hold lanes up for
lanes of their warp. That matters only to a kernel whose lanes may come to its waits, or get through them, one by
one: where they do so together, all lanes of a warp come to an instruction of the other kernel by themselves.

*Warpgroups.* The warps of a warpgroup execute one and the same instruction, no copies of it. Once warps may have come
different ways, the leader runs what it has of those only before the other has begun, that one after the leader's end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass

import networkx as nx

from goptx.analysis.cfg import EXIT, Code, Flow
from goptx.analysis.sync.barriers import is_cta_barrier, is_reduction
from goptx.analysis.sync.sync_spans import is_warp_wide, sync_points
from goptx.ptx.ir import Instruction, Operand
from goptx.weaving.merging.product import ANY, Move, Pair, Pairs


@dataclass(frozen=True, slots=True)
class Waits:
    """What the order of waiting depends on in a kernel, or in several that are merged.

    warp_branches: the blocks of its flow whose branch warps of a CTA may take differently.
    lanes_apart: whether lanes of one warp may come to its waits one by one.
    threads: how many meet at the barriers of a kernel, where its CTA is larger.
    merged: whether there are several.
    """

    flow: Flow
    warp_branches: frozenset[str]
    lanes_apart: bool
    threads: tuple[Operand, ...] = ()
    merged: bool = False


class Order:
    """The rules for two kernels, or merged kernels, of which the one numbered `leader` comes first where warps are
    apart."""

    def __init__(self, kernels: Sequence[Waits]) -> None:
        self.leader = 0
        self.entries = [k.flow.entry for k in kernels]
        self.waiting = [sync_points(k.flow, k.threads, k.merged) for k in kernels]
        graphs = [k.flow.graph() for k in kernels]
        self.before = [
            w.ordered.union(*(nx.ancestors(g, n) for n in w.ordered)) for w, g in zip(self.waiting, graphs, strict=True)
        ]
        self.apart = [
            frozenset[str]().union(*({t, *nx.descendants(g, t)} for n in k.warp_branches for t in g.succ[n]))
            for k, g in zip(kernels, graphs, strict=True)
        ]
        # Of each kernel, whether what a warp does together has its place among the waits of the other.
        self.lanes_matter = [bool(self.waiting[1 - k].other) and kernels[1 - k].lanes_apart for k in range(2)]
        self.holding = [
            w.waits | w.lanes if m else w.waits for w, m in zip(self.waiting, self.lanes_matter, strict=True)
        ]

        # Of each kernel the blocks that `allows` asks about; any move is allowed at all others.
        self.ruled = [w.ordered | w.warpgroups | h for w, h in zip(self.waiting, self.holding, strict=True)]

    def led_by(self, leader: int) -> Order:
        """The rules where that one comes first."""
        found = copy(self)
        found.leader = leader
        return found

    @property
    def chooses_leader(self) -> bool:
        """Whether it may matter which kernel comes first."""
        return any(w.other or w.warpgroups for w in self.waiting)

    def forbids_copies(self, pair: Pair) -> bool:
        """Whether what runs at the pair may stand in one place only."""
        return self.is_apart(pair) and any(n in w.warpgroups for n, w in zip(pair, self.waiting, strict=True))

    def is_apart(self, pair: Pair) -> bool:
        """Whether warps may have come to the pair by different ways."""
        return any(name in apart for name, apart in zip(pair, self.apart, strict=True))

    def allows(self, pair: Pair, move: Move, in_step: bool = False) -> bool:
        """Whether the move keeps the order at the pair; later moves may still have none left, see `safe_moves`.
        `in_step` says that whichever way a warp came, it comes to what is here of both kernels at a time."""
        runs = (move != Move.SECOND, move != Move.FIRST)
        for k in range(2):
            if runs[1 - k] and (
                self._holds_up(pair, k, runs[k]) or (k == self.leader and not in_step and self._overtakes(pair))
            ):
                return False
            if runs[k] and self._parts_warpgroups(pair, k):
                return False
        return True

    def _parts_warpgroups(self, pair: Pair, kernel: int) -> bool:
        """Whether warps of a warpgroup could run copies of what the kernel has at the pair."""
        alone = self.entries[1 - kernel] if kernel == self.leader else EXIT
        return pair[kernel] in self.waiting[kernel].warpgroups and pair[1 - kernel] != alone and self.is_apart(pair)

    def _overtakes(self, pair: Pair) -> bool:
        """Whether the follower, by running at the pair, would come first where the leader has to."""
        leader, follower = pair[self.leader], pair[1 - self.leader]
        waits = follower in self.waiting[1 - self.leader].ordered
        return waits and leader in self.before[self.leader] and self.is_apart(pair)

    def _holds_up(self, pair: Pair, kernel: int, runs: bool) -> bool:
        """Whether the other kernel, by running at the pair, could hold up threads amid the span of this one. `runs`:
        this one runs there too, by which it may come into its span."""
        own, other = pair[kernel], pair[1 - kernel]
        if runs and own in self.waiting[kernel].other and other in self.waiting[1 - kernel].other:
            return True
        within = own in self.waiting[kernel].span or (runs and own in self.waiting[kernel].other)
        return within and other in self.holding[1 - kernel]

    def cuts(self, kernel: int, code: Sequence[Code]) -> list[int]:
        """Where the code of a block of the kernel is to be cut, so that the other can be held up, or hold it up, there
        alone: ahead of what has its place in the order, and behind what may begin or end a span. What is one barrier of
        several kernels stays so, wherever it stands."""
        other = self.waiting[1 - kernel]
        if not other.ordered and not (self.lanes_matter[1 - kernel] and other.lanes):
            return []
        begins = set[int]()
        position = 0
        while position < len(code):
            behind = position + 1
            if self.has_place(kernel, code[position]):
                begins.add(position)
                behind = position + max(common(code, position), 1)  # one barrier stays one
                if self.waiting[kernel].delimits_span(code[position]):
                    begins.add(behind)
            position = behind
        return sorted(begins - {0, len(code)})

    def layout(self, first: Sequence[Code], second: Sequence[Code]) -> tuple[Code, ...]:
        """The code of both at one pair, so that what has its place in the order of waiting stands in that order. Where
        both begin with a rendezvous, one will serve both: all threads come to them together, for once warps are apart
        no two stand at one pair."""
        one, other = common(first), common(second)
        if not (one and other and can_be_one([*first[:one], *second[:other]])):
            return (*first, *second)
        return (*first[:one], *second[:other], *first[one:], *second[other:])

    def has_place(self, kernel: int, code: Code) -> bool:
        """Whether what the kernel has in a merged block has its place among the waits of both."""
        return self.waiting[kernel].in_sync_order(code) or (self.lanes_matter[kernel] and is_warp_wide(code))


def can_be_one(barriers: Sequence[Code]) -> bool:
    """Whether one barrier can serve for all of them: each is a rendezvous that every thread comes to, and at most one
    gives a result."""
    plain = all(isinstance(b, Instruction) and b.guard is None and is_cta_barrier(b) for b in barriers)
    return plain and sum(map(is_reduction, barriers)) <= 1


def common(code: Sequence[Code], begin: int = 0) -> int:
    """How many instructions of the code that stands at one pair, from `begin` on, are a rendezvous that can be one:
    each of another kernel."""
    count = 0
    while begin + count < len(code) and can_be_one(found := code[begin : begin + count + 1]):
        if len({c.kernel for c in found}) <= count:
            break
        count += 1
    return count


def safe_moves(pairs: Pairs, moves: Mapping[Pair, Sequence[Move]]) -> Mapping[Pair, Sequence[Move]]:
    """Of the moves at each pair, those that never lead to a pair without any. At pairs that are not among them any move
    may be made."""
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
