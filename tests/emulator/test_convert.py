"""Every conversion against its definition in whole numbers and fractions, and NaN against what an H200 gave."""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pytest
from emulator.convert_opcodes import INTEGERS, OPCODES, OPCODES_100A
from emulator.rounding import FORMATS, decoded, encoded, floor_log2, rounded_quotient, telling_values

from goptx.emulator.floating.convert import convert
from goptx.emulator.instructions.lanewise import DTYPES, Array

LANES = 120
PACKED = ("u16", "s16", "u8", "s8", "u4", "s4", "u2", "s2")
WORDS = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}
WIDTH = {"f64": 64, "f32": 32, "tf32": 32, "f16": 16, "bf16": 16, "e2m1": 4}  # of elements in their registers; else 8


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """As callers hold it."""
    with np.errstate(all="ignore"):
        yield


# The reference: one value at a time, from bits to bits -----------------------------------------------


def bounds(type: str) -> tuple[int, int]:
    size = int(type[1:])
    return (0, 2**size - 1) if type[0] == "u" else (-(2 ** (size - 1)), 2 ** (size - 1) - 1)


def value_of(bits: int, type: str) -> Fraction | float:
    if type == "ue8m0":
        return math.nan if bits == 255 else Fraction(2) ** (bits - 127)
    if type not in INTEGERS:
        return decoded(bits, type)
    return Fraction(bits - (2 ** int(type[1:]) if bits > bounds(type)[1] else 0))


def converted(bits: int, to: str, source: str, modifiers: set[str]) -> int:
    value = value_of(bits, source)
    if "ftz" in modifiers and source == "f32" and isinstance(value, Fraction) and abs(value) < Fraction(1, 2**126):
        value = math.copysign(0.0, value)
    value = whole(value, modifiers)
    if to in INTEGERS:
        return integer(value, to, source, clamps="sat" in modifiers or source not in INTEGERS)
    if "sat" in modifiers:
        value = 0.0 if math.isnan(value) or value <= 0 else min(value, Fraction(1))
    if "relu" in modifiers and value <= 0:
        value = 0.0
    rounding = next((each for each in ("rna", "rz", "rm", "rp") if each in modifiers), "rn")
    if to == "ue8m0":
        return exponent(value, rounding, saturates="satfinite" in modifiers)
    code = encoded(value, to, rounding, saturate="satfinite" in modifiers, ftz="ftz" in modifiers and to == "f32")
    return code << 13 if to == "tf32" else code


def whole(value: Fraction | float, modifiers: set[str]) -> Fraction | float:
    for each in modifiers & {"rni", "rzi", "rmi", "rpi"}:
        if isinstance(value, Fraction):
            size = rounded_quotient(value, Fraction(1), each[:2], value < 0)
            return Fraction(-size if value < 0 else size) if size else math.copysign(0.0, value)
    return value


def integer(value: Fraction | float, to: str, source: str, *, clamps: bool) -> int:
    least, most = bounds(to)
    size = int(to[1:])
    if math.isnan(value):
        return 0 if source != "f64" and size < 64 else 1 << size - 1
    if clamps:
        value = max(Fraction(least), min(Fraction(most), value))
    return int(value) % (1 << size)


def exponent(value: Fraction | float, rounding: str, *, saturates: bool) -> int:
    """The byte of ue8m0: 2**(byte - 127) for the size of the value, the least for what is smaller, 255 for NaN."""
    if math.isnan(value):
        return 255
    if math.isinf(value):
        return 254 if saturates else 255
    size = abs(Fraction(value))
    if size <= Fraction(1, 2**127):
        return 0
    byte = floor_log2(size) + 127
    byte += rounding == "rp" and size > Fraction(2) ** (byte - 127)
    return min(byte, 254) if saturates else byte


def expected(opcode: str, lane: list[int]) -> int:
    *modifiers, to, source = opcode.split(".")[1:]
    if not to.endswith("x2"):
        return converted(lane[0], to, source, set(modifiers))
    to, width = to.removesuffix("x2"), WIDTH.get(to.removesuffix("x2"), 8)
    if source != "f32":
        source = source.removesuffix("x2")
        part = WIDTH.get(source, 8)
        lane = [lane[0] >> part, lane[0] & (1 << part) - 1]
    upper, lower = (converted(bits, to, source, set(modifiers)) for bits in lane)
    return upper << width | lower


# The lanes --------------------------------------------------------------------------------------------


