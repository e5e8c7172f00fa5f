"""`mov` with its packing and unpacking, addresses of symbols, and which register a name refers to."""

from __future__ import annotations

import numpy as np
import pytest
from emulator.snippets import HEAD, fault, run

import goptx

PATTERN = 0xF1E2D3C4B5A69788
LETTERS = {16: "h", 32: "r", 64: "rd"}
SHAPES = [(2, 32, 16), (4, 64, 16), (2, 64, 32), (2, 128, 64), (4, 128, 32)]  # parts, bits of the whole, of a part


def parts_of(value: int, count: int, bits: int) -> list[int]:
    return [value >> bits * i & ((1 << bits) - 1) for i in range(count)]


@pytest.mark.parametrize(("count", "total", "bits"), SHAPES)
def test_unpacking_gives_the_low_part_first(count: int, total: int, bits: int) -> None:
    given, out = np.array([PATTERN, PATTERN ^ 0x55], np.uint64), np.zeros((40, count), f"u{bits // 8}")
    whole = {32: "%r9", 64: "%rd9", 128: "%q0"}[total]
    registers = [f"%{LETTERS[bits]}{(0 if bits == 16 else 20) + i}" for i in range(count)]
    stores = "".join(f"st.global.b{bits} [%rd11+{i * bits // 8}], {r};" for i, r in enumerate(registers))
    body = f"""mov.u32 %r30, %tid.x; mul.wide.u32 %rd11, %r30, {count * bits // 8}; add.u64 %rd11, %rd11, %rd1;
        ld.global.b{total} {whole}, [%rd0]; mov.b{total} {{{", ".join(registers)}}}, {whole}; {stores}"""
    run(body, given, out, block=40)
    value = (PATTERN | (PATTERN ^ 0x55) << 64) % (1 << total)
    assert out.tolist() == [parts_of(value, count, bits)] * 40


