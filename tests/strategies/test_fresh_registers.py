"""Nothing of a kernel is live from one virtual CTA to the next, so an assembler keeps nothing for it."""

from collections import Counter
from typing import Any

import pytest
from strategies.test_folded import fuse
from weaving.compared import coarse, same
from weaving.shaped_kernels import KERNELS, kernel, stored

import goptx
from goptx import Shape
from goptx.analysis.build_cfg import flow_as_written
from goptx.analysis.cfg import loops
from goptx.analysis.dataflow import live_in
from goptx.options import FOLDS
from goptx.ptx.ir import Function, Registers
from goptx.ptx.parse import parse
from goptx.results.fused_kernel import Woven
from goptx.weaving.folding.fresh_registers import begun_anew

# Some threads load; what the others have in the register is never read. The barrier makes the kernel convergent.
LOADING = kernel(
    "k",
    """
    st.global.u32 [%rd1+4], %r4; mov.u32 %r60, 7; setp.ge.u32 %p1, %r1, 5; @%p1 bra WAIT;
    ld.global.u32 %r61, [%rd1+4]; add.u32 %r60, %r61, %r1;
    setp.gt.u32 %p2, %r61, 3; selp.u32 %r60, 1, %r60, %p2;
    WAIT: bar.sync 0;
    """
    + stored(["%r60"]),
)
SUMMING = kernel(
    "k",
    """
    mov.u32 %r60, 0; mov.u32 %r62, 0; NEXT: setp.ge.u32 %p1, %r1, 5; @%p1 bra WAIT; ld.global.u32 %r61, [%rd1+4];
    add.u32 %r60, %r60, %r61; WAIT: bar.sync 0; add.u32 %r62, %r62, 1; setp.lt.u32 %p2, %r62, 3; @%p2 bra NEXT;
    """
    + stored(["%r60"]),
)


def handed_on(woven: Woven, prefix: str) -> set[str]:
    """The registers of a kernel that are live where a virtual CTA begins, but for those of the loop over these."""
    (entry,) = (item for item in parse(woven.ptx).items if isinstance(item, Function))
    flow = flow_as_written(entry.body)
    live = live_in(flow)
    outermost = [h for h, body in loops(flow).items() if not any(h in b for o, b in loops(flow).items() if o != h)]
    own = ("cta", "fold", "team", "barrier", "shape", "coarse")
    found = {r for header in outermost for r in live[header] if r.startswith(f"%{prefix}_")}
    return {r for r in found if not any(f"_{word}" in r for word in own)}


@pytest.mark.parametrize("fold", FOLDS)
@pytest.mark.parametrize("text", [LOADING, SUMMING, KERNELS["leaving"], KERNELS["tiled"], KERNELS["registers"]])
def test_registers_of_a_cta_end_with_it(text: str, fold: Any) -> None:
    shapes = [Shape(5, 40), Shape(4, 64)]
    woven = fuse(text, "registers", shapes=shapes, fold=fold, ctas=2)
    assert not handed_on(woven, "a") and not handed_on(woven, "b")
    same((text, "registers"), shapes, woven)


def test_copies_have_registers_of_their_own() -> None:
    """The move stands before the accesses of its copy, whatever order they are woven in."""
    shapes = [Shape(6, 40), Shape(4, 64)]
    woven = goptx.fuse(
        coarse(LOADING, 3), KERNELS["registers"], strategy="horizontal", shapes=shapes, fold="static", ctas=2
    )
    assert not handed_on(woven, "a")
    same((LOADING, "registers"), shapes, woven)


def test_interleaved_kernels_on_folded_grids() -> None:
    shapes = [Shape(6, 40), Shape(4, 64)]
    woven = goptx.fuse(
        LOADING, KERNELS["registers"], strategy="interleave", shapes=shapes, fold="static", ctas=(2, 2)
    )  # fmt: skip
    assert not handed_on(woven, "a")
    same((LOADING, "registers"), shapes, woven)


BODY = ".version 8.0 .target sm_90 .address_size 64 .entry k() { .reg .pred %p<4>; .reg .b32 %r<4>; .reg .b16 %h<2>; "


@pytest.mark.parametrize(
    "code, moves",
    [
        ("mov.u32 %r1, 1; add.u32 %r2, %r1, %r1; ret;", []),
        ("@%p1 mov.u32 %r1, 1; add.u32 %r2, %r1, %r1; ret;", ["mov.b32 %r1, 0;"]),  # nobody writes the predicate
        ("mov.pred %p1, 1; @%p1 mov.u16 %h1, 1; cvt.u32.u16 %r2, %h1; ret;", ["mov.b16 %h1, 0;"]),
        (
            "mov.u32 %r1, 0; L: @%p1 mov.pred %p2, 1; setp.lt.u32 %p1, %r1, 9; @%p2 bra L; ret;",
            ["mov.pred %p1, 0;", "mov.pred %p2, 0;"],
        ),
        ("L: @%p1 mov.u32 %r1, 1; setp.lt.u32 %p2, %r1, 9; @%p2 bra L; ret;", ["mov.b32 %r1, 0;"]),
    ],
    ids=["written first", "number", "16 bits", "loop", "read in a loop"],
)
def test_what_is_moved_and_where(code: str, moves: list[str]) -> None:
    """Before a loop, not in it: there the register may have the value of the iteration before."""
    (entry,) = (item for item in parse(BODY + code + " }").items if isinstance(item, Function))
    flow = flow_as_written(entry.body)
    made = begun_anew(flow, [s for s in entry.body or () if isinstance(s, Registers)])
    before = Counter(map(str, flow.codes()))
    assert sorted((Counter(map(str, made.codes())) - before).elements()) == moves
    added = {n for n, b in made.blocks.items() if any(str(c) in moves for c in b.code)}
    assert not any(added & body for body in loops(made).values())
