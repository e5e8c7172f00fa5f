"""How a kernel that was woven for shapes is launched: its own shape, its hidden parameters, what contradicts them."""

import pickle
from typing import Any

import numpy as np
import pytest
from device.fake_driver import Driver, driver
from weaving.compared import LIMIT, outputs, same
from weaving.shaped_kernels import KERNELS
from weaving.test_shapes import weave

import goptx
from goptx import InputError, Shape

__all__ = ["driver"]

UNKNOWN = Shape(None, (None, 4), None), Shape((2, None), 64)
KNOWN = Shape((3, 2), (8, 4), 500), Shape((2, 5), 64)


def launches(driver: Driver) -> list[tuple[list[int], dict[str, Any]]]:
    """What went to the driver: all arguments but the stream, and the shape."""
    return [(one.arguments, {"grid": one.grid, "block": one.block, "shared": one.shared}) for one in driver.started]


def test_known_shapes_need_no_grid_and_no_block(driver: Driver) -> None:
    woven = weave("tiled", "looping", Shape((3, 2), (16, 16), 100), Shape(9, 64))
    assert woven.shape == Shape(9, (16, 16), 100) and not any(p.role for p in woven.params)
    woven.launch(None, [1, 2], [3, 4])
    woven.launch(None, [1, 2], [3, 4], shapes=[Shape((3, 2), (16, 16), 100), Shape(9, 64)])
    assert launches(driver) == [([1, 2, 3, 4], {"grid": (9, 1, 1), "block": (16, 16, 1), "shared": 100})] * 2


def test_hidden_parameters_stand_after_all_others(driver: Driver) -> None:
    woven = weave("tiled", "looping", *UNKNOWN)
    roles = ["A.grid.x", "A.grid.y", "A.grid.z", "A.block.x", "A.shared", "A.spread", "B.grid.y", "B.spread"]
    assert [(p.kernel, p.role) for p in woven.params] == [("A", "")] * 2 + [("B", "")] * 2 + [(None, r) for r in roles]
    assert [p.name for p in woven.params] == [p.name for p in woven.module.entries[0].parameters]
    assert {(p.type, p.size) for p in woven.params if p.kernel is None} == {("u32", 4)}
    assert woven.shape == Shape((None,), (None,), None)
    woven.launch(None, [1, 2], [3, 4], shapes=KNOWN)
    ((arguments, shape),) = launches(driver)
    assert arguments[:9] == [1, 2, 3, 4, 3, 2, 1, 8, 500] and arguments[10] == 5 and arguments[11] == (1 << 32) - 1
    assert arguments[9] + 1 == -(-(6 << 32) // 10)
    assert shape == {"grid": (10, 1, 1), "block": (64, 1, 1), "shared": 500}
    assert [int(a) for a in woven.arguments([1, 2], [3, 4], shapes=KNOWN)] == arguments
    same(("tiled", "looping"), KNOWN, woven)


@pytest.mark.slow
def test_front_needs_no_spread() -> None:
    woven = weave("tiled", "looping", *UNKNOWN, placement="front")
    assert not any(p.role.endswith("spread") for p in woven.params)
    same(("tiled", "looping"), KNOWN, woven)


def test_sizes_common_to_both_kernels(driver: Driver) -> None:
    woven = weave("dynamic", "dynamic", Shape(None, 64, None), Shape(None, (16, 2), None))
    woven.launch(None, [1, 2], [3, 4], grid=(5, 2), shared=2000)
    assert launches(driver)[0][1] == {"grid": (10, 1, 1), "block": (64, 1, 1), "shared": 2048 + 2000}
    other = weave("tiled", "tiled", Shape(4, None), Shape(4, None))
    other.launch(None, [1, 2], [3, 4], block=96)
    assert launches(driver)[1][1] == {"grid": (4, 1, 1), "block": (96, 1, 1), "shared": 0}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, r"the shape of kernel A is not known \(\?x\?x\?:\?x4:\?\); give it with shapes="),
        ({"shapes": [KNOWN[0]]}, "shapes= takes one for each of the kernels A, B"),
        ({"shapes": [KNOWN[0], Shape((2, None), 64)]}, r"kernel B is not known \(2x\?:64\)"),
        (
            {"shapes": [Shape((3, 2), (8, 5), 500), KNOWN[1]]},
            r"kernel A was woven for the shape \?x\?x\?:\?x4:\?, which",
        ),
        ({"shapes": [KNOWN[0], Shape((2, 5), 65)]}, "kernel B was woven for .*2x5:65 contradicts"),
        ({"shapes": [KNOWN[0], Shape((2, 5), 64, 9)]}, "kernel B was woven for .*2x5:64:9 contradicts"),
        ({"shapes": KNOWN, "grid": 6}, r"kernel A was woven for the shape 6:\?x4:\?, which 3x2:8x4:500 contradicts"),
        ({"shapes": KNOWN, "block": (8, 4)}, "kernel B was woven for .* contradicts"),
        ({"shapes": KNOWN, "shared": 499}, "kernel A was woven for the shape .* contradicts"),
    ],
)
def test_what_contradicts_or_is_missing(options: dict[str, Any], message: str) -> None:
    woven = weave("tiled", "looping", Shape(None, (None, 4), None), Shape((2, None), 64))
    with pytest.raises(InputError, match=message):
        woven.launch(None, [1, 2], [3, 4], **options)
    with pytest.raises(InputError, match=message):
        goptx.emulate(woven, args=[[outputs(KNOWN[0]), 1], [outputs(KNOWN[1]), 1]], **options)


