"""Folded grids that `auto` chooses: a kernel with `wgmma` beside one that is limited by memory, and no others."""

import sys
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import goptx
from goptx import Shape
from goptx.cost.estimate import Load, Wave
from goptx.cost.folded_estimate import Folding, Role, folded
from goptx.cost.hardware import machine_of
from goptx.cost.kernels import each_alone
from goptx.cost.known_launches import known_launches
from goptx.cost.role_registers import LOOP, rounded_up
from goptx.cost.work import UNITS
from goptx.latency.table import load_table
from goptx.ptx.parse import parse
from goptx.sources.kernel_text import Chosen
from goptx.strategies.candidate import Candidate
from goptx.strategies.estimates.fold_candidates import fold_candidates
from goptx.strategies.estimates.judge import Judge
from goptx.strategies.estimates.launches import SHORT
from goptx.strategies.estimates.prospects import Prospect, is_choosable, separate_cycles
from goptx.tuning.measured import measured

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from suite_c import PAIRS, specifications_of

ARCH = "sm_90a"
Kernels = list[Chosen]
Shapes = list[Shape]


def pair(name: str) -> tuple[Kernels, Shapes]:
    """The kernels, and their shapes, without the data."""
    what = measured([], spec=specifications_of(name), small=True)
    grids: dict[str, int | tuple[int, int]] = {
        "product": 1024,
        "attention": (16, 64),
        "adam_step": 32768,
        "embedding": 32768,
    }
    each = zip(what.kernels, what.shapes, strict=True)
    return list(what.kernels), [replace(s, grid=Shape(grids.get(k.entry, 32768)).grid) for k, s in each]


def judged(kernels: Kernels, shapes: Shapes, arch: str = ARCH) -> Judge:
    found = each_alone(kernels, machine_of(arch), load_table(None, arch), known_launches(None, kernels, shapes), shapes)
    return Judge(found, [k.coarse.factor for k in kernels], shapes, arch)


def names(kernels: Kernels, shapes: Shapes, arch: str = ARCH) -> list[str]:
    return [str(c) for c in fold_candidates(judged(kernels, shapes, arch), arch)]


def test_teams_where_one_cta_of_both_fills_an_sm() -> None:
    """Attention and decode attention: two CTAs on an SM have too few registers for both, one leaves many unused."""
    decode = Path(__file__).parents[2] / "benchmarks" / "unseen" / "kernels" / "triton" / "decode_attention.toml"
    what = measured([], spec=[*specifications_of("attention"), decode], small=True)
    shapes = [Shape((16, 64), 128, what.shapes[0].shared), Shape((96, 16), 128, what.shapes[1].shared)]
    first, *_ = fold_candidates(judged(list(what.kernels), shapes), ARCH)
    (own, other), (one, several) = first.option("role_registers"), first.option("teams")
    assert first.plain and (one, several) == (2, 1) and 128 * (one * own + several * other) <= 65536


# The candidates -------------------------------------------------------------------------------------------


def test_the_kernel_with_wgmma_has_what_it_takes_and_the_other_the_rest() -> None:
    kernels, shapes = pair("product+embedding")
    assert names(kernels, shapes) == [
        "horizontal fold=static role_registers=224,32",
        "horizontal x1 x2 fold=static role_registers=208,48",
    ]
    assert names(kernels[::-1], shapes[::-1]) == [
        "horizontal fold=static role_registers=32,224",
        "horizontal x2 x1 fold=static role_registers=48,208",
    ]


def test_the_kernel_with_wgmma_has_what_it_would_be_given_where_there_is_room() -> None:
    """Else what is live in it, and it is estimated to take longer for each register that it is short of."""
    kernels, shapes = pair("product+embedding")
    judge = judged(kernels, shapes)
    needed = judge.kernels[0].pressure.needed.value
    for candidate in fold_candidates(judge, ARCH):
        own, other = candidate.option("role_registers")
        assert needed.live + LOOP <= own and (own >= needed.registers + LOOP or other <= 48)
    spared = [c.option("role_registers")[0] for c in fold_candidates(judge, ARCH, 16)]
    assert all(needed.live + LOOP - 16 <= own < needed.live + LOOP for own in spared)

    def cycles(own: int, other: int) -> float:
        form = Candidate("horizontal", (1, 1)).having(fold="static", role_registers=(own, other))
        return next(judge.estimates(form))[1].cycles

    enough = rounded_up(needed.registers + LOOP)
    assert cycles(enough - 32, 64) == pytest.approx(cycles(enough, 32) * (1 + 32 * SHORT), rel=0.03)
    assert cycles(enough + 8, 24) == cycles(enough, 32)


