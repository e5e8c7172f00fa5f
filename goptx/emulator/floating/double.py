"""f64 arithmetic, correctly rounded: to nearest by numpy, fma and the directed roundings by error-free transformations.

Requires `np.errstate(all="ignore")` of the caller. Where the errors themselves might over- or underflow, a lane is
computed with Python's fractions. NaN results are those of the host processor.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from goptx.emulator.floating.formats import round_to_odd_sum
from goptx.emulator.instructions.lanewise import Array

_SMALL, _LARGE = 2.0**-300, 2.0**300  # the error of a product of numbers between these is a float64
_TINY = 2.0**-900  # so is that of a product no smaller
_HALF, _HIGH = np.int64(1 << 26), np.int64(-1 << 27)


# IEEE's operations, rounded to nearest, on floats of any dtype.
NEAREST: dict[str, Callable[..., Array]] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "rcp": np.reciprocal, "sqrt": np.sqrt,
}  # fmt: skip


def double(base: str, rounding: str) -> Callable[..., Array]:
    """The f64 operation `base` (add sub mul div rcp sqrt fma mad), with a rounding (rn rz rm rp)."""
    if base in ("fma", "mad"):
        return lambda a, b, c: _fused(a, b, c, rounding)
    if rounding == "rn":
        return NEAREST[base]
    if base == "rcp":
        return lambda a: _directed("div", rounding, np.ones_like(a), a)
    return lambda *operands: _directed(base, rounding, *operands)


# A sum that cancels is +0, but -0 when rounding down.
_ZERO_BELOW: dict[str, Callable[..., Array]] = {"add": lambda a, b: -(-a - b), "sub": lambda a, b: -(b - a)}


def _directed(base: str, rounding: str, *operands: Array) -> Array:
    head = NEAREST[base](*operands)
    if rounding == "rm" and base in _ZERO_BELOW:
        head = np.where(head == 0, _ZERO_BELOW[base](*operands), head)
    lost = _LOST[base](head, *operands)
    doubtful = _out_of_range(head, *operands)
    if np.count_nonzero(doubtful):
        lost = np.array(lost)
        heads, doubts, *sources = np.broadcast_arrays(head, doubtful, *operands)
        for lane in np.flatnonzero(doubts):
            lost.flat[lane] = _sign_lost(base, heads.flat[lane], [source.flat[lane] for source in sources])
    return _step(head, lost, rounding)


def _step(head: Array, lost: Array, rounding: str) -> Array:
    """Moves from the nearest float `head` to the rounded result; `lost` has the sign of the exact value less `head`."""
    if rounding == "rn":
        return head
    if rounding == "rz":
        return np.where((np.abs(lost) > 0) & ((lost > 0) != (head > 0)), np.nextafter(head, 0.0), head)
    wrong, way = (lost > 0, np.inf) if rounding == "rp" else (lost < 0, -np.inf)
    return np.where(wrong, np.nextafter(head, way), head)


# Error-free transformations ----------------------------------------------------------------------------------------


def _split(a: Array) -> tuple[Array, Array]:
    """Two numbers of 26 bits whose sum is `a`."""
    high = ((a.view(np.int64) + _HALF) & _HIGH).view(np.float64)
    return high, a - high


def _product_lost(product: Array, a: Array, b: Array) -> Array:
    """a * b - product, where `product` is the rounded product (Dekker 1971)."""
    (a1, a2), (b1, b2) = _split(a), _split(b)
    lost: Array = a2 * b2 - (((product - a1 * b1) - a1 * b2) - a2 * b1)
    return lost


def _sum_lost(total: Array, a: Array, b: Array) -> Array:
    """a + b - total, where `total` is the rounded sum (Knuth)."""
    part = total - a
    lost: Array = (a - (total - part)) + (b - part)
    return lost


def _quotient_lost(quotient: Array, a: Array, b: Array) -> Array:
    """A value with the sign of a / b - quotient; the remainder itself is a float64."""
    product = quotient * b
    remainder = (a - product) - _product_lost(product, quotient, b)
    lost: Array = remainder * np.copysign(1.0, b)
    return lost


def _root_lost(root: Array, a: Array) -> Array:
    """A value with the sign of sqrt(a) - root."""
    square = root * root
    lost: Array = (a - square) - _product_lost(square, root, root)
    return lost


_LOST: dict[str, Callable[..., Array]] = {
    "add": _sum_lost,
    "sub": lambda total, a, b: _sum_lost(total, a, -b),
    "mul": _product_lost,
    "div": _quotient_lost,
    "sqrt": _root_lost,
}


def _fused(a: Array, b: Array, c: Array, rounding: str) -> Array:
    """a * b + c, rounded once (Boldo and Melquiond, Emulation of FMA and correctly rounded sums, 2008)."""
    product = a * b
    rest = _product_lost(product, a, b)
    low = c + rest
    high = product + low
    tail = round_to_odd_sum(_sum_lost(low, c, rest), _sum_lost(high, product, low))
    head = high + tail
    lost = head if rounding == "rn" else _sum_lost(head, high, tail)
    # An intermediate overflow may have made the result NaN; a result of zero may have the wrong sign.
    doubtful = ~(np.minimum(np.abs(product), np.abs(head)) >= _TINY)
    if np.count_nonzero(doubtful):
        head, lost = _mended(head, lost, doubtful, product, a, b, c, rounding)
    return _step(head, lost, rounding)


def _mended(
    head: Array, lost: Array, doubtful: Array, product: Array, a: Array, b: Array, c: Array, rounding: str
) -> tuple[Array, Array]:
    """Head and loss of a * b + c, correct in the doubtful lanes too."""
    # Correct unless a finite sum is inexact; a product that only overflows adds nothing to an infinite c.
    plain = np.where(np.isinf(c) & np.isfinite(a) & np.isfinite(b), c, product + c)
    if rounding == "rm":
        plain = np.where(plain == 0, _ZERO_BELOW["add"](product, c), plain)
    cancelled = (head == 0) & (np.abs(product) >= _TINY)
    finite = np.isfinite(a) & np.isfinite(b) & np.isfinite(c)
    inexact = doubtful & finite & (a != 0) & (b != 0) & ~cancelled
    head, lost = np.where(doubtful, plain, head), np.where(doubtful, _sum_lost(plain, product, c), lost)
    a, b, c, inexact = np.broadcast_arrays(a, b, c, inexact)
    for lane in np.flatnonzero(inexact):
        operands = [a.flat[lane], b.flat[lane], c.flat[lane]]
        nearest = _nearest_fused(operands, zero=-0.0 if rounding == "rm" else 0.0)
        head.flat[lane], lost.flat[lane] = nearest, _sign_lost("fma", nearest, operands)
    return head, lost


# Lane by lane --------------------------------------------------------------------------------------------------------


def _out_of_range(*values: Array) -> Array:
    """Where a number is so large or small that the error of a product might not be a float64."""
    doubtful: Array = np.zeros((), np.bool_)
    for value in values:
        size = np.abs(value)
        doubtful = doubtful | ((size < _SMALL) & (size > 0)) | ((size > _LARGE) & (size < np.inf))
    return doubtful


_EXACTLY_LOST: dict[str, Callable[..., Fraction]] = {
    "add": lambda head, a, b: a + b - head,
    "sub": lambda head, a, b: a - b - head,
    "mul": lambda head, a, b: a * b - head,
    "div": lambda head, a, b: a / b - head,
    "sqrt": lambda head, a: a - head * head,
    "fma": lambda head, a, b, c: a * b + c - head,
}


def _sign_lost(base: str, head: float, operands: list[float]) -> float:
    """The sign of the exact result less the nearest float `head`; 0 where the exact result is not a number."""
    if math.isnan(head) or not all(map(math.isfinite, operands)) or (base == "div" and operands[1] == 0):
        return 0.0
    if math.isinf(head):
        return -head
    lost = _EXACTLY_LOST[base](*map(Fraction, [head, *operands]))
    return float((lost > 0) - (lost < 0))


def _nearest_fused(operands: list[float], zero: float) -> float:
    """The nearest float to a * b + c; `zero` is the result of numbers that cancel each other."""
    a, b, c = map(Fraction, operands)
    exact = a * b + c
    if exact == 0:
        return zero
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf
