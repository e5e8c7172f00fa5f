"""Which values of kernels are the same in a warp, or in a CTA, because threads have consecutive numbers: the forms that
compilers write, what comes close to them, and random kernels on the emulator."""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import pytest
from bodies import HEAD, flow

import goptx
from goptx import Shape
from goptx.analysis.build_cfg import control_flow
from goptx.analysis.uniformity import Uniform, Uniformity, uniformity
from goptx.ptx.flatten import flatten
from goptx.ptx.parse import parse

CTA, WARP_DATA, WARP, DATA, DIVERGENT = Uniformity
KNOWN = Shape(64, 128)

READ = "mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;"
INDEX = f"{READ} mad.lo.s32 %r1, %r2, %r3, %r4;"  # %r1 is the number of the thread in the grid
NVCC_SIGN = "shr.s32 %r5, %r1, 31; shr.u32 %r6, %r5, 27; add.s32 %r7, %r1, %r6;"


def of(code: str, shape: Shape | None = KNOWN, register: str = "%r9") -> Uniformity:
    return uniformity(flow(f"{code} ret;"), shape=shape).of(register)


def compared(relation: str, bound: str, shape: Shape | None = KNOWN, before: str = INDEX) -> Uniformity:
    return of(f"{before} setp.{relation} %p1, %r1, {bound};", shape, "%p1")


INDICES = {
    "mad": INDEX,
    "mul-add": f"{READ} mul.lo.s32 %r5, %r2, %r3; add.s32 %r1, %r5, %r4;",
    "add-mul": f"{READ} mul.lo.u32 %r5, %r3, %r2; add.u32 %r1, %r4, %r5;",
    "shl-add": f"{READ} shl.b32 %r5, %r2, 7; add.s32 %r1, %r4, %r5;",
    "shl-or": f"{READ} shl.b32 %r5, %r2, 7; or.b32 %r1, %r5, %r4;",
    "shl-xor": f"{READ} shl.b32 %r5, %r2, 7; xor.b32 %r1, %r4, %r5;",
    "special": "mad.lo.u32 %r1, %ctaid.x, %ntid.x, %tid.x;",
    "masked": f"{READ} shl.b32 %r5, %r2, 7; and.b32 %r6, %r4, 127; or.b32 %r1, %r5, %r6;",
    "moved": f"{INDEX} mov.b32 %r8, %r1; mov.u32 %r1, %r8;",
    "narrowed": f"{READ} mul.wide.u32 %rd1, %r2, %r3; cvt.u64.u32 %rd2, %r4; add.s64 %rd3, %rd1, %rd2;"
    "cvt.u32.u64 %r1, %rd3;",
    "wide-mad": f"{READ} cvt.u64.u32 %rd2, %r4; mad.wide.u32 %rd3, %r2, %r3, %rd2; cvt.u32.u64 %r1, %rd3;",
    "chosen": f"{INDEX} ld.param.u32 %r5, [k_n]; setp.gt.s32 %p1, %r5, 3; add.s32 %r6, %r1, 64; "
    "selp.b32 %r1, %r1, %r6, %p1;",
    "shifted": f"{INDEX} add.s32 %r1, %r1, 96;",
    "role": f"{INDEX} sub.s32 %r1, %r1, 64;",
    "scaled": f"{INDEX} ld.param.u32 %r5, [k_n]; shl.b32 %r6, %r5, 5; add.s32 %r1, %r1, %r6;",
}


@pytest.mark.parametrize("index", INDICES.values(), ids=INDICES)
def test_forms_of_the_index(index: str) -> None:
    assert of(f"{index} shr.u32 %r9, %r1, 5;") == WARP
    assert of(f"{index} and.b32 %r9, %r1, -32;") == WARP
    assert of(f"{index} shr.u32 %r9, %r1, 4;") == DIVERGENT
    assert compared("lt.u32", "64", before=index) == WARP
    assert compared("lt.s32", "65", before=index) == DIVERGENT


