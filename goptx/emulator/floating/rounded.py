"""Correctly rounded arithmetic, add sub mul fma mad div rcp sqrt, in every format and rounding.

Requires `np.errstate(all="ignore")` of the caller. f32 and f16 to nearest are numpy's own. Other formats narrower than
f64 are computed in f64, exactly or so that the second rounding is correct. f64 is in double.py.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from goptx.emulator.floating.double import NEAREST, double
from goptx.emulator.floating.elements import Form, canonical, element_of, elementwise, flushing, reading
from goptx.emulator.floating.formats import encode, round_to_odd_sum
from goptx.emulator.instructions.lanewise import DTYPES, Array, Lanewise

_SOURCES = {"rcp": 1, "sqrt": 1, "fma": 3, "mad": 3}  # 2 for the others

# A float64 that is a tie between two numbers of the format has at least so many low bits of zero.
_ZEROS_OF_A_TIE = {"f32": 28, "bf16": 44}


def rounded(form: Form) -> Lanewise:
    """add, sub, mul, fma, mad, div, rcp or sqrt, with a rounding."""
    result, narrow = form.types[0], form.types[-1]  # in mixed precision, all sources but the last are narrow
    sources = (narrow,) * (_SOURCES.get(form.base, 2) - 1) + (result,)
    return elementwise(_function(form, [element_of(source) for source in sources]), sources, result)


def _function(form: Form, formats: list[str]) -> Callable[..., Array]:
    element = formats[-1]
    if element == "f64":
        return double(form.base, form.rounding)
    # numpy computes f16 in f32, whose 24 bits are two more than twice 11, so that rounding twice is like rounding once
    # (Figueroa, When is double rounding innocuous?, 1995). But a product just below the smallest normal number must be
    # flushed, and numpy would round it up.
    plain = {"rn"} if form.base == "mul" else {"rn", "ftz"}
    if form.base in NEAREST and element != "bf16" and len(form.types) == 1 and form.modifiers <= plain:
        return _by_numpy(NEAREST[form.base], element, form.ftz)
    compute, finish = _computed_wide(form.base, form.rounding, element), _finishing(form, element)
    reads = [reading(format, form.ftz) for format in formats]

    def apply(*operands: Array) -> Array:
        return finish(compute(*[read(operand) for read, operand in zip(reads, operands, strict=True)]))

    return apply


def _by_numpy(operation: Callable[..., Array], element: str, ftz: bool) -> Callable[..., Array]:
    if not ftz:
        return lambda *operands: canonical(operation(*operands), element)
    flush = flushing(element, DTYPES[element])
    return lambda *operands: canonical(flush(operation(*map(flush, operands))), element)


def _computed_wide(base: str, rounding: str, element: str) -> Callable[..., Array]:
    """The operation on float64 values of narrower formats, such that its results can be rounded to `element`.

    Products are exact. A quotient or root that no number or tie of the format equals differs from each by more
    than float64's rounding changes it: from one of 25 bits, relatively by 2**-51 or more. Sums are rounded to odd.
    """
    add = _summing(rounding, element)
    operations: dict[str, Callable[..., Array]] = {
        **NEAREST,
        "add": add,
        "sub": lambda a, b: add(a, -b),
        "fma": lambda a, b, c: add(a * b, c),
        "mad": lambda a, b, c: add(a * b, c),
    }
    return operations[base]


def _summing(rounding: str, element: str) -> Callable[[Array, Array], Array]:
    """Addition that rounds to odd; for rounding to nearest, only where a tie may result from rounding."""
    if rounding == "rm":  # a sum that cancels is -0
        return lambda a, b: -round_to_odd_sum(-a, -b)
    if rounding != "rn":
        return round_to_odd_sum
    if element == "f16":  # with a product, the sum is inexact only if that is far below half a last place
        return np.add
    below_ties = np.uint64((1 << _ZEROS_OF_A_TIE[element]) - 1)

    def add(a: Array, b: Array) -> Array:
        total = a + b
        if np.count_nonzero(total.view(np.uint64) & below_ties) == total.size:
            return total
        exact = (total - a == b) & (total - b == a)
        return total if np.count_nonzero(exact) == total.size else round_to_odd_sum(a, b)

    return add


def _finishing(form: Form, element: str) -> Callable[[Array], Array]:
    """A function that clamps if requested, and rounds."""
    rounding, ftz = form.rounding, form.ftz
    if "sat" in form.modifiers:
        return lambda exact: encode(np.where(exact > 0, np.minimum(exact, 1.0), 0.0), element, rounding, ftz=ftz)
    if "relu" in form.modifiers:
        return lambda exact: encode(np.where(exact <= 0, 0.0, exact), element, rounding, ftz=ftz)
    return lambda exact: encode(exact, element, rounding, ftz=ftz)
