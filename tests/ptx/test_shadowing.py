"""Names that hide others: each use means the same as for ptxas, before and after a body is flattened."""

from dataclasses import replace

import pytest

from goptx.device.assemble import assemble, find_ptxas
from goptx.ptx.flatten import flatten, prefixed
from goptx.ptx.ir import Function, Module
from goptx.ptx.parse import parse
from goptx.ptx.verify import verify

HEAD = """.version 8.0
.target sm_90
.address_size 64
.global .u32 table[4] = {1, 2, 3, 4};
.global .u32 counter;
.visible .func (.param .b32 result) twice(.param .b32 value)
{
    .reg .b32 r<3>;
    ld.param.b32 r1, [value];
    shl.b32 r2, r1, 1;
    st.param.b32 [result], r2;
    ret;
}
"""

CASES = {
    "register of an outer scope": """
        .reg .b32 x;
        mov.u32 x, %tid.x;
        { .reg .b32 x; mov.u32 x, %ctaid.x; st.global.u32 [out], x; }
        st.global.u32 [out+4], x;""",
    "of another type": """
        .reg .b32 x;
        mov.u32 x, %tid.x;
        {
            .reg .b64 x;
            mov.u64 x, %clock64;
            st.global.u64 [out], x;
            { .reg .f32 x; mov.f32 x, 1.5; st.global.f32 [out], x; }
        }
        st.global.u32 [out+4], x;""",
    "of a sibling": """
        { .reg .b32 x; mov.u32 x, %tid.x; st.global.u32 [out], x; }
        { .reg .b32 x; mov.u32 x, %tid.y; st.global.u32 [out+4], x; }""",
    "a label and a register": """
        .reg .b32 x;
        mov.u32 x, 0;
    L:  { .reg .b32 L; mov.u32 L, %clock; st.global.u32 [out], L; }
        add.u32 x, x, 1;
        setp.lt.u32 p, x, 10;
        @p bra L;""",
    "a register and a label": """
        .reg .b32 L;
        mov.u32 L, 0;
        { L: ld.global.u32 y, [out]; setp.ne.u32 p, y, 0; @p bra L; }
        st.global.u32 [out], L;""",
    "labels of one name": """
        { mov.u32 y, 0; L: add.u32 y, y, 1; st.global.u32 [out], y; setp.lt.u32 p, y, n; @p bra L; }
        { mov.u32 y, 0; L: add.u32 y, y, 3; st.global.u32 [out+4], y; setp.lt.u32 p, y, n; @p bra L; }""",
    "a label after its branch, from within": """
        setp.lt.u32 p, n, 5;
        { @p bra out_of_it; st.global.u32 [out], n; }
        out_of_it: st.global.u32 [out+4], n;""",
    "a variable of the module": """
        .shared .align 4 .u32 table[64];
        st.shared.u32 [table+4], n;
        ld.shared.u32 y, [table+8];
        { .reg .b64 counter; mov.u64 counter, %clock64; st.global.u64 [out], counter; }
        red.global.add.u32 [counter], y;""",
    "a parameter": """
        { .reg .b32 hidden; mov.u32 hidden, 7; st.global.u32 [out], hidden; }
        ld.param.u32 y, [hidden];
        st.global.u32 [out+4], y;""",
    "the kernel itself and an opcode": """
        .reg .b32 shadows, add;
        mov.u32 shadows, %tid.x;
        add.u32 add, shadows, shadows;
        st.global.u32 [out], add;""",
    "a range beside a single one": """
        .reg .b32 %r<5>, %r10;
        mov.u32 %r10, %tid.x;
        mov.u32 %r4, %tid.y;
        st.global.u32 [out], %r10;
        st.global.u32 [out+4], %r4;""",
    "a range within a range": """
        .reg .b32 %r<20>;
        mov.u32 %r10, %tid.x;
        mov.u32 %r1, %tid.z;
        { .reg .b32 %r<5>; mov.u32 %r1, %tid.y; st.global.u32 [out], %r1; st.global.u32 [out+4], %r10; }
        st.global.u32 [out+8], %r1;""",
    "a single one within a range": """
        .reg .b32 %r<15>;
        mov.u32 %r12, %tid.x;
        { .reg .b64 %r12; mov.u64 %r12, %clock64; st.global.u64 [out], %r12; }
        st.global.u32 [out+8], %r12;""",
    "a range over a single one": """
        .reg .b64 %r12;
        mov.u64 %r12, %clock64;
        { .reg .b32 %r<15>; mov.u32 %r12, %tid.x; st.global.u32 [out], %r12; }
        st.global.u64 [out+8], %r12;""",
    "a vector and its components": """
        .reg .v2 .b32 v;
        mov.u32 v.x, %tid.x;
        mov.u32 v.y, %tid.y;
        { .reg .v2 .b32 v; mov.u32 v.x, %tid.z; mov.u32 v.y, n; st.global.v2.u32 [out], v; }
        st.global.v2.u32 [out+8], v;""",
    "what a call is given": """
        .reg .b32 value, answer;
        mov.u32 value, %tid.x;
        {
            .param .b32 value;
            .param .b32 answer;
            st.param.b32 [value], n;
            call (answer), twice, (value);
            ld.param.b32 y, [answer];
        }
        add.u32 answer, value, y;
        st.global.u32 [out], answer;""",
    "a name that the flat body makes": """
        .reg .b32 x;
        mov.u32 x, %tid.x;
        { .reg .b32 a_x; mov.u32 a_x, %tid.y; st.global.u32 [out], a_x; st.global.u32 [out+4], x; }
        { .reg .b32 x_s1; mov.u32 x_s1, %tid.z; { .reg .b32 x; mov.u32 x, x_s1; st.global.u32 [out+8], x; } }""",
    "a name that the flat body makes, in a call": """
        .reg .b32 x, %r<4>;
        mov.u32 x, %tid.x;
        mov.u32 %r3, %tid.z;
        {
            .reg .b32 a_x, %a_r3;
            .param .b32 q;
            .param .b32 s;
            mov.u32 a_x, %tid.y;
            mov.u32 %a_r3, 5;
            st.param.b32 [q], a_x;
            call (s), twice, (q);
            ld.param.b32 y, [s];
            add.u32 y, y, x;
            add.u32 y, y, %a_r3;
            add.u32 y, y, %r3;
        }
        st.global.u32 [out], y;""",
}


