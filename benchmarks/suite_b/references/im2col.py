"""The elements of windows, row by row of the matrix, exact."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from suite_b.references import sample, taken
from suite_b.references.windows import coordinates, elements, first_difference


def problem(given: Mapping[str, Any], found: Mapping[str, Any]) -> str:
    places = sample(int(given["n"]))
    size = int(given["out_height"]) * int(given["out_width"])
    of_window = int(given["window"]) ** 2
    plane, *_ = coordinates(places, given)
    for number, at, inside in elements(places, given):
        expected = np.where(inside, taken(given["in"], at), np.float32(0))
        own = taken(found["columns"], (plane * of_window + number) * size + places % size)
        if wrong := first_difference(f"im2col, element {number} of the windows", places, own, expected):
            return wrong
    return ""
