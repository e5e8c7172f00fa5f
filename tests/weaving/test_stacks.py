"""Kernels that take memory of the thread's stack (`alloca`), which all kernels of one fused kernel share."""

from collections.abc import Callable

import pytest
from bodies import kernel

import goptx
from goptx import CannotWeave, Shape
from goptx.options import Strategy
from goptx.results.fused_kernel import Woven

TAKE = "mov.u64 %rd1, 64; alloca.u64 %rd2, %rd1, 16; st.local.u32 [%rd2], %r1;"
BODIES = {
    "plain": "mov.u32 %r1, %tid.x; st.global.u32 [%rd3], %r1;",
    "taking": f"mov.u32 %r1, %tid.x; {TAKE}",
    "looping": (
        "mov.u32 %r1, %tid.x; mov.u32 %r2, 0; L: stacksave.u32 %r4;"
        f"{TAKE} stackrestore.u32 %r4; add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 4; @%p1 bra L;"
    ),
}
SHAPE = Shape(2, 64)


def text(body: str, name: str = "k") -> str:
    return kernel(f"ld.param.u64 %rd3, [{name}_out]; {BODIES[body]} ret;", name)


@pytest.mark.parametrize(("first", "second"), [("looping", "taking"), ("taking", "looping"), ("looping", "looping")])
def test_a_kernel_that_frees_stack_is_not_woven_with_one_that_takes_some(first: str, second: str) -> None:
    letter = "B" if first == "taking" else "A"
    with pytest.raises(
        CannotWeave,
        match=rf"kernel {letter} .*`stackrestore.u32 %r4;` would free what another kernel has .*; use vertical",
    ):
        goptx.weave(text(first), text(second, "o"))


def test_a_kernel_that_frees_stack_is_not_woven_with_its_copies() -> None:
    with pytest.raises(CannotWeave, match="would free what another kernel has taken"):
        goptx.coarsen(text("looping"), 2)
    assert "alloca" in goptx.coarsen(text("taking"), 2).ptx


@pytest.mark.parametrize("strategy", ["vertical", "horizontal", "interleave", "separate"])
def test_one_after_the_other_they_go_together(strategy: Strategy, assembles: Callable[[Woven], None]) -> None:
    assembles(goptx.fuse(text("looping"), text("looping", "o"), strategy=strategy, shapes=[SHAPE, SHAPE]))


def test_kernels_of_which_one_uses_the_stack_are_woven(assembles: Callable[[Woven], None]) -> None:
    assembles(goptx.weave(text("looping"), text("plain", "o")))
    assembles(goptx.weave(text("taking"), text("taking", "o")))
