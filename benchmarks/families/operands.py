"""Operands for the cases: special values with each other, and random ones that reveal errors of rounding and carries.

The same for every instruction with the same types, on every machine. Held as the bits in registers.
"""

from __future__ import annotations

import math
import zlib
from functools import lru_cache

import numpy as np

from goptx.emulator.instructions.lanewise import DTYPES, Array

LANES = 4096
FORMATS = {"f16": (5, 10), "bf16": (8, 7), "f32": (8, 23), "f64": (11, 52)}
"""Bits of exponent and mantissa."""

NUMBERS = """2 0.5 1.5 2.5 3 0.75 0.25 3.5 4 10 100 126 127 127.5 128 128.5 129 255 255.5 256 448 464 480 2047 2048 2049
32767 32767.5 32768 57344 61440 65504 65519 65520 65535 65536 8388607.5 8388608 16777216 16777217 2147483647 2147483648
4294967295 4294967296 9223372036854774784 9223372036854775808 18446744073709551616 1e-5 1e-7 1e-40 1e-45 1e10 1e30 1e38
1e300 1e-300 0.1 0.3333333333333333 3.141592653589793 6.283185307179586 0.7853981633974483 314 6.103515625e-05
5.960464477539063e-08 2.9802322387695312e-08""".split()


def width_of(type_: str) -> int:
    """Bits of the register that holds a value of the type."""
    return 32 if type_ == "pred" else max(16, 8 * DTYPES[type_].itemsize)


@lru_cache(maxsize=64)
def operands(types: tuple[str, ...]) -> tuple[Array, ...]:
    """Values for each operand, as many as `LANES`; all there are of one operand of 16 bits."""
    rng = np.random.default_rng(zlib.crc32(" ".join(types).encode()))
    if len(types) == 1 and width_of(types[0]) == 16:
        return (np.arange(1 << 16, dtype=np.uint16),)
    if any(t.endswith("x2") and width_of(t) == 32 for t in types):
        low = operands((*(t.removesuffix("x2") for t in types), "pred"))[: len(types)]
        order = rng.permutation(LANES)
        packed = [_is_pair(t) for t in types]
        return tuple(_joined(v, v[order]) if both else v for v, both in zip(low, packed, strict=True))
    pools = [special(t) for t in types]
    sizes = [len(p) for p in pools]
    while math.prod(sizes) > LANES // 2:
        sizes[sizes.index(max(sizes))] -= 1
    crossed = np.unravel_index(np.arange(math.prod(sizes)), sizes)
    some = LANES // 8
    others = _others(types, LANES - len(crossed[0]) - 2 * some, rng)
    return tuple(
        np.concatenate([
            pool[places],
            rng.choice(pool, some),
            rng.integers(0, 1 << width_of(t), some, np.uint64).astype(pool.dtype) & _top(t),
            more,
        ])
        for t, pool, places, more in zip(types, pools, crossed, others, strict=True)
    )  # fmt: skip


def _is_pair(type_: str) -> bool:
    return type_.endswith("x2") and width_of(type_) == 32


def _joined(low: Array, high: Array) -> Array:
    return low.astype(np.uint32) | high.astype(np.uint32) << np.uint32(16)


def _top(type_: str) -> int:
    return 1 if type_ == "pred" else (1 << width_of(type_)) - 1


# special values -------------------------------------------------------------------------------------


@lru_cache
def special(type_: str) -> Array:
    """Special values: those most likely to reveal errors first."""
    dtype = np.dtype(f"u{width_of(type_) // 8}")
    if type_ == "pred":
        return np.array([0, 1], dtype)
    codes = _special_floats(type_) if type_ in FORMATS else _special_integers(width_of(type_))
    return np.array(list(dict.fromkeys(code & _top(type_) for code in codes)), dtype)


def _special_integers(width: int) -> list[int]:
    top, half = 1 << width - 1, 1 << width // 2
    telling = [
        0,
        1,
        -1,
        top - 1,
        top,
        2,
        31,
        32,
        -2,
        5,
        33,
        half,
        8,
        16,
        3,
        width - 1,
        width,
        width + 1,
        top + 1,
        top - 2,
    ]
    patterns = [0x5555555555555555, 0xAAAAAAAAAAAAAAAA, 0x0123456789ABCDEF, 0x8080808080808080, 0x7F7F7F7F7F7F7F7F]
    amounts = [half - 1, half + 1, 4, 7, 15, 17, 24, *range(9, 41), 47, 63, 64, 65, 127, 128, 255, 256, 257]
    powers = [sign * (1 << n) + d for n in range(3, width) for d in (0, -1, 1) for sign in (1, -1)]
    return [*telling, *patterns, *amounts, *powers]


