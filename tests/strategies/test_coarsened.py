"""Coarsened kernels in every strategy: fused with others, they do what they do alone."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from weaving.compared import coarse, lines, outputs, same, with_memory
from weaving.shaped_kernels import KERNELS, WORDS, kernel, stored

import goptx
from goptx import InputError, Shape
from goptx.options import Axis, Placement, Strategy
from goptx.results.fused_kernel import Woven
from goptx.strategies.fuse import STRATEGIES

Assembles = Callable[[Woven], None]
EXAMPLES = Path(__file__).parents[2] / "examples" / "kernels"
OWN_SHAPES = ("horizontal", "interleave")  # strategies that need them
WHERE = kernel("k", "mov.u32 %r30, %smid; add.u32 %r30, %r30, 1;" + stored(["%r30"]))

MIXES: list[tuple[tuple[int, int], Axis, tuple[Shape, Shape]]] = [  # of two kernels
    ((3, 1), "x", (Shape(7, 64), Shape(4, 64))),
    ((2, 2), "x", (Shape(5, 32), Shape((4, 2), (16, 9)))),
    ((1, 4), "x", (Shape(3, 96), Shape((9, 2), 40))),
    ((2, 3), "y", (Shape((2, 7), (8, 8)), Shape((3, 3), 256))),
]


def fuse(
    strategy: Strategy, names: tuple[str, ...], factors: tuple[int, ...], axis: Axis = "x", **options: Any
) -> Woven:
    sources = [coarse(KERNELS.get(n, n), f, axis) for n, f in zip(names, factors, strict=True)]
    return goptx.fuse(*sources, strategy=strategy, **options)


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["vertical", *OWN_SHAPES])
@pytest.mark.parametrize(
    "names",
    [
        ("registers", "tiled"),
        ("tiled", "leaving"),
        ("leaving", "dynamic"),
        ("dynamic", "dynamic"),
        ("looping", "tiled"),
    ],
    ids="-".join,
)
def test_each_kernel_does_what_it_does_alone(strategy: Strategy, names: tuple[str, str], assembles: Assembles) -> None:
    for number, (factors, axis, mix) in enumerate(MIXES):
        shapes = [with_memory(shape, name) for shape, name in zip(mix, names, strict=True)]
        placement = ("spread", "front")[number % 2]
        woven = fuse(strategy, names, factors, axis, shapes=shapes, placement=placement)
        assert woven.strategy == strategy and list(woven.report.kernels) == ["A", "B"]
        same(names, shapes, woven)
        assembles(woven)


@pytest.mark.slow
@pytest.mark.parametrize("strategy", [s for s in STRATEGIES if s != "weave"])
def test_three_kernels(strategy: Strategy, assembles: Assembles) -> None:
    names, shapes = ("leaving", "dynamic", "tiled"), [Shape(5, 96), Shape((3, 2), (8, 9), 5000), Shape(4, 40)]
    woven = fuse(strategy, names, (2, 3, 2), shapes=shapes)
    same(names, shapes, woven)
    assembles(woven)


@pytest.mark.slow
@pytest.mark.parametrize("strategy", OWN_SHAPES)
@pytest.mark.parametrize("placement", ["spread", "front"])
def test_grids_known_at_launch_only(strategy: Strategy, placement: Placement, assembles: Assembles) -> None:
    names, launched = ("dynamic", "tiled", "dynamic"), [Shape(7, 64, 4096), Shape((3, 4), 40), Shape(5, (8, 8), 5000)]
    known = [
        Shape(None, s.block if strategy == "horizontal" or k == 1 else None, None if s.shared else 0)
        for k, s in enumerate(launched)
    ]
    woven = fuse(strategy, names, (2, 3, 2), shapes=known, placement=placement)
    assert woven.shape is not None and woven.shape.ctas is None
    same(names, launched, woven)
    assembles(woven)


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize(
    ("grids", "factors", "options", "expected"),
    [
        ((9, 6), (2, 1), {}, "A:5 B:6"),
        ((8, 4), (4, 2), {}, "ABAB"),
        ((8, 9), (4, 3), {"placement": "front"}, "AABBB"),
        ((7, 3), (3, 1), {"ratio": (1, 1)}, "ABABAB"),
        ((6, 9), (2, 3), {"ratio": (1, 2)}, "ABBAAB"),
    ],
)
def test_which_ctas(
    grids: tuple[int, int], factors: tuple[int, int], options: dict[str, Any], expected: str, known: bool
) -> None:
    """Each kernel writes the SM that runs its CTA, which on the emulator identifies the CTA of the fused kernel."""
    shapes = [Shape(n, 1) for n in grids]
    stated = shapes if known else [Shape((None,), 1)] * 2
    woven = fuse("interleave", (WHERE, WHERE), factors, shapes=stated, **options)
    outs = [outputs(s) for s in shapes]
    goptx.emulate(woven, args=[[out, 0] for out in outs], shapes=shapes)
    places = [[int(sm) - 1 for sm in out[::WORDS]] for out in outs]
    for own, factor in zip(places, factors, strict=True):
        whole = len(own) // factor
        assert [own.index(p) for p in dict.fromkeys(own)] == [
            *range(0, whole * factor, factor), *range(whole * factor, len(own))
        ]  # fmt: skip
    order = {place: letter for letter, own in zip("AB", places, strict=True) for place in own}
    found = "".join(order[i] for i in range(len(order)))
    assert found == expected or " ".join(f"{c}:{found.count(c)}" for c in "AB") == expected


def test_shared_memory_of_an_interleaved_kernel_is_that_of_all_its_copies() -> None:
    shapes = [Shape(8, 64, 5000), Shape(8, 64, 9000)]
    woven = fuse("interleave", ("dynamic", "dynamic"), (3, 1), shapes=shapes)
    assert woven.shape == Shape(4 + 8, 64, 2 * 6144 + 1024 + 5000)
    same(("dynamic", "dynamic"), shapes, woven)


def test_whole_warps_that_are_too_many_end_at_once() -> None:
    shapes = [Shape(4, 64), Shape(4, 256)]
    woven = fuse("interleave", ("tiled", "leaving"), (2, 1), shapes=shapes)
    same(("tiled", "leaving"), shapes, woven)


@pytest.mark.parametrize("strategy", OWN_SHAPES)
def test_copies_are_woven(strategy: Strategy) -> None:
    """One barrier serves all copies that reach it at one place, and all of them store before it."""
    shapes = [Shape(8, 32)] * 2
    woven = fuse(strategy, ("tiled", "registers"), (4, 1), shapes=shapes)
    alone = fuse(strategy, ("tiled", "registers"), (1, 1), shapes=shapes)
    assert (woven.report.policy, alone.report.policy) == ("latency", "concat")
    plain = [line for line in woven.ptx.splitlines() if ".sync" in line or "st.shared" in line]
    assert ["st.shared" in line for line in plain[:5]] == [True] * 4 + [False]
    assert len(lines(woven, "st.shared")) == 4 * len(lines(alone, "st.shared"))


@pytest.mark.parametrize("strategy", OWN_SHAPES)
def test_one_kernel_is_not_shared_out(strategy: Strategy) -> None:
    with pytest.raises(InputError, match=f"strategy {strategy} takes two or more kernels, got 1; a coarsened one"):
        fuse(strategy, ("tiled",), (2,), shapes=[Shape(4, 64)])


@pytest.mark.slow
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("pair", ["reduce+scan", "transpose+lud", "histogram+gelu"])
def test_examples(strategy: Strategy, pair: str) -> None:
    first, second = (EXAMPLES / f"{name}.sm_90.ptx" for name in pair.split("+"))
    check = goptx.check(goptx.coarsen(first, 2), second, strategy=strategy)
    assert check, str(check)
