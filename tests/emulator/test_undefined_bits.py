"""Partly undefined values: results computed from them, and values stored and loaded again."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from emulator.threads import agrees, call, fault, with_functions

import goptx
from goptx.emulator.floating.convert import INTEGERS as CONVERTED
from goptx.emulator.floating.convert import convert
from goptx.emulator.instructions.lanewise import DTYPES, Lanewise
from goptx.emulator.integer.integer import INSTRUCTIONS
from goptx.emulator.memory.undefined import bits, rule_of

CONVERSIONS = {
    f"cvt.{to}.{source}": convert(f"cvt.{to}.{source}") for to in sorted(CONVERTED) for source in sorted(CONVERTED)
}
FOLLOWED = {
    opcode: found
    for opcode, found in {**INSTRUCTIONS, **CONVERSIONS}.items()
    if found is not None and rule_of(opcode, found)
}
EXACT = ("and", "or", "xor", "not", "lop3", "selp", "setp.eq", "setp.ne", "setp.lt", "setp.ge", "set.", "shl", "bfe")


def filled(values: np.ndarray, lost: np.ndarray, number: int) -> np.ndarray:
    """The value with its undefined bits set to those of `number`, from the lowest on."""
    made = values.copy()
    for i in range(len(values)):
        n, left = number, int(lost[i])
        result = int(values[i]) & ~left
        while left:
            low = left & -left
            result |= low if n & 1 else 0
            left, n = left ^ low, n >> 1
        made[i] = result
    return made


def operands(found: Lanewise, opcode: str, random: np.random.Generator) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Eight lanes of values as unsigned integers, and at most two undefined bits of each operand."""
    values, lost = [], []
    for position, type_ in enumerate(found.sources):
        dtype = bits(np.zeros(1, DTYPES[type_])).dtype
        if dtype == np.bool_:
            values.append(random.integers(0, 2, 8).astype(bool))
            lost.append(random.integers(0, 3, 8) == 0)
            continue
        width = 8 * dtype.itemsize
        pool = np.array([0, 1, 2, 5, 7, 31, 100, (1 << width) - 1, 1 << width - 1], dtype)
        values.append(random.choice(pool, 8))
        some = dtype.type(1) << random.integers(0, width, (2, 8)).astype(dtype)
        lost.append(np.where(random.integers(0, 3, 8) > 0, some[0] | some[1], 0).astype(dtype))
        if opcode.startswith("lop3") and position == 3:
            values[-1], lost[-1] = np.array(random.integers(0, 256), dtype), np.zeros((), dtype)
    return values, lost


@pytest.mark.parametrize("opcode", FOLLOWED)
def test_a_bit_is_defined_only_if_it_is_always_the_same(opcode: str) -> None:
    """And for logic, shifts by known amounts and comparisons, a bit that is always the same is defined."""
    found = FOLLOWED[opcode]
    rule = rule_of(opcode, found)
    assert rule is not None
    random = np.random.default_rng(len(opcode))
    for _ in range(6):
        values, lost = operands(found, opcode, random)
        if opcode.startswith(("shl", "bfe")):
            lost[1:] = [np.zeros_like(u) for u in lost[1:]]
        given = [v if v.dtype == bool else v.view(DTYPES[t]) for v, t in zip(values, found.sources, strict=True)]
        with np.errstate(all="ignore"):
            of_rule = rule(given, lost)
            outcomes = [outcome(found, values, lost, c) for c in product(range(4), repeat=len(values)) if fits(c, lost)]
        for n, of_one in enumerate(of_rule):
            results = [bits(np.broadcast_to(o[n], 8).copy()) for o in outcomes]
            varies = np.bitwise_or.reduce([r ^ results[0] for r in results])
            assert not (varies & ~of_one).any(), (values, lost)
            if opcode.startswith(EXACT):
                expected = varies if not opcode.startswith("set.") else (varies != 0)
                assert ((of_one != 0) == expected if opcode.startswith("set.") else of_one == varies).all()


