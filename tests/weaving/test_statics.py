"""Variables that functions and entries declare for themselves, but that outlive a call or a CTA."""

import numpy as np
import pytest
from bodies import HEAD

import goptx
from goptx import Shape
from goptx.options import Strategy
from goptx.ptx.parse import parse
from goptx.ptx.statics import with_statics_outside

CTAS, BLOCK = 4, 64
BEGIN = """
    .reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<5>;
    mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r3, %r1, %r2, %r3;
    mul.wide.u32 %rd2, %r3, 4; ld.param.u64 %rd1, [out]; add.s64 %rd2, %rd1, %rd2;
"""
NEXT = """.func (.reg .b32 r) next()
{
    .global .u32 next_count; .reg .b64 %a; mov.u64 %a, next_count; atom.global.add.u32 r, [%a], 1; ret;
}
"""


def kernel(name: str, body: str, functions: str = "") -> str:
    return f"{HEAD}{functions}.visible .entry {name}(.param .u64 out)\n{{{BEGIN}{body}\nret;\n}}\n"


def counting(name: str) -> str:
    """Whether the function has been called more often than there are threads."""
    return kernel(name, "call (%r4), next, (); setp.lt.u32 %p1, %r4, 256; @%p1 st.global.u32 [%rd2], 7;", NEXT)


# The last thread of the grid to count stores, of those of all CTAs.
LAST = kernel(
    "last",
    """
    { .const .u32 all = 255; { .global .u32 count; mov.u64 %rd3, count; atom.global.add.u32 %r4, [%rd3], 1; }
      ld.const.u32 %r5, [all]; } setp.eq.u32 %p1, %r4, %r5; @%p1 st.global.u32 [%rd1], 3;
    """,
)


def out() -> "np.ndarray[tuple[int], np.dtype[np.uint32]]":
    return np.zeros(CTAS * BLOCK, np.uint32)


def alone(text: str) -> list[int]:
    found = out()
    goptx.emulate(text, CTAS, BLOCK, [found])
    return found.tolist()


@pytest.mark.parametrize("strategy", ["weave", "vertical", "horizontal", "interleave"])
def test_a_function_of_two_modules_has_a_variable_in_each(strategy: Strategy) -> None:
    shapes = [Shape(CTAS, BLOCK)] * 2
    fused = goptx.fuse(counting("one"), counting("two"), strategy=strategy, shapes=shapes)
    found = [out(), out()]
    goptx.emulate(fused, args=[[o] for o in found], shapes=shapes)
    assert [o.tolist() for o in found] == [alone(counting("one"))] * 2 == [[7] * CTAS * BLOCK] * 2


@pytest.mark.parametrize("factor", [2, 3, 4])
def test_copies_of_a_kernel_have_one_variable(factor: int) -> None:
    found = out()
    goptx.emulate(goptx.coarsen(LAST, factor), CTAS, BLOCK, [[found]])
    assert found.tolist() == alone(LAST)
    assert found[0] == 3


def test_they_stand_outside_under_names_of_their_own() -> None:
    module = parse(LAST.replace(".visible .entry", ".global .u32 last_count_s2;\n.visible .entry"))
    made = with_statics_outside(module)
    assert [v.name for v in made.variables] == ["last_count_s2", "last_all_s1", "last_count_s2_"]
    assert "ld.const.u32 %r5, [last_all_s1];" in str(made)
    assert "mov.u64 %rd3, last_count_s2_;" in str(made)
    assert with_statics_outside(made) is made
