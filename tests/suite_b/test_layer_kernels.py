"""Suite B's five kernels of deep learning, on the emulator: right in any block of whole warps."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import goptx
from goptx.launch.sample_data import sample

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from suite_b import FOLDER, LAYERS, PAIRS, launches_of
from suite_b.references import SAMPLED, problem
from suite_b.references import sample as places

BLOCKS = [(32,), (96,), (512,), (1024,)]
ARCHITECTURES = ("sm_80", "sm_90")
Values = dict[str, Any]


def given_to(kernel: str, **changed: Any) -> Values:
    """Its arguments by name, in the sizes of `[check]`; some may be changed."""
    launch = launches_of(kernel)[0].small()
    values = {argument.name: sample(argument) for argument in launch.arguments}
    for name, value in changed.items():
        values[name] = value if isinstance(value, np.ndarray) else values[name].dtype.type(value)
    return values


def written(kernel: str, given: Values, block: tuple[int, ...], arch: str = "sm_90", **options: Any) -> Values:
    """The arguments by name after a launch with that block."""
    launch = launches_of(kernel)[0].small()
    values = {name: np.copy(v) if isinstance(v, np.ndarray) else v for name, v in given.items()}
    file = FOLDER / f"{kernel}.{arch}.ptx"
    goptx.emulate(file, launch.grid, block, list(values.values()), shared=launch.shared, races=True, **options)
    return values


@pytest.mark.parametrize("arch", ARCHITECTURES)
@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("kernel", LAYERS)
def test_as_its_reference_says(kernel: str, block: tuple[int, ...], arch: str) -> None:
    given = given_to(kernel)
    assert problem(kernel, given, written(kernel, given, block, arch)) == ""


@pytest.mark.parametrize("block", [(32, 1), (32, 4), (32, 28), (32, 32), (64, 3), (16, 6)])
def test_batchnorm_in_blocks_of_two_axes(block: tuple[int, ...]) -> None:
    given = given_to("batchnorm")
    assert problem("batchnorm", given, written("batchnorm", given, block, seed=1)) == ""


@pytest.mark.parametrize("kernel", ["hist", "maxpool", "upsample", "im2col"])
def test_bits_are_equal_in_all_blocks(kernel: str) -> None:
    given = given_to(kernel)
    first, other = (written(kernel, given, block) for block in ((32,), (896,)))
    assert all(np.array_equal(first[n].view(np.uint8), other[n].view(np.uint8)) for n in first if first[n].ndim)


@pytest.mark.parametrize(
    ("kernel", "output"),
    [
        ("batchnorm", "mean"), ("hist", "counts"), ("maxpool", "out"), ("maxpool", "places"), ("upsample", "out"),
        ("im2col", "columns"),
    ],
)  # fmt: skip
def test_references_find_one_wrong_output(kernel: str, output: str) -> None:
    given = given_to(kernel)
    found = written(kernel, given, (64,))
    assert problem(kernel, given, found) == ""
    found[output][-1] += found[output].dtype.type(1)
    assert problem(kernel, given, found)


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["weave", "vertical", "interleave", "horizontal"])
@pytest.mark.parametrize("pair", [pair for pair in PAIRS if set(pair.split("+")) <= set(LAYERS)])
def test_pairs_on_the_emulator(pair: str, strategy: Any) -> None:
    files = [FOLDER / f"{kernel}.sm_90.ptx" for kernel in pair.split("+")]
    options: dict[str, Any] = {"partition": (384, 640)} if strategy == "horizontal" else {}
    assert goptx.check(*files, strategy=strategy, races=True, **options)


def test_maxpool_takes_the_first_of_equal_elements_and_any_nan() -> None:
    plane = np.full(585, 2.0, np.float32)
    plane[14] = np.nan  # row 1, column 1: in the windows at the corner, and below it
    found = written("maxpool", given_to("maxpool", **{"in": plane}), (64,))
    assert np.isnan(found["out"][0]) and found["places"][0] == 14
    assert found["out"][2] == 2.0 and found["places"][2] == 3  # of rows 0 and 1, columns 3 to 5
    assert problem("maxpool", given_to("maxpool", **{"in": plane}), found) == ""


def test_upsample_by_hand() -> None:
    """A row of two elements to four: their middles are at a quarter and three quarters."""
    given = given_to(
        "upsample", **{"in": np.array([0, 8], np.float32)}, height=1, width=2, out_height=1, out_width=4, scale_y=1,
        scale_x=0.5, n=4,
    )  # fmt: skip
    assert list(written("upsample", given, (32,))["out"][:4]) == [0, 2, 6, 8]


def test_im2col_by_hand() -> None:
    """A plane of 2x2 elements, windows of 2x2 with nothing around it, and with a border of zeros."""
    plane = np.arange(1, 5, dtype=np.float32)
    sizes = {"height": 2, "width": 2, "window": 2, "stride": 1}
    within = given_to("im2col", **{"in": plane}, **sizes, out_height=1, out_width=1, padding=0, n=1)
    assert list(written("im2col", within, (32,))["columns"][:4]) == [1, 2, 3, 4]
    around = given_to("im2col", **{"in": plane}, **sizes, out_height=3, out_width=3, padding=1, n=9)
    assert list(written("im2col", around, (32,))["columns"][:9]) == [0, 0, 0, 0, 1, 2, 0, 3, 4]


def test_large_outputs_are_sampled() -> None:
    assert list(places(5)) == [0, 1, 2, 3, 4]
    drawn = places(100 * SAMPLED)
    assert 0.9 * SAMPLED < len(drawn) <= SAMPLED + 2
    assert drawn[0] == 0 and drawn[-1] == 100 * SAMPLED - 1 and (np.diff(drawn) > 0).all()


def test_a_kernel_without_a_reference() -> None:
    with pytest.raises(goptx.InputError, match=r"gelu: no reference; write suite_b/references/gelu\.py\."):
        problem("gelu", {}, {})
