"""Speedups, and how far the estimates agree with them."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from goptx.measuring.bench.baselines import WAYS, best_baseline

NEAR = 0.03  # speedups that are nearer to 1 are neither a gain nor a loss

Row = Mapping[str, Any]


def baseline(row: Row) -> str:
    """The fastest way to run the unchanged kernels."""
    return best_baseline({way: statistics.median(row["ms"][way]) for way in WAYS if way in row["ms"]})


def speedup(row: Row, way: str, over: str = "") -> float | None:
    """By medians, over the best separate launches, or over those in one way; None if it was not timed."""
    if way not in row.get("ms", {}):
        return None
    unchanged, own = row["ms"][over or baseline(row)], row["ms"][way]
    return float(statistics.median(unchanged) / statistics.median(own))


def speedups(rows: Iterable[Row], way: str, over: str = "") -> list[float]:
    """Of the pairs that were timed."""
    return [found for row in rows if (found := speedup(row, way, over)) is not None]


def estimates(rows: Iterable[Row], way: str) -> list[tuple[float, float]]:
    """The estimated and the measured speedup of each pair that has both."""
    found = []
    for row in rows:
        estimate, measured = row["ways"].get(way, {}).get("estimate"), speedup(row, way)
        if estimate is not None and measured is not None:
            found.append((float(estimate), measured))
    return found


def ranks(values: Sequence[float]) -> list[float]:
    """From 1; equal values share the mean of their ranks."""
    ordered = sorted(values)
    first = {value: ordered.index(value) for value in set(values)}
    return [first[value] + (ordered.count(value) + 1) / 2 for value in values]


def rank_correlation(pairs: Sequence[tuple[float, float]]) -> float | None:
    """Spearman's: of the ranks. None for fewer than three pairs, or where all are equal on a side."""
    if len(pairs) < 3:
        return None
    sides = [ranks(side) for side in zip(*pairs, strict=True)]
    try:
        return statistics.correlation(*sides)
    except statistics.StatisticsError:
        return None


def signs(pairs: Sequence[tuple[float, float]]) -> tuple[int, int, int]:
    """How many estimates say rightly whether there is a gain, say a gain where there is a loss, and a loss where there
    is a gain. Measured speedups near to 1 are left out."""
    clear = [(estimate > 1, measured > 1) for estimate, measured in pairs if abs(measured - 1) > NEAR]
    right = sum(estimate == measured for estimate, measured in clear)
    too_high = sum(estimate and not measured for estimate, measured in clear)
    return right, too_high, len(clear) - right - too_high
