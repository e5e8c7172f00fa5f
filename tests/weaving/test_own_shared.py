"""Shared variables of a module are another thing in each CTA, and so for each of two kernels of that module."""

from collections.abc import Callable

import numpy as np
import pytest
from bodies import HEAD

import goptx
from goptx import Shape
from goptx.results.fused_kernel import Woven

Assembles = Callable[[Woven], None]
TILE = ".shared .align 4 .b8 tile[128];\n"
IN_PLACE = """
    mov.u32 %r5, tile; mov.u32 %r6, %laneid; shl.b32 %r6, %r6, 2; add.u32 %r5, %r5, %r6; st.shared.u32 [%r5], %r3;
    ld.shared.u32 %r4, [%r5];
"""
CALL = """
    { .param .b32 p; .param .b32 q; st.param.b32 [p], %r3; call (q), through, (p); ld.param.b32 %r4, [q]; }
"""
THROUGH = """
.func (.param .b32 result) through(.param .b32 given)
{
    @INSIDE@ .reg .b32 %r<9>; ld.param.b32 %r3, [given];
    @IN_PLACE@ st.param.b32 [result], %r4; ret;
}
""".replace("@IN_PLACE@", IN_PLACE)


def copying(items: str, way: str, name: str = "k") -> str:
    """A module with these items, whose kernel copies `in` to `out` by `way`, which takes %r3 to %r4."""
    return f"""{HEAD}{items}
.visible .entry {name}(.param .u64 {name}_in, .param .u64 {name}_out)
{{
    .reg .b32 %r<9>; .reg .b64 %rd<4>; ld.param.u64 %rd1, [{name}_in]; ld.param.u64 %rd2, [{name}_out];
    mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 4; add.s64 %rd1, %rd1, %rd3; add.s64 %rd2, %rd2, %rd3;
    ld.global.u32 %r3, [%rd1]; {way} st.global.u32 [%rd2], %r4; ret;
}}
"""


MODULES = {
    "a variable of the module": copying(TILE, IN_PLACE),
    "one that a function names": copying(TILE + THROUGH.replace("@INSIDE@", ""), CALL),
    "one that a function declares": copying(THROUGH.replace("@INSIDE@", TILE), CALL),
}


@pytest.mark.parametrize("text", MODULES.values(), ids=MODULES)
@pytest.mark.parametrize("shapes", [None, [Shape(1, 32), Shape(2, 32)]], ids=["common shape", "own shapes"])
def test_a_kernel_beside_itself(text: str, shapes: list[Shape] | None, assembles: Assembles) -> None:
    woven = goptx.weave(text, text, shapes=shapes)
    arrays = [np.arange(32, dtype=np.uint32) + 1000 * i for i in range(2)]
    outs = [np.zeros(32, np.uint32) for _ in arrays]
    grid, block = (None, None) if shapes else (1, 32)
    goptx.emulate(woven, grid, block, [[a, o] for a, o in zip(arrays, outs, strict=True)])
    assert [o.tolist() for o in outs] == [a.tolist() for a in arrays]
    assert woven.ptx.count(".shared .align") == 2
    assembles(woven)


def test_modules_may_call_one_function_that_declares_a_variable() -> None:
    function = THROUGH.replace("@INSIDE@", TILE)
    woven = goptx.weave(*(copying(function, CALL, name) for name in ("one", "other")))
    assert [f.name for f in woven.module.functions if not f.is_entry] == ["through", "through_b"]
    assert woven.ptx.count(TILE.strip()) == 2
