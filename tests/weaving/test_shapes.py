"""Kernels of different launch shapes, woven: each does what it does alone."""

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from weaving.compared import lines, outputs, same, with_memory
from weaving.shaped_kernels import KERNELS, WORDS, kernel, stored

import goptx
from goptx import CannotWeave, Shape
from goptx.launch.launch_plan import spread
from goptx.options import PLACEMENTS, Placement
from goptx.ptx.ir import Name
from goptx.results.fused_kernel import Woven
from goptx.weaving.shapes.interleaved import Interleaved
from goptx.weaving.shapes.scalar_code import Fresh, Scalars, Value

Assembles = Callable[[Woven], None]


def weave(first: str, second: str, a: Shape, b: Shape, **options: Any) -> Woven:
    return goptx.weave(KERNELS.get(first, first), KERNELS.get(second, second), shapes=[a, b], **options)


# every mix of shapes ----------------------------------------------------------------------------------

MIXES = [
    (Shape(4, 64), Shape(4, 64)),
    (Shape(4, 33), Shape(4, 64)),
    (Shape(3, 48), Shape(3, 256)),
    (Shape(2, 96), Shape(2, 80)),
    (Shape(3, 20), Shape(3, 7)),
    (Shape((2, 3), 256), Shape((3, 2), (16, 16))),
    (Shape((2, 2, 2), (4, 3, 5)), Shape((8,), (2, 2, 2))),
    (Shape((3, 5), (33, 3)), Shape((2, 3, 2), (5, 7, 2))),
    (Shape((2, 3, 2), (5, 7, 2)), Shape((3, 4), 60)),
    (Shape(7, (32, 2)), Shape((3, 4), 40)),
    (Shape(1, 1), Shape((2, 2), (3, 3, 3))),
]
BOTH = [
    ("registers", "registers"), ("tiled", "leaving"), ("leaving", "tiled"), ("looping", "dynamic"),
    ("calling", "registers"),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("names", BOTH, ids="-".join)
@pytest.mark.parametrize("mix", MIXES, ids=lambda mix: f"{mix[0]}+{mix[1]}")
def test_each_kernel_does_what_it_does_alone(
    mix: tuple[Shape, Shape], names: tuple[str, str], assembles: Assembles
) -> None:
    launched = [with_memory(shape, name) for shape, name in zip(mix, names, strict=True)]
    woven = weave(*names, *launched)
    same(names, launched, woven)
    assembles(woven)


@pytest.mark.parametrize("options", [{"policy": "paper"}, {"policy": "concat", "slicing": None}, {"slicing": 20}])
def test_in_every_order(options: dict[str, Any]) -> None:
    shapes = [Shape(3, 48), Shape(2, 160)]
    same(("leaving", "tiled"), shapes, weave("leaving", "tiled", *shapes, **options))


SIZES = st.lists(st.integers(1, 7), min_size=1, max_size=3).map(tuple)


@st.composite
def shapes_of_some_kind(draw: st.DrawFn) -> Shape:
    few = SIZES.filter(lambda s: prod(s) > 1)  # what one kernel reads takes two threads to write
    block = draw(st.one_of(few, st.sampled_from([(32,), (64,), (100,), (16, 4), (256,), (33, 3)])))
    return Shape(draw(SIZES.filter(lambda s: prod(s) <= 30)), block, draw(st.sampled_from([4096, 5000])))


@pytest.mark.slow
@settings(max_examples=30, deadline=None, derandomize=True)
@given(
    launched=st.tuples(shapes_of_some_kind(), shapes_of_some_kind()),
    names=st.tuples(*[st.sampled_from(list(KERNELS))] * 2),
    placement=st.sampled_from(PLACEMENTS),
    unknown=st.lists(st.booleans(), min_size=6, max_size=6),
)
def test_random_shapes(
    launched: tuple[Shape, Shape], names: tuple[str, str], placement: Placement, unknown: Sequence[bool]
) -> None:
    """What is known at launch only makes no difference."""
    known = []
    for shape, left_out in zip(launched, (unknown[:3], unknown[3:]), strict=True):
        sizes: list[Any] = [shape.grid, shape.block, shape.shared]
        known.append(Shape(*(None if u else s for s, u in zip(sizes, left_out, strict=True))))
    try:
        woven = weave(*names, *known, placement=placement)
    except CannotWeave as error:
        assert "calling" in names and "known at launch only; give the sizes" in str(error)
        return
    same(names, launched, woven)


# special registers ------------------------------------------------------------------------------------


def test_sizes_that_are_known_stand_in_place_of_registers() -> None:
    woven = weave("registers", "looping", Shape((5, 2), (16, 16)), Shape((5, 2), (16, 16)))
    assert not lines(woven, "%ntid") and not lines(woven, "%nctaid") and not lines(woven, "bra", "shape")
    assert len(lines(woven, "mov.u32 %a_r10, %tid.x;")) == 1  # all axes as they are, and nobody is left out
    assert lines(woven, "mov.v4.u32 {%a_r31, %a_r32, %a_r33, %a_r34}, {5, 2, 1, 0};")
    assert not lines(woven, "%b_shape") and lines(woven, ".reqntid") == [".reqntid 16, 16, 1"]


def test_the_largest_block_is_woven_without_divisions() -> None:
    for shapes in ([Shape(4, (33, 7)), Shape(4, 231)], [Shape(4, 231), Shape(4, (33, 7))]):
        woven = weave("registers", "registers", *shapes)
        assert woven.shape == Shape(4, (33, 7)) and not lines(woven, "div.u32")


def test_known_sizes_take_no_division() -> None:
    """ptxas writes out a division by a constant in full."""
    powers = weave("registers", "registers", Shape((4, 2, 3), (8, 4, 2)), Shape(24, 256))
    assert not lines(powers, "div.u32") and not lines(powers, "mul.hi")
    others = weave("registers", "registers", Shape((5, 2, 3), (7, 3, 2)), Shape(30, 256))
    assert not lines(others, "div.u32") and lines(others, "mul.hi.u32")
    assert not lines(weave("registers", "registers", Shape((None,), (None,)), Shape(30, 256)), "div.u32")
    assert lines(weave("registers", "registers", Shape((None, None), (8, 8)), Shape(30, 64)), "div.u32")


OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "mul.hi.u32": lambda a, b: a * b >> 32, "mul.lo.u32": lambda a, b: a * b, "shr.u32": lambda a, b: a >> b,
    "and.b32": lambda a, b: a & b, "sub.u32": lambda a, b: a - b,
}  # fmt: skip


