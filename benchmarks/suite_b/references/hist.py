"""Counts of a histogram, exact."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from suite_b.references import host

PART = 1 << 24  # numbers that are counted at a time


def problem(given: Mapping[str, Any], found: Mapping[str, Any]) -> str:
    bins, numbers = int(given["bins"]), given["x"]
    expected = host(given["counts"]).astype(np.int64)
    for begin in range(0, len(numbers), PART):
        position = (host(numbers[begin : begin + PART]) - np.float32(given["low"])) * np.float32(given["scale"])
        inside = position[(position >= 0) & (position < bins)]
        expected += np.bincount(inside.astype(np.int64), minlength=bins)
    differs = np.flatnonzero(host(found["counts"]) != expected)
    return f"hist: {len(differs)} counts differ, the first in bin {differs[0]}" if len(differs) else ""
