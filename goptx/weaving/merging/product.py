"""Pairs the blocks of two flows into one (Algorithm 1 of the GoPTX paper).

Requires: two flows, and for each pair of their blocks the kernels that run in it. Ensures: every path of the merged
flow is a path of each of the two; where one of them does not run it waits (a dummy block). The merged flow may be
merged again: its regions stay whole."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from math import inf

from goptx.analysis.cfg import EXIT, Block, Code, Flow
from goptx.analysis.terminators import Branch, End, Jump, Stop
from goptx.weaving.merging.size_limits import TooLarge

Pair = tuple[str, str]  # the block of each flow, EXIT if it has finished
Layout = Callable[[Sequence[Code], Sequence[Code]], tuple[Code, ...]]  # of the code of both


class Move(IntEnum):
    """Which kernels run at a pair; a finished kernel never runs."""

    BOTH = 0
    FIRST = 1
    SECOND = 2


ANY = tuple(Move)


@dataclass(frozen=True, slots=True)
class Pairing:
    """A pair of blocks, and the move there."""

    pair: Pair
    move: Move

    def runs(self, side: int) -> bool:
        return self.pair[side] != EXIT and self.move in (Move.BOTH, Move(side + 1))


@dataclass(frozen=True, slots=True)
class Product:
    """The flow over pairs, and the pairing of each block of it; stubs, which only branch, have none."""

    flow: Flow
    pairings: Mapping[str, Pairing]


def one_after_the_other(first: Sequence[Code], second: Sequence[Code]) -> tuple[Code, ...]:
    return (*first, *second)


class Pairs:
    """The pairs of two flows' blocks, and the successors of each. `labels` stand for the flows in the names of pairs;
    `in_lockstep` says that the flows are copies of one kernel whose branches may be tied to each other (lockstep.py).

    `order` has the blocks of each kernel in reverse postorder, `EXIT` last; `forward` the successors of each block
    without back edges; `before` its predecessors.
    """

    def __init__(
        self, first: Flow, second: Flow, labels: tuple[str, str] = ("A", "B"), in_lockstep: bool = False
    ) -> None:
        self.flows = (first, second)
        self.in_lockstep = in_lockstep
        self.order = [[*(n for n in f.reverse_postorder() if n != EXIT), EXIT] for f in self.flows]
        self.entry = (first.entry, second.entry)
        ranks = [{n: i for i, n in enumerate(order)} for order in self.order]
        self._names = [
            {n: f"{label}{'e' if n == EXIT else i}" for n, i in rank.items()}
            for label, rank in zip(labels, ranks, strict=True)
        ]
        self.forward = [
            {n: tuple(t for t in f.blocks[n].end.successors() or (EXIT,) if rank[t] >= rank[n]) for n in rank}
            for f, rank in zip(self.flows, ranks, strict=True)
        ]
        self.before: list[dict[str, list[str]]] = [{n: [] for n in order} for order in self.order]
        for side, order in enumerate(self.order):
            for name in order:
                for following in self._next(side, name):
                    self.before[side][following].append(name)

    def predecessors(self, pair: Pair) -> list[tuple[Pair, Move]]:
        """The pairs that lead there, each with the move by which it does."""
        first, second = pair
        firsts, seconds = self.before[0][first], self.before[1][second]
        both = [((f, s), Move.BOTH) for f in firsts for s in seconds]
        if self.in_lockstep:
            both = [(before, move) for before, move in both if pair in (self.tied(before) or (pair,))]
        return [*both, *(((f, second), Move.FIRST) for f in firsts), *(((first, s), Move.SECOND) for s in seconds)]

    def successors(self, pair: Pair, move: Move) -> Sequence[Pair]:
        if move == Move.BOTH and (tied := self.tied(pair)):
            return tied
        firsts = self._next(0, pair[0]) if move != Move.SECOND else (pair[0],)
        seconds = self._next(1, pair[1]) if move != Move.FIRST else (pair[1],)
        return [(f, s) for f in firsts for s in seconds]

    def product(self, move: Callable[[Pair], Move], most: float = inf, layout: Layout = one_after_the_other) -> Product:
        """The flow over all pairs that are reached from the two entries; `layout` orders the code of both in each.
        Raises
        `TooLarge` far above `most` instructions."""
        blocks: dict[str, Block] = {}
        pairings: dict[str, Pairing] = {}
        stack, seen = [self.entry], {self.entry}
        size = 0
        while stack:
            pair = stack.pop()
            if pair == (EXIT, EXIT):
                continue
            moved = move(pair)
            made = self._blocks(pair, moved, layout)
            blocks.update(made)
            pairings[self._name(pair)] = Pairing(pair, moved)
            size += sum(block.size for block in made.values())
            if size > 2 * most:  # some branches may be removed later
                raise TooLarge
            for following in self.successors(pair, moved):
                if following not in seen:
                    seen.add(following)
                    stack.append(following)
        blocks[EXIT] = Block((), Stop())
        return Product(Flow(self._name(self.entry), blocks), pairings)

    def _next(self, side: int, name: str) -> tuple[str, ...]:
        return self.flows[side].blocks[name].end.successors() or (EXIT,)

    def _name(self, pair: Pair) -> str:
        if pair == (EXIT, EXIT):
            return EXIT
        return f"${self._names[0][pair[0]]}_{self._names[1][pair[1]]}"

    def _blocks(self, pair: Pair, move: Move, layout: Layout) -> dict[str, Block]:
        """The blocks for one pair: itself, and a stub for each side of the first of two branches."""
        name = self._name(pair)
        pieces = [f.blocks[n] for f, n in zip(self.flows, pair, strict=True)]
        runs = (move != Move.SECOND, move != Move.FIRST)
        ends = [p.end if r else Jump(n) for p, r, n in zip(pieces, runs, pair, strict=True)]
        end, stubs = self._end(name, ends[0], ends[1], self.tied(pair) if all(runs) else ())
        pragmas = tuple(dict.fromkeys(d for p, r in zip(pieces, runs, strict=True) if r for d in p.pragmas))
        first, second = (p.code if r else () for p, r in zip(pieces, runs, strict=True))
        regions = [p.region if r else None for p, r in zip(pieces, runs, strict=True)]
        if regions == [None, None]:
            lockstep = next((p.lockstep for p, r in zip(pieces, runs, strict=True) if r and p.lockstep), "")
            return {name: Block(layout(first, second), end, pragmas, lockstep=lockstep), **stubs}
        region = regions[0] or regions[1]
        assert region and None in regions
        # The other's code stands on each side of the region, its branch after the region.
        inside = {
            n: replace(b, code=layout(b.code, second) if regions[0] else layout(first, b.code))
            for n, b in ((n, region.blocks[n]) for n in region.sides)
        }
        return {name: Block((), end, pragmas, replace(region, blocks={**region.blocks, **inside})), **stubs}

    def tied(self, pair: Pair) -> Sequence[Pair]:
        """The successors of the pair if both kernels branch together there: they decide equally, or the one that would
        leave a loop may stay in it as long as the other does. Else nothing."""
        first, second = (f.blocks[n].end for f, n in zip(self.flows, pair, strict=True))
        if not (self.in_lockstep and isinstance(first, Branch) and isinstance(second, Branch)):
            return ()
        if first.lockstep != second.lockstep or not (first.lockstep or (first.safe_to_take and second.safe_to_take)):
            return ()
        return tuple(zip(first.successors(), second.successors(), strict=True))

    def _end(self, name: str, first: End, second: End, tied: Sequence[Pair]) -> tuple[End, dict[str, Block]]:
        """Both ends as one: where both branch, each side of the first leads to a stub with the second's branch, unless
        they branch together."""
        if tied and isinstance(first, Branch) and isinstance(second, Branch):
            others = first.others if first.lockstep else (*first.others, second.guard, *second.others)
            joint = replace(first, others=others)
            return joint.retarget({f: self._name((f, s)) for f, s in tied}), {}
        firsts, seconds = first.successors() or (EXIT,), second.successors() or (EXIT,)
        if len(firsts) == 1:
            return _retargeted(second, {s: self._name((firsts[0], s)) for s in seconds}), {}
        if len(seconds) == 1:
            return _retargeted(first, {f: self._name((f, seconds[0])) for f in firsts}), {}
        stubs = {f: f"{name}_d{i}" for i, f in enumerate(firsts)}
        return first.retarget(stubs), {
            stub: Block((), second.retarget({s: self._name((f, s)) for s in seconds})) for f, stub in stubs.items()
        }


def _retargeted(end: End, new: dict[str, str]) -> End:
    return Jump(new[EXIT]) if isinstance(end, Stop) else end.retarget(new)
