"""One CTA that does the work of several: a coarsened kernel does what the kernel does, alone and among others."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from weaving.compared import LIMIT, lines, outputs, same, with_memory
from weaving.shaped_kernels import KERNELS, WORDS, kernel, stored

import goptx
from goptx import CannotWeave, InputError, Shape
from goptx.cli import main
from goptx.launch.coarsening import Coarse
from goptx.launch.sample_data import sample
from goptx.launch.specification import read_specification
from goptx.options import Axis, Placement
from goptx.results.fused_kernel import Woven

Assembles = Callable[[Woven], None]
EXAMPLES = Path(__file__).parents[2] / "examples" / "kernels"


# which CTAs ---------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("known", [True, False], ids=["known", "unknown"])
@pytest.mark.parametrize("name", list(KERNELS))
@pytest.mark.parametrize(
    ("factor", "axis", "shape"),
    [
        (2, "x", Shape(4, 64)),
        (2, "x", Shape(5, 64)),
        (4, "x", Shape((9, 2), 40)),
        (3, "y", Shape((2, 7), (16, 4))),
        (2, "z", Shape((2, 2, 3), 33)),
        (2, "x", Shape((1, 3), 64)),
    ],
    ids=lambda value: str(value),
)
def test_each_thread_does_what_it_does_alone(
    name: str, factor: int, axis: Axis, shape: Shape, known: bool, assembles: Assembles
) -> None:
    shape = with_memory(shape, name)
    try:
        woven = goptx.coarsen(KERNELS[name], factor, axis, shape=shape if known else None)
    except CannotWeave as error:
        assert name == "calling" and not known and "known at launch only; give the sizes" in str(error)
        return
    same([name], [shape], woven)
    assert woven.strategy == "coarsen"
    assembles(woven)


def test_a_cta_carries_neighbours_and_those_left_over_have_one_each() -> None:
    """The kernel writes the SM that runs its CTA, which on the emulator tells the CTA of the woven kernel."""
    text = kernel("k", "mov.u32 %r30, %smid;" + stored(["%r30"]))
    for shape in (Shape(11, 32), None):
        woven = goptx.coarsen(text, 4, shape=shape)
        out = outputs(Shape(11, 32))
        goptx.emulate(woven, 11, 32, [[out, 0]])
        assert out[:: WORDS * 32].tolist() == [0, 0, 0, 0, 1, 1, 1, 1, 2, 3, 4]


@pytest.mark.parametrize(
    ("factor", "axis", "grid", "expected"),
    [(2, "x", 10, (5,)), (4, "x", (11, 3), (5, 3)), (3, "y", (4, 9), (4, 3)), (2, "z", (1, 2, 7), (1, 2, 4))],
)
def test_the_grid_of_the_launch_follows(
    factor: int, axis: Axis, grid: int | tuple[int, ...], expected: tuple[int, ...]
) -> None:
    shape = Shape(grid, 64)
    known, unknown = (goptx.coarsen(KERNELS["tiled"], factor, axis, shape=s) for s in (shape, None))
    assert known.shape == Shape(expected, 64) == unknown.launched(grid, 64)[0]
    assert unknown.plan and unknown.plan.roles == (f"A.grid.{axis}",)


def test_a_grid_that_the_factor_divides_takes_no_branch() -> None:
    woven = goptx.coarsen(KERNELS["registers"], 4, shape=Shape(8, 64))
    assert woven.report.merged.blocks == 1 and not lines(woven, "bra")
    assert len(lines(woven, "%ntid")) == 0 and not lines(woven, "setp")


@pytest.mark.parametrize("factor", [2, 3, 4, 8])
def test_only_one_copy_stands_twice_for_what_is_left_over(factor: int) -> None:
    woven = goptx.coarsen(KERNELS["registers"], factor)
    assert len(lines(woven, "%laneid")) == factor + 1
    assert len(lines(woven, "bra.uni", "coarse")) == 1


def test_fewer_ctas_than_the_factor_are_all_in_one() -> None:
    for factor, along in ((4, 3), (4, 1), (2, 1)):
        shape = Shape((along, 2), 64)
        woven = goptx.coarsen(KERNELS["tiled"], factor, shape=shape)
        assert woven.shape == Shape((1, 2), 64) and len(lines(woven, "mov.u32", "%laneid")) == 0
        same(["tiled"], [shape], woven)
        note_text = f"has a grid of {along} along x, fewer than the {factor} CTAs that were to be one"
        assert any(note_text in note for note in woven.report.notes)


# what the copies have in common -----------------------------------------------------------------------


def test_parameters_are_common_to_all_copies() -> None:
    woven = goptx.coarsen(KERNELS["tiled"], 3, shape=Shape(9, 64))
    assert [(p.kernel, p.original) for p in woven.params] == [("A", "tiled_out"), ("A", "tiled_n")]
    assert list(woven.report.kernels) == ["A"] == list(woven.symbols)
    assert {o.kernel for o in woven.origins if o} == {"A"}


def test_shared_memory_is_each_copys_own() -> None:
    woven = goptx.coarsen(KERNELS["tiled"], 3, shape=Shape(9, 64))
    assert len(lines(woven, ".shared", "4096")) == 3
    dynamic = goptx.coarsen(KERNELS["dynamic"], 3, shape=Shape(9, 64, 4100))
    assert dynamic.shape == Shape(3, 64, 2 * 5 * 1024 + 4100)
    assert goptx.coarsen(KERNELS["dynamic"], 3).launched(9, 64, 4100)[0] == dynamic.shape


@pytest.mark.slow
def test_static_memory_of_many_copies_is_carved_from_one_pool(assembles: Assembles) -> None:
    text = KERNELS["tiled"].replace("tile[4096]", "tile[20000]")
    for shape in (Shape(7, 64), None):
        woven = goptx.coarsen(text, 3, shape=shape)
        assert woven.launched(7, 64)[0].shared == 2 * 20 * 1024 + 20000
        same([text], [Shape(7, 64)], woven)
        assembles(woven)


@pytest.mark.parametrize("factor", [2, 4])
def test_one_barrier_serves_all_copies(factor: int) -> None:
    woven = goptx.coarsen(KERNELS["tiled"], factor, shape=Shape(2 * factor, 64))
    plain = KERNELS["tiled"].count("bar.sync")
    assert len(lines(woven, "bar.sync")) == plain
    done = goptx.emulate(woven, args=[[outputs(Shape(2 * factor, 64)), LIMIT]])
    reductions = KERNELS["tiled"].count("bar.red")
    assert done.barriers == 2 * (plain + factor * reductions)


def test_launch_bounds_are_of_ctas_that_do_more() -> None:
    text = kernel("k", stored(["1"]), bounds=".maxntid 256, 1, 1 .minnctapersm 5")
    woven = goptx.coarsen(text, 2)
    assert lines(woven, ".m")[-2:] == [".maxntid 256, 1, 1", ".minnctapersm 3"]
    assert ".minnctapersm is 3, for a CTA does the work of several" in woven.report.notes
    required = goptx.weave(goptx.coarsen(kernel("r", stored(["1"]), bounds=".reqntid 64, 2")), KERNELS["tiled"])
    assert lines(required, ".reqntid") == [".reqntid 64, 2, 1"]
    same([kernel("r", stored(["1"]), bounds=".reqntid 64, 2"), "tiled"], [Shape(3, (64, 2))] * 2, required)
    with pytest.raises(InputError, match="which 3:64 contradicts"):
        required.launched(3, 64)


def test_grids_beyond_what_numbers_hold() -> None:
    woven = goptx.weave(goptx.coarsen(KERNELS["tiled"]), KERNELS["leaving"])
    with pytest.raises(InputError, match="grids that differ are woven up to 2147483647 CTAs"):
        woven.launched((65536, 65535), 64)
    assert goptx.coarsen(KERNELS["tiled"]).launched((65536, 65535), 64)[0] == Shape((32768, 65535), 64)


def test_variables_of_the_module_are_common_to_all_copies() -> None:
    text = kernel("counting", "mov.u64 %rd5, count; atom.global.add.u32 %r30, [%rd5], 1;" + stored(["1"]))
    text = text.replace(".visible .entry", ".global .u32 count;\n.visible .entry")
    woven = goptx.coarsen(text, 4)
    assert len(lines(woven, ".global .u32 count")) == 1


def test_lines_of_copies_are_those_of_the_kernel() -> None:
    woven = goptx.coarsen(EXAMPLES / "histogram.sm_90.ptx", 2)
    assert {o.source.rpartition("/")[2] for o in woven.origins if o} == {"histogram.sm_90.ptx"}
    assert len(woven.report.divergences) == len(set(woven.report.divergences))


@pytest.mark.slow
def test_coarsening_again_multiplies() -> None:
    woven = goptx.coarsen(goptx.coarsen(KERNELS["tiled"], 2, shape=Shape(9, 64)), 2)
    assert woven.ptx == goptx.coarsen(KERNELS["tiled"], 4, shape=Shape(9, 64)).ptx
    assert goptx.coarsen(goptx.coarsen(KERNELS["tiled"])).ptx == goptx.coarsen(KERNELS["tiled"], 4).ptx


def test_the_output_is_deterministic() -> None:
    assert goptx.coarsen(KERNELS["leaving"], 3).ptx == goptx.coarsen(KERNELS["leaving"], 3).ptx


# among others -----------------------------------------------------------------------------------------

COMMON = Shape((5, 3), 64)
Part = tuple[str, int, Axis]
MIXED: list[tuple[Part, Part]] = [
    (("tiled", 2, "x"), ("leaving", 1, "x")),
    (("leaving", 2, "x"), ("tiled", 2, "x")),
    (("tiled", 2, "y"), ("tiled", 4, "y")),
    (("looping", 2, "x"), ("registers", 2, "y")),
    (("dynamic", 3, "x"), ("dynamic", 1, "x")),
    (("leaving", 1, "x"), ("looping", 3, "x")),
]


def made(part: Part, **options: Any) -> str | Woven:
    name, factor, axis = part
    return KERNELS[name] if factor == 1 else goptx.coarsen(KERNELS[name], factor, axis, **options)


@pytest.mark.slow
@pytest.mark.parametrize("parts", MIXED, ids=str)
def test_among_others_in_one_common_shape(parts: tuple[Part, Part], assembles: Assembles) -> None:
    woven = goptx.weave(*map(made, parts))
    shape = Shape(COMMON.grid, COMMON.block, 4100 if parts[0][0] == "dynamic" else 0)
    assert [p.kernel for p in woven.params if not p.role] == ["A", "A", "B", "B"]
    same([p[0] for p in parts], [shape] * 2, woven)
    assembles(woven)


@pytest.mark.slow
def test_dynamic_memory_of_one_kernel_in_a_common_shape(assembles: Assembles) -> None:
    """The launch states it for all, as it states the grid."""
    woven = goptx.weave(goptx.coarsen(KERNELS["dynamic"], 2), goptx.coarsen(KERNELS["tiled"], 3))
    assert woven.launched(5, 64, 4100)[0].shared == 5 * 1024 + 4100
    same(["dynamic", "tiled"], [Shape(5, 64, 4100)] * 2, woven)
    assembles(woven)
    assert goptx.coarsen(KERNELS["tiled"]).launched(6, 64, 4100)[0] == Shape(3, 64)


OWN = [("spread", Shape((5, 2), 64), Shape((3, 3), (20, 2))), ("front", Shape((3, 2), 96), Shape((5, 3), (5, 5)))]


@pytest.mark.slow
@pytest.mark.parametrize("parts", MIXED, ids=str)
@pytest.mark.parametrize(("placement", "one", "other"), OWN, ids=["spread", "front"])
def test_among_others_in_shapes_of_their_own(
    parts: tuple[Part, Part], placement: Placement, one: Shape, other: Shape, assembles: Assembles
) -> None:
    names = [p[0] for p in parts]
    shapes = [with_memory(s, n) for s, n in zip((one, other), names, strict=True)]
    woven = goptx.weave(*map(made, parts), shapes=shapes, placement=placement)
    same(names, shapes, woven)
    assembles(woven)
    open_ = [Shape(None, s.block, s.shared) for s in shapes]
    same(names, shapes, goptx.weave(*map(made, parts), shapes=open_, placement=placement))


@pytest.mark.slow
def test_a_coarsened_kernel_keeps_its_shape_among_others() -> None:
    shapes = [Shape(7, 64), Shape(9, 96)]
    parts = [goptx.coarsen(KERNELS[n], 2, shape=s) for n, s in zip(("tiled", "leaving"), shapes, strict=True)]
    woven = goptx.weave(*parts)
    assert woven.plan and list(woven.plan.shapes) == shapes
    same(["tiled", "leaving"], shapes, woven)
    with pytest.raises(InputError, match="woven again by shapes="):
        goptx.weave(parts[0], KERNELS["tiled"])


def test_a_common_shape_is_one() -> None:
    woven = goptx.weave(goptx.coarsen(KERNELS["tiled"]), KERNELS["leaving"])
    with pytest.raises(InputError, match="for one common grid and block"):
        woven.launched(None, None, shapes=[Shape(4, 64), Shape(5, 64)])


def test_one_after_the_other() -> None:
    woven = goptx.fuse(goptx.coarsen(KERNELS["tiled"], 2), KERNELS["leaving"], strategy="vertical")
    same(["tiled", "leaving"], [Shape(5, 64)] * 2, woven)


@pytest.mark.slow
def test_many_copies_have_names_and_labels_of_their_own(assembles: Assembles) -> None:
    woven = goptx.coarsen(KERNELS["registers"], 27, shape=Shape(54, 32))
    assembles(woven)


@pytest.mark.slow
@pytest.mark.parametrize("axis", ["x", "y"])
def test_check_takes_a_coarsened_kernel(axis: Axis) -> None:
    done = goptx.check(goptx.coarsen(EXAMPLES / "transpose.sm_90.ptx", 2, axis), races=True)
    assert done and done.report.kernels.keys() == {"A"}
    assert goptx.check(goptx.coarsen(EXAMPLES / "gelu.sm_90.ptx", 3), goptx.coarsen(EXAMPLES / "stms.sm_90.ptx", 2))


def test_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, out = tmp_path / "a.ptx", tmp_path / "out.ptx"
    source.write_text(KERNELS["tiled"])
    assert main(["coarsen", str(source), "--factor", "3", "--axis", "y", "-o", str(out), "--name", "wide"]) == 0
    assert out.read_text() == goptx.coarsen(source, 3, "y", name="wide").text()
    options = ["--entry", "tiled", "--shape", "A=4x5:64", "--policy", "concat", "--arch", "sm_100", "--report"]
    assert main(["coarsen", str(source), *options]) == 0
    output = capsys.readouterr()
    shape = Shape((4, 5), 64)
    assert output.out == goptx.coarsen(source, shape=shape, policy="concat", arch="sm_100", entry="tiled").text()
    assert "A as 4x5:64 (2 CTAs along x in one)" in output.err
    assert main(["coarsen", str(source), "--factor", "1"]) == 2
    assert capsys.readouterr().err.startswith("InputError: factor=1 is not a number of CTAs")
    assert (
        main(["coarsen", str(source), str(source)]) == 2 and main(["coarsen", str(source), "--placement", "front"]) == 2
    )


# examples ---------------------------------------------------------------------------------------------

NAMES = "gelu gemm harris histogram layernorm lud micnd pipeline reduce softmax sort stencil stms transpose".split()


@pytest.mark.slow
@pytest.mark.parametrize(("name", "known"), [(name, i % 2 == 0) for i, name in enumerate(NAMES)])
def test_examples(name: str, known: bool, assembles: Assembles) -> None:
    """Every other one in a shape that is known. Where atomics make the order of a sum matter, they are whole."""
    launch = read_specification(EXAMPLES / f"{name}.toml")[0].small()
    file = EXAMPLES / f"{name}.sm_90.ptx"
    axis: Axis = "y" if len(launch.grid) > 1 else "x"
    factor = {"x": 3, "y": 2}[axis]
    shape = Shape(launch.grid, launch.block, launch.shared)
    expected, got = ([sample(a) for a in launch.arguments] for _ in range(2))
    goptx.emulate(file, launch.grid, launch.block, expected, shared=launch.shared)
    woven = goptx.coarsen(file, factor, axis, shape=shape if known else None)
    goptx.emulate(woven, args=[got], shapes=[shape], races=True, seed=3)
    for one, other in zip(expected, got, strict=True):
        assert np.array_equal(np.asarray(one), np.asarray(other))
    assembles(woven)


def test_coarse_grids() -> None:
    assert Coarse(4).grid((11, 2, 1)) == (5, 2, 1) and Coarse(4).grid((None, 2, 1)) == (None, 2, 1)
    for along in range(1, 40):
        for factor in range(2, 9):
            (ctas, _, _), whole = Coarse(factor).grid((along, 1, 1)), along // factor
            carried = [
                min(c, whole) * (factor - 1) + c + place
                for c in range(ctas or 0)
                for place in range(factor if c < whole else 1)
            ]
            assert carried == list(range(along))
