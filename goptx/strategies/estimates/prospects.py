"""What a candidate promises: its estimates under each assumption, compared with separate launches, and the choice.

Nobody knows how kernels behave when they are fused. So candidates are compared with separate launches under each
assumption (cost/assumptions.py): those that may lose much are left out, whatever they may gain; of the others, the
fastest under the middle assumption is taken.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from statistics import geometric_mean

from goptx.cost.assumptions import Assumption
from goptx.cost.estimate import Estimate
from goptx.strategies.candidate import Candidate, unchanged
from goptx.strategies.estimates.judge import Judge

TIE = 0.01  # estimates that differ by less are taken to be equal
ROBUST = 0.04  # by which a plain interleaved kernel may be slower than another, which loses more where estimates err
LOSS = 0.07  # times as long as separate launches, less 1: what the worst case may cost; estimates are no better
LEAST = 0.03  # the least gain, less 1, for which kernels are fused: less was measured as a loss as often as a gain
# The same where a thread runs several kernels: an assembler may give it many more registers than estimated, where those
# of the kernels alone are as estimated (measured on the fitted pairs of benchmarks/unseen).
LEAST_TOGETHER = 0.05
ONE_EACH = ("interleave", "horizontal", "separate")  # each thread runs one kernel
# How many times as fast as warps that run one kernel each woven ones have to be estimated, if it is known how long the
# kernels take: then estimates of the former are right within 8 % (root of the mean square of 200 pairs of
# benchmarks/unseen), those of the latter are not, for the assembler's registers are not: of 14 that were estimated 1.1
# to 1.27 times as fast, two were.
TOGETHER = 1.3
# The same where CTAs of two kernels run beside each other that would run in turn: the seven pairs of benchmarks/unseen,
# none held out, for which so much is estimated, gain 9 to 29 %.
BESIDE = 1.08
# A gain, less 1, under some assumption, for which a candidate is taken that never loses; and the same where a thread
# runs several kernels: as much as where most CTAs end at once.
MUCH, MUCH_TOGETHER = 0.12, 0.24
# Both on folded grids: what they gain is between 0.78 and 1.1 times the estimate (twelve pairs of suite C and of
# benchmarks/unseen that are not held out), 0.85 and more for eleven.
LEAST_FOLDED = 0.14
# The share by which kernels that are coarsened by 4 were measured to take longer, compared with those coarsened by 2,
# than estimated (mean of suite A in both shapes and the fitted pairs): the assembler gives copies more registers.
MANY_COPIES = 0.07
STAKE = 1 / 3  # of what a candidate may lose in the worst case, the share that it has to gain in the middle one


@dataclass(frozen=True, slots=True)
class Prospect:
    """The estimates of a candidate, and the cycles of the best separate launches: under each assumption, the middle one
    first."""

    estimates: tuple[Estimate, ...]
    separate: tuple[float, ...]

    @property
    def middle(self) -> Estimate:
        return self.estimates[0]

    @property
    def cycles(self) -> float:
        """Under the middle assumption."""
        return self.middle.cycles

    @property
    def gain(self) -> float:
        """How many times as fast as separate launches, under the middle assumption."""
        return self.separate[0] / self.cycles

    @property
    def gains(self) -> tuple[float, ...]:
        """How many times as fast as separate launches, under each assumption."""
        return tuple(least / each.cycles for least, each in zip(self.separate, self.estimates, strict=True))

    @property
    def mean_gain(self) -> float:
        """The geometric mean of the gains under all assumptions."""
        return round(geometric_mean(self.gains), 4) if all(self.gains) else 0.0

    @property
    def worst(self) -> tuple[float, int]:
        """The least gain, and the number of its assumption."""
        return min((gain, k) for k, gain in enumerate(self.gains))

    @property
    def loss(self) -> float:
        """How much longer than separate launches it takes in the worst case, as a share; 0 if it never does, infinite
        if it cannot run."""
        least = self.worst[0]
        return max(1.0 / least - 1.0, 0.0) if least else inf


def separate_cycles(
    judge: Judge, dependent: bool = False, assumptions: Sequence[Assumption] | None = None
) -> tuple[float, ...]:
    """The cycles of the kernels as they are, launched one after the other or, unless they are `dependent`, side by
    side, whichever is faster, under each of the assumptions, by default all."""
    plain = unchanged(len(judge.kernels))
    candidates = [plain] if dependent else [plain, judge.side_by_side(plain)]
    each = [judge.under(assumptions or judge.assumptions, candidate)[candidate] for candidate in candidates]
    return tuple(min(estimate.cycles for estimate in row) for row in zip(*each, strict=True))


def is_choosable(candidate: Candidate, prospect: Prospect) -> bool:
    """Whether a candidate never loses much, and gains: under the middle assumption, in proportion to what it may lose;
    or, if it is never slower as far as estimates tell, much under some assumption."""
    if prospect.loss > LOSS:
        return False
    least, much = (LEAST, MUCH) if candidate.strategy in ONE_EACH else (LEAST_TOGETHER, MUCH_TOGETHER)
    if candidate.option("fold"):
        least = much = LEAST_FOLDED
    for_nothing = prospect.loss <= TIE and prospect.gain >= 1.0 - TIE and max(prospect.gains) >= 1.0 + much
    return for_nothing or prospect.gain > 1.0 + max(least, STAKE * prospect.loss)


def _rated(candidate: Candidate, prospect: Prospect) -> float:
    """Its cycles under the middle assumption, more for kernels that are coarsened much."""
    much = sum(factor > 2 for factor in candidate.factors) / len(candidate.factors)
    return prospect.cycles * (1.0 + MANY_COPIES * much)


def _demanded(candidate: Candidate) -> float:
    """How many times as fast as kernels that run one each, in turn, it has to be estimated."""
    if candidate.strategy not in ONE_EACH:
        return TOGETHER
    return BESIDE if candidate.strategy == "interleave" and candidate.option("ratio") else 1.0


def best(found: Mapping[Candidate, Prospect], known: bool = False) -> Candidate:
    """The candidate to choose. Of those that are about as fast under the middle assumption, the one that is fastest in
    the mean of all is taken. `known`: whether it is known how long the warps of each kernel run."""
    separate = {c for c in found if c.plain and c.strategy == "separate"}
    if known:
        own = min((p.cycles for c, p in found.items() if _demanded(c) == 1.0 and c.plain), default=inf)
        found = {c: p for c, p in found.items() if p.cycles * _demanded(c) < own or _demanded(c) == 1.0}
    safe = [c for c in found if c in separate or is_choosable(c, found[c])]
    if not safe:
        return min(found, key=lambda c: (found[c].loss, found[c].cycles))
    cycles = {c: _rated(c, found[c]) for c in safe}
    least = min(cycles.values())
    robust = [c for c in safe if c.plain and c.strategy == "interleave" and cycles[c] <= least * (1 + ROBUST)]
    least = min((cycles[c] for c in robust), default=least)
    near = [c for c in robust or safe if cycles[c] <= least * (1 + TIE)]
    return max(near, key=lambda c: (found[c].mean_gain, -found[c].cycles, bool(c.option("streams"))))
