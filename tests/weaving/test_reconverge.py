"""Where guarded code ends a block that whole warps come to, lanes reconverge before a join."""

from collections.abc import Callable

import numpy as np
import pytest
from bodies import flow, kernel
from published import published

import goptx
from goptx.analysis.cfg import EXIT, Block, Code, Flow
from goptx.analysis.numbering import completed
from goptx.analysis.terminators import Branch, Jump, Stop
from goptx.options import Slicing
from goptx.ptx.ir import Guard, Instruction, Name
from goptx.ptx.parse import parse
from goptx.weaving.emit.reconverge import RECONVERGE, amid_waits, reconverged
from goptx.weaving.model import Converged

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


# Each thread takes a lock of its CTA, adds its number to a sum, and lets go; thread 0 stores the sum.
SWAP = "atom.shared.cas.b32"
LOCKED = f"""
    .shared .b32 words[2];
    ld.param.u64 %rd1, [k_out]; mov.u32 %r1, %tid.x; setp.ne.u32 %p1, %r1, 0; mov.u32 %r2, words; @%p1 bra READY;
    mov.u32 %r3, 0; st.shared.u32 [%r2], %r3; st.shared.u32 [%r2+4], %r3;
    READY: bar.sync 0;
    SPIN: {SWAP} %r3, [%r2], 0, 1; setp.ne.u32 %p2, %r3, 0; @%p2 bra SPIN;
    membar.cta; ld.shared.u32 %r4, [%r2+4]; add.u32 %r4, %r4, %r1; st.shared.u32 [%r2+4], %r4; membar.cta;
    atom.shared.exch.b32 %r5, [%r2], 0; bar.sync 0; @%p1 bra DONE;
    ld.shared.u32 %r6, [%r2+4]; mov.u32 %r7, %ctaid.x; mad.wide.u32 %rd1, %r7, 4, %rd1; st.global.u32 [%rd1], %r6;
    DONE: ret;
"""
# Long enough that warps without threads in bounds skip it, and it ends in a store under a guard.
BOUNDED = """
    .reg .f64 %fd<2>;
    ld.param.u64 %rd1, [k_in]; ld.param.u64 %rd2, [k_out]; ld.param.u32 %r5, [k_n]; mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x; mov.u32 %r6, %ntid.x; mad.lo.u32 %r3, %r2, %r6, %r1; setp.ge.u32 %p1, %r3, %r5;
    @%p1 bra DONE; mul.wide.u32 %rd3, %r3, 4; add.s64 %rd1, %rd1, %rd3; add.s64 %rd2, %rd2, %rd3;
    ld.global.u32 %r4, [%rd1]; cvt.rn.f64.u32 %fd1, %r4; sqrt.rn.f64 %fd1, %fd1;
    div.rn.f64 %fd1, %fd1, 0d4008000000000000; cvt.rzi.u32.f64 %r4, %fd1; st.global.u32 [%rd2], %r4;
    DONE: ret;
"""
SHAPES = [goptx.Shape(3, 40), goptx.Shape(2, 128)]
VALUES, BOUND = np.arange(120, dtype=np.int32) * 999, 110


@pytest.mark.parametrize("order", [(0, 1), (1, 0)], ids=["lock last", "lock first"])
@pytest.mark.parametrize("slicing", ["adaptive", None, 50])
def test_lanes_that_hold_a_lock_do_not_wait_for_those_that_want_it(order: tuple[int, int], slicing: Slicing) -> None:
    """The other kernel ends amid what a lane does that has the lock."""
    kernels = [kernel(BOUNDED), kernel(LOCKED)]
    expected = [np.zeros(120, np.int32) for _ in kernels]
    for text, shape, out in zip(kernels, SHAPES, expected, strict=True):
        goptx.emulate(text, shape.sizes("grid"), shape.sizes("block"), [VALUES, out, BOUND])
    assert expected[1][:2].tolist() == [128 * 127 // 2] * 2

    shapes = [SHAPES[k] for k in order]
    woven = goptx.weave(*(kernels[k] for k in order), shapes=shapes, placement="front", slicing=slicing)
    found = [np.zeros(120, np.int32) for _ in kernels]
    goptx.emulate(woven, args=[[VALUES, found[k], BOUND] for k in order], shapes=shapes)
    assert all(map(np.array_equal, found, expected))


def test_between_a_wait_and_the_barrier_after_its_release() -> None:
    """Who has come to a barrier of the CTA waits for nothing that stands before it."""
    in_pieces = LOCKED.replace("atom.shared.exch", "@%p1 bra FREE; membar.cta; FREE: atom.shared.exch")
    written = completed(flow(in_pieces), 0)
    wanting, holding = ({n for n, b in written.blocks.items() if op in b.opcodes} for op in (SWAP, "membar.cta"))
    assert len(holding) == 2
    assert amid_waits(written, Converged(written, lanes_wait_separately=True)) == wanting | holding