def test_only_folded_grids_that_gain_much_are_chosen() -> None:
    """What they gain was measured between 0.78 and 1.1 times the estimate."""
    kernels, shapes = pair("product+embedding")
    judge = judged(kernels, shapes)
    candidate = fold_candidates(judge, ARCH)[0]
    estimates = judge.under_all(candidate)[candidate]
    for gain, chosen in ((1.13, False), (1.15, True)):
        prospect = Prospect(estimates, tuple(gain * each.cycles for each in estimates))
        assert is_choosable(candidate, prospect) == chosen
        assert is_choosable(Candidate("horizontal", (1, 1)), prospect)


def test_a_kernel_coarsened_before_counts_as_it_is() -> None:
    kernels, shapes = pair("product+embedding")
    twice = [kernels[0], replace(kernels[1], coarse=kernels[1].coarse.times(2, "x"))]
    assert names(twice, shapes)[0] == "horizontal fold=static role_registers=208,48"
    assert not any("x1 x2" in name and "208,48" in name for name in names(twice, shapes))  # four copies


@pytest.mark.parametrize("name", ["adam_step+embedding", "product+attention"])
def test_kernels_with_the_same_limit_are_not_folded(name: str) -> None:
    assert not names(*pair(name))


@pytest.mark.parametrize("arch", ["sm_90", ARCH])
def test_registers_are_not_moved_where_both_have_what_they_take(arch: str) -> None:
    """With so much shared memory one CTA is on an SM, and the gather takes nothing from the product."""
    kernels, shapes = pair("product+embedding")
    one = [replace(shapes[0], shared=150_000), shapes[1]]
    assert names(kernels, one, arch) == [
        "horizontal fold=static",
        "horizontal x1 x2 fold=static",
        "horizontal x1 x4 fold=static",
    ]


def test_each_of_two_teams_may_run_several_kernels() -> None:
    kernels, (many, few) = pair("product+embedding")
    shapes = [replace(many, grid=(1 << 15,)), few]
    three, of_three = [*kernels, kernels[0]], [*shapes, shapes[0]]
    judge = replace(judged(three, of_three), teams=((0, 2), (1,)))
    plain, woven = fold_candidates(judge, ARCH)
    assert str(woven) == "horizontal x1 x2 x1 fold=static role_registers=208,48"
    two = fold_candidates(judged(kernels, shapes), ARCH)[0]
    both = next(judge.estimates(plain))[1].parts["latency"]
    alone = next(judged(kernels, shapes).estimates(two))[1].parts["latency"]
    assert both == pytest.approx(2 * alone, rel=0.01)
    assert not fold_candidates(judged(three, of_three), ARCH)  # three teams
    assert not fold_candidates(replace(judge, teams=((0, 1), (2,))), ARCH)  # of one kind each


def test_targets_and_shapes_that_do_not_allow_it() -> None:
    kernels, shapes = pair("product+embedding")
    assert not names(kernels, shapes, "sm_90")
    for other in (
        replace(shapes[1], block=(96,)),
        Shape(None, 128),
        replace(shapes[1], cluster=(2,)),
        replace(shapes[1], block=(1024,)),  # 1,152 threads
    ):
        assert not names(kernels, [shapes[0], other])
    assert not names(kernels, [replace(s, grid=(264,)) for s in shapes])  # one wave
    assert names(kernels, [replace(shapes[0], grid=(264,)), shapes[1]])
    assert not names(kernels[:1], shapes[:1])
    assert not names(kernels, [replace(shapes[0], block=(512,)), shapes[1]])  # more registers than an SM has


# The estimate ---------------------------------------------------------------------------------------------

IDLE = dict.fromkeys(UNITS, 0.0)
ONE_WAVE = Folding()


