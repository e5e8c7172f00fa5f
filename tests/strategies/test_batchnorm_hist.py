"""Batch-norm statistics and a histogram, the first pair of suite B, fused horizontally at every partition."""

import subprocess
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

from strategies import hanging_child  # noqa: E402
from suite_b import EVEN, FOLDER, PAIR, PARTITIONS, PEERS, WAYS, Candidate, bound_of, fused, launches  # noqa: E402
from suite_b import supervised as supervision  # noqa: E402
from suite_b.supervised import supervised  # noqa: E402
from suite_b.table import table  # noqa: E402

Assembles = Callable[[goptx.Woven], None]
FIVE = [(128, 896), (256, 768), (512, 512), (768, 256), (896, 128)]
BATCHNORM, HIST = (FOLDER / f"{name}.sm_90.ptx" for name in PAIR)


def alone(name: str, block: tuple[int, ...], **options: Any) -> dict[str, Any]:
    """The arguments by name after a launch with that block, in the sizes of `[check]`."""
    launch = launches(small=True)[PAIR.index(name)]
    values = [sample(argument) for argument in launch.arguments]
    goptx.emulate(launch.file, launch.grid, block, values, shared=launch.shared, races=True, **options)
    return {argument.name: value for argument, value in zip(launch.arguments, values, strict=True)}


# the kernels alone --------------------------------------------------------------------------------------


@pytest.mark.parametrize("block", [(32,), (32, 1), (32, 4), (32, 16), (32, 28), (32, 32), (64, 3), (16, 6)])
def test_batchnorm_in_any_block(block: tuple[int, ...]) -> None:
    found = alone("batchnorm", block, seed=1)
    channels = found["in"].reshape(found["images"], 4, found["pixels"]).astype(np.float64)
    np.testing.assert_allclose(found["mean"], channels.mean(axis=(0, 2)), rtol=1e-5)
    expected = 1 / np.sqrt(channels.var(axis=(0, 2)) + found["epsilon"])
    np.testing.assert_allclose(found["inverse_deviation"], expected, rtol=1e-5)


@pytest.mark.parametrize("block", [32, 128, 512, 896, 1024])
def test_hist_in_any_block(block: int) -> None:
    found = alone("hist", (block,), seed=1)
    position = (found["x"] - found["low"]) * found["scale"]
    inside = position[(position >= 0) & (position < found["bins"])]
    assert 0 < len(inside) < len(position)
    assert (found["counts"] == np.bincount(inside.astype(int), minlength=found["bins"])).all()


