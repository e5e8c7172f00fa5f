"""Kernels of different launch shapes, woven: each does what it does alone, or is refused by name (M17)."""

import pickle
import re
from collections.abc import Callable, Sequence
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from weaving.shaped_kernels import KERNELS, WORDS, kernel, stored

import goptx
from goptx import CannotWeave, InputError, Shape
from goptx.emulator.arithmetic.lanewise import Array
from goptx.weaving.launching import PLACEMENTS, Placement, spread
from goptx.weaving.result import Woven

Assembles = Callable[[Woven], None]
LIMIT = 150  # n: the threads of the grid from there on end at once


def outputs(shape: Shape) -> Array:
    return np.zeros((shape.ctas or 0) * (shape.threads or 0) * WORDS, np.uint32)


@cache
def alone(text: str, shape: Shape, n: int) -> Array:
    out = outputs(shape)
    goptx.emulate(text, shape.sizes("grid"), shape.sizes("block"), [out, n], shared=shape.shared or 0, races=True)
    return out


def differences(got: Array, text: str, shape: Shape, n: int = LIMIT) -> list[tuple[int, int, int, int]]:
    """(thread, word, as woven, alone)"""
    expected = alone(text, shape, n)
    return [(i // WORDS, i % WORDS, int(got[i]), int(expected[i])) for i in np.flatnonzero(got != expected).tolist()]


def same(texts: Sequence[str], launched: Sequence[Shape], woven: Woven, n: int = LIMIT) -> None:
    """`woven` does in these shapes what its kernels do alone, in two orders of the warps."""
    for seed in (0, 5):
        outs = [outputs(s) for s in launched]
        goptx.emulate(woven, args=[[out, n] for out in outs], shapes=launched, races=True, seed=seed)
        for out, text, shape in zip(outs, texts, launched, strict=True):
            assert differences(out, text, shape, n)[:20] == []


def weave(first: str, second: str, a: Shape, b: Shape, **options: Any) -> Woven:
    return goptx.weave(KERNELS.get(first, first), KERNELS.get(second, second), shapes=[a, b], **options)


# right in every mix of shapes -------------------------------------------------------------------------

MIXES = [
    (Shape(4, 64), Shape(4, 64)),
    (Shape(4, 33), Shape(4, 64)),
    (Shape(3, 48), Shape(3, 256)),
    (Shape(2, 96), Shape(2, 80)),
    (Shape(3, 20), Shape(3, 7)),
    (Shape((2, 3), 256), Shape((3, 2), (16, 16))),
    (Shape((2, 2, 2), (4, 3, 5)), Shape((8,), (2, 2, 2))),
    (Shape((3, 5), (33, 3)), Shape((2, 3, 2), (5, 7, 2))),
    (Shape(7, (32, 2)), Shape((3, 4), 40)),
    (Shape(1, 1), Shape((2, 2), (3, 3, 3))),
]
BOTH = [
    ("registers", "registers"), ("tiled", "leaving"), ("leaving", "tiled"), ("looping", "dynamic"),
    ("calling", "registers"), ("leaving", "looping"),
]  # fmt: skip


def with_shared(shape: Shape, name: str) -> Shape:
    return Shape(shape.grid, shape.block, 4100) if name in ("dynamic", "calling") else shape


@pytest.mark.parametrize("names", BOTH, ids="-".join)
@pytest.mark.parametrize("mix", MIXES, ids=lambda mix: f"{mix[0]}+{mix[1]}")
def test_each_kernel_does_what_it_does_alone(
    mix: tuple[Shape, Shape], names: tuple[str, str], assembles: Assembles
) -> None:
    launched = [with_shared(shape, name) for shape, name in zip(mix, names, strict=True)]
    woven = weave(*names, *launched)
    same([KERNELS[n] for n in names], launched, woven)
    assembles(woven)


@pytest.mark.parametrize("placement", PLACEMENTS)
@pytest.mark.parametrize(("small", "large"), [(7, 1024), (1, 30), (29, 30), (600, 1000)])
def test_placements(small: int, large: int, placement: Placement) -> None:
    shapes = [Shape(small, 32), Shape((2, large // 2), 32)]
    woven = weave("registers", "tiled", *shapes, placement=placement)
    assert woven.shape == Shape((2, large // 2), 32)
    same([KERNELS["registers"], KERNELS["tiled"]], shapes, woven)


@pytest.mark.parametrize(
    ("placement", "carrying"), [("spread", [0, 3, 5, 8]), ("front", [0, 1, 2, 3])]
)  # of ten CTAs, those that have one of the four
def test_where_the_ctas_of_the_smaller_grid_lie(placement: Placement, carrying: list[int]) -> None:
    """Each kernel writes the SM that runs its CTA, which on the emulator tells the CTA of W."""
    body = kernel("k", "mov.u32 %r30, %smid; add.u32 %r30, %r30, 1;" + stored(["%r30"]))
    woven = weave(body, KERNELS["tiled"], Shape(4, 1), Shape(10, 1), placement=placement)
    outs = [outputs(Shape(4, 1)), outputs(Shape(10, 1))]
    goptx.emulate(woven, args=[[out, 0] for out in outs])
    assert [int(sm) - 1 for sm in outs[0][::WORDS]] == carrying


@given(st.integers(1, 1 << 31), st.integers(0, 1 << 31))
def test_spreading_leaves_out_no_cta(total: int, left_out: int) -> None:
    ctas = max(1, total - left_out)
    step = spread(ctas, total)
    assert 0 <= step < 1 << 32
    assert (total - 1) * (step + 1) >> 32 == ctas - 1


SIZES = st.lists(st.integers(1, 9), min_size=1, max_size=3).map(tuple)


@st.composite
def shapes(draw: st.DrawFn) -> Shape:
    block = draw(st.one_of(SIZES, st.sampled_from([(32,), (64,), (100,), (16, 4), (256,), (33, 3)])))
    return Shape(draw(SIZES.filter(lambda s: np.prod(s) <= 60)), block, draw(st.sampled_from([4096, 5000])))


@settings(max_examples=40, deadline=None)
@given(
    a=shapes(),
    b=shapes(),
    names=st.tuples(*[st.sampled_from(list(KERNELS))] * 2),
    placement=st.sampled_from(PLACEMENTS),
    unknown=st.lists(st.booleans(), min_size=6, max_size=6),
)
def test_random_shapes(
    a: Shape, b: Shape, names: tuple[str, str], placement: Placement, unknown: Sequence[bool]
) -> None:
    """What is unknown when weaving changes nothing."""
    hidden = []
    for shape, left_out in zip((a, b), (unknown[:3], unknown[3:]), strict=True):
        sizes = (shape.grid, shape.block, shape.shared)
        hidden.append(Shape(*(None if u else s for s, u in zip(sizes, left_out, strict=True))))  # type: ignore[arg-type]
    try:
        woven = weave(*names, *hidden, placement=placement)
    except CannotWeave as error:
        assert "calling" in names and re.search("device function `place` needs .*known at launch only", str(error))
        return
    same([KERNELS[n] for n in names], (a, b), woven)
