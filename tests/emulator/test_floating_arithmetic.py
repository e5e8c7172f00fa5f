"""add sub mul fma mad div rcp sqrt, against exact fractions rounded by the definition."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from emulator.floating_opcodes import ARITHMETIC, ROUNDINGS
from emulator.floating_reference import (
    WIDTHS,
    bits_of,
    computed,
    executed,
    held,
    instruction,
    packed,
    same,
    telling_codes,
)
from emulator.rounding import FORMATS, encoded
from hypothesis import example, given, settings
from hypothesis import strategies as st

PACKED = [opcode for opcode in ARITHMETIC if opcode.endswith("x2")]
PLAIN = [opcode for opcode in ARITHMETIC if not opcode.endswith("x2")]


def check(opcode: str, lanes: list[tuple[int, ...]]) -> None:
    format = instruction(opcode).results[0]
    for codes, found in zip(lanes, executed(opcode, *columns(lanes)), strict=True):
        expected = computed(opcode, list(codes))
        assert same(found, expected, format), f"{opcode} {[hex(c) for c in codes]}: {found:#x}, {expected:#x}"


def columns(lanes: list[tuple[int, ...]]) -> list[list[int]]:
    return [list(column) for column in zip(*lanes, strict=True)]


def drawn(opcode: str, count: int) -> list[tuple[int, ...]]:
    """Operands for the instruction: pairs of critical values, any bits, and numbers near each other."""
    chance = random.Random(opcode)
    formats = instruction(opcode).sources
    telling = list(product(*(telling_codes(format) for format in formats)))
    lanes = chance.sample(telling, min(count, len(telling)))
    for _ in range(count):
        lanes.append(tuple(chance.getrandbits(WIDTHS[format]) for format in formats))
        base = chance.getrandbits(64)
        lanes.append(tuple((base >> 64 - WIDTHS[f]) ^ chance.choice((0, 1, 2, 1 << WIDTHS[f] - 1)) for f in formats))
    return lanes


@pytest.mark.parametrize("opcode", PLAIN)
def test_correctly_rounded(opcode: str) -> None:
    check(opcode, drawn(opcode, 60))


@pytest.mark.parametrize("opcode", PACKED)
def test_packed_are_two_of_the_plain(opcode: str) -> None:
    plain = opcode.removesuffix("x2")
    format = plain.rpartition(".")[2]
    low = columns(drawn(plain, 60))
    high = [codes[::-1] for codes in low]
    words = [packed(a, b, format) for a, b in zip(low, high, strict=True)]
    assert executed(opcode, *words) == packed(executed(plain, *low), executed(plain, *high), format)


# Where rounding twice, or losing the error of a product, goes wrong ---------------------------------------------------


def code_of(value: float, format: str) -> int:
    return encoded(Fraction(value) if math.isfinite(value) and value else value, format, "rn")


def nearly_ties(format: str) -> list[tuple[int, ...]]:
    """a, b, c such that a * b + c is beside a tie, or a number, of the format, mostly by less than float64 can show."""
    chance = random.Random(format)
    last = 2.0 ** -FORMATS[format].mantissa  # the weight of the last digit of numbers from 1 to 2
    lanes = [(1.5, 1 + last, tiny) for tiny in (2.0**-100, -(2.0**-100), 2.0**-20, -(2.0**-20))]
    for _ in range(100):
        c = 1 + last * chance.randrange(int(1 / last))
        scale = 2.0 ** chance.randrange(-6, 7)
        part = last * chance.choice((0.5, 1.0, 0.25, 2.0**-20, 2.0**-40)) * chance.choice((1, -1))
        off = last * chance.choice((1, 2, 3))
        b = (1 - off) * chance.choice((1, 1 + last))
        lanes.append((part * (1 + off), scale * b, scale * c * chance.choice((1, -1))))
    return [tuple(code_of(value, format) for value in lane) for lane in lanes]


@pytest.mark.parametrize(
    "opcode", [*(f"fma.{rounding}.{t}" for rounding in ROUNDINGS for t in ("f32", "f64")), "fma.rn.f16", "fma.rn.bf16"]
)
def test_fused_is_rounded_once(opcode: str) -> None:
    for lane in nearly_ties(opcode.rpartition(".")[2]):
        check(opcode, [lane])  # alone: what it needs must not be done for another's sake


def test_fused_half_precision_of_all_sizes() -> None:
    chance = random.Random(5)
    sizes = (0x0001, 0x03FF, 0x0400, 0x1001, 0x3C01, 0x6001, 0x7BFF)
    for a, b, c in product(sizes, sizes, sizes):
        check("fma.rn.f16", [(a, b ^ chance.choice((0, 1, 0x8000)), c)])


@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_fused_subnormal_sums(rounding: str) -> None:
    """Products far below c, whose sums are ties among f32's subnormal numbers but for that."""
    tie = 0x00400000  # 2**-127
    lanes = [(0x1A800000, 0x1A000000 + i, tie + j) for i in (0, 1, 2, 0x400000) for j in (0, 1, 2, 3)]
    lanes += [(0x1A800001, 0x19FFFFFE | s, tie + j | t) for j in (0, 1) for s in (0, 1 << 31) for t in (0, 1 << 31)]
    for lane in lanes:
        check(f"fma.{rounding}.f32", [lane])


@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_fused_extremes(rounding: str) -> None:
    """Products that overflow beside an infinite c, and sums of extremes that cancel to zero, whose sign counts."""
    sizes = (0x0, 0x1, 0x3FF0000000000000, 0x7FEFFFFFFFFFFFFF, 0x7FF0000000000000)  # 0, least, 1, largest, infinite
    extremes = [size | sign for size in sizes for sign in (0, 1 << 63)]
    check(f"fma.{rounding}.f64", list(product(extremes, repeat=3)))


