"""Kernels that depend on each other, one after the other in each thread: run on the emulator, or refused."""

from typing import Any

import numpy as np
import pytest
from strategies.dependent_kernels import INDEX, elementwise, strided

import goptx
from goptx.errors import CannotWeave, DependentKernels, InputError

FORWARDED = [("A:2", "B:0")]
N = 100
MIRRORED = elementwise(  # each thread reads what its opposite in the CTA has written
    "sub.f32", index=f"{INDEX} sub.s32 %r8, %r2, %r3; sub.s32 %r8, %r8, 1; mad.lo.s32 %r9, %r1, %r2, %r8;", read="%r9"
)
MIRRORED_ALL = elementwise(
    "sub.f32", guard="", index=f"{INDEX} sub.s32 %r8, %r2, %r3; sub.s32 %r8, %r8, 1; mad.lo.s32 %r9, %r1, %r2, %r8;",
    read="%r9",
)  # fmt: skip
SHIFTED = elementwise(before="add.s32 %r8, %r4, 32;", read="%r8")


def fused(*sources: str, **options: Any) -> goptx.Woven:
    return goptx.fuse(*sources, strategy="vertical", **{"depends": True, **options})


def run_both(first: str, second: str, woven: goptx.Woven, length: int = 128, n: int = N) -> None:
    """B reads what A writes, in several orders of the warps; compares all arrays."""
    rng = np.random.default_rng(0)
    x, y, z = (rng.random(length, dtype=np.float32) for _ in range(3))
    alone, together = ([np.zeros(length, np.float32) for _ in range(2)] for _ in range(2))
    goptx.emulate(first, 2, 64, [x, y, alone[0], n])
    goptx.emulate(second, 2, 64, [alone[0], z, alone[1], n])
    for seed in range(3):
        goptx.emulate(woven, 2, 64, [[x, y, together[0], n], [together[0], z, together[1], n]], seed=seed, races=True)
        assert all((a.view(np.uint32) == t.view(np.uint32)).all() for a, t in zip(alone, together, strict=True))
    assert alone[1].any()


def barriers(woven: goptx.Woven) -> int:
    return woven.report.merged.barriers


@pytest.mark.parametrize("form", [elementwise, strided])
@pytest.mark.parametrize("named", [{"same": FORWARDED}, {}, {"same": [*FORWARDED, ("A:3", "B:3")]}])
def test_what_a_thread_forwards_to_itself_needs_no_barrier(form: Any, named: Any) -> None:
    sources = form("mul.f32"), form("sub.f32")
    woven = fused(*sources, **named)
    run_both(*sources, woven)
    assert barriers(woven) == 0
    assert woven.depends


def test_what_stays_within_a_cta_gets_a_barrier() -> None:
    sources = elementwise("mul.f32"), MIRRORED_ALL
    woven = fused(*sources, same=FORWARDED)
    run_both(*sources, woven, n=128)
    assert barriers(woven) == 1
    assert any("a barrier stands before kernel B" in note and "within a CTA" in note for note in woven.report.notes)
    with pytest.raises(InputError, match="along x only"):
        woven.launched(4, (8, 8))


def test_the_caller_promises_that_no_barrier_is_needed() -> None:
    """Each lane reads what another lane of its warp wrote."""
    reverse = "xor.b32 %r8, %r3, 31; sub.s32 %r8, %r8, %r3; add.s32 %r9, %r4, %r8;"
    sources = elementwise("mul.f32", guard=""), elementwise("sub.f32", guard="", index=f"{INDEX} {reverse}", read="%r9")
    with pytest.raises(CannotWeave, match="assume_local=True"):
        fused(*sources, same=FORWARDED, no_barriers=True)
    assert barriers(fused(*sources, same=FORWARDED, assume_local=True)) == 1
    woven = fused(*sources, same=FORWARDED, assume_local=True, no_barriers=True)
    assert barriers(woven) == 0 and woven.depends
    (note,) = [n for n in woven.report.notes if "no_barriers=True" in n]
    assert note.startswith("no barrier stands before kernel B") and "assumed to be within a CTA" in note


