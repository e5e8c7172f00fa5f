"""Merges two kernels as closely as limits of size allow: each block beside whichever block of the other gains most;
else both kernels on one level of loops and ifs; else on the top level only; else one kernel after the other.

Requires: what choose.py does, of flows that are reducible. Ensures: the merged flow is within the limits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from goptx.analysis.cfg import Flow, loops
from goptx.errors import CannotWeave
from goptx.weaving.merging.choose import Merge, Weights, in_turn, merge_by_overlap
from goptx.weaving.merging.merge_input import MergeInput
from goptx.weaving.merging.merged_blocks import tidied
from goptx.weaving.merging.nesting import TOP, Level, Levels, height, nests
from goptx.weaving.merging.size_limits import Limits, TooLarge, block_count, instruction_count

MOST_PAIRS = 400_000  # of blocks; to look through so many takes about two seconds
NEAR = 0.9  # of the most latency that overlaps: what hides so much is as good, and the smaller the better
SHARES = (0.0, 0.1, 0.3)  # of the longest loop's cycles, which a loop has to last to be waited for
TO_FIT = "to stay within max_blocks= and max_growth="

Sides = tuple[MergeInput, MergeInput]
Weighed = tuple[Sides, tuple[Weights, Weights]]


@dataclass(frozen=True, slots=True)
class Fit:
    """The merged sides, which of the flows were taken, and how they were merged if not freely, and why."""

    side: MergeInput
    chosen: int
    note: str = ""


def fit(flows: Sequence[Sides], limits: Limits, where: str) -> Fit:
    """`flows` are the same kernels, sliced in different ways, the coarsest last; `where` names them in messages. Copies
    go in step if that fits.

    Raises `CannotWeave` where even one after the other they pass the limits.
    """
    pairs = [len(first.flow.blocks) * len(second.flow.blocks) for first, second in flows]
    few = [i for i in range(len(flows)) if sum(pairs[i:]) <= MOST_PAIRS]
    weighed = {i: (flows[i], (Weights.of(flows[i][0]), Weights.of(flows[i][1]))) for i in few}
    apart = {i: ((replace(s[0], in_step=False), s[1]), own) for i, (s, own) in weighed.items() if s[0].in_step}
    for (ways, near, note), tried in product(_RUNGS, (weighed, apart) if apart else (weighed,)):
        found = [(i, merge) for i in few for way in ways(tried[i]) for merge in _first_within(limits, way)]
        if found:
            least = near * max(merge.overlap for _, merge in found)
            i, smallest = min((f for f in found if f[1].overlap >= least), key=lambda f: f[1].size)
            return Fit(smallest.side(), i, note)
    side = in_turn(*flows[-1])
    flow = tidied(side.flow)
    if not limits.allow(flow):
        raise CannotWeave(
            f"{where}: even one after the other the kernels come to {block_count(flow)} blocks and "
            f"{instruction_count(flow)} instructions, and max_blocks= and max_growth= allow {limits.blocks} and "
            f"{limits.instructions}; raise them, or use separate launches.",
            rule="size-limits",
        )
    why = TO_FIT if few else f"because there are {pairs[-1]} pairs of blocks, too many to look through"
    return Fit(side, len(flows) - 1, f"merged one after the other {why}")


Way = tuple[Weighed, Levels | None]


def _freely(weighed: Weighed) -> Iterator[Iterable[Way]]:
    """Copies loop beside loop too: that is often the smallest way of them."""
    yield [(weighed, None)]
    if all(side.copy for side in weighed[0]):
        yield [_level(weighed)]


def _level_by_level(weighed: Weighed) -> Iterator[Iterable[Way]]:
    """Levels are counted from the outermost loops; or from the inmost, and a kernel waits deep in loops for the other
    to come to one. That takes a copy of what is around for each place where the other may be meanwhile, so where there
    is no room it is done for the loops that last longest."""
    tallest = max(height(s.flow) for s in weighed[0])
    yield [_level(weighed)]
    yield (_level(weighed, None, tallest, share) for share in SHARES)


def _on_top(weighed: Weighed) -> Iterator[Iterable[Way]]:
    yield [_level(weighed, TOP)]


def _level(
    weighed: Weighed, deepest: Level | None = None, tallest: int | None = None, share: float | None = None
) -> Way:
    sides, weights = weighed
    first, second = (
        nests(s.flow, tallest, _longest_loops(s.flow, w, share)) for s, w in zip(sides, weights, strict=True)
    )
    apart = replace(sides[0], flow=first.flow), replace(sides[1], flow=second.flow)
    own = weights[0].in_levels(first.flow), weights[1].in_levels(second.flow)
    return (apart, own), Levels(first, second, deepest)


def _longest_loops(flow: Flow, weights: Weights, share: float | None) -> frozenset[str]:
    """The heads of loops that last so large a share of the cycles of the kernel's longest; of none if it is None."""
    if share is None:
        return frozenset()
    cycles = {head: sum(weights.cycles[n] for n in body) for head, body in loops(flow).items()}
    return frozenset(h for h in cycles if cycles[h] >= share * max(cycles.values()))


_RUNGS: tuple[tuple[Callable[[Weighed], Iterator[Iterable[Way]]], float, str], ...] = (
    (_freely, 0.0, ""),
    (_level_by_level, NEAR, f"merged loop beside loop and if beside if {TO_FIT}"),
    (_on_top, NEAR, f"merged outside of loops and ifs only {TO_FIT}"),
)


def _first_within(limits: Limits, ways: Iterable[Way]) -> Iterator[Merge]:
    """The first of these ways that stays within the limits; none where none does."""
    for (sides, weights), levels in ways:
        try:
            yield merge_by_overlap(*sides, weights, limits, levels)
        except TooLarge:
            continue
        return
