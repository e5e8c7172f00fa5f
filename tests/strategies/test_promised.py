"""`assume_private=True`: what is promised, what still has to be proved, and what a false promise does."""

from typing import Any

import numpy as np
import pytest
from strategies.dependent_kernels import INDEX, elementwise, strided
from strategies.test_internalise import FORWARDED, SAME_BOUNDS, accesses, fused

import goptx
from goptx.errors import CannotWeave, CheckFailed, EmulationFault

N = 100
PERMUTED = "mul.wide.s32 %rd9, %r4, 4; add.s64 %rd9, %rd2, %rd9; ld.global.u32 %r9, [%rd9];"  # y as indices
FIRST = elementwise(before=PERMUTED, write="%r9").replace("ld.global.f32 %f2, [%rd6];", "mov.f32 %f2, %f1;")
SECOND = elementwise(before=PERMUTED, read="%r9").replace("ld.global.f32 %f2, [%rd6];", "mov.f32 %f2, %f1;")
HALVED = "shr.u32 %r8, %r4, 1;"


def promised(*sources: str, **options: Any) -> goptx.Woven:
    return fused(*sources, **{"private": FORWARDED, "same": SAME_BOUNDS, "assume_private": True, **options})


def test_indices_from_memory() -> None:
    """Each thread reads what it has written at a place that depends on data."""
    with pytest.raises(CannotWeave, match="not shown to be equal"):
        promised(FIRST, SECOND, assume_private=False)
    woven = promised(FIRST, SECOND)
    assert not woven.limits and not woven.along_x
    (temporary,) = woven.report.temporaries
    assert temporary.where == "registers" and "not proved" in temporary.why and "not shown to be equal" in temporary.why
    x, order = np.random.default_rng(0).random(N, dtype=np.float32), np.random.default_rng(1).permutation(N)
    out = np.zeros(N, np.float32)
    indices = order.astype(np.uint32)
    goptx.emulate(woven, 4, 32, [[x, indices, None, N], [None, indices, out, N]])
    assert (out == 4 * x).all()


def test_in_shapes_of_several_axes() -> None:
    """The proof holds along x only; the promise holds everywhere."""
    assert fused(elementwise(), elementwise(), private=FORWARDED, same=SAME_BOUNDS).along_x
    assert not promised(elementwise(), elementwise()).along_x


@pytest.mark.parametrize(
    ("first", "second", "options"),
    [
        (elementwise(), elementwise(), {"same": ()}),
        (elementwise(), elementwise(guard=""), {}),
        (elementwise(before=HALVED, write="%r8"), elementwise(before=HALVED, read="%r8"), {}),
        (strided(), strided(), {}),
        (elementwise(), strided(), {}),
    ],
    ids=["bound", "guard", "several threads", "loops", "read in a loop"],
)
def test_what_the_promise_is_enough_for(first: str, second: str, options: Any) -> None:
    woven = promised(first, second, **options)
    assert accesses(woven) == 4 and woven.report.temporaries[0].where == "registers"


NO_MATCH = "which assume_private=True does not match with one store: .*"
TWO = elementwise(before=PERMUTED).replace(
    "st.global.f32 [%rd7], %f3;", "st.global.f32 [%rd7], %f3; mul.wide.s32 %rd10, %r9, 4; add.s64 %rd10, %rd3, %rd10; "
    "st.global.f32 [%rd10], %f1;"
)  # fmt: skip
BOTH = elementwise().replace("st.global.f32 [%rd7], %f3;", "st.global.f32 [%rd7], %f3; st.global.f32 [%rd7+4], %f1;")
NEXT = elementwise(before="add.s32 %r8, %r4, 1; mul.wide.s32 %rd9, %r8, 4;", read="%r8")
PAIR = elementwise().replace("ld.global.f32 %f1", "ld.global.v2.f32 {%f1, %f4}")
NARROW = elementwise().replace("ld.global.f32 %f1, [%rd5];", "ld.global.u8 %r8, [%rd5]; cvt.rn.f32.u32 %f1, %r8;")
LAST_IN_LOOP = strided().replace("DONE:", "ld.global.f32 %f1, [%rd1]; st.global.f32 [%rd3], %f1; DONE:")


