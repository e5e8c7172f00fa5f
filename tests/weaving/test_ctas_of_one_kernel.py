"""CTAs that run one kernel each, where weaving would leave few CTAs on an SM or few CTAs run several kernels."""

from dataclasses import replace
from typing import Any

import pytest
from weaving.compared import outputs
from weaving.shaped_kernels import kernel, stored

import goptx
from goptx import Shape

WIDE, NARROW, FEW = Shape(1 << 17, 256), Shape(1 << 17, 32), Shape(1000, 256)
SMALL = kernel("k", "mov.u32 %r30, %ctaid.x; mad.lo.u32 %r30, %r30, 7, %r1;" + stored(["%r30"]))
BY_SM = kernel(
    "k", "mov.u32 %r30, %smid; mul.wide.u32 %rd5, %r30, 4; add.s64 %rd5, %rd1, %rd5; st.global.u32 [%rd5], 1;"
)


def woven(one: str, other: str, *shapes: Shape, **options: Any) -> tuple[str, list[str]]:
    made = goptx.weave(one, other, shapes=shapes, **options)
    return made.strategy, [note for note in made.report.notes if note.startswith(("each CTA", "the kernels stand"))]


def test_kernels_that_rarely_run_in_one_cta_have_ctas_of_their_own() -> None:
    strategy, (note,) = woven(SMALL, SMALL, WIDE, FEW)
    assert strategy == "interleave" and note == "each CTA runs one kernel: of 131072 CTAs, 1000 run several kernels"


def test_ctas_of_few_warps_are_as_many_as_alone() -> None:
    strategy, (note,) = woven(SMALL, SMALL, NARROW, Shape(20_000, 256))
    assert strategy == "interleave" and note == (
        "each CTA runs one kernel: woven, 8 CTAs of 256 threads fit on an SM, so that 131072 CTAs begin in 124.1 "
        "rounds on 132 SMs, and in 50.0 if each runs one kernel"
    )


def test_shared_memory_of_two_kernels_does_not_add_up() -> None:
    strategy, (note,) = woven(SMALL, SMALL, replace(WIDE, shared=50_000), Shape(20_000, 256, 50_000))
    assert strategy == "interleave" and note.startswith("each CTA runs one kernel: woven, 2 CTAs of 256 threads")


@pytest.mark.parametrize(
    ("shapes", "options"),
    [
        ((WIDE, WIDE), {}),  # as many CTAs of each: together they begin in half the rounds
        ((Shape(200, 32), Shape(30, 256)), {}),  # all of them begin at once
        ((Shape(None, 32), Shape(20_000, 256)), {}),  # nobody knows
        ((NARROW, Shape(20_000, 256)), {"policy": "latency"}),
        ((NARROW, Shape(20_000, 256)), {"placement": "spread"}),
        ((NARROW, Shape(20_000, 256)), {"divergence": "predicate"}),
        ((NARROW, Shape(20_000, 256)), {"same": [("A:1", "B:1")]}),
    ],
)
def test_what_is_woven(shapes: tuple[Shape, ...], options: dict[str, Any]) -> None:
    assert woven(SMALL, SMALL, *shapes, **options) == ("weave", [])


def test_kernels_that_cannot_have_ctas_of_their_own_are_woven() -> None:
    strategy, (note,) = woven(BY_SM, SMALL, WIDE, FEW)
    assert (
        strategy == "weave"
        and note == "the kernels stand one after the other: of 131072 CTAs, 1000 run several kernels"
    )


def test_each_kernel_does_what_it_does_alone() -> None:
    """Of 16 CTAs, two run both kernels."""
    shapes = [Shape(16, 64), Shape(2, 32)]
    made, outs = goptx.weave(SMALL, SMALL, shapes=shapes), [outputs(s) for s in shapes]
    assert made.strategy == "interleave" and made.shape == Shape(18, 64)
    goptx.emulate(made, args=[[out, 0] for out in outs], shapes=shapes)
    for out, shape in zip(outs, shapes, strict=True):
        alone = outputs(shape)
        goptx.emulate(SMALL, shape.ctas, shape.threads, [alone, 0])
        assert (out == alone).all() and alone.any()
