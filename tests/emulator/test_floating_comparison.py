"""setp set testp on floats, against the ISA's definitions, lane by lane."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest
from emulator.floating_opcodes import BOOLEANS, COMPARING, COMPARISONS
from emulator.floating_reference import (
    WIDTHS,
    Value,
    bits_of,
    executed,
    held,
    instruction,
    is_nan,
    packed,
    read,
    telling_codes,
)
from emulator.rounding import FORMATS, decoded

ONES = {
    "f32": 0x3F800000,
    "f16": 0x3C00,
    "bf16": 0x3F80,
    "u16": 0xFFFF,
    "s16": 0xFFFF,
    "u32": 0xFFFFFFFF,
    "s32": 0xFFFFFFFF,
}
SETP = [opcode for opcode in COMPARING if opcode.startswith("setp")]
SET = [opcode for opcode in COMPARING if opcode.startswith("set.")]
TESTP = [opcode for opcode in COMPARING if opcode.startswith("testp")]


def compared(name: str, a: Value, b: Value) -> bool:
    if is_nan(a) or is_nan(b):
        return name in ("equ", "neu", "ltu", "leu", "gtu", "geu", "nan")
    match name.removesuffix("u"):
        case "eq":
            return a == b
        case "ne":
            return a != b
        case "lt":
            return a < b
        case "le":
            return a <= b
        case "gt":
            return a > b
        case "ge":
            return a >= b
    return name == "num"


def combined(words: list[str], holds: bool, given: bool) -> bool:
    if "and" in words:
        return holds and given
    if "or" in words:
        return holds or given
    return holds != given if "xor" in words else holds


def holds(words: list[str], codes: tuple[int, int], format: str) -> bool:
    a, b = (read(code, format, "ftz" in words) for code in codes)
    return compared(words[1], a, b)


def lanes_of(opcode: str, format: str) -> tuple[list[tuple[int, int]], list[bool]]:
    """Pairs of operands, and a predicate for each."""
    chance = random.Random(opcode)
    telling, width = telling_codes(format), WIDTHS[format]
    lanes = [(chance.choice(telling), chance.choice(telling)) for _ in range(30)]
    lanes += [(code, code) for code in chance.sample(telling, 5)]
    lanes += [(chance.getrandbits(width), chance.getrandbits(width)) for _ in range(5)]
    return lanes, [chance.random() < 0.5 for _ in lanes]


def outcomes(opcode: str, operands: list[list[int]], given: list[bool]) -> list[list[int]]:
    found = instruction(opcode)
    last = [held([int(each) for each in given], "pred")] if found.sources[-1] == "pred" else []
    with np.errstate(all="ignore"):
        results = found.apply(*[held(codes, t) for codes, t in zip(operands, found.sources, strict=False)], *last)
    results = results if len(found.results) > 1 else (results,)
    assert [result.dtype for result in results] == [held([], t).dtype for t in found.results]
    return [bits_of(result) for result in results]


def operands_of(opcode: str, lanes: list[tuple[int, int]]) -> list[list[int]]:
    """The operands as columns; in packed words, the high halves have the lanes in reverse."""
    columns = [list(column) for column in zip(*lanes, strict=True)]
    type = opcode.rpartition(".")[2]
    return [packed(c, c[::-1], type.removesuffix("x2")) for c in columns] if type.endswith("x2") else columns


@pytest.mark.parametrize("comparison", COMPARISONS)
def test_to_predicates(comparison: str) -> None:
    for opcode in (opcode for opcode in SETP if f".{comparison}." in opcode):
        words = opcode.split(".")
        format = words[-1].removesuffix("x2")
        lanes, given = lanes_of(opcode, format)
        hold = [holds(words, lane, format) for lane in lanes]
        others = hold[::-1] if words[-1].endswith("x2") else [not each for each in hold]
        expected = [[combined(words, h, g) for h, g in zip(each, given, strict=True)] for each in (hold, others)]
        assert outcomes(opcode, operands_of(opcode, lanes), given) == expected, opcode


@pytest.mark.parametrize("comparison", COMPARISONS)
def test_to_numbers(comparison: str) -> None:
    for opcode in (opcode for opcode in SET if f".{comparison}." in opcode):
        words = opcode.split(".")
        result, source = words[-2:]
        format = source.removesuffix("x2")
        lanes, given = lanes_of(opcode, format)
        hold = [holds(words, lane, format) for lane in lanes]
        low = [combined(words, h, g) for h, g in zip(hold, given, strict=True)]
        high = [combined(words, h, g) for h, g in zip(hold[::-1], given, strict=True)]
        if source.endswith("x2"):
            one = ONES[result.removesuffix("x2")] & 0xFFFF
            expected = [one * a | one * b << 16 for a, b in zip(low, high, strict=True)]
        else:
            expected = [ONES[result] * each for each in low]
        assert outcomes(opcode, operands_of(opcode, lanes), given) == [expected], opcode


def has_property(name: str, code: int, format: str) -> bool:
    value = decoded(code, format)
    subnormal = isinstance(value, Fraction) and abs(value) < Fraction(2) ** FORMATS[format].lowest
    finite = isinstance(value, Fraction) or value == 0
    return {
        "finite": finite,
        "infinite": not finite and not is_nan(value),
        "number": not is_nan(value),
        "notanumber": is_nan(value),
        "normal": finite and not subnormal,
        "subnormal": subnormal,
    }[name]


@pytest.mark.parametrize("opcode", TESTP)
def test_properties(opcode: str) -> None:
    _, name, format = opcode.split(".")
    chance = random.Random(1)
    codes = telling_codes(format) + [chance.getrandbits(WIDTHS[format]) for _ in range(50)]
    assert executed(opcode, codes) == [has_property(name, code, format) for code in codes]


def test_an_immediate_has_no_dimension() -> None:
    given = np.array([True, False])
    for opcode in ("setp.lt.xor.f16x2", "set.gtu.or.u32.bf16x2", "setp.nan.and.f32", "set.eq.and.bf16.f64"):
        found = instruction(opcode)
        column = held([0x3C003C00, 0], found.sources[0])
        full = found.apply(column, np.full(2, column[0]), given)
        part = found.apply(column, np.array(column[0]), given)
        assert np.array_equal(full, part)
        assert np.ndim(found.apply(column[0], column[0], given[0])[0 if len(found.results) > 1 else ...]) == 0


def test_the_boolean_operation_adds_a_source() -> None:
    for boolean in BOOLEANS:
        opcode = f"setp.lt.{boolean}.f32" if boolean else "setp.lt.f32"
        assert instruction(opcode).sources == ("f32", "f32", "pred")[: 3 if boolean else 2]
        assert instruction(opcode).results == ("pred", "pred")