@pytest.mark.parametrize(
    ("first", "second", "options", "message"),
    [
        (elementwise(), elementwise(), {"private": [("A:0", "B:2")]}, "before any kernel has stored to it"),
        (TWO, elementwise(), {}, f"{NO_MATCH}where .* may be the store that ran last, too"),
        (TWO, SECOND, {}, f"{NO_MATCH}may be the store that ran last, too"),
        (elementwise(), elementwise(read="%r8", before="add.s32 %r8, %r4, 0; xor.b32 %r9, %r4, 1;"), {}, ""),
        (elementwise(), PAIR, {}, f"{NO_MATCH}which stores elements of another width"),
        (elementwise(), NARROW, {}, f"{NO_MATCH}which stores elements of another width"),
        (strided(), elementwise(), {}, f"{NO_MATCH}in a loop, perhaps another element each time around"),
        (strided(), LAST_IN_LOOP, {}, f"{NO_MATCH}in a loop, perhaps another"),
        (strided(), strided(), {"same": ()}, f"{NO_MATCH}in a loop, perhaps another"),
        (elementwise(store="red.global.add.f32"), elementwise(), {}, "no plain load or store of the private buffer"),
        (elementwise(before="st.global.u64 [%rd2], %rd3;"), elementwise(), {}, "cannot vanish"),
    ],
    ids=["first", "two", "any of two", "equal", "pair", "narrow", "loop", "after a loop", "bounds", "atomic", "stored"],
)  # fmt: skip
def test_what_the_promise_is_not_enough_for(first: str, second: str, options: Any, message: str) -> None:
    if not message:
        assert accesses(promised(first, second, **options)) == 4
        return
    with pytest.raises(
        CannotWeave, match=f"(?s)A:2 \\(out\\), B:0 \\(x\\)|A:0 \\(x\\), B:2 \\(out\\).*{message}"
    ) as refused:
        promised(first, second, **options)
    assert "kernel " in str(refused.value) and "<ptx>:" in str(refused.value)
    left = promised(first, second, unproved="memory", **{**options, "assume_local": True})
    assert [t.where for t in left.report.temporaries] == ["memory"]


def test_what_is_certainly_another_element_is_refused() -> None:
    beside = elementwise().replace("[%rd5]", "[%rd5+4]")
    with pytest.raises(CannotWeave, match="which is another element, and the only one that the thread has stored"):
        promised(elementwise(guard=""), beside)


def test_elements_side_by_side_are_matched_by_their_addresses() -> None:
    reader = elementwise().replace("ld.global.f32 %f2, [%rd6];", "ld.global.f32 %f2, [%rd5+4];")
    woven = promised(BOTH, reader)
    assert accesses(woven) == 3  # of x and y, and what B writes