def test_a_needless_promise_changes_nothing() -> None:
    sources = elementwise("mul.f32"), elementwise("sub.f32")
    assert fused(*sources, no_barriers=True).ptx == fused(*sources).ptx
    assert "bar.sync" in fused(elementwise("mul.f32"), MIRRORED_ALL, same=FORWARDED).ptx
    assert "bar.sync" not in fused(elementwise("mul.f32"), MIRRORED_ALL, same=FORWARDED, no_barriers=True).ptx


def test_threads_that_ended_the_kernel_arrive_at_the_barrier_too() -> None:
    sources = elementwise("mul.f32"), MIRRORED
    woven = fused(*sources, same=FORWARDED)
    assert barriers(woven) == 1
    rng = np.random.default_rng(0)
    arrays = [rng.random(128, dtype=np.float32) for _ in range(5)]
    x, y, z, between, out = arrays
    goptx.emulate(woven, 2, 64, [[x, y, between, N], [between, z, out, N]], races=True)


def test_one_barrier_serves_all_kernels_after_it() -> None:
    woven = fused(elementwise(), MIRRORED, MIRRORED, same=[("A:2", "B:0"), ("A:2", "C:0"), ("B:1", "C:1")])
    assert barriers(woven) == 1
    woven = fused(elementwise(), MIRRORED, MIRRORED, same=[("A:2", "B:0"), ("B:2", "C:0"), ("B:1", "C:1")])
    assert barriers(woven) == 2


@pytest.mark.parametrize(
    ("first", "second", "pair", "what"),
    [
        (elementwise(), SHIFTED, ("A:2", "B:0"), r"kernel A .*st\.global.* and .*kernel B .*ld\.global"),  # RAW
        (SHIFTED, elementwise(), ("A:0", "B:2"), r"kernel A .*ld\.global.* and .*kernel B .*st\.global"),  # WAR
        (elementwise(), elementwise(before="add.s32 %r8, %r4, 32;", write="%r8"), ("A:2", "B:2"), r"st\..* and .*st\."),
        (elementwise(), elementwise(read="0"), ("A:2", "B:0"), "different CTAs"),
        (elementwise(write="0"), elementwise(read="0"), ("A:2", "B:0"), "different CTAs"),
        (elementwise(write="0"), elementwise(write="0"), ("A:2", "B:2"), "different CTAs"),
        (strided(), elementwise(read="%r3"), ("A:2", "B:0"), "different CTAs"),
    ],
    ids=["read", "overwritten", "twice", "one", "one-one", "one-twice", "tid"],
)  # fmt: skip
def test_what_other_ctas_may_touch_is_refused(first: str, second: str, pair: Any, what: str) -> None:
    with pytest.raises(CannotWeave, match=what) as refused:
        fused(first, second, same=[pair])
    assert "assume_local=True" in str(refused.value)
    assert all(name in str(refused.value) for name in (pair[0].split(":")[0], "A:"))
    assert barriers(fused(first, second, same=[pair], assume_local=True)) == 1


def test_parameters_that_are_not_named_may_be_one() -> None:
    with pytest.raises(CannotWeave, match=r"A:2 \(out\) and B:[01] \([xy]\)"):
        fused(elementwise(), SHIFTED)
    named = [("A:2", "B:1"), ("A:0", "B:0")]  # parameters that are named as one are one buffer
    fused(elementwise(), SHIFTED.replace("[%rd6]", "[%rd9]").replace(
        "add.s64 %rd6, %rd2, %rd4;", "add.s64 %rd9, %rd2, %rd8;"), same=named)  # fmt: skip


def test_the_read_only_path_is_left_where_a_kernel_writes() -> None:
    reader = elementwise(load="ld.global.nc.f32")
    assert "ld.global.nc" not in fused(elementwise(), reader, same=FORWARDED).ptx
    assert "ld.global.nc" in fused(reader, elementwise(), same=[("A:0", "B:0"), *FORWARDED]).ptx
    assert "readonly" not in fused(elementwise(), elementwise(load="ld.global.proxy::readonly.f32"), same=FORWARDED).ptx
    hinted = elementwise(load="ld.global.nc.L1::no_allocate.f32")
    assert "ld.global.f32" in fused(elementwise(), hinted, same=FORWARDED).ptx


def test_a_written_buffer_in_common_has_to_be_declared() -> None:
    with pytest.raises(CannotWeave, match=r"kernel A .*st\..* writes the buffer A:2 \(out\), B:0 \(x\).*--depends"):
        fused(elementwise(), elementwise(), same=FORWARDED, depends=False)


