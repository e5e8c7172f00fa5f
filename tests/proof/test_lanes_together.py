"""Branches that lanes of a warp take together, since they take them by a value of one lane."""

import re

from proof.fused_text import Given, certificate

import goptx
from goptx.checking.certify import prove_texts
from goptx.ptx.parse import parse

LANE = "ld.param.u64 %d1, [out];\nld.global.u32 %r1, [%d1];\nshfl.sync.idx.b32 {to}, %r1, {source}, {clamp}, {mask};\n"
REST = "setp.eq.u32 %p1, %r2, 0;\n@%p1 bra L;\nst.global.u32 [%d1], %r2;\nL:\nbar.warp.sync -1;\n"


def is_proved(source: str = "0", clamp: str = "31", mask: str = "-1", to: str = "%r2") -> bool:
    """Of a kernel with a branch by what a shuffle gives, which is stated to go one way, and an added instruction of the
    whole warp on a side of it."""

    asked = "mov.u32 %r3, %laneid;\n" if "%r3" in source + mask else "mov.u32 %r3, 0;\n"
    given = Given(asked + REST.join((LANE.format(source=source, clamp=clamp, mask=mask, to=to), "")))
    lines = "A1\nA2\nA3\nA4\nA5\nA6: @%a_p1 bra.uni AL;\nA7\nbar.warp.sync -1;\nAL:\nA9"
    return certificate(given, lines).proved


def test_what_one_lane_gives_is_one_value_for_its_warp() -> None:
    assert is_proved() and is_proved(source="5")
    assert not is_proved(source="%r3")  # each lane asks for another one
    assert not is_proved(clamp="7943")  # within groups of 8 lanes
    assert not is_proved(clamp="3")  # who asks for a lane above gets its own
    assert not is_proved(mask="%r3")


SIDES = """\
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 n) {
.reg .b32 %r<9>; .reg .b64 %d<5>; .reg .pred %p<3>;
ld.param.u64 %d1, [out];
ld.param.u32 %r1, [n];
mov.u32 %r2, %tid.x;
mul.wide.u32 %d2, %r2, 4;
add.u64 %d3, %d1, %d2;
setp.ge.u32 %p1, %r2, %r1;
@%p1 ret;
ld.global.u32 %r3, [%d3];
setp.eq.u32 %p2, %r3, 0;
@%p2 bra SECOND;
bar.sync 0;
st.global.u32 [%d3], 1;
bra DONE;
SECOND:
bar.sync 0;
st.global.u32 [%d3], 2;
DONE:
ret;
}
"""


def test_lanes_come_together_to_one_of_two_barriers_that_say_so() -> None:
    """Those lanes do whose kernel goes on; the others come to a barrier of their own."""
    text = goptx.fuse(parse(SIDES), parse(SIDES), strategy="vertical").text()
    modules = [parse(SIDES)] * 2
    assert prove_texts(text, modules), str(prove_texts(text, modules))
    assert "bra.uni" in text
    for old, new in (
        (r"@%b_run0 bra (\$\w+);\n(\s+)barrier", r"@!%b_run0 bra \1;\n\2barrier"),
        (r"@%b_run0 bra (\$\w+);\n(\s+)barrier", r"@%b_p1 bra \1;\n\2barrier"),
        (r"@%b_run0 bra (\$\w+);\n(\s+)barrier", r"@%b_p2 bra \1;\n\2barrier"),
        (r"(@%b_p2 bra)", r"bar.warp.sync -1;\n    \1"),
        (r"(@%b_run0 bra \$\w+;\n\s+barrier.sync)", r"\1.aligned"),
        (r"@%b_p2 bra", "@!%b_p2 bra"),
    ):
        wrong = re.sub(old, new, text, count=1)
        assert wrong != text, (old, text)
        assert not prove_texts(wrong, modules), new
