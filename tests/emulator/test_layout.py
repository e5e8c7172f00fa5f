"""Variables and their initial values: initialisers, addresses of others, alignment, functions in tables."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from emulator.snippets import HEAD, REGISTERS, fault, run

import goptx
from goptx import InputError


def content(variables: str, name: str = "v", size: int = 0, space: str = "global") -> bytes:
    """What the first `size` bytes of a module variable hold, each read by a thread of its own."""
    out = np.zeros(size, np.uint8)
    body = f"""mov.u32 %r30, %tid.x; cvt.u64.u32 %rd30, %r30; mov.u64 %rd2, {name}; add.u64 %rd2, %rd2, %rd30;
        add.u64 %rd3, %rd0, %rd30; ld.{space}.u8 %r1, [%rd2]; st.global.u8 [%rd3], %r1;"""
    run(body, out, block=size, variables=variables)
    return out.tobytes()


INITIALISERS = [
    (".u8 v = 0xFF", "<B", [255]), (".s8 v = -1", "<b", [-1]), (".u16 v[2] = {1, 65535}", "<2H", [1, 65535]),
    (".s16 v[] = {-1, 2, -3}", "<3h", [-1, 2, -3]), (".b32 v[4] = {1, 0x10U, 017, 0b11}", "<4I", [1, 16, 15, 3]),
    (".s32 v = -2147483648", "<i", [-(1 << 31)]), (".u64 v[2] = {18446744073709551615U, 1}", "<2Q", [(1 << 64) - 1, 1]),
    (".s64 v = -5", "<q", [-5]), (".f32 v[3] = {1.5, 0f3F800000, -2.0}", "<3f", [1.5, 1, -2]),
    (".f64 v[2] = {0d3FF8000000000000, -1e300}", "<2d", [1.5, -1e300]), (".b32 v = 0f40000000", "<f", [2.0]),
    (".b64 v = 0d4000000000000000", "<d", [2.0]),
    (".u32 v[4] = {1, 2}", "<4I", [1, 2, 0, 0]), (".u32 v[3]", "<3I", [0, 0, 0]),
    (".u32 v[2][3] = {{1, 2, 3}, {4, 5, 6}}", "<6I", [1, 2, 3, 4, 5, 6]),
    (".u32 v[2][3] = {{1}, {4, 5}}", "<6I", [1, 0, 0, 4, 5, 0]),
    (".u32 v[][2] = {{1, 2}, {3, 4}, {5}}", "<6I", [1, 2, 3, 4, 5, 0]),
    (".u8 v[2][2][2] = {{{1, 2}, {3}}, {{5}, {7, 8}}}", "<8B", [1, 2, 3, 0, 5, 0, 7, 8]),
    (".u32 v[3] = {2+3*4, -1, ~0}", "<3I", [14, 0xFFFFFFFF, 0xFFFFFFFF]),
    (".u32 v[2] = {(1+2)*3, 1<<4|1}", "<2I", [9, 17]),
    (".v4 .f32 v = {1.0, 2.0, 3.0, 4.0}", "<4f", [1, 2, 3, 4]),
    (".v2 .u16 v[2] = {{1, 2}, {3, 4}}", "<4H", [1, 2, 3, 4]),
    (".v4 .u8 v[] = {{1, 2, 3, 4}, {5, 0, 0, 0}}", "<8B", [1, 2, 3, 4, 5, 0, 0, 0]), (".u8 v[] = {}", "<0B", []),
    (".align 16 .b8 v[5] = {104, 101, 108, 108, 111}", "<5B", list(b"hello")),
]  # fmt: skip


@pytest.mark.parametrize(("declared", "layout", "values"), INITIALISERS)
@pytest.mark.parametrize("space", ["global", "const"])
def test_initialisers(declared: str, layout: str, values: list[float], space: str) -> None:
    want = struct.pack(layout, *values)
    before, after = (
        f".{space} .align 8 .u64 {n} = 0x{d}{d}{d}{d}{d}{d}{d}{d};" for n, d in (("before", "AA"), ("after", "BB"))
    )
    assert content(f"{before} .{space} {declared}; {after}", size=max(1, len(want)), space=space)[: len(want)] == want


@pytest.mark.parametrize("declared", [
    ".u32 v[2] = {1, 2, 3}", ".u32 v[2][2] = {1, 2, 3, 4}", ".u32 v = nobody", ".u8 v[2] = {{1}, {2}}",
    ".u32 v[2] = {1, {2}}", ".u32 v = {5}",
    ".u32 v[2] = 5", ".u8 v = 1.5", ".u64 v = s", ".b8 v[6] = \"hello\"",
])  # fmt: skip
def test_initialisers_that_make_no_sense(declared: str) -> None:
    with pytest.raises(InputError, match=r"<ptx>:4: the initialiser of `v`"):
        run("", variables=f".shared .u32 s; .global {declared};")


@pytest.mark.parametrize("space", ["shared", "local"])
def test_only_global_memory_and_constants_have_initialisers(space: str) -> None:
    with pytest.raises(InputError, match=r"<ptx>:\d+: `v`"):
        run(f".{space} .u32 v = 5;")


def test_addresses_in_initialisers() -> None:
    """Of variables with offsets, and generic ones."""
    variables = """.global .u32 t[4] = {10, 11, 12, 13}; .const .u32 c[2] = {20, 21}; .global .u32 low = t+4;
        .global .u32 last = 30; .global .u64 p[6] = {t, t+8, generic(t)+4, generic(c)+4, last, t+4*4-8};
        .const .align 8 .b64 q[2] = {p+8, t+12};"""
    out = np.zeros(8, np.uint32)
    body = """ld.global.u64 %rd1, [p]; ld.global.u32 %r1, [%rd1]; ld.global.u64 %rd1, [p+8];
        ld.global.u32 %r2, [%rd1];
        ld.global.u64 %rd1, [p+16]; ld.u32 %r3, [%rd1]; ld.global.u64 %rd1, [p+24]; ld.u32 %r4, [%rd1];
        ld.global.u64 %rd1, [p+32]; ld.global.u32 %r5, [%rd1]; ld.const.u64 %rd1, [q]; ld.global.u64 %rd1, [%rd1];
        ld.global.u32 %r6, [%rd1]; ld.global.u64 %rd1, [p+40]; ld.global.u32 %r7, [%rd1]; ld.global.u32 %r8, [low];
        mov.u64 %rd1, t;
        cvt.u32.u64 %r9, %rd1; sub.u32 %r8, %r8, %r9; st.global.v4.u32 [%rd0], {%r1, %r2, %r3, %r4};
        st.global.v4.u32 [%rd0+16], {%r5, %r6, %r7, %r8};"""
    run(body, out, variables=variables)
    assert out.tolist() == [10, 12, 11, 21, 30, 12, 12, 4]


@pytest.mark.parametrize("address", ["t+4", "generic(t)+4", "generic(c)"])
def test_bytes_of_an_address(address: str) -> None:
    """As nvcc writes structures without padding: each byte is that of the address under a mask."""
    masks = ", ".join(f"0x{0xFF << 8 * i:X}({address})" for i in range(8))
    variables = f".global .u32 t[2] = {{9, 5}}; .const .u32 c = 5; .global .align 1 .u8 p[10] = {{7, {masks}, 8}};"
    body = "mov.u64 %rd2, 0;"
    for i in range(8):
        body += f"ld.global.u8 %rd3, [p+{i + 1}]; shl.b64 %rd3, %rd3, {8 * i}; or.b64 %rd2, %rd2, %rd3;"
    body += """ld.u32 %r1, [%rd2]; ld.global.u8 %r2, [p]; ld.global.u8 %r3, [p+9]; st.global.v4.u32 [%rd0], {%r1, %r2,
        %r3, 0};"""
    out = np.zeros(4, np.uint32)
    run(body, out, variables=variables)
    assert out.tolist() == [5, 7, 8, 0]


def test_tables_of_functions() -> None:
    """By their addresses in memory and in registers; an index that differs between lanes makes them diverge."""
    function = """.func (.param .b32 r) f{}(.param .b32 a)
        {{ .reg .b32 %t; ld.param.b32 %t, [a]; {} %t, %t, {}; st.param.b32 [r], %t; ret; }}"""
    operations = [("add.u32", 5), ("mul.lo.u32", 3), ("xor.b32", 7)]
    functions = "".join(function.format(i, *operation) for i, operation in enumerate(operations))
    source = f"""{HEAD}.func (.param .b32 r) f2(.param .b32 a);
        .global .u64 early[1] = {{f2}}; {functions} .global .u64 table[3] = {{f0, f1, f2}};
        .entry k(.param .u64 out) {{ {REGISTERS} ld.param.u64 %rd0, [out]; mov.u32 %r1, %tid.x; rem.u32 %r2, %r1, 5;
        mul.wide.u32 %rd1, %r2, 8; mov.u64 %rd2, table; add.u64 %rd1, %rd1, %rd2; setp.lt.u32 %p1, %r2, 3;
        mov.u64 %rd3, f1;
        @%p1 ld.global.u64 %rd3, [%rd1]; setp.eq.u32 %p2, %r2, 4; @%p2 ld.global.u64 %rd3, [early];
        {{ .param .b32 a; .param .b32 r; st.param.b32 [a], %r1; P: .callprototype (.param .b32 _) _ (.param .b32 _);
        call (r), %rd3, (a), P; ld.param.b32 %r3, [r]; }}
        mul.wide.u32 %rd4, %r1, 4; add.u64 %rd4, %rd4, %rd0; st.global.u32 [%rd4], %r3; ret; }}"""
    out = np.zeros(40, np.uint32)
    goptx.emulate(source, 1, 40, [out])
    functions_of = [lambda i: i + 5, lambda i: i * 3, lambda i: i ^ 7, lambda i: i * 3, lambda i: i ^ 7]
    assert out.tolist() == [functions_of[i % 5](i) for i in range(40)]


def test_every_variable_is_aligned_as_it_says() -> None:
    spaces = {"global": (16, 64), "const": (16, 64), "shared": (16, 1024), "local": (8, 16)}
    out = np.full(16, 99, np.uint64)
    outside = inside = body = ""
    at = 0
    for space, alignments in spaces.items():
        for alignment in alignments:
            names = f"{space}{alignment}"
            declared = (
                f".{space} .b8 {names}small; .{space} .align {alignment} .b8 {names}[3]; .{space} .f64 {names}wide;"
            )
            inside, outside = (inside + declared, outside) if space == "local" else (inside, outside + declared)
            body += f"""mov.u64 %rd1, {names}; and.b64 %rd1, %rd1, {alignment - 1}; mov.u64 %rd2,
                {names}wide; and.b64 %rd2, %rd2, 7;"""
            body += f"add.u64 %rd1, %rd1, %rd2; st.global.u64 [%rd0+{8 * at}], %rd1;"
            at += 1
    run(inside + body, out, variables=outside)
    assert out.tolist() == [0] * at + [99] * (16 - at)


def test_shared_variables_of_functions_are_one_for_the_cta() -> None:
    """Each function has its own, whoever calls it; two functions' do not overlap."""
    source = f"""{HEAD} .shared .align 4 .b32 v;
        .func (.param .b32 r) touch(.param .b32 first) {{ .shared .align 4 .b32 w; .reg .b32 %t, %u; .reg .pred %p;
            ld.param.b32 %t, [first]; setp.ne.u32 %p, %t, 0; @%p st.shared.u32 [w], 100; bar.sync 0;
            mov.u32 %u, %tid.x; red.shared.add.u32 [w], %u;
            bar.sync 0; ld.shared.u32 %u, [w]; st.param.b32 [r], %u; ret; }}
        .entry k(.param .u64 out) {{ {REGISTERS} ld.param.u64 %rd0, [out]; st.shared.u32 [v], 5; mov.u32 %r1, %tid.x;
            {{ .param .b32 a; .param .b32 r; st.param.b32 [a], 1; call.uni (r), touch, (a); ld.param.b32 %r2, [r];
            }} bar.sync 0;
            {{ .param .b32 a; .param .b32 r; st.param.b32 [a], 0; call.uni (r), touch, (a); ld.param.b32 %r3, [r]; }}
            ld.shared.u32 %r4, [v]; mul.wide.u32 %rd1, %r1, 16; add.u64 %rd1, %rd1, %rd0;
            st.global.v4.u32 [%rd1], {{%r1, %r2, %r3, %r4}}; ret; }}"""
    out = np.zeros((64, 4), np.uint32)
    goptx.emulate(source, 1, 64, [out])
    total = sum(range(64))
    assert out.tolist() == [[i, 100 + total, 100 + 2 * total, 5] for i in range(64)]


def test_variables_that_other_modules_define_are_named() -> None:
    found = fault("unsupported", "ld.global.u32 %r1, [far];", variables=".extern .global .u32 far;")
    assert "far" in str(found)