@pytest.mark.parametrize(
    "warp",
    [
        "shr.u32 %r9, %r1, 5;",
        "shr.s32 %r9, %r1, 5;",
        "shr.u32 %r9, %r1, 6;",
        "div.u32 %r9, %r1, 32;",
        "div.u32 %r9, %r1, 160;",
        "and.b32 %r9, %r1, -32;",
        "and.b32 %r9, %r1, 0xffffffe0;",
        "and.b32 %r9, %r1, 992;",
        "bfe.u32 %r9, %r1, 5, 4;",
        f"{NVCC_SIGN} shr.s32 %r9, %r7, 5;",
        f"{NVCC_SIGN} and.b32 %r9, %r7, -32;",
        "div.s32 %r9, %r1, 32;",
        "cvt.u64.u32 %rd1, %r1; shr.u64 %rd2, %rd1, 5; cvt.u32.u64 %r9, %rd2;",
        "mul.wide.s32 %rd1, %r1, 4; shr.u64 %rd2, %rd1, 7; cvt.u32.u64 %r9, %rd2;",
        "cvt.s64.s32 %rd1, %r1; shr.s64 %rd2, %rd1, 63; shr.u64 %rd3, %rd2, 59; add.s64 %rd4, %rd1, %rd3;"
        "shr.s64 %rd5, %rd4, 5; cvt.u32.u64 %r9, %rd5;",
        "shr.u32 %r8, %r1, 5; mul.lo.s32 %r9, %r8, 16;",
        "and.b32 %r8, %r1, 31; sub.s32 %r7, %r1, %r8; shr.u32 %r9, %r1, 5;",
    ],
)
def test_what_is_the_same_in_a_warp(warp: str) -> None:
    assert of(INDEX + warp) == WARP
    assert of(INDEX + warp, Shape(64, 96)) == WARP
    for shape in (Shape(64, 100), Shape(64, 48), Shape(64, (16, 8)), Shape(64, (None, 1)), Shape(None), None):
        assert of(INDEX + warp, shape) == DIVERGENT, shape


@pytest.mark.parametrize(
    "lane",
    [
        "shr.u32 %r9, %r1, 4;",
        "div.u32 %r9, %r1, 48;",
        "div.u32 %r9, %r1, 16;",
        "and.b32 %r9, %r1, -16;",
        "and.b32 %r9, %r1, 48;",
        "and.b32 %r9, %r1, 31;",
        "rem.u32 %r9, %r1, 32;",
        "rem.u32 %r9, %r1, 5;",
        "add.s32 %r8, %r1, 1; shr.u32 %r9, %r8, 5;",
        "add.s32 %r8, %r1, 31; shr.u32 %r9, %r8, 5;",
        "add.s32 %r8, %r1, -1; shr.u32 %r9, %r8, 5;",
        "shl.b32 %r8, %r1, 1; shr.u32 %r9, %r8, 5;",
        "add.s32 %r8, %r1, %r4; shr.u32 %r9, %r8, 5;",
        "ld.param.u32 %r8, [k_n]; add.s32 %r7, %r1, %r8; shr.u32 %r9, %r7, 5;",
        "ld.param.u32 %r8, [k_n]; shr.u32 %r9, %r1, %r8;",
        "ld.global.u32 %r8, [%rd1]; shl.b32 %r7, %r8, 5; add.s32 %r6, %r7, %r1; shr.u32 %r9, %r6, 5;",
        "xor.b32 %r8, %r1, 16; shr.u32 %r9, %r8, 3;",
        "sub.s32 %r8, 0, %r1; shr.u32 %r9, %r8, 5;",
        "mul.hi.u32 %r9, %r1, 0x08000000;",
    ],
)
def test_what_is_not(lane: str) -> None:
    assert of(INDEX + lane) == DIVERGENT


def test_a_signed_division_needs_a_base_that_is_not_negative() -> None:
    nvcc, one = f"{INDEX}{NVCC_SIGN} shr.s32 %r9, %r7, 5;", f"{INDEX} div.s32 %r9, %r1, 32;"
    for code in (nvcc, one):
        assert of(code, Shape(1 << 24, 128)) == WARP  # 2**31 threads
        assert of(code, Shape((1 << 24) + 1, 128)) == DIVERGENT
        assert of(code, Shape(None, 128)) == DIVERGENT
        assert of(code.replace(" div", " add.s32 %r1, %r1, -32; div")) == (DIVERGENT if code == one else WARP)
    assert of(f"{INDEX} sub.s32 %r1, %r1, 128; {NVCC_SIGN} shr.s32 %r9, %r7, 5;") == DIVERGENT
    assert of(f"{INDEX} shr.s32 %r9, %r1, 5;", Shape(None, 128)) == WARP  # rounds down


