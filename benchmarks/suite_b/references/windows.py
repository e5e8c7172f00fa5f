"""The windows of planes, of which maxpool and im2col take some."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

Places = np.ndarray[Any, np.dtype[np.int64]]


def coordinates(places: Places, given: Mapping[str, Any]) -> tuple[Places, Places, Places]:
    """Plane, row and column of results in these places."""
    height, width = int(given["out_height"]), int(given["out_width"])
    return places // (height * width), places // width % height, places % width


def elements(places: Places, given: Mapping[str, Any]) -> Iterator[tuple[int, Places, Any]]:
    """For each element of a window, in order: its number, where it is in `in` for the windows in these places, and
    which of these lie within the plane."""
    plane, row, column = coordinates(places, given)
    height, width, window = int(given["height"]), int(given["width"]), int(given["window"])
    for number in range(window * window):
        y = row * int(given["stride"]) - int(given["padding"]) + number // window
        x = column * int(given["stride"]) - int(given["padding"]) + number % window
        inside = (y >= 0) & (y < height) & (x >= 0) & (x < width)
        yield number, np.where(inside, (plane * height + y) * width + x, 0), inside


def first_difference(kernel: str, places: Places, found: Any, expected: Any) -> str:
    """Where bits differ, or ""."""
    differs = np.flatnonzero(found.view(np.uint32) != expected.view(np.uint32))
    if not len(differs):
        return ""
    one = differs[0]
    return f"{kernel}: {len(differs)} of {len(places)} differ, at {places[one]} {found[one]} for {expected[one]}"
