"""Interleaved kernels of which one has few CTAs, each of which fills the GPU: in turn nothing of one runs beside the
other; so the CTAs of the one are among the first of the other's where that is estimated to be faster."""

from dataclasses import replace

import pytest
from strategies.unseen_launches import described, fused, judged

import goptx
from goptx.strategies.candidate import Candidate, unchanged
from goptx.strategies.estimates.estimated_gain import AMONG
from goptx.strategies.estimates.prospects import BESIDE, Prospect, best
from goptx.weaving.shapes.interleaved import EARLY, Interleaved, early_ratio

PLAIN = Candidate("interleave", (1, 1))
NOTE = "each CTA runs one kernel: in turn, they are estimated to take"


def plan(woven: goptx.Woven) -> Interleaved:
    assert isinstance(woven.plan, Interleaved)
    return woven.plan


@pytest.mark.parametrize("names", [("pi_samples", "row_norms"), ("gemv", "pi_samples")])
def test_a_kernel_that_computes_runs_beside_one_that_waits_for_memory(names: tuple[str, ...]) -> None:
    made = fused(*names)
    assert plan(made).takes_turns and any(note.startswith(NOTE) for note in made.report.notes)
    (capped, estimated), *_ = judged(*names).estimates(PLAIN.having(ratio=plan(made).ratio))
    assert made.report.expected and made.report.expected.gain > 1.1 and capped.cap == made.max_registers
    auto = fused(*names, strategy="auto")
    ratio = ",".join(map(str, plan(made).ratio))
    assert auto.report.decision and auto.report.decision.chosen.name.startswith(f"interleave ratio={ratio}")
    assert plan(auto) == plan(made) and auto.report.decision.chosen.cycles == pytest.approx(estimated.cycles)


def test_what_is_woven_is_compared_with_few_ctas_among_others() -> None:
    """In turn, the kernels are estimated to be slower than woven; among each other they are not."""
    made = fused("kepler_rk4", "gemv")
    assert plan(made).takes_turns
    judge = judged("kepler_rk4", "gemv")
    in_turn, beside = PLAIN, PLAIN.having(ratio=plan(made).ratio)
    cycles = {form: min(e.cycles for _, e in judge.estimates(form)) for form in (in_turn, beside)}
    assert cycles[beside] < AMONG * cycles[in_turn]


def test_few_long_ctas_come_first() -> None:
    """192 CTAs, of which each lasts as long as all of the other kernel."""
    made = fused("nbody", "softmax")
    assert plan(made).placement == "front" and not plan(made).takes_turns
    swapped = fused("softmax", "nbody")
    assert plan(swapped).ratio == (1, 192) and not plan(swapped).takes_turns


def test_ctas_that_last_long_come_first() -> None:
    """1,056 CTAs that fill the GPU and count bytes as long as all last: the last of them would begin too late."""
    judge = judged("byte_counts", "dropout")
    beside = judge.among_each_other(PLAIN)
    assert beside
    in_turn, among = (min(e.cycles for _, e in judge.estimates(each)) for each in (PLAIN, beside))
    assert among > 0.95 * in_turn


@pytest.mark.parametrize("ctas", [(1056, 32768), (192, 200_000), (2048, 16384), (3000, 8192), (1000, 1100)])
@pytest.mark.parametrize("few", [0, 1])
def test_ctas_of_few_are_among_the_first(ctas: tuple[int, int], few: int) -> None:
    own = ctas if few == 0 else ctas[::-1]
    ratio = early_ratio(own, few)
    beside = own[few] / ratio[few] * ratio[1 - few]  # CTAs of the other kernel among which they are
    assert min(ratio) >= 1 and beside / own[1 - few] == pytest.approx(EARLY, rel=0.2)


def test_what_is_not_known_stays_in_turn() -> None:
    found = described("pi_samples", "row_norms")
    texts = [kernel.path.read_text() for kernel in found.kernels if kernel.path]
    assert not plan(goptx.fuse(*texts, strategy="interleave", shapes=found.shapes)).takes_turns
    assert judged("pi_samples", "row_norms").among_each_other(PLAIN)
    assert judged("pi_samples", "row_norms").among_each_other(Candidate("interleave", (2, 1))) is None
    assert judged("bilateral", "haversine").among_each_other(PLAIN) is None  # neither has few


def test_a_given_order_is_estimated() -> None:
    given = fused("pi_samples", "row_norms", strategy="interleave", ratio=(1, 31))
    assert plan(given).ratio == (1, 31) and given.report.expected
    in_turn = fused("pi_samples", "row_norms", strategy="interleave")
    assert in_turn.report.expected and in_turn.report.expected.gain < given.report.expected.gain


def test_auto_lets_kernels_run_beside_each_other_only_for_much() -> None:
    plain, beside = unchanged(2), PLAIN.having(ratio=(1, 31))
    (estimate, *_) = judged("bilateral", "haversine").under_all(plain)[plain]

    def chosen(cycles: float) -> Candidate:
        each = {plain: 110.0, PLAIN: 100.0, beside: cycles}
        made = {c: Prospect((replace(estimate, cycles=n),), (110.0,)) for c, n in each.items()}
        return best(made, known=True)

    assert chosen(99.0 / BESIDE) == beside and chosen(101.0 / BESIDE) == PLAIN
