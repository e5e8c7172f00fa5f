"""Integer arithmetic, instruction by instruction, against definitions in Python's unbounded integers."""

from collections.abc import Callable

import numpy as np
import pytest
from emulator.agreement import Reference, applied, as_array, as_bits, check, signed
from emulator.integer_opcodes import OPCODES
from hypothesis import given
from hypothesis import strategies as st

from goptx.emulator.integer.integer import INSTRUCTIONS, integer

S32 = range(-(2**31), 2**31)


def clamped(n: int) -> int:
    return min(max(n, S32.start), S32.stop - 1)


def towards_zero(a: int, b: int) -> int:
    return -1 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def remainder(a: int, b: int) -> int:
    return -1 if b == 0 else a - b * towards_zero(a, b)


def low_24(n: int, t: str) -> int:
    return signed(n, 24) if t[0] == "s" else n & 0xFFFFFF


def halves(word: int, t: str) -> list[int]:
    parts = [word & 0xFFFF, word >> 16]
    return [signed(p, 16) for p in parts] if t[0] == "s" else parts


def both_halves(operation: Callable[[int, int], int], t: str) -> Reference:
    def apply(a: int, b: int) -> int:
        low, high = (operation(x, y) & 0xFFFF for x, y in zip(halves(a, t), halves(b, t), strict=True))
        return high << 16 | low

    return apply


def parts(word: int, width: int, t: str) -> list[int]:
    pieces = [(word >> at) & ((1 << width) - 1) for at in range(0, 32, width)]
    return [signed(p, width) for p in pieces] if t[0] == "s" else pieces


def dot(opcode: str) -> Reference:
    *name, a_type, b_type = opcode.split(".")
    width = 8 if name[0] == "dp4a" else 16
    first = 2 if name[-1] == "hi" else 0

    def apply(a: int, b: int, c: int) -> int:
        left, right = parts(a & 0xFFFFFFFF, width, a_type), parts(b & 0xFFFFFFFF, 8, b_type)
        return c + sum(x * y for x, y in zip(left, right[first:], strict=False))

    return apply


def relu(operation: Callable[[int, int], int]) -> Callable[[int, int], int]:
    return lambda a, b: max(operation(a, b), 0)


def plain(opcode: str) -> Reference:
    """The definition of an instruction without carry. Upper halves need the width that the type has."""
    name, _, t = opcode.rpartition(".")
    width = int(t.removesuffix("x2")[1:])
    if name in ("add", "min", "max", "min.relu", "max.relu") and t.endswith("x2"):
        kind, _, with_relu = name.partition(".")
        operations: dict[str, Reference] = {"add": lambda a, b: a + b, "min": min, "max": max}
        operation = operations[kind]
        return both_halves(relu(operation) if with_relu else operation, t)
    if name.startswith("dp"):
        return dot(opcode)
    definitions: dict[str, Reference] = {
        "add": lambda a, b: a + b,
        "sub": lambda a, b: a - b,
        "min": min,
        "max": max,
        "min.relu": relu(min),
        "max.relu": relu(max),
        "abs": abs,
        "neg": lambda a: -a,
        "sad": lambda a, b, c: c + abs(a - b),
        "div": towards_zero,
        "rem": remainder,
        "add.sat": lambda a, b: clamped(a + b),
        "sub.sat": lambda a, b: clamped(a - b),
        "mul.lo": lambda a, b: a * b,
        "mul.hi": lambda a, b: a * b >> width,
        "mul.wide": lambda a, b: a * b,
        "mad.lo": lambda a, b, c: a * b + c,
        "mad.hi": lambda a, b, c: (a * b >> width) + c,
        "mad.wide": lambda a, b, c: a * b + c,
        "mad.hi.sat": lambda a, b, c: clamped((a * b >> 32) + c),
        "mul24.lo": lambda a, b: low_24(a, t) * low_24(b, t),
        "mul24.hi": lambda a, b: low_24(a, t) * low_24(b, t) >> 16,
        "mad24.lo": lambda a, b, c: low_24(a, t) * low_24(b, t) + c,
        "mad24.hi": lambda a, b, c: (low_24(a, t) * low_24(b, t) >> 16) + c,
        "mad24.hi.sat": lambda a, b, c: clamped((low_24(a, t) * low_24(b, t) >> 16) + c),
    }
    return definitions[name]


def carrying(opcode: str) -> Reference:
    """The flag is the bit above the sum; subtraction sums a, the complement of b, and 1 or the flag."""
    *words, t = opcode.split(".")
    width = int(t[1:])
    everything = (1 << width) - 1

    def high(a: int, b: int) -> int:
        product = signed(a, width) * signed(b, width) if t[0] == "s" else a * b
        return (product >> width) & everything

    def apply(*operands: int) -> tuple[int, int] | int:
        *numbers, flag = operands if words[0].endswith("c") else (*operands, words[0] == "sub")
        if words[0].startswith("mad"):
            a, b, c = numbers
            addends = ((a * b) & everything if "lo" in words else high(a, b), c)
        else:
            a, b = numbers
            addends = (a, everything - b if words[0].startswith("sub") else b)
        total = sum(addends) + flag
        return (total & everything, total >> width) if "cc" in words else total

    return apply


BASES = "add sub min max sad div rem mul mad abs neg mul24 mad24 dp4a dp2a addc subc madc".split()
ARITHMETIC = [o for o in OPCODES if o.split(".")[0] in BASES]
CARRYING = [o for o in ARITHMETIC if ".cc" in o or o.split(".")[0] in ("addc", "subc", "madc")]


