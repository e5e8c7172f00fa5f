"""Copies of a coarsened kernel run in lockstep where they can, and do what each does alone."""

from collections.abc import Callable

import numpy as np
import pytest
from weaving.compared import lines, outputs
from weaving.shaped_kernels import kernel, stored

import goptx
from goptx import Shape
from goptx.results.fused_kernel import Woven

Assembles = Callable[[Woven], None]

# Every CTA goes around n times, over a barrier.
COUNTED = kernel(
    "counted",
    "mov.u32 %r30, 0; mov.u32 %r31, %r4; mov.u32 %r32, tile; shl.b32 %r33, %r1, 2; add.u32 %r32, %r32, %r33;"
    "LOOP: st.shared.u32 [%r32], %r31; bar.sync 0; ld.shared.u32 %r34, [tile+4]; mad.lo.u32 %r31, %r31, 3, %r34;"
    "bar.sync 0; add.u32 %r30, %r30, 1; setp.lt.u32 %p1, %r30, %r5; @%p1 bra LOOP;" + stored(["%r31"]),
    ".shared .align 4 .b8 tile[4096];",
)
# The same, for CTAs above the first; the others have returned.
SOME = COUNTED.replace("mov.u32 %r30, 0;", "setp.eq.u32 %p2, %r2, 0; @%p2 ret; mov.u32 %r30, 0;").replace(
    "counted", "some"
)
# A loop over elements: each thread goes around as often as its number in the grid says.
STRIDED = kernel(
    "strided",
    "mov.u32 %r30, %r4; mov.u32 %r31, 0; setp.ge.u32 %p1, %r30, %r5; @%p1 bra DONE;"
    "LOOP: mad.lo.u32 %r31, %r31, 5, %r30; add.u32 %r30, %r30, 40; setp.lt.u32 %p1, %r30, %r5; @%p1 bra LOOP;"
    "DONE: mad.lo.u32 %r31, %r31, 7, %r30;" + stored(["%r31"]),
)
# Threads with 40 beside some with 1: threads that wait for those may not count on, for the inner loop would never end.
INNER = kernel(
    "inner",
    "and.b32 %r30, %r4, 39; mov.u32 %r31, 0; mov.u32 %r32, 0;"
    "OUTER: mov.u32 %r33, %r32;"
    "LOOP: add.u32 %r31, %r31, %r33; add.u32 %r33, %r33, 1; setp.ne.u32 %p1, %r33, 45; @%p1 bra LOOP;"
    "add.u32 %r32, %r32, 1; setp.lt.u32 %p1, %r32, %r30; @%p1 bra OUTER;" + stored(["%r31", "%r32"]),
)


def same(text: str, factor: int, shape: Shape, n: int, assembles: Assembles) -> Woven:
    """Coarsened, the kernel does what it does alone."""
    woven = goptx.coarsen(text, factor, shape=shape)
    assembles(woven)
    expected, found = outputs(shape), outputs(shape)
    goptx.emulate(text, shape.sizes("grid"), shape.sizes("block"), [expected, n], races=True)
    for seed in (0, 3):
        found[:] = 0
        goptx.emulate(woven, args=[[found, n]], races=True, seed=seed)
        assert np.array_equal(found, expected)
    return woven


@pytest.mark.parametrize("factor", [2, 3, 4])
def test_a_loop_that_all_ctas_leave_together_stands_once(factor: int, assembles: Assembles) -> None:
    woven = same(COUNTED, factor, Shape(2 * factor, 64), 5, assembles)
    assert len(lines(woven, "bar.sync")) == 2 and len(lines(woven, "@%", "bra")) == 1


@pytest.mark.parametrize("factor", [2, 3])
def test_copies_that_have_not_returned_stay_in_lockstep(factor: int, assembles: Assembles) -> None:
    woven = same(SOME, factor, Shape(2 * factor, 64), 5, assembles)
    alive = (
        len(lines(woven, "LOOP")) or 2**factor - 1
    )  # the copies that are there, in all combinations but the empty one
    assert len(lines(woven, "barrier.sync")) + len(lines(woven, "bar.sync")) <= 2 * alive * factor


@pytest.mark.parametrize("factor", [2, 3, 4])
@pytest.mark.parametrize("n", [0, 1, 50, 130, 700])
def test_a_loop_over_elements_stands_once(factor: int, n: int, assembles: Assembles) -> None:
    woven = same(STRIDED, factor, Shape(factor, 40), n, assembles)
    assert len(lines(woven, "vote.sync.any")) == 2 * factor  # which copies enter, which copies continue


@pytest.mark.slow
def test_who_has_left_does_not_go_around_a_loop_within(assembles: Assembles) -> None:
    woven = same(INNER, 2, Shape(4, 40), 0, assembles)
    assert len(lines(woven, "vote.sync.any")) > 2