@pytest.mark.parametrize("type_", ["u32", "s32"])
def test_comparisons(type_: str) -> None:
    for bound in (32, 64, 4064, -32, 0x80000020):
        after, before = str(bound), str(bound - 1)
        assert compared(f"lt.{type_}", after) == compared(f"ge.{type_}", after) == WARP
        assert compared(f"le.{type_}", before) == compared(f"gt.{type_}", before) == WARP
        for relation in ("eq", "ne"):
            assert compared(f"{relation}.{type_}", after) == DIVERGENT
        for relation in ("le", "gt"):
            assert compared(f"{relation}.{type_}", after) == DIVERGENT
        for relation in ("lt", "ge"):
            assert compared(f"{relation}.{type_}", before) == DIVERGENT
            assert compared(f"{relation}.{type_}", str(bound + 16)) == DIVERGENT


def test_the_bound_may_be_computed() -> None:
    tiles = f"{INDEX} ld.param.u32 %r5, [k_n];"
    for code in ("shl.b32 %r6, %r5, 5;", "mul.lo.s32 %r6, %r5, 96;", "and.b32 %r6, %r5, -64;"):
        assert compared("lt.s32", "%r6", before=tiles + code) == WARP
        assert compared("le.s32", "%r6", before=tiles + code) == DIVERGENT
        assert compared("gt.u32", "%r7", before=f"{tiles}{code} add.s32 %r7, %r6, -1;") == WARP
    for code in ("mov.u32 %r6, %r5;", "shl.b32 %r6, %r5, 4;", "mul.lo.s32 %r6, %r5, 33;", "mul.lo.s32 %r6, %r4, 32;"):
        assert compared("lt.s32", "%r6", before=tiles + code) == DIVERGENT
    swapped = f"{INDEX} setp.gt.s32 %p1, 64, %r1;"
    assert of(swapped, register="%p1") == WARP
    assert of(swapped.replace("gt", "ge"), register="%p1") == DIVERGENT
    both = f"{INDEX} setp.lt.u32 %p2, %r4, 5; setp.lt.and.u32 %p1, %r1, 64, %p{{}};"
    assert of(both.format(2), register="%p1") == DIVERGENT
    assert of(both.format(3), register="%p1") == WARP


def test_what_is_the_same_in_a_cta() -> None:
    for code in ("div.u32 %r9, %r1, %r3;", "shr.u32 %r9, %r1, 7;", "and.b32 %r9, %r1, -128;", "div.s32 %r9, %r1, 128;"):
        assert of(INDEX + code) == CTA
    assert of(f"{INDEX} div.u32 %r9, %r1, %r3;", Shape(64, 100)) == CTA
    assert of(f"{INDEX} div.u32 %r9, %r1, %r3;", Shape(None, 128)) == CTA
    assert of(f"{INDEX} div.u32 %r9, %r1, %r3;", Shape(None, 96)) == WARP  # the index may wrap
    assert of(f"{INDEX} div.u32 %r9, %r1, %r3;", Shape(None, None)) == DIVERGENT
    assert of(f"{INDEX} shr.u32 %r9, %r1, 6;") == WARP
    assert of(f"{INDEX} shr.u32 %r9, %r1, 7;", Shape(64, 256)) == WARP
    assert of(f"{INDEX} shr.u32 %r9, %r1, 7;", Shape(64, 96)) == WARP
    assert of("mov.u32 %r1, %tid.x; shr.u32 %r9, %r1, 5;", Shape(64, 32)) == CTA
    assert compared("lt.u32", "256") == CTA
    assert compared("lt.u32", "320") == WARP


LOOP = """
    {index} ld.param.u32 %r5, [k_n]; mov.u32 %r6, %nctaid.x; mul.lo.s32 %r7, %r6, {step};
    TOP: setp.{test} %p1, %r1, {bound}; @%p1 bra OUT; shr.u32 %r9, %r1, 5; add.s32 %r1, %r1, {by}; bra TOP;
    OUT: mov.u32 %r8, 1; ret;
"""


