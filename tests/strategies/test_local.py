"""Temporaries of a CTA in its shared memory: compared with the kernels alone on the emulator, or refused."""

from typing import Any

import numpy as np
import pytest
from strategies.dependent_kernels import INDEX, elementwise, strided

import goptx
from goptx.errors import CannotWeave

FORWARDED = [("A:2", "B:0")]
SHAPES = [goptx.Shape(2, 64)] * 2
OPPOSITE = f"{INDEX} sub.s32 %r8, %r2, %r3; sub.s32 %r8, %r8, 1; mad.lo.s32 %r9, %r1, %r2, %r8;"
MIRRORED = elementwise("sub.f32", index=OPPOSITE, read="%r9", guard="")
GUARDED = elementwise(
    "sub.f32", index=OPPOSITE, read="%r9", guard="setp.ge.s32 %p1, %r9, %r5; setp.ge.s32 %p2, %r4, %r5; "
    "@%p1 bra DONE; @%p2 bra DONE;"
)  # fmt: skip
WHOLE = elementwise("mul.f32", guard="")


def fused(*sources: str, **options: Any) -> goptx.Woven:
    return goptx.fuse(*sources, strategy="vertical", **{"shapes": SHAPES, "local": FORWARDED, **options})


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
def test_a_temporary_is_placed_in_shared_memory(first: str, second: str, n: int, barriers: int) -> None:
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


HALF_GUARD = "setp.ge.s32 %p1, %r3, 32; @%p1 bra DONE;"
HALF = elementwise("mul.f32", guard=HALF_GUARD)
EARLY = "setp.ge.s32 %p1, %r1, %r5; @%p1 bra DONE;"  # whole CTAs
ODD = "and.b32 %r18, %r4, 1; setp.eq.s32 %p1, %r18, 1; @%p1 bra DONE;"
EVEN = ODD.replace("setp.eq", "setp.ne")
LANE = "mov.u32 %r18, %laneid; setp.ge.s32 %p1, %r18, 16; @%p1 bra DONE;"
STORE = "st.global.f32 [%rd7], %f3;"
BYTE = "st.global.u8 [%rd7], %r4;"
BYTE_READ_BACK = f"{BYTE} ld.global.f32 %f3, [%rd7]; st.global.f32 [%rd2], %f3;"
BESIDE = f"{INDEX} xor.b32 %r8, %r3, 1; mad.lo.s32 %r9, %r1, %r2, %r8;"
BESIDE_GUARD = "setp.ge.s32 %p1, %r9, %r5; @%p1 bra DONE;"
REVERSED = f"{INDEX} sub.s32 %r8, %r2, %r3; sub.s32 %r8, %r8, 1; mad.lo.s32 %r9, %r1, %r2, %r8;"
IN_64_BITS = (
    "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.s32 %r4, %r1, %r2, %r3; "
    "mul.wide.u32 %rd10, %r1, %r2; cvt.u64.u32 %rd11, %r3; add.s64 %rd10, %rd10, %rd11;"
)
BOUND_64 = "cvt.s64.s32 %rd12, %r5; setp.ge.s64 %p1, %rd10, %rd12; @%p1 bra DONE;"


def reversed_(guard: str, operation: str = "sub.f32") -> str:
    """Each thread reads the element of the one at the other end of the CTA; `%r8` is its number there, `%r9` in all."""
    return elementwise(operation, index=REVERSED, read="%r9", guard=guard)


def long(operation: str, guard: str = "", reads: str = "%rd10", index: str = "") -> str:
    text = elementwise(operation, index=f"{IN_64_BITS} {index}", guard=guard)
    text = text.replace("mul.wide.s32 %rd4, %r4, 4", f"shl.b64 %rd4, {reads}, 2")
    return text.replace("mul.wide.s32 %rd8, %r4, 4", "shl.b64 %rd8, %rd10, 2")


LONG_REVERSED = (
    "cvt.u64.u32 %rd13, %r2; sub.s64 %rd13, %rd13, 1; sub.s64 %rd13, %rd13, %rd11; mul.wide.u32 %rd14, %r1, %r2; "
    "add.s64 %rd13, %rd13, %rd14;"
)
BOTH_LONG = f"{BOUND_64} setp.ge.s64 %p2, %rd13, %rd12; @%p2 bra DONE;"
SEEN = "setp.ge.s32 %p1, %r8, 32; @%p1 bra DONE;"  # of the thread that reads what the other has written


