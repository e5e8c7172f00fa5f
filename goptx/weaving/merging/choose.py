"""Chooses which blocks of two kernels run together, and merges the kernels by that choice.

Requires: converged flows with barriers prepared. Ensures: every thread of a CTA synchronizes in both kernels in one
order (sync_order.py); the merged flow is reducible if theirs are, and within limits.

Dynamic programming over the pairs of blocks chooses the path through both flows on which the most latency overlaps; of
several such paths, the one where it overlaps in the heaviest blocks. Safety comes first: `_moves` lists the allowed
moves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from goptx.analysis.cfg import EXIT, Block, Flow, loops
from goptx.analysis.loops.trips import UNKNOWN
from goptx.analysis.numbering import provenance_of
from goptx.analysis.terminators import Branch
from goptx.latency.cost import ISSUE, flow_cycles
from goptx.ptx.ir import Instruction, Provenance
from goptx.ptx.opcodes import facts_of
from goptx.weaving.converge.single_entry import reducible
from goptx.weaving.merging.merge_input import MergeInput, united
from goptx.weaving.merging.merged_blocks import tidied
from goptx.weaving.merging.nesting import BEFORE_DEEPER, Levels
from goptx.weaving.merging.product import ANY, Move, Pair, Pairs, Product
from goptx.weaving.merging.size_limits import Limits, TooLarge, instruction_count
from goptx.weaving.merging.sync_order import Order, safe_moves

LEAST = 0.01  # trips of what is left of a loop that runs once, if its first iteration stands before it
MOST = UNKNOWN**4  # times that a block runs

Overlap = tuple[float, float]  # cycles that run beside the other kernel; cycles of the blocks where they do
NOTHING: Overlap = (0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Merge:
    """The merge of two sides: its product, its number of instructions (including branches), and the cycles of latency
    that overlap on its best path."""

    sides: tuple[MergeInput, MergeInput]
    product: Product
    order: Order
    size: int
    overlap: float

    def side(self) -> MergeInput:
        return united(*self.sides, self.product, self.order)


@dataclass(frozen=True, slots=True)
class Weights:
    """For each block, how often it is expected to run, and its cycles of latency in all these times. `once` are the
    blocks that could follow themselves and are not expected to."""

    times: Mapping[str, float]
    cycles: Mapping[str, float]
    once: frozenset[str] = frozenset()

    @classmethod
    def of(cls, side: MergeInput) -> Weights:
        times = _times(side)
        own = {
            n: flow_cycles(b.region.flow(), side.cycles) if b.region else sum(map(side.cycles, b.code))
            for n, b in side.flow.blocks.items()
        }
        once = frozenset(n for n, b in side.flow.blocks.items() if times[n] <= 1.0 and n in b.end.successors())
        return cls(times, {name: cycles * times[name] for name, cycles in own.items()}, once)

    def on_levels(self, flow: Flow) -> Weights:
        """The weights for the same flow in which some blocks have separate ends (nesting.py)."""
        times = {name: self.times[name.removesuffix(BEFORE_DEEPER)] for name in flow.blocks}
        return Weights(times, {name: self.cycles.get(name, 0.0) for name in flow.blocks}, self.once)


def _times(side: MergeInput) -> dict[str, float]:
    """How often each block runs. What stands before a loop of its code is its first iteration. Merged kernels have
    loops in common, of which that is not known."""
    flow, bodies = side.flow, loops(side.flow).values()
    times = dict.fromkeys(flow.blocks, 1.0)
    known = {} if side.states else side.trips
    for body in bodies:
        often = UNKNOWN
        own = body.difference(*(other for other in bodies if other < body))
        found = {p: known[p] for name in own for p in _provenance(flow, name) if p in known}
        if found:
            before = any(p in found for name in flow.blocks if name not in body for p in _provenance(flow, name))
            often = max(max(found.values()) - before, LEAST)
        for name in body:
            times[name] = min(often * times[name], MOST)
    return times


def _provenance(flow: Flow, name: str) -> Iterator[Provenance]:
    return (provenance_of(code) for code in flow.blocks[name].code)


def merge_by_overlap(
    first: MergeInput,
    second: MergeInput,
    weights: tuple[Weights, Weights],
    limits: Limits,
    levels: Levels | None = None,
) -> Merge:
    """Merges by `levels` if given. `weights` are those of the two sides.

    Raises `TooLarge`, also where warps of a warpgroup would come to copies of one instruction.
    """
    pairs = _pairs(first, second)
    order = Order([first, second])
    orders = (
        [order, order.led_by(1)] if order.chooses_leader else [order]
    )  # the leader decides how much of a span is woven
    choosers = [_Chooser(first, second, weights, pairs, order, levels) for order in orders]
    chosen = max(choosers, key=lambda chooser: chooser.overlap)
    paired = pairs.product(chosen.choices.__getitem__, limits.instructions, chosen.order.layout)
    flow, origin = reducible(paired.flow.without_empty(), limits.instructions)
    copies = {copy: paired.pairings[old] for copy, old in origin.items() if old in paired.pairings}
    small = tidied(flow)
    if any(chosen.order.forbids_copies(p.pair) for p in copies.values()) or not limits.allow(small):
        raise TooLarge
    whole = Product(flow, {**paired.pairings, **copies})
    return Merge((first, second), whole, chosen.order, instruction_count(small), chosen.overlap[0])


def sequential(first: MergeInput, second: MergeInput) -> MergeInput:
    """Both kernels as one, the second after the first."""
    order = Order([first, second])
    pairs = _pairs(first, second)
    paired = pairs.product(lambda p: Move.BOTH if EXIT in p else Move.FIRST, layout=order.layout)
    return united(first, second, paired, order)


def _pairs(first: MergeInput, second: MergeInput) -> Pairs:
    return Pairs(first.flow, second.flow, (first.label, second.label), first.in_lockstep and second.in_lockstep)


class _Chooser:
    """`choices` has for each pair the move with the most overlap of latency from there to the end; `overlap` is the
    overlap from the beginning. Back edges are ignored."""

    def __init__(
        self,
        first: MergeInput,
        second: MergeInput,
        weights: tuple[Weights, Weights],
        pairs: Pairs,
        order: Order,
        levels: Levels | None,
    ) -> None:
        self.sides = (first, second)
        self.weights = weights
        self.pairs = pairs
        self.order = order
        self.levels = levels
        self.regions = [frozenset(n for n, b in s.flow.blocks.items() if b.region) for s in self.sides]
        # Blocks beside which any other such block may stand, on every path.
        self.plain = [
            frozenset()
            if second.last
            else s.flow.blocks.keys() - {EXIT} - self.regions[k] - order.ruled[k] - self._lockstep_blocks(k)
            for k, s in enumerate(self.sides)
        ]
        bound = (p for p in product(pairs.order[0], pairs.order[1]) if not self._is_plain(p))
        self.allowed = safe_moves(pairs, {pair: self._moves(pair) for pair in bound})
        if self.allowed.get(pairs.entry, ANY) == []:
            raise TooLarge  # copies cannot run in lockstep
        # The successors of each block of the second kernel, without itself.
        self.onward = {n: [t for t in following if t != n] for n, following in pairs.forward[1].items()}
        self.values: dict[str, dict[str, Overlap]] = {}  # the overlap from each pair to the end
        self.choices = self._chosen()
        self.overlap = self.values[first.flow.entry][second.flow.entry]

    def _chosen(self) -> dict[Pair, Move]:
        chosen: dict[Pair, Move] = {}
        seconds = self.pairs.order[1][::-1]
        for first in reversed(self.pairs.order[0]):
            rows = [self.values[f] for f in self.pairs.forward[0][first] if f != first]
            after_first = (
                rows[0] if len(rows) == 1 else {s: max(row[s] for row in rows) for s in seconds} if rows else {}
            )
            row: dict[str, Overlap] = {}
            self.values[first] = row
            for second in seconds:
                row[second] = NOTHING
                if moves := self.allowed.get((first, second), ANY):
                    row[second], chosen[first, second] = self._best((first, second), moves, after_first, row)
        return chosen

    def _best(
        self, pair: Pair, moves: Sequence[Move], after_first: Mapping[str, Overlap], row: Mapping[str, Overlap]
    ) -> tuple[Overlap, Move]:
        """The value of a pair and the one of the `moves` that gives it. `after_first` has the values after the first
        kernel has moved on, by the blocks of the second; `row` those before it has, as far as they are known."""
        first, second = pair
        onward = self.onward[second]
        best: tuple[Overlap, Move] | None = None
        for move in self.levels.narrowed(pair, moves) if self.levels else moves:
            if move is Move.FIRST:
                value = after_first.get(second, NOTHING)
            elif move is Move.SECOND:
                value = max([row[s] for s in onward], default=NOTHING)
            else:
                again = onward if second in self.weights[1].once else self.pairs.forward[1][second]
                going = [after_first[s] for s in again] if after_first else []
                if first in self.pairs.forward[0][first] and first not in self.weights[0].once:
                    going += [row[s] for s in onward]
                shared, joint = max(going, default=NOTHING)
                one, other = self.weights[0].cycles[first], self.weights[1].cycles[second]
                if one and other:
                    shared, joint = shared + min(one, other), joint + one + other
                value = (shared if self._is_plain(pair) else shared - self._copies(pair)), joint
            if best is None or value > best[0]:  # ties go to the earlier move
                best = value, move
        assert best
        return best

    def _is_plain(self, pair: Pair) -> bool:
        return pair[0] in self.plain[0] and pair[1] in self.plain[1]

    def _moves(self, pair: Pair) -> Sequence[Move]:
        """What is allowed at a pair that is not plain, whatever follows."""
        if EXIT in pair:
            return (Move.BOTH,)
        if self.sides[1].last:
            return (Move.FIRST,)
        if self.pairs.in_lockstep and (moves := self._lockstep_moves(pair)):
            together = len(moves) == 1 and moves[0] == Move.BOTH and not self.order.chooses_leader
            return [move for move in moves if self.order.allows(pair, move, together)]
        found = [move for move in self._beside(pair) if self.order.allows(pair, move)]
        return found or [move for move in (Move.FIRST, Move.SECOND) if self.order.allows(pair, move)]

    def _lockstep_blocks(self, side: int) -> frozenset[str]:
        """The blocks that the copies of the side run together, or not at all."""
        blocks = self.sides[side].flow.blocks if self.pairs.in_lockstep else {}
        return frozenset(n for n, b in blocks.items() if any(_lockstep(b)))

    def _lockstep_moves(self, pair: Pair) -> Sequence[Move]:
        """The moves where a copy has come to such a block: both run if both have come to the same one, else the copy
        that has not. No moves if neither copy has."""
        steps = [_lockstep(block) for block in self._blocks(pair)]
        if steps[0] == steps[1]:
            return (Move.BOTH,) if any(steps[0]) else ()
        if all(map(any, steps)):
            return ANY  # copies never come to two different ones at a time
        return (Move.SECOND,) if any(steps[0]) else (Move.FIRST,)

    def _beside(self, pair: Pair) -> Sequence[Move]:
        """The moves by which blocks may stand beside each other, ignoring synchronization."""
        if pair[0] not in self.regions[0] and pair[1] not in self.regions[1]:
            return ANY
        blocks = self._blocks(pair)
        if not _goes_on_sides(*blocks) and not _goes_on_sides(*blocks[::-1]):
            return (Move.FIRST, Move.SECOND)
        return (Move.BOTH,) if self.sides[0].duplicate else ANY

    def _copies(self, pair: Pair) -> float:
        """The cycles to issue the copies of the code that stands on each further side of a region."""
        cost = 0.0
        for k, (block, other) in enumerate(zip(self._blocks(pair), self._blocks(pair)[::-1], strict=True)):
            if block.region:
                cost += ISSUE * len(other.code) * (len(block.region.sides) - 1) * self.weights[1 - k].times[pair[1 - k]]
        return cost

    def _blocks(self, pair: Pair) -> tuple[Block, Block]:
        return self.sides[0].flow.blocks[pair[0]], self.sides[1].flow.blocks[pair[1]]


def _goes_on_sides(block: Block, other: Block) -> bool:
    """Whether the code of `other` may stand on each side of the region of `block`, which lanes reach one by one."""
    return bool(block.region and block.region.sides and other.code) and all(
        isinstance(c, Instruction) and facts_of(c.opcode).duplicable and not facts_of(c.opcode).row.blocking
        for c in other.code
    )


def _lockstep(block: Block) -> tuple[str, str]:
    """The lockstep marks of the beginning and the end of the block, "" where it has none."""
    return block.lockstep, block.end.lockstep if isinstance(block.end, Branch) else ""
