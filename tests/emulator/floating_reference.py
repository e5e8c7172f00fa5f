"""Floating-point instructions by the ISA's definitions, one lane at a time, in whole numbers and fractions.

The reference against which the emulator's arrays are tested; operands and results are bits.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np
from emulator.rounding import FORMATS, decoded, encoded, largest_code

from goptx.emulator.floating.floating import floating
from goptx.emulator.instructions.lanewise import DTYPES, Array, Lanewise

Value = Fraction | float  # NaN, infinities and zeros are floats
WIDTHS = {"f16": 16, "bf16": 16, "f32": 32, "f64": 64}
TYPES = frozenset((*WIDTHS, "f16x2", "bf16x2", "f32x2", "u16", "s16", "u32", "s32"))


def stand_in(value: Value) -> float:
    """A float that adds, multiplies and compares to zero as `value` does beside a zero or an infinity."""
    return value if isinstance(value, float) else 1.0 if value > 0 else -1.0


def total(a: Value, b: Value, rounding: str) -> Value:
    finite = [value for value in (a, b) if isinstance(value, Fraction)]
    if len(finite) == 2:
        return sum(finite, Fraction()) or (-0.0 if rounding == "rm" else 0.0)
    sums = stand_in(a) + stand_in(b)
    if finite and abs(sums) == 1:  # beside a zero
        return finite[0]
    signs = {math.copysign(1, value) for value in (a, b) if isinstance(value, float)}
    return -0.0 if sums == 0 and len(signs) == 2 and rounding == "rm" else sums


def times(a: Value, b: Value) -> Value:
    return a * b if isinstance(a, Fraction) and isinstance(b, Fraction) else stand_in(a) * stand_in(b)


def inverse(a: Value) -> Value:
    if isinstance(a, Fraction):
        return 1 / a
    return math.copysign(math.inf, a) if a == 0 else 1 / a


def root(a: Value) -> Value:
    """Of a fraction, so nearly that it rounds, to any format and in any direction, as the exact root does."""
    if isinstance(a, float):
        return math.nan if a < 0 else math.sqrt(a)
    if a < 0:
        return math.nan
    scale = 1 << 800
    scaled = a * scale * scale
    whole = math.isqrt(scaled.numerator // scaled.denominator)
    return Fraction(2 * whole + (scaled != whole * whole), 2 * scale)


def arithmetic(base: str, rounding: str, operands: list[Value]) -> Value:
    first, *others = operands
    match base:
        case "add":
            return total(first, others[0], rounding)
        case "sub":
            return total(first, -others[0], rounding)
        case "mul":
            return times(first, others[0])
        case "fma" | "mad":
            return total(times(first, others[0]), others[1], rounding)
        case "div":
            return times(first, inverse(others[0]))
        case "rcp":
            return inverse(first)
        case "sqrt":
            return root(first)
    raise ValueError(base)


def is_nan(value: Value) -> bool:
    return isinstance(value, float) and math.isnan(value)


def read(code: int, format: str, ftz: bool) -> Value:
    value = decoded(code, format)
    if ftz and isinstance(value, Fraction) and abs(value) < Fraction(2) ** FORMATS[format].lowest:
        return math.copysign(0.0, value)
    return value


def computed(opcode: str, codes: list[int]) -> int:
    """Of an arithmetic instruction on elements: the bits of its result."""
    base, *words = opcode.split(".")
    rounding = next((word for word in words if word in ("rz", "rm", "rp")), "rn")
    formats = [word.removesuffix("x2") for word in words if word in TYPES]
    sources = [formats[-1]] * (len(codes) - 1) + [formats[0]]
    exact = arithmetic(base, rounding, [read(c, f, "ftz" in words) for c, f in zip(codes, sources, strict=True)])
    if "sat" in words:
        exact = min(exact, Fraction(1)) if exact > 0 else 0.0
    if "relu" in words and exact <= 0:
        exact = 0.0
    return encoded(exact, formats[0], rounding, ftz="ftz" in words)


def telling_codes(format: str) -> list[int]:
    """Zeros, infinities, NaN quiet and signaling, subnormal numbers, extremes, ones and their neighbours."""
    form = FORMATS[format]
    infinity, one, least = largest_code(form) + 1, form.bias << form.mantissa, 1 << form.mantissa
    positive = [
        0,
        1,
        2,
        least // 2 + 1,
        least - 1,
        least,
        least + 1,
        one - 1,
        one,
        one + 1,
        one + least // 2,
        2 * one // 3,
    ]
    positive += [
        one + least,
        one + 3 * least // 2,
        infinity - least - 1,
        infinity - 1,
        infinity,
        infinity + 1,
        form.sign - 1,
    ]
    return [*positive, *(code | form.sign for code in positive)]


@lru_cache
def instruction(opcode: str, operands: int | None = None) -> Lanewise:
    found = floating(opcode, operands)
    assert found is not None, opcode
    return found


def held(codes: list[int] | Array, type: str) -> Array:
    """Bits as the emulator holds values of the type."""
    dtype = DTYPES[type]
    return np.array(codes, f"u{dtype.itemsize}").view(dtype) if dtype.kind != "b" else np.array(codes, np.bool_)


def bits_of(values: Array) -> list[int]:
    found: list[int] = (
        values.view(f"u{values.dtype.itemsize}").tolist() if values.dtype.kind != "b" else values.tolist()
    )
    return found


def executed(opcode: str, *operands: list[int], sources: int | None = None) -> list[int]:
    """The bits that the emulator computes of operands' bits, lane by lane."""
    found = instruction(opcode, sources)
    with np.errstate(all="ignore"):
        result = found.apply(*[held(codes, type) for codes, type in zip(operands, found.sources, strict=True)])
    assert result.dtype == DTYPES[found.results[0]]
    return bits_of(result)


def packed(low: list[int], high: list[int], format: str) -> list[int]:
    return [a | b << WIDTHS[format] for a, b in zip(low, high, strict=True)]


def same(found: int, expected: int, format: str) -> bool:
    """Equal bits; of f64, where NaN keeps a payload, two of any kind are the same."""
    return found == expected or (
        format == "f64" and is_nan(decoded(found, format)) and is_nan(decoded(expected, format))
    )
