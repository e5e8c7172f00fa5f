"""A few random cases of every way; benchmarks/random_pairs.py runs many."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from random_kernels import chains
from random_kernels.case import Case, read
from random_kernels.pairs import Outcome, run
from random_kernels.search import drawn, search
from random_kernels.ways import WAYS, trial

import goptx
from goptx.launch.coarsening import Coarse
from goptx.launch.shape import Axes
from goptx.options import Axis

CASES, CHAINS = 3, 16  # of each way
SEED = 51


def quietly(case: Case) -> Outcome:
    with np.errstate(all="ignore"):
        return run(case)


@pytest.mark.slow
@pytest.mark.parametrize("way", [way for way in WAYS if way != "weave"])
def test_a_few_cases(way: str) -> None:
    found = search(SEED, CHAINS if WAYS[way].case is chains.chain else CASES, way=way, judge=quietly)
    assert found.failing is None, found.failing.file(found.failure)
    assert found.pairs > found.refused.total()


@pytest.mark.parametrize("way", ["interleave of batched", "batch", "vertical with private"])
def test_a_file_gives_back_the_case(tmp_path: Path, way: str) -> None:
    case = drawn(SEED, 2, way)[-1]
    (tmp_path / "case.ptx").write_text(case.file("wrong"))
    again = read(tmp_path / "case.ptx")
    assert again == case and again.way == way
    one, other = trial(case), trial(again)
    assert one.launch == other.launch and str(one.data()) == str(other.data())
    try:
        text = one.woven().ptx
    except goptx.CannotWeave as error:
        with pytest.raises(goptx.CannotWeave, match=re.escape(str(error))):
            other.woven()
    else:
        assert text == one.woven().ptx == other.woven().ptx


# what the ways are ------------------------------------------------------------------------------------


def woven(way: str) -> list[goptx.Woven]:
    """Of those cases that are not declined."""
    found = []
    for case in drawn(SEED + 1, 3, way):
        try:
            found.append(trial(replace(case, divergence=None)).woven())
        except goptx.CannotWeave:
            continue
    assert found
    return found


@pytest.mark.parametrize(("way", "factor"), [("coarsen", 2), ("coarsen twice", 4)])
def test_one_kernel_is_coarsened(way: str, factor: int) -> None:
    """Unless its grid has too few CTAs."""
    made = woven(way)
    assert {one.strategy for one in made} == {"coarsen"}
    assert max(c.factor for one in made if one.plan for c in one.plan.coarse) >= factor


@pytest.mark.parametrize("way", ["batch", "coarsen of batch", "interleave of batched"])
def test_a_scalar_becomes_an_axis(way: str) -> None:
    for one in woven(way):
        names = [p.original for p in one.params if p.kernel]
        assert len([n for n in names if n.endswith("_scale")]) < len(one.report.kernels)


@pytest.mark.parametrize("way", ["horizontal of three", "vertical of fused"])
def test_three_kernels(way: str) -> None:
    for one in woven(way):
        assert one.strategy == way.split()[0] and list(one.report.kernels) == ["A", "B", "C"]


@pytest.mark.slow
def test_a_kernel_gets_warps_that_it_is_not_launched_with() -> None:
    blocks = {(s.block, k.block) for case in drawn(SEED, 8, "horizontal with tunable") for s, k in [
        (case.shapes[0], trial(case).launch["shapes"][0])
    ]}  # fmt: skip
    assert any(own != given for own, given in blocks)


# What is wrong has to be seen -------------------------------------------------------------------------


def fails(way: str, seed: int = SEED, cases: int = 4) -> str:
    return search(seed, cases, shrink=False, way=way, judge=quietly).failure


@pytest.mark.slow
def test_ctas_that_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def too_few(coarse: Coarse, grid: Axes) -> Axes:
        sizes = list(grid)
        along = sizes[coarse.axis]
        sizes[coarse.axis] = along and (along // coarse.factor or along)
        return sizes[0], sizes[1], sizes[2]

    monkeypatch.setattr(Coarse, "grid", too_few)
    assert fails("coarsen", SEED + 1).startswith("Wrong: in order 0 of the warps A:")


@pytest.mark.slow
def test_launches_with_another_number(monkeypatch: pytest.MonkeyPatch) -> None:
    batch = goptx.batch

    def other(source: Any, over: str, axis: Axis, start: int, step: int, **options: Any) -> goptx.Woven:
        return batch(source, over, axis, start, step + 1, **options)

    monkeypatch.setattr(goptx, "batch", other, raising=False)
    assert fails("batch").startswith("Wrong: ")


def test_what_is_handed_on_and_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    fuse = goptx.fuse

    def unordered(*sources: Any, **options: Any) -> goptx.Woven:
        return fuse(*reversed(sources), strategy="vertical")

    monkeypatch.setattr(goptx, "fuse", unordered, raising=False)
    assert fails("vertical with depends").startswith("Wrong: ")
