"""Register caps of kernels in CTAs of their own: with which they are estimated to be fastest, and when none is set."""

from itertools import pairwise

from strategies.unseen_launches import described, fused, judged

import goptx
from goptx.results.expected_gain import unjudged
from goptx.strategies.candidate import Candidate
from goptx.strategies.estimates.judge import Judge

PLAIN = Candidate("interleave", (1, 1))


def interleaved(*names: str) -> goptx.Woven:
    return fused(*names, strategy="interleave")


def cycles(judge: Judge, candidate: Candidate = PLAIN) -> dict[int | None, float]:
    return {capped.cap: estimated.cycles for capped, estimated in judge.estimates(candidate)}


def test_kernels_keep_the_registers_that_each_has_alone() -> None:
    """Two branches of a kernel may be given more than either alone."""
    made = interleaved("haversine", "laplace3d")
    assert made.max_registers == 32 and made.resources().registers <= 32 and made.resources().occupancy == 1.0
    assert made.report.notes[-1].endswith("so that 100% of an SM's warps have room, as many as each alone")
    assert [*cycles(judged("haversine", "laplace3d"))] == [32, None]  # of equals, the first is taken


def test_a_cap_leaves_room_for_the_ctas_of_the_other() -> None:
    """A stencil beside an optimizer, of which few values spill."""
    made, found = interleaved("adam", "sobel"), cycles(judged("adam", "sobel"))
    assert made.max_registers == min(found, key=lambda cap: found[cap]) == 32 and found[32] < 0.9 * found[None]
    assert "so that 100% of an SM's warps have room, not 56%" in made.report.notes[-1]
    woven = fused("adam", "sobel")
    assert woven.strategy == "interleave" and woven.max_registers == 32
    assert made.report.expected and made.report.expected == woven.report.expected


def test_kernels_that_wait_for_memory_spill_nothing() -> None:
    assert interleaved("gemv", "gemv").max_registers is None
    found = cycles(judged("cross_entropy", "rms_norm"))
    tighter = [found[cap] for cap in sorted((cap for cap in found if cap), reverse=True)]
    assert len(tighter) == 2 and all(one < other for one, other in pairwise([found[None], *tighter]))


def test_at_most_a_third_of_what_is_live_is_spilled() -> None:
    """Of GEMV 55 words are live."""
    assert [*cycles(judged("gemv", "spmv_ell"))] == [None, 56, 48]
    assert [*cycles(judged("cross_entropy", "spmv_ell"))] == [None, 48, 40]


def test_kernels_with_wgmma_spill_nothing() -> None:
    """Of flash attention 179 words are live."""
    found = [*cycles(judged("flash_attention", "gather"))]
    assert found[0] is None and all(cap and cap > 179 for cap in found[1:])


def test_few_registers_need_no_cap() -> None:
    assert interleaved("mandelbrot", "vm_switch").max_registers is None
    assert [*cycles(judged("mandelbrot", "vm_switch"))] == [None]


def test_kernels_of_which_little_is_known_spill_nothing() -> None:
    for names, cap in ((("adam", "sobel"), None), (("haversine", "laplace3d"), 32)):
        found = described(*names)
        texts = [kernel.path.read_text() for kernel in found.kernels if kernel.path]
        assert goptx.fuse(*texts, strategy="interleave", shapes=found.shapes).max_registers == cap


def test_what_is_not_foreseen_has_no_cap() -> None:
    judge = judged("adam", "sobel")
    assert [*cycles(judge, Candidate("interleave", (1, 2)))] == [None]
    assert [*cycles(judge, Candidate("vertical", (1, 1)))] == [None]
    with unjudged():
        assert interleaved("adam", "sobel").max_registers is None


def test_auto_says_what_it_chooses() -> None:
    made = fused("bilateral", "embedding_bag", strategy="auto")
    decision = made.report.decision
    assert decision and decision.chosen.name == "interleave capped at 32" and made.max_registers == 32
    assert not any("so that" in note for note in made.report.notes)
