"""Types of the references, and arrays in doubles."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
Written = Mapping[str, Array]


def wide(array: Array) -> Array:
    return array.astype(np.float64)