def fits(choice: tuple[int, ...], lost: list[np.ndarray]) -> bool:
    return all(c == 0 or u.any() for c, u in zip(choice, lost, strict=True))


def outcome(found: Lanewise, values: list[np.ndarray], lost: list[np.ndarray], choice: tuple[int, ...]) -> Any:
    given = []
    for value, unknown, number, type_ in zip(values, lost, choice, found.sources, strict=True):
        if value.dtype == np.bool_:
            given.append(value ^ (unknown & bool(number & 1)))
        else:
            given.append((filled(value, unknown, number) if value.ndim else value).view(DTYPES[type_]))
    result = found.apply(*given)
    return result if isinstance(result, tuple) else (result,)


# in kernels -----------------------------------------------------------------------------------------

SPILL = ".local .align 8 .b8 field[8];"
SHARED = ".shared .align 8 .b8 own[256]; mov.u32 %r9, own; mad.lo.u32 %r6, %r0, 4, %r9;"
SET_LOW_BYTE = "and.b32 %r7, %r7, 0xffffff00; and.b32 %r8, %r3, 255; or.b32 %r7, %r7, %r8;"
LOOK = "ld{}.u32 %r5, [{}]; and.b32 %r5, %r5, 255;"


@pytest.mark.parametrize(("body", "expected"), [
    # a byte of a word that nobody wrote, and that byte back
    pytest.param(f"{SPILL} ld.local.u32 %r7, [field]; {SET_LOW_BYTE} st.local.u32 [field], %r7; "
                 + LOOK.format(".local", "field"), lambda v: v & 255, id="local-byte"),
    (f"{SHARED} ld.shared.u32 %r7, [%r6]; {SET_LOW_BYTE} st.shared.u32 [%r6], %r7; " + LOOK.format(".shared", "%r6"),
     lambda v: v & 255),
    # the form: all but the lowest byte from a register, the byte from memory
    (f"{SPILL} ld.local.u32 %r7, [field]; and.b32 %r7, %r7, 255; shl.b32 %r8, %r3, 8; or.b32 %r7, %r7, %r8;"
     "st.local.u32 [field], %r7; ld.local.u32 %r5, [field]; shr.u32 %r5, %r5, 8;", lambda v: v & 0xFFFFFF),
    (f"{SHARED} ld.shared.u32 %r7, [%r6]; and.b32 %r7, %r7, 255; shl.b32 %r8, %r3, 8; or.b32 %r7, %r7, %r8;"
     "st.shared.u32 [%r6], %r7; ld.shared.u32 %r5, [%r6]; shr.u32 %r5, %r5, 8;", lambda v: v & 0xFFFFFF),
    # three bits of a byte, and a branch on them
    pytest.param(f"{SPILL} ld.local.u8 %r7, [field]; and.b32 %r7, %r7, 0xf8; and.b32 %r8, %r3, 7; or.b32 %r7, %r7, %r8;"
                 "st.local.u8 [field], %r7; ld.local.u8 %r8, [field]; bfe.u32 %r5, %r8, 0, 3; setp.eq.u32 %p1, %r5, 3;"
                 "@%p1 bra J; add.u32 %r5, %r5, 0; J:", lambda v: v & 7, id="three-bits"),
    # fields one after the other, until the word is whole
    (f"{SPILL} ld.local.u32 %r7, [field]; bfi.b32 %r7, %r3, %r7, 0, 12; st.local.u32 [field], %r7;"
     "shr.u32 %r8, %r3, 12; ld.local.u32 %r7, [field]; bfi.b32 %r7, %r8, %r7, 12, 20; st.local.u32 [field], %r7;"
     "ld.local.u32 %r5, [field];",
     lambda v: v),
    # bytes packed and unpacked
    ("prmt.b32 %r5, %r3, %r7, 0x5110; and.b32 %r5, %r5, 0xffffff;", lambda v: (v & 0xFFFF) | (v & 0xFF00) << 8),
    ("lop3.b32 %r5, %r3, %r7, 255, 0xa0; lop3.b32 %r7, %r7, %r3, 255, 0x22; add.u32 %r5, %r5, 0;", lambda v: v & 255),
    ("xor.b32 %r7, %r7, %r3; not.b32 %r7, %r7; shl.b32 %r7, %r7, 16; shr.u32 %r8, %r3, 16; or.b32 %r7, %r7, %r8;"
     "mov.b32 {%x, %y}, %r7; mov.b32 %r5, {%x, %x};", lambda v: v >> 16 | v >> 16 << 16),
    ("shl.b32 %r7, %r7, 8; add.u32 %r7, %r7, %r3; cvt.u16.u32 %x, %r7; and.b16 %x, %x, 255; cvt.u32.u16 %r5, %x;",
     lambda v: v & 255),
    ("mov.b64 %rd3, {%r3, %r7}; cvt.u32.u64 %r5, %rd3;", lambda v: v),
    ("mov.b64 %rd3, {%r7, %r3}; shr.u64 %rd3, %rd3, 32; cvt.u32.u64 %r5, %rd3;", lambda v: v),
    # through a shuffle, a choice, a comparison that other bits decide
    ("and.b32 %r7, %r7, 0xff00; shfl.sync.bfly.b32 %r7, %r7, 1, 31, -1; and.b32 %r7, %r7, 0xf; add.u32 %r5, %r3, %r7;",
     lambda v: v),
    ("and.b32 %r7, %r7, 7; or.b32 %r7, %r7, 16; setp.lt.u32 %p1, %r7, 16; selp.u32 %r5, 1, %r3, %p1;", lambda v: v),
    ("or.b32 %r7, %r7, 16; setp.eq.u32 %p1, %r7, 7; @%p1 bra J; mov.u32 %r5, %r3; J:", lambda v: v),
    ("and.b32 %r7, %r7, 0x7fffffff; setp.lt.s32 %p1, %r7, 0; @%p1 bra J; mov.u32 %r5, %r3; J:", lambda v: v),
])  # fmt: skip
def test_harmless(body: str, expected: Any) -> None:
    agrees(".reg .b16 %x, %y;" + body, lambda i, v: expected(v))


