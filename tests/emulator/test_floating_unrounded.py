"""neg abs copysign min max, against the ISA's pseudocode, lane by lane."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from fractions import Fraction
from itertools import product

import pytest
from emulator.floating_opcodes import THREE_OPERANDS, UNROUNDED
from emulator.floating_reference import (
    WIDTHS,
    Value,
    executed,
    instruction,
    is_nan,
    packed,
    read,
    same,
    telling_codes,
)
from emulator.rounding import FORMATS, decoded, encoded

from goptx.emulator.floating.floating import floating

EXTREMA = [opcode for opcode in UNROUNDED if opcode.startswith(("min", "max"))]
OF_SIGN = [opcode for opcode in UNROUNDED if not opcode.startswith(("min", "max"))]


def below(a: Value, b: Value) -> bool:
    """-0 is below +0."""
    return a < b or (a == b and isinstance(a, float) and math.copysign(1, a) < math.copysign(1, b))


def extremum(opcode: str, codes: tuple[int, ...]) -> int:
    base, *words = opcode.split(".")
    format = words[-1]
    sign = FORMATS[format].sign
    values = [read(code, format, "ftz" in words) for code in codes]
    if "abs" in words:
        values = [math.fabs(value) if isinstance(value, float) else abs(value) for value in values]
    chosen = values[0]
    for value in values[1:]:
        if is_nan(chosen) or is_nan(value):
            nan_wins = "NaN" in words or is_nan(value) == is_nan(chosen)
            chosen = math.nan if nan_wins else value if is_nan(chosen) else chosen
        else:
            chosen = value if below(value, chosen) == (base == "min") else chosen
    code = encoded(chosen, format, "rn")
    if "xorsign" in words and not is_nan(chosen):
        code = code & ~sign | (codes[0] ^ codes[1]) & sign
    return code


def lanes_of(format: str, count: int, wanted: int, seed: str) -> list[tuple[int, ...]]:
    chance = random.Random(seed)
    lanes = list(product(telling_codes(format), repeat=count))
    lanes = chance.sample(lanes, min(wanted, len(lanes)))
    return lanes + [tuple(chance.getrandbits(WIDTHS[format]) for _ in range(count)) for _ in range(50)]


def check(opcode: str, expect: Callable[[str, tuple[int, ...]], int], count: int) -> None:
    plain = opcode.removesuffix("x2")
    format = plain.rpartition(".")[2]
    lanes = lanes_of(format, count, 400, opcode)
    columns = [list(column) for column in zip(*lanes, strict=True)]
    expected = [expect(plain, lane) for lane in lanes]
    if plain == opcode:
        for lane, found, right in zip(lanes, executed(opcode, *columns, sources=count), expected, strict=True):
            assert same(found, right, format), f"{opcode} {[hex(c) for c in lane]}: {found:#x}, {right:#x}"
    else:
        words = [packed(column, column[::-1], format) for column in columns]
        assert executed(opcode, *words) == packed(expected, expected[::-1], format)


@pytest.mark.parametrize("opcode", [opcode for opcode in EXTREMA if len(instruction(opcode).sources) == 2])
def test_of_two(opcode: str) -> None:
    check(opcode, extremum, 2)


@pytest.mark.parametrize("opcode", THREE_OPERANDS)
def test_of_three(opcode: str) -> None:
    check(opcode, extremum, 3)


@pytest.mark.parametrize("opcode", EXTREMA)
def test_the_number_of_operands_is_two_unless_written(opcode: str) -> None:
    words = opcode.split(".")
    count = 3 if "abs" in words and "xorsign" not in words else 2
    assert len(instruction(opcode).sources) == count
    assert (floating(opcode, 3) is not None) == (opcode in THREE_OPERANDS)
    assert (floating(opcode, 2) is not None) == (count == 2)
    assert floating(opcode, 4) is None


def sign_changed(opcode: str, codes: tuple[int, ...]) -> int:
    base, *words = opcode.split(".")
    format = words[-1]
    sign = FORMATS[format].sign
    if base == "copysign":
        return codes[1] & ~sign | codes[0] & sign
    (code,) = codes
    value = decoded(code, format)
    if "ftz" in words and isinstance(value, Fraction) and abs(value) < Fraction(2) ** FORMATS[format].lowest:
        code &= sign
    if "ftz" in words and is_nan(value):
        code |= 1 << FORMATS[format].mantissa - 1  # quiet
    return code & ~sign if base == "abs" else code ^ sign


@pytest.mark.parametrize("opcode", OF_SIGN)
def test_only_the_sign_changes(opcode: str) -> None:
    check(opcode, sign_changed, 2 if opcode.startswith("copysign") else 1)


def test_known_results() -> None:
    assert executed("min.f32", [0], [0x80000000]) == [0x80000000]
    assert executed("max.f32", [0x80000000], [0]) == [0]
    assert executed("max.f32", [0x7FC00000, 0xFFC00000], [0x3F800000, 0x7F800001]) == [0x3F800000, 0x7FFFFFFF]
    assert executed("max.NaN.bf16", [0x7F81], [0x3F80]) == [0x7FFF]
    assert executed("min.xorsign.abs.f16x2", [0xC4003C00], [0x3C00BC00]) == [0xBC00BC00]
    assert executed("neg.f32", [0x7FC00001]) == [0xFFC00001]
    assert executed("abs.ftz.f32", [0x80000001, 0x807FFFFF]) == [0, 0]


SIGNALING = {"f32": (0x7F800001, 0x3F800000), "f64": (0x7FF0000000000001, 0x3FF0000000000000)}  # and 1


@pytest.mark.parametrize("format", SIGNALING)
@pytest.mark.parametrize("base", ["min", "max"])
@pytest.mark.parametrize("count", [1, 2, 3, 4, 7, 8, 9, 16, 31, 32])
def test_a_number_wins_over_a_signaling_nan_in_any_number_of_lanes(base: str, format: str, count: int) -> None:
    signaling, one = SIGNALING[format]
    opcode = f"{base}.{format}"
    assert executed(opcode, [signaling] * count, [one] * count) == [one] * count
    assert executed(opcode, [one] * count, [signaling] * count) == [one] * count
