"""Bilinear interpolation in double precision, from coordinates in single precision, as the kernel has them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from suite_b.references import sample, taken
from suite_b.references.windows import Places, coordinates

TOLERANCE = 1e-5  # of numbers of the order of 1


def problem(given: Mapping[str, Any], found: Mapping[str, Any]) -> str:
    places = sample(int(given["n"]))
    plane, row, column = coordinates(places, given)
    height, width = int(given["height"]), int(given["width"])
    top, bottom, down = _between(row, float(np.float32(given["scale_y"])), height)
    left, right, across = _between(column, float(np.float32(given["scale_x"])), width)

    def at(y: Places, x: Places) -> Any:
        return taken(given["in"], (plane * height + y) * width + x).astype(np.float64)

    above = at(top, left) * (1 - across) + at(top, right) * across
    below = at(bottom, left) * (1 - across) + at(bottom, right) * across
    expected = above * (1 - down) + below * down
    distance = np.abs(taken(found["out"], places) - expected)
    worst = int(np.argmax(distance))
    if distance[worst] <= TOLERANCE:
        return ""
    return f"upsample: off by up to {distance[worst]}, at {places[worst]}"


def _between(place: Places, scale: float, size: int) -> tuple[Places, Places, Any]:
    found = np.maximum((place + 0.5) * scale - 0.5, 0)
    low = np.minimum(found.astype(np.int64), size - 1)
    return low, np.minimum(low + 1, size - 1), found - low