@pytest.mark.parametrize("body", [
    # bits beside the field
    f"{SPILL} ld.local.u32 %r7, [field]; {SET_LOW_BYTE} st.local.u32 [field], %r7; ld.local.u32 %r5, [field];",
    f"{SPILL} ld.local.u32 %r7, [field]; {SET_LOW_BYTE} st.local.u32 [field], %r7; ld.local.u32 %r5, [field];"
    "and.b32 %r5, %r5, 256;",
    f"{SHARED} ld.shared.u32 %r7, [%r6]; {SET_LOW_BYTE} st.shared.u32 [%r6], %r7; ld.shared.u32 %r5, [%r6];",
    f"{SHARED} ld.shared.u32 %r7, [%r6]; {SET_LOW_BYTE} st.shared.u32 [%r6], %r7; ld.shared.u32 %r5, [%r6];"
    "and.b32 %r5, %r5, 0x1ff;",
    f"{SHARED} ld.shared.u32 %r7, [%r6]; and.b32 %r7, %r7, 1; setp.eq.u32 %p1, %r7, 0; @%p1 bra J; mov.u32 %r5, 1; J:",
    f"{SHARED} ld.shared.u32 %r7, [%r6]; mov.u32 %r8, %r7; st.shared.u32 [%r6], %r8;",
    f"{SHARED} ld.shared.u32 %r7, [%r6]; add.u32 %r8, %r7, 1; and.b32 %r8, %r8, 0;",
    # bits that had a value lose it
    pytest.param(f"{SHARED} st.shared.u32 [%r6], %r3; and.b32 %r7, %r7, 1; and.b32 %r8, %r3, -2; or.b32 %r7, %r7, %r8;"
                 "st.shared.u32 [%r6], %r7;", id="stored-over"),
    "and.b32 %r5, %r7, 1;", "or.b32 %r5, %r7, 0xfffffffe;", "xor.b32 %r5, %r7, %r7;", "shl.b32 %r5, %r7, 31;",
    "shl.b32 %r8, %r7, 31; shr.s32 %r8, %r8, 31; and.b32 %r5, %r8, 1;", "shl.b32 %r5, %r3, %r7;",
    pytest.param("and.b32 %r7, %r7, 1; add.u32 %r7, %r7, %r3; and.b32 %r5, %r7, 0x80000000;", id="sum"),
    "and.b32 %r7, %r7, 1; mul.lo.u32 %r7, %r7, %r3; and.b32 %r5, %r7, 0x80000000;",
    "prmt.b32 %r5, %r3, %r7, 0x5990; and.b32 %r5, %r5, 0xff000000;",
    "and.b32 %r7, %r7, 1; setp.eq.u32 %p1, %r7, 0; selp.u32 %r5, 1, 2, %p1;",
    "and.b32 %r7, %r7, 31; setp.lt.u32 %p1, %r7, 31; selp.u32 %r5, 1, 2, %p1;",
    "setp.lt.s32 %p1, %r7, 0; selp.u32 %r5, 1, 2, %p1;",
    "and.b32 %r7, %r7, 4; popc.b32 %r7, %r7; and.b32 %r5, %r7, 8;",
    "and.b32 %r7, %r7, 1; cvt.rn.f32.u32 %r5, %r7;",
    # as an address, a guard, in a mask
    "and.b32 %r7, %r7, 4; cvt.u64.u32 %rd3, %r7; add.u64 %rd3, %rd3, %rd1; ld.global.u32 %r5, [%rd3];",
    "and.b32 %r7, %r7, 1; setp.ne.u32 %p1, %r7, 0; @%p1 st.global.u32 [%rd2], %r3;",
    "or.b32 %r7, %r7, 0x7fffffff; bar.warp.sync %r7;",
])  # fmt: skip
def test_caught(body: str) -> None:
    assert fault(body).kind == "uninitialised"