def test_a_value_that_is_summed_up_in_a_loop() -> None:
    """One element for all iterations becomes a register; without the promise nothing is proved of it."""
    sums = strided().replace("ld.global.f32 %f2, [%rd6];", "mov.f32 %f2, %f1;")
    sums = sums.replace("mul.wide.s32 %rd4, %r4, 4;", "mul.wide.s32 %rd4, %r4, 4; mul.wide.s32 %rd8, %r3, 4;")
    sums = sums.replace("add.s64 %rd7, %rd3, %rd4;", "add.s64 %rd7, %rd3, %rd8; ld.global.f32 %f4, [%rd7];")
    sums = sums.replace("add.f32 %f3, %f1, %f2;", "add.f32 %f3, %f1, %f4;")
    sums = sums.replace("LOOP:", "mul.wide.s32 %rd8, %r3, 4; add.s64 %rd7, %rd3, %rd8; "
                        "mov.f32 %f5, 0f00000000; st.global.f32 [%rd7], %f5; LOOP:")  # fmt: skip
    reader = elementwise(read="%r3")
    pairs = {"private": [("A:2", "B:0")], "same": SAME_BOUNDS}
    with pytest.raises(CannotWeave, match="reads the private buffer"):
        fused(sums, reader, **pairs)
    woven = fused(sums, reader, assume_private=True, **pairs)
    x, y = np.arange(96, dtype=np.float32), np.ones(96, np.float32)
    t, alone, out = (np.zeros(96, np.float32) for _ in range(3))
    goptx.emulate(sums, 1, 32, [x, y, t, 96])
    goptx.emulate(reader, 1, 32, [t, y, alone, 96])
    goptx.emulate(woven, 1, 32, [[x, y, None, 96], [None, y, out, 96]])
    assert (out == alone).all() and out[0] == x[0] + x[32] + x[64] + 1


# A promise that is false ----------------------------------------------------------------------------------


def test_a_false_promise_that_something_was_stored_is_a_fault() -> None:
    """The strict emulator sees a register that was never written."""
    woven = promised(elementwise(), elementwise(), same=())
    x, out = np.ones(N, np.float32), np.zeros(N, np.float32)
    goptx.emulate(woven, 4, 32, [[x, x, None, N], [None, x, out, N]])
    with pytest.raises(EmulationFault, match="uninitialised") as fault:
        goptx.emulate(woven, 4, 32, [[x, x, None, N - 1], [None, x, out, N]])
    assert fault.value.kind == "uninitialised"


def test_a_false_promise_of_whose_element_it_is_fails_the_check() -> None:
    opposite = f"{INDEX} sub.s32 %r8, %r2, %r3; sub.s32 %r8, %r8, 1; mad.lo.s32 %r9, %r1, %r2, %r8;"
    mirrored = elementwise("sub.f32", guard="", read="%r9", index=opposite)
    rng = np.random.default_rng(0)
    given: dict[str, Any] = {f"{kernel}:{i}": rng.random(128, dtype=np.float32) for kernel in "AB" for i in (0, 1, 2)}
    given |= {"A:3": 128, "B:3": 128, "B:0": given["A:2"]}
    shapes = [goptx.Shape(2, 64)] * 2
    options: dict[str, Any] = {"strategy": "vertical", "private": FORWARDED, "shapes": shapes, "args": given}
    checked = goptx.check(elementwise(guard=""), mirrored, assume_private=True, **options)
    assert isinstance(checked.failure, CheckFailed) and "B:2 (out)" in str(checked.failure)
    with pytest.raises(CannotWeave):
        goptx.check(elementwise(guard=""), mirrored, **options)


def test_the_promise_is_for_private_buffers_only() -> None:
    """A local buffer moves to registers only if it is proved to be each thread's own."""
    with pytest.raises(CannotWeave, match="reads the local buffer"):
        fused(elementwise(), elementwise(), local=FORWARDED, assume_private=True, shapes=[goptx.Shape(2, 64)] * 2)


def test_an_unknown_value_of_unproved() -> None:
    with pytest.raises(goptx.InputError, match="unproved `keep` is unknown; expected refuse or memory"):
        fused(elementwise(), elementwise(), unproved="keep")


def test_stores_of_two_widths_to_one_register_are_refused() -> None:
    """With and without the promise: a register has one width."""
    mixed = elementwise(guard="").replace(
        "st.global.f32 [%rd7], %f3;", "st.global.u32 [%rd7], %r4; st.global.u8 [%rd7], %r4;"
    )
    for assume in (False, True):
        with pytest.raises(CannotWeave, match=r"the widths differ|stores elements of another width"):
            fused(mixed, elementwise(guard=""), private=FORWARDED, assume_private=assume)