def test_addresses_that_are_not_known_are_refused() -> None:
    chased = elementwise(before="ld.global.u64 %rd1, [%rd2];")
    with pytest.raises(CannotWeave, match=r"kernel B .*where .*ld\.global\.f32.* goes is not known"):
        fused(elementwise(), chased, same=FORWARDED)


def test_other_paths_to_memory_are_refused() -> None:
    textured = elementwise(before="tex.1d.v4.f32.s32 {%f5, %f6, %f7, %f8}, [%rd2, {%r4}];")
    with pytest.raises(CannotWeave, match=r"kernel B .*tex.* goes another way than loads and stores"):
        fused(elementwise(), textured, same=FORWARDED)


def test_asynchronous_stores_are_refused() -> None:
    """They may not be complete when the next instruction begins."""
    asynchronous = elementwise(store="st.async.mmio.release.sys.global.b32")
    with pytest.raises(CannotWeave, match=r"kernel A .*st.async.* goes another way than loads and stores"):
        fused(asynchronous, elementwise(), same=[*FORWARDED, ("A:3", "B:3")])


def test_kernels_of_different_shapes_are_refused() -> None:
    shapes = [goptx.Shape(4, 32), goptx.Shape(2, 64)]
    with pytest.raises(CannotWeave, match="the same grid and block"):
        fused(elementwise(), elementwise(), same=FORWARDED, shapes=shapes)
    with pytest.raises(CannotWeave, match="known or not stated"):
        fused(elementwise(), elementwise(), same=FORWARDED, shapes=[goptx.Shape(None, 64)] * 2, assume_local=True)
    sources = elementwise("mul.f32"), MIRRORED
    equal = fused(*sources, same=FORWARDED, shapes=[goptx.Shape(2, 64)] * 2)
    assert barriers(equal) == 1


def test_known_blocks_bound_what_a_cta_touches() -> None:
    crossed = elementwise("sub.f32", guard="", index=f"{INDEX} xor.b32 %r8, %r3, 5; mad.lo.s32 %r9, %r1, %r2, %r8;",
                          read="%r9")  # fmt: skip
    with pytest.raises(CannotWeave, match="different CTAs"):
        fused(elementwise(), crossed, same=FORWARDED)
    woven = fused(elementwise("mul.f32"), crossed, same=FORWARDED, shapes=[goptx.Shape(2, 64)] * 2)
    assert barriers(woven) == 1


def test_arguments_are_not_compared() -> None:
    x, out = np.ones(N, np.float32), np.zeros(N, np.float32)
    arguments = [[x, x, out, N], [out, x, out, N]]
    goptx.emulate(fused(elementwise(), elementwise()), 4, 32, arguments)
    with pytest.raises(DependentKernels):
        goptx.emulate(fused(elementwise(), elementwise(), depends=False), 4, 32, arguments)


def test_atomics_are_proved_like_other_accesses() -> None:
    adds = elementwise(store="red.global.add.f32")
    assert barriers(fused(adds, elementwise(), same=FORWARDED)) == 0
    with pytest.raises(CannotWeave, match="different CTAs"):
        fused(elementwise(store="red.global.add.f32", write="0"), elementwise(), same=FORWARDED)


def test_ptxas_takes_it() -> None:
    assert fused(elementwise(), MIRRORED, same=FORWARDED).resources().registers


@pytest.mark.parametrize("options", [{}, {"depends": False, "private": FORWARDED, "same": [("A:3", "B:3")]}])
def test_kernels_that_depend_on_each_other_are_not_separated_again(options: Any) -> None:
    woven = fused(elementwise(), elementwise(), **options)
    with pytest.raises(InputError, match=r"depend on each other.*give its `\.ptx`"):
        goptx.weave(woven, elementwise())
    assert goptx.weave(woven.ptx, elementwise()).report.kernels.keys() == {"A", "B"}


def test_coarsened_kernels_are_not_among_them() -> None:
    coarse = goptx.coarsen(elementwise(), 2)
    with pytest.raises(
        CannotWeave, match=r"kernel A .*a coarsened kernel cannot be one of those that depend on each other"
    ):
        goptx.fuse(coarse, elementwise(), strategy="vertical", same=[("A:3", "B:3")])