@pytest.mark.parametrize(("count", "total", "bits"), SHAPES)
def test_packing_puts_the_first_part_lowest(count: int, total: int, bits: int) -> None:
    """From registers, one of them a number, in lanes of which every other one is switched off."""
    out = np.zeros((40, total // 8), np.uint8)
    registers = [f"%{LETTERS[bits]}{(0 if bits == 16 else 20) + i}" for i in range(count)]
    whole = {32: "%r9", 64: "%rd9", 128: "%q0"}[total]
    fill = "".join(f"mov.b{bits} {r}, {i * 17 + 3};" for i, r in enumerate(registers))
    body = f"""mov.u32 %r30, %tid.x; mul.wide.u32 %rd11, %r30, {total // 8}; add.u64 %rd11, %rd11, %rd0; {fill}
        mov.b{total} {whole}, {{{", ".join(registers)}}}; and.b32 %r31, %r30, 1; setp.eq.u32 %p1, %r31, 1;
        @%p1 mov.b{total} {whole}, {{{", ".join(["-2", *registers[1:]])}}}; st.global.b{total} [%rd11], {whole};"""
    run(body, out, block=40)
    for thread, row in enumerate(out):
        first = (1 << bits) - 2 if thread % 2 else 3
        assert parts_of(int.from_bytes(row.tobytes(), "little"), count, bits) == [
            first,
            *(i * 17 + 3 for i in range(1, count)),
        ]


def test_bytes_and_floats_packed() -> None:
    out = np.zeros(6, np.uint32)
    body = """.reg .b8 %b<4>; mov.b32 {%b0, %b1, %b2, %b3}, 0x44332211; mov.b32 %r1, {%b3, %b2, %b1, %b0};
        mov.b64 %d1, {%r1, 0x3FF00000};
        mov.b64 {_, %f1}, %d1; mov.b64 %rd9, {%f1, %f1}; mov.b32 {%h1, _}, %f1; mov.b32 {_, %h2}, %f1;
        mov.b32 %f2, {%h2, %h1};
        st.global.b32 [%rd0], %r1; st.global.f32 [%rd0+4], %f1; st.global.u64 [%rd0+8], %rd9;
        st.global.f32 [%rd0+16], %f2;"""
    run(body, out)
    assert out.tolist() == [0x11223344, 0x3FF00000, 0x3FF00000, 0x3FF00000, 0x00003FF0, 0]


def test_a_packed_register_without_a_value_is_unknown_in_that_part() -> None:
    body = "setp.eq.u32 %p1, %r30, 7; @%p1 mov.b32 %r1, 1; mov.b64 %rd2, {%r1, 2}; mov.b64 {%r3, %r4}, %rd2;"
    begin = "mov.u32 %r30, %tid.x; mov.b64 %rd3, {%r30, %r31}; "
    run(begin + body, np.zeros(1, np.uint64), block=8)
    run(begin + body + "st.global.u32 [%rd0], %r4;", np.zeros(1, np.uint64), block=8)
    found = fault("uninitialised", begin + body + "st.global.u32 [%rd0], %r3;", np.zeros(1, np.uint64), block=8)
    assert found.threads == tuple(range(7))
    fault("uninitialised", begin + "st.global.u64 [%rd0], %rd3;", np.zeros(1, np.uint64))


def test_a_copy_is_not_an_alias() -> None:
    """What was copied stays when the source changes, and the other way round, predicates too."""
    out = np.zeros((33, 4), np.uint32)
    body = """mov.u32 %r30, %tid.x; mul.wide.u32 %rd11, %r30, 16; add.u64 %rd11, %rd11, %rd0;
        setp.lt.u32 %p1, %r30, 5; mov.pred %p2, %p1;
        not.pred %p1, %p1; mov.u32 %r1, %r30; add.u32 %r30, %r30, 100; mov.b32 %f1, %r1; mov.u32 %r2, %r30;
        @%p2 mov.u32 %r2, 7;
        mov.b32 %r4, %r2; @%p1 mov.u32 %r4, 9; mov.b32 %r5, %f1; st.global.v4.u32 [%rd11], {%r1, %r2, %r4, %r5};"""
    run(body, out, block=33)
    assert out.tolist() == [[i, 7 if i < 5 else i + 100, 7 if i < 5 else 9, i] for i in range(33)]


@pytest.mark.parametrize(("instruction", "problem"), [
    ("mov.u64 %r2, %rd3;", "%r2 does not hold"),
    ("mov.u32 %p1, %r1;", "%p1 does not hold"),
    ("mov.u32 %r1, nobody;", "`nobody` is neither"), ("mov.b64 %rd1, {%r1, %r2, %r3};", "has no 3 parts"),
    ("mov.u32 %r99, %r1;", "`%r99` is not a register"),
    ("mov.u32 5, %r1;", "cannot be written"), ("mov.u32 %tid.x, %r1;", "not a register"), ("mov.b24 %r1, %r2;", "b24"),
])  # fmt: skip
def test_operands_that_do_not_fit(instruction: str, problem: str) -> None:
    """They are named when the instruction is reached, and do no harm where it is not."""
    assert problem in str(fault("unsupported", instruction))
    run(f"bra END; {instruction} END:")


# names ----------------------------------------------------------------------------------------------


def test_addresses_of_symbols_with_offsets() -> None:
    out = np.zeros(8, np.int64)
    body = """.local .align 8 .b8 l[16]; mov.u64 %rd1, g; mov.u64 %rd2, g+4; sub.u64 %rd3, %rd2, %rd1;
        st.global.u64 [%rd0], %rd3;
        mov.u64 %rd2, s+12; mov.u32 %r1, s; cvt.u64.u32 %rd1, %r1; sub.u64 %rd3, %rd2, %rd1;
        st.global.u64 [%rd0+8], %rd3;
        mov.u64 %rd1, l; mov.u64 %rd2, l+-8; sub.s64 %rd3, %rd2, %rd1; st.global.u64 [%rd0+16], %rd3;
        ld.global.s32 %rd3, [g+4]; st.global.u64 [%rd0+24], %rd3; st.shared.u32 [s+12], 5; mov.u64 %rd1, s+16;
        ld.shared.u32 %rd3, [%rd1+-4]; st.global.u64 [%rd0+32], %rd3; mov.u64 %rd4, g; ld.global.u32 %rd3, [%rd4+2*4];
        st.global.u64 [%rd0+40], %rd3;"""
    run(body, out, variables=".global .s32 g[3] = {1, -2, 3}; .shared .align 4 .b8 s[16];")
    assert out.tolist() == [4, 12, -8, -2, 5, 3, 0, 0]


def test_single_registers_beside_ranges_and_in_inner_scopes() -> None:
    out = np.zeros(8, np.uint32)
    body = """.reg .b32 %x<10>, %x10; .reg .b32 y; .reg .v4 .b32 q; .reg .v2 .f32 w; .reg .b32 %x9a;
        mov.u32 %x1, 1; mov.u32 %x9, 9; mov.u32 %x10, 10; mov.u32 %x9a, 99; mov.u32 y, 7; mov.u32 q.x, 20;
        mov.u32 q.w, 23; mov.f32 w.y, 0f00000005;
        { .reg .b32 y; .reg .b32 %x<2>; .reg .v2 .b32 q; mov.u32 y, 1000; mov.u32 %x1, 2000; mov.u32 q.x, 3000;
          { .reg .b32 %x1; mov.u32 %x1, 5; add.u32 %x10, %x10, %x1; } add.u32 %x9, %x9, %x1; add.u32 y, y, q.x;
          st.global.u32 [%rd0+24], y; }
        st.global.v4.u32 [%rd0], {%x1, %x9, %x10, %x9a}; st.global.u32 [%rd0+16], y; add.u32 q.x, q.x, q.w;
        st.global.u32 [%rd0+20], q.x;
        st.global.f32 [%rd0+28], w.y;"""
    run(body, out)
    assert out.tolist() == [1, 2009, 15, 99, 7, 43, 4000, 5]


def test_variables_in_inner_scopes_hide_those_outside() -> None:
    out = np.zeros(6, np.uint32)
    body = """.shared .u32 v; st.shared.u32 [v], 1;
        { .shared .u32 v; st.shared.u32 [v], 2; { .local .u32 v; st.local.u32 [v], 3;
        ld.local.u32 %r1, [v]; st.global.u32 [%rd0], %r1; } ld.shared.u32 %r1, [v]; st.global.u32 [%rd0+4], %r1; }
        ld.shared.u32 %r1, [v]; st.global.u32 [%rd0+8], %r1; { .local .u32 v; st.local.u32 [v], 4; }
        ld.shared.u32 %r1, [v]; st.global.u32 [%rd0+12], %r1; ld.global.u32 %r1, [outer];
        st.global.u32 [%rd0+16], %r1;"""
    run(body, out, variables=".global .u32 v = 50; .global .u32 outer = 60;")
    assert out.tolist() == [3, 2, 1, 1, 60, 0]


def test_registers_of_scopes_around_calls() -> None:
    """Calls keep their scopes, whose names must not mix with those outside, nor with those of the next call."""
    call = """{{ .reg .b32 t; .reg .v2 .b32 q; .param .b32 p; .param .b32 r; mov.u32 t, {}; mov.u32 q.y, t;
        st.param.b32 [p], q.y;
        call.uni (r), twice, (p); ld.param.b32 t, [r]; {{ .reg .b32 t; mov.u32 t, 77; }} add.u32 %r1, %r1, t; }}"""
    source = f"""{HEAD}
        .func (.param .b32 r) twice(.param .b32 p) {{ .reg .b32 t; .local .b32 p2; ld.param.b32 t, [p];
        st.local.b32 [p2], t;
            add.u32 t, t, t; st.param.b32 [r], t; ret; }}
        .entry k(.param .u64 out) {{ .reg .b32 t, %r1; .reg .v2 .b32 q; .reg .b64 %rd0; ld.param.u64 %rd0, [out];
        mov.u32 t, 1; mov.u32 %r1, 0;
            mov.u32 q.y, 3; {call.format(10)} {call.format(20)} add.u32 %r1, %r1, t; add.u32 %r1, %r1, q.y;
            st.global.u32 [%rd0], %r1; ret; }}"""
    out = np.zeros(1, np.uint32)
    goptx.emulate(source, 1, 1, [out])
    assert out[0] == 64


def test_parameters_of_calls_outside_of_scopes() -> None:
    """A `.param` variable in the entry's own scope lies in the frame,
    and leaves the entry's parameters where they are."""
    source = f"""{HEAD}
        .func (.reg .b32 r) plus(.reg .b32 a, .param .align 4 .b8 b[20]) {{ .reg .b32 t; ld.param.b32 t, [b+16];
        add.u32 r, a, t; ret; }}
        .entry k(.param .u64 out, .param .u32 n) {{ .reg .b32 %r<4>; .reg .b64 %rd0; .param .align 4 .b8 p[20];
        .param .b64 unused;
            ld.param.u64 %rd0, [out]; ld.param.u32 %r1, [n]; st.param.b32 [p+16], 30; call (%r2), plus, (%r1, p);
            call (%r3), plus, (1000, p); add.u32 %r2, %r2, %r3; st.global.u32 [%rd0], %r2; ret; }}"""
    out = np.zeros(1, np.uint32)
    goptx.emulate(source, 1, 1, [out, 5])
    assert out[0] == 35 + 1030


def test_vectors_that_overlap_are_read_before_any_part_is_written() -> None:
    out = np.zeros(4, np.uint32)
    fill = "".join(f"mov.u32 %r{20 + i}, {i + 1};" for i in range(4))
    stores = "".join(f"st.global.u32 [%rd0+{4 * i}], %r{20 + i};" for i in range(4))
    run(f"{fill} mov.v4.u32 {{%r20, %r21, %r22, %r23}}, {{%r21, %r22, %r23, %r20}}; {stores}", out, block=1)
    assert out.tolist() == [2, 3, 4, 1]


def test_vectors_of_registers_that_overlap() -> None:
    out = np.zeros(6, np.uint32)
    body = """
        .reg .v4 .u32 q; .reg .v2 .u32 p; mov.v4.u32 q, {1, 2, 3, 4}; mov.v4.u32 q, {q.w, q.x, q.y, q.z};
        mov.v2.u32 p, {q.y, q.x}; mov.v2.u32 p, {p.y, p.x}; mov.v4.u32 q, {q.y, q.x, q.x, q.z};
        st.global.v4.u32 [%rd0], q; st.global.v2.u32 [%rd0+16], p;
    """
    run(body, out, block=1)
    assert out.tolist() == [1, 4, 4, 2, 4, 1]
