"""What `weave` does where kernels in warps of their own, with registers moved between these, are faster."""

import re
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from strategies.test_fold_candidates import ARCH, judged, pair
from weaving.shaped_kernels import KERNELS

import goptx
from goptx import CannotWeave, Shape
from goptx.device.occupancy import occupancy
from goptx.errors import ProbablySlower
from goptx.results.expected_gain import unreplaced
from goptx.results.fused_kernel import Woven
from goptx.strategies.candidate import Candidate, unchanged
from goptx.strategies.estimates.estimated_gain import FASTER, TRUST, USUAL
from goptx.strategies.estimates.moved_registers import Need, fastest_forms
from goptx.tuning.measured import measured
from goptx.weaving.shapes.folded import Folded

MANY = 1e15  # cycles


def woven(name: str, **options: Any) -> Woven:
    kernels, shapes = pair(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ProbablySlower)
        return goptx.weave(*kernels, shapes=shapes, **options)


def test_each_kernel_has_warps_and_registers_of_its_own() -> None:
    made = woven("attention+embedding")
    assert made.strategy == "horizontal" and isinstance(made.plan, Folded) and made.plan.registers
    note = made.report.notes[-1]
    assert note.startswith("each warp runs one kernel: woven, they are estimated to take ") and "as long" in note
    assert made.name == "attention_embedding_woven"


def test_its_gain_is_estimated_with_caution() -> None:
    """Of many forms the one with the best estimate is chosen."""
    kernels, shapes = pair("attention+embedding")
    made, judge = woven("attention+embedding"), judged(kernels, shapes)
    form, cycles = fastest_forms(judge, MANY)[0]
    assert isinstance(made.plan, Folded) and form.option("role_registers") == made.plan.registers
    alone = judge.under(judge.assumptions[:1], unchanged(2))
    expected = made.report.expected
    (separate,) = (each[0].cycles for each in alone.values())
    assert expected and expected.gain == pytest.approx(USUAL * (separate / cycles) ** TRUST, rel=0.05)
    assert expected.gain < separate / cycles


@pytest.mark.parametrize("options", [{"policy": "latency"}, {"placement": "spread"}, {"presume": False}])
def test_who_asks_for_a_form_gets_it(options: Any) -> None:
    assert woven("attention+embedding", **options).strategy != "horizontal"


def test_what_is_to_be_proved_is_not_replaced() -> None:
    with unreplaced():
        assert woven("attention+embedding").strategy == "interleave"
    assert woven("attention+embedding").strategy == "horizontal"


def test_kernels_with_about_as_many_registers_keep_their_form() -> None:
    kernels, shapes = pair("softmax+dropout")
    assert not fastest_forms(judged(kernels, shapes), MANY) and woven("softmax+dropout").strategy == "weave"


def test_targets_that_cannot_move_registers_have_no_such_form() -> None:
    kernels, shapes = pair("attention+embedding")
    assert fastest_forms(judged(kernels, shapes), MANY)
    assert not fastest_forms(judged(kernels, shapes, "sm_90"), MANY)


@pytest.mark.parametrize("change", [{"grid": (None, None, None)}, {"cluster": (2, 1, 1)}])
def test_shapes_have_to_be_known(change: Any) -> None:
    kernels, shapes = pair("attention+embedding")
    changed = [shapes[0], replace(shapes[1], **change)]
    assert not fastest_forms(judged(kernels, changed), MANY)


@pytest.mark.parametrize("name", ["attention+embedding", "product+adam_step", "product+embedding"])
def test_an_sm_has_room_for_every_form(name: str) -> None:
    """Threads, registers and shared memory, and each thread begins with as many registers as one instruction takes."""
    kernels, shapes = pair(name)
    judge = judged(kernels, shapes)
    forms = [form for form, _ in fastest_forms(judge, MANY)]
    assert len(forms) > 1 and len(forms) == len({*forms})
    for form in forms:
        parts = form.option("parts") or (1, 1)
        needs = [Need.of(*each) for each in zip(judge.kernels, shapes, form.factors, parts, strict=True)]
        threads = [need.threads * n for need, n in zip(needs, form.option("teams"), strict=True)]
        registers = form.option("role_registers")
        entry = sum(r * n for r, n in zip(registers, threads, strict=True)) / sum(threads)
        shared = sum(need.shared * n for need, n in zip(needs, form.option("teams"), strict=True))
        assert occupancy(ARCH, int(entry), shared, sum(threads)).ctas_per_sm >= 1
        assert entry > max(need.entry for need in needs) - 8
        assert all(own >= need.least for own, need in zip(registers, needs, strict=True))


