"""Temporaries of a CTA in its shared memory: on the emulator against the kernels alone, and what is refused."""

from typing import Any

import numpy as np
import pytest
from strategies.dependent_kernels import INDEX, elementwise, strided

import goptx
from goptx.errors import CannotWeave

HAND_ON = [("A:2", "B:0")]
SHAPES = [goptx.Shape(2, 64)] * 2
OPPOSITE = f"{INDEX} sub.s32 %r8, %r2, %r3; sub.s32 %r8, %r8, 1; mad.lo.s32 %r9, %r1, %r2, %r8;"
MIRRORED = elementwise("sub.f32", index=OPPOSITE, read="%r9", guard="")
GUARDED = elementwise(
    "sub.f32", index=OPPOSITE, read="%r9", guard="setp.ge.s32 %p1, %r9, %r5; setp.ge.s32 %p2, %r4, %r5; "
    "@%p1 bra DONE; @%p2 bra DONE;"
)  # fmt: skip
WHOLE = elementwise("mul.f32", guard="")


def fused(*sources: str, **options: Any) -> goptx.Woven:
    return goptx.fuse(*sources, strategy="vertical", **{"shapes": SHAPES, "local": HAND_ON, **options})


@pytest.mark.parametrize(
    ("first", "second", "n", "barriers"),
    [
        (WHOLE, MIRRORED, 128, 1),
        (WHOLE, GUARDED, 100, 1),
        (elementwise("mul.f32"), GUARDED, 100, 1),
        (elementwise("mul.f32"), elementwise("sub.f32"), 100, 0),
    ],
    ids=["whole", "reader", "both", "own"],
)
def test_a_temporary_is_kept_in_shared_memory(first: str, second: str, n: int, barriers: int) -> None:
    woven = fused(first, second, same=[("A:3", "B:3")])
    rng = np.random.default_rng(0)
    x, y, z = (rng.random(128, dtype=np.float32) for _ in range(3))
    between, alone, together = (np.zeros(128, np.float32) for _ in range(3))
    goptx.emulate(first, 2, 64, [x, y, between, n])
    goptx.emulate(second, 2, 64, [between, z, alone, n])
    for seed in range(3):
        goptx.emulate(woven, args=[[x, y, None, n], [None, z, together, n]], seed=seed, races=True)
        assert (alone.view(np.uint32) == together.view(np.uint32)).all()
    assert alone.any()
    assert woven.report.merged.barriers == barriers
    assert woven.resources().shared_bytes == 256
    assert "[k_woven_a_param_2]" not in woven.ptx
    assert woven.ptx.count("ld.global") == 3


MOVED = (
    r"for something else than its loads and stores, so it cannot move; keep the buffer in memory \(depends=True, same= "
    r"instead of local=\), or use separate launches\.$"
)
CROSSED = elementwise(index=f"{INDEX} mad.lo.s32 %r9, %r1, 64, %r3; xor.b32 %r9, %r9, 1;", read="%r9", guard="")


@pytest.mark.parametrize(
    ("first", "second", "options", "said"),
    [
        (WHOLE, MIRRORED, {"shapes": None}, "depends on the block; give the kernels"),
        (elementwise(), MIRRORED, {}, r"kernel B .*reads the local buffer .*not shown to have been written"),
        (elementwise(), GUARDED, {}, "name bounds that are equal"),
        (WHOLE, elementwise(read="%r3"), {}, "different CTAs"),
        (WHOLE, CROSSED, {"assume_local": True}, "not shown to be in a piece"),
        (WHOLE, elementwise(load="ld.volatile.global.f32", guard=""), {}, "no plain load or store of the local buffer"),
        (WHOLE, elementwise(before="setp.eq.s64 %p3, %rd1, 0; @%p3 trap;", guard=""), {}, MOVED),
        (WHOLE, elementwise(before="st.global.u64 [%rd2], %rd1;", guard=""), {}, MOVED),
        (strided(), MIRRORED, {}, "not shown|different CTAs"),
    ],
    ids=["block", "bound", "bounds", "other", "piece", "volatile", "compared", "stored", "loop"],
)  # fmt: skip
def test_what_cannot_be_kept_in_shared_memory_is_refused(first: str, second: str, options: Any, said: str) -> None:
    with pytest.raises(CannotWeave, match=said):
        fused(first, second, **options)


def test_more_shared_memory_than_there_is() -> None:
    wide = [text.replace("4;", "64;") for text in (WHOLE, MIRRORED)]
    with pytest.raises(CannotWeave, match=r"takes 65536 bytes of shared memory .* ptxas allows 49152"):
        fused(*wide, shapes=[goptx.Shape(2, 1024)] * 2)


def test_two_buffers_of_one_kernel() -> None:
    woven = fused(WHOLE, MIRRORED, MIRRORED, local=[*HAND_ON, ("B:2", "C:0")], shapes=[goptx.Shape(2, 64)] * 3)
    x, y, one, two, out, expected = (np.arange(128, dtype=np.float32) for _ in range(6))
    for source, own in zip((WHOLE, MIRRORED, MIRRORED), ([x, y, one], [one, y, two], [two, y, expected]), strict=True):
        goptx.emulate(source, 2, 64, [*own, 128])
    goptx.emulate(woven, args=[[x, y, None, 128], [None, y, None, 128], [None, y, out, 128]])
    assert (out == expected).all()
    assert woven.resources().shared_bytes == 512