@pytest.mark.slow
@pytest.mark.parametrize("n", [1, 64, 65, 100, 127, 128])
@pytest.mark.parametrize(
    ("first", "second", "barriers"),
    [
        (elementwise("mul.f32"), elementwise(), 0),
        (elementwise("mul.f32"), GUARDED, 1),
        (elementwise("mul.f32"), elementwise(index=BESIDE, read="%r9", guard=BESIDE_GUARD), 1),
        (elementwise("mul.f32", guard=EARLY), elementwise(guard=EARLY), 0),
        (elementwise("mul.f32", guard=EARLY), reversed_(EARLY), 1),
        (HALF, elementwise(guard=HALF_GUARD), 0),
        (HALF, elementwise(guard=f"setp.ge.s32 %p2, %r4, %r5; @%p2 bra DONE; {HALF_GUARD}"), 0),
        (HALF, reversed_(SEEN), 1),
        (elementwise("mul.f32", guard=ODD), elementwise(guard=ODD), 0),
        (elementwise("mul.f32", guard=LANE), elementwise(guard=LANE), 0),
        (elementwise(guard="setp.lt.s32 %p1, %r4, %r5;").replace("st.global", "@%p1 st.global"), elementwise(), 0),
        (long("mul.f32", BOUND_64), long("sub.f32", BOUND_64), 0),
        (long("mul.f32", BOUND_64), long("sub.f32", BOTH_LONG, "%rd13", LONG_REVERSED), 1),
    ],
    ids=[
        "equal", "seen", "neighbour", "CTAs", "CTAs reversed", "of the CTA", "stronger", "of the CTA reversed",
        "odd", "lanes", "predicate", "64 bits", "64 bits reversed",
    ],
)  # fmt: skip
def test_guarded_kernels_forward_what_is_written(first: str, second: str, barriers: int, n: int) -> None:
    """In partly filled and empty CTAs: the strict emulator faults where an element was not written."""
    woven = fused(first, second, same=[("A:3", "B:3")])
    assert woven.resources().shared_bytes == 256 and woven.report.merged.barriers == barriers
    assert [t.where for t in woven.report.temporaries] == ["shared memory"]
    rng = np.random.default_rng(n)
    x, y, z = (rng.random(128, dtype=np.float32) for _ in range(3))
    between, alone, together = (np.zeros(128, np.float32) for _ in range(3))
    goptx.emulate(first, 2, 64, [x, y, between, n])
    goptx.emulate(second, 2, 64, [between, z, alone, n])
    goptx.emulate(woven, args=[[x, y, None, n], [None, z, together, n]], seed=n, races=True)
    assert (alone.view(np.uint32) == together.view(np.uint32)).all()


def test_what_each_thread_forwards_to_itself_in_a_loop_goes_to_registers() -> None:
    woven = fused(strided("mul.f32"), strided("sub.f32"), same=[("A:3", "B:3")])
    assert woven.resources().shared_bytes == 0 and woven.ptx.count("ld.global") == 3
    assert [(t.declared, t.where) for t in woven.report.temporaries] == [("local", "registers")]
    with pytest.raises(CannotWeave, match=r"touches the local buffer A:2 \(out\), B:0 \(x\)"):
        fused(strided("mul.f32"), strided("sub.f32"))


def test_the_promise_for_the_cta_is_enough_for_what_was_written() -> None:
    """assume_local=True: what is loaded was stored by the CTA. If it was not, there is a fault."""
    woven = fused(elementwise("mul.f32"), GUARDED, assume_local=True)
    assert woven.resources().shared_bytes == 256
    x, out = np.ones(128, np.float32), np.zeros(128, np.float32)
    goptx.emulate(woven, args=[[x, x, None, 100], [None, x, out, 90]])
    with pytest.raises(goptx.EmulationFault) as fault:
        goptx.emulate(woven, args=[[x, x, None, 90], [None, x, out, 100]])
    assert fault.value.kind == "uninitialised"


