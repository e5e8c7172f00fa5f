"""The cycles of one repetition over several rounds: least, median, spread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median, quantiles


@dataclass(frozen=True, slots=True)
class Sample:
    """Cycles. spread: from the 10th to the 90th hundredth of the rounds."""

    least: float
    median: float
    spread: float

    def __sub__(self, cycles: float) -> Sample:
        return Sample(self.least - cycles, self.median - cycles, self.spread)


def sample(rounds: Sequence[tuple[int, int]], short: int, long: int) -> Sample:
    """The cycles of one repetition, where `rounds` has the cycles of `short` and of `long` repetitions."""
    each = [(b - a) / (long - short) for a, b in rounds]
    tenths = quantiles(each, n=10, method="inclusive")
    return Sample(min(each), median(each), tenths[-1] - tenths[0])
