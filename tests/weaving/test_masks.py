"""Warp instructions whose masks name lanes that end the kernel later, without taking part: alone these end and the
others continue; in the fused kernel they run on."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import numpy as np
import pytest
from weaving.divergent_kernels import EPILOGUE, PROLOGUE

import goptx
from goptx.errors import CannotWeave
from goptx.options import Choice

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
BLOCK = 64
DATA = np.random.default_rng(1).integers(0, 1024, 300).astype(np.int32)

PARTNER = """
    shfl.sync.bfly.b32 %r9, %r3, 1, 31, -1; add.u32 %r4, %r4, %r9;
    mov.u32 %r10, partner_tile; shl.b32 %r11, %r2, 2; add.u32 %r10, %r10, %r11; st.shared.u32 [%r10], %r4;
    bar.sync 0; xor.b32 %r10, %r10, 128; ld.shared.u32 %r4, [%r10];
    redux.sync.add.s32 %r12, %r4, -1; add.u32 %r4, %r4, %r12;
"""
SUM = """
.func (.param .b32 r) sum(.param .b32 a, .param .b32 m)
{ .reg .b32 %x, %m; ld.param.b32 %x, [a]; ld.param.b32 %m, [m];
  redux.sync.add.s32 %x, %x, %m; st.param.b32 [r], %x; ret; }
"""

# Where masks come from: what computes them, and the operand.
MASKS = {
    "all": ("", "-1"),
    "partial": ("", "0xfffffff0"),
    "register": ("mov.b32 %r20, -1;", "%r20"),
    "active": ("activemask.b32 %r20;", "%r20"),
    "ballot": ("setp.ge.u32 %p5, %r2, 0; vote.sync.ballot.b32 %r20, %p5, -1;", "%r20"),
}
# What those do who end without taking part: little, or more than the others.
WORK = {
    "nothing": "",
    "store": "mul.lo.u32 %r15, %r3, 7; st.global.u32 [%rd2], %r15;",
    "loop": "and.b32 %r15, %r3, 7; mov.u32 %r16, 0; W: add.u32 %r16, %r16, %r3; sub.u32 %r15, %r15, 1;"
    "setp.gt.s32 %p7, %r15, 0; @%p7 bra W; st.global.u32 [%rd2], %r16;",
}
SIDES = "and.b32 %r9, %r2, 31; setp.lt.u32 %p1, %r9, 8;"  # lanes 0 to 7 end without taking part
MEET = {
    "redux": "redux.sync.add.s32 %r4, %r3, {mask};",
    "match": "and.b32 %r3, %r3, 3; match.any.sync.b32 %r4, %r3, {mask};",
    "vote": "setp.gt.u32 %p4, %r3, 500; vote.sync.ballot.b32 %r4, %p4, {mask};",
    "shfl": "shfl.sync.idx.b32 %r4, %r3, 31, 31, {mask};",
    "bar": "bar.warp.sync {mask};",
}
STORE = "st.global.u32 [%rd2], %r4;"
SHAPES = {
    "others_go_on": "@%p1 bra A; {meet} bra B; A: {work} ret; B:",
    "others_end_first": "@%p1 bra A; {meet} " + STORE + " ret; A: {work} add.u32 %r4, %r4, 5;",
    "one_end_for_all": "@%p1 bra A; {meet} " + STORE + " bra D; A: {work} D: ret;",
    "negated": "@!%p1 bra C; {work} ret; C: {meet} " + STORE + " ret;",
    "some_of_the_others_end_too": "setp.eq.u32 %p2, %r9, 20; @%p1 bra A; @%p2 bra C; {meet} bra B;"
    "A: {work} ret; C: ret; B:",
    "some_end_on_the_way": "@%p1 bra A; setp.lt.u32 %p2, %r9, 16; @%p2 bra C; {meet} " + STORE + " ret; C: "
    "add.u32 %r4, %r4, 9; st.global.u32 [%rd2], %r4; ret; A: {work} add.u32 %r4, %r4, 5;",
    "twice": "@%p1 bra A; {meet} add.u32 %r3, %r3, %r4; setp.eq.u32 %p2, %r9, 21; @%p2 ret; {meet} bra B;"
    "A: {work} ret; B:",
    "both_meet": "@%p1 bra A; {meet} "
    + STORE
    + " ret; A: {work} activemask.b32 %r21; redux.sync.add.s32 %r4, %r3, %r21;",
    "in_a_loop": "@%p1 bra A; mov.u32 %r12, 0; L: {meet} add.u32 %r3, %r3, %r4; add.u32 %r12, %r12, 1;"
    "setp.lt.u32 %p3, %r12, 3; @%p3 bra L; " + STORE + " ret; A: {work} add.u32 %r4, %r4, 5;",
}


def source(name: str, body: str) -> str:
    parameters = f".param .u64 {name}_in, .param .u64 {name}_out, .param .u32 {name}_n"
    functions = SUM if "sum," in body else ""
    return f"{HEAD}{functions}.visible .entry {name}({parameters})\n{{{PROLOGUE.format(name=name)}{body}{EPILOGUE}}}\n"


def arguments() -> list[object]:
    return [DATA, np.full(BLOCK, -1, np.int32), np.int32(len(DATA))]


@cache
def alone(text: str) -> list[int]:
    given = arguments()
    goptx.emulate(text, 1, BLOCK, given)
    return [int(word) for word in given[1]]  # type: ignore[attr-defined]


def woven_right(body: str, **options: Any) -> goptx.Woven:
    """The kernel, woven with one that needs its warps whole; both do what they do alone."""
    text, other = source("k", body), source("partner", PARTNER)
    woven = goptx.fuse(text, other, **options)
    for seed in (0, 1):
        given = [arguments(), arguments()]
        goptx.emulate(woven, 1, BLOCK, given, seed=seed)
        assert [g[1].tolist() for g in given] == [alone(text), alone(other)]  # type: ignore[attr-defined]
    return woven


@pytest.mark.slow
@pytest.mark.parametrize("work", WORK)
@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("shape", SHAPES)
def test_lanes_that_end_later_are_not_waited_for(shape: str, mask: str, work: str) -> None:
    begin, named = MASKS[mask]
    meet = MEET["redux"].format(mask=named)
    body = begin + SIDES + SHAPES[shape].format(meet=meet, work=WORK[work])
    woven_right(body, strategy="weave")
    woven_right(body, strategy="vertical")


@pytest.mark.parametrize("divergence", ["park", "predicate", "duplicate"])
@pytest.mark.parametrize("shape", SHAPES)
def test_whatever_the_choice_it_is_right_or_refused(shape: str, divergence: Choice) -> None:
    meet = MEET["redux"].format(mask="%r20")
    try:
        woven_right(
            "activemask.b32 %r20;" + SIDES + SHAPES[shape].format(meet=meet, work=WORK["loop"]), divergence=divergence
        )
    except CannotWeave as error:
        assert re.search(
            "ended the kernel|have to arrive too|early returns|needs its lanes together|a loop lies", str(error)
        )


@pytest.mark.parametrize("meet", MEET)
def test_every_warp_instruction(meet: str) -> None:
    for mask in ("partial", "active"):
        begin, named = MASKS[mask]
        shape = SHAPES["others_end_first"].format(meet=MEET[meet].format(mask=named), work=WORK["loop"])
        woven_right(begin + SIDES + shape, strategy="weave")


def test_in_a_function() -> None:
    call = """{ .param .b32 a; st.param.b32 [a], %r3; .param .b32 b; st.param.b32 [b], %r20; .param .b32 r;
        call.uni (r), sum, (a, b); ld.param.b32 %r4, [r]; }"""
    for shape in ("others_go_on", "others_end_first"):
        woven_right("mov.b32 %r20, -1;" + SIDES + SHAPES[shape].format(meet=call, work=WORK["loop"]), strategy="weave")


LOOP = """
    mov.u32 %r12, 0;
    L: add.u32 %r12, %r12, 1; and.b32 %r13, %r2, 7; setp.eq.u32 %p4, %r13, %r12; {begin} @%p4 bra A;
    add.u32 %r4, %r4, 1; setp.lt.u32 %p3, %r12, 5; @%p3 bra L; bra B;
    A: {meet} st.global.u32 [%rd2], %r4; ret;
    B: {work} add.u32 %r4, %r4, 3;
