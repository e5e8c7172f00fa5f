"""Atomics, each against a loop over the threads in order that applies the ISA's definition of one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from emulator.snippets import fault, run

Step = Callable[[int, int, int], int]  # old bits and operands' bits to the new bits

THREADS, CELLS = 100, 7


def wrap(value: int, width: int) -> int:
    return value % (1 << width)


def number(bits: int, type_: str) -> int:
    width = int(type_[1:])
    return bits - (1 << width) if type_[0] == "s" and bits >> (width - 1) else bits


def integer_steps(type_: str) -> dict[str, Step]:
    width = int(type_[1:])
    return {
        "add": lambda old, b, _: wrap(old + b, width),
        "min": lambda old, b, _: min(old, b, key=lambda v: number(v, type_)),
        "max": lambda old, b, _: max(old, b, key=lambda v: number(v, type_)),
        "and": lambda old, b, _: old & b, "or": lambda old, b, _: old | b, "xor": lambda old, b, _: old ^ b,
        "inc": lambda old, b, _: 0 if old >= b else old + 1, "dec": lambda old, b,
        _: b if old == 0 or old > b else old - 1,
        "exch": lambda old, b, _: b, "cas": lambda old, b, c: c if old == b else old,
    }  # fmt: skip


FORMS = [f"{op}.{t}" for op, types in [("add", "u32 s32 u64"), ("inc", "u32"), ("dec", "u32"),
         ("min", "u32 s32 u64 s64"), ("max", "u32 s32 u64 s64"),
                                       ("and", "b32 b64"), ("or", "b32 b64"), ("xor", "b32 b64"), ("exch", "b32 b64"),
                                       ("cas", "b16 b32 b64")]
         for t in types.split()]  # fmt: skip


def operands(type_: str, seed: int) -> list[int]:
    """A third of them small, so that `inc`, `dec` and `cas` meet their limits; the extremes among them."""
    width = int(type_[1:])
    source = np.random.default_rng(seed)
    corners = [0, 1, (1 << width) - 1, 1 << (width - 1), (1 << (width - 1)) - 1]
    many = [int.from_bytes(source.bytes(width // 8), "little") for _ in range(THREADS)]
    return [(v % 6, v, corners[v % 5])[v % 3] for v in many]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("space", ["global", "shared", "", "shared generic"])
def test_integers(form: str, space: str) -> None:
    """100 threads at 7 cells: what each gets back and what is left, in the order of the threads; `red` too."""
    operation, type_ = form.split(".")
    width, step = int(type_[1:]), integer_steps(type_)[operation]
    cells, first, second = operands(type_, 1)[:CELLS], operands(type_, 2), operands(type_, 3)
    want, olds = list(cells), []
    for i in range(THREADS):
        olds.append(want[i * i % CELLS])
        want[i * i % CELLS] = step(olds[-1], first[i], second[i])
    dtype, size = f"u{width // 8}", width // 8
    register = {16: "%h", 32: "%r1", 64: "%rd2"}[width]
    a, b, c = (f"{register}{i}" for i in (5, 6, 7))
    suffix = f".{space}" if space in ("global", "shared") else ""
    base = {"global": "mov.u64 %rd12, %rd0;", "": "mov.u64 %rd12, %rd0;", "shared": "mov.u64 %rd12, s;"}.get(
        space, "mov.u64 %rd12, s; cvta.shared.u64 %rd12, %rd12;")  # fmt: skip
    third = f", {c}" if operation == "cas" else ""
    reds = "" if operation in ("exch", "cas") else f"@!%p1 red{suffix}.{form} [%rd12], {b};"
    body = f"""mov.u32 %r30, %tid.x; mul.wide.u32 %rd10, %r30, {size}; setp.lt.u32 %p1, %r30, {CELLS};
        add.u64 %rd11, %rd0, %rd10;
        mov.u64 %rd13, s; add.u64 %rd13, %rd13, %rd10; @%p1 ld.global.b{width} {a}, [%rd11];
        @%p1 st.shared.b{width} [%rd13], {a}; bar.sync 0;
        add.u64 %rd14, %rd1, %rd10; ld.global.b{width} {b}, [%rd14]; add.u64 %rd14, %rd2, %rd10;
        ld.global.b{width} {c}, [%rd14];
        {base} mul.lo.u32 %r31, %r30, %r30; rem.u32 %r31, %r31, {CELLS}; mul.wide.u32 %rd15, %r31, {size};
        add.u64 %rd12, %rd12, %rd15;
        setp.ne.u32 %p1, 0, %r4; @%p1 atom{suffix}.{form} {a}, [%rd12], {b}{third}; {reds} add.u64 %rd14, %rd3, %rd10;
        @%p1 st.global.b{width} [%rd14], {a}; bar.sync 0; setp.lt.u32 %p2, %r30, {CELLS};
        @%p2 ld.{"shared" if "shared" in space else "global"}.b{width} {a}, [%rd{13 if "shared" in space else 11}];
        @%p2 st.global.b{width} [%rd11], {a};"""
    for returns in (True, False) if reds else (True,):
        arrays = [np.array(v, dtype) for v in (cells, first, second, [0] * THREADS)]
        run(body, *arrays, np.uint32(returns), block=THREADS, variables=f".shared .align 8 .b8 s[{CELLS * size}];")
        assert arrays[0].tolist() == want
        assert not returns or arrays[3].tolist() == olds


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_thousand_threads_count(seed: int) -> None:
    """What they get back is every number once; with seed 0, warp after warp in the order of lanes."""
    out, count = np.zeros(2048, np.uint32), np.zeros(1, np.uint32)
    body = """mov.u32 %r30, %ctaid.x; mad.lo.u32 %r30, %r30, 1024, %tid.x; mul.wide.u32 %rd10, %r30, 4;
        add.u64 %rd10, %rd10, %rd1;
        atom.global.add.u32 %r1, [%rd0], 1; st.global.u32 [%rd10], %r1;""".replace(", %tid.x;", ", %r31;")
    run("mov.u32 %r31, %tid.x;" + body, count, out, grid=2, block=1024, seed=seed)
    assert count[0] == 2048
    assert sorted(out.tolist()) == list(range(2048))
    assert (out.tolist() == list(range(2048))) == (seed == 0)


@pytest.mark.parametrize("seed", [0, 3])
def test_swaps_form_a_chain(seed: int) -> None:
    """`exch`: every value put in comes out once, but for the last, which stays."""
    out, cell = np.zeros(512, np.uint32), np.array([1000], np.uint32)
    body = """mov.u32 %r30, %tid.x; mul.wide.u32 %rd10, %r30, 4; add.u64 %rd10, %rd10, %rd1;
        atom.global.exch.b32 %r1, [%rd0], %r30;
        st.global.u32 [%rd10], %r1;"""
    run(body, cell, out, block=512, seed=seed)
    assert sorted([*out.tolist(), int(cell[0])]) == [*range(512), 1000]


@pytest.mark.parametrize("seed", [0, 4])
def test_a_histogram_and_a_loop_that_swaps(seed: int) -> None:
    """Adds by `cas` until it succeeds, into 5 shared bins of 16 bits."""
    given = np.random.default_rng(1).integers(0, 5, 256, np.uint32)
    out = np.zeros(5, np.uint16)
    body = """mov.u32 %r30, %tid.x; mul.wide.u32 %rd10, %r30, 4; add.u64 %rd10, %rd10, %rd0;
        setp.lt.u32 %p1, %r30, 5; shl.b32 %r31, %r30, 1;
        mov.u32 %r32, bins; add.u32 %r31, %r31, %r32; @%p1 st.shared.u16 [%r31], 0; bar.sync 0;
        ld.global.u32 %r1, [%rd10];
        mad.lo.u32 %r33, %r1, 2, %r32; ld.shared.u16 %h1, [%r33];
        AGAIN: mov.b16 %h2, %h1; add.u16 %h3, %h2, 1; atom.shared.cas.b16 %h1, [%r33], %h2, %h3;
        setp.ne.u16 %p2, %h1, %h2; @%p2 bra AGAIN;
        bar.sync 0; cvt.u64.u32 %rd11, %r30; mad.lo.u64 %rd11, %rd11, 2, %rd1; @%p1 ld.shared.u16 %h4, [%r31];
        @%p1 st.global.u16 [%rd11], %h4;"""
    run(body, given, out, block=256, seed=seed, variables=".shared .b16 bins[5];")
    assert out.tolist() == np.bincount(given, minlength=5).tolist()


# 128 bits, and what is wrong ------------------------------------------------------------------------


def test_128_bits_are_exchanged_and_compared_whole() -> None:
    cell, out = np.array([1, 2], np.uint64), np.zeros((3, 2), np.uint64)
    body = """ld.global.b128 %q0, [%rd0]; mov.b128 %q1, {3, 4}; mov.b128 %q2, {1, 5};
        atom.global.cas.b128 %q3, [%rd0], %q2, %q1;
        st.global.b128 [%rd1], %q3; atom.cas.b128 %q3, [%rd0], %q0, %q1; st.global.b128 [%rd1+16], %q3;
        atom.global.exch.b128 %q3, [%rd0], %q2; st.global.b128 [%rd1+32], %q3;"""
    run(body, cell, out)
    assert out.tolist() == [[1, 2], [1, 2], [3, 4]]
    assert cell.tolist() == [1, 5]


@pytest.mark.parametrize(
    "opcode",
    [
        "atom.global.sub.u32",
        "atom.add.u16",
        "atom.min.f32",
        "atom.inc.s32",
        "atom.and.u32",
        "atom.cas.f32",
        "atom.volatile.global.add.u32",
        "red.exch.b32",
        "red.async.global.add.u32",
    ],
)
def test_forms_that_do_not_exist_are_named(opcode: str) -> None:
    registers = "[%rd0], %r1" if opcode.startswith("red") else "%r1, [%rd0], %r1"
    assert opcode in str(fault("unsupported", f"mov.u32 %r1, 0; {opcode} {registers};", np.zeros(4, np.uint32)))


WRONG: list[tuple[str, str]] = [
    ("misaligned", "atom.global.add.u32 %r1, [%rd0+2], 1;"), ("misaligned", "red.global.add.u64 [%rd0+4], 1;"),
    ("misaligned", "red.global.v2.f32.add [%rd0+4], {0f00000000, 0f00000000};"),
    ("out of bounds", "atom.global.add.u32 %r1, [%rd0+16], 1;"),
    ("out of bounds", "atom.add.u32 %r1, [%rd9], 1;"), ("uninitialised", "atom.global.add.u32 %r1, [%rd0], %r2;"),
    ("uninitialised", "atom.global.cas.b32 %r1, [%rd0], 1, %r2;"),
    ("out of bounds", ".local .u32 l; st.local.u32 [l], 1; mov.u64 %rd9, l; "
     "cvta.local.u64 %rd9, %rd9; atom.add.u32 %r1, [%rd9], 1;"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "body"), WRONG)
def test_what_goes_wrong(kind: str, body: str) -> None:
    given: Any = np.zeros(4, np.uint32)
    fault(kind, "mov.u64 %rd9, 0;" + body, given)
    assert not given.any()


def test_words_of_order_and_scope_change_nothing() -> None:
    cell = np.zeros(1, np.uint32)
    words = [
        "relaxed.gpu.global",
        "global.acquire.sys",
        "acq_rel.cta.global",
        "release.cluster",
        "global.gpu",
        "global.cta",
        "relaxed.sys",
    ]
    run("".join(f"atom.{w}.add.u32 %r1, [%rd0], 1; red.{w}.or.b32 [%rd0], 0;" for w in words if "acq" not in w), cell)
    assert cell[0] == 5
    run(
        "createpolicy.fractional.L2::evict_last.b64 %rd9; atom.global.add.L2::cache_hint.u32 %r1, [%rd0], 1, %rd9;",
        cell,
    )
    assert cell[0] == 6
