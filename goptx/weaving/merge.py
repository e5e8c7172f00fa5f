"""Chooses which blocks of two kernels run together, and merges the kernels by that choice.

Requires: converged flows with barriers prepared. Ensures: every thread of a CTA waits in both kernels in one order
(order.py); the merged flow is reducible.

Chosen is by dynamic programming over the pairs: the way through both flows that lets the most latency
overlap, and of those the one that does so in the heaviest blocks. Safety comes before: `_moves` lists what
is allowed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from goptx.analysis.cfg import EXIT, Block, Code, Flow, depths
from goptx.errors import CannotWeave
from goptx.latency.cost import ISSUE, flow_cycles
from goptx.ptx.ir import Instruction, Operand
from goptx.ptx.opcodes import facts_of
from goptx.weaving.order import Order, Waits, safe_moves
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
    lanes_apart: bool = False  # lanes of one warp may come to its waits one by one
    threads: Operand | None = None  # how many meet at its barriers; None for all of the CTA
    last: bool = False  # it begins when the other has ended
    duplicate: bool = False  # its code stands on the sides of the other's regions wherever that is right


def merge(first: Side, second: Side) -> Merged:
    """The two kernels as one; one after the other where pairing them makes loops that take too many copies to undo.

    Raises `CannotWeave` where even that does.
    """
    pairs = Pairs(first.flow, second.flow)
    waits = [Waits(s.flow, s.warp_branches, s.lanes_apart, s.threads) for s in (first, second)]
    choosers = [_Chooser(first, second, pairs, Order(waits))]
    if choosers[0].order.chooses_leader:  # that decides how much of a span can be woven
        choosers.append(_Chooser(first, second, pairs, Order(waits, leader=1)))
    chosen = max(choosers, key=lambda chooser: chooser.overlap)
    try:
        return _reducible(pairs.product(chosen.choices.__getitem__), chosen.order)
    except CannotWeave:
        return _reducible(pairs.product(lambda pair: _in_turn(pair, first.last)), chosen.order)


def _reducible(made: Product, order: Order) -> Merged:
    flow, origin = reducible(made.flow.without_empty())
    if any(order.forbids_copies(made.pairings[n].pair) for n in origin.values() if n in made.pairings):
        raise CannotWeave("warps of a warpgroup would come to copies of one instruction")
    return made.copied(flow, origin).tidied(order.turns)


def _in_turn(pair: Pair, second_begins: bool) -> Move:
    if EXIT in pair:
        return Move.BOTH
    return Move.SECOND if second_begins else Move.FIRST


class _Chooser:
    """`choices` has for each pair the move with the most overlapped latency ahead, `overlap` what that is from the
    beginning; back edges count for nothing."""

    def __init__(self, first: Side, second: Side, pairs: Pairs, order: Order) -> None:
        self.sides = (first, second)
        self.pairs = pairs
        self.order = order
        self.times = [{n: 10 ** min(d, MAX_DEPTH) for n, d in depths(s.flow).items()} for s in self.sides]
        self.weights = [_weights(s, times) for s, times in zip(self.sides, self.times, strict=True)]
        self.value: dict[Pair, tuple[Overlap, Move]] = {}
        allowed = safe_moves(pairs, self._moves)
        for pair in product(reversed(pairs.order[0]), reversed(pairs.order[1])):
            if pair in allowed:
                found = [(self._overlap(pair, m), m) for m in allowed[pair]]
                self.value[pair] = max(found, key=lambda c: (c[0], -c[1]))  # ties go to the earlier move
        self.choices = {pair: move for pair, (_, move) in self.value.items()}
        self.overlap = self.value[first.flow.entry, second.flow.entry][0]

    def _moves(self, pair: Pair) -> Sequence[Move]:
        if EXIT in pair:
            return (Move.BOTH,)
        if self.sides[0].last or self.sides[1].last:
            return (Move.SECOND,) if self.sides[0].last else (Move.FIRST,)
        found = [move for move in self._beside(*self._blocks(pair)) if self.order.allows(pair, move)]
        return found or [move for move in (Move.FIRST, Move.SECOND) if self.order.allows(pair, move)]

    def _beside(self, *blocks: Block) -> Sequence[Move]:
        """What may stand beside what, whatever anybody waits for."""
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