"""


def test_lanes_that_leave_a_loop_for_the_end_name_others() -> None:
    """No vote can ask all lanes of the warp where they leave a loop one by one."""
    body = LOOP.format(begin="mov.b32 %r20, -1;", meet=MEET["redux"].format(mask="%r20"), work=WORK["loop"])
    alone(source("k", body))
    with pytest.raises(
        CannotWeave, match=r"`redux.* would wait for lanes that may have ended the kernel before it and "
    ):
        goptx.weave(source("k", body), source("partner", PARTNER))


@pytest.mark.parametrize(("begin", "meet"), [
    # those that are there, as for one atomic operation of a warp
    ("", "activemask.b32 %r20; redux.sync.add.s32 %r4, %r3, %r20;"),
    ("", "activemask.b32 %r20; setp.gt.u32 %p5, %r3, 99; vote.sync.ballot.b32 %r21, %p5, %r20;"
     "and.b32 %r22, %r21, %r20; or.b32 %r22, %r22, %r20; redux.sync.add.s32 %r4, %r3, %r22;"),
    ("", "activemask.b32 %r20; and.b32 %r3, %r3, 1; match.any.sync.b32 %r21, %r3, %r20; mov.b32 %r22, %r21;"
     "redux.sync.add.s32 %r4, %r12, %r22;"),
    # those that go there by a vote
    ("activemask.b32 %r20; vote.sync.ballot.b32 %r21, %p4, %r20;", "redux.sync.add.s32 %r4, %r3, %r21;"),
])  # fmt: skip
def test_masks_of_lanes_that_come_are_woven_out_of_loops(begin: str, meet: str) -> None:
    woven_right(LOOP.format(begin=begin, meet=meet, work=WORK["loop"]), strategy="weave")
    negated = LOOP.replace("setp.eq.u32 %p4", "setp.ne.u32 %p4").replace("@%p4", "@!%p4")
    woven_right(negated.format(begin=begin.replace("%p4", "!%p4"), meet=meet, work=WORK["loop"]), strategy="weave")


@pytest.mark.parametrize("begin", [
    pytest.param("activemask.b32 %r20; vote.sync.ballot.b32 %r21, !%p4, %r20;", id="who-does-not-come"),
    pytest.param("activemask.b32 %r20; vote.sync.ballot.b32 %r21, %p4, %r20; setp.eq.u32 %p4, %r13, 3;",
                 id="then-changed"),
    pytest.param("activemask.b32 %r21;", id="who-was-there-before"),
    pytest.param("activemask.b32 %r20; vote.sync.ballot.b32 %r21, %p4, %r20; mov.b32 %r21, -1;", id="then-all"),
])  # fmt: skip
def test_other_masks_are_refused(begin: str) -> None:
    body = LOOP.format(begin=begin, meet="redux.sync.add.s32 %r4, %r3, %r21;", work=WORK["loop"])
    with pytest.raises(CannotWeave, match="would wait for lanes that may have ended"):
        goptx.weave(source("k", body), source("partner", PARTNER))
