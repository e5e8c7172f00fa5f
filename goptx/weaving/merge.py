"""Chooses which blocks of two kernels run together, and merges the kernels by that choice.

Requires: converged flows with barriers prepared. Ensures: every thread of a CTA meets the barriers of both
kernels in one order; the merged flow is reducible.

Chosen is by dynamic programming over the pairs: the way through both flows that lets the most latency
overlap, and of those the one that does so in the heaviest blocks. Safety comes before: `_moves` lists what
is allowed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import networkx as nx

from goptx.analysis.cfg import EXIT, Block, Code, Flow, depths, holds_barrier
from goptx.errors import CannotWeave
from goptx.latency.cost import ISSUE, flow_cycles
from goptx.ptx.ir import Instruction
from goptx.ptx.opcodes import facts_of
from goptx.weaving.product import Merged, Move, Pair, Pairs, Product
from goptx.weaving.reducible import reducible

MAX_DEPTH = 4  # loop nests deeper than this weigh no more

Overlap = tuple[float, float]  # cycles that run beside the other kernel; cycles of the blocks where they do


@dataclass(frozen=True, slots=True)
class Side:
    """One kernel as the merger sees it."""

    flow: Flow
    warp_branches: frozenset[str]
    cycles: Callable[[Code], int]
    last: bool = False  # it begins when the other has ended
    duplicate: bool = False  # its code stands on the sides of the other's regions wherever that is right


def merge(first: Side, second: Side) -> Merged:
    """The two kernels as one; one after the other where pairing them makes loops that take too many copies to undo.

    Raises `CannotWeave` where even that does.
    """
    pairs = Pairs(first.flow, second.flow)
    try:
        return _reducible(pairs.product(_Chooser(first, second, pairs).choices().__getitem__))
    except CannotWeave:
        return _reducible(pairs.product(lambda pair: _in_turn(pair, first.last)))


def _reducible(product: Product) -> Merged:
    return product.copied(*reducible(product.flow.without_empty())).tidied()


def _in_turn(pair: Pair, second_begins: bool) -> Move:
    if EXIT in pair:
        return Move.BOTH
    return Move.SECOND if second_begins else Move.FIRST


class _Chooser:
    def __init__(self, first: Side, second: Side, pairs: Pairs) -> None:
        self.sides = (first, second)
        self.pairs = pairs
        self.times = [{n: 10 ** min(d, MAX_DEPTH) for n, d in depths(s.flow).items()} for s in self.sides]
        self.weights = [_weights(s, times) for s, times in zip(self.sides, self.times, strict=True)]
        graphs = [s.flow.graph() for s in self.sides]
        barriers = [frozenset(n for n, b in s.flow.blocks.items() if holds_barrier(b)) for s in self.sides]
        self.has_barrier = barriers
        # Blocks from which a barrier can still be reached, and blocks that warps of one CTA may reach by
        # different ways.
        self.before_barrier = barriers[0].union(*(nx.ancestors(graphs[0], n) for n in barriers[0]))
        self.apart = [
            frozenset[str]().union(*({t, *nx.descendants(g, t)} for n in s.warp_branches for t in g.succ[n]))
            for s, g in zip(self.sides, graphs, strict=True)
        ]
        self.value: dict[Pair, tuple[Overlap, Move]] = {}

    def choices(self) -> dict[Pair, Move]:
        """For each pair the move with the most overlapped latency ahead; back edges count for nothing."""
        for first in reversed(self.pairs.order[0]):
            for second in reversed(self.pairs.order[1]):
                pair = (first, second)
                allowed = [(self._overlap(pair, m), m) for m in self._moves(pair)]
                self.value[pair] = max(allowed, key=lambda c: (c[0], -c[1]))  # ties go to the earlier move
        return {pair: move for pair, (_, move) in self.value.items()}

    def _moves(self, pair: Pair) -> Sequence[Move]:
        first, second = pair
        if EXIT in pair:
            return (Move.BOTH,)
        if self.sides[0].last or self.sides[1].last:
            return (Move.SECOND,) if self.sides[0].last else (Move.FIRST,)
        # One order of waiting (contract 3): where the warps of a CTA may have come different ways, the first
        # kernel's barriers come first, and the second waits ahead of its own.
        apart = first in self.apart[0] or second in self.apart[1]
        if apart and first in self.before_barrier and second in self.has_barrier[1]:
            return (Move.FIRST,)
        blocks = self._blocks(pair)
        if not any(b.region for b in blocks):
            return (Move.BOTH, Move.FIRST, Move.SECOND)
        if not _goes_on_sides(*blocks) and not _goes_on_sides(*blocks[::-1]):
            return (Move.FIRST, Move.SECOND)
        return (Move.BOTH,) if self.sides[0].duplicate else (Move.FIRST, Move.SECOND, Move.BOTH)

    def _overlap(self, pair: Pair, move: Move) -> Overlap:
        """What overlaps at the pair and on the best way ahead of it."""
        followers = self.pairs.successors(pair, move)
        ahead = [self.value[p][0] for p in followers if p in self.value and self.pairs.forward(pair, p)]
        shared, joint = max(ahead, default=(0.0, 0.0))
        if move != Move.BOTH:
            return shared, joint
        weights = self.weights[0][pair[0]], self.weights[1][pair[1]]
        return shared + min(weights) - self._copies(pair), joint + (sum(weights) if min(weights) else 0.0)

    def _copies(self, pair: Pair) -> float:
        """Cycles that it takes to issue what stands on each side of a region once more for each further side."""
        cost = 0.0
        for k, (block, other) in enumerate(zip(self._blocks(pair), self._blocks(pair)[::-1], strict=True)):
            if block.region:
                cost += ISSUE * len(other.code) * (len(block.region.sides) - 1) * self.times[1 - k][pair[1 - k]]
        return cost

    def _blocks(self, pair: Pair) -> tuple[Block, Block]:
        return self.sides[0].flow.blocks[pair[0]], self.sides[1].flow.blocks[pair[1]]


def _goes_on_sides(block: Block, other: Block) -> bool:
    """Whether the code of `other` may stand on each side of the region of `block`, which lanes reach one by one."""
    return bool(block.region and block.region.sides and other.code) and all(
        isinstance(c, Instruction) and facts_of(c.opcode).duplicable and not facts_of(c.opcode).row.blocking
        for c in other.code
    )


def _weights(side: Side, times: Mapping[str, int]) -> dict[str, float]:
    """Latency of each block in cycles, ten times as much for each loop around it."""
    own = {
        n: flow_cycles(b.region.flow(), side.cycles) if b.region else sum(map(side.cycles, b.code))
        for n, b in side.flow.blocks.items()
    }
    return {name: float(cycles * times[name]) for name, cycles in own.items()}