# fused --------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
@pytest.mark.parametrize("partition", FIVE)
def test_five_partitions(partition: tuple[int, int], arch: str, assembles: Assembles) -> None:
    files = [FOLDER / f"{name}.{arch}.ptx" for name in PAIR]
    check = goptx.check(*files, strategy="horizontal", partition=partition, races=True)
    assert check, check
    assert check.shape == Shape(4, 1024, 600)
    assert [k.shape for k in check.kernels] == [Shape(4, (32, partition[0] // 32)), Shape(4, partition[1], 600)]
    assembles(goptx.fuse(*files, strategy="horizontal", shapes=[k.shape for k in check.kernels], partition=partition))


def test_barriers_count_the_threads_of_their_kernel() -> None:
    woven = fused(Candidate("horizontal", (768, 256)), launches())
    found = [line.split(maxsplit=1)[1] for line in woven.ptx.splitlines() if "barrier.sync" in line]
    assert found == ["0, 768;"] * 2 + ["1, 256;"] * 2 and "bar.sync" not in woven.ptx


def test_a_tunable_kernel_is_compared_in_the_block_that_it_is_given() -> None:
    """In another block it rounds differently."""
    own, other = (alone("batchnorm", block)["mean"] for block in ((32, 16), (32, 28)))
    assert (own.view(np.uint32) != other.view(np.uint32)).any()
    assert goptx.check(BATCHNORM, HIST, strategy="horizontal", partition=(896, 128))


@pytest.mark.slow
@pytest.mark.parametrize("candidate", [*PEERS, Candidate("horizontal", (384, 640))], ids=str)
def test_the_other_candidates(candidate: Candidate) -> None:
    """Those that the suite times."""
    options: dict[str, Any] = {"partition": candidate.partition, "max_growth": candidate.max_growth}
    given = {name: value for name, value in options.items() if value}
    assert goptx.check(
        *[(BATCHNORM, HIST)[k] for k in candidate.order], strategy=candidate.strategy, races=True, **given
    )


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
    own = [Shape(one.grid, one.block, one.shared) for one in launches()]
    with pytest.raises(InputError, match=message):
        goptx.fuse(BATCHNORM, HIST, strategy="horizontal", **{"shapes": own, **options})


def test_blocks_of_three_axes_change_along_the_last() -> None:
    shapes = [Shape(8, (32, 2, 2)), Shape(8, 512, 1024)]
    woven = goptx.fuse(BATCHNORM, HIST, strategy="horizontal", shapes=shapes, partition=(256, 768))
    assert woven.plan is not None and [s.block for s in woven.plan.shapes] == [(32, 2, 4), (768,)]


# the suite ----------------------------------------------------------------------------------------------


def test_the_suite_tries_every_partition_with_and_without_the_bound() -> None:
    assert [*FIVE, (384, 640), (640, 384)] == sorted(PARTITIONS, key=lambda p: (p not in FIVE, p))
    assert len(WAYS) == len(PEERS) + 2 * len(PARTITIONS) and EVEN in WAYS
    assert len({str(candidate) for candidate in WAYS}) == len(WAYS)


@pytest.mark.parametrize(("registers", "expected"), [((30, 14), 32), ((200, 40), 64)])
def test_the_bound_of_the_suite(registers: tuple[int, int], expected: int, assembles: Assembles) -> None:
    """Two CTAs of 1,024 threads fit, or one with the second kernel's registers."""
    woven = fused(EVEN, launches())
    assembles(woven)
    assert bound_of(EVEN, woven, registers) == expected and bound_of(PEERS[0], woven, registers) is None


def test_a_candidate_that_hangs_or_fails_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervision, "LIMIT", 1)
    messages: list[str] = []
    found = supervised(True, messages.append, hanging_child.serve)
    assert not found["right"] and found["small"] and [*found["ways"]] == ["vertical", "weave", "interleave"]
    assert [row["right"] for row in found["ways"].values()] == [True, False, False]
    assert "no answer within 1 s: hangs" in found["ways"]["weave"]["problem"]
    assert "ended without an answer" in found["ways"]["interleave"]["problem"]
    assert sum(line.startswith("vertical: right") for line in messages) == 3


def test_where_the_kernels_alone_fail() -> None:
    found = supervised(True, lambda _: None, hanging_child.serve_nothing)
    assert not found["right"] and found["problem"].startswith("the kernels alone: the child ended")
    document = {"gpu": "a GPU", "driver": "1", "commit": "c", "command": "python", "seconds": 1, "found": found}
    assert "Nothing was measured: the kernels alone" in table(document)


def test_the_table() -> None:
    row = {"right": True, "registers": 28, "bound": 32, "occupancy": 1.0, "shared_bytes": 2048, "assembler": "ptxas 13"}
    ms = {"streams": 2.0, "streams, the other first": 1.8, "vertical": 1.5, str(EVEN): 1.2}
    found: dict[str, Any] = {
        "launches": {"batchnorm": [[1024], [32, 16], 0], "hist": [[1024], [512], 1024]},
        "registers": [30, 14],
        "ways": {"vertical": row, str(EVEN): row, "weave": {"right": False, "problem": "no\nanswer"}},
        "ms": {name: [value, value, value] for name, value in ms.items()},
    }
    document = {"gpu": "a GPU", "driver": "1", "commit": "c", "command": "python", "seconds": 1, "found": found}
    lines = table(document).splitlines()
    assert "| horizontal 512+512 | yes | 28 (32) | 100% | 2048 | 1.200 | 1.200 to 1.200 | 1.500 |" in lines
    assert "| weave | NO | no answer | | | | | |" in lines
    over = "1.500 over separate launches (streams, the other first)"
    assert f"* even split, no search: horizontal 512+512, {over}" in lines
    found["ms"]["graph"] = [1.2, 1.2, 1.2]
    assert "| horizontal 512+512 | yes | 28 (32) | 100% | 2048 | 1.200 | 1.200 to 1.200 | 1.000 |" in table(document)


def test_the_suite_says_what_it_needs() -> None:
    command = [sys.executable, "-m", "benchmarks.suite_b", "--help"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert "python -m benchmarks.suite_b" in done.stdout
