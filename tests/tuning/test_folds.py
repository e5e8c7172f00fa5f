"""Folded grids among the candidates of tuning: which are tried, with which registers, and how they are made."""

import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tuning.fake_bench import ARGS, PLUS, TIMES, FakeBench, tuned

from goptx import Shape, replay
from goptx.cost.role_registers import RoleDemand, divisions
from goptx.device.assemble import find_ptxas
from goptx.errors import AssemblyError
from goptx.results.given_kernels import kernels_of
from goptx.strategies.candidate import Candidate
from goptx.tuning.making import Job, make
from goptx.tuning.space.folds import FIRST, Folds
from goptx.tuning.space.pruning import Pruning
from goptx.tuning.space.role_demand import SPILLS, role_demand
from goptx.tuning.space.space import Space
from goptx.tuning.trials import Trial

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from suite_c.cases import measured_of

needs_ptxas = pytest.mark.skipif(find_ptxas() is None, reason="needs ptxas")
MANY = [Shape(9000, 64), Shape(5000, 64)]
PLAIN = Candidate("horizontal", (1, 1)).having(fold="static")


def folds(shapes: list[Shape]) -> Folds:
    return Folds(kernels_of([PLUS, TIMES, PLUS][: len(shapes)], least=1), shapes, "sm_90")


def names(candidates: Iterable[Candidate]) -> list[str]:
    return [str(candidate) for candidate in candidates]


# Which are tried ------------------------------------------------------------------------------------------


def test_one_wave_woven_or_not_and_as_many_as_the_smaller_grid_of_the_best() -> None:
    """A wave of 16 CTAs of 128 threads on each of 132 SMs."""
    found = folds(MANY)
    assert names(found.first()) == [
        "horizontal fold=static",
        "horizontal x1 x2 fold=static",
        "horizontal x2 x1 fold=static",
        "horizontal x2 x2 fold=static",
    ]
    woven = replace(PLAIN, factors=(1, 2))
    assert "horizontal x1 x2 ctas=2500 fold=static" in names(found.near(woven))
    assert "horizontal ctas=5000 fold=static" in names(found.near(PLAIN))
    few = [Shape(9000, 64), Shape(600, 64)]
    assert not any("ctas=" in name for name in names(folds(few).near(PLAIN)))


@pytest.mark.parametrize(
    "shapes",
    [
        [Shape(132 * 16, 64), Shape(9, 64)],  # one wave
        [Shape(9000, 64)],
        [Shape(9000, 64)] * 3,
        [Shape(9000, 64, cluster=2), Shape(9000, 64)],
        [Shape(9000, 1024), Shape(9000, 64)],  # more threads than a CTA has
    ],
)
def test_nothing_to_fold(shapes: list[Shape]) -> None:
    assert not folds(shapes).first()


def test_no_cta_is_left_over() -> None:
    odd = [Shape(9001, 64), Shape(5000, 64)]
    assert {candidate.factors for candidate in folds(odd).first()} == {(1, 1), (1, 2)}


def test_near_candidates_differ_in_one_thing() -> None:
    space = Space(MANY, [False] * 2, ["horizontal"], (), folds(MANY))
    found = names(space.near(PLAIN))
    others = ["horizontal fold=chunk", "horizontal fold=ticket", "horizontal assist=True fold=ticket"]
    assert found[:4] == [*others, "horizontal ctas=5000 fold=static"]
    assert "horizontal x2 x1 fold=static" in found and not any("placement" in name for name in found)
    assert "horizontal fold=static" in names(space.near(PLAIN.having(ctas=5000)))
    moved = names(space.near(PLAIN.having(role_registers=(184, 72))))
    assert {f"horizontal fold=static role_registers={r}" for r in ("192,64", "176,80")} <= set(moved)
    assert not any(r in name for name in names(space.near(PLAIN.having(role_registers=(232, 24)))) for r in ("240,16",))


def test_registers_are_those_of_so_many_woven_ctas() -> None:
    """Not those of the form before: each may have 255 registers where two CTAs woven leave room for one on an SM."""
    shapes = [Shape(1024, 128), Shape(65536, 128)]
    demands = {(0, 1): RoleDemand(208, 192, 192), (1, 1): RoleDemand(56, 56, 40), (1, 2): RoleDemand(96, 96, 80)}
    found = Folds(kernels_of([PLUS, TIMES], least=1), shapes, "sm_90a", _demands=demands)
    near = names(found.near(PLAIN.having(role_registers=(192, 64))))
    assert "horizontal x1 x2 fold=static" in near and not any("x1 x2" in n and "role_registers" in n for n in near)