@pytest.mark.parametrize(
    ("step", "test", "bound", "by", "agreed"),
    [
        ("%r3", "ge.s32", "4064", "%r7", WARP),
        ("%r3", "gt.s32", "4063", "%r7", WARP),
        ("32", "ge.u32", "4064", "%r7", WARP),
        ("%r3", "ge.s32", "4064", "128", WARP),
        ("%r3", "ge.s32", "4096", "-32", WARP),
        ("%r3", "ge.s32", "4096", "%r7", CTA),
        ("%r3", "ge.s32", "%r5", "%r7", DIVERGENT),
        ("%r3", "ge.s32", "4100", "%r7", DIVERGENT),
        ("%r3", "gt.s32", "4096", "%r7", DIVERGENT),
        ("%r3", "ge.s32", "4096", "%r5", DIVERGENT),
        ("%r3", "ge.s32", "4096", "%r4", DIVERGENT),
        ("%r3", "ge.s32", "4096", "1", DIVERGENT),
    ],
)
def test_loops_in_steps_of_warps(step: str, test: str, bound: str, by: str, agreed: Uniformity) -> None:
    found = uniformity(flow(LOOP.format(index=INDEX, step=step, test=test, bound=bound, by=by)), shape=KNOWN)
    assert found.branches["TOP"] == agreed
    assert found.of("%r9") == max(agreed, WARP)
    assert found.of("%r8") == CTA


def test_a_window_is_lost_under_divergent_control() -> None:
    body = f"{INDEX} setp.lt.u32 %p1, %r4, {{}}; @%p1 bra SKIP; add.s32 %r1, %r1, 32; SKIP: shr.u32 %r9, %r1, 5; ret;"
    assert uniformity(flow(body.format(7)), shape=KNOWN).of("%r9") == DIVERGENT
    assert uniformity(flow(body.format(64)), shape=KNOWN).of("%r9") == WARP
    guarded = f"{INDEX} setp.lt.u32 %p1, %r4, {{}}; @%p1 add.s32 %r1, %r1, 32; shr.u32 %r9, %r1, 5;"
    assert of(guarded.format(7)) == DIVERGENT
    assert of(guarded.format(64)) == WARP
    chosen = (
        f"{INDEX} setp.lt.u32 %p1, %r4, {{}}; add.s32 %r5, %r1, 32; selp.b32 %r6, %r1, %r5, %p1; shr.u32 %r9, %r6, 5;"
    )
    assert of(chosen.format(7)) == DIVERGENT
    assert of(chosen.format(64)) == WARP


def test_a_conversion_may_extend_a_sign_into_a_wider_register() -> None:
    """PTX allows a register of 64 bits for a result of 32."""
    shifted = "mov.u32 %r4, %tid.x; mul.lo.u32 %r2, %r4, 0x08000000; cvt.{}32.s32 %rd2, %r2; shr.u64 %rd3, %rd2, 32;"
    test = "setp.eq.u64 %p1, %rd3, 0;"
    assert of(f"{shifted.format('s')} {test}", Shape(1, 32), "%p1") == DIVERGENT
    assert of(f"{shifted.format('u')} {test}", Shape(1, 32), "%p1") == CTA
    natural = "mov.u32 %r4, %tid.x; cvt.s32.s32 %r2, %r4; shr.u32 %r9, %r2, 5;"
    assert of(natural, Shape(1, 64)) == WARP


@pytest.mark.parametrize(
    ("opcode", "source", "alike"),
    [
        ("mov.u32", "7", DIVERGENT),
        ("mov.u32", "64", WARP),
        ("ld.global.u32", "[%rd1]", DIVERGENT),
        ("popc.b32", "%r2", DIVERGENT),
    ],
)
def test_definitions_count_where_they_reach(opcode: str, source: str, alike: Uniformity) -> None:
    other, use = f"{opcode} %r1, {source};", "shr.u32 %r9, %r1, 5;"
    assert of(f"{INDEX} {use} {other}") == WARP
    assert of(f"{INDEX} {other} {INDEX} {use}") == WARP
    once = f"{INDEX} setp.lt.u32 %p1, %r2, 7; @%p1 bra SKIP; {other} SKIP: {use} ret;"
    assert uniformity(flow(once), shape=KNOWN).of("%r9") == alike
    again = f"{INDEX} TOP: {use} {other} setp.lt.u32 %p1, %r2, 7; @%p1 bra TOP; ret;"
    assert uniformity(flow(again), shape=KNOWN).of("%r9") == alike


