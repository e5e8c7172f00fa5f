"""Numbers: all spellings, constant expressions, and the bits that each type makes of them."""

from __future__ import annotations

import math
import operator
import struct
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from emulator.snippets import run
from hypothesis import given
from hypothesis import strategies as st

from goptx.emulator.instructions.constant_expression import whole
from goptx.emulator.instructions.lanewise import DTYPES
from goptx.emulator.instructions.literal import literal


def bits(text: str, type_: str) -> int:
    value = literal(text, type_)
    assert value.ndim == 0
    assert value.dtype == DTYPES[type_]
    return int(value.view(f"u{value.dtype.itemsize}"))


SPELLINGS = [("0", 0), ("0U", 0), ("00", 0), ("7", 7), ("010", 8), ("0777U", 511), ("0x1f", 31), ("0X1FU", 31),
             ("0b101", 5),
             ("0B11U", 3), ("4294967295U", 0xFFFFFFFF), ("0xFFFFFFFFFFFFFFFFU", (1 << 64) - 1), ("-1", -1), ("+5", 5),
             ("~0", 2**64 - 1),
             ("-0x10", -16), ("!0", 1), ("!7", 0), ("- 3", -3)]  # fmt: skip


@pytest.mark.parametrize(("text", "value"), SPELLINGS)
@pytest.mark.parametrize("type_", ["u8", "s8", "b16", "s16", "u32", "s32", "b32", "u64", "s64", "b64", "u16x2"])
def test_integers_are_taken_modulo_the_width(text: str, value: int, type_: str) -> None:
    assert whole(text) == value
    assert bits(text, type_) == value % (1 << 8 * DTYPES[type_].itemsize)


@pytest.mark.parametrize(
    "text", ["", "08", "0x", "1.5", "a", "1+", "1//0", "1/0", "(", "2**3", "1 if 1 else 2", "[1]", "0b2"]
)
def test_invalid_whole_numbers(text: str) -> None:
    with pytest.raises(ValueError, match="constant expression"):
        whole(text)


@dataclass(frozen=True)
class Tree:
    """An expression, its value, and whether that has no sign; `level` is the precedence of its operator, 12 if none."""

    text: str
    value: int
    unsigned: bool
    level: int = 12

    def within(self, level: int) -> str:
        """The text as an operand of an operator of that precedence."""
        return self.text if self.level > level else f"({self.text})"


def number(value: int, unsigned: bool) -> int:
    low = value % 2**64
    return low if unsigned or low < 2**63 else low - 2**64


LEVELS = {"||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6, "<": 7, "<=": 7, ">": 7, ">=": 7, "<<": 8,
          ">>": 8, "+": 9, "-": 9, "*": 10, "/": 10, "%": 10}  # fmt: skip
TRUTHS: dict[str, Callable[[int, int], bool]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    "&&": lambda x, y: bool(x) and bool(y), "||": lambda x, y: bool(x) or bool(y),
}  # fmt: skip
ARITHMETIC: dict[str, Callable[[int, int], int]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "&": operator.and_, "|": operator.or_, "^": operator.xor,
    "/": lambda x, y: math.trunc(Fraction(x, y)), "%": lambda x, y: x % y,
}  # fmt: skip


def binary(left: Tree, sign: str, right: Tree) -> Tree:
    if sign in "/%" and not right.value:
        sign = "+"
    level = LEVELS[sign]
    text = f"{left.within(level - 1)} {sign} {right.within(level)}"
    if sign in ("<<", ">>"):
        shift = operator.lshift if sign == "<<" else operator.rshift
        return Tree(text, number(shift(left.value, right.value % 64), left.unsigned), left.unsigned, level)
    unsigned = left.unsigned or right.unsigned or sign == "%"
    x, y = (number(side.value, unsigned) for side in (left, right))
    if sign in TRUTHS:
        return Tree(text, int(TRUTHS[sign](x, y)), False, level)
    return Tree(text, number(ARITHMETIC[sign](x, y), unsigned), unsigned, level)


