"""Branches that lanes of a warp take together, since they take them by a value of one lane."""

from proof.fused_text import Given, certificate

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
