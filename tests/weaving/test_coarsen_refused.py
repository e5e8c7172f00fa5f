"""What is refused of coarsening, and what is said."""

from typing import Any

import pytest
from weaving.shaped_kernels import KERNELS, kernel, stored

import goptx
from goptx import CannotWeave, InputError, Shape


@pytest.mark.parametrize("factor", [1, 0, -3, 2.0, "2", True, None])
def test_a_factor_is_a_number_from_2_on(factor: Any) -> None:
    with pytest.raises(InputError, match=r"factor=.* is not a number of CTAs to be made one; give 2 or more"):
        goptx.coarsen(KERNELS["tiled"], factor)


def test_a_factor_has_an_end() -> None:
    with pytest.raises(InputError, match="33 CTAs in one are more than 32; give a smaller factor"):
        goptx.coarsen(KERNELS["tiled"], 33)
    with pytest.raises(InputError, match="64 CTAs in one are more than 32"):
        goptx.coarsen(goptx.coarsen(KERNELS["registers"], 2), 32)


@pytest.mark.parametrize("axis", ["w", "", 0, "X"])
def test_an_unknown_axis(axis: Any) -> None:
    with pytest.raises(InputError, match=f"axis `{axis}` is unknown; expected one of x, y, z"):
        goptx.coarsen(KERNELS["tiled"], 2, axis)


def test_one_axis_only() -> None:
    with pytest.raises(InputError, match="coarsened along x cannot be coarsened along y too"):
        goptx.coarsen(goptx.coarsen(KERNELS["tiled"], 2), 2, "y")


def test_one_kernel_only() -> None:
    both = goptx.weave(KERNELS["tiled"], KERNELS["leaving"])
    with pytest.raises(InputError, match=r"coarsen\(\) takes one kernel, and .* is woven of A, B; do so with each"):
        goptx.coarsen(both)
    with pytest.raises(InputError, match="`other` is not an entry of the woven kernel `tiled_woven`; give None there"):
        goptx.coarsen(goptx.coarsen(KERNELS["tiled"]), entry="other")


SPIN = """
    mov.u64 %rd5, flag; add.s64 %rd5, %rd5, 0;
again: ld.acquire.gpu.global.u32 %r30, [%rd5]; setp.eq.u32 %p1, %r30, 0; @%p1 bra again;
"""
BY_SM = "mov.u32 %r30, %smid; mul.wide.u32 %rd5, %r30, 4; add.s64 %rd5, %rd1, %rd5; st.global.u32 [%rd5], 1;"


def test_a_kernel_that_waits_for_other_ctas_is_refused() -> None:
    text = kernel("spin", SPIN).replace(".visible .entry", ".global .u32 flag;\n.visible .entry")
    with pytest.raises(CannotWeave, match=r"the loop may wait for other CTAs"):
        goptx.coarsen(text)


@pytest.mark.parametrize("shape", [Shape(8, 64), None])
def test_addresses_by_sm_are_refused(shape: Shape | None) -> None:
    with pytest.raises(CannotWeave, match=r"may have an address that depends on %smid.* which coarsening changes"):
        goptx.coarsen(kernel("by_sm", BY_SM), shape=shape)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (kernel("c", stored(["1"]), bounds=".reqnctapercluster 2"), r"clusters of \(2,\) CTAs can be kept only where"),
        (kernel("c", "mov.u32 %r30, %cluster_ctarank;" + stored(["%r30"])), r"%cluster_ctarank can be kept only where"),
    ],
    ids=["a cluster", "a register"],
)
@pytest.mark.parametrize("shape", [Shape(8, 64), None], ids=["known", "unknown"])
def test_clusters_are_refused(text: str, said: str, shape: Shape | None) -> None:
    with pytest.raises(CannotWeave, match=f"{said}.*none is coarsened; use separate launches"):
        goptx.coarsen(text, shape=shape)
    with pytest.raises(CannotWeave, match=f"{said}.*none is coarsened; use separate launches"):
        goptx.weave(goptx.coarsen(KERNELS["tiled"]), text)


def test_too_much_shared_memory_is_refused() -> None:
    text = KERNELS["tiled"].replace("tile[4096]", "tile[40000]")
    with pytest.raises(InputError, match=r"the kernels A \(6 CTAs along x in one\) need .* dynamic shared memory"):
        goptx.coarsen(text, 6, shape=Shape(12, 64))
    with pytest.raises(InputError, match=r"the kernels A \(6 CTAs along x in one\) need .* dynamic shared memory"):
        goptx.coarsen(KERNELS["dynamic"], 6).launched(12, 64, 40000)


def test_too_many_barriers_are_refused() -> None:
    body = "".join(f"bar.sync {i};" for i in range(5))
    assert goptx.coarsen(kernel("k", body + stored(["1"])), 3, shape=Shape(6, 64))
    with pytest.raises(CannotWeave, match="together the kernels need more than 16 barriers"):
        goptx.coarsen(kernel("k", body + stored(["1"])), 4, shape=Shape(8, 64))


def test_a_kernel_with_an_unknown_instruction_is_refused() -> None:
    with pytest.raises(CannotWeave, match=r"^<ptx>:\d+: kernel A \(`k`\): `frob.u32 %r30, %r1;` are not instructions"):
        goptx.coarsen(kernel("k", "frob.u32 %r30, %r1;"))


def test_what_the_launch_has_to_say() -> None:
    woven = goptx.coarsen(KERNELS["tiled"], 2)
    for grid, block in ((None, 64), (4, None), (None, None)):
        with pytest.raises(InputError, match="the shape of kernel A is not known"):
            woven.launched(grid, block)
    with pytest.raises(InputError, match="kernel A was woven for the shape 4:64, which 5:64 contradicts"):
        goptx.coarsen(KERNELS["tiled"], 2, shape=Shape(4, 64)).launched(5, 64)
