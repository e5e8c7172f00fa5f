"""Shifts and bit fields: `shl`, `shr`, `shf`, `bfe`, `bfi`, `bmsk`, `szext`.

Requires: the contract of `Lanewise`. Amounts, positions and lengths have 32 bits, whatever the width of the value. As
in PTX, numpy's shifts by the whole width or more leave only copies of the sign.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from goptx.emulator.instructions.lanewise import DTYPES, Array, Lanewise

_WORD = np.dtype(np.uint32)
_WIDTH, _LOW_5, _LOW_8 = np.uint32(32), np.uint32(31), np.uint32(255)
# The meaning of a count above the width of a word.
_MODES: dict[str, Callable[[Array], Array]] = {
    "clamp": lambda n: np.minimum(n, _WIDTH),
    "wrap": lambda n: n & _LOW_5,
}


def _amount(n: Array, dtype: np.dtype[Any]) -> Array:
    """A shift amount in the dtype of the shifted value, at most its width."""
    return np.minimum(n, np.uint32(8 * dtype.itemsize)).astype(dtype)


def _shift(operation: Any, t: str) -> Callable[[Array, Array], Array]:
    dtype = DTYPES[t]
    return lambda a, n: operation(a, _amount(n, dtype))


def _funnel(to_left: bool, count: Callable[[Array], Array]) -> Callable[[Array, Array, Array], Array]:
    """The upper word of {high, low} shifted left, or its lower word shifted right."""

    def shift(low: Array, high: Array, c: Array) -> Array:
        n = count(c)
        left, right = (n, _WIDTH - n) if to_left else (_WIDTH - n, n)
        return (high << left) | (low >> right)

    return shift


def _extend(a: Array, length: Array, dtype: np.dtype[Any]) -> Array:
    """The lowest `length` bits of `a`, extended by their sign if the dtype has one."""
    width = np.uint32(8 * dtype.itemsize)
    spare = (width - np.minimum(length, width)).astype(dtype)
    extended: Array = a << spare >> spare
    return extended


def _field(first: Array, length: Array, dtype: np.dtype[Any]) -> Array:
    """Ones from bit `first` on, as far as they fit into the dtype."""
    ones = ~dtype.type(0)
    field: Array = (ones << _amount(first, dtype)) ^ (ones << _amount(first + length, dtype))
    return field


def _bfe(t: str) -> Callable[[Array, Array, Array], Array]:
    dtype = DTYPES[t]

    def extract(a: Array, first: Array, length: Array) -> Array:
        return _extend(a >> _amount(first & _LOW_8, dtype), length & _LOW_8, dtype)

    return extract


def _bfi(t: str) -> Callable[[Array, Array, Array, Array], Array]:
    dtype = DTYPES[t]

    def insert(a: Array, b: Array, first: Array, length: Array) -> Array:
        first = first & _LOW_8
        inserted: Array = b ^ ((b ^ (a << _amount(first, dtype))) & _field(first, length & _LOW_8, dtype))
        return inserted

    return insert


def _bmsk(count: Callable[[Array], Array]) -> Callable[[Array, Array], Array]:
    return lambda first, length: _field(count(first), count(length), _WORD)


def _szext(count: Callable[[Array], Array], t: str) -> Callable[[Array, Array], Array]:
    dtype = DTYPES[t]
    return lambda a, length: _extend(a, count(length), dtype)


def _shifts() -> Iterator[tuple[str, Lanewise]]:
    for width in (16, 32, 64):
        yield f"shl.b{width}", Lanewise((f"b{width}", "u32"), (f"b{width}",), _shift(np.left_shift, f"b{width}"))
        for t in (f"b{width}", f"u{width}", f"s{width}"):
            yield f"shr.{t}", Lanewise((t, "u32"), (t,), _shift(np.right_shift, t))
    for mode, count in _MODES.items():
        for direction in "lr":
            shift = _funnel(direction == "l", count)
            yield f"shf.{direction}.{mode}.b32", Lanewise(("b32", "b32", "u32"), ("b32",), shift)
        yield f"bmsk.{mode}.b32", Lanewise(("u32", "u32"), ("b32",), _bmsk(count))
        for t in ("u32", "s32"):
            yield f"szext.{mode}.{t}", Lanewise((t, "u32"), (t,), _szext(count, t))
    for t in ("u32", "s32", "u64", "s64"):
        yield f"bfe.{t}", Lanewise((t, "u32", "u32"), (t,), _bfe(t))
    for t in ("b32", "b64"):
        yield f"bfi.{t}", Lanewise((t, t, "u32", "u32"), (t,), _bfi(t))


SHIFTS: dict[str, Lanewise] = dict(_shifts())
