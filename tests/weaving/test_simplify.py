"""Divisions that are written as shifts, comparisons of quotients as comparisons of products: with what the emulator
makes of the kernels as they are, for numbers at the ends of ranges."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import goptx
from goptx.analysis.build_cfg import control_flow
from goptx.ptx.flatten import flatten
from goptx.ptx.parse import parse
from goptx.weaving.shapes.scalar_code import Fresh
from goptx.weaving.simplify.constant_divisors import by_shifts
from goptx.weaving.simplify.quotient_guards import by_products
from goptx.weaving.simplify.sink import after_early_ends

HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"
KERNEL = """
.visible .entry f(.param .u64 f_tops, .param .u64 f_bottoms, .param .u64 f_limits, .param .u64 f_out)
{
    .reg .pred %p<9>; .reg .b32 %r<12>; .reg .b64 %d<9>;
    ld.param.u64 %d1, [f_tops];
    ld.param.u64 %d2, [f_bottoms];
    ld.param.u64 %d3, [f_limits];
    ld.param.u64 %d4, [f_out];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    mad.lo.u32 %r1, %r2, 256, %r1;
    mul.wide.u32 %d5, %r1, 4;
    add.s64 %d1, %d1, %d5;
    add.s64 %d2, %d2, %d5;
    add.s64 %d3, %d3, %d5;
    add.s64 %d4, %d4, %d5;
    ld.global.u32 %r2, [%d1];
    ld.global.u32 %r3, [%d2];
    ld.global.u32 %r4, [%d3];
    setp.ne.s32 %p3, %r4, 7;
    BODY
    selp.u32 %r10, 1, 2, %p1;
    st.global.u32 [%d4], %r10;
    ret;
}
"""
POSITIVE = [1, 2, 3, 7, 15, 16, 17, 2**30, 2**31 - 2, 2**31 - 1]
ENDS = [-(2**31), *(-n for n in POSITIVE), 0, *POSITIVE]
GRID, BLOCK = 32, 256
COUNT = GRID * BLOCK


def text(body: str) -> str:
    return HEAD + KERNEL.replace("BODY", body)


def outcomes(kernel: str, data: list[np.ndarray]) -> np.ndarray:
    """What the kernel writes."""
    out = np.zeros(len(data[0]), np.uint32)
    goptx.emulate(kernel, GRID, BLOCK, [*data, out])
    return out


def woven_outcomes(kernel: str, data: list[np.ndarray], gone: str) -> np.ndarray:
    """What the kernel writes when it is woven with itself; the woven one does not have this opcode."""
    woven = goptx.weave(kernel, kernel)
    assert gone in kernel and gone not in woven.ptx
    outs = [np.zeros(len(data[0]), np.uint32) for _ in range(2)]
    goptx.emulate(woven, GRID, BLOCK, [[*data, out] for out in outs])
    assert (outs[0] == outs[1]).all()
    return outs[0]


def numbers(dtype: type) -> list[np.ndarray]:
    """Tops, bottoms and limits: all combinations of some ends of ranges, and others at random; quotients exist."""
    random = np.random.default_rng(5)
    ends = np.array(list(product(ENDS, repeat=3)))
    some = np.stack([random.choice(ENDS, COUNT), *(random.integers(-n, n, COUNT) for n in (300, 9))], 1)
    some = np.where(random.random(some.shape) < 0.3, random.integers(-(2**31), 2**31, some.shape), some)
    every = np.concatenate([random.permutation(ends)[: COUNT // 2], some])[:COUNT]
    every[every[:, 1] == 0, 1] = 5
    every[(every[:, 0] == -(2**31)) & (every[:, 1] == -1), 1] = -2
    return [np.ascontiguousarray(column.astype(dtype)) for column in every.T]


@pytest.mark.parametrize("kind", ["s32", "u32"])
@pytest.mark.parametrize("relation", ["lt", "le", "gt", "ge"])
@pytest.mark.parametrize("form", ["%r5, %r4", "%r4, %r5"], ids=["first", "second"])
def test_comparisons(kind: str, relation: str, form: str) -> None:
    data = numbers(np.int32 if kind == "s32" else np.uint32)
    kernel = text(f"div.{kind} %r5, %r2, %r3;\nsetp.{relation}.{kind} %p1, {form};")
    assert (outcomes(kernel, data) == woven_outcomes(kernel, data, "div.")).all()


@pytest.mark.parametrize("relation", ["lo", "ls", "hi", "hs"])
def test_unsigned_names_of_comparisons(relation: str) -> None:
    data = numbers(np.uint32)
    kernel = text(f"div.u32 %r5, %r2, %r3;\nsetp.{relation}.u32 %p1, %r5, %r4;")
    assert (outcomes(kernel, data) == woven_outcomes(kernel, data, "div.")).all()


@pytest.mark.parametrize("joined", ["and", "or", "xor"])
def test_joined_comparisons_and_both_results(joined: str) -> None:
    data = numbers(np.int32)
    kernel = text(f"div.s32 %r5, %r2, %r3;\nsetp.ge.{joined}.s32 %p2|%p1, %r5, %r4, %p3;")
    assert (outcomes(kernel, data) == woven_outcomes(kernel, data, "div.")).all()


@pytest.mark.parametrize("relation", ["lt", "le", "gt", "ge"])
@pytest.mark.parametrize("scaled", ["shl.b32 %r6, %r5, 4;", "mul.lo.s32 %r6, %r5, 2;"], ids=["shift", "product"])
@pytest.mark.parametrize(
    "small", ["shr.s32 %r2, %r2, 5;", "mov.u32 %r7, WARP_SZ;\ndiv.s32 %r2, %r2, %r7;"], ids=["shift", "warp"]
)
def test_multiplied_quotients(relation: str, scaled: str, small: str) -> None:
    """The limits are numbers of all sizes: those that are no multiples decide how it is rounded."""
    data = numbers(np.int32)
    small = small.replace("%r2,", "%r8,", 1)
    kernel = text(f"{small}\ndiv.s32 %r5, %r8, %r3;\n{scaled}\nsetp.{relation}.s32 %p1, %r6, %r4;")
    assert (outcomes(kernel, data) == woven_outcomes(kernel, data, "div.")).all()


@pytest.mark.parametrize("kind", ["s32", "u32"])
@pytest.mark.parametrize("name", ["div", "rem"])
@pytest.mark.parametrize("by", ["2", "8", "WARP_SZ", "1073741824", "0x10"])
def test_divisions_by_powers_of_two(kind: str, name: str, by: str) -> None:
    data = numbers(np.int32 if kind == "s32" else np.uint32)
    kernel = text(f"mov.u32 %r7, {by};\n{name}.{kind} %r5, %r2, %r7;\nsetp.eq.s32 %p1, %r5, %r4;")
    kernel = kernel.replace("[%d4], %r10", "[%d4], %r5")
    assert (outcomes(kernel, data) == woven_outcomes(kernel, data, f"{name}.")).all()


@pytest.mark.parametrize("name", ["div", "rem"])
def test_divisions_of_64_bits(name: str) -> None:
    data = numbers(np.int32)
    body = f"cvt.s64.s32 %d6, %r2;\n{name}.s64 %d7, %d6, 64;\ncvt.u32.u64 %r5, %d7;\nsetp.eq.s32 %p1, %r5, %r4;"
    kernel = text(body).replace("[%d4], %r10", "[%d4], %r5")
    assert (outcomes(kernel, data) == woven_outcomes(kernel, data, f"{name}.")).all()


@pytest.mark.parametrize(
    "body",
    [
        "div.s32 %r5, %r2, %r3;\nadd.s32 %r2, %r2, 1;\nsetp.ge.s32 %p1, %r5, %r4;",  # the top has changed
        "div.s32 %r5, %r2, %r3;\nsetp.ge.u32 %p1, %r5, %r4;",  # compared as another type
        "div.s32 %r5, %r2, %r3;\nsetp.eq.s32 %p1, %r5, %r4;",
        "div.s32 %r5, %r2, %r3;\nshl.b32 %r5, %r5, 4;\nsetp.ge.s32 %p1, %r5, %r4;",  # may overflow
        "shr.s32 %r7, %r2, 4;\ndiv.s32 %r8, %r7, %r3;\nshl.b32 %r5, %r8, 4;\nsetp.ge.s32 %p1, %r5, %r4;",
        "mov.u32 %r5, 3;\n@%p3 div.s32 %r5, %r2, %r3;\nsetp.ge.s32 %p1, %r5, %r4;",  # not the only definition
    ],
    ids=["top", "type", "equal", "overflow", "least", "definitions"],
)
def test_other_comparisons_stay(body: str) -> None:
    data = numbers(np.int32)
    kernel = text(body)
    assert "div." in goptx.weave(kernel, kernel).ptx
    outs = [np.zeros(len(data[0]), np.uint32) for _ in range(2)]
    goptx.emulate(goptx.weave(kernel, kernel), GRID, BLOCK, [[*data, out] for out in outs])
    assert (outs[0] == outcomes(kernel, data)).all()


def test_all_numbers_of_8_bits() -> None:
    """The forms that quotient_guards.py gives, for all tops, bottoms and limits of 8 bits."""
    t, s, h = (np.arange(-128, 128).reshape(shape) for shape in ((-1, 1, 1), (1, -1, 1), (1, 1, -1)))
    negative, factor = -np.abs(s), np.where(s < 0, 1, -1)
    exists = (s != 0) & ~((t == -128) & (s == -1))
    quotient = np.where(s == 0, 0, np.trunc(t / np.where(s == 0, 1, s))).astype(int)
    at_least = t * factor <= h * negative + np.where(h < 1, ~negative, 0)
    above = t * factor <= h * negative + np.where(h < 0, -1, negative)
    assert (~exists | (at_least == (quotient >= h))).all()
    assert (~exists | (above == (quotient > h))).all()


GUARDED = """
    div.u32 %r5, %r2, %r3;
    add.u32 %r7, %r5, 3;
    MORE
    setp.gt.u32 %p1, %r2, %r4;
    @%p1 bra DONE;
    st.global.u32 [%d4+4], %r7;