def test_other_numbers_of_threads_have_no_window() -> None:
    for register in ("%tid.y", "%warpid", "%lanemask_lt", "%clock"):
        assert of(f"mov.u32 %r1, {register}; shr.u32 %r9, %r1, 5;", Shape(64, (32, 4))) == DIVERGENT
    assert of("mov.u32 %r1, %tid.x; shr.u32 %r9, %r1, 5;", Shape(64, (32, 4))) == DIVERGENT
    assert of("mov.u32 %r1, %laneid; shr.u32 %r9, %r1, 5;") == CTA


# random kernels ----------------------------------------------------------------------------------------

BLOCKS: list[int | tuple[int, int]] = [32, 64, 96, 128, 48, 100, 33, (32, 2), (16, 4), (96, 1)]
NUMBERS = [
    0,
    1,
    2,
    4,
    5,
    7,
    16,
    27,
    31,
    32,
    33,
    63,
    64,
    65,
    96,
    100,
    127,
    128,
    -1,
    -32,
    -16,
    992,
    1 << 31,
    (1 << 31) - 64,
]
OPERATIONS = [
    "add.s32 {to}, {a}, {b};", "sub.s32 {to}, {a}, {b};", "mul.lo.s32 {to}, {a}, {k};",
    "mad.lo.s32 {to}, {u}, {k}, {a};", "shl.b32 {to}, {a}, {few};", "shr.u32 {to}, {a}, {few};",
    "shr.s32 {to}, {a}, {few};", "and.b32 {to}, {a}, {k};", "or.b32 {to}, {a}, {b};", "xor.b32 {to}, {a}, {k};",
    "div.u32 {to}, {a}, {size};", "div.s32 {to}, {a}, {size};", "rem.u32 {to}, {a}, {size};",
    "bfe.u32 {to}, {a}, {few}, 5;", "selp.b32 {to}, {a}, {b}, %p1;", "mov.u32 {to}, {a};",
    "shr.s32 %r98, {a}, 31; shr.u32 %r98, %r98, 27; add.s32 %r98, {a}, %r98; shr.s32 {to}, %r98, 5;",
    "mul.wide.s32 %rd9, {a}, {size}; shr.s64 %rd9, %rd9, {few}; cvt.u32.u64 {to}, %rd9;",
    "cvt.u64.u32 %rd9, {a}; mad.wide.u32 %rd9, {u}, {size}, %rd9; cvt.u32.u64 {to}, %rd9;",
    "@%p1 add.s32 {to}, {a}, {b};", "add.s32 {to}, {a}, {k};", "add.s32 {to}, {a}, {tiles};",
]  # fmt: skip
TESTS = ["lt", "le", "gt", "ge", "eq", "ne"]


