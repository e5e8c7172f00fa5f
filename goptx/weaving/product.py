"""Pairs the blocks of two kernels into one flow (Algorithm 1 of the GoPTX paper; M1).

Requires: two flows, and for each pair of their blocks who runs in it. Ensures: every path of the merged
flow is a path of each kernel, one of them waiting (a dummy block) where it does not run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import IntEnum
from math import inf

from goptx.analysis.cfg import EXIT, Block, Code, End, Flow, Jump, Stop, loops
from goptx.weaving.growth import TooLarge

Pair = tuple[str, str]  # the block of each kernel, EXIT for a finished one
Parts = tuple[tuple[Code, ...], ...]  # the code of each kernel in a merged block, in the order of the kernels
Turn = tuple[tuple[int, Code], ...]  # what may wait or be waited for, and the index of its kernel; several at once


class Move(IntEnum):
    """Who runs at a pair; a finished kernel runs nothing in any case."""

    BOTH = 0
    FIRST = 1
    SECOND = 2


ANY = tuple(Move)


@dataclass(frozen=True, slots=True)
class Pairing:
    """A pair of blocks, who runs in it, and the code of each kernel."""

    pair: Pair
    move: Move
    parts: Parts


@dataclass(frozen=True, slots=True)
class MergedBlock:
    """The pairings that always follow each other. `turns` has the code that must keep its order across kernels."""

    pairings: tuple[Pairing, ...]
    turns: tuple[Turn, ...] = ()

    @property
    def parts(self) -> Parts:
        """The code of each kernel in all of them."""
        return tuple(tuple(code for p in self.pairings for code in p.parts[k]) for k in range(2))

    @property
    def woven(self) -> bool:
        return all(self.parts)

    @property
    def dummy(self) -> bool:
        """Whether one kernel waits all the time although it has not finished."""
        parked = [EXIT not in p.pair and p.move != Move.BOTH for p in self.pairings]
        return any(parked) and not self.woven


@dataclass(frozen=True, slots=True)
class Merged:
    """The merged flow, tidied, the code of its blocks still apart in `blocks`."""

    flow: Flow
    blocks: dict[str, MergedBlock]

    @property
    def size(self) -> int:
        """Its instructions, branches among them."""
        return sum(block.size for block in self.flow.blocks.values())


@dataclass(frozen=True, slots=True)
class Product:
    """The flow over pairs as it was built, and the pairing of each block of it; stubs have none."""

    flow: Flow
    pairings: Mapping[str, Pairing]

    def copied(self, flow: Flow, origin: Mapping[str, str]) -> Product:
        """The same with copies of blocks: `flow` has them, `origin` says what each is a copy of."""
        copies = {copy: self.pairings[old] for copy, old in origin.items() if old in self.pairings}
        return Product(flow, {**self.pairings, **copies})

    def tidied(self, turns: Callable[[Pairing], Iterable[Turn]], join: bool = True) -> Merged:
        """Without empty blocks and unreachable ones; `join` makes blocks that always follow each other one block,
        whose code is then woven as a whole. `turns` has what of a pairing must keep its order across kernels."""
        flow = _pragmas_at_loops(self.flow.without_empty())
        chains = flow.chains() if join else {name: (name,) for name in flow.blocks}
        blocks = {}
        for head, members in chains.items():
            pairings = tuple(self.pairings[m] for m in members if m in self.pairings)
            blocks[head] = MergedBlock(pairings, tuple(turn for p in pairings for turn in turns(p)))
        return Merged(flow.pruned() if join else flow, blocks)


class Pairs:
    """The pairs of two kernels' blocks, and what follows each.

    `order` has the blocks of each kernel in reverse postorder, `EXIT` last; `forward` what each block leads to, what it
    goes back to left out; `before` what leads to it.
    """

    def __init__(self, first: Flow, second: Flow) -> None:
        self.flows = (first, second)
        self.order = [[*(n for n in f.reverse_postorder() if n != EXIT), EXIT] for f in self.flows]
        self.entry = (first.entry, second.entry)
        self._rank = [{n: i for i, n in enumerate(order)} for order in self.order]
        self.forward = [
            {n: tuple(t for t in f.blocks[n].end.successors() or (EXIT,) if rank[t] >= rank[n]) for n in rank}
            for f, rank in zip(self.flows, self._rank, strict=True)
        ]
        self.before: list[dict[str, list[str]]] = [{n: [] for n in order} for order in self.order]
        for side, order in enumerate(self.order):
            for name in order:
                for following in self._next(side, name):
                    self.before[side][following].append(name)

    def predecessors(self, pair: Pair) -> Iterator[tuple[Pair, Move]]:
        """The pairs that lead there, and by which move."""
        first, second = pair
        for move in Move:
            firsts = self.before[0][first] if move != Move.SECOND else (first,)
            seconds = self.before[1][second] if move != Move.FIRST else (second,)
            yield from (((f, s), move) for f in firsts for s in seconds)

    def successors(self, pair: Pair, move: Move) -> list[Pair]:
        firsts = self._next(0, pair[0]) if move != Move.SECOND else (pair[0],)
        seconds = self._next(1, pair[1]) if move != Move.FIRST else (pair[1],)
        return [(f, s) for f in firsts for s in seconds]

    def product(self, move: Callable[[Pair], Move], most: float = inf) -> Product:
        """The flow over all pairs that are reached from the two entries. Raises `TooLarge` where that is far beyond
        `most` instructions."""
        blocks: dict[str, Block] = {}
        pairings: dict[str, Pairing] = {}
        stack, seen = [self.entry], {self.entry}
        size = 0
        while stack:
            pair = stack.pop()
            if pair == (EXIT, EXIT):
                continue
            moved = move(pair)
            made, parts = self._blocks(pair, moved)
            blocks.update(made)
            pairings.update({name: Pairing(pair, moved, code) for name, code in parts.items()})
            size += sum(block.size for block in made.values())
            if size > 2 * most:  # some branches may yet fall away
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
        names = (f"{x}{'e' if n == EXIT else r[n]}" for x, n, r in zip("AB", pair, self._rank, strict=True))
        return "$" + "_".join(names)

    def _blocks(self, pair: Pair, move: Move) -> tuple[dict[str, Block], dict[str, Parts]]:
        """The blocks of W that one pair becomes (itself, a stub for each way of a double branch, a region),
        and whose code they hold."""
        name = self._name(pair)
        pieces = [f.blocks[n] for f, n in zip(self.flows, pair, strict=True)]
        runs = (move != Move.SECOND, move != Move.FIRST)
        ends = [p.end if r else Jump(n) for p, r, n in zip(pieces, runs, pair, strict=True)]
        end, stubs = self._end(name, ends[0], ends[1])
        pragmas = tuple(dict.fromkeys(d for p, r in zip(pieces, runs, strict=True) if r for d in p.pragmas))
        parts: dict[str, Parts] = {name: tuple(p.code if r else () for p, r in zip(pieces, runs, strict=True))}
        kernel, region = next(((k, p.region) for k, p in enumerate(pieces) if runs[k] and p.region), (0, None))
        if region is None:
            return {name: Block(sum(parts[name], ()), end, pragmas), **stubs}, parts
        # The other kernel's code, if it runs here, stands on each side of the region, and its branch behind.
        new = {inner: f"{name}_r{i}" for i, inner in enumerate(region.blocks)}
        behind = f"{name}_j"
        targets = {**new, region.leave: behind}
        beside = parts.pop(name)[1 - kernel]
        inside: dict[str, Block] = {}
        for inner, block in region.blocks.items():
            own, others = block.code, beside if inner in region.sides else ()
            parts[new[inner]] = (own, others) if kernel == 0 else (others, own)
            inside[new[inner]] = replace(block, code=own + others, end=block.end.retarget(targets))
        begin = Block((), Jump(new[region.entry]), pragmas)
        return {name: begin, **inside, behind: Block((), end), **stubs}, parts

    def _end(self, name: str, first: End, second: End) -> tuple[End, dict[str, Block]]:
        """Both ends as one: where both branch, each way of the first leads to a stub with the second's branch."""
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


def _pragmas_at_loops(flow: Flow) -> Flow:
    """`.pragma "nounroll"` speaks of the loop that its block begins; copies outside of loops lose it."""
    headers = loops(flow)
    return Flow(flow.entry, {n: b if n in headers else replace(b, pragmas=()) for n, b in flow.blocks.items()})
