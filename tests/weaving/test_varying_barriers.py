"""Barriers of the whole CTA in copies: a branch that is known to depend on the warp or the thread leads to different
ones, and every path through it has equally many. What each fused kernel stores is compared with separate launches."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import goptx
from goptx import Shape
from goptx.errors import CannotWeave
from goptx.options import Strategy

THREADS = 128
KERNEL = """.version 8.0\n.target sm_80\n.address_size 64
.visible .entry {name}(.param .u64 {name}_in, .param .u64 {name}_out, .param .u32 {name}_n)
{{
    .reg .pred %p<9>; .reg .b32 %r<40>; .reg .b64 %rd<12>; .shared .align 16 .b8 {name}_tile[1024];
    ld.param.u64 %rd1, [{name}_in]; ld.param.u64 %rd2, [{name}_out]; ld.param.u32 %r5, [{name}_n];
    mov.u32 %r2, %tid.x; mov.u32 %r6, %ctaid.x; mov.u32 %r7, %ntid.x; mad.lo.u32 %r1, %r6, %r7, %r2;
    mul.wide.u32 %rd3, %r1, 4; add.s64 %rd1, %rd1, %rd3; ld.global.u32 %r3, [%rd1];
    add.s64 %rd2, %rd2, %rd3; mov.u32 %r4, %r3; shl.b32 %r13, %r2, 2; mov.u32 %r16, {name}_tile;
    add.u32 %r14, %r16, %r13; xor.b32 %r17, %r13, {far}; add.u32 %r17, %r16, %r17;
    shr.u32 %r19, %r2, 5; shfl.sync.idx.b32 %r20, %r19, 0, 31, -1;
    {body}
    st.global.u32 [%rd2], %r4; ret;
}}
"""
RETURN = "setp.ge.u32 %p8, %r1, %r5; @%p8 ret;"
BY_WARP = "and.b32 %r21, %r20, 1; setp.ne.u32 %p1, %r21, 0;"
BY_THREAD = "and.b32 %r21, %r19, 1; setp.ne.u32 %p1, %r21, 0;"
OWN, FAR = "st.shared.u32 [%r14], %r3;", "ld.shared.u32 %r9, [%r17];"
TWICE = f"""{OWN} @%p1 bra ODD;
    bar.sync 0; {FAR} add.u32 %r4, %r4, %r9; bar.sync 0; bra JOIN;
    ODD: bar.sync 0; {FAR} sub.u32 %r4, %r9, %r4; bar.sync 0;
    JOIN: st.shared.u32 [%r14], %r4; bar.sync 0; {FAR} add.u32 %r4, %r4, %r9;"""
BODIES = {
    "by a shuffle": BY_WARP + TWICE,
    "by the thread": BY_THREAD + TWICE,
    "threads ended before": RETURN + BY_WARP + TWICE,
    "each side ends the kernel": f"""{BY_WARP} {OWN} @%p1 bra ODD;
        bar.sync 0; {FAR} add.u32 %r4, %r4, %r9; bar.sync 0; st.global.u32 [%rd2], %r4; ret;
        ODD: bar.sync 0; {FAR} sub.u32 %r4, %r9, %r4; bar.sync 0;""",
    "nested": f"""{BY_WARP} {OWN} setp.gt.u32 %p2, %r20, 1; @%p1 bra ODD;
        @%p2 bra HIGH; bar.sync 0; bra JOIN; HIGH: add.u32 %r4, %r4, 5; bar.sync 0; bra JOIN;
        ODD: bar.sync 0; JOIN: {FAR} add.u32 %r4, %r4, %r9;""",
    "in a loop": f"""mov.u32 %r30, 0; {BY_WARP}
        AGAIN: {TWICE} bar.sync 0; add.u32 %r30, %r30, 1; setp.lt.u32 %p4, %r30, 3; @%p4 bra AGAIN;""",
    "a loop without barriers on a side": f"""{BY_WARP} {OWN} mov.u32 %r30, 0; @%p1 bra ODD;
        MORE: add.u32 %r4, %r4, %r30; add.u32 %r30, %r30, 1; setp.lt.u32 %p4, %r30, 3; @%p4 bra MORE;
        bar.sync 0; bra JOIN; ODD: bar.sync 0; JOIN: {FAR} add.u32 %r4, %r4, %r9;""",
    "two barriers of different numbers": f"""{BY_WARP} {OWN} @%p1 bra ODD;
        bar.sync 0; {FAR} bar.sync 1; bra JOIN; ODD: bar.sync 0; {FAR} add.u32 %r9, %r9, 7; bar.sync 1;
        JOIN: add.u32 %r4, %r4, %r9;""",
    "reductions": f"""{BY_WARP} setp.gt.u32 %p2, %r3, 900; @%p1 bra ODD;
        bar.red.popc.u32 %r9, 0, %p2; add.u32 %r4, %r4, %r9; bra JOIN;
        ODD: bar.red.popc.u32 %r9, 0, %p2; sub.u32 %r4, %r4, %r9; JOIN: add.u32 %r4, %r4, 1;""",
    "shuffles on the sides": f"""{BY_WARP} {OWN} @%p1 bra ODD;
        bar.sync 0; shfl.sync.bfly.b32 %r4, %r4, 1, 31, -1; bra JOIN;
        ODD: shfl.sync.bfly.b32 %r4, %r4, 2, 31, -1; bar.sync 0; JOIN: {FAR} add.u32 %r4, %r4, %r9;""",
    "unaligned, by the lane": f"""{OWN} and.b32 %r21, %r2, 1; setp.ne.u32 %p1, %r21, 0; @%p1 bra ODD;
        barrier.sync 0; bra JOIN; ODD: barrier.sync 0; JOIN: {FAR} add.u32 %r4, %r4, %r9;""",
}
OTHERS = {
    "a tiled loop": """mov.u32 %r9, 0;
        LOOP: st.shared.u32 [%r14], %r4; bar.sync 0; ld.shared.u32 %r10, [%r17]; bar.sync 0; add.u32 %r4, %r10, %r9;
        add.u32 %r9, %r9, 1; setp.lt.u32 %p3, %r9, 3; @%p3 bra LOOP;""",
    "warp instructions": """setp.gt.u32 %p1, %r3, 500; vote.sync.any.pred %p2, %p1, -1; selp.u32 %r9, 1, 2, %p2;
        shfl.sync.bfly.b32 %r4, %r4, 1, 31, -1; bar.sync 0; mad.lo.u32 %r4, %r4, %r9, 7;
        vote.sync.ballot.b32 %r9, %p1, -1; xor.b32 %r4, %r4, %r9;""",
}
UNEQUAL = {
    "one side more": f"""{OWN} @%p1 bra ODD; bar.sync 0; {FAR} bar.sync 0; bra JOIN;
        ODD: bar.sync 0; {FAR} JOIN: add.u32 %r4, %r4, %r9;""",
    "another number": f"{OWN} @%p1 bra ODD; bar.sync 0; bra JOIN; ODD: bar.sync 1; JOIN: {FAR}",
    "another order": "@%p1 bra ODD; bar.sync 0; bar.sync 1; bra JOIN; ODD: bar.sync 1; bar.sync 0; JOIN:",
    "a loop on a side": f"""{OWN} mov.u32 %r9, 0; @%p1 bra JOIN;
        LOOP: bar.sync 0; add.u32 %r9, %r9, 1; setp.lt.u32 %p3, %r9, 3; @%p3 bra LOOP; JOIN: add.u32 %r4, %r4, 1;""",
    "a loop on each side": f"""{OWN} mov.u32 %r9, 0; @%p1 bra ODD;
        LOOP: bar.sync 0; add.u32 %r9, %r9, 1; setp.lt.u32 %p3, %r9, 3; @%p3 bra LOOP; bra JOIN;
        ODD: bar.sync 0; add.u32 %r9, %r9, 1; setp.lt.u32 %p3, %r9, 4; @%p3 bra ODD; JOIN: add.u32 %r4, %r4, 1;""",
    "the loop itself": """LOOP: bar.sync 0; add.u32 %r20, %r20, 1; setp.lt.u32 %p3, %r20, 4; @%p3 bra LOOP;""",
    "under a guard": f"{OWN} @%p1 bra ODD; @%p2 bar.sync 0; bra JOIN; ODD: @%p2 bar.sync 0; JOIN:",
}


def kernel(name: str, body: str) -> str:
    far = 0 if RETURN in body else 256  # a word of another warp, unless that may have ended
    return KERNEL.format(name=name, body=body, far=far)


def launched(kernels: Sequence[str], shapes: Sequence[Shape], fused: goptx.Woven | None, order: int) -> list[Any]:
    """What each of the kernels stores: fused, or launched alone."""
    outputs, arguments = [], []
    for shape in shapes:
        threads = (shape.grid[0] or 0) * (shape.threads or 0)
        outputs.append(np.zeros(threads, np.uint32))
        data = (np.arange(threads, dtype=np.uint32) * 7 + 3) % 1000
        arguments.append([data, outputs[-1], np.uint32(threads * 3 // 4 + 5)])
    if fused is not None:
        goptx.emulate(fused, args=arguments, races=True, seed=order)
        return outputs
    for text, shape, own in zip(kernels, shapes, arguments, strict=True):
        goptx.emulate(text, shape.sizes("grid"), shape.sizes("block"), own, races=True, seed=order)
    return outputs


def check(kernels: Sequence[str], shapes: Sequence[Shape], **options: Any) -> goptx.Woven:
    """Fuses the kernels, and compares in several orders of the warps."""
    fused = goptx.fuse(*kernels, shapes=shapes, **options)
    expected = launched(kernels, shapes, None, 0)
    for order in range(4):
        for ours, theirs in zip(launched(kernels, shapes, fused, order), expected, strict=True):
            np.testing.assert_array_equal(ours, theirs)
    return fused


ALIKE = (Shape(2, THREADS), Shape(2, THREADS))


@pytest.mark.slow
@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("strategy", ["weave", "vertical", "horizontal", "interleave"])
@pytest.mark.parametrize("body", BODIES)
def test_copies_of_barriers_are_right(body: str, strategy: Strategy, other: str) -> None:
    check([kernel("a", BODIES[body]), kernel("b", OTHERS[other])], ALIKE, strategy=strategy)


@pytest.mark.slow
@pytest.mark.parametrize("blocks", [(128, 64), (64, 192), (100, 128)])
@pytest.mark.parametrize("body", ["by a shuffle", "by the thread", "nested", "each side ends the kernel"])
def test_in_other_blocks(body: str, blocks: tuple[int, int]) -> None:
    text = kernel("a", BODIES[body]).replace("xor.b32 %r17, %r13, 256", "xor.b32 %r17, %r13, 0")
    check([text, kernel("b", OTHERS["warp instructions"])], [Shape(2, b) for b in blocks])


@pytest.mark.slow
@pytest.mark.parametrize("body", [b for b in BODIES if b != "unaligned, by the lane"])
def test_with_itself_and_coarsened(body: str) -> None:
    text = kernel("a", BODIES[body])
    check([text, text.replace("a_", "b_").replace("entry a", "entry b")], ALIKE)
    coarse = goptx.coarsen(text, factor=2, shape=Shape(4, THREADS))
    expected = launched([text], [Shape(4, THREADS)], None, 0)
    for order in range(3):
        np.testing.assert_array_equal(launched([text], [Shape(4, THREADS)], coarse, order), expected)


@pytest.mark.parametrize("body", ["by a shuffle", "by the thread"])
def test_copies_alone_are_unaligned(body: str) -> None:
    fused = goptx.weave(kernel("a", BODIES[body]), kernel("b", OTHERS["warp instructions"]), slicing=None)
    assert [line.strip() for line in fused.ptx.splitlines() if re.match(r" *bar\w*\.sync", line)] == [
        *["barrier.sync 0;"] * 4,
        "bar.sync 0;",  # after the join, and for both kernels
    ]


@pytest.mark.parametrize("strategy", ["weave", "vertical", "horizontal"])
@pytest.mark.parametrize("body", UNEQUAL)
def test_other_counts_are_refused(body: str, strategy: Strategy) -> None:
    kernels = [kernel("a", BY_WARP + UNEQUAL[body]), kernel("b", OTHERS["a tiled loop"])]
    warps = "and it depends on the warp, but not all paths from there to where the warps reconverge meet the same"
    with pytest.raises(CannotWeave, match=warps):
        goptx.fuse(*kernels, strategy=strategy, shapes=ALIKE)
    assert goptx.fuse(*kernels, strategy="interleave", shapes=ALIKE)


@pytest.mark.parametrize("body", ["one side more", "another order", "a loop on a side"])
def test_other_counts_by_the_thread_are_refused(body: str) -> None:
    kernels = [kernel("a", BY_THREAD + UNEQUAL[body]), kernel("b", OTHERS["a tiled loop"])]
    with pytest.raises(CannotWeave, match="unless all paths from there to where they reconverge meet the same barrier"):
        goptx.weave(*kernels)


def test_reductions_beside_ended_threads_are_refused() -> None:
    with pytest.raises(CannotWeave, match="threads that have ended the kernel would have to arrive there too"):
        goptx.weave(kernel("a", RETURN + BODIES["reductions"]), kernel("b", OTHERS["a tiled loop"]))


LOADED = "ld.param.u64 %rd5, [a_in]; ld.global.u32 %r22, [%rd5+{at}]; setp.gt.u32 %p1, %r22, 3; @%p1 bra JOIN;"
LOADED += "bar.sync 0; JOIN: add.u32 %r4, %r4, 1;"


def test_what_may_be_presumed_of_loaded_data() -> None:
    """Data at one address may be presumed to be the same for the CTA, data at an address of the warp's own may not."""
    other = kernel("b", OTHERS["a tiled loop"])
    uniform = kernel("a", LOADED.format(at=0))
    assert "presumed" in goptx.weave(uniform, other).report.notes[0]
    for strategy in ("weave", "vertical", "horizontal"):
        with pytest.raises(CannotWeave, match="depends on loaded data, which is not proved to be the same for all"):
            goptx.fuse(uniform, other, strategy=strategy, shapes=ALIKE, presume=False)
    assert goptx.fuse(uniform, other, strategy="auto", shapes=ALIKE, presume=False).strategy in (
        "interleave",
        "separate",
    )
    by_warp = "mul.wide.u32 %rd6, %r20, 4; add.s64 %rd5, %rd5, %rd6; ld.global"
    with pytest.raises(CannotWeave, match="depends on the thread"):
        goptx.weave(uniform.replace("ld.global.u32 %r22", by_warp + ".u32 %r22"), other)
    voted = "vote.sync.any.pred %p1, %p1, -1; @%p1 bra JOIN"
    assert "presumed" in goptx.weave(uniform.replace("@%p1 bra JOIN", voted), other).report.notes[0]