DONE_OR_NOT
"""


@pytest.mark.parametrize(
    ("more", "moves"),
    [
        ("", True),
        ("mul.lo.u32 %r8, %r7, %r5;", True),
        ("st.global.u32 [%d4+8], %r5;", False),  # needed before
        ("add.u32 %r3, %r3, 1;", False),  # what it reads changes
        ("mov.u32 %r7, 2;", False),  # what it computes changes
        ("@%p3 add.u32 %r8, %r7, 1;", False),
        ("add.cc.u32 %r8, %r7, 1;", False),
    ],
    ids=["alone", "more", "store", "source", "result", "guard", "carry"],
)
def test_only_what_can_wait_is_moved_after_an_early_end(more: str, moves: bool) -> None:
    body = GUARDED.replace("MORE", more).replace("DONE_OR_NOT", "")
    module = parse(
        text(body).replace("    ret;\n", "DONE:\n    ret;\n").replace("selp.u32 %r10, 1, 2, %p1;", "mov.u32 %r10, 3;")
    )
    flat = flatten(module.entries[0].body or (), lambda name: name, {})
    flow = control_flow(flat, "k", str)
    moved = after_early_ends(flow)
    first = moved.blocks[moved.entry]
    assert (not any(code.opcode == "div.u32" for code in first.instructions())) == moves
    assert (moved is flow) == (not moves)


def test_nothing_to_do_gives_the_same_flow() -> None:
    flat = flatten(parse(text("setp.lt.s32 %p1, %r2, %r3;")).entries[0].body or (), lambda name: name, {})
    flow = control_flow(flat, "k", str)
    assert after_early_ends(by_products(by_shifts(flow, Fresh("%q")), Fresh("%q"))) is flow


def test_what_is_computed_after_the_comparison_is_of_the_last_pass() -> None:
    """In a loop a comparison before the multiplication reads the product of the pass before."""
    loop = """
    mov.u32 %r9, 0;
    mov.u32 %r11, 0;
    shr.s32 %r8, %r2, 6;
LOOP:
    div.s32 %r5, %r8, %r3;
    setp.ge.s32 %p1, %r6, %r4;
    selp.u32 %r7, 1, 0, %p1;
    add.u32 %r11, %r11, %r7;
    shl.b32 %r6, %r5, 4;
    add.u32 %r9, %r9, 1;
    setp.lt.u32 %p2, %r9, 3;
    @%p2 bra LOOP;
    setp.eq.u32 %p1, %r11, 2;
"""
    flat = flatten(parse(text(loop)).entries[0].body or (), lambda name: name, {})
    flow = control_flow(flat, "k", str)
    assert by_products(flow, Fresh("%q"), is_long=True) is flow
    right = loop.replace("    shl.b32 %r6, %r5, 4;\n", "").replace("setp.ge", "shl.b32 %r6, %r5, 4;\n    setp.ge")
    flow = control_flow(flatten(parse(text(right)).entries[0].body or (), lambda name: name, {}), "k", str)
    assert by_products(flow, Fresh("%q")) is not flow
