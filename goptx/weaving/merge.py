"""Pairs the blocks of two kernels into one flow (after Algorithm 1 of the GoPTX paper; M1, M2).

Requires: converged flows with barriers prepared. Ensures: from each pair, either both kernels run their
block, or one runs and the other is parked (a dummy block); every thread of a CTA meets the barriers of
both kernels in one order; the merged flow is reducible.

Which blocks run together is chosen by dynamic programming over the pairs: the way through both flows that
lets the most latency overlap, and of those the one that does so in the heaviest blocks. Safety comes
before: `_moves` lists what is allowed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum

import networkx as nx

from goptx.analysis.cfg import EXIT, Block, Code, End, Flow, Jump, Stop, depths, holds_barrier, is_barrier, loops
from goptx.weaving.reducible import reducible

MAX_DEPTH = 4  # loop nests deeper than this weigh no more


class Move(IntEnum):
    """Who runs at a pair; ties go to the earlier."""

    BOTH = 0
    FIRST = 1
    SECOND = 2


Overlap = tuple[float, float]  # cycles that run beside the other kernel; cycles of the blocks where they do


@dataclass(frozen=True, slots=True)
class Side:
    """One kernel as the merger sees it."""

    flow: Flow
    warp_branches: frozenset[str]
    cycles: Callable[[Code], int]


Parts = tuple[tuple[Code, ...], ...]  # the code of each kernel in a merged block, in the order of the kernels


@dataclass(frozen=True, slots=True)
class Pairing:
    """The pair `(first, second)` of block names, and who runs in it."""

    pair: tuple[str, str]
    move: Move


@dataclass(frozen=True, slots=True)
class MergedBlock:
    """The pairings that always follow each other, and the code of each kernel in all of them.

    `waits` are the CTA barriers in the order in which the pairings meet them, the kernel's index with each.
    """

    pairings: tuple[Pairing, ...]
    parts: Parts
    waits: tuple[int, ...]

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


def merge(first: Side, second: Side) -> Merged:
    return _Merger(first, second).run()


class _Merger:
    def __init__(self, first: Side, second: Side) -> None:
        self.sides = (first, second)
        self.order = [_exit_last(s.flow) for s in self.sides]
        self.rank = [{n: i for i, n in enumerate(order)} for order in self.order]
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
        self.value: dict[tuple[str, str], tuple[Overlap, Move]] = {}

    def run(self) -> Merged:
        self._choose()
        entry = (self.sides[0].flow.entry, self.sides[1].flow.entry)
        blocks: dict[str, Block] = {}
        parts: dict[str, Parts] = {}
        pairings: dict[str, Pairing] = {}
        stack, seen = [entry], {entry}
        while stack:
            pair = stack.pop()
            if pair == (EXIT, EXIT):
                continue
            pairing = Pairing(pair, self.value[pair][1])
            made, codes = self._blocks(pairing)
            blocks.update(made)
            parts.update(codes)
            pairings.update(dict.fromkeys(codes, pairing))
            for following in self._successors(pair, pairing.move):
                if following not in seen:
                    seen.add(following)
                    stack.append(following)
        blocks[EXIT] = Block((), Stop())
        flow, origin = reducible(Flow(self._name(entry), blocks).without_empty())
        parts |= {copy: parts[original] for copy, original in origin.items() if original in parts}
        pairings |= {copy: pairings[original] for copy, original in origin.items() if original in pairings}
        tidy = _pragmas_at_loops(flow.without_empty())
        merged = {head: _joined(members, pairings, parts) for head, members in tidy.chains().items()}
        return Merged(tidy.pruned(), merged)

    # choosing ----------------------------------------------------------------------------------------

    def _choose(self) -> None:
        """For each pair the move with the most overlapped latency ahead; back edges count for nothing."""
        for first in reversed(self.order[0]):
            for second in reversed(self.order[1]):
                pair = (first, second)
                choices = [(self._overlap(pair, m), m) for m in self._moves(pair)]
                self.value[pair] = max(choices, key=lambda c: (c[0], -c[1]), default=((0.0, 0.0), Move.BOTH))

    def _moves(self, pair: tuple[str, str]) -> Sequence[Move]:
        first, second = pair
        if first == EXIT or second == EXIT:
            return () if first == second else (Move.SECOND,) if first == EXIT else (Move.FIRST,)
        # One order of waiting (contract 3): where the warps of a CTA may have come different ways, the first
        # kernel's barriers come first, and the second waits ahead of its own.
        apart = first in self.apart[0] or second in self.apart[1]
        if apart and first in self.before_barrier and second in self.has_barrier[1]:
            return (Move.FIRST,)
        if self.sides[0].flow.blocks[first].region or self.sides[1].flow.blocks[second].region:
            return (Move.FIRST, Move.SECOND)
        return (Move.BOTH, Move.FIRST, Move.SECOND)

    def _overlap(self, pair: tuple[str, str], move: Move) -> Overlap:
        """What overlaps at the pair and on the best way ahead of it."""
        ahead = [self.value[p][0] for p in self._successors(pair, move) if p in self.value and self._forward(pair, p)]
        shared, joint = max(ahead, default=(0.0, 0.0))
        if move != Move.BOTH:
            return shared, joint
        weights = self.weights[0][pair[0]], self.weights[1][pair[1]]
        return shared + min(weights), joint + (sum(weights) if min(weights) else 0.0)

    def _forward(self, pair: tuple[str, str], following: tuple[str, str]) -> bool:
        return all(r[f] >= r[p] for r, p, f in zip(self.rank, pair, following, strict=True))

    def _successors(self, pair: tuple[str, str], move: Move) -> list[tuple[str, str]]:
        firsts = self._next(0, pair[0]) if move != Move.SECOND else (pair[0],)
        seconds = self._next(1, pair[1]) if move != Move.FIRST else (pair[1],)
        return [(f, s) for f in firsts for s in seconds]

    def _next(self, side: int, name: str) -> tuple[str, ...]:
        return self.sides[side].flow.blocks[name].end.successors() or (EXIT,)

    # building ----------------------------------------------------------------------------------------

    def _name(self, pair: tuple[str, str]) -> str:
        if pair == (EXIT, EXIT):
            return EXIT
        names = (f"{x}{'e' if n == EXIT else r[n]}" for x, n, r in zip("AB", pair, self.rank, strict=True))
        return "$" + "_".join(names)

    def _blocks(self, pairing: Pairing) -> tuple[dict[str, Block], dict[str, Parts]]:
        """The blocks of W that one pair becomes (itself, a stub for each way of a double branch, a region),
        and whose code they hold."""
        name = self._name(pairing.pair)
        pieces = [s.flow.blocks[n] for s, n in zip(self.sides, pairing.pair, strict=True)]
        runs = (pairing.move != Move.SECOND, pairing.move != Move.FIRST)
        ends = [p.end if r else Jump(n) for p, r, n in zip(pieces, runs, pairing.pair, strict=True)]
        end, stubs = self._end(name, ends[0], ends[1])
        pragmas = tuple(dict.fromkeys(d for p, r in zip(pieces, runs, strict=True) if r for d in p.pragmas))
        parts: dict[str, Parts] = {name: tuple(p.code if r else () for p, r in zip(pieces, runs, strict=True))}
        region = next((p.region for p, r in zip(pieces, runs, strict=True) if r and p.region), None)
        if region is None:
            return {name: Block(sum(parts[name], ()), end, pragmas), **stubs}, parts
        assert isinstance(end, Jump)
        new = {inner: f"{name}_r{i}" for i, inner in enumerate(region.blocks)}
        targets = {**new, region.leave: end.target}
        inside = {new[n]: replace(b, end=b.end.retarget(targets)) for n, b in region.blocks.items()}
        parts |= {n: (b.code, ()) if runs[0] else ((), b.code) for n, b in inside.items()}
        return {name: Block((), Jump(new[region.entry]), pragmas), **inside, **stubs}, parts

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


def _pragmas_at_loops(flow: Flow) -> Flow:
    """`.pragma "nounroll"` speaks of the loop that its block begins; copies outside of loops lose it."""
    headers = loops(flow)
    return Flow(flow.entry, {n: b if n in headers else replace(b, pragmas=()) for n, b in flow.blocks.items()})


def _joined(members: Sequence[str], pairings: dict[str, Pairing], parts: dict[str, Parts]) -> MergedBlock:
    codes = [parts[m] for m in members if m in parts]
    waits = [kernel for code in codes for kernel, part in enumerate(code) for item in part if is_barrier(item)]
    joined = tuple(tuple(c for code in codes for c in code[k]) for k in range(2))
    return MergedBlock(tuple(pairings[m] for m in members if m in pairings), joined, tuple(waits))


def _retargeted(end: End, new: dict[str, str]) -> End:
    return Jump(new[EXIT]) if isinstance(end, Stop) else end.retarget(new)


def _exit_last(flow: Flow) -> list[str]:
    order = [n for n in flow.reverse_postorder() if n != EXIT]
    return [*order, EXIT]


def _weights(side: Side) -> dict[str, float]:
    """Latency of each block in cycles, ten times as much for each loop around it."""
    depth = depths(side.flow)
    return {
        name: float(sum(map(side.cycles, block.code)) * 10 ** min(depth[name], MAX_DEPTH))
        for name, block in side.flow.blocks.items()
    }
