"""Chooses which blocks of two kernels run together, and merges the kernels by that choice.

Requires: converged flows with barriers prepared. Ensures: every thread of a CTA meets the barriers of both
kernels in one order; the merged flow is reducible if theirs are, and within limits.

Chosen is by dynamic programming over the pairs: the way through both flows that lets the most latency
overlap, and of those the one that does so in the heaviest blocks. Safety comes before: `_moves` lists what
is allowed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import networkx as nx

from goptx.analysis.cfg import EXIT, Block, Code, Flow, depths, holds_barrier
from goptx.latency.cost import ISSUE, flow_cycles
from goptx.ptx.ir import Instruction
from goptx.ptx.opcodes import facts_of
from goptx.weaving.growth import Limits, TooLarge
from goptx.weaving.levels import Levels
from goptx.weaving.product import ANY, Merged, Move, Pair, Pairs
from goptx.weaving.reducible import reducible

MAX_DEPTH = 4  # loop nests deeper than this weigh no more

Overlap = tuple[float, float]  # cycles that run beside the other kernel; cycles of the blocks where they do
NOTHING: Overlap = (0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Side:
    """One kernel as the merger sees it."""

    flow: Flow
    warp_branches: frozenset[str]
    cycles: Callable[[Code], int]
    last: bool = False  # it begins when the other has ended
    duplicate: bool = False  # its code stands on the sides of the other's regions wherever that is right


def merge(first: Side, second: Side, limits: Limits, levels: Levels | None = None) -> tuple[Merged, float]:
    """The two kernels as one, by `levels` if given, and the cycles of latency that overlap in it on the best way.

    Raises `TooLarge`.
    """
    pairs = Pairs(first.flow, second.flow)
    chooser = _Chooser(first, second, pairs, levels)
    product = pairs.product(chooser.choices().__getitem__, limits.instructions)
    merged = product.copied(*reducible(product.flow.without_empty(), limits.instructions)).tidied()
    if not limits.allow(merged.flow):
        raise TooLarge
    return merged, chooser.values[first.flow.entry][second.flow.entry][0]


def in_turn(first: Side, second: Side) -> Merged:
    """One kernel and then the other, as one."""

    def move(pair: Pair) -> Move:
        if EXIT in pair:
            return Move.BOTH
        return Move.SECOND if first.last else Move.FIRST

    return Pairs(first.flow, second.flow).product(move).tidied()


class _Chooser:
    def __init__(self, first: Side, second: Side, pairs: Pairs, levels: Levels | None) -> None:
        self.sides = (first, second)
        self.pairs = pairs
        self.levels = levels
        self.times = [_times(s.flow) for s in self.sides]
        self.weights = [weights(s) for s in self.sides]
        self.regions = [frozenset(n for n, b in s.flow.blocks.items() if b.region) for s in self.sides]
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
        # Blocks beside which any other such block may stand, whatever came before.
        special = [{EXIT} | self.regions[0], {EXIT} | self.regions[1] | barriers[1]]
        self.plain = [
            frozenset() if first.last or second.last else s.flow.blocks.keys() - special[k]
            for k, s in enumerate(self.sides)
        ]
        self.values: dict[str, dict[str, Overlap]] = {}  # of what lies ahead at each pair

    def choices(self) -> dict[Pair, Move]:
        """For each pair the move with the most overlapped latency ahead; back edges count for nothing."""
        chosen: dict[Pair, Move] = {}
        seconds = self.pairs.order[1][::-1]
        for first in reversed(self.pairs.order[0]):
            rows = [self.values[f] for f in self.pairs.forward[0][first] if f != first]
            ahead = {s: max(row[s] for row in rows) for s in seconds} if rows else {}
            row: dict[str, Overlap] = {}
            self.values[first] = row
            for second in seconds:
                pair = first, second
                row[second], chosen[pair] = self._best(pair, ahead, row)
        return chosen

    def _best(self, pair: Pair, ahead: Mapping[str, Overlap], row: Mapping[str, Overlap]) -> tuple[Overlap, Move]:
        """The value of a pair and the move that gives it. `ahead` has the values where the first kernel has gone on, by
        the blocks of the second; `row` those where it has not, as far as they are known."""
        first, second = pair
        plain = first in self.plain[0] and second in self.plain[1]
        moves = ANY if plain else self._moves(pair)
        if self.levels:
            moves = self.levels.narrowed(pair, moves)
        following = self.pairs.forward[1][second]
        staying = [row[s] for s in following if s != second]
        best: tuple[Overlap, Move] | None = None
        for move in moves:
            if move is Move.FIRST:
                value = ahead.get(second, NOTHING)
            elif move is Move.SECOND:
                value = max(staying, default=NOTHING)
            else:
                going = [ahead[s] for s in following] if ahead else []
                if first in self.pairs.forward[0][first]:
                    going += staying
                shared, joint = max(going, default=NOTHING)
                one, other = self.weights[0][first], self.weights[1][second]
                if one and other:
                    shared, joint = shared + min(one, other), joint + one + other
                value = (shared if plain else shared - self._copies(pair)), joint
            if best is None or value > best[0]:  # ties go to the earlier move
                best = value, move
        assert best
        return best

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
        if first not in self.regions[0] and second not in self.regions[1]:
            return ANY
        blocks = self._blocks(pair)
        if not _goes_on_sides(*blocks) and not _goes_on_sides(*blocks[::-1]):
            return (Move.FIRST, Move.SECOND)
        return (Move.BOTH,) if self.sides[0].duplicate else ANY

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


def weights(side: Side) -> dict[str, float]:
    """Latency of each block in cycles, ten times as much for each loop around it."""
    times = _times(side.flow)
    own = {
        n: flow_cycles(b.region.flow(), side.cycles) if b.region else sum(map(side.cycles, b.code))
        for n, b in side.flow.blocks.items()
    }
    return {name: float(cycles * times[name]) for name, cycles in own.items()}


def _times(flow: Flow) -> dict[str, int]:
    return {n: 10 ** min(d, MAX_DEPTH) for n, d in depths(flow).items()}
