"""parts=: a CTA whose warps need nothing of each other is divided among several teams of folded grids."""

from itertools import product
from typing import Any

import pytest
from strategies.test_folded import COUNTING, fuse
from weaving.compared import coarse, same, with_memory
from weaving.shaped_kernels import HEAD, KERNELS, kernel, stored

import goptx
from goptx import CannotWeave, InputError, Shape
from goptx.options import FOLDS

LOOPING = kernel(
    "k",
    "mov.u32 %r60, 0; NEXT: add.u32 %r60, %r60, 1; setp.le.u32 %p1, %r60, 3; @%p1 bra NEXT;" + stored(["%r60"]),
)
BLOCKS: list[tuple[Any, int]] = [(128, 2), (128, 4), ((16, 4, 2), 4), ((4, 8, 4), 2)]


@pytest.mark.slow
@pytest.mark.parametrize("fold, block, teams", list(product(FOLDS, BLOCKS, [(1, 1), (2, 3)])))
def test_each_part_reads_the_numbers_of_its_cta(fold: str, block: tuple[Any, int], teams: Any) -> None:
    threads, parts = block
    shapes = [Shape((3, 2), (8, 8)), Shape((5, 2), threads)]
    for ctas in (1, 3, 50):
        woven = fuse("tiled", "registers", shapes=shapes, fold=fold, ctas=ctas, teams=teams, parts=(1, parts))
        assert woven.shape and woven.shape.threads == 64 * teams[0] + 128 // parts * teams[1]
        same(("tiled", "registers"), shapes, woven)


def test_parts_of_one_cta_run_once() -> None:
    shapes = [Shape(7, 64), Shape((3, 3), 128)]
    for fold in FOLDS:
        woven = fuse(COUNTING, COUNTING, shapes=shapes, fold=fold, ctas=2, parts=(2, 4), teams=(2, 3))
        same((COUNTING, COUNTING), shapes, woven)
        assert "those of A in 2 parts, those of B in 4 parts" in str(woven.plan)


def test_a_cta_of_the_fused_kernel_may_be_smaller_than_one_of_the_kernel() -> None:
    """The numbers of warps and threads are not those of the fused kernel, though both have as many threads."""
    shapes = [Shape(5, 64), Shape(7, 128)]
    woven = fuse("registers", "registers", shapes=shapes, ctas=2, parts=(2, 4))
    assert woven.shape and woven.shape.threads == 64
    same(("registers", "registers"), shapes, woven)


@pytest.mark.slow
def test_copies_are_divided_in_the_same_way() -> None:
    shapes = [Shape(5, 64), Shape(7, 128)]
    woven = goptx.fuse(
        KERNELS["tiled"], coarse(KERNELS["registers"], 2), strategy="horizontal", shapes=shapes, fold="ticket", ctas=2,
        parts=(1, 2), assist=True,
    )  # fmt: skip
    same(("tiled", "registers"), shapes, woven)


@pytest.mark.slow
def test_grids_that_are_known_at_launch_only() -> None:
    launched = [Shape((5, 3), 64), Shape(11, 64)]
    for fold in FOLDS:
        woven = fuse(
            "tiled", "registers", shapes=[Shape(None, 64), Shape(None, 64)], fold=fold, ctas=4, parts=(1, 2)
        )  # fmt: skip
        same(("tiled", "registers"), launched, woven)


def test_the_other_kernel_may_have_any_block() -> None:
    shapes = [Shape(5, 33), Shape(3, 64)]
    same(("leaving", "registers"), shapes, fuse("leaving", "registers", shapes=shapes, ctas=2, parts=(1, 2)))


def test_loops_are_no_obstacle() -> None:
    shapes = [Shape(5, 128), Shape(4, 64)]
    same((LOOPING, "tiled"), shapes, fuse(LOOPING, "tiled", shapes=shapes, fold="ticket", ctas=2, parts=(2, 1)))


SPINNING = kernel(
    "k",
    "setp.ne.u32 %p1, %r1, 0; @!%p1 st.volatile.global.u32 [%rd1], 1;"
    "NEXT: ld.volatile.global.u32 %r60, [%rd1]; setp.eq.u32 %p2, %r60, 0; @%p2 bra NEXT;",
)


@pytest.mark.parametrize(
    "text, why",
    [
        (KERNELS["tiled"], "`bar.sync 0;` may concern other warps of its CTA"),
        (kernel("k", "membar.gl;" + stored(["%r1"])), "`membar.gl;` may concern other warps"),
        (kernel("k", "atom.cta.global.add.u32 %r60, [%rd1], 1;"), "`atom.cta.global.add.u32 .*` may concern other"),
        (
            kernel("k", "st.shared.u32 [tile], %r1;", ".shared .align 4 .b8 tile[128];"),
            r"the warps of a CTA share memory, .* leave out parts= for kernel A\.",
        ),
    ],
    ids=["barrier", "fence", "scope", "shared memory"],
)
def test_warps_that_may_need_each_other(text: str, why: str) -> None:
    with pytest.raises(CannotWeave, match=why) as refused:
        fuse(text, "registers", shapes=[Shape(5, 128), Shape(4, 64)], ctas=2, parts=(2, 1))
    assert refused.value.rule == "folded-grids"


def test_loops_that_wait_are_refused_in_any_case() -> None:
    with pytest.raises(CannotWeave) as refused:
        fuse(SPINNING, "registers", shapes=[Shape(5, 128), Shape(4, 64)], ctas=2, parts=(2, 1))
    assert refused.value.rule == "wait-for-other-ctas"


def test_calls_may_wait() -> None:
    shapes = [with_memory(Shape(5, 128), "calling"), Shape(4, 64)]
    with pytest.raises(CannotWeave, match="call"):
        fuse("calling", "registers", shapes=shapes, ctas=2, parts=(2, 1))


@pytest.mark.parametrize(
    "options, message",
    [
        ({"parts": (3, 1)}, r"parts=\(3, 1\) divides CTAs of kernel A into 3 parts of whole warps, but they have 128"),
        ({"parts": (8, 1)}, "into 8 parts of whole warps"),
        ({"parts": (2,)}, "takes a number of parts above 0 for each of the 2 kernels"),
        ({"parts": (0, 1)}, "takes a number of parts above 0"),
        ({"parts": (2, 1), "fold": None}, r"parts=\(2, 1\) is an option of folded grids"),
    ],
)
def test_numbers_that_make_no_sense(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        fuse("registers", "registers", shapes=[Shape(5, 128), Shape(4, 64)], **options)


def test_registers_are_moved_between_parts() -> None:
    """A CTA of 256 threads is run by warpgroups."""
    text = KERNELS["registers"].replace("sm_90", "sm_90a")
    assert HEAD.count("sm_90") == 1
    shapes = [Shape(5, 256), Shape(4, 128)]
    woven = fuse(text, text, shapes=shapes, ctas=2, parts=(2, 1), role_registers=(24, 64))
    assert "setmaxnreg.dec.sync.aligned.u32 24" in woven.ptx and woven.max_registers == 48
    same(("registers", "registers"), shapes, woven)