def module(body: str) -> Module:
    return parse(
        f"{HEAD}.visible .entry shadows(.param .u64 to, .param .u32 number, .param .u32 hidden)\n{{\n"
        f".reg .pred p;\n.reg .b32 y, n;\n.reg .b64 out;\nld.param.u64 out, [to];\nld.param.u32 n, [number];\n"
        f"{body}\nret;\n}}\n"
    )


def flattened(whole: Module) -> Module:
    """The module with its entry flat, and all its names renamed as the linker does."""
    (entry,) = whole.entries
    flat = flatten(entry.body or (), lambda name: prefixed(name, "a"))
    new: Function = replace(entry, body=(*flat.registers, *flat.variables, *flat.code))
    return replace(whole, items=tuple(new if item is entry else item for item in whole.items))


@pytest.mark.parametrize("case", CASES)
def test_flat_body_is_well_formed(case: str) -> None:
    flat = flattened(module(CASES[case]))
    assert verify(flat) is flat
    assert parse(str(flat)) == flat


@pytest.mark.skipif(find_ptxas() is None, reason="no ptxas on the PATH or in nvidia-cuda-nvcc")
@pytest.mark.parametrize("case", CASES)
def test_flat_body_is_the_same_machine_code(case: str) -> None:
    whole = module(CASES[case])
    nested, flat = [assemble(str(m), entry="shadows").cubin for m in (whole, flattened(whole))]
    assert nested == flat
