"""Floating-point formats: the values of their bits, and correct rounding of float64 values to them.

Requires `np.errstate(all="ignore")` of the caller; arrays of any one shape, also of no dimension.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from goptx.emulator.instructions.lanewise import DTYPES, Array


@dataclass(frozen=True, slots=True)
class Large:
    """A format of 16 bits or more. The fields after `largest` are bits, in the unsigned type of the format's width.

    floating: the type that numpy rounds to, f16 or f32; dropped: how many of its low bits the format lacks.
    """

    floating: np.dtype[Any]
    dropped: int
    largest: float
    sign: Any
    infinity: Any
    nan: Any

    @property
    def bits(self) -> np.dtype[Any]:
        return np.dtype(type(self.sign))


_F16, _F32 = np.dtype(np.float16), np.dtype(np.float32)
LARGE = {
    "f32": Large(_F32, 0, 2.0**128 - 2.0**104, np.uint32(0x80000000), np.uint32(0x7F800000), np.uint32(0x7FFFFFFF)),
    "tf32": Large(_F32, 13, 2.0**128 - 2.0**117, np.uint32(0x80000000), np.uint32(0x7F800000), np.uint32(0x7FFFE000)),
    "f16": Large(_F16, 0, 65504.0, np.uint16(0x8000), np.uint16(0x7C00), np.uint16(0x7FFF)),
    "bf16": Large(_F32, 16, 2.0**128 - 2.0**120, np.uint16(0x8000), np.uint16(0x7F80), np.uint16(0x7FFF)),
}
CANONICAL_NAN = {name: np.array(large.nan).view(DTYPES[name]) for name, large in LARGE.items()}


@dataclass(frozen=True, slots=True)
class Small:
    """A format of at most 8 bits. Its codes without sign are in the order of their values.

    mantissa: its stored bits; bias: of the exponent; overflow: the code after that of the largest number;
    nan: the code for NaN, the largest number where the format has none; sign: 0 where it has none.
    """

    mantissa: int
    bias: int
    overflow: int
    nan: int
    sign: int

    def value(self, code: int) -> float:
        """The value of a code without sign, also of `overflow`, as if the exponents continued."""
        exponent, fraction = code >> self.mantissa, code & ((1 << self.mantissa) - 1)
        if self.sign and not exponent:
            return float(fraction * 2.0 ** (1 - self.bias - self.mantissa))
        return float((1 + fraction * 2.0**-self.mantissa) * 2.0 ** (exponent - self.bias))


SMALL = {
    "e4m3": Small(3, 7, 0x7F, 0x7F, 0x80),
    "e5m2": Small(2, 15, 0x7C, 0x7F, 0x80),
    "e2m3": Small(3, 1, 0x20, 0x1F, 0x20),
    "e3m2": Small(2, 3, 0x20, 0x1F, 0x20),
    "e2m1": Small(1, 1, 0x08, 0x07, 0x08),
    "ue8m0": Small(0, 127, 0xFF, 0xFF, 0),
}

_THROUGH = {"ue8m0": "bf16"}  # a 16-bit format with all numbers of a small one and two more bits; default f16


def decode(bits: Array, format: str) -> Array:
    """The exact float64 values of `bits`; f16 and f32 may come as floats or as bits.

    Bits above the format's, and the 13 low ones of a tf32, are ignored. NaN remains NaN, with any payload.
    """
    if format in ("f32", "f16"):
        return bits.view(DTYPES[format]).astype(np.float64)
    if format == "bf16":
        return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32).astype(np.float64)
    if format == "tf32":
        return (bits.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32).astype(np.float64)
    return _values(format)[bits]


def encode(exact: Array, format: str, rounding: str = "rn", *, ftz: bool = False, saturate: bool = False) -> Array:
    """The values of `exact`, rounded to `format`, in its dtype in `DTYPES`; uint8 where it has none.

    exact: the exact values as any float dtype, or float64 rounded to odd: toward zero, then the last bit set if
        anything was lost. As float64 has two bits more than any format here, also for subnormals, such a value lies on
        the same side of every number of the format, and of every tie between two, as the exact value. So the second
        rounding is correct in every direction.
    rounding: rn (ties to even), rz, rm (down), rp (up); for tf32 and bf16 also rna (ties away from zero).
    ftz: f32 and f16 below the normal numbers become zeros of their sign. As on an H200, this is decided after rounding
        with an unbounded exponent: an f32 value that rounds up to 2**-126 with 24 bits remains, others are flushed.
    saturate: a result that would be infinite, infinity itself included, becomes the largest number.

    NaN becomes the canonical one (`Large.nan`, `Small.nan`). Unless saturated, too large a value becomes NaN in e4m3;
    formats without NaN and infinity always saturate.
    """
    if format in SMALL:
        return _codes(format, rounding, saturate)[_to_odd_16(exact, format)]
    large = LARGE[format]
    if saturate:
        exact = np.minimum(np.maximum(exact, -large.largest), large.largest)
    bits = _drop(exact, large, rounding) if large.dropped else _native(exact, large, rounding)
    if ftz:
        least, most = _flushed(large.floating, rounding)
        bits = np.where((exact > least) & (exact < most), bits & large.sign, bits)
    nan = exact != exact
    return (np.where(nan, large.nan, bits) if np.count_nonzero(nan) else bits).view(DTYPES[format])


def round_to_odd_sum(a: Array, b: Array) -> Array:
    """float64 a + b, rounded to odd for `encode`; infinities and NaN as in a + b.

    Finite sums must be in the range of float64, like those of products of f32; beyond it the sum is infinite.
    """
    total = a + b
    part = total - a
    lost = (a - (total - part)) + (b - part)  # exact (Knuth's TwoSum); NaN beside an infinity
    inexact = np.abs(lost) > 0
    beyond = inexact & ((lost > 0) != (total > 0))  # farther from zero than the exact sum
    odd: Array = ((total.view(np.int64) - beyond) | inexact).view(np.float64)
    return odd


def _native(exact: Array, large: Large, rounding: str) -> Array:
    """Bits of f32 or f16: numpy rounds to nearest, and results rounded in the wrong direction are moved by one step."""
    nearest: Array = exact.astype(large.floating)
    bits: Array = nearest.view(large.bits)
    if rounding == "rz":
        bits = bits - (np.abs(nearest) > np.abs(exact))
    elif rounding != "rn":
        wrong = nearest > exact if rounding == "rm" else nearest < exact
        outward = wrong & ((exact > 0) == (rounding == "rp"))
        bits = bits + outward - (wrong ^ outward)
    return bits


def _drop(exact: Array, large: Large, rounding: str) -> Array:
    """Bits of tf32 or bf16: rounds the low bits of an f32, rounded to odd, away; a carry goes to the exponent."""
    bits = _to_odd(exact, LARGE["f32"])
    dropped = np.uint32(large.dropped)
    low = np.uint32((1 << large.dropped) - 1)
    if rounding == "rn":
        bits = bits + (low >> np.uint32(1)) + ((bits >> dropped) & np.uint32(1))
    elif rounding == "rna":
        bits = bits + (low ^ (low >> np.uint32(1)))
    elif rounding != "rz":
        bits = bits + low * ((exact > 0) == (rounding == "rp"))
    return bits & ~low if large.bits.itemsize == 4 else (bits >> dropped).astype(large.bits)


@lru_cache
def _flushed(floating: np.dtype[Any], rounding: str) -> tuple[np.float64, np.float64]:
    """The open interval of values that become subnormal or zero when rounded to the type's precision."""
    normal, half_step = np.float64(np.finfo(floating).tiny), np.float64(np.finfo(floating).epsneg) / 2
    nearest, outward = normal * (1 - half_step), np.nextafter(normal * (1 - 2 * half_step), 1.0)
    return {
        "rn": (-nearest, nearest),
        "rz": (-normal, normal),
        "rm": (-outward, normal),
        "rp": (-normal, outward),
    }[rounding]


