"""Batch-norm statistics and a histogram, a pair of suite B, fused horizontally at several partitions."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import goptx
from goptx import InputError, Shape
from goptx.launch.sample_data import sample

ROOT = Path(__file__).parent.parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))

from suite_b import FOLDER, launches_of  # noqa: E402
from suite_b.ways import PEERS, Way, fused  # noqa: E402

Assembles = Callable[[goptx.Woven], None]
FIVE = [(128, 896), (256, 768), (512, 512), (768, 256), (896, 128)]
NAMES = ("batchnorm", "hist")
PAIR = "+".join(NAMES)
BATCHNORM, HIST = (FOLDER / f"{name}.sm_90.ptx" for name in NAMES)


def mean(block: tuple[int, ...]) -> Any:
    """What batchnorm leaves with that block, in the size of `[check]`."""
    launch = launches_of("batchnorm")[0].small()
    values = [sample(argument) for argument in launch.arguments]
    goptx.emulate(launch.file, launch.grid, block, values)
    return values[1]


# fused --------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
@pytest.mark.parametrize("partition", FIVE)
def test_five_partitions(partition: tuple[int, int], arch: str, assembles: Assembles) -> None:
    files = [FOLDER / f"{name}.{arch}.ptx" for name in NAMES]
    check = goptx.check(*files, strategy="horizontal", partition=partition, races=True)
    assert check, check
    assert check.shape == Shape(4, 1024, 600)
    assert [k.shape for k in check.kernels] == [Shape(4, (32, partition[0] // 32)), Shape(4, partition[1], 600)]
    assembles(goptx.fuse(*files, strategy="horizontal", shapes=[k.shape for k in check.kernels], partition=partition))


def test_barriers_count_the_threads_of_their_kernel() -> None:
    woven = fused(PAIR, Way("horizontal", (768, 256)))
    found = [line.split(maxsplit=1)[1] for line in woven.ptx.splitlines() if "bar.sync" in line]
    assert found == ["0, 768;"] * 2 + ["1, 256;"] * 2 and "barrier.sync" not in woven.ptx


@pytest.mark.slow
def test_a_tunable_kernel_is_compared_in_the_block_that_it_is_given() -> None:
    """In another block it rounds differently."""
    own, other = (mean(block) for block in ((32, 16), (32, 28)))
    assert (own.view(np.uint32) != other.view(np.uint32)).any()
    assert goptx.check(BATCHNORM, HIST, strategy="horizontal", partition=(896, 128))


@pytest.mark.slow
@pytest.mark.parametrize("way", [*PEERS, Way("horizontal", (384, 640)), Way("horizontal", (512, 512), True)], ids=str)
def test_the_other_ways(way: Way) -> None:
    """Those that suite B times."""
    options: dict[str, Any] = {"partition": way.partition} if way.partition else {}
    options |= {"fold": "static"} if way.folded else {}
    assert goptx.check(BATCHNORM, HIST, strategy=way.strategy, races=True, **options)


# wrong uses ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"partition": (100, 924)}, r"partition=\(100, 924\): 100 is not a multiple of 32"),
        ({"partition": (896, 256)}, r"partition=\(896, 256\) comes to 1152 threads; a CTA has at most 1024"),
        (
            {"partition": (256, 768), "tunable": [False, True]},
            r"gives kernel A 256 threads, but it is launched with 512 \(1024:32x16\); .* declared so by tunable=",
        ),
        (
            {"partition": (512, 256), "tunable": [True, False]},
            r"gives kernel B 256 threads, but it is launched with 512 \(1024:512:1024\); .* declared so by tunable=",
        ),
        (
            {"partition": (96, 512), "shapes": [Shape(1024, (64, 8)), Shape(1024, 512, 1024)]},
            r"gives kernel A 96 threads, .* along its last axis only: 1024:64x8 takes whole rows of 64\.",
        ),
        (
            {"partition": (96, 512), "shapes": [Shape(1024, (None, 8)), Shape(1024, 512, 1024)]},
            r"gives kernel A 96 threads, .* takes none, for its other axes are not known\.",
        ),
        (
            {"partition": (512, 512), "shapes": [Shape(1024, (2, 2, 8)), Shape(1024, 512, 1024)]},
            r"block=\(2, 2, 128\) is more than \(1024, 1024, 64\)",
        ),
    ],
)
def test_wrong_uses(options: dict[str, Any], message: str) -> None:
    own = [Shape(one.grid, one.block, one.shared) for one in launches_of(PAIR)]
    with pytest.raises(InputError, match=message):
        goptx.fuse(BATCHNORM, HIST, strategy="horizontal", **{"shapes": own, **options})


def test_blocks_of_three_axes_change_along_the_last() -> None:
    shapes = [Shape(8, (32, 2, 2)), Shape(8, 512, 1024)]
    woven = goptx.fuse(BATCHNORM, HIST, strategy="horizontal", shapes=shapes, partition=(256, 768))
    assert woven.plan is not None and [s.block for s in woven.plan.shapes] == [(32, 2, 4), (768,)]
