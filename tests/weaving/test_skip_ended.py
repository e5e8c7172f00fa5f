"""Loops of threads that have ended: warps and CTAs without a running thread skip them, whatever their counts.

Each kernel ends its threads from `n` on and counts `n` down to 0, where the guard says that n is positive.
"""

import re
from functools import cache

import numpy as np
import pytest

import goptx
from goptx import Shape
from goptx.emulator.instructions.lanewise import Array
from goptx.options import Strategy
from goptx.results.fused_kernel import Woven

BLOCK, GRID, SIZES = 64, 2, (0, 1, 31, 32, 70, 128)
STEPS = 40_000  # of a launch: a loop that counts from 0 down to 0 takes 2^32 trips

KERNEL = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry {name}(.param .u64 {name}_out, .param .u32 {name}_n)
{{
    .reg .pred %p<9>; .reg .b32 %r<20>; .reg .b64 %rd<5>;
    .shared .align 4 .b8 {name}_tile[256];
    ld.param.u64 %rd1, [{name}_out]; ld.param.u32 %r1, [{name}_n];
    mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x; mad.lo.u32 %r4, %r3, 64, %r2;
    shl.b32 %r5, %r2, 2; mov.u32 %r6, {name}_tile; add.u32 %r5, %r5, %r6; st.shared.u32 [%r5], %r4;
    mul.wide.u32 %rd2, %r4, 4; add.u64 %rd1, %rd1, %rd2;
    mov.u32 %r7, %r1; mov.u32 %r8, 0; mov.u32 %r9, 0; {before}
    setp.ge.u32 %p1, %r4, %r1; @%p1 ret;
    {body}
    st.global.u32 [%rd1], %r8;
    ret;
}}
"""
COUNT_DOWN = "LOOP: add.u32 %r8, %r8, %r4; sub.u32 %r7, %r7, 1; setp.ne.u32 %p2, %r7, 0; @%p2 bra LOOP;"
EXCHANGE = "xor.b32 %r10, %r5, 4; bar.sync 0; ld.shared.u32 %r11, [%r10]; add.u32 %r8, %r8, %r11; bar.sync 0;"
BODIES = {
    "loop": COUNT_DOWN,
    "loop, then a barrier": f"{COUNT_DOWN} {EXCHANGE}",
    "loop with a barrier": f"""
        LOOP: st.shared.u32 [%r5], %r7; {EXCHANGE}
        sub.u32 %r7, %r7, 1; setp.ne.u32 %p2, %r7, 0; @%p2 bra LOOP;""",
    "loop of the warp, then a barrier": f"and.b32 %r12, %r4, -32; sub.u32 %r7, %r7, %r12; {COUNT_DOWN} {EXCHANGE}",
    "loop that counts the trips of a loop with a barrier": f"""
        FIRST: add.u32 %r9, %r9, 1; sub.u32 %r7, %r7, 1; setp.ne.u32 %p2, %r7, 0; @%p2 bra FIRST;
        LOOP: st.shared.u32 [%r5], %r9; {EXCHANGE}
        sub.u32 %r9, %r9, 1; setp.ne.u32 %p3, %r9, 0; @%p3 bra LOOP;""",
    "loop in a loop that lanes leave one by one": """
        OUTER: mov.u32 %r7, %r1;
        LOOP: add.u32 %r8, %r8, %r7; sub.u32 %r7, %r7, 1; setp.ne.u32 %p2, %r7, 0; @%p2 bra LOOP;
        add.u32 %r4, %r4, 50; setp.lt.u32 %p3, %r4, %r1; @%p3 bra OUTER;""",
    "two ends": f"and.b32 %r13, %r4, 1; setp.ne.u32 %p4, %r13, 0; @%p4 ret; {COUNT_DOWN}",
    "loop after a join": f"""
        and.b32 %r13, %r4, 1; setp.ne.u32 %p4, %r13, 0; @%p4 bra ON; add.u32 %r8, %r8, 9; ON: {COUNT_DOWN}""",
    "loop with a vote": """
        vote.sync.ballot.b32 %r14, 1, -1;
        LOOP: vote.sync.ballot.b32 %r15, %p1, -1; add.u32 %r8, %r8, %r15; add.u32 %r8, %r8, %r14;
        sub.u32 %r7, %r7, 1; setp.ne.u32 %p2, %r7, 0; @%p2 bra LOOP;""",
}


def text(body: str, name: str = "k") -> str:
    return KERNEL.format(name=name, body=BODIES[body], before="bar.sync 0;")


@cache
def alone(body: str, n: int, grid: int = GRID) -> Array:
    out = np.full(GRID * BLOCK * 2, 7, np.uint32)
    goptx.emulate(text(body), grid, BLOCK, [out, n], max_steps=STEPS)
    return out


def compare(fused: Woven, bodies: list[str], grid: int = GRID, shaped: bool = False) -> None:
    """What the kernels store, for sizes at which no thread, some of a warp, some warps and all CTAs end at once."""
    for n in SIZES:
        outs = [np.full(GRID * BLOCK * 2, 7, np.uint32) for _ in bodies]
        args = [[out, n] for out in outs]
        if shaped:
            goptx.emulate(fused, args=args, shapes=[Shape(grid, BLOCK)] * len(bodies), max_steps=STEPS * 4, races=True)
        else:
            goptx.emulate(fused, grid, BLOCK, args, max_steps=STEPS * 4, races=True)
        for body, out in zip(bodies, outs, strict=True):
            assert np.array_equal(out, alone(body, n, grid)), (body, n)


@pytest.mark.slow
@pytest.mark.parametrize("body", BODIES)
def test_threads_that_ended_run_no_loop(body: str) -> None:
    compare(goptx.weave(text(body), text("loop")), [body, "loop"])


@pytest.mark.slow
@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("strategy", ["vertical", "horizontal", "interleave"])
def test_in_other_strategies(body: str, strategy: Strategy) -> None:
    partner = "loop with a barrier"
    shapes = [Shape(GRID, BLOCK)] * 2
    fused = goptx.fuse(text(body), text(partner), strategy=strategy, shapes=shapes)
    compare(fused, [body, partner], shaped=True)


@pytest.mark.slow
@pytest.mark.parametrize("body", BODIES)
def test_in_copies_of_a_kernel(body: str) -> None:
    compare(goptx.coarsen(text(body), 2), [body], 3, shaped=True)


def test_a_warp_asks_once_where_no_barrier_follows() -> None:
    woven = goptx.weave(text("loop"), text("loop"))
    asked = re.findall(r"vote\.sync\.any\.pred %([ab])_any\d+, %([ab])_run", woven.ptx)
    assert set(asked) == {("a", "a"), ("b", "b")} and "red.or" not in woven.ptx


def test_a_cta_asks_where_a_barrier_follows() -> None:
    """Once before the loop with the barriers, so that no trip costs more."""
    woven = goptx.weave(text("loop with a barrier"), text("loop"))
    assert "red.or.pred" in woven.ptx


def test_a_loop_that_decides_about_a_barrier_is_run_by_all_warps() -> None:
    woven = goptx.weave(text("loop that counts the trips of a loop with a barrier"), text("loop"))
    assert woven.ptx.count("vote.sync.any") == goptx.weave(text("loop with a barrier"), text("loop")).ptx.count(
        "vote.sync.any"
    )


def test_nothing_is_asked_where_no_loop_follows() -> None:
    straight = KERNEL.format(name="k", body="", before="")
    assert "vote.sync" not in goptx.weave(straight, straight).ptx