def test_of_equal_forms_those_come_first_that_help() -> None:
    kernels, shapes = pair("product+adam_step")
    forms = [form for form, _ in fastest_forms(judged(kernels, shapes), MANY)]
    helping = [form for form in forms if form.option("assist")]
    assert helping
    for form in helping:
        other = form.without("assist")
        assert other not in forms or forms.index(form) < forms.index(other)


def test_only_forms_that_are_much_faster_are_taken() -> None:
    kernels, shapes = pair("attention+decode_attention")
    judge, made = judged(kernels, shapes), woven("attention+decode_attention")
    least = min(cycles for _, cycles in fastest_forms(judge, MANY))
    middle = judge.assumptions[:1]
    own = min(each[0].cycles for each in judge.under(middle, Candidate("interleave", (1, 1))).values())
    assert made.strategy == "interleave" and least * FASTER > own


def test_a_divided_cta_helps_where_blocks_are_larger_than_a_warpgroup() -> None:
    """A kernel of 256 threads beside one that leaves room for 128."""
    kernels, _ = pair("product+adam_step")
    changed = [Shape((1024,), 256, 150000), Shape((16384,), 256)]
    forms = [form for form, _ in fastest_forms(judged(kernels, changed), MANY)]
    assert any(form.option("parts") == (1, 2) for form in forms)


@pytest.mark.parametrize("strategy", ["interleave", "weave", "vertical"])
def test_a_cta_has_registers_for_the_sums_of_one_instruction(strategy: Any) -> None:
    """64 sums of a thread, and 26 registers: not in CTAs of 1,024 threads, of which each has 64 registers."""
    (product, _), (shape, _) = pair("product+embedding")
    other = KERNELS["registers"].replace("sm_90", "sm_90a")
    with pytest.raises(
        CannotWeave, match=r"takes 90 registers of a thread, .* of 1024 threads begins with at most 64;"
    ):
        goptx.fuse(product, other, strategy=strategy, shapes=[shape, Shape(64, 1024)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ProbablySlower)
        goptx.fuse(product, other, strategy=strategy, shapes=[shape, Shape(64, 640)])


UNSEEN = Path(__file__).parents[2] / "benchmarks" / "unseen" / "kernels"


def test_registers_of_a_kernel_that_is_made_convergent() -> None:
    """On folded grids threads of cross entropy that end early wait: ptxas 13.0 needs 88 registers then, alone 56."""
    what = measured([], spec=[UNSEEN / "triton" / "flash_attention.toml", UNSEEN / "triton" / "cross_entropy.toml"])
    other, kernel = judged([*what.kernels], [*what.shapes]).kernels
    assert Need.of(kernel, what.shapes[1], 1, 1).least == 88
    assert kernel.folded.value.live > kernel.pressure.needed.value.live + 20
    assert other.folded.value.live == other.pressure.needed.value.live


@pytest.mark.parametrize("assist", [False, True])
def test_teams_need_no_more_registers_than_one(assist: bool) -> None:
    """All threads of a warp run the same CTA, and the code says it, so that an assembler may have uniform registers for
    what depends on its number: one `shfl` for each role with several teams, and with help one `vote` for each role."""
    kernels, shapes = pair("attention+embedding")
    options: dict[str, Any] = {"teams": (1, 2), "role_registers": (232, 56), "assist": assist}
    made = goptx.fuse(*kernels, strategy="horizontal", shapes=shapes, fold="ticket", arch=ARCH, **options)
    assert re.search(r"shfl\.sync\.idx\.b32 %b_fold\d+, %b_fold\d+, 0, 31, -1;", made.ptx)
    assert len(re.findall(r"vote\.sync\.any\.pred %\w+, %\w+, -1;", made.ptx)) == (2 if assist else 0)