MOVED = (
    r"for something else than its loads and stores, so it cannot move; keep the buffer in memory \(depends=True, same= "
    r"instead of local=\), or use separate launches\. \[plain-accesses\]$"
)
CROSSED = elementwise(index=f"{INDEX} mad.lo.s32 %r9, %r1, 64, %r3; xor.b32 %r9, %r9, 1;", read="%r9", guard="")
WIDER = elementwise(index=f"{INDEX} shl.b32 %r9, %r4, 1;", read="%r9", guard="")


@pytest.mark.parametrize(
    ("first", "second", "options", "message"),
    [
        (WHOLE, MIRRORED, {"shapes": None}, "depends on the block; give the kernels"),
        (elementwise(), MIRRORED, {}, r"kernel B .*reads the local buffer .*not proved to have been written"),
        (elementwise(), GUARDED, {}, "name bounds that are equal"),
        (WHOLE, elementwise(read="%r3"), {}, "different CTAs"),
        (WHOLE, CROSSED, {"assume_local": True}, "not proved to be in a piece"),
        (WHOLE, WIDER, {"assume_local": True}, r"kernel B .* takes a piece of another size of the local buffer A:2"),
        (WHOLE, elementwise(load="ld.volatile.global.f32", guard=""), {}, "not a plain load or store of"),
        (WHOLE, elementwise(before="setp.eq.s64 %p3, %rd1, 0; @%p3 trap;", guard=""), {}, MOVED),
        (WHOLE, elementwise(before="st.global.u64 [%rd2], %rd1;", guard=""), {}, MOVED),
        (strided(), MIRRORED, {}, "not proved|different CTAs"),
        (HALF, WHOLE, {}, "not proved to have been written"),
        (HALF, elementwise(guard="setp.ge.s32 %p1, %r3, 33; @%p1 bra DONE;"), {}, "not proved to have been written"),
        (elementwise(guard=ODD), elementwise(guard=EVEN), {}, "not proved to have been written"),
        (elementwise(guard=EARLY), elementwise(guard="setp.gt.s32 %p1, %r1, %r5; @%p1 bra DONE;"), {}, "not proved to"),
        (HALF, reversed_(HALF_GUARD), {}, "not proved to have been written"),
        (elementwise(guard=LANE), reversed_(LANE), {}, "not proved to have been written"),
        (WHOLE.replace(STORE, BYTE), WHOLE, {}, "not proved to have been written"),
        (WHOLE.replace(STORE, BYTE_READ_BACK), WHOLE, {}, "not proved to have been written"),
    ],
    ids=[
        "block", "bound", "bounds", "other", "piece", "size", "volatile", "compared", "stored", "loop", "weaker",
        "longer", "opposite", "CTAs", "own guard", "lane", "byte", "own byte",
    ],
)  # fmt: skip
def test_what_cannot_be_placed_in_shared_memory_is_refused(first: str, second: str, options: Any, message: str) -> None:
    with pytest.raises(CannotWeave, match=message):
        fused(first, second, **options)


def test_more_shared_memory_than_there_is() -> None:
    wide = [text.replace(" 4;", " 64;") for text in (WHOLE, MIRRORED)]
    with pytest.raises(CannotWeave, match=r"takes 65536 bytes of shared memory .* ptxas allows 49152"):
        fused(*wide, shapes=[goptx.Shape(2, 1024)] * 2)


def test_two_buffers_of_one_kernel() -> None:
    woven = fused(WHOLE, MIRRORED, MIRRORED, local=[*FORWARDED, ("B:2", "C:0")], shapes=[goptx.Shape(2, 64)] * 3)
    x, y, one, two, out, expected = (np.arange(128, dtype=np.float32) for _ in range(6))
    for source, own in zip((WHOLE, MIRRORED, MIRRORED), ([x, y, one], [one, y, two], [two, y, expected]), strict=True):
        goptx.emulate(source, 2, 64, [*own, 128])
    goptx.emulate(woven, args=[[x, y, None, 128], [None, y, None, 128], [None, y, out, 128]])
    assert (out == expected).all()
    assert woven.resources().shared_bytes == 512
