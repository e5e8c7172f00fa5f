"""Chooses which blocks of two kernels run together, and merges the kernels by that choice.

Requires: converged flows with barriers prepared. Ensures: every thread of a CTA meets the barriers of both
kernels in one order; the merged flow is reducible.

Chosen is by dynamic programming over the pairs: the way through both flows that lets the most latency
overlap, and of those the one that does so in the heaviest blocks. Safety comes before: `_moves` lists what
is allowed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import networkx as nx

from goptx.analysis.cfg import EXIT, Code, Flow, depths, holds_barrier
from goptx.weaving.product import Merged, Move, Pair, Pairs
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


def merge(first: Side, second: Side) -> Merged:
    """The two kernels as one. Raises `CannotWeave` where the flow cannot be made reducible."""
    pairs = Pairs(first.flow, second.flow)
    product = pairs.product(_Chooser(first, second, pairs).choices().__getitem__)
    return product.copied(*reducible(product.flow.without_empty())).tidied()


class _Chooser:
    def __init__(self, first: Side, second: Side, pairs: Pairs) -> None:
        self.sides = (first, second)
        self.pairs = pairs
        self.weights = [_weights(s) for s in self.sides]
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
        if self.sides[0].flow.blocks[first].region or self.sides[1].flow.blocks[second].region:
            return (Move.FIRST, Move.SECOND)
        return (Move.BOTH, Move.FIRST, Move.SECOND)

    def _overlap(self, pair: Pair, move: Move) -> Overlap:
        """What overlaps at the pair and on the best way ahead of it."""
        followers = self.pairs.successors(pair, move)
        ahead = [self.value[p][0] for p in followers if p in self.value and self.pairs.forward(pair, p)]
        shared, joint = max(ahead, default=(0.0, 0.0))
        if move != Move.BOTH:
            return shared, joint
        weights = self.weights[0][pair[0]], self.weights[1][pair[1]]
        return shared + min(weights), joint + (sum(weights) if min(weights) else 0.0)


def _weights(side: Side) -> dict[str, float]:
    """Latency of each block in cycles, ten times as much for each loop around it."""
    depth = depths(side.flow)
    return {
        name: float(sum(map(side.cycles, block.code)) * 10 ** min(depth[name], MAX_DEPTH))
        for name, block in side.flow.blocks.items()
    }
