"""Approximate floating-point instructions: div rcp sqrt rsqrt sin cos lg2 ex2 tanh, each to within the ISA's bound.

Requires `np.errstate(all="ignore")` of the caller. The exact functions, rounded to nearest, are closer than any bound.
For infinities, zeros and negative numbers numpy gives the values that the ISA lists.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from goptx.emulator.floating.elements import Form, element_of, elementwise, reading
from goptx.emulator.floating.formats import encode
from goptx.emulator.instructions.lanewise import Array, Lanewise


def _reciprocal_root(values: Array) -> Array:
    return 1.0 / np.sqrt(values)


_FUNCTIONS: dict[str, Callable[..., Array]] = {
    "rcp": np.reciprocal, "sqrt": np.sqrt, "rsqrt": _reciprocal_root, "sin": np.sin, "cos": np.cos,
    "lg2": np.log2, "ex2": np.exp2, "tanh": np.tanh, "div": np.divide,
}  # fmt: skip


def approximate(form: Form) -> Lanewise:
    """div with `.approx` or `.full`, or a function of one operand with `.approx`."""
    (result,) = form.types
    sources = (result, result) if form.base == "div" else (result,)
    compute = _FUNCTIONS[form.base]
    if result == "f64":
        return elementwise(_of_high_words(compute) if form.ftz else compute, sources, result)
    if form.base == "div" and "approx" in form.modifiers:
        compute = _divide_by_reciprocal
    element = element_of(result)
    ftz = form.ftz
    read = reading(element, ftz)

    def function(*operands: Array) -> Array:
        return encode(compute(*[read(operand) for operand in operands]), element, ftz=ftz)

    return elementwise(function, sources, result)


def _divide_by_reciprocal(a: Array, b: Array) -> Array:
    """a / b; for b above 2**126 the reciprocal is 0."""
    size = np.abs(b)
    vanishes = (size > 2.0**126) & (size < np.inf)
    return np.where(vanishes, a * np.copysign(0.0, b), a / b)


_LOW_WORD = np.uint64(0xFFFFFFFF)
_NAN = np.uint64(0x7FFFFFFF00000000)
_SMALLEST_NORMAL = 2.0**-1022


def _of_high_words(compute: Callable[..., Array]) -> Callable[[Array], Array]:
    """rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64: uses the high 32 bits of each number, and rounds to as many."""

    def function(values: Array) -> Array:
        high = (values.view(np.uint64) & ~_LOW_WORD).view(np.float64)
        found = compute(high * (np.abs(high) >= _SMALLEST_NORMAL))
        found = found * (np.abs(found) >= _SMALLEST_NORMAL)
        bits = (found.view(np.uint64) + (_LOW_WORD >> np.uint64(1))) & ~_LOW_WORD
        return np.where(found == found, bits, _NAN).view(np.float64)

    return function
