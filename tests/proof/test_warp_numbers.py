"""Branches that whole warps take together by their number: proved, and no edit that separates lanes is."""

import re

import pytest
from bodies import kernel

import goptx
from goptx import Shape
from goptx.checking.certify import prove
from goptx.proof.prove import prove_text
from goptx.ptx.parse import parse

ROW = """
    ld.param.u64 %rd1, [{k}_in]; ld.param.u64 %rd2, [{k}_out];
    mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.s32 %r1, %r2, %r3, %r4;
    {test} @%p1 bra DONE;
    mul.wide.u32 %rd3, %r1, 4; add.s64 %rd1, %rd1, %rd3; ld.global.u32 %r5, [%rd1];
    shfl.sync.bfly.b32 %r6, %r5, 1, 31, -1; add.s64 %rd2, %rd2, %rd3; st.global.u32 [%rd2], %r6;
DONE:
    ret;
"""
PLAIN = ROW.replace("{test} @%p1 bra DONE;", "mov.u32 %r9, 1;")
SHAPES = [Shape(4, 128)] * 2
TESTS = {
    "below": "setp.ge.u32 %p1, %r1, 320;",
    "above": "setp.gt.s32 %p1, %r1, 319;",
    "row": "shr.u32 %r7, %r1, 5; shl.b32 %r8, %r7, 4; setp.gt.s32 %p1, %r8, 50;",
    "divided": "div.u32 %r7, %r1, 32; setp.eq.s32 %p1, %r7, 3;",
}


def woven(test: str) -> goptx.Woven:
    return goptx.weave(kernel(ROW.format(k="a", test=test), "a"), kernel(PLAIN.format(k="b"), "b"), shapes=SHAPES)


@pytest.mark.parametrize("test", TESTS.values(), ids=TESTS)
def test_branches_of_whole_warps_are_proved(test: str) -> None:
    made = woven(test)
    assert "bra.uni" in made.ptx
    assert "vote" not in made.ptx
    assert made.report.divergences == ()
    assert prove(made), str(prove(made))


@pytest.mark.parametrize(
    "test",
    [
        "setp.ge.u32 %p1, %r1, 321;",
        "setp.gt.s32 %p1, %r1, 320;",
        "setp.lt.u32 %p1, %r4, 5;",
        "shr.u32 %r7, %r1, 4; setp.gt.s32 %p1, %r7, 3;",
        "add.u32 %r7, %r1, 1; shr.u32 %r8, %r7, 5; setp.gt.s32 %p1, %r8, 3;",
        "div.u32 %r7, %r1, 48; setp.gt.s32 %p1, %r7, 3;",
    ],
)
def test_branches_that_separate_lanes_are_not(test: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Woven as if all lanes agreed on every comparison."""
    monkeypatch.setattr("goptx.analysis.values.windows.decided", lambda instruction, found: True)
    made = prove(woven(test))
    assert not made
    assert "go one way" in str(made) or "not all lanes" in str(made)


LOOP = """
    ld.param.u64 %rd1, [{k}_in]; ld.param.u64 %rd2, [{k}_out];
    mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r1, %tid.x; mov.u32 %r7, 0; mul.wide.u32 %rd3, %r1, 4;
    add.s64 %rd2, %rd2, %rd3;
MORE:
    mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd1, %rd3; ld.global.u32 %r5, [%rd4];
    shfl.sync.bfly.b32 %r6, %r5, 1, 31, -1; add.u32 %r7, %r7, %r6;
    {next} @%p1 bra MORE;
    st.global.u32 [%rd2], %r7;
    ret;
"""


def proved_with_one_way(next: str) -> str:
    """What the checker says of a loop whose fused branch says that the warp goes one way."""
    kernels = [kernel(LOOP.format(k="a", next=next), "a"), kernel(PLAIN.format(k="b"), "b")]
    text = re.sub(r"@%a_p1 bra(\.uni)?", "@%a_p1 bra.uni", goptx.weave(*kernels, shapes=SHAPES).text())
    made = prove_text(text, [parse(k) if isinstance(k, str) else k for k in kernels])
    return "" if made else str(made)


@pytest.mark.parametrize(
    "next",
    [
        "add.u32 %r1, %r1, %r3; setp.lt.u32 %p1, %r1, 512;",
        "add.s32 %r1, 64, %r1; setp.gt.s32 %p1, 512, %r1;",
        "add.s32 %r1, %r1, 96; setp.ge.u32 %p1, %r1, 320; xor.b32 %r8, %r7, 1; not.pred %p1, %p1;",
    ],
)
def test_loops_of_whole_warps_are_proved(next: str) -> None:
    assert proved_with_one_way(next) == ""


@pytest.mark.parametrize(
    "next",
    [
        "add.u32 %r1, %r1, %r3; setp.lt.u32 %p1, %r1, 513;",
        "add.u32 %r1, %r1, %r3; setp.le.u32 %p1, %r1, 512;",
        "add.u32 %r1, %r1, 48; setp.lt.u32 %p1, %r1, 512;",
        "sub.u32 %r1, 512, %r1; setp.lt.u32 %p1, %r1, 512;",
        "add.u32 %r1, %r1, %r1; setp.lt.u32 %p1, %r1, 512;",
        "add.u32 %r1, %r1, %r3; setp.ne.u32 %p1, %r1, 512;",
        "setp.lt.u32 %p2, %r1, 9; @%p2 add.u32 %r1, %r1, %r3; setp.lt.u32 %p1, %r1, 512;",
        "setp.gt.u32 %p2, %r5, 9; @%p2 add.u32 %r1, %r1, %r3; setp.lt.u32 %p1, %r1, 512;",
        "add.u32 %r1, %r1, %r5; setp.lt.u32 %p1, %r1, 512;",
    ],
)
def test_loops_that_separate_lanes_are_not(next: str) -> None:
    assert "go one way" in proved_with_one_way(next)