@given(st.integers(1, (1 << 31) - 1), st.integers(1, (1 << 31) - 1), st.integers(0, (1 << 31) - 1))
@example((1 << 31) - 1, 3, (1 << 31) - 1)
@example((1 << 31) - 2, (1 << 31) - 3, (1 << 31) - 1)
@example(1023, 7, 1023)
def test_divisions_by_known_sizes(number: int, by: int, most: int) -> None:
    scalars = Scalars(Fresh("%x"))
    register = Name("%n")
    results: dict[Value, int] = {register: number, 0: 0}
    quotient = scalars.divide(register, by, max(number, most))
    remainder = scalars.remainder(register, by, max(number, most))
    for instruction in scalars.code:
        result, a, b = instruction.operands
        assert isinstance(result, Name) and isinstance(a, Name)
        first, second = results[a], results[b] if isinstance(b, Name) else int(str(b))
        assert second < 1 << 32
        results[result] = OPERATIONS[instruction.opcode](first, second)
    assert (results[quotient], results[remainder]) == (number // by, number % by)


def test_what_does_not_depend_on_the_shape_stays() -> None:
    stays = "%laneid %lanemask_eq %lanemask_ge %clock %clock_hi %nwarpid %smid %nsmid %gridid %envreg3".split()
    body = "".join(f"mov.u32 %r{i}, {register};\n" for i, register in enumerate(stays, 50))
    body += "mov.u64 %rd5, %clock64; mov.u64 %rd6, %globaltimer;"
    woven = weave(kernel("k", body), "tiled", Shape(3, 40), Shape(5, 256))
    assert all(lines(woven, f", {register};") for register in [*stays, "%clock64", "%globaltimer"])


# who takes part ---------------------------------------------------------------------------------------


def test_barriers_wait_for_the_warps_of_their_kernel() -> None:
    woven = weave("tiled", "tiled", Shape(4, 40), Shape(4, 300))
    assert {line.split(",")[1] for line in lines(woven, "bar.sync 0")} == {" 64;"}
    assert len(lines(woven, "bar.sync 1;")) == 2 * 3  # warps without the first kernel come to copies
    assert len(lines(woven, "bar.red.popc.u32 %a_r58, 0, 64,")) == 1


def test_ctas_that_are_left_out_change_no_barrier() -> None:
    woven = weave("tiled", "tiled", Shape(4, 64), Shape(9, 64))
    assert set(lines(woven, ".sync")) == {"bar.sync 0;", "bar.sync 1;"}


def test_warps_that_are_left_out_issue_nothing_of_the_kernel() -> None:
    woven = weave("leaving", "looping", Shape(2, 64), Shape(2, 1024))
    done = goptx.emulate(woven, args=[[outputs(Shape(2, 64)), 9999], [outputs(Shape(2, 1024)), 9999]])
    body = 4 + KERNELS["leaving"].count(";")
    assert sum(done.kernels["A"].instructions.values()) < 2 * (2 * 2 * body + 32 * 8)


@pytest.mark.slow
@pytest.mark.parametrize("placement", PLACEMENTS)
@pytest.mark.parametrize(("small", "large"), [(7, 1024), (1, 30), (29, 30), (60, 100)])
def test_placements(small: int, large: int, placement: Placement) -> None:
    shapes = [Shape(small, 32), Shape((2, large // 2), 32)]
    woven = weave("registers", "tiled", *shapes, placement=placement)
    assert woven.shape == Shape((2, large // 2), 32)
    same(("registers", "tiled"), shapes, woven)


@pytest.mark.parametrize(("placement", "carrying"), [("spread", [0, 3, 5, 8]), ("front", [0, 1, 2, 3])])
@pytest.mark.parametrize("known", [True, False])
def test_which_ctas_carry_those_of_the_smaller_grid(placement: Placement, carrying: list[int], known: bool) -> None:
    """The kernel writes the SM that runs its CTA, which on the emulator tells the CTA of the woven kernel."""
    shapes = [Shape(4, 1), Shape(10, 1)]
    body = kernel("k", "mov.u32 %r30, %smid;" + stored(["%r30"]))
    woven = weave(body, "tiled", *(shapes if known else [Shape(None, 1), Shape(10, 1)]), placement=placement)
    outs = [outputs(shape) for shape in shapes]
    goptx.emulate(woven, args=[[out, 0] for out in outs], shapes=shapes)
    assert [int(sm) for sm in outs[0][::WORDS]] == carrying


@pytest.mark.parametrize(
    ("small", "large", "placed"),
    [
        (192, 65536, "front"),
        (2112, 65536, "front"),
        (2113, 65536, "spread"),  # a GPU does not run all at once
        (192, 4225, "front"),
        (192, 4224, "spread"),  # half of the larger grid runs at once
    ],
)
def test_ctas_that_all_run_at_once_come_first(small: int, large: int, placed: str) -> None:
    asked: dict[str, Any] = {"policy": "latency"}  # else each CTA runs one kernel
    woven = weave("registers", "tiled", Shape(small, 128), Shape(large, 128), **asked)
    assert woven.plan is not None and woven.plan.placement == placed
    same = weave("registers", "tiled", Shape(small, 128), Shape(large, 128), **asked, placement=placed)
    assert woven.text() == same.text()


@pytest.mark.parametrize(
    ("grids", "order"),
    [
        ((192, 65536), ("front", ())),
        ((65536, 192), ("spread", (1, 192))),
        ((2113, 65536), ("spread", ())),
        ((192, 2048), ("front", ())),  # the last of them would begin when others end
        ((2048, 192), ("spread", (1, 192))),
        ((192, 1900), ("spread", ())),  # all begin at once
        ((192, 4225), ("front", ())),
        ((529, 2048), ("spread", ())),  # more than a quarter of what runs at once
        ((64, 192), ("spread", ())),
    ],
)
def test_interleaved_ctas_that_all_run_at_once_come_first(grids: tuple[int, int], order: tuple[Any, ...]) -> None:
    woven = goptx.fuse(
        kernel("a", ""), kernel("b", ""), strategy="interleave", shapes=[Shape(ctas, 128) for ctas in grids]
    )
    assert isinstance(woven.plan, Interleaved)
    assert (woven.plan.placement, woven.plan.ratio) == order


@given(st.integers(1, 1 << 31), st.integers(0, 1 << 31))
def test_spreading_leaves_out_no_cta(total: int, left_out: int) -> None:
    ctas = max(1, total - left_out)
    step = spread(ctas, total)
    assert 0 <= step < 1 << 32
    assert (total - 1) * (step + 1) >> 32 == ctas - 1


def test_the_output_is_deterministic() -> None:
    def text() -> str:
        return weave("registers", "dynamic", Shape(None, 33, None), Shape((2, 3), (5, 5), None)).ptx

    assert text() == text()