def unary(sign: str, a: Tree) -> Tree:
    unsigned = {"~": True, "!": False, "(.s64)": False, "(.u64)": True}.get(sign, a.unsigned)
    value = {"-": -a.value, "~": ~a.value, "!": int(a.value == 0)}.get(sign, a.value)
    return Tree(f"{sign} {a.within(11)}", number(value, unsigned), unsigned, 11)


def chosen(condition: Tree, first: Tree, second: Tree) -> Tree:
    found = first if condition.value else second
    return Tree(f"{condition.within(0)} ? {first.text} : {second.text}", found.value, found.unsigned, 0)


def operations(inner: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
    signs = st.sampled_from(["+", "-", "~", "!", "(.s64)", "(.u64)"])
    return (
        st.builds(binary, inner, st.sampled_from(list(LEVELS)), inner)
        | st.builds(unary, signs, inner)
        | st.builds(chosen, inner, inner, inner)
    )


SPELLED: list[Callable[[int], str]] = [str, hex, bin, lambda n: f"0{n:o}"]
NUMBERS = st.builds(
    lambda n, spell, u: Tree(spell(n) + "U" * u, n, u or n >= 2**63),
    st.integers(0, 5) | st.integers(0, 2**64 - 1),
    st.sampled_from(SPELLED),
    st.booleans(),
)


@given(st.recursive(NUMBERS, operations, max_leaves=8))
def test_constant_expressions(tree: Tree) -> None:
    assert whole(tree.text) == tree.value
    assert bits(tree.text, "s64") == tree.value % 2**64


@pytest.mark.parametrize(
    ("text", "value"),
    [("2+3*4", 14), ("2*3+4", 10), ("10-3-2", 5), ("1<<2+1", 8), ("6&3+1", 4), ("1|2^3&2", 1 | (2 ^ (3 & 2))),
     ("-7/2", -3), ("7/-2", -3), ("-7%3", 0), ("100/7/2", 7), ("2*-3", -6), ("~1&3", 2), ("3<4", 1), ("!0&&1||0", 1),
     ("1?2:3", 2), ("0?2:0?3:4", 4), ("(.s64)5", 5), ("(.u64)(1<<3)+1", 9), ("(1+2)*3-(5>4?1:2)", 8),
     ("~0>>1", 2**63 - 1), ("-1>>1", -1), ("-1<0U", 0), ("1<<64", 1)],
)  # fmt: skip
def test_precedence_is_that_of_c(text: str, value: int) -> None:
    assert whole(text) == value


def test_the_size_of_a_warp_in_expressions() -> None:
    out = np.zeros(5, np.uint32)
    parts = ("WARP_SZ*2", "(WARP_SZ-1)*2", "-WARP_SZ", "WARP_SZ|1", "1+(.s64)WARP_SZ")
    run("".join(f"mov.u32 %r1, {part}; st.global.u32 [%rd0+{4 * i}], %r1;" for i, part in enumerate(parts)), out)
    assert out.view(np.int32).tolist() == [64, 62, -32, 33, 33]


# floats ---------------------------------------------------------------------------------------------


def single(value: float) -> int:
    return int.from_bytes(struct.pack("<f", value), "little")


def double(value: float) -> int:
    return int.from_bytes(struct.pack("<d", value), "little")


FLOATS = [
    "1.0",
    "-1.5",
    ".5",
    "1.",
    "1e3",
    "1.5E-3",
    "-2.5e+10",
    "0.0",
    "-0.0",
    "3.4028235e38",
    "1e-45",
    "0.1",
    "5e-324",
    "123456789.123",
]


@pytest.mark.parametrize("text", FLOATS)
def test_decimals_are_rounded_to_nearest(text: str) -> None:
    assert bits(text, "f32") == bits(text, "b32") == single(float(text))
    assert bits(text, "f64") == bits(text, "b64") == double(float(text))
    assert bits(text, "f16") == int(np.float16(float(text)).view(np.uint16)) if abs(float(text)) < 65000 else True


@pytest.mark.parametrize(("text", "value"), [("1e39", math.inf), ("-1e39", -math.inf), ("1e-46", 0.0),
                                             ("16777217.0", 16777216.0), ("7", 7.0),
                                             ("-7", -7.0), ("0d3FF8000000000000", 1.5),
                                             ("0d47F0000000000000", math.inf)])  # fmt: skip
def test_singles_that_are_not_exact(text: str, value: float) -> None:
    assert bits(text, "f32") == single(value)


@pytest.mark.parametrize(
    "pattern", [0, 0x80000000, 0x3F800000, 0x00000001, 0x7F800000, 0xFF800000, 0x7FC12345, 0x7F800001, 0xFFFFFFFF]
)
def test_hexadecimal_singles_keep_their_bits(pattern: int) -> None:
    for spelling in (f"0f{pattern:08X}", f"0F{pattern:08x}"):
        assert bits(spelling, "f32") == bits(spelling, "b32") == bits(spelling, "u32") == pattern
    assert bits(f"-0f{pattern:08X}", "f32") == pattern ^ 0x80000000
    if pattern & 0x7FFFFFFF <= 0x7F800000:
        assert bits(f"0f{pattern:08X}", "f64") == double(struct.unpack("<f", pattern.to_bytes(4, "little"))[0])


@pytest.mark.parametrize(
    "pattern", [0, 1 << 63, 0x3FF0000000000000, 1, 0x7FF0000000000000, 0x7FF8000000012345, 0x7FF0000000000001]
)
def test_hexadecimal_doubles_keep_their_bits(pattern: int) -> None:
    assert bits(f"0d{pattern:016x}", "f64") == bits(f"0D{pattern:016X}", "b64") == pattern


def test_predicates() -> None:
    assert [bool(literal(text, "pred")) for text in ("0", "1", "-1", "0x10")] == [False, True, True, True]


@pytest.mark.parametrize(("type_", "text"), [("u8", "1.5"), ("f32", "abc"), ("u32", "1.0.0"), ("f32", "0fGG")])
def test_invalid_numbers_of_a_type(type_: str, text: str) -> None:
    with pytest.raises(ValueError):
        literal(text, type_)


def test_in_instructions() -> None:
    """The operand's type decides, so one spelling gives different bits."""
    out = np.zeros(12, np.uint32)
    body = """mov.u32 %r1, 0x10U; mov.s32 %r2, -2147483648; mov.u32 %r3, 2+3*4; mov.b32 %r4, 0f3F800000;
        mov.f32 %f1, 0d3FF0000000000000;
        mov.f32 %f2, -0.5; mov.b64 %rd2, 1.0; mov.u32 %r5, WARP_SZ; mov.b64 {%r6, %r7}, %rd2; mov.u16 %h1, -1;
        cvt.u32.u16 %r8, %h1;
        setp.eq.s32 %p1, %r2, 0x80000000; selp.b32 %r9, 017, 0b11, %p1; mad.lo.s32 %r10, %r1, -3, 1<<4;
        st.global.v4.u32 [%rd0], {%r1, %r2, %r3, %r4}; st.global.v2.f32 [%rd0+16], {%f1, %f2};
        st.global.v2.u32 [%rd0+24], {%r6, %r7}; st.global.v4.u32 [%rd0+32], {%r5, %r8, %r9, %r10};"""
    run(body, out)
    assert out.tolist() == [
        16,
        1 << 31,
        14,
        0x3F800000,
        0x3F800000,
        0xBF000000,
        0,
        0x3FF00000,
        32,
        0xFFFF,
        15,
        (1 << 32) - 32,
    ]