@pytest.mark.parametrize(
    "opcode", [f"{base}.{rounding}.f64" for base in ("add", "mul", "div", "fma") for rounding in ROUNDINGS]
)
def test_doubles_of_all_exponents(opcode: str) -> None:
    """Overflow, underflow, products whose error is no f64, cancellation."""
    chance = random.Random(opcode)
    lanes = []
    for _ in range(250):
        a, b = chance.uniform(1, 2), chance.choice((-1, 1)) * chance.uniform(1, 2)
        exponent = chance.choice((-1074, -1022, -980, -540, -310, -300, -2, 299, 500, 511, 512, 1000, 1023))
        other = chance.choice((-1060, -530, -480, 0, 300, 510, 1020))
        values = [np.ldexp(a, exponent), np.ldexp(b, other)]
        if opcode.startswith("fma"):
            with np.errstate(all="ignore"):
                near = -(values[0] * values[1]) * chance.choice((1, 1 + 2**-52, 0.5, 2.0**-60, 2.0**60, 0))
            values.append(near if np.isfinite(near) else 1.0)
        lanes.append(tuple(code_of(float(value), "f64") for value in values))
    check(opcode, lanes)


DOUBLES = st.integers(0, 2**64 - 1) | st.floats().map(lambda value: code_of(value, "f64"))
SINGLES = st.integers(0, 2**32 - 1) | st.floats(width=32).map(lambda value: code_of(value, "f32"))


@pytest.mark.slow
@settings(max_examples=150)
@given(st.sampled_from(ROUNDINGS), st.lists(st.tuples(DOUBLES, DOUBLES, DOUBLES), min_size=1, max_size=5))
@example("rn", [(0x8000000000000000, 0x3FF0000000000000, 0x8000000000000000)])
@example("rm", [(0x3FF0000000000000, 0x3FF0000000000000, 0xBFF0000000000000)])
def test_double_fused(rounding: str, lanes: list[tuple[int, ...]]) -> None:
    check(f"fma.{rounding}.f64", lanes)


@pytest.mark.slow
@settings(max_examples=150)
@given(st.sampled_from(ROUNDINGS), st.lists(st.tuples(SINGLES, SINGLES, SINGLES), min_size=1, max_size=5))
def test_single_fused(rounding: str, lanes: list[tuple[int, ...]]) -> None:
    check(f"fma.{rounding}.f32", lanes)


@settings(max_examples=100)
@given(
    st.sampled_from([o for o in PLAIN if len(instruction(o).sources) == 2]),
    st.lists(st.tuples(DOUBLES, DOUBLES), min_size=1, max_size=4),
)
def test_two_operands(opcode: str, lanes: list[tuple[int, ...]]) -> None:
    widths = [WIDTHS[format] for format in instruction(opcode).sources]
    check(opcode, [tuple(code >> 64 - width for code, width in zip(lane, widths, strict=True)) for lane in lanes])


def test_nan_is_the_canonical_one() -> None:
    assert executed("add.f32", [0x7F800000], [0xFF800000]) == [0x7FFFFFFF]
    assert executed("fma.rn.f32", [0xFFC12345], [0], [0]) == [0x7FFFFFFF]
    assert executed("mul.f16x2", [0x7C013C00], [0x3C003C00]) == [0x7FFF3C00]
    assert executed("sub.bf16", [0x7F80], [0x7F80]) == [0x7FFF]
    assert executed("fma.rn.relu.bf16", [0xFFC0], [0], [0]) == [0x7FFF]
    assert executed("add.sat.f32", [0x7FC00000], [0]) == [0]


def test_many_lanes_are_as_few() -> None:
    """Long arrays are computed in blocks."""
    chance = random.Random(3)
    for opcode, width in (("fma.rn.f32", 32), ("fma.rz.f64", 64), ("add.ftz.f16x2", 32), ("fma.rn.bf16x2", 32)):
        operands = [[chance.getrandbits(width) for _ in range(20_001)] for _ in instruction(opcode).sources]
        tails = [operand[16_000:] for operand in operands]
        assert executed(opcode, *operands)[16_000:] == executed(opcode, *tails)


def test_an_immediate_has_no_dimension() -> None:
    for opcode in ("fma.rn.f32", "fma.rz.f64", "add.rn.sat.f16x2", "mul.bf16x2", "div.rm.f64", "max.f32"):
        found = instruction(opcode)
        operands = [held([0x3F800001, 0, 0x7F800000, 0x00000001], type) for type in found.sources]
        with np.errstate(all="ignore"):
            expected = found.apply(np.full(4, operands[0][0]), *operands[1:])
            mixed = found.apply(np.array(operands[0][0]), *operands[1:])
            alone = found.apply(*[np.array(operand[0]) for operand in operands])
        assert bits_of(mixed) == bits_of(expected)
        assert np.ndim(alone) == 0 and bits_of(np.array([alone])) == bits_of(expected[:1])


def test_operands_stay_as_they_are() -> None:
    for opcode in ("fma.rz.f64", "mul.rm.f64", "fma.rn.sat.f16x2", "add.ftz.f32", "fma.rn.f64"):
        found = instruction(opcode)
        operands = [held([0, 1, 0x00800000, 0x7F800000], type) for type in found.sources]
        for operand in operands:
            operand.flags.writeable = False
        with np.errstate(all="ignore"):
            found.apply(*operands)
