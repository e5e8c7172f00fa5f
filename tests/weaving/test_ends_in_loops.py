"""Threads that end the kernel in a loop, converted after a later branch whose side ends it too; and threads that never
end, which do not end it."""

import numpy as np
import pytest
from bodies import kernel

import goptx
from goptx.options import Strategy

BODY = """
    mov.u32 %r1, %tid.x; ld.param.u64 %rd1, [k_in]; ld.param.u64 %rd2, [k_out];
    mul.wide.u32 %rd3, %r1, 8; add.s64 %rd2, %rd2, %rd3;
    and.b32 %r2, %r1, 3; add.u32 %r2, %r2, 1; and.b32 %r3, %r1, 1; setp.ne.u32 %p1, %r3, 0;
    @!%p1 bra MIDDLE;
    LOOP: and.b32 %r4, %r1, 4; setp.ne.u32 %p2, %r4, 0; @%p2 bra MIDDLE;
    mov.u32 %r5, 3;
    AGAIN: setp.eq.u32 %p3, %r5, 3; @!%p3 bra ON; st.global.u32 [%rd2], %r1; ret;
    ON: sub.u32 %r5, %r5, 1; setp.ne.u32 %p3, %r5, 0; @%p3 bra AGAIN;
    MIDDLE: sub.u32 %r2, %r2, 1; setp.ne.u32 %p4, %r2, 0; @%p4 bra LOOP;
    @!%p1 bra AWAY; add.u32 %r6, %r1, 7; bra LAST;
    AWAY: st.global.u32 [%rd2+4], %r1; ret;
    LAST: st.global.u32 [%rd2+4], %r6; ret;
"""
OTHER = kernel("mov.u32 %r1, %tid.x; bar.sync 0; ret;", "other")


@pytest.mark.parametrize("strategy", ["weave", "vertical", "horizontal"])
def test_they_do_not_run_the_side_that_ends_later(strategy: Strategy) -> None:
    text = kernel(BODY)
    alone, fused = np.zeros(128, np.uint32), np.zeros(128, np.uint32)
    goptx.emulate(text, 1, 64, [np.zeros(1, np.uint32), alone, np.uint32(0)])
    woven = goptx.fuse(text, OTHER, strategy=strategy, shapes=[goptx.Shape(1, 64), goptx.Shape(1, 64)])
    goptx.emulate(woven, args=[[np.zeros(1, np.uint32), out, np.uint32(0)] for out in (fused, alone.copy())])
    np.testing.assert_array_equal(fused, alone)


READ = """
    mov.u32 %r1, %tid.x; ld.param.u64 %rd1, [k_in]; ld.param.u64 %rd2, [k_out];
    mul.wide.u32 %rd3, %r1, 4; add.s64 %rd2, %rd2, %rd3; and.b32 %r2, %r1, 7; setp.gt.u32 %p1, %r1, 4000;
"""
ENDLESS = {
    "at the end": "@%p1 bra STAY; st.global.u32 [%rd2], %r2; ret; STAY: trap; bra STAY;",
    "on a side": "setp.eq.u32 %p2, %r2, 5; @%p2 bra JOIN; @%p1 bra STAY; add.u32 %r2, %r2, 9; bra JOIN; STAY: bra STAY;"
        "JOIN: st.global.u32 [%rd2], %r2; ret;",
    "in a loop": "LOOP: @%p1 bra STAY; sub.u32 %r2, %r2, 1; setp.gt.s32 %p2, %r2, 0; @%p2 bra LOOP; bra DONE;"
        "STAY: nanosleep.u32 9; bra STAY; DONE: setp.eq.u32 %p3, %r1, 7; @%p3 bra END;"
        "st.global.u32 [%rd2], %r1; END: ret;",
    "in a loop on a side": "setp.eq.u32 %p3, %r2, 5; @%p3 bra JOIN; LOOP: @%p1 bra STAY; sub.u32 %r2, %r2, 1;"
        "setp.gt.s32 %p2, %r2, 0; @%p2 bra LOOP; bra JOIN; STAY: bra STAY; JOIN: st.global.u32 [%rd2], %r2; ret;",
}  # fmt: skip


@pytest.mark.parametrize("strategy", ["weave", "vertical", "horizontal"])
@pytest.mark.parametrize("name", ENDLESS)
def test_a_side_that_never_ends(name: str, strategy: Strategy) -> None:
    """As of an `assert` of one's own: no thread comes there. Weaving once did not end, either."""
    text = kernel(READ + ENDLESS[name])
    alone, fused = np.zeros(64, np.uint32), np.zeros(64, np.uint32)
    goptx.emulate(text, 1, 64, [np.zeros(1, np.uint32), alone, np.uint32(0)])
    woven = goptx.fuse(text, OTHER, strategy=strategy, shapes=[goptx.Shape(1, 64), goptx.Shape(1, 64)])
    goptx.emulate(woven, args=[[np.zeros(1, np.uint32), out, np.uint32(0)] for out in (fused, alone.copy())])
    np.testing.assert_array_equal(fused, alone)
