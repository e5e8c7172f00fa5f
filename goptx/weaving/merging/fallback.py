"""Merges two kernels as closely as the size limits allow: each block beside any block of the other, by gain; else both
kernels on one level of loops and ifs; else on the top level only; else one kernel after the other.

Requires: what choose.py requires, of reducible flows. Ensures: the merged flow is within the limits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from goptx.analysis.cfg import Flow, loops
from goptx.errors import CannotWeave
from goptx.weaving.merging.choose import Merge, Weights, merge_by_overlap, sequential
from goptx.weaving.merging.merge_input import MergeInput
from goptx.weaving.merging.merged_blocks import tidied
from goptx.weaving.merging.nesting import TOP, Level, Levels, height, nests
from goptx.weaving.merging.size_limits import Limits, TooLarge, block_count, instruction_count

MOST_PAIRS = 400_000  # of blocks; so many take about two seconds
NEAR = 0.9  # of the largest overlap of latency: candidates above this count as equal, and the smallest is taken
SHARES = (0.0, 0.1, 0.3)  # of the longest loop's cycles: kernels wait for loops that last longer
TO_FIT = "to stay within max_blocks= and max_growth="

Sides = tuple[MergeInput, MergeInput]
Weighed = tuple[Sides, tuple[Weights, Weights]]


@dataclass(frozen=True, slots=True)
class Fit:
    """The merged sides, the number of the flows that were taken, and how and why they were not merged freely."""

    side: MergeInput
    chosen: int
    note: str = ""


def fit(flows: Sequence[Sides], limits: Limits, where: str) -> Fit:
    """`flows` are the same kernels, with different slicings, the coarsest last; `where` names them in messages. Copies
    run in lockstep if that fits.

    Raises `CannotWeave` where they exceed the limits even one after the other.
    """
    pairs = [len(first.flow.blocks) * len(second.flow.blocks) for first, second in flows]
    few = [i for i in range(len(flows)) if sum(pairs[i:]) <= MOST_PAIRS]
    weighed = {i: (flows[i], (Weights.of(flows[i][0]), Weights.of(flows[i][1]))) for i in few}
    separate = {
        i: ((replace(s[0], in_lockstep=False), s[1]), own) for i, (s, own) in weighed.items() if s[0].in_lockstep
    }
    for (candidates, near, note), tried in product(_RUNGS, (weighed, separate) if separate else (weighed,)):
        found = [
            (i, merge) for i in few for candidate in candidates(tried[i]) for merge in _first_within(limits, candidate)
        ]
        if found:
            least = near * max(merge.overlap for _, merge in found)
            i, smallest = min((f for f in found if f[1].overlap >= least), key=lambda f: f[1].size)
            return Fit(smallest.side(), i, note)
    side = one_after_the_other(flows[-1], limits, where)
    why = TO_FIT if few else f"because there are {pairs[-1]} pairs of blocks, too many to look through"
    return Fit(side, len(flows) - 1, f"merged one after the other {why}")


def one_after_the_other(sides: Sides, limits: Limits, where: str) -> MergeInput:
    """Both kernels, the second after the first. Raises `CannotWeave` where they exceed the limits."""
    side = sequential(*sides)
    flow = tidied(side.flow)
    if not limits.allow(flow):
        raise CannotWeave(
            f"{where}: even one after the other the kernels come to {block_count(flow)} blocks and "
            f"{instruction_count(flow)} instructions, and max_blocks= and max_growth= allow {limits.blocks} and "
            f"{limits.instructions}; raise them, or use separate launches.",
            rule="size-limits",
        )
    return side


Candidate = tuple[Weighed, Levels | None]


def _freely(weighed: Weighed) -> Iterator[Iterable[Candidate]]:
    """Copies are also tried loop beside loop: that is often the smallest candidate."""
    yield [(weighed, None)]
    if all(side.copy for side in weighed[0]):
        yield [_level(weighed)]


def _by_level(weighed: Weighed) -> Iterator[Iterable[Candidate]]:
    """Levels are counted from the outermost loops; or from the innermost ones, where a kernel waits deep in loops for
    the other to come to one. That needs a copy of the code around for each place where the other may be meanwhile. If
    that is too large, it is done for the loops that last longest."""
    tallest = max(height(s.flow) for s in weighed[0])
    yield [_level(weighed)]
    yield (_level(weighed, None, tallest, share) for share in SHARES)


def _on_top(weighed: Weighed) -> Iterator[Iterable[Candidate]]:
    yield [_level(weighed, TOP)]


def _level(
    weighed: Weighed, deepest: Level | None = None, tallest: int | None = None, share: float | None = None
) -> Candidate:
    sides, weights = weighed
    first, second = (
        nests(s.flow, tallest, _longest_loops(s.flow, w, share)) for s, w in zip(sides, weights, strict=True)
    )
    separate = replace(sides[0], flow=first.flow), replace(sides[1], flow=second.flow)
    own = weights[0].on_levels(first.flow), weights[1].on_levels(second.flow)
    return (separate, own), Levels(first, second, deepest)


def _longest_loops(flow: Flow, weights: Weights, share: float | None) -> frozenset[str]:
    """The heads of loops that last at least this share of the kernel's longest loop; none if the share is None."""
    if share is None:
        return frozenset()
    cycles = {head: sum(weights.cycles[n] for n in body) for head, body in loops(flow).items()}
    return frozenset(h for h in cycles if cycles[h] >= share * max(cycles.values()))


_RUNGS: tuple[tuple[Callable[[Weighed], Iterator[Iterable[Candidate]]], float, str], ...] = (
    (_freely, 0.0, ""),
    (_by_level, NEAR, f"merged loop beside loop and if beside if {TO_FIT}"),
    (_on_top, NEAR, f"merged outside of loops and ifs only {TO_FIT}"),
)


def _first_within(limits: Limits, candidates: Iterable[Candidate]) -> Iterator[Merge]:
    """The first candidate within the limits, if there is one."""
    for (sides, weights), levels in candidates:
        try:
            yield merge_by_overlap(*sides, weights, limits, levels)
        except TooLarge:
            continue
        return