@cache
def floats(source: str, to: str) -> Array:
    """Values of the source that distinguish the roundings to the destination; all kinds are among the first."""
    values = telling_values(to if to in FORMATS else source)
    if to in INTEGERS:
        ends = np.array([0.5, 1.5, 2.5, 0.49, *(float(abs(end) + d) for end in bounds(to) for d in (-1, -0.5, 0.5, 1))])
        values = np.concatenate([ends, -ends, values, np.linspace(-3, 3, 25), 2.0 ** np.arange(-2, 66)])
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 0.5, 1e-40, -1e-40, 2.0**-149])
    return np.concatenate([special, values])


def integers(source: str, to: str, rng: np.random.Generator) -> Array:
    """The ends of ranges, powers of two, ties of the destination, each with its neighbours, and any others."""
    dtype, (least, most) = DTYPES[source], bounds(source)
    some = [2**k for k in range(65)]
    if to in INTEGERS:
        some += bounds(to)
    else:
        width = FORMATS[to].mantissa + 1
        some += [int(rng.integers(2 ** (width - 1), 2**width)) * 2 + 1 << shift for shift in range(63 - width)] * 3
    near = {sign * (each + step) for each in [0, least, most, *some] for step in (-1, 0, 1) for sign in (1, -1)}
    fitting = np.array(sorted(each for each in near if least <= each <= most), dtype)
    others = np.frombuffer(rng.bytes(LANES // 3 * dtype.itemsize), dtype) >> dtype.type(rng.integers(int(source[1:])))
    return np.concatenate([others, rng.choice(fitting, LANES - LANES // 3)])


def lanes(type: str, to: str, rng: np.random.Generator) -> Array:
    if type in INTEGERS:
        return integers(type, to, rng)
    dtype = DTYPES.get(type, np.dtype(np.uint8 if type == "e2m1x2" else np.uint16))
    if type in ("f32", "f64"):
        values = floats(type, to.removesuffix("x2")).astype(dtype)
        random = np.frombuffer(rng.bytes(20 * dtype.itemsize), dtype)
        return np.concatenate([values[:11], random, rng.choice(values[11:], LANES - 31)])
    return np.frombuffer(rng.bytes(LANES * dtype.itemsize), dtype)


def as_numbers(values: Array) -> list[int]:
    return [int(each) for each in values.view(WORDS[values.dtype.itemsize])]


def is_nan(bits: int, format: str) -> bool:
    return format in FORMATS and math.isnan(decoded(bits >> 13 if format == "tf32" else bits, format))


@pytest.mark.parametrize("opcode", [each for each in (*OPCODES, *OPCODES_100A) if "pack" not in each])
def test_conversion(opcode: str) -> None:
    *_, to, source = opcode.split(".")
    instruction = convert(opcode)
    assert instruction is not None
    rng = np.random.default_rng(zlib.crc32(opcode.encode()))
    pair = to.endswith("x2") and source == "f32"
    sources = [rng.permutation(lanes(source, to, rng)) if pair else lanes(source, to, rng) for _ in range(1 + pair)]
    assert [DTYPES[type] for type in instruction.sources] == [each.dtype for each in sources]
    before = [each.tobytes() for each in sources]
    found = instruction.apply(*sources)
    assert found.dtype == DTYPES[instruction.results[0]] and found.shape == (LANES,)
    assert [each.tobytes() for each in sources] == before
    for lane, bits in zip(zip(*map(as_numbers, sources), strict=True), as_numbers(found), strict=True):
        right = expected(opcode, list(lane))
        if not (is_nan(right, to) and is_nan(bits, to)):  # test_nan checks which NaN
            assert (hex(bits), *map(hex, lane)) == (hex(right), *map(hex, lane))


@pytest.mark.parametrize("opcode", [*OPCODES, *OPCODES_100A])
def test_immediates(opcode: str) -> None:
    """An operand without dimension, alone or beside lanes, counts as that value in every lane."""
    instruction = convert(opcode)
    assert instruction is not None
    rng = np.random.default_rng(1)
    sources = [np.frombuffer(rng.bytes(3 * DTYPES[type].itemsize), DTYPES[type]) for type in instruction.sources]
    full = instruction.apply(*sources)
    one = instruction.apply(*(each[1:2].reshape(()) for each in sources))
    assert one.shape == () and one.dtype == full.dtype and one.tobytes() == full[1].tobytes()
    mixed = instruction.apply(sources[0][1:2].reshape(()), *sources[1:])
    assert mixed.tobytes() == instruction.apply(np.repeat(sources[0][1:2], 3), *sources[1:]).tobytes()[: mixed.nbytes]


NAN = """
    cvt.f32.f32 7f800001 7f800001, cvt.ftz.f32.f32 ffc00001 7fffffff, cvt.sat.f32.f32 7fc00000 0,
    cvt.rni.f32.f32 ff800001 7fffffff, cvt.rpi.ftz.sat.f32.f32 ff800001 0, cvt.f32.f16 7c01 7fffffff,
    cvt.f32.bf16 ff81 ff810000, cvt.rz.f32.bf16 7fd5 7fd50000, cvt.ftz.f32.bf16 7f81 7fffffff,
    cvt.rn.f32.f64 7ff8000000000001 7fc00000, cvt.rz.ftz.f32.f64 fff7ade4ce86e1a1 fffd6f26,
    cvt.rm.sat.f32.f64 7ff8000000000001 0, cvt.rn.f16.f64 fffc9ee0f78b1cb5 ff27, cvt.rz.f16.f64 7ff26e61ecb712b3 7e9b,
    cvt.rp.bf16.f64 fff8000000000000 ffc0, cvt.rz.bf16.f64 7ffe8c8a4fe90594 7ff4,
    cvt.rn.f16.f32 ffc00001 7fff, cvt.rn.relu.f16.f32 ff800001 7fff, cvt.rn.bf16.f32 7f800001 7fff,
    cvt.rn.satfinite.bf16.f32 7f800001 7fff, cvt.f16.f16 fc01 7fff, cvt.bf16.bf16 ff81 7fff, cvt.bf16.f16 7c01 7fff,
    cvt.f64.f64 fff0000000000001 fff0000000000001, cvt.f64.f32 7f800001 7ff8000020000000,
    cvt.ftz.f64.f32 7f800001 7fffffffe0000000, cvt.f64.f16 fc01 fff8040000000000, cvt.sat.f64.f16 7c01 0,
    cvt.rn.tf32.f32 ffbc4e42 7fffe000, cvt.rz.relu.tf32.f32 7f800001 7fffe000, cvt.rna.tf32.f32 7fffffff 7fffe000,
    cvt.rn.f16x2.e4m3x2 ff7f 7fff7fff, cvt.rn.satfinite.e5m2x2.f16x2 fc017fff 7f7f,
    cvt.rni.s32.f32 7fc00000 0, cvt.rni.s64.f32 7fc00000 8000000000000000, cvt.rzi.u64.f16 7e00 8000000000000000,
    cvt.rzi.u32.f64 7ff8000000000000 80000000, cvt.rzi.sat.s8.f64 7ff8000000000000 80
"""


@pytest.mark.parametrize("case", NAN.split(","))
def test_nan(case: str) -> None:
    """Bits observed on an H200."""
    opcode, source, result = case.split()
    instruction = convert(opcode)
    assert instruction is not None
    dtype = DTYPES[instruction.sources[0]]
    found = instruction.apply(np.array([int(source, 16)], WORDS[dtype.itemsize]).view(dtype))
    assert [hex(bits) for bits in as_numbers(found)] == [hex(int(result, 16))]


@pytest.mark.parametrize("to", PACKED)
def test_packing(to: str) -> None:
    size, (least, most) = int(to[1:]), bounds(to)
    edges = [0, 1, -1, least, most, least - 1, most + 1, 2**31 - 1, -(2**31), 12345, -12345]
    a, b = (np.array(each, np.int32) for each in zip(*product(edges, edges), strict=True))
    sources = [a, b]
    if size < 16:
        sources.append(np.random.default_rng(2).integers(0, 2**32, len(a), np.uint32))
    instruction = convert(f"cvt.pack.sat.{to}.s32" + ".b32" * (size < 16))
    assert instruction is not None and instruction.results == ("u32",)
    for upper, lower, *above, found in zip(*sources, instruction.apply(*sources), strict=True):
        low, high = (min(most, max(least, int(each))) % 2**size for each in (lower, upper))
        rest = int(above[0]) << 2 * size if above else 0
        assert int(found) == (low | high << size | rest) % 2**32


@pytest.mark.parametrize(
    "opcode",
    """add.f32 cvt cvt.f32 cvt.f32.b32 cvt.b32.u32 cvt.rn.s32.f32 cvt.s32.f32 cvt.rni.rzi.s32.f32 cvt.relu.s32.s64
    cvt.satfinite.s32.f32 cvt.rs.f16x2.f32 cvt.rs.satfinite.e2m1x4.f32 cvt.rn.f16x2.u32 cvt.f16.e4m3 cvt.f32.e4m3x2
    cvt.rn.satfinite.e4m3.f32 cvt.pack.sat cvt.pack.sat.u8.s32 cvt.pack.sat.u16.s32.b32 cvt.pack.sat.u32.s32
    cvt.pack.u16.s32 cvt.full.f32.f16""".split(),
)
def test_invalid_conversions(opcode: str) -> None:
    assert convert(opcode) is None
