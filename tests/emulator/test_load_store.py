"""Loads and stores: widths, extension, vectors, the words of an opcode, alignment, forms of addresses."""

from __future__ import annotations

import numpy as np
import pytest
from emulator.snippets import fault, run

CORNERS = (0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x0123456789ABCDEF,
    1 << 63,
           0x8182838485868788, (1 << 64) - 1)  # fmt: skip
REGISTER_BITS = {"%h1": 16, "%r20": 32, "%rd20": 64}
NARROW_AND_WIDE = [
    (f"{kind}{bits}", register)
    for bits in (8, 16, 32, 64)
    for kind in "bus"
    for register, held in REGISTER_BITS.items()
    if held >= bits
]
THREAD = "mov.u32 %r30, %tid.x; mul.wide.u32 %rd30, %r30, 8; add.u64 %rd10, %rd0, %rd30; add.u64 %rd11, %rd1, %rd30;\n"


@pytest.mark.parametrize(("type_", "register"), NARROW_AND_WIDE)
def test_a_load_extends_to_the_width_of_its_register(type_: str, register: str) -> None:
    given, out = np.array(CORNERS, np.uint64), np.full(len(CORNERS), 0x5555555555555555, np.uint64)
    held = REGISTER_BITS[register]
    body = f"{THREAD} ld.global.{type_} {register}, [%rd10]; st.global.b{held} [%rd11], {register};"
    run(body, given, out, block=len(CORNERS))
    bits = int(type_[1:])
    for value, got in zip(CORNERS, out.tolist(), strict=True):
        low = value % (1 << bits)
        if type_[0] == "s" and low >> (bits - 1):
            low -= 1 << bits
        beyond = 0x5555555555555555 >> held << held
        assert got == beyond | low % (1 << held), hex(value)


@pytest.mark.parametrize(("type_", "register"), NARROW_AND_WIDE)
def test_a_store_writes_the_low_part_and_nothing_beside(type_: str, register: str) -> None:
    given, out = np.array(CORNERS, np.uint64), np.full(len(CORNERS), 0xAAAAAAAAAAAAAAAA, np.uint64)
    held, bits = REGISTER_BITS[register], int(type_[1:])
    body = f"{THREAD} ld.global.b{held} {register}, [%rd10]; st.global.{type_} [%rd11], {register};"
    run(body, given, out, block=len(CORNERS))
    beside = 0xAAAAAAAAAAAAAAAA >> bits << bits
    assert out.tolist() == [beside | value % (1 << bits) for value in CORNERS]


@pytest.mark.parametrize(("spelled", "bits"), [("300", 300 & 0xFF), ("-1", 0xFF), ("0x1FE", 0xFE), ("0b101", 5),
                                               ("017", 15),
                                               ("255U", 255)])  # fmt: skip
def test_a_store_of_a_number_takes_its_low_bits(spelled: str, bits: int) -> None:
    out = np.zeros(4, np.uint8)
    run(f"st.global.u8 [%rd0+1], {spelled}; st.global.v2.u8 [%rd0+2], {{{spelled}, 7}};", out)
    assert out.tolist() == [0, bits, bits, 7]


