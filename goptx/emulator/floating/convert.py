"""Conversions: `convert` for cvt and cvt.pack, as a chain of steps chosen once for each opcode.

A float goes from step to step as an f32 or f64 of its exact value, or rounded to odd, and is rounded at the end.
The ISA does not specify which NaN results. It is the same as on an H200: the canonical one, except from f64, to f64,
and where nothing is computed.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from goptx.emulator.floating.double import double
from goptx.emulator.floating.formats import LARGE, decode, encode, round_to_odd_sum
from goptx.emulator.instructions.lanewise import DTYPES, Array, Lanewise

Step = Callable[..., Array]

INTEGERS = frozenset("u8 s8 u16 s16 u32 s32 u64 s64".split())
INTEGERS_64 = ("u64", "s64")  # which f64 cannot represent exactly
FLOATS = frozenset("f16 bf16 f32 f64".split())
PAIRS = frozenset("f16x2 bf16x2 e4m3x2 e5m2x2 e2m3x2 e3m2x2 e2m1x2 ue8m0x2".split())
PACKED_INTEGERS = frozenset("u16 s16 u8 s8 u4 s4 u2 s2".split())
REGISTERS = {"e2m3x2": "b16", "e3m2x2": "b16", "ue8m0x2": "b16", "e2m1x2": "b8"}  # of pairs that lack a type

ROUNDINGS = frozenset("rn rz rm rp rna".split())
TO_WHOLE: dict[str, Step] = {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}
FROM_FLOAT_TO_INTEGER = {*TO_WHOLE, "ftz", "sat"}  # sat changes nothing, since integers are clamped anyway
TO_FLOAT = {*ROUNDINGS, *TO_WHOLE, "ftz", "sat", "satfinite", "relu"}


def convert(opcode: str) -> Lanewise | None:
    """The function of a cvt or cvt.pack; None for other opcodes and for `.rs`, rounding by random bits.

    If the opcode lacks a rounding that the ISA demands, it is rn, as for bf16.f16, which ptxas accepts without one.
    """
    words = opcode.split(".")
    if words[:3] == ["cvt", "pack", "sat"]:
        return _pack(words[3:])
    if words[0] != "cvt" or len(words) < 3:
        return None
    modifiers, to, source = frozenset(words[1:-2]), words[-2], words[-1]
    sources = (source, source) if to in PAIRS and source == "f32" else (source,)
    steps = _steps(modifiers, to, source)
    held = [REGISTERS.get(type, type) for type in (*sources, to)]
    return Lanewise(tuple(held[:-1]), (held[-1],), _chain(steps)) if steps else None


def _steps(modifiers: frozenset[str], to: str, source: str) -> list[Step] | None:
    if to in INTEGERS and source in INTEGERS and modifiers <= {"sat"}:
        return [*(_clamp(to, source) if modifiers else ()), _cast(to)]
    if to in INTEGERS and source in FLOATS and modifiers <= FROM_FLOAT_TO_INTEGER:
        return _float_to_integer(modifiers, to, source)
    if not modifiers <= TO_FLOAT:
        return None
    if to in FLOATS | {"tf32"} and source in FLOATS | INTEGERS:
        return _to_float(modifiers, to, source)
    if to in PAIRS and source in PAIRS | {"f32"}:
        gather = _side_by_side if source == "f32" else _parts(source)
        return [gather, *_to_float(modifiers, to[:-2], source.removesuffix("x2")), _join(to)]
    return None


def _chain(steps: list[Step]) -> Step:
    first, *rest = steps

    def apply(*sources: Array) -> Array:
        value = first(*sources)
        for step in rest:
            value = step(value)
        return value

    return apply


# To integers ----------------------------------------------------------------------------------------


def _float_to_integer(modifiers: frozenset[str], to: str, source: str) -> list[Step] | None:
    whole = [step for name, step in TO_WHOLE.items() if name in modifiers]
    if len(whole) != 1:
        return None
    last = _clamped_64(to) if to in INTEGERS_64 else _clamped(to, 0.0 if source != "f64" else float(_top_bit(to)))
    return [*_exact(modifiers, source), *whole, last]


def _clamp(to: str, source: str) -> list[Step]:
    """Clamps integers of type `source` to the range of `to`, with each bound only where it can matter."""
    old, new = np.iinfo(DTYPES[source]), np.iinfo(DTYPES[to])
    least, most = old.dtype.type(max(old.min, new.min)), old.dtype.type(min(old.max, new.max))
    steps: list[Step] = []
    if new.min > old.min:
        steps.append(lambda value: np.maximum(value, least))
    if new.max < old.max:
        steps.append(lambda value: np.minimum(value, most))
    return steps


def _clamped(to: str, nan: float) -> Step:
    """Converts whole floats to integers of at most 32 bits."""
    dtype = DTYPES[to]
    bounds = np.iinfo(dtype)
    least, most = float(bounds.min), float(bounds.max)

    def step(value: Array) -> Array:
        clamped = np.minimum(np.maximum(value.astype(np.float64), least), most)
        unknown = value != value
        if np.count_nonzero(unknown):
            clamped = np.where(unknown, nan, clamped)
        return clamped.astype(dtype)

    return step


def _clamped_64(to: str) -> Step:
    """Converts whole floats to integers of 64 bits, whose largest values floats cannot represent."""
    dtype = DTYPES[to]
    bounds = np.iinfo(dtype)
    least, most, nan = dtype.type(bounds.min), dtype.type(bounds.max), dtype.type(_top_bit(to))
    floor, beyond = float(bounds.min), float(bounds.max)  # the latter is one more than the integer

    def step(value: Array) -> Array:
        inside = (value >= floor) & (value < beyond)
        integers: Array = value.astype(dtype)
        if np.count_nonzero(inside) == inside.size:
            return integers
        outside = np.where(value < floor, least, np.where(value == value, most, nan))
        return np.where(inside, integers, outside)

    return step


def _top_bit(to: str) -> int:
    bounds = np.iinfo(DTYPES[to])
    return int(bounds.min or bounds.max // 2 + 1)


# To floats ------------------------------------------------------------------------------------------


def _to_float(modifiers: frozenset[str], to: str, source: str) -> list[Step]:
    """The steps to numbers of the format, or to their bits where numpy lacks it."""
    rounding = next((name for name in ROUNDINGS if name in modifiers), "rn")
    if source in INTEGERS:
        nearest = rounding == "rn" and to in ("f32", "f64")  # numpy casts so
        steps = [_from_64(to, rounding) if source in INTEGERS_64 and not nearest else _cast(to if nearest else "f64")]
    else:
        steps = _exact(modifiers, source)
        steps += [step for name, step in TO_WHOLE.items() if name in modifiers]
    if "sat" in modifiers:
        steps.append(lambda value: np.where(value > 0, np.minimum(value, 1), 0))
    if "relu" in modifiers:
        steps.append(lambda value: np.maximum(value, 0) + 0)
    if to == "f64" or ((to, source) in (("f32", "f32"), ("f32", "bf16")) and modifiers <= ROUNDINGS):
        return [*steps, _cast(to)]
    ftz, saturate = to == "f32" and "ftz" in modifiers, "satfinite" in modifiers

    def round_(value: Array) -> Array:
        return encode(value, to, rounding, ftz=ftz, saturate=saturate)

    return [*steps, _keeping_nan(round_, to) if source == "f64" else round_]


_WIDENED: dict[str, Step] = {
    "f16": lambda value: value.astype(np.float32),
    "bf16": lambda bits: (bits.astype(np.uint32) << np.uint32(16)).view(np.float32),
}


def _exact(modifiers: frozenset[str], source: str) -> list[Step]:
    """The steps to the exact values of floats; under .ftz, subnormal f32 become zeros of their sign."""
    if source == "f32":
        return [lambda value: encode(value, "f32", ftz=True)] if "ftz" in modifiers else []
    return [] if source == "f64" else [_WIDENED.get(source, lambda bits: decode(bits, source))]


def _from_64(to: str, rounding: str) -> Step:
    """Integers of 64 bits as float64, rounded as requested if that is the result, otherwise to odd."""
    add = double("add", rounding) if to == "f64" else round_to_odd_sum

    def step(value: Array) -> Array:
        high = (value >> value.dtype.type(32)).astype(np.float64) * 2.0**32
        return add(high, (value & value.dtype.type(0xFFFFFFFF)).astype(np.float64))

    return step


def _keeping_nan(round_: Step, to: str) -> Step:
    """Narrows f64; NaN becomes a quiet one with the sign and the upper bits of the mantissa."""
    large = LARGE[to]
    mantissa = int(~(large.sign | large.infinity)).bit_length()
    quiet = large.infinity | large.bits.type(1 << mantissa - 1)
    above, sign_above = np.uint64(52 - mantissa), np.uint64(64 - 8 * large.bits.itemsize)

    def step(value: Array) -> Array:
        rounded, nan = round_(value), value != value
        if not np.count_nonzero(nan):
            return rounded
        bits = value.view(np.uint64)
        sign = (bits >> sign_above).astype(large.bits) & large.sign
        quieted = (bits >> above).astype(large.bits) & ~large.sign | quiet | sign
        return np.where(nan, quieted, rounded.view(large.bits)).view(rounded.dtype)

    return step


def _cast(to: str) -> Step:
    dtype = DTYPES[to]
    return lambda value: value.astype(dtype)


# Pairs ----------------------------------------------------------------------------------------------


def _side_by_side(upper: Array, lower: Array) -> Array:
    """Stacks the parts along a last axis, the lower part first, as in memory."""
    pair = np.empty((*np.broadcast(upper, lower).shape, 2), upper.dtype)
    pair[..., 0], pair[..., 1] = lower, upper
    return pair


def _parts(packed: str) -> Step:
    if packed == "e2m1x2":
        return lambda value: _side_by_side(value >> np.uint8(4), value)
    part = DTYPES.get(packed.removesuffix("x2"), np.uint8)
    return lambda value: value[..., None].view(part)


def _join(packed: str) -> Step:
    if packed == "e2m1x2":
        return lambda parts: parts[..., 0] | parts[..., 1] << np.uint8(4)
    whole = DTYPES[REGISTERS.get(packed, packed)]
    return lambda parts: parts.view(whole)[..., 0]


def _pack(types: list[str]) -> Lanewise | None:
    """cvt.pack.sat: clamps two integers into the low bits, `a` above `b`, with those of `c` above them."""
    if not types or types[0] not in PACKED_INTEGERS or types[1:] != ["s32", "b32"][: 2 - (types[0][1:] == "16")]:
        return None
    size = int(types[0][1:])
    least, most = (0, 2**size - 1) if types[0][0] == "u" else (-(2 ** (size - 1)), 2 ** (size - 1) - 1)
    mask = np.uint32(2**size - 1)

    def apply(upper: Array, lower: Array, above: Array | None = None) -> Array:
        upper, lower = (
            np.minimum(np.maximum(value, np.int32(least)), np.int32(most)).view(np.uint32) & mask
            for value in (upper, lower)
        )
        packed: Array = upper << np.uint32(size) | lower
        return packed if above is None else packed | above << np.uint32(2 * size)

    return Lanewise(("s32", "s32", "u32")[: len(types)], ("u32",), apply)