def _to_odd(exact: Array, large: Large) -> Array:
    """Bits of f32 or f16, rounded to odd: too large a value becomes the largest number, which is odd."""
    nearest: Array = exact.astype(large.floating)
    odd: Array = (nearest.view(large.bits) - (np.abs(nearest) > np.abs(exact))) | (nearest != exact)
    return odd


def _to_odd_16(exact: Array, format: str) -> Array:
    """Bits, rounded to odd, of the 16-bit format through which a small one is reached."""
    if format not in _THROUGH:
        return _to_odd(exact, LARGE["f16"])
    bits = _to_odd(exact, LARGE["f32"])
    odd: Array = (bits >> np.uint32(16)) | ((bits & np.uint32(0xFFFF)) != 0)
    return odd


@lru_cache
def _values(format: str) -> Array:
    """The value of each of the 256 codes."""
    small = SMALL[format]

    def value(byte: int) -> float:
        code = byte & ((small.sign or 0x100) - 1)
        if code < small.overflow:
            return small.value(code)
        return np.inf if code == small.overflow != small.nan else np.nan

    return np.array([-value(byte) if byte & small.sign else value(byte) for byte in range(256)])


@lru_cache
def _codes(format: str, rounding: str, saturate: bool) -> Array:
    """The code for each of the 65,536 values of the 16-bit format that `encode` goes through."""
    small = SMALL[format]
    exact = decode(np.arange(0x10000, dtype=np.uint16), _THROUGH.get(format, "f16"))
    magnitude = np.abs(exact)
    numbers = np.array([small.value(code) for code in range(small.overflow + 1)])
    below = np.clip(np.searchsorted(numbers, magnitude, side="right") - 1, 0, small.overflow - 1)
    double, tie = 2 * magnitude, numbers[below] + numbers[below + 1]
    negative = np.signbit(exact) if small.sign else np.zeros(exact.shape, bool)
    up = {
        "rn": (double > tie) | ((double == tie) & (below & 1 == 1)),
        "rz": np.zeros(exact.shape, bool),
        "rm": (magnitude > numbers[below]) & negative,
        "rp": (magnitude > numbers[below]) & ~negative,
    }[rounding]
    codes = np.where(np.isinf(exact), small.overflow, below + up)
    if saturate or small.nan < small.overflow:
        codes = np.minimum(codes, small.overflow - 1)
    return np.where(np.isnan(exact), small.nan, codes | small.sign * negative).astype(np.uint8)