@pytest.mark.parametrize("space", ["global", "shared", "local", ""])
@pytest.mark.parametrize(
    ("count", "bits"), [(2, 8), (4, 8), (2, 16), (4, 16), (2, 32), (4, 32), (2, 64), (8, 32), (4, 64)]
)
def test_vectors_keep_the_order_of_their_elements(space: str, count: int, bits: int) -> None:
    """Loaded from global memory, stored to a space in reverse order, loaded from there and stored again."""
    total, threads = count * bits // 8, 35
    letters = {8: "h", 16: "h", 32: "r", 64: "rd"}
    registers = [f"%{letters[bits]}{(20 if bits > 16 else 0) + i}" for i in range(count)]
    forward, backward = ", ".join(registers), ", ".join(registers[::-1])
    own = {"global": "%rd0", "": "%rd0"}.get(space, "%rd9")
    place = {
        "shared": "mov.u64 %rd9, many;",
        "local": "mov.u64 %rd9, mine;\nsub.u64 %rd9, %rd9, %rd30;",
    }.get(space, "")
    body = f"""
        .local .align 32 .b8 mine[{total}];
        mov.u32 %r30, %tid.x; mul.wide.u32 %rd30, %r30, {total}; add.u64 %rd10, %rd0, %rd30;
        add.u64 %rd11, %rd1, %rd30;
        {place}
        add.u64 %rd12, {own}, %rd30;
        ld.global.v{count}.b{bits} {{{forward}}}, [%rd10];
        st{"." * bool(space)}{space}.v{count}.b{bits} [%rd12], {{{backward}}};
        ld{"." * bool(space)}{space}.v{count}.u{bits} {{{forward}}}, [%rd12];
        st.global.v{count}.u{bits} [%rd11], {{{forward}}};"""
    given = (
        np.random.default_rng(bits).integers(0, 256, threads * total, np.uint8).view(f"u{bits // 8}").reshape(-1, count)
    )
    before, out = given.copy(), np.zeros_like(given)
    run(body, given, out, block=threads, variables=f".shared .align 32 .b8 many[{threads * total}];")
    assert (out == before[:, ::-1]).all()
    assert (given == (before if own == "%rd9" else before[:, ::-1])).all()


def test_vectors_of_few_registers_and_of_a_sink() -> None:
    given, out = np.arange(4, dtype=np.uint32) + 7, np.zeros(4, np.uint32)
    body = """.reg .v4 .b32 v; .reg .v2 .f64 w;
        ld.global.v4.u32 v, [%rd0]; ld.global.v4.u32 {_, %r1, _, _}, [%rd0]; ld.global.v2.f64 w, [%rd0];
        add.u32 v.x, v.x, v.w; st.global.v2.u32 [%rd1], {v.x, %r1}; st.global.f64 [%rd1+8], w.y;"""
    run(body, given, out)
    assert out.tolist() == [7 + 10, 8, 9, 10]


def test_128_bits() -> None:
    given, out = np.arange(32, dtype=np.uint8), np.zeros(32, np.uint8)
    body = """ld.global.b128 %q0, [%rd0]; mov.b128 {%rd20, %rd21}, %q0; mov.b128 %q1, {%rd21, %rd20};
        st.global.b128 [%rd1+16], %q1; st.shared.b128 [wide], %q0; ld.shared.b128 %q2, [wide]; st.b128 [%rd1], %q2;"""
    run(body, given, out, variables=".shared .align 16 .b8 wide[16];")
    assert out.tolist() == [*range(16), *range(8, 16), *range(8)]
    assert "16 bytes" in str(fault("misaligned", "ld.global.b128 %q0, [%rd0+8];", given))


LOADS = """ld.global ld ld.weak.global ld.volatile.global ld.volatile ld.relaxed.cta.global ld.relaxed.cluster.global
    ld.relaxed.gpu.global ld.acquire.gpu ld.acquire.sys.global ld.mmio.relaxed.sys.global ld.global.ca ld.global.cg
    ld.global.cs ld.global.lu ld.global.cv ld.global.nc ld.global.ca.nc ld.global.nc.L1::no_allocate.L2::128B
    ld.global.nc.L1::evict_last.L2::256B ld.global.L1::evict_first ld.global.L1::evict_unchanged.L2::64B
    ld.global.L1::evict_normal ldu.global""".split()
STORES = """st.global st st.weak.global st.volatile.global st.relaxed.cta.global st.release.gpu.global
    st.release.cluster st.mmio.relaxed.sys.global st.global.wb st.global.cg st.global.cs
    st.global.wt st.global.L1::no_allocate st.global.L1::evict_first""".split()