def test_horizontal_kernels_only() -> None:
    for strategies, there in ((["weave"], False), (["horizontal"], True)):
        space = Space(MANY, [False] * 2, strategies, (), folds(MANY))  # type: ignore[arg-type]
        assert any(candidate.option("fold") for candidate in space.first()) == there
    assert not any(candidate.option("fold") for candidate in Space(MANY, [False] * 2).first())


def test_the_fastest_is_chosen_and_made_again(tmp_path: Path) -> None:
    """The search reaches it from the first candidates, and the file of the result describes it."""
    fast = "horizontal x1 x2 ctas=2500 fold=chunk"
    bench = FakeBench({"horizontal x1 x2 fold=static": 0.9, "horizontal x1 x2 ctas=2500 fold=static": 0.8, fast: 0.5})
    args = {name: value.replace("256", "576000") for name, value in ARGS.items()}
    best = tuned(bench, shapes=MANY, args=args, strategies=["horizontal"])
    assert str(best.candidate) == fast
    best.save(tmp_path / "best.json")
    again = replay(tmp_path / "best.json")
    assert again.plan is not None and again.plan.folds and again.shape is not None and again.shape.ctas == 2500


def test_lines_of_kernels_that_are_not_coarsened_are_not_counted() -> None:
    """Only copies are woven, so a long kernel beside them costs nothing."""
    pruning = Pruning(None, (1400, 200))
    for candidate, pruned in (
        (replace(PLAIN, factors=(1, 2)), False),
        (replace(PLAIN, factors=(2, 1)), True),
        (Candidate("weave", (1, 2)), True),
    ):
        tried, left_out = pruning.sorted([candidate])
        assert (len(tried), len(left_out)) == (1 - pruned, int(pruned))


def test_folded_grids_are_ordered_by_their_estimate() -> None:
    pruning = Pruning.of(folds(MANY).kernels, MANY, "sm_90")
    plain, woven = pruning.estimate(PLAIN), pruning.estimate(replace(PLAIN, factors=(2, 2)))
    assert plain is not None and woven is not None and plain != woven
    assert pruning.estimate(Candidate("horizontal", (1, 1))) is None
    tried, _ = pruning.sorted([PLAIN, replace(PLAIN, factors=(2, 2))])
    assert tried[0].plain == (plain < woven)


def test_interleaved_kernels_bound_to_sms_and_folded() -> None:
    space = Space(MANY, [False] * 2, ["interleave"], (), folds(MANY))
    found = names(space.first())
    assert {"interleave binding=sm", "interleave x1 x2 binding=sm ratio=1,1"} <= set(found)
    assert not any("x4" in name for name in found if "binding" in name)
    near = names(space.near(Candidate("interleave", (1, 1)).having(binding="sm")))
    assert {"interleave binding=sm ratio=1,2", "interleave binding=sm fold=ticket"} <= set(near)
    assert not any("placement" in name for name in near)
    near = names(space.near(Candidate("interleave", (1, 1)).having(placement="front")))
    assert "interleave fold=static placement=front" in near and not any("binding" in name for name in near)
    few = [Shape(132, 64), Shape(9, 64)]
    for shapes in (few, [*MANY, MANY[0]]):
        space = Space(shapes, [False] * len(shapes), ["interleave"], (), folds(shapes))
        assert not any("binding" in name or "fold" in name for name in names(space.first()))
        assert not any("fold" in name for name in names(space.near(Candidate("interleave", (1,) * len(shapes)))))


# Registers ------------------------------------------------------------------------------------------------

TENSOR, STREAM, WOVEN = RoleDemand(224, 176, 160), RoleDemand(32, 32, 24), RoleDemand(56, 56, 48)


def test_registers_are_shared_out_from_the_least_of_one_role_to_that_of_the_other() -> None:
    assert divisions((128, 128), TENSOR, STREAM, 2) == [(200, 56), (176, 80), (224, 32)]
    assert divisions((128, 128), TENSOR, WOVEN, 2) == [(184, 72), (176, 80), (200, 56)]
    for pair in divisions((128, 256), TENSOR, WOVEN, 2):
        assert pair is not None and 128 * pair[0] + 256 * pair[1] <= 65536


