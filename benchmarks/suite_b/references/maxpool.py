"""The largest element of each window and its place in the plane, exact."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from suite_b.references import sample, taken
from suite_b.references.windows import elements, first_difference


def problem(given: Mapping[str, Any], found: Mapping[str, Any]) -> str:
    places = sample(int(given["n"]))
    plane = int(given["height"]) * int(given["width"])
    largest = np.full(len(places), -np.inf, np.float32)
    where = np.full(len(places), -1, np.int64)
    for _, at, inside in elements(places, given):
        value = taken(given["in"], at)
        better = inside & ((where < 0) | (value > largest) | np.isnan(value))
        largest, where = np.where(better, value, largest), np.where(better, at % plane, where)
    return first_difference("maxpool", places, taken(found["out"], places), largest) or first_difference(
        "maxpool, places", places, taken(found["places"], places), where.astype(np.uint32)
    )