@pytest.mark.parametrize(("load", "store"), [(load, STORES[i % len(STORES)]) for i, load in enumerate(LOADS)])
def test_words_for_caches_and_orders_change_nothing(load: str, store: str) -> None:
    given, out = np.array([5, 6, 7, 8], np.uint32), np.zeros(4, np.uint32)
    body = f"{load}.u32 %r1, [%rd0+4]; {store}.u32 [%rd1+8], %r1; "
    load, store = (word.replace(".mmio", "") for word in (load, store))  # which is for single values
    body += f"{load}.v2.u32 {{%r2, %r3}}, [%rd0+8]; {store}.v2.u32 [%rd1], {{%r3, %r2}};"
    run(body, given, out)
    assert out.tolist() == [8, 7, 6, 0]


def test_levels_of_caches_of_wide_vectors_change_nothing() -> None:
    given, out = np.arange(8, dtype=np.uint32), np.zeros(8, np.uint32)
    names = "{%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}"
    body = f"""ld.global.nc.L1::no_allocate.L2::evict_last.v8.b32 {names}, [%rd0];
        st.global.L2::evict_first.v8.b32 [%rd1], {names};"""
    run(body, given, out)
    assert (out == given).all()


def test_policies_of_caches_change_nothing() -> None:
    given, out = np.array([5], np.uint32), np.zeros(1, np.uint32)
    run(
        """createpolicy.fractional.L2::evict_first.b64 %rd9, 1.0; ld.global.L2::cache_hint.u32 %r1, [%rd0], %rd9;
        prefetch.global.L2 [%rd0]; prefetchu.L1 [%rd0]; st.global.L2::cache_hint.u32 [%rd1], %r1, %rd9;""",
        given, out,
    )  # fmt: skip
    assert out[0] == 5


@pytest.mark.parametrize("opcode", ["ld.global.L3::keep.u32", "ld.tex.u32", "ld.global.u24", "ld.global.v3.u32"])
def test_unknown_words_are_named(opcode: str) -> None:
    found = fault("unsupported", f"{opcode} %r1, [%rd0];", np.zeros(4, np.uint32))
    assert opcode in found.instruction
    assert found.line


@pytest.mark.parametrize(("type_", "register", "total"), [
    ("u16", "%h1", 2), ("b32", "%r1", 4), ("f32", "%f1", 4), ("b64", "%rd20", 8), ("f64", "%d1", 8),
    ("v2.b8", "{%h1, %h1}", 2), ("v4.b8", "{%h1, %h1, %h1, %h1}", 4), ("v2.b32", "{%r1, %r1}", 8),
    ("v4.b32", "{%r1, %r1, %r1, %r1}", 16), ("v2.b64", "{%rd20, %rd20}", 16),
    ("v4.b64", "{%rd20, %rd20, %rd20, %rd20}", 32),
])  # fmt: skip
@pytest.mark.parametrize("space", ["global", "shared", ""])
def test_misaligned(type_: str, register: str, total: int, space: str) -> None:
    """Whatever is less aligned than the whole access, vectors that are aligned as their elements included."""
    opcode = f"{space}.{type_}" if space else type_
    place = "tile" if space == "shared" else "%rd0"
    zero = "mov.b16 %h1, 0; mov.b32 %r1, 0; mov.b64 %rd20, 0; mov.f32 %f1, 0.0; mov.f64 %d1, 0.0;"
    for offset in {o for o in (1, 2, 4, 8, 16) if o < total}:
        at = f"[{place}+{32 + offset}]"
        for access in (f"ld.{opcode} {register}, {at};", f"st.{opcode} {at}, {register};"):
            found = fault(
                "misaligned", zero + access, np.zeros(128, np.uint8), variables=".shared .align 32 .b8 tile[128];"
            )
            assert f"{total} bytes" in str(found)
            assert found.instruction == access


def test_the_lanes_that_are_misaligned_are_named() -> None:
    body = """mov.u32 %r30, %tid.x; and.b32 %r31, %r30, 2; cvt.u64.u32 %rd3, %r31; add.u64 %rd3, %rd3,
        %rd0; ld.global.u32 %r1, [%rd3];"""
    assert fault("misaligned", body, np.zeros(4, np.uint32), block=8).threads == (2, 3, 6, 7)
