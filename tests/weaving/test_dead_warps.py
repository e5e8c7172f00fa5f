"""Counts the instructions of warps that have ended a kernel, or of which no lane takes a side of a branch.

The kernels are those of tests/constructs/dead_warps.cu. Those with `n` end for the threads from n on.
"""

import re
from functools import cache
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import goptx
from goptx import Shape
from goptx.emulator.emulation import Emulation
from goptx.emulator.instructions.lanewise import Array
from goptx.options import Choice, Strategy
from goptx.results.fused_kernel import Woven

TEXT = (Path(__file__).parents[1] / "constructs" / "dead_warps.sm_90.ptx").read_text()
GRID, BLOCK = 4, 128
WARPS = GRID * BLOCK // 32
ALL = GRID * BLOCK
TRIPS = 6  # of the loop with barriers
MOST = 50  # instructions of a warp that has ended a kernel, above what it executes alone
GROWTH = 1.3  # times the instructions of the kernels alone
PREDICATES = 8  # instructions of a warp for predicates and votes, of each kernel of 20 to 30: more than GROWTH allows
NAMES = (
    "scale", "unrolled", "rare_side", "two_sides", "ends_in_the_middle", "ends_on_a_long_side", "either_of_two",
    "long_conditions", "tail_of_fours", "straight_with_barriers", "few_warps", "tiles_by_row",
)  # fmt: skip
SMALL = {"scale", "rare_side", "ends_on_a_long_side", "either_of_two", "long_conditions", "tail_of_fours"}
SHAPES = [Shape(GRID, BLOCK)] * 2
Arguments = list[Array | int]