def _special_floats(format: str) -> list[int]:
    exponent, mantissa = FORMATS[format]
    sign, one, infinity = 1 << exponent + mantissa, (1 << exponent - 1) - 1 << mantissa, (1 << exponent) - 1 << mantissa
    quiet, least = infinity | 1 << mantissa - 1, 1 << mantissa
    telling = [
        0,
        one,
        infinity,
        quiet,
        sign,
        sign | one,
        infinity - 1,
        1,
        sign | infinity,
        one + 1,
        least,
        infinity | 1,
    ]
    more = [
        least - 1,
        sign | 1,
        sign | infinity - 1,
        one - 1,
        sign | quiet | 1,
        sign | least,
        sign | least - 1,
        least + 1,
    ]
    nans = [quiet | 1, sign | infinity | 1, sign | sign - 1, sign - 1, sign | quiet, infinity | 1 << mantissa - 2]
    with np.errstate(over="ignore"):
        numbers = [int(_bits_of(np.float64(n), format)) for n in NUMBERS]
    near = [s | number + d for number in numbers for s in (0, sign) for d in (0, 1, -1)]
    return [*telling, *more, *nans, *(c for c in near if 0 <= c & sign - 1 <= infinity)]


def _bits_of(value: np.float64, format: str) -> int:
    """The number's bits; what is too precise for bf16 is cut."""
    if format == "bf16":
        return int(value.astype(np.float32).view(np.uint32)) >> 16
    dtype = DTYPES[format]
    return int(value.astype(dtype).view(f"u{dtype.itemsize}"))


# random values --------------------------------------------------------------------------------------


def _others(types: tuple[str, ...], count: int, rng: np.random.Generator) -> list[Array]:
    """Integers of all lengths and floats of exponents that meet; mantissas whose rounding is close."""
    exponents = iter(_exponents([t for t in types if t in FORMATS], count, rng))
    found = [
        _floats(t, next(exponents), count, rng) if t in FORMATS else _integers(width_of(t), count, rng) & _top(t)
        for t in types
    ]
    if len(types) > 1 and types[0] == types[1] and types[0][0] in "us":
        near = rng.integers(0, 8, count) == 0  # a is a small multiple of b, or one off
        steps = rng.integers(-1, 2, count).astype(found[0].dtype)
        multiple = found[1] * rng.integers(0, 100, count).astype(found[0].dtype) + steps
        found[0] = np.where(near, multiple, found[0])
    return [v.astype(special(t).dtype) for v, t in zip(found, types, strict=True)]


def _cut(values: Array, length: Array | int, count: int, rng: np.random.Generator) -> Array:
    """Half of the values, of that many bits, as ties of some shorter format, or next to one."""
    digits = rng.integers(0, np.maximum(length, 1), count)
    below = np.maximum(np.asarray(length) - digits, 1).astype(np.uint64)
    tie = (values >> below << below) + (np.uint64(1) << below - np.uint64(1))
    tie += rng.integers(-1, 2, count).astype(np.uint64)
    return np.where(rng.integers(0, 2, count) == 0, values, tie)


def _integers(width: int, count: int, rng: np.random.Generator) -> Array:
    length = rng.integers(1, width + 1, count)
    values = rng.integers(0, 1 << 64, count, np.uint64) >> (64 - length).astype(np.uint64)
    values = _cut(values, length, count, rng)
    values = np.where(rng.integers(0, 2, count) == 0, values, ~values + np.uint64(1))
    return values.astype(f"u{width // 8}")


def _floats(format: str, exponents: Array, count: int, rng: np.random.Generator) -> Array:
    exponent, mantissa = FORMATS[format]
    bias = (1 << exponent - 1) - 1
    drawn = _cut(rng.integers(0, 1 << mantissa, count, np.uint64), mantissa, count, rng)
    fraction = drawn & np.uint64((1 << mantissa) - 1)
    biased = np.clip(exponents + bias, 0, 2 * bias).astype(np.uint64)
    sign = rng.integers(0, 2, count).astype(np.uint64) << np.uint64(exponent + mantissa)
    bits: Array = sign | biased << np.uint64(mantissa) | fraction
    return bits.astype(f"u{(exponent + mantissa + 1) // 8}")


def _exponents(formats: list[str], count: int, rng: np.random.Generator) -> list[Array]:
    """Of operands whose sum, product or quotient is near one of them, near the largest or near the smallest."""
    found: list[Array] = []
    for i, format in enumerate(formats):
        exponent, mantissa = FORMATS[format]
        most = (1 << exponent - 1) - 1
        near = rng.integers(-mantissa - 3, mantissa + 4, count)
        alone = np.choose(
            rng.integers(0, 4, count),
            [rng.integers(-most, most + 1, count), near, rng.integers(-26, 67, count), rng.integers(-150, 130, count)],
        )
        if i == 0:
            found.append(alone)
            continue
        first, end = found[0], np.where(near > 0, most, -most)
        meeting = [alone, first + near, end - first + near // 3, first - end + near // 3]
        if i == 2:
            meeting = [alone, first + found[1] + near, first + near, end + near // 3]
        found.append(np.choose(rng.integers(0, 4, count), meeting))
    return found
