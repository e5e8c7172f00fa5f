"""How large woven kernels become: limits, what is given up to keep them, and that it is right all the same."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from bodies import kernel
from weaving.large_kernels import large

import goptx
from goptx.checking.verdict import Check
from goptx.errors import CannotWeave, InputError
from goptx.options import Policy
from goptx.results.report import Report
from goptx.weaving.merging import fallback

CONSTRUCTS = goptx.read(Path(__file__).parents[1] / "constructs" / "constructs.sm_80.ptx")
ARGUMENTS = {"0": "u32[64]:0..1024", "1": "u32[64]:zeros", "2": "u32:45"}  # in, out, n


def checked(first: str, second: str, **options: Any) -> Check:
    """Every thread of one CTA has an element of its own."""
    arguments = {f"{letter}:{position}": text for letter in "AB" for position, text in ARGUMENTS.items()}
    found = goptx.check(first, second, grid=1, block=64, args=arguments, **options)
    if found.failure is not None:
        raise found.failure
    return found


def within(report: Report, blocks: float = 4, growth: float = 3) -> bool:
    kernels = report.kernels.values()
    few = report.merged.blocks <= blocks * sum(k.blocks for k in kernels)
    return few and report.merged.instructions <= growth * sum(k.instructions for k in kernels)


def test_kernels_that_warps_skip_may_also_stand_alone() -> None:
    """Two kernels with two long sides each, and a test whether any thread of the warp is still in them."""
    text = (Path(__file__).parents[1] / "constructs" / "dead_warps.sm_90.ptx").read_text()
    kernels: dict[str, Any] = {"entries": ["two_sides"] * 2, "shapes": [goptx.Shape(4, 128)] * 2, "policy": "latency"}
    free, bounded = (goptx.weave(text, text, max_growth=growth, **kernels).report for growth in (None, 3))
    assert within(free, growth=4) and not within(free)
    assert within(bounded)
    assert not any("max_growth" in note for note in free.notes)
    assert any("max_growth" in note for note in bounded.notes)


@pytest.mark.slow
def test_two_kernels_of_three_hundred_blocks(assembles: Callable[[goptx.Woven], None]) -> None:
    woven = goptx.weave(large("one", 1, 135), large("two", 2, 135))
    assert all(300 <= k.blocks <= 350 for k in woven.report.kernels.values())
    assert within(woven.report)
    assert woven.report.woven_fraction > 0.1
    assembles(woven)


def beside_each_other(seed: int, policy: Policy = "latency") -> Report:
    found = checked(large("one", seed, 25), large("two", seed + 100, 25, 0.3), policy=policy)
    assert within(found.report)
    return found.report


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_many_loops_and_ifs_beside_each_other(seed: int) -> None:
    beside_each_other(seed, "paper")


@pytest.mark.slow
def test_loops_and_ifs_are_woven_all_the_same() -> None:
    assert sum(beside_each_other(seed).woven_fraction for seed in range(6)) / 6 > 0.3


# What is given up -----------------------------------------------------------------------------------------

PAIRS = ["nested_loops+uniform_switch", "slow_float+grid_stride", "loop_with_break+nested_loops"]
STEPS = ["", "loop beside loop and if beside if", "outside of loops and ifs only"]


@pytest.mark.parametrize("pair", PAIRS)
def test_the_less_room_the_less_is_woven(pair: str) -> None:
    steps, fractions = [], []
    for growth in (10.0, 3.0, 1.2):
        woven = goptx.weave(CONSTRUCTS, CONSTRUCTS, entries=pair.split("+"), max_blocks=200, max_growth=growth)
        assert within(woven.report, 200, growth)
        fractions.append(woven.report.woven_fraction)
        steps.append(re.sub("merged | to stay within max_blocks= and max_growth=", "", "".join(woven.report.notes)))
    assert steps == STEPS
    assert fractions[0] > 0.7
    assert fractions[1] > 0.6
    assert fractions[2] < 0.2


@pytest.mark.slow
def test_the_limit_of_blocks_holds_too() -> None:
    pair = PAIRS[0].split("+")
    for blocks in (150, 100, 50, 30):
        report = goptx.weave(CONSTRUCTS, CONSTRUCTS, entries=pair, max_blocks=blocks, max_growth=10.0).report
        assert report.merged.blocks <= blocks
    with pytest.raises(CannotWeave, match=r"come to 18 blocks and 97 instructions, and .* allow 12 and 890; raise"):
        goptx.weave(CONSTRUCTS, CONSTRUCTS, entries=pair, max_blocks=12, max_growth=10.0)


@pytest.mark.slow
@pytest.mark.parametrize("step", range(4))
@pytest.mark.parametrize("seed", range(3))
def test_each_step_is_right(step: int, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fallback, "_RUNGS", fallback._RUNGS[step : step + 1])
    texts = large("one", seed, 8, 0.2), large("two", seed + 50, 8, 0.2)
    found = checked(*texts, max_blocks=10_000, max_growth=1000.0)
    assert bool(found.report.notes) == (step > 0)


def test_more_blocks_than_can_be_looked_through(monkeypatch: pytest.MonkeyPatch) -> None:
    """The unsliced kernels are few enough to be paired, then they are not."""
    texts = large("one", 1, 8), large("two", 2, 8)
    monkeypatch.setattr(fallback, "MOST_PAIRS", 600)
    report = goptx.weave(*texts).report
    assert (report.slicing, report.woven_fraction > 0.1) == (None, True)
    monkeypatch.setattr(fallback, "MOST_PAIRS", 100)
    found = checked(*texts)
    assert re.fullmatch(r"merged one after the other because there are \d+ pairs of blocks, .*", found.report.notes[0])
    assert found.report.woven_fraction < 0.1


def test_not_even_one_after_the_other() -> None:
    message = (
        r"\.ptx:\d+: kernel A \(`nested_loops`\) and .*\.ptx:\d+: kernel B \(`uniform_switch`\): even one after the "
        r"other the kernels come to 18 blocks and 97 instructions, and max_blocks= and max_growth= allow 76 and 89; "
        r"raise them, or use separate launches\."
    )
    with pytest.raises(CannotWeave, match=message):
        goptx.weave(CONSTRUCTS, CONSTRUCTS, entries=["nested_loops", "uniform_switch"], max_growth=1)


@pytest.mark.parametrize("blocks", [0, -3, 2.5, True, "7"])
def test_invalid_max_blocks(blocks: object) -> None:
    with pytest.raises(InputError, match=r"max_blocks `.*` is not a number of blocks; give one above 0, or None\."):
        goptx.weave(kernel("ret;"), kernel("ret;"), max_blocks=blocks)  # type: ignore[arg-type]


@pytest.mark.parametrize("growth", [0, -1.0, float("nan"), float("inf"), True, "3"])
def test_invalid_max_growth(growth: object) -> None:
    with pytest.raises(
        InputError, match=r"max_growth `.*` is not a factor; give a number above 0, such as 3.0, or None\."
    ):
        goptx.weave(kernel("ret;"), kernel("ret;"), max_growth=growth)  # type: ignore[arg-type]
