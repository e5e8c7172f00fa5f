"""Kernels that would spill, or leave most of an SM empty, if they were interleaved."""

from typing import Any

import pytest
from weaving.large_kernels import tensor_kernel

import goptx
from goptx import Shape
from goptx.device.assemble import find_ptxas
from goptx.results.given_kernels import kernels_of
from goptx.strategies.candidate import Candidate
from goptx.tuning.making import Job, fused

needs_ptxas = pytest.mark.skipif(find_ptxas() is None, reason="needs ptxas")
SHAPES = [Shape(1000, 128)] * 2


def test_kernels_that_would_spill_stand_one_after_the_other() -> None:
    made = goptx.weave(tensor_kernel(256), tensor_kernel(256))
    (note,) = (n for n in made.report.notes if "interleaved" in n)
    assert note.startswith("the kernels stand one after the other: interleaved, a thread would need about 2")
    assert "registers of 255, so that about" in note and made.report.policy == "concat"


def test_a_policy_that_is_asked_for_is_taken() -> None:
    made = goptx.weave(tensor_kernel(256), tensor_kernel(256), policy="latency")
    assert made.report.policy == "latency" and not any("interleaved" in n for n in made.report.notes)


def test_kernels_with_room_are_interleaved() -> None:
    assert _order(goptx.weave(tensor_kernel(16), tensor_kernel(16))) == ("latency", [])


def test_kernels_of_which_fewer_ctas_would_fit_stand_one_after_the_other() -> None:
    policy, (note,) = _order(goptx.weave(tensor_kernel(32), tensor_kernel(32)))
    assert policy == "concat" and note.startswith("the kernels stand one after the other: interleaved, a thread would")
    assert note.endswith("10 CTAs of 128 threads fit on an SM, and 12 with each kernel alone")


def test_kernels_are_interleaved_where_shared_memory_leaves_no_room_for_more_ctas() -> None:
    shapes = [Shape(1000, 128, shared) for shared in (20_000, 5_000)]
    assert _order(goptx.weave(tensor_kernel(32), tensor_kernel(32), shapes=shapes)) == ("latency", [])


@pytest.mark.parametrize(("most", "policy"), [(4, "latency"), (5, "concat")])
def test_kernels_are_interleaved_where_in_sequence_they_have_too_many_blocks(most: int, policy: str) -> None:
    assert goptx.weave(tensor_kernel(32), tensor_kernel(32), max_blocks=most).report.policy == policy


@pytest.mark.parametrize("few", [1000, 1])
def test_kernels_that_rarely_run_in_one_cta_stand_one_after_the_other(few: int) -> None:
    """If the caller places CTAs: else each CTA runs one kernel."""
    shapes = [Shape(8000, 128), Shape((few, 1), 128)]
    assert _order(goptx.weave(tensor_kernel(8), tensor_kernel(8), shapes=shapes, placement="spread")) == (
        "concat",
        [f"the kernels stand one after the other: of 8000 CTAs, {few} run several kernels"],
    )


@pytest.mark.parametrize("grid", [1001, None])
def test_kernels_that_often_run_in_one_cta_are_interleaved(grid: int | None) -> None:
    shapes = [Shape(8000, 128), Shape(grid, 128)]
    assert _order(goptx.weave(tensor_kernel(8), tensor_kernel(8), shapes=shapes)) == ("latency", [])


def test_copies_count_among_the_ctas_that_run_several_kernels() -> None:
    """Coarsened, the larger grid is carried by few CTAs."""
    kernels = goptx.coarsen(tensor_kernel(8), 2), tensor_kernel(8)
    shapes = [Shape(8000, 128), Shape(1000, 128)]
    assert not any("run several kernels" in note for note in goptx.weave(*kernels, shapes=shapes).report.notes)


def _order(made: goptx.Woven) -> tuple[str, list[str]]:
    return made.report.policy, [n for n in made.report.notes if "the kernels stand" in n]


@pytest.mark.slow
@needs_ptxas
def test_in_sequence_nothing_spills() -> None:
    interleaved = goptx.weave(tensor_kernel(256), tensor_kernel(256), policy="latency").resources()
    made = goptx.weave(tensor_kernel(256), tensor_kernel(256)).resources()
    assert interleaved.spill_bytes > 1000 and made.spill_bytes == 0 and made.registers < 200


def test_auto_never_weaves_kernels_that_would_spill() -> None:
    made = goptx.fuse(tensor_kernel(256), tensor_kernel(256), strategy="auto", shapes=SHAPES)
    assert made.report.decision and made.strategy != "weave"
    assert not any(c.name.startswith("weave") for c in made.report.decision.candidates)


@needs_ptxas
def test_auto_drops_what_the_assembler_speaks_against(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, Any] = {"strategy": "auto", "shapes": SHAPES}
    for name, value in {"LEAST": 0.0, "STAKE": 0.0, "LOSS": 9.0}.items():  # something is fused
        monkeypatch.setattr(f"goptx.strategies.estimates.prospects.{name}", value)
    free = goptx.fuse(tensor_kernel(64), tensor_kernel(64), **asked)
    assert goptx.fuse(tensor_kernel(64), tensor_kernel(64), **asked, assemble=True).strategy == free.strategy
    monkeypatch.setattr("goptx.strategies.choose_strategy.problem", lambda *_: "its machine code spills")
    made = goptx.fuse(tensor_kernel(64), tensor_kernel(64), **asked, assemble=True)
    assert made.strategy == "separate" and "its machine code spills" in made.report.notes[0]


@pytest.mark.slow
@needs_ptxas
def test_serialized_tensor_operations_are_noticed() -> None:
    from goptx.cost.estimate import Estimate
    from goptx.device.assembler_log import read_serialized
    from goptx.strategies.estimates.assembled import problem

    made = goptx.weave(tensor_kernel(256), tensor_kernel(256), policy="latency")
    assert read_serialized(made.assembly().log).startswith("C751")
    assert "spills registers" in problem(made, Estimate(1.0, {}, 255, 0.1), 0, 128)
    made = goptx.weave(tensor_kernel(256), tensor_kernel(256))
    assert problem(made, Estimate(1.0, {}, 255, 0.1), 0, 128) == ""
    assert "registers, with which an SM holds" in problem(made, Estimate(1.0, {}, 64, 0.5), 0, 128)


def test_tuning_measures_interleaved_kernels_as_they_are() -> None:
    kernels = tuple(kernels_of([tensor_kernel(32)] * 2, None))
    woven = fused(Job(kernels, tuple(SHAPES), (False, False), Candidate("weave", (1, 1)), None))
    assert _order(woven) == ("latency", [])
    chosen = Candidate("weave", (1, 1)).having(policy="concat")
    assert fused(Job(kernels, tuple(SHAPES), (False, False), chosen, None)).report.policy == "concat"
