"""Floating-point instructions that choose or copy, and so never round: neg abs copysign min max.

Requires `np.errstate(all="ignore")` of the caller.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

from goptx.emulator.floating.elements import Form, as_floats, canonical, element_of, elementwise, flushing
from goptx.emulator.instructions.lanewise import DTYPES, Array, Lanewise

_SIGN: dict[str, np.unsignedinteger[Any]] = {
    "f16": np.uint16(0x8000),
    "bf16": np.uint16(0x8000),
    "f32": np.uint32(1 << 31),
    "f64": np.uint64(1 << 63),
}


def sign_bit(form: Form) -> Lanewise:
    """neg, abs or copysign: only the sign changes, also that of NaN."""
    (result,) = form.types
    if form.base == "copysign":
        return Lanewise((result, result), (result,), lambda sign, magnitude: np.copysign(magnitude, sign))
    element = element_of(result)
    dtype, sign = DTYPES[element], _SIGN[element]
    change: Callable[[Array], Array] = (lambda bits: bits ^ sign) if form.base == "neg" else lambda bits: bits & ~sign

    def function(values: Array) -> Array:
        return change(values.view(sign.dtype)).view(dtype)

    if not form.ftz:
        return elementwise(function, (result,), result)
    flush = flushing(element, dtype)
    return elementwise(lambda values: function(flush(values)), (result,), result)


def extremum(form: Form) -> Lanewise | None:
    """min or max of two operands, or of three: three always for `.abs` alone, otherwise where three f32 are written.

    A number wins over NaN, unless `.NaN` lets NaN win; +0 is above -0. None if the form does not take so many operands.
    """
    (result,) = form.types
    absolute, crossed = "abs" in form.modifiers, "xorsign" in form.modifiers
    counts = (2,) if crossed or result != "f32" else (3,) if absolute else (2, 3)
    count = form.operands or counts[0]
    if count not in counts:
        return None
    element = element_of(result)
    prepare, finish = _preparing(element, form.ftz), _finishing(element)
    choose = _choosing(form.base, "NaN" in form.modifiers)

    def function(*operands: Array) -> Array:
        values = [prepare(operand) for operand in operands]
        chosen = reduce(choose, map(np.abs, values) if absolute else values)
        if crossed:
            chosen = np.where(np.signbit(values[0]) == np.signbit(values[1]), chosen, -chosen)
        return finish(chosen)

    return elementwise(function, (result,) * count, result)


_CHOICES = {
    ("min", False): (np.fmin, np.bitwise_or), ("min", True): (np.minimum, np.bitwise_or),
    ("max", False): (np.fmax, np.bitwise_and), ("max", True): (np.maximum, np.bitwise_and),
}  # fmt: skip


def _choosing(base: str, nan_wins: bool) -> Callable[[Array, Array], Array]:
    """min or max of two floats. numpy does not specify which of two zeros results, so the bits decide that; nor what
    comes of a signaling NaN, which depends on how many numbers there are."""
    choice, of_equals = _CHOICES[base, nan_wins]

    def choose(a: Array, b: Array) -> Array:
        chosen: Array = choice(a, b)
        if np.count_nonzero(odd := np.isnan(a) | np.isnan(b)):
            first_wins = np.isnan(a) if nan_wins else np.isnan(b)
            chosen = np.where(odd, np.where(first_wins, a, b), chosen)
        equal = a == b
        if not np.count_nonzero(equal):
            return chosen
        bits = np.dtype(f"u{chosen.itemsize}")
        return np.where(equal, of_equals(a.view(bits), b.view(bits)).view(chosen.dtype), chosen)

    return choose


def _preparing(element: str, ftz: bool) -> Callable[[Array], Array]:
    if ftz:
        return flushing(element, DTYPES[element])
    return lambda values: as_floats(values, element)


def _finishing(element: str) -> Callable[[Array], Array]:
    """From chosen floats to the element's dtype, with the canonical NaN; f64 is returned as numpy chose it."""
    if element == "f64":
        return lambda chosen: chosen
    if element == "bf16":
        return lambda chosen: (canonical(chosen, "f32").view(np.uint32) >> np.uint32(16)).astype(np.uint16)
    return lambda chosen: canonical(chosen, element)