def cycles(
    ctas: tuple[int, int], latencies: tuple[float, float], registers: int = 128, shared: int = 0,
    how: Folding = ONE_WAVE, teams: tuple[int, int] = (1, 1), memory: tuple[float, float] = (0.0, 0.0),
) -> float:  # fmt: skip
    """Of two roles with these virtual CTAs and these cycles of the memory for a warp."""
    roles = [
        Role([Load({**IDLE, "memory": moved}, n, 128)], Wave(n, 128, latency), own)
        for n, latency, own, moved in zip(ctas, latencies, teams, memory, strict=True)
    ]
    return folded(roles, how, registers, shared, ARCH).cycles


def test_teams_work_at_the_same_time() -> None:
    """Two CTAs are on each of 132 SMs: 264 teams."""
    both, first = cycles((2640, 2640), (1e4, 1e4)), cycles((2640, 1), (1e4, 1e4))
    assert both == pytest.approx(first, rel=0.01)
    assert cycles((2640, 5280), (1e4, 1e4)) == pytest.approx(2 * both, rel=0.1)
    assert cycles((2641, 1), (1e4, 1.0)) > cycles((2640, 1), (1e4, 1.0)) == cycles((2377, 1), (1e4, 1.0))


def test_fewer_ctas_on_an_sm_take_longer_and_none_cannot_run() -> None:
    assert cycles((2640, 2640), (1e4, 1e4), shared=200_000) > 1.9 * cycles((2640, 2640), (1e4, 1e4))
    assert cycles((2640, 2640), (1e4, 1e4), shared=300_000) == float("inf")


def test_more_loads_in_flight_help_the_longer_role() -> None:
    """Half as many virtual CTAs, each a quarter longer: two of them woven."""

    def gain(long: float) -> float:
        plain = cycles((1056, 26400), (long, 2e3), memory=(0.0, 1e3))
        return plain / cycles((1056, 13200), (long, 2.5e3), memory=(0.0, 2e3))

    assert gain(1e4) > 1.05
    assert gain(2e5) == pytest.approx(1.0, abs=0.01)


def test_a_role_meets_what_the_other_does_until_it_is_done() -> None:
    """So a role that takes little of the time is not what decides, however long it waits for itself."""
    alone = cycles((2640, 26400), (1.0, 2e3), memory=(0.0, 2e3))
    assert cycles((2640, 26400), (1e4, 2e3), memory=(0.0, 2e3)) == pytest.approx(alone, rel=0.01)
    assert cycles((2640, 26400), (1e4, 2e3), memory=(2e3, 2e3)) > 1.02 * alone


def test_teams_that_help_end_the_other_role_sooner() -> None:
    helped = Folding(draws=True, helper=0)
    ctas, first_short, first_long = (1056, 2640), (1e4, 1e4), (1e5, 1e4)
    assert cycles(ctas, first_short, how=helped) < 0.75 * cycles(ctas, first_short)
    assert cycles(ctas, first_short, how=replace(helped, helper=1)) >= cycles(ctas, first_short)
    assert cycles(ctas, first_long, how=helped) >= cycles(ctas, first_long)
    three = cycles(ctas, first_short, how=helped, teams=(3, 1))
    assert three < 0.75 * cycles(ctas, first_short, how=Folding(draws=True), teams=(3, 1))


def test_a_ticket_costs_more_where_ctas_are_short() -> None:
    def cost(latency: float) -> float:
        return cycles((26400, 1), (latency, 1.0), how=Folding(draws=True)) / cycles((26400, 1), (latency, 1.0))

    assert cost(1e3) > 1.1 and 1.0 < cost(1e5) < 1.01


def test_more_ctas_than_one_wave_are_no_faster() -> None:
    """Each CTA begins anew, and waits for the longer of its roles."""
    one, even, uneven = (cycles((2640, 2640), (1e4, 1e4), how=Folding(n)) for n in (None, 1320, 1400))
    assert one < even < 1.1 * one and uneven > 1.15 * one
    assert cycles((2640, 2640), (1e4, 1e4), how=Folding(264)) == one
    assert cycles((2640, 2640), (1e4, 1e4), how=Folding(132)) > 1.9 * one


