"""Rounding into floating-point formats by the definition, one value at a time, in whole numbers and fractions.

The reference against which the emulator's formats and conversions are tested; it shares no code with them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Format:
    """Sign, exponent, mantissa from the top; `has`: "inf nan", "nan" (of all-ones codes only) or ""."""

    exponent: int
    mantissa: int
    has: str
    nan: int

    @property
    def bias(self) -> int:
        return (1 << self.exponent - 1) - 1

    @property
    def lowest(self) -> int:
        """The exponent of the smallest normal number."""
        return 1 - self.bias

    @property
    def largest(self) -> Fraction:
        top = (1 << self.exponent) - 1 - ("inf" in self.has) - self.bias
        last = (2 << self.mantissa) - 1 - (self.has == "nan")
        return Fraction(last) * Fraction(2) ** (top - self.mantissa)

    @property
    def sign(self) -> int:
        return 1 << self.exponent + self.mantissa


FORMATS = {
    "f64": Format(11, 52, "inf nan", 0x7FF8000000000000),
    "f32": Format(8, 23, "inf nan", 0x7FFFFFFF),
    "tf32": Format(8, 10, "inf nan", 0x7FFFE000 >> 13),
    "f16": Format(5, 10, "inf nan", 0x7FFF),
    "bf16": Format(8, 7, "inf nan", 0x7FFF),
    "e5m2": Format(5, 2, "inf nan", 0x7F),
    "e4m3": Format(4, 3, "nan", 0x7F),
    "e2m3": Format(2, 3, "", 0x1F),
    "e3m2": Format(3, 2, "", 0x1F),
    "e2m1": Format(2, 1, "", 0x07),
}


def rounded_quotient(value: Fraction, quantum: Fraction, rounding: str, negative: bool) -> int:
    """abs(value) / quantum as a whole number; `negative` is the sign that rm and rp go by."""
    whole, rest = divmod(abs(value) / quantum, 1)
    half = Fraction(1, 2)
    up = {
        "rn": rest > half or (rest == half and whole % 2 == 1),
        "rna": rest >= half,
        "rz": False,
        "rm": rest > 0 and negative,
        "rp": rest > 0 and not negative,
    }[rounding]
    return int(whole) + up


def floor_log2(value: Fraction) -> int:
    guess = value.numerator.bit_length() - value.denominator.bit_length()
    return guess - (value < Fraction(2) ** guess)


def encoded(value: Fraction | float, name: str, rounding: str, *, saturate: bool = False, ftz: bool = False) -> int:
    """The bits of `value` in the format; a float stands for NaN, the infinities and zeros of both signs."""
    form = FORMATS[name]
    if isinstance(value, float):
        if math.isnan(value):
            return form.nan
        negative = math.copysign(1, value) < 0
        if math.isinf(value):
            return form.sign * negative | (largest_code(form) + (not saturate and "nan" in form.has))
        value = Fraction(value)
    else:
        negative = value < 0
    exponent = max(floor_log2(abs(value)), form.lowest) if value else form.lowest
    quantum = Fraction(2) ** (exponent - form.mantissa)
    magnitude = rounded_quotient(value, quantum, rounding, negative) * quantum
    if magnitude > form.largest:
        toward_zero = rounding == "rz" or rounding == ("rp" if negative else "rm")
        finite = saturate or toward_zero or "nan" not in form.has
        return form.sign * negative | (largest_code(form) + (not finite))
    if ftz and value and flushes(value, form, rounding):
        return form.sign * negative
    if magnitude < Fraction(2) ** form.lowest:
        code = int(magnitude / Fraction(2) ** (form.lowest - form.mantissa))
    else:
        exponent = floor_log2(magnitude)
        fraction = magnitude / Fraction(2) ** exponent - 1
        code = (exponent + form.bias) * 2**form.mantissa + int(fraction * 2**form.mantissa)
    return form.sign * negative | code


def flushes(value: Fraction, form: Format, rounding: str) -> bool:
    """Whether it is below the normal numbers after rounding with as many bits as they have."""
    quantum = Fraction(2) ** (floor_log2(abs(value)) - form.mantissa)
    return rounded_quotient(value, quantum, rounding, value < 0) * quantum < Fraction(2) ** form.lowest


def largest_code(form: Format) -> int:
    return form.sign - 1 if not form.has else form.sign - 2 if form.has == "nan" else form.sign - 2**form.mantissa - 1


def decoded(code: int, name: str) -> Fraction | float:
    """What the bits are worth: NaN, infinities and zeros as floats, which keep the sign, else a fraction."""
    form = FORMATS[name]
    sign = -1 if code & form.sign else 1
    code &= form.sign - 1
    if code > largest_code(form):
        return math.copysign(math.inf, sign) if "inf" in form.has and code == largest_code(form) + 1 else math.nan
    exponent, fraction = divmod(code, 1 << form.mantissa)
    if exponent:
        return Fraction(sign * ((1 << form.mantissa) + fraction)) * Fraction(2) ** (
            exponent - form.bias - form.mantissa
        )
    return Fraction(sign * fraction) * Fraction(2) ** (form.lowest - form.mantissa) if fraction else sign * 0.0


def telling_values(name: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Numbers of the format from all its ranges, the ties between them, what lies just beside either, specials."""
    form, random = FORMATS[name], np.random.default_rng(7)
    top = largest_code(form)
    dense = [0, 1, 2, 3, 2**form.mantissa - 1, 2**form.mantissa, 2**form.mantissa + 1, top - 1, top]
    codes = sorted({code % (top + 1) for code in [*dense, *random.integers(0, top, 60).tolist()]})
    numbers = [float(decoded(code, name)) for code in codes]
    after = [
        float(decoded(code + 1, name)) if code < top else 2 * number
        for code, number in zip(codes, numbers, strict=True)
    ]
    base = np.array(
        [*numbers, *((a + b) / 2 for a, b in zip(numbers, after, strict=True)), float(form.largest) * 1.5, 1e300]
    )
    beside = np.concatenate([base, np.nextafter(base, np.inf), np.nextafter(base, -np.inf)])
    spread = np.ldexp(random.uniform(1, 2, 200), random.integers(form.lowest - 30, form.bias + 3, 200))
    values = np.concatenate([beside, spread, [0.0, np.inf, np.nan, 5e-324, 1e-310]])
    return np.concatenate([values, -values])