def test_without_shapes_a_launch_takes_grid_and_block(driver: Driver) -> None:
    woven = goptx.weave(KERNELS["tiled"], KERNELS["looping"])
    assert woven.shape is None and woven.plan is None
    woven.launch(None, [1, 2], [3, 4], grid=4, block=[8, 4])
    assert launches(driver) == [([1, 2, 3, 4], {"grid": (4, 1, 1), "block": (8, 4, 1), "shared": 0})]
    for options, message in (
        ({"grid": 4}, "`tiled_looping_woven` needs a grid and a block; or give `weave` the kernels' shapes"),
        ({"shapes": KNOWN}, "was woven for one common shape; give `weave` the shapes"),
    ):
        with pytest.raises(InputError, match=message):
            woven.launch(None, [1, 2], [3, 4], **options)
        with pytest.raises(InputError, match=message):
            goptx.emulate(woven, args=[[], []], **options)
    with pytest.raises(InputError, match="shapes= is for a woven kernel"):
        goptx.emulate(KERNELS["tiled"], 1, 1, [outputs(Shape(1, 1)), 1], shapes=KNOWN)
    with pytest.raises(InputError, match="block=None is not an extent; only a kernel woven with shapes knows"):
        goptx.emulate(KERNELS["tiled"], 1, args=[outputs(Shape(1, 1)), 1])


def test_a_woven_kernel_survives_pickling() -> None:
    woven = weave("tiled", "looping", *UNKNOWN)
    copy = pickle.loads(pickle.dumps(woven))
    assert copy.ptx == woven.ptx and copy.plan == woven.plan and copy.shape == woven.shape
    same(("tiled", "looping"), KNOWN, copy)


def test_resources_are_those_of_the_shape() -> None:
    woven = weave("tiled", "looping", Shape(4, 256, 60000), Shape(8, 1024))
    assert woven.resources().occupancy == woven.resources(block=1024, shared=60000).occupancy is not None
    assert weave("tiled", "looping", *UNKNOWN).resources().occupancy is None


def test_the_report_says_how_to_launch() -> None:
    report = weave("tiled", "looping", *UNKNOWN).report
    assert "launch as ?:?:?, A as ?x?x?:?x4:?, B as 2x?:64, spread" in report.notes
    assert any(note.startswith("parameters after those of the kernels: A.grid.x, A.grid.y") for note in report.notes)
    assert "launch as 2:64, A as 2:64, B as 2:64" in weave("tiled", "tiled", Shape(2, 64), Shape(2, 64)).report.notes


@pytest.mark.parametrize("strategy", ["given", "left to the launch"])
def test_check(strategy: str) -> None:
    sizes = {"A:0": np.zeros(6 * 32 * 24, np.uint32), "A:1": LIMIT, "B:0": f"u32[{10 * 64 * 24}]:zeros", "B:1": "u32:9"}
    given = KNOWN if strategy == "given" else (Shape((3, 2), (8, 4), 500), Shape(None, 64))
    check = goptx.check(
        KERNELS["tiled"], KERNELS["looping"], shapes=given, grid=None if strategy == "given" else (2, 5), args=sizes
    )
    assert check, check
    assert [k.shape for k in check.kernels] == list(KNOWN)
    assert (check.grid, check.block, check.shared) == (
        (10, 1, 1) if strategy != "given" else (2, 5, 1),
        (64, 1, 1),
        500,
    )
    assert check.to_dict()["shapes"] == {"A": "3x2:8x4:500", "B": "2x5:64"}


def test_a_check_takes_a_shape_for_each_kernel() -> None:
    with pytest.raises(InputError, match=r"shapes= takes a goptx\.Shape for each of the 2 kernels"):
        goptx.check(KERNELS["tiled"], KERNELS["looping"], shapes=[KNOWN[0]])