def test_folds_of_a_product_and_a_gather_gain_what_was_measured() -> None:
    """1.14 to 1.18 times as fast as separate launches on an H200, whether two CTAs of the gather are woven or not."""
    kernels, shapes = pair("product+embedding")
    judge = judged(kernels, shapes)
    separate = separate_cycles(judge)
    found = fold_candidates(judge, ARCH)
    for candidate in found:
        prospect = Prospect(judge.under_all(candidate)[candidate], separate)
        assert is_choosable(candidate, prospect) and prospect.gain == pytest.approx(1.16, rel=0.1)
    assert [max(candidate.factors) for candidate in found] == [1, 2]


@pytest.mark.slow
def test_a_report_estimates_what_was_folded_by_hand() -> None:
    """With the registers that were given; as often as the loop is known to run."""
    kernels, shapes = pair("product+embedding")
    line = next(n for n, text in enumerate(str(kernels[0].path.read_text()).splitlines(), 1) if "$L__BB0_2:" in text)  # type: ignore[union-attr]

    def gain(**options: Any) -> float:
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            woven = goptx.fuse(*kernels, strategy="horizontal", shapes=shapes, fold="static", **options)
        assert woven.report.expected is not None
        assert any('`strategy="auto"` would' in str(w.message) for w in warned) == (woven.report.expected.gain < 0.97)
        return woven.report.expected.gain

    known, short = (gain(role_registers=(224, 32), assume={"A": {"trips": {line: n}}}) for n in (64, 1))
    assert short < 0.97 and known > 1.15
    assert gain(role_registers=(224, 32)) == known  # as the specification beside the kernel says
    assert gain() < known  # every thread has as many registers as the product


def test_no_estimate_where_registers_cannot_be_moved() -> None:
    kernels, shapes = pair("adam_step+embedding")
    texts = [str(kernel.module).replace("sm_90a", "sm_90") for kernel in kernels]
    woven = goptx.fuse(*texts, strategy="horizontal", shapes=shapes, fold="static", role_registers=(48, 32))
    assert woven.report.expected is None


# The choice -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("turn", [1, -1])
@pytest.mark.parametrize("name", [PAIRS[1], pytest.param(PAIRS[2], marks=pytest.mark.slow)])
def test_auto_folds(name: str, turn: int) -> None:
    kernels, shapes = pair(name)
    kernels, shapes = kernels[::turn], shapes[::turn]
    woven = goptx.fuse(*kernels, strategy="auto", shapes=shapes)
    again = goptx.fuse(*kernels, strategy="auto", shapes=shapes)
    assert woven.strategy == "horizontal" and woven.plan is not None and woven.plan.folds
    assert woven.ptx == again.ptx and "setmaxnreg" in woven.ptx
    decision = woven.report.decision
    assert decision is not None and "fold=static" in decision.chosen.name and decision.chosen.gain > 1.03


def test_auto_does_not_fold_where_the_placement_of_ctas_is_given() -> None:
    kernels, shapes = pair("product+embedding")
    woven = goptx.fuse(*kernels, strategy="auto", shapes=shapes, placement="front")
    assert woven.plan is None or not woven.plan.folds
    assert woven.report.decision and not any("fold" in c.name for c in woven.report.decision.candidates)


@pytest.mark.slow
def test_what_horizontal_refuses_is_noted_and_something_else_chosen() -> None:
    """An `mbarrier` object cannot be folded."""
    kernels, shapes = pair("product+embedding")
    text = str(kernels[1].module)
    end = text.rindex("ret;")
    extra = ".shared .align 8 .b64 phase; mbarrier.init.shared.b64 [phase], 1;"
    refused = replace(kernels[1], module=parse(text[:end] + extra + text[end:]))
    woven = goptx.fuse(kernels[0], refused, strategy="auto", shapes=shapes)
    assert woven.strategy == "separate" or not (woven.plan and woven.plan.folds)
    assert any("mbarrier" in note and note.startswith("not horizontal") for note in woven.report.notes)


def test_options_of_a_candidate_are_recorded() -> None:
    made = Candidate("horizontal", (1, 2)).having(fold="static", role_registers=(200, 56))
    assert Candidate.from_dict({**made.to_dict(), "options": {"fold": "static", "role_registers": [200, 56]}}) == made