def arguments(name: str, n: int, trips: int = TRIPS) -> Arguments:
    """What each kernel is launched with; `n` is the number of threads that live on, a multiple of 64, or as many as in
    every CTA."""
    if name == "tiles_by_row":
        k = 64
        a = (np.arange(WARPS * 16 * k) % 7).astype(np.float16)
        return [np.zeros(WARPS * 256, np.float32), a, (np.arange(k * 16) % 5).astype(np.float16), n // 2, k]
    x = np.random.default_rng(7).random(4 * ALL + 64, dtype=np.float32) * np.float32(0.97)
    x[5] = 0.998
    if name == "few_warps":
        return [np.zeros(ALL, np.float32), x, (n // GRID + 31) // 32 * 32, trips]
    return [np.zeros(4 * ALL, np.float32), x, 4 * n - 2 if name == "tail_of_fours" else n]


@cache
def alone(name: str, n: int, trips: int = TRIPS) -> tuple[Emulation, bytes]:
    given = arguments(name, n, trips)
    counts = goptx.emulate(TEXT, GRID, BLOCK, given, entry=name)
    return counts, np.asarray(given[0]).tobytes()


@cache
def fused(names: tuple[str, ...], strategy: Strategy = "weave", divergence: Choice | None = None) -> Woven:
    options: dict[str, Any] = {"divergence": divergence} if divergence else {}
    shapes = [Shape(GRID, BLOCK)] * len(names)
    return goptx.fuse(*[TEXT] * len(names), entries=list(names), strategy=strategy, shapes=shapes, **options)


def run(made: Woven, names: tuple[str, ...], sizes: tuple[int, ...], trips: int = TRIPS) -> int:
    """The instructions that are issued; what the kernels store is compared with what they store alone."""
    given = [arguments(name, n, trips) for name, n in zip(names, sizes, strict=True)]
    counts = goptx.emulate(made, args=given, shapes=[Shape(GRID, BLOCK)] * len(names), races=True)
    for name, n, own in zip(names, sizes, given, strict=True):
        assert np.asarray(own[0]).tobytes() == alone(name, n, trips)[1], (name, n)
    return counts.issued


def separately(names: tuple[str, ...], sizes: tuple[int, ...]) -> int:
    return sum(alone(name, n)[0].issued for name, n in zip(names, sizes, strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("strategy", ["weave", "vertical", "horizontal"])
def test_ctas_that_have_ended_a_kernel_cost_little(name: str, strategy: Strategy) -> None:
    names = (name, "scale")
    issued = run(fused(names, strategy), names, (0, ALL))
    assert issued - separately(names, (0, ALL)) <= MOST * WARPS


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("divergence", ["predicate", "park", "duplicate"])
def test_so_they_do_with_each_choice_for_divergence(name: str, divergence: Choice) -> None:
    names = (name, "scale")
    try:
        made = fused(names, "weave", divergence)
    except goptx.CannotWeave:
        pytest.skip("refused")
    assert run(made, names, (0, ALL)) - separately(names, (0, ALL)) <= MOST * WARPS


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_so_do_those_of_copies(name: str) -> None:
    made = goptx.coarsen(TEXT, 2, entry=name, shape=Shape(GRID, BLOCK))
    counts = goptx.emulate(made, args=[arguments(name, 0)], shapes=[Shape(GRID, BLOCK)], races=True)
    assert counts.issued - alone(name, 0)[0].issued <= MOST * WARPS


def test_copies_skip_long_code_together() -> None:
    """A warp runs what is left if any copy has a running lane: then no copy's code stands twice."""
    made = goptx.coarsen(TEXT, 4, entry="unrolled", shape=Shape(GRID, BLOCK))
    assert made.report.merged.blocks == 2  # with the test, and without it
    for n in (0, 32, BLOCK - 32, 2 * BLOCK + 32, ALL):
        given = arguments("unrolled", n)
        goptx.emulate(made, args=[given], shapes=[Shape(GRID, BLOCK)], races=True)
        assert np.asarray(given[0]).tobytes() == alone("unrolled", n)[1], n


@pytest.mark.slow
def test_a_warp_that_waits_at_barriers_runs_the_skeleton() -> None:
    """One warp of each CTA runs the loop. A trip costs each of the other three two barriers, what counts the trips, a
    vote with a branch where it skips code, and the seven instructions that load the tile, for which that is not worth
    it."""
    names = ("few_warps", "scale")
    one_warp = (32 * GRID, ALL)
    more = 4
    with_all = [run(fused(names), names, (ALL, ALL), t) for t in (TRIPS, TRIPS + more)]
    with_one = [run(fused(names), names, one_warp, t) for t in (TRIPS, TRIPS + more)]
    of_a_running = (with_all[1] - with_all[0]) / more / WARPS
    of_a_waiting = ((with_one[1] - with_one[0]) / more - GRID * of_a_running) / (3 * GRID)
    assert of_a_running > 60
    assert of_a_waiting <= 14


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["weave", "vertical", "horizontal"])
def test_it_skips_what_comes_after_the_last_barrier(strategy: Strategy) -> None:
    """Also where other warps of the CTA run on."""
    names = ("few_warps", "straight_with_barriers")
    sizes = (32 * GRID, ALL - 96)
    skipping = 3 * GRID + 3
    assert run(fused(names, strategy), names, sizes) - separately(names, sizes) <= 12 * TRIPS * skipping + MOST * WARPS


@pytest.mark.slow
def test_a_side_that_no_lane_takes_is_skipped() -> None:
    """Run by all warps, it was 4.4 times the instructions of the kernels alone."""
    names = ("rare_side", "rare_side")
    assert run(fused(names), names, (ALL, ALL)) <= 1.35 * separately(names, (ALL, ALL))


def test_no_lane_comes_from_a_skipped_condition() -> None:
    """The predicate of lanes that come from there to the code is false before the warp skips the condition."""
    text = fused(("long_conditions", "scale")).ptx
    assert re.search(r"mov\.pred %a_if\d+, 0;", text)


@pytest.mark.slow
@pytest.mark.parametrize(("first", "second"), list(combinations_with_replacement(NAMES, 2)))
def test_pairs_issue_little_more_than_the_kernels_alone(first: str, second: str) -> None:
    names, sizes = (first, second), (ALL, ALL)
    issued, separate = run(fused(names), names, sizes), separately(names, sizes)
    assert issued <= GROWTH * separate + PREDICATES * sum(name in SMALL for name in names) * WARPS


@pytest.mark.slow
@pytest.mark.parametrize("n", [64, 192, 320])
@pytest.mark.parametrize("name", NAMES)
def test_results_where_some_warps_of_a_cta_have_ended(name: str, n: int) -> None:
    for partner in ("straight_with_barriers", "rare_side"):
        run(fused((name, partner)), (name, partner), (n, ALL - n))


@pytest.mark.slow
def test_several_kernels_that_end_stay_within_limits() -> None:
    """Each of three may have ended where the others have not."""
    names = ("unrolled", "rare_side", "two_sides")
    made = fused(names)
    for sizes in ((0, ALL, ALL), (ALL, 0, 0), (64, 192, 0), (0, 0, 0)):
        assert run(made, names, sizes) - separately(names, sizes) <= 3 * MOST * WARPS