def test_as_many_ctas_as_the_roles_leave_room_for() -> None:
    """Three CTAs have 80 registers a thread, two have 128."""
    assert divisions((128, 128), TENSOR, STREAM, 3) == divisions((128, 128), TENSOR, STREAM, 2)
    small = RoleDemand(128, 96, 96)
    assert (112, 48) in divisions((128, 128), small, STREAM, 3)


def test_teams_where_one_of_each_kernel_leaves_registers_unused() -> None:
    """One CTA of both on an SM would do, two have too few registers; two teams of one beside one of the other fit."""
    shapes = [Shape(1024, 128), Shape(1536, 128)]
    attention, decoding = RoleDemand(208, 192, 192, 32768), RoleDemand(96, 88, 80)
    found = Folds(kernels_of([PLUS, TIMES], least=1), shapes, "sm_90a", _demands={(0, 1): attention, (1, 1): decoding})
    assert names(c for c in found.first() if c.plain) == [
        "horizontal fold=static",
        "horizontal fold=static role_registers=200,104 teams=2,1",
        "horizontal fold=static role_registers=200,152 teams=1,2",
        "horizontal fold=static role_registers=200,104 teams=1,3",
    ]
    two_and_one = Candidate("horizontal", (1, 1)).having(fold="ticket", teams=(1, 2), role_registers=(200, 152))
    near = names(found.near(two_and_one))
    assert "horizontal fold=ticket role_registers=208,144 teams=1,2" in near  # two teams give up what one takes
    assert any("teams=1,3" in name for name in near) and not any("ctas" in name for name in near)
    assert not any("teams=2,2" in name for name in near), "512 threads have too few registers"
    near = names(found.near(two_and_one.having(assist=True)))
    assert "horizontal assist=True fold=ticket role_registers=200,104 teams=1,3" in near
    assert "horizontal fold=static role_registers=200,152 teams=1,2" in near


def test_registers_are_not_moved_where_all_have_enough() -> None:
    assert divisions((128, 128), STREAM, WOVEN, 4) == [None]


def test_a_role_may_spill_a_little() -> None:
    """So that two CTAs are on an SM; else there is one, in which each thread may have 255 registers."""
    attention, hungry = RoleDemand(208, 192, 192), RoleDemand(88, 72, 64)
    assert divisions((128, 128), attention, hungry, 2) == [None, (192, 64)]
    assert divisions((128, 128), replace(attention, tolerable=184), hungry, 2) == [None, (192, 64), (184, 72)]
    assert divisions((128, 128), attention, replace(hungry, tolerable=72), 2) == [None]
    assert divisions((128, 256), attention, replace(hungry, free=96), 1) == [(200, 152), (192, 152), (208, 144)]
    both = divisions((128, 128), replace(attention, tolerable=184), replace(hungry, least=88, tolerable=72), 2)
    assert both == [None, (184, 72)]


def test_no_more_ctas_than_one_instruction_of_a_role_has_registers_for() -> None:
    """Three CTAs of 384 threads begin with 56 registers, two with 80, one with 168."""
    small = RoleDemand(112, 96, 96)
    assert divisions((128, 256), small, STREAM, 3)[0] == (96, 32)
    assert divisions((128, 256), replace(small, entry=64), STREAM, 3)[0] == (104, 64)
    assert divisions((128, 256), replace(small, entry=96), STREAM, 3) == [None]
    assert divisions((128, 256), small, replace(STREAM, entry=176), 3) == []


def test_forms_in_which_a_role_is_short_of_registers_are_among_the_first() -> None:
    """Two virtual CTAs of rotary embedding need 96 registers, and may have 64."""
    shapes = [Shape(1024, 128), Shape(65536, 128)]
    demands = {(0, 1): RoleDemand(208, 192, 192), (1, 1): RoleDemand(56, 56, 40), (1, 2): RoleDemand(96, 96, 64)}
    found = Folds(kernels_of([PLUS, TIMES], least=1), shapes, "sm_90a", _demands=demands)
    first = names(found.first())
    assert "horizontal x1 x2 fold=static role_registers=192,64" in first
    assert sum("x1 x2" not in name and "teams" not in name for name in first) == 1, "no role is short, so one division"


# The first few --------------------------------------------------------------------------------------------