@dataclass
class Writer:
    """A random kernel that stores each number after it is computed: word `slot` of those of its thread."""

    draw: random.Random
    registers: int = 5  # from %r1 on: the index, %tid.x, %ctaid.x, a parameter, and a multiple of 32
    lines: list[str] = field(default_factory=list)
    stored: list[str] = field(default_factory=list)  # for each slot, the register
    labels: int = 0

    def __post_init__(self) -> None:
        self.lines += [
            "mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x; mov.u32 %r96, %ntid.x; mad.lo.s32 %r1, %r3, %r96, %r2;",
            "ld.param.u32 %r4, [k_n]; shl.b32 %r5, %r4, 5; setp.lt.u32 %p1, %r4, 3;",
        ]

    def any(self, most: int | None = None) -> str:
        return f"%r{self.draw.choice([1, self.draw.randint(1, most or self.registers)])}"

    def operation(self, to: str) -> None:
        text = self.draw.choice(OPERATIONS).format(
            to=to, a=self.any(), b=self.draw.choice([self.any(), str(self.draw.choice(NUMBERS))]),
            k=self.draw.choice(NUMBERS), u=self.draw.choice(["%r3", "%r4", "%r5"]),
            few=self.draw.choice([1, 4, 5, 6, 7, 27, 31]),
            size=self.draw.choice([1, 5, 16, 32, 48, 64, 96, 100, 128, "%r96"]), tiles="%r5",
        )  # fmt: skip
        self.lines.append(text)
        self.store(to)

    def store(self, register: str) -> None:
        self.lines.append(f"st.global.u32 [%rd1+{4 * len(self.stored)}], {register};")
        self.stored.append(register)

    def test(self) -> None:
        kind, bound = self.draw.choice(["u32", "s32"]), self.draw.choice([self.draw.choice(NUMBERS), "%r5", self.any()])
        self.lines.append(f"setp.{self.draw.choice(TESTS)}.{kind} %p1, {self.any()}, {bound};")
        self.lines.append("selp.u32 %r97, 1, 0, %p1;")
        self.store("%r97")

    def new(self) -> str:
        if self.registers < 12 and self.draw.random() < 0.7:
            self.registers += 1
            self.lines.insert(0, f"mov.u32 %r{self.registers}, 0;")
        return f"%r{self.registers}" if self.draw.random() < 0.8 else self.any()

    def body(self, depth: int, amount: int) -> None:
        for _ in range(amount):
            kind = self.draw.random()
            if kind < 0.6 or depth == 2:
                self.operation(self.new())
            elif kind < 0.75:
                self.test()
            elif kind < 0.9:
                label = self.label()
                self.test()
                self.lines.append(f"@%p1 bra {label};")
                self.body(depth + 1, 2)
                self.lines.append(f"{label}:")
            else:
                self.loop(depth)

    def loop(self, depth: int) -> None:
        """At most three times round, and as long as a test holds."""
        label, end, count = self.label(), self.label(), f"%r{80 + depth}"
        self.lines.append(f"mov.u32 {count}, 0; {label}:")
        self.body(depth + 1, 2)
        self.lines.append(f"add.s32 {count}, {count}, 1; setp.ge.u32 %p2, {count}, 3; @%p2 bra {end};")
        self.test()
        self.lines.append(f"@%p1 bra {label}; {end}:")

    def label(self) -> str:
        self.labels += 1
        return f"L{self.labels}"

    def text(self, threads: int) -> str:
        words = 4 * len(self.stored)
        begin = (
            "ld.param.u64 %rd1, [k_out]; mov.u32 %r90, %ntid.y; mov.u32 %r91, %tid.y; mov.u32 %r92, %ntid.x;"
            f"mov.u32 %r93, %tid.x; mad.lo.s32 %r94, %r91, %r92, %r93; mov.u32 %r95, %ctaid.x; "
            f"mad.lo.s32 %r94, %r95, {threads}, %r94; mul.wide.u32 %rd2, %r94, {words}; add.s64 %rd1, %rd1, %rd2;"
        )
        registers = ".reg .pred %p<9>; .reg .b32 %r<99>; .reg .b64 %rd<10>;"
        lines = "\n".join([begin, *self.lines, "ret;"])
        return f"{HEAD}.visible .entry k(.param .u64 k_out, .param .u32 k_n) {{\n{registers}\n{lines}\n}}\n"


def groups_of(uniform: Uniform, register: str, warps: list[slice], threads: int) -> Iterator[slice]:
    """The threads of a CTA that are claimed to have the same in a register."""
    if uniform.of(register) == CTA:
        yield slice(0, threads)
    elif uniform.of(register) <= WARP:
        yield from warps


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(150))
def test_random_kernels(seed: int) -> None:
    """What is claimed to be the same for a warp or a CTA is, wherever it is computed."""
    draw = random.Random(seed)
    writer = Writer(draw)
    writer.body(0, draw.randint(6, 14))
    shape = Shape(draw.randint(1, 3), draw.choice(BLOCKS))
    threads, ctas = shape.threads or 0, shape.ctas or 0
    text = writer.text(threads)
    out = np.zeros((ctas, threads, len(writer.stored)), np.uint32)
    goptx.emulate(
        text, shape.sizes("grid"), shape.sizes("block"), [out, np.uint32(draw.choice([0, 1, 2, 5, 100, 1 << 26]))]
    )
    entry = control_flow(flatten(parse(text).entries[0].body or (), lambda n: n), "test")
    warps = [slice(first, min(first + 32, threads)) for first in range(0, threads, 32)]
    for known in (shape, Shape(None, shape.block), Shape(None)):
        uniform = uniformity(entry, shape=known)
        for slot, register in enumerate(writer.stored):
            for group in groups_of(uniform, register, warps, threads):
                for cta in range(ctas):
                    assert len({*out[cta, group, slot].tolist()}) == 1, (known, register, text)
