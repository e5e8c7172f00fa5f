"""Generic addresses: warps whose lanes point into different spaces, and the way there and back."""

from __future__ import annotations

import numpy as np
from emulator.snippets import fault, run

TID = "mov.u32 %r30, %tid.x; mul.wide.u32 %rd30, %r30, 4;\n"
SPLIT = f"""
    .local .align 4 .b8 l[4]; {TID}
    mov.u64 %rd1, s; cvta.shared.u64 %rd1, %rd1; mov.u64 %rd2, l; cvta.local.u64 %rd2, %rd2; mov.u64 %rd3, g;
    cvta.global.u64 %rd3, %rd3; mov.u64 %rd4, c; cvta.const.u64 %rd4, %rd4; mov.u64 %rd5, a1;
    cvta.param.u64 %rd5, %rd5;
    st.local.u32 [l], 200; st.shared.u32 [s], 100; st.global.u32 [g], 300; bar.sync 0;
    rem.u32 %r1, %r30, 6;
    setp.eq.u32 %p1, %r1, 1; selp.b64 %rd6, %rd2, %rd1, %p1; setp.eq.u32 %p2, %r1, 2; selp.b64 %rd6, %rd3, %rd6, %p2;
    setp.eq.u32 %p3, %r1, 3; selp.b64 %rd6, %rd4, %rd6, %p3; setp.eq.u32 %p4, %r1, 4; selp.b64 %rd6, %rd5, %rd6, %p4;
    setp.eq.u32 %p5, %r1, 5; selp.b64 %rd6, %rd0, %rd6, %p5; add.u64 %rd7, %rd0, %rd30;
"""  # thread i's %rd6: the shared, local, global, constant word, the parameter, the buffer's first word, by i modulo 6
TABLE = ".shared .u32 s; .global .u32 g; .const .u32 c = 400;"
OWN = {1: ".param .u32 {}"}


def test_lanes_of_a_warp_load_from_all_spaces_at_once() -> None:
    out = np.zeros(65, np.uint32)
    out[0] = 600
    run(SPLIT + "ld.u32 %r2, [%rd6]; bar.sync 0; st.global.u32 [%rd7+4], %r2;", out, np.uint32(500),
    parameters=OWN, block=64,
        variables=TABLE)  # fmt: skip
    assert out.tolist()[1:] == [(100, 200, 300, 400, 500, 600)[i % 6] for i in range(64)]


def test_lanes_of_a_warp_change_three_spaces_at_once() -> None:
    """Atomics and stores; sums are per space, local ones per thread."""
    keep = "@%p3 bra END; @%p4 bra END;"
    end = "END: bar.sync 0; ld.shared.u32 %r3, [s]; ld.local.u32 %r4, [l]; ld.global.u32 %r5, [g];"
    out = np.zeros((96, 4), np.uint32)
    store = "mul.wide.u32 %rd8, %r30, 16; add.u64 %rd8, %rd8, %rd0; st.global.v4.u32 [%rd8], {%r3, %r4, %r5, %r30};"
    run(SPLIT + f"{keep} @%p5 bra END; @%p1 st.u32 [%rd6], %r30; @!%p1 atom.add.u32 %r2, [%rd6], %r30; {end} {store}",
    out,
        np.uint32(0), parameters=OWN, block=96, variables=TABLE)  # fmt: skip
    shared, global_ = (start + sum(range(first, 96, 6)) for start, first in ((100, 0), (300, 2)))
    assert out.tolist() == [[shared, i if i % 6 == 1 else 200, global_, i] for i in range(96)]


def test_names_of_variables_without_a_space() -> None:
    """An access that names a variable and no space is one to the variable, in whatever space it lives."""
    body = f"""
        .local .align 8 .b8 l[16]; {TID}
        st.u32 [l+8], %r30; st.v2.u32 [l], {{7, 8}}; st.u32 [s+4], 5; st.u32 [s], 6; bar.sync 0;
        atom.add.u32 %r1, [s+4], 1; bar.sync 0; ld.u32 %r1, [s+4]; ld.u32 %r2, [l+8]; ld.v2.u32 {{%r3, %r4}}, [l];
        ld.u32 %r5, [c]; ld.u32 %r6, [g]; ld.local.u32 %r7, [l+8]; ld.shared.u32 %r8, [s];
        mov.u64 %rd1, l; cvta.local.u64 %rd1, %rd1; ld.u32 %r9, [%rd1+8];
        mul.wide.u32 %rd2, %r30, 32; add.u64 %rd2, %rd2, %rd0; st.global.v4.u32 [%rd2], {{%r1, %r2, %r3, %r4}};
        sub.u32 %r9, %r9, %r30; add.u32 %r7, %r7, %r9; st.global.v4.u32 [%rd2+16], {{%r5, %r6, %r7, %r8}};
    """
    out = np.zeros((64, 8), np.uint32)
    run(body, out, block=64, variables=".shared .u32 s[2]; .global .u32 g = 300; .const .u32 c = 400;")
    assert out.tolist() == [[69, i, 7, 8, 400, 300, i, 6] for i in range(64)]


def test_isspacep_recognises_a_generic_address_and_it_converts_back() -> None:
    tests = "".join(f"isspacep.{space} %p7, %rd6; selp.u32 %r3, {1 << i}, 0, %p7; or.b32 %r2, %r2, %r3;"
                    for i, space in enumerate(("shared", "local", "global", "const", "param")))  # fmt: skip
    back = """@!%p1 cvta.to.shared.u64 %rd8, %rd6; mov.u64 %rd9, s; setp.eq.u64 %p7, %rd8, %rd9;
        @%p7 or.b32 %r2, %r2, 64;
        cvta.to.local.u64 %rd8, %rd6; mov.u64 %rd9, l; setp.eq.u64 %p7, %rd8, %rd9; @%p7 or.b32 %r2, %r2, 128;"""
    out = np.zeros(64, np.uint32)
    run(SPLIT + "mov.u64 %rd8, 0; mov.u32 %r2, 0;" + tests + back + "st.global.u32 [%rd7], %r2;", out, np.uint32(0),
    parameters=OWN,
        block=64, variables=TABLE)  # fmt: skip
    assert out.tolist() == [(1 | 64, 2 | 128, 4, 8, 4 | 16, 4)[i % 6] for i in range(64)]


def test_lanes_that_load_nothing_beside_lanes_that_load_from_other_spaces() -> None:
    body = SPLIT.replace("st.local.u32 [l], 200;", "") + "ld.u32 %r2, [%rd6];"
    run(body, np.zeros(64, np.uint32), np.uint32(0), parameters=OWN, block=64, variables=TABLE)
    body += "st.global.u32 [%rd7], %r2;"
    out = np.zeros(64, np.uint32)
    found = fault("uninitialised", body, out, np.uint32(0), parameters=OWN, block=64, variables=TABLE)
    assert found.threads == tuple(range(1, 64, 6))