class Estimated:
    """By the name of a candidate. `long` is not to be made."""

    def __init__(self, cycles: Callable[[str], float], long: str = "none") -> None:
        self.cycles, self.long = cycles, long

    def estimate(self, candidate: Candidate) -> float:
        return self.cycles(str(candidate))

    def sorted(self, candidates: Iterable[Candidate]) -> tuple[list[Candidate], list[Trial]]:
        every = sorted(candidates, key=self.estimate)
        pruned = [Trial(candidate, "pruned") for candidate in every if self.long in str(candidate)]
        return [candidate for candidate in every if self.long not in str(candidate)], pruned


def estimated(cycles: Callable[[str], float], long: str = "none") -> list[str]:
    """Of two kernels that need few registers, each woven or not."""
    demands = {(k, factor): RoleDemand(40 * factor, 32 * factor, 32) for k in (0, 1) for factor in (1, 2)}
    shapes = [Shape(9000, 128), Shape(5000, 128)]
    kernels = kernels_of([PLUS, TIMES], least=1)
    return names(Folds(kernels, shapes, "sm_90a", Estimated(cycles, long), _demands=demands).first())


def test_few_to_begin_with_in_the_order_of_their_estimates() -> None:
    """All with one team of each kernel are among them, and of the others those with the least estimates."""
    found = estimated(lambda name: 3.0 if "teams" not in name else 2.0 if "3,1" in name else 4.0 + ("x2" in name))
    assert len(found) == FIRST
    several = ["teams" in name for name in found]
    assert several.count(False) >= 4 and found[0].endswith("teams=3,1") and not several[several.index(False) + 1]
    assert not any("x2" in name for name in found if "teams" in name and "3,1" not in name)


def test_what_is_not_to_be_made_takes_no_place() -> None:
    found = estimated(lambda _: 1.0, long="x2 x2")
    assert sum("x2 x2" not in name for name in found) == FIRST and any("x2 x2" in name for name in found[FIRST:])


def test_nothing_is_asked_of_copies_that_are_too_long() -> None:
    what = kernels_of([PLUS, TIMES], least=1)
    found = Folds(what, [Shape(9000, 128), Shape(5000, 128)], "sm_90a", Estimated(lambda _: 1.0, long="x1 x2"))
    assert not any(candidate.factors[1] > 1 for candidate in found.first())
    assert (1, 2) not in found._demands


@pytest.mark.parametrize(("price", "assisted"), [(0.0, True), (0.005, True), (0.05, False)])
def test_teams_help_each_other_where_tickets_cost_next_to_nothing(price: float, assisted: bool) -> None:
    found = estimated(lambda name: 1.0 + price * ("ticket" in name))
    several = [name for name in found if "teams" in name]
    assert several and all(("assist=True fold=ticket" in name) == assisted for name in several)
    assert not any("assist" in name for name in found if "teams" not in name)


def test_kernels_with_unequal_blocks_do_not_help_each_other() -> None:
    found = Folds(
        kernels_of([PLUS, TIMES], least=1), [Shape(9000, 128), Shape(5000, 256)], "sm_90a", Estimated(lambda _: 1.0)
    )
    assert not any("assist" in name for name in names([*found.first(), *found.near(PLAIN)]))


@needs_ptxas
@pytest.mark.slow
@pytest.mark.parametrize(
    ("pair", "first", "form"),
    [
        ("attention+embedding", "200,56", "horizontal ctas=1024 fold=static role_registers=200,56"),
        ("product+adam_step", "x1 x2 fold=static role_registers=184,72", "horizontal x1 x2 ctas=1024 fold=static"),
        ("attention+adam_step", "x1 x2 fold=static role_registers=192,64", "horizontal x1 x2 fold=chunk"),
    ],
)
def test_forms_found_by_hand_are_derived_from_what_the_assembler_says(pair: str, first: str, form: str) -> None:
    """Those that were found by hand for suite C: one is among the first, the others near it."""
    what = measured_of(pair)
    found = Folds(what.kernels, what.shapes, what.arch)
    begun = next(candidate for candidate in found.first() if first in str(candidate))
    assert any(form in name for name in names(found.near(begun)))
    turned = Folds(what.kernels[::-1], what.shapes[::-1], what.arch)
    assert {str(c).count("x2") for c in turned.first()} == {str(c).count("x2") for c in found.first()}