@pytest.mark.parametrize("opcode", [o for o in ARITHMETIC if o not in CARRYING])
def test_arithmetic(opcode: str) -> None:
    check(integer(opcode), plain(opcode), seed=opcode)


@pytest.mark.parametrize("opcode", CARRYING)
def test_carry(opcode: str) -> None:
    check(integer(opcode), carrying(opcode), seed=opcode)


def run(opcode: str, *operands: int) -> list[int]:
    """The results of one lane, as bits."""
    instruction = integer(opcode)
    assert instruction is not None
    sources = [as_array([bits], t) for bits, t in zip(operands, instruction.sources, strict=True)]
    return [as_bits(r, t)[0] for r, t in zip(applied(instruction, sources), instruction.results, strict=True)]


@pytest.mark.parametrize("width", [16, 32, 64])
def test_least_integer(width: int) -> None:
    """It has no counterpart of the other sign, so its negation wraps around."""
    least, minus_one = 1 << (width - 1), (1 << width) - 1
    assert run(f"div.s{width}", least, minus_one) == [least]
    assert run(f"rem.s{width}", least, minus_one) == [0]
    assert run(f"abs.s{width}", least) == [least]
    assert run(f"neg.s{width}", least) == [least]


@pytest.mark.parametrize("t", ["u16", "s16", "u32", "s32", "u64", "s64"])
def test_division_by_zero(t: str) -> None:
    ones = (1 << int(t[1:])) - 1
    for dividend in (0, 1, 7, ones, ones >> 1, (ones >> 1) + 1):
        assert run(f"div.{t}", dividend, 0) == run(f"rem.{t}", dividend, 0) == [ones]


word = st.integers(0, 2**32 - 1)
three_words = st.tuples(word, word, word)


def number(words: tuple[int, ...]) -> int:
    return sum(w << 32 * i for i, w in enumerate(words))


@given(three_words, three_words, st.sampled_from(["add", "sub"]))
def test_chain_of_96_bits(a: tuple[int, ...], b: tuple[int, ...], name: str) -> None:
    low, flag = run(f"{name}.cc.u32", a[0], b[0])
    middle, flag = run(f"{name}c.cc.u32", a[1], b[1], flag)
    (high,) = run(f"{name}c.u32", a[2], b[2], flag)
    exact = number(a) + number(b) if name == "add" else number(a) - number(b)
    assert number((low, middle, high)) == exact % 2**96


@given(word, word, word, word)
def test_product_of_64_bits(a_low: int, a_high: int, b_low: int, b_high: int) -> None:
    """The ISA's example of madc: four words from the products of two by two."""
    (r0,), (r1,) = run("mul.lo.u32", a_low, b_low), run("mul.hi.u32", a_low, b_low)
    r1, flag = run("mad.lo.cc.u32", a_high, b_low, r1)
    (r2,) = run("madc.hi.u32", a_high, b_low, 0, flag)
    r1, flag = run("mad.lo.cc.u32", a_low, b_high, r1)
    r2, flag = run("madc.hi.cc.u32", a_low, b_high, r2, flag)
    (r3,) = run("addc.u32", 0, 0, flag)
    r2, flag = run("mad.lo.cc.u32", a_high, b_high, r2)
    (r3,) = run("madc.hi.u32", a_high, b_high, r3, flag)
    assert number((r0, r1, r2, r3)) == (a_low + (a_high << 32)) * (b_low + (b_high << 32))


def test_every_opcode_is_covered() -> None:
    assert {integer(o) for o in OPCODES} == set(INSTRUCTIONS.values())
    assert len(OPCODES) == len(INSTRUCTIONS)


@pytest.mark.parametrize(("spelled", "also"), [("min.relu.s16x2", "min.s16x2.relu"), ("prmt.b32.rc8", "prmt.rc8.b32")])
def test_types_before_modifiers(spelled: str, also: str) -> None:
    assert integer(spelled) is integer(also) is not None


@pytest.mark.parametrize(
    "opcode",
    """add add.f32 add.b32 add.sat.u32 add.rn.s32 add.cc.u16 sub.u16x2 mul.s32 mul.wide.u64 mad.lo.sat.s32 div.full.s32
    abs.u32 min.relu.u32 min.f32 popc.u32 bfe.b32 bfind.b32 shl.u32 shr.pred and.u32 cnot.pred lop3.xor.b32 lop3.b64
    shf.l.b32 prmt.b32.f5e setp.lt.b32 setp.lo.s32 setp.eq.f32 setp.eq.ftz.u32 setp.u32.eq.and.u32 set.eq.u64.u32
    set.eq.f32.f32 selp.pred selp.f16 slct.s32 slct.ftz.b32.s32 dp4a.u8.u8 mov.u32 cvt.u32.u16 nothing""".split(),
)
def test_other_opcodes_are_refused(opcode: str) -> None:
    assert integer(opcode) is None


def test_no_lanes() -> None:
    """Registers of no lane at all give none, with immediates too."""
    for opcode in OPCODES:
        instruction = integer(opcode)
        assert instruction is not None
        sources = [as_array([], t) for t in instruction.sources]
        if opcode.startswith("lop3"):
            sources[3] = np.array(0x96, np.uint32)
        assert all(r.shape == (0,) for r in applied(instruction, sources))
