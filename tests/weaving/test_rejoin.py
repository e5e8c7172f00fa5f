"""Where guarded code ends a block that whole warps come to, lanes reconverge before a join."""

from collections.abc import Callable

import pytest
from bodies import kernel
from published import published

import goptx
from goptx.analysis.cfg import EXIT, Block, Code, Flow
from goptx.analysis.terminators import Branch, Jump, Stop
from goptx.ptx.ir import Guard, Instruction, Name
from goptx.ptx.parse import parse
from goptx.weaving.emit.reconverge import RECONVERGE, reconverged

P, Q = Guard(Name("%p1")), Guard(Name("%p2"))


def code(text: str) -> tuple[Code, ...]:
    body = parse(kernel(text + " ret;")).entries[0].body or ()
    return tuple(s for s in body if isinstance(s, Instruction))[:-1]


STORE = code("@%p1 st.global.u32 [%rd1], %r1;")
ADD = code("add.u32 %r1, %r1, 1;")
MOVE = code("mov.u32 %r2, %r1;")


def diamond(left: tuple[Code, ...], target: str = "JOIN") -> Flow:
    """What jumps is LEFT, which ends in `left`; RIGHT comes to JOIN too."""
    return Flow(
        "TOP",
        {
            "TOP": Block((), Branch(Q, "LEFT", "RIGHT")),
            "LEFT": Block(left, Jump(target)),
            "RIGHT": Block(ADD, Jump("JOIN")),
            "JOIN": Block(ADD, Jump(EXIT)),
            EXIT: Block((), Stop()),
        },
    )


def reconverging(flow: Flow, diverged: set[str] | None = None) -> list[str]:
    found = reconverged(flow, diverged or set())
    assert {n: b.end for n, b in found.blocks.items()} == {n: b.end for n, b in flow.blocks.items()}
    return [n for n, b in found.blocks.items() if RECONVERGE in b.code]


@pytest.mark.parametrize(
    ("end", "expected"),
    [(STORE, True), (STORE + MOVE, True), (ADD + STORE, True), (STORE + ADD, False), (ADD, False), (MOVE, False),
     ((), False)],
    ids=["store", "moves after it", "more before it", "more after it", "no guard", "only moves", "empty"],
)  # fmt: skip
def test_what_ends_guarded(end: tuple[Code, ...], expected: bool) -> None:
    assert reconverging(diamond(end)) == (["LEFT"] if expected else [])
    assert reconverged(diamond(end), {"LEFT"}) == diamond(end)  # lanes come there separately


def test_no_join_after_it() -> None:
    assert reconverging(diamond(STORE, EXIT)) == []
    straight = Flow("A", {"A": Block(STORE, Jump("B")), "B": Block(ADD, Jump(EXIT)), EXIT: Block((), Stop())})
    assert reconverging(straight) == []


def test_a_loop_is_a_join() -> None:
    loop = Flow(
        "A",
        {"A": Block(ADD, Jump("B")), "B": Block(ADD, Branch(P, EXIT, "C")), "C": Block(STORE, Jump("B")),
         EXIT: Block((), Stop())},
    )  # fmt: skip
    assert reconverging(loop) == ["C"]


# Some threads store, then all warps of a CTA reconverge, whichever branch it takes.
BRANCHES = """
    ld.param.u64 %rd1, [k_out]; ld.param.u32 %r5, [k_n]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x;
    mad.lo.u32 %r3, %r2, 64, %r1; mul.wide.u32 %rd2, %r3, 8; add.s64 %rd1, %rd1, %rd2;
    setp.lt.u32 %p1, %r1, %r5; setp.eq.u32 %p2, %r2, 0; @%p2 bra OTHER;
    add.u32 %r4, %r1, 7; @%p1 st.global.u32 [%rd1], %r4; bra JOIN;
    OTHER: @%p1 st.global.u32 [%rd1], %r1;
    JOIN: bar.sync 0; st.global.u32 [%rd1+4], %r1; ret;
"""


def test_in_kernels(assembles: Callable[[goptx.Woven], None]) -> None:
    """In one that is rewritten; not in one that stays as it is written, nor in the merge that was published."""
    source = kernel(BRANCHES)
    coarse = goptx.coarsen(source, 2)
    assert "bar.warp.sync 0xffffffff;" in coarse.ptx
    assembles(coarse)
    shape = goptx.Shape(4, 64)
    for woven in (
        goptx.fuse(source, source, strategy="interleave", shapes=[shape, shape]),
        published(source, source),
    ):
        assert "bar.warp.sync" not in woven.ptx
