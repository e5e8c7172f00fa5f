"""What each kernel of suite B should write, found by other means: a module for each kernel, with one public function.

`problem(given, found)` takes the kernel's arguments by name as they were before the launch, and its outputs by name
after it, arrays of numpy or CuPy. It gives "" if the outputs are right, otherwise what differs. Of large outputs, a
sample is compared.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from goptx.errors import InputError

SAMPLED = 1 << 16  # outputs of a large array that are compared


def host(array: Any) -> np.ndarray[Any, Any]:
    """The array in the host's memory."""
    return np.asarray(array.get() if hasattr(array, "get") else array)


def taken(array: Any, places: Any) -> np.ndarray[Any, Any]:
    """The array's elements in these places, in the host's memory."""
    if not hasattr(array, "get"):
        return np.asarray(array[places])
    import cupy

    return host(array[cupy.asarray(places)])


def sample(length: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The places of so many outputs that are compared: all, or some drawn by a fixed seed, the first and the last among
    them."""
    if length <= SAMPLED:
        return np.arange(length)
    drawn = np.random.default_rng(20261123).integers(0, length, SAMPLED)
    return np.unique(np.concatenate([[0, length - 1], drawn]))


def problem(kernel: str, given: Any, found: Any) -> str:
    """What differs from the reference of that kernel, or "". Raises `InputError` for a kernel without a reference."""
    try:
        reference = import_module(f"{__name__}.{kernel}")
    except ModuleNotFoundError:
        raise InputError(f"{kernel}: no reference; write {__name__.replace('.', '/')}/{kernel}.py.") from None
    return str(reference.problem(given, found))
