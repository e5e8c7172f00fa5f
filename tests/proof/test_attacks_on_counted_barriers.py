"""Barriers with a count: each counts warps, and waits for all lanes of its warp that have not ended. Lanes whose kernel
has ended go on in the fused kernel, so they come along, or end as well.
"""

from __future__ import annotations

import pytest
from proof.fused_text import ADDRESS, STORE, Given, certificate, check

import goptx
from goptx.checking.certify import prove_texts
from goptx.options import Strategy

COUNTED = ("barrier.sync 1, 32;", "bar.sync 1, 32;", "barrier.arrive 1, 64;", "bar.arrive 1, 64;")
# The first 16 lanes of each warp end before the barrier.
EARLY = (
    ADDRESS
    + """
mov.u32 %r2, %laneid;
setp.lt.u32 %p1, %r2, 16;
setp.lt.u32 %p2, %r1, 99;
@%p1 bra DONE;
{}
st.global.u32 [%d2], %r3;
DONE:
"""
)
BEGIN = "A1\nA2\nA3\nA4\nA5\nA6\n"
SKIP = BEGIN + "A7: @%a_p1 bra $PAST;\nA8\nA9\n$PAST:\n"
RUN = BEGIN + "not.pred %a_p7, %a_p1;\n"
ALONG = RUN + "vote.sync.any.pred %a_p8, %a_p7, -1;\nA8: @%a_p8 {}\nA9: @%a_p7 st.global.u32 [%a_d2], %a_r3;\n"
OTHERS = {
    "bar.warp.sync -1;": "B1\nB2\nB3\nB4\nB5",
    "bar.sync 0;": "B1\nB2\nB3\nB4\nB5",
    "": "vote.sync.any.pred %b_p1, %a_p1, -1;\nB1\nB2\nB3\nB4",
    "mov.u32 %r2, 1;": "bar.warp.sync -1;\nB1\nB2\nB3\nB4\nB5",
}


def given(own: str, other: str = "") -> Given:
    return Given(EARLY.format(own), ADDRESS + f"{other}\nst.global.u32 [%d2], %r1;")


@pytest.mark.parametrize("own", COUNTED)
@pytest.mark.parametrize("other", OTHERS)
def test_lanes_that_have_ended_come_along_or_end(own: str, other: str) -> None:
    """Those that skip the barrier wait for their warp after it, and the others wait for these at the barrier."""
    kernels = given(own, other)
    made = certificate(kernels, ALONG.format(own) + OTHERS[other])
    assert made, str(made)
    made = certificate(kernels, SKIP + OTHERS[other])
    assert "may wait for a lane of its warp" in str(made)


@pytest.mark.parametrize("own", COUNTED)
def test_lanes_that_have_ended_may_leave(own: str) -> None:
    """A barrier does not wait for threads that have ended."""
    right = "B1\nB2\nB3\nB4\n" + SKIP
    check(given(own), right, right + "bar.warp.sync -1;")


@pytest.mark.parametrize("own", COUNTED)
def test_a_guard_leaves_no_lane_of_the_warp_out(own: str) -> None:
    text = RUN + f"A8: @%a_p7 {own}\nA9: @%a_p7 st.global.u32 [%a_d2], %a_r3;\nbar.warp.sync -1;\nB1\nB2\nB3\nB4"
    assert "not all lanes of a warp may execute" in str(certificate(given(own), text))


def test_a_guard_of_the_kernel_leaves_lanes_that_end() -> None:
    """The guard is the kernel's own: those that skip the barrier end, and have more to do in the fused kernel."""
    own = ADDRESS + "mov.u32 %r2, %laneid;\nsetp.lt.u32 %p1, %r2, 16;\n@%p1 barrier.sync 1, 32;"
    right = "B1\nB2\nB3\nB4\nA1\nA2\nA3\nA4\nA5\n"
    text = right + "A6\nbar.warp.sync -1;"
    assert "not all lanes of a warp may execute" in str(certificate(Given(own, STORE), text))
    checked = Given(own + "\nbarrier.sync 0;", STORE)
    made = certificate(checked, right + "A6\nA7")
    assert made, str(made)


@pytest.mark.parametrize("operation", ["popc.u32 %r3", "or.pred %p3", "and.pred %p3"])
@pytest.mark.parametrize("form", ["bar", "barrier"])
def test_lanes_that_come_along_do_not_count(operation: str, form: str) -> None:
    own = f"{form}.red.{operation}, 1, 32, %p2;"
    theirs = own.replace("%r", "%a_r").replace("%p", "%a_p")
    neutral = "and.pred %a_p2, %a_p2, %a_p7;" if "and.pred" not in own else "or.pred %a_p2, %a_p2, %a_p1;"
    rest = "B1\nB2\nB3\nB4"
    asks = "vote.sync.any.pred %a_p8, %a_p7, -1;"
    right = (ALONG.format(theirs) + rest).replace(asks, f"{asks}\n{neutral}")
    check(given(own), right, ALONG.format(theirs) + rest, because="may change the result")


def test_a_lane_that_comes_later_does_not_come_along() -> None:
    """The barrier is not aligned, so lanes of a warp may come to it at different times: each once."""
    loop = (
        ADDRESS + "mov.u32 %r2, %laneid;\nsetp.lt.u32 %p1, %r2, 16;\n@%p1 bra LATER;\nbarrier.sync 1, 32;\nbra DONE;"
        "\nLATER:\nst.global.u32 [%d2], %r1;\nbarrier.sync 1, 32;\nDONE:\n"
    )
    both = (
        "A1\nA2\nA3\nA4\nA5\nnot.pred %a_p7, %a_p1;\nvote.sync.any.pred %a_p8, %a_p7, -1;\n"
        "A7: @%a_p8 barrier.sync 1, 32;\nA10: @%a_p1 st.global.u32 [%a_d2], %a_r1;\n"
        "vote.sync.any.pred %a_p8, %a_p1, -1;\nA11: @%a_p8 barrier.sync 1, 32;\nB1\nB2\nB3\nB4"
    )
    assert not certificate(Given(loop, STORE), both)


@pytest.mark.parametrize("own", COUNTED)
@pytest.mark.parametrize("strategy", ["weave", "vertical"])
def test_what_the_weaver_makes_of_them_is_proved(own: str, strategy: Strategy) -> None:
    modules = [given(own).module(letter) for letter in "AB"]
    made = goptx.fuse(*modules, strategy=strategy)
    certificate = prove_texts(made.text(), modules)
    assert certificate, str(certificate)
