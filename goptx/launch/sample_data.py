"""Data for the arguments that a launch specification describes, the same on every machine.

Separate from reading a specification because it requires numpy.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from goptx.errors import InputError
from goptx.launch.specification import Argument

POISON = 0xA5  # the value of every byte of an array that is only written
LARGEST = 1 << 30  # bytes of one array; emulated arrays should be far smaller

Sample = np.ndarray[Any, np.dtype[Any]] | np.generic


def check_seed(seed: object) -> None:
    """Raises `InputError` for what is not the seed of random data."""
    if isinstance(seed, bool) or not isinstance(seed, Integral) or seed < 0:  # numpy's numbers are Integral, too
        raise InputError(f"seed={seed!r} is not a whole number from 0 on.")


def sample(argument: Argument, *seeds: int) -> Sample:
    """The scalar, or a fresh array, in the argument's dtype; equal seeds give equal data. Raises `InputError` for a
    dtype that numpy lacks, values that do not fit it, and arrays too large to be emulated."""
    try:
        dtype = np.dtype(argument.dtype)
    except TypeError:
        raise InputError(f"argument {argument.name}: `{argument.dtype}` is not a numpy dtype.") from None
    length = argument.length
    if length * dtype.itemsize > LARGEST:
        raise InputError(
            f"argument {argument.name}: {length} elements of {argument.dtype} are too many to emulate; give a smaller "
            "length (`[check]` in a specification, --arg)."
        )
    try:
        return _values(argument, dtype, seeds)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(
            f"argument {argument.name}: {argument.dtype} does not take its value or range: {error}."
        ) from None


def _values(argument: Argument, dtype: np.dtype[Any], seeds: tuple[int, ...]) -> Sample:
    length = argument.length
    if not argument.is_array:
        scalar: np.generic = dtype.type(argument.value)
        return scalar
    if argument.role == "out":
        return np.full(length * dtype.itemsize, POISON, np.uint8).view(dtype)
    random = np.random.default_rng((*seeds, argument.seed))
    match argument.generator:
        case "zeros":
            return np.zeros(length, dtype)
        case "arange":
            return np.arange(length).astype(dtype)
        case "integers" if dtype.kind in "iu":
            return random.integers(int(argument.low), int(argument.high), length, dtype)
        case "integers":
            return random.integers(int(argument.low), int(argument.high), length).astype(dtype)
        case "normal":
            return random.normal(argument.low, argument.high, length).astype(dtype)
        case _:
            return random.uniform(argument.low, argument.high, length).astype(dtype)
