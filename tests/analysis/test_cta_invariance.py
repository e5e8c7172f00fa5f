"""One test for each rule about what threads with the same number do alike in every CTA."""

from functools import partial

import pytest
from bodies import flow

from goptx.analysis.cta_invariance import cta_invariance
from goptx.ptx.flatten import as_written

COUNT = "ld.param.u32 %r5, [k_n]; mov.u32 %r6, 0;"
LOOP = "LOOP: add.u32 %r6, %r6, 1; setp.lt.u32 %p1, %r6, %r5; @%p1 bra LOOP;"


def decided(*bodies: str) -> int:
    """How many branches copies with these bodies decide alike. The bodies are copies of one kernel, with its names."""
    quotes = [partial(as_written, prefix=f"c{k}") for k in range(len(bodies))]
    return len(cta_invariance([flow(f"{body} ret;") for body in bodies], quotes).branches)


@pytest.mark.parametrize(
    "body",
    [
        COUNT + LOOP,
        "mov.u32 %r5, %tid.x;" + LOOP,
        "mov.u32 %r5, %nctaid.x;" + LOOP,
        "ld.param.u64 %rd1, [k_in]; ld.global.nc.u32 %r5, [%rd1];" + LOOP,
        COUNT + "setp.lt.u32 %p2, %r6, %r5; vote.sync.any.pred %p3, %p2, -1; @%p3 bra LOOP;" + LOOP[5:] + "LOOP:",
        # The CTA decides which threads end; all others come to the same.
        COUNT + "mov.u32 %r7, %ctaid.x; setp.gt.u32 %p2, %r7, 5; @%p2 ret; " + LOOP,
    ],
)
def test_invariant(body: str) -> None:
    assert decided(body, body) >= 1


@pytest.mark.parametrize(
    "body",
    [
        "mov.u32 %r5, %ctaid.x;" + LOOP,
        "mov.u32 %r5, %ctaid.x; add.cc.u32 %r5, %r5, -3; addc.u32 %r5, 1, 1;" + LOOP,
        "mov.u32 %r5, %smid;" + LOOP,
        "mov.u32 %r5, %clock;" + LOOP,
        "mov.u32 %r5, tile;" + LOOP,
        "ld.global.u32 %r5, [%rd1];" + LOOP,
        "ld.shared.u32 %r5, [%r9];" + LOOP,
        "atom.global.add.u32 %r5, [%rd1], 1;" + LOOP,
        "mov.u32 %r5, %r99;" + LOOP,
        COUNT + "mov.u32 %r7, %ctaid.x; setp.gt.u32 %p2, %r7, 5; @%p2 mov.u32 %r6, 3;" + LOOP,
        # Writes on one side of a branch that CTAs decide differently, and the branches there.
        COUNT + "mov.u32 %r7, %ctaid.x; setp.gt.u32 %p2, %r7, 5; @%p2 bra PAST; mov.u32 %r6, 3; PAST: " + LOOP,
        COUNT
        + "mov.u32 %r7, %ctaid.x; setp.gt.u32 %p2, %r7, 5; @%p2 bra PAST; "
        + LOOP
        + " PAST: add.u32 %r1, %r1, 1;",
    ],
)
def test_not_invariant(body: str) -> None:
    assert decided(body, body) == 0


def test_copies_with_different_code() -> None:
    """A known CTA number is a constant in the code."""
    one, two = ("mov.u32 %r9, {}; add.u32 %r5, %r9, 1;" + LOOP for _ in range(2))
    assert decided(one.format(4), two.format(4)) == 1
    assert decided(one.format(4), two.format(5)) == 0
    assert (
        decided(
            "mov.u32 %c0_r5, 1; " + LOOP.replace("%r5", "%c0_r5"), "mov.u32 %c1_r5, 1; " + LOOP.replace("%r5", "%c1_r5")
        )
        == 1
    )
    assert decided("mov.u32 %r5, 7;" + LOOP, LOOP) == 0