@needs_ptxas
@pytest.mark.slow
def test_the_assembler_makes_the_first_candidates_of_a_pair() -> None:
    """With an entry of 80 registers or less it refuses the product, whatever the product has afterwards."""
    what = measured_of("product+embedding")
    pruning = Pruning.of(what.kernels, what.shapes, what.arch, None, what.workload.arguments)
    found = Folds(what.kernels, what.shapes, what.arch, pruning)
    first = found.first()
    assert found._demands[0, 1].entry == 96 and found._demands[1, 1].entry == 24 and 5 <= len(first) <= FIRST
    for candidate in first:
        made = make(Job(what.kernels, what.shapes, what.tunable, candidate, what.arch)).trials[0]
        assert made.status == "timed", made.reason


FITTED = {  # speedups measured on an H200 (2026-11-28, 2026-11-24) of forms that differ by more than their noise
    "product+adam_step": {"x1 x2": 1.23, "": 1.20, "ctas=1024": 1.14},
    "attention+adam_step": {"x1 x2": 1.34, "": 1.25, "ctas=1024": 1.23},
    "product+embedding": {"": 1.17, "x1 x2": 1.13},
    "attention+embedding": {"": 1.32, "x1 x2": 1.27},
}


@pytest.mark.slow
@pytest.mark.parametrize("pair", FITTED)
def test_forms_are_ordered_as_they_were_measured(pair: str) -> None:
    what = measured_of(pair)
    pruning = Pruning.of(what.kernels, what.shapes, what.arch, None, what.workload.arguments)
    registers = (184, 72) if pair.startswith("product") else (192, 64)

    def cycles(form: str) -> float:
        made = Candidate("horizontal", (1, 2) if "x2" in form else (1, 1)).having(fold="static")
        made = made.having(role_registers=registers, **({"ctas": 1024} if "ctas" in form else {}))
        return pruning.estimate(made) or 0.0

    assert sorted(FITTED[pair], key=cycles) == list(FITTED[pair])


class Assembled:
    """A kernel of so many registers that spills below `enough`, whose tensor operations are serialized below a cap."""

    def __init__(self, registers: int, enough: int, least: int = 0, serialized_below: int = 0) -> None:
        self.registers, self.enough, self.least = registers, enough, least
        self.serialized_below = serialized_below

    def assembly(self, cap: int) -> SimpleNamespace:
        if cap < self.least:
            raise AssemblyError("insufficient registers")
        log = "(C7510) wgmma is serialized" if cap < self.serialized_below else ""
        return SimpleNamespace(
            registers=min(cap, self.registers), spill_store_bytes=8 * max(self.enough - cap, 0), spill_load_bytes=0,
            shared_bytes=0, log=log,
        )  # fmt: skip


def test_a_role_has_eight_registers_more_than_the_kernel_alone() -> None:
    """Unless with eight less it is other code, which is serialized; with less than 64 the assembler refuses it."""
    kernel: Any = Assembled(100, 88, 64)
    assert role_demand(kernel) == RoleDemand(free=112, least=96, tolerable=72, entry=64)
    kernel = Assembled(100, 88, 64, serialized_below=96)
    assert role_demand(kernel) == RoleDemand(free=112, least=96, tolerable=96, entry=64)


def test_a_role_with_the_fewest_registers_of_all_may_spill_a_little() -> None:
    """With eight less than 24 there is no kernel that would say how much; one that spills alone may not have 24."""
    kernel: Any = Assembled(28, 24)
    assert role_demand(kernel) == RoleDemand(free=40, least=32, tolerable=24)
    kernel = Assembled(28, 28)
    assert role_demand(kernel) == RoleDemand(free=40, least=40, tolerable=32)


@pytest.mark.slow
@needs_ptxas
def test_roles_that_are_short_of_registers_are_not_timed() -> None:
    what = measured_of("product+embedding")

    def made(*registers: int) -> list[tuple[str, str]]:
        candidate = PLAIN.having(ctas=1024, role_registers=registers)
        job = Job(what.kernels, what.shapes, what.tunable, candidate, what.arch)
        return [(trial.status, trial.reason) for trial in make(job).trials]

    assert made(184, 72) == [("timed", "")]  # and no caps
    ((status, reason),) = made(104, 152)
    assert status == "pruned" and ("spills " in reason or "the assembler warns: " in reason) and SPILLS


def test_no_caps_for_roles_of_their_own_registers() -> None:
    space = Space(MANY, [False] * 2)
    assert space.capped(PLAIN, 128) and not space.capped(PLAIN.having(role_registers=(184, 72)), 128)