def test_a_frame_is_entered_anew() -> None:
    """A call does not see the fields that an earlier call left in its local variables or registers."""
    function = """
    .func (.param .b32 r) keeps(.param .b32 a)
    { .reg .b32 %x, %y; .reg .pred %p; .local .b32 field;
      ld.param.u32 %x, [a]; setp.ne.u32 %p, %x, 0; ld.local.u32 %y, [field]; @%p or.b32 %y, %y, 15;
      @%p st.local.u32 [field], %y; ld.local.u32 %y, [field]; and.b32 %y, %y, 15; st.param.b32 [r], %y; ret; }
    """
    once = call("keeps", "%r8").replace("%r5", "%r6")
    agrees(with_functions(function, f"mov.u32 %r8, 1; {once} mov.u32 %r5, %r6;"), lambda i, v: 15)
    twice = f"mov.u32 %r8, 1; {once} mov.u32 %r8, 0; {once} mov.u32 %r5, %r6;"
    assert fault(with_functions(function, twice)).kind == "uninitialised"


def test_fields_are_passed_to_functions() -> None:
    """A word of which a byte is defined, as an argument in memory and as a result; cut to a byte in the end."""
    function = """
    .func (.param .b32 r) same(.param .b32 a) { .reg .b32 %x; ld.param.b32 %x, [a]; st.param.b32 [r], %x; ret; }
    """
    body = f"{SET_LOW_BYTE} {call('same', '%r7')}"
    agrees(with_functions(function, f"{body} and.b32 %r5, %r5, 255;"), lambda i, v: v & 255)
    assert fault(with_functions(function, body)).kind == "uninitialised"


def test_without_strict_nothing_is_checked() -> None:
    source = """.version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p)
    { .reg .b32 %r<3>; .reg .b64 %d; ld.param.u64 %d, [p]; and.b32 %r1, %r2, 1; st.global.u32 [%d], %r1; ret; }"""
    out = np.full(1, 9, np.uint32)
    goptx.emulate(source, 1, 1, [out], strict=False)
    assert out[0] in (0, 1)
