"""Kernels whose launch is described: what a few CTAs do on the described data tells how long they take. Then CTAs of
one kernel each are preferred to woven ones."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from bodies import flow, kernel
from strategies.unseen_launches import MACHINE, TABLE, UNSEEN, described, fused, judged

import goptx
from goptx import Shape
from goptx.cost.assumptions import NOTHING, Known, known_of
from goptx.cost.branches import forks
from goptx.cost.critical_path import is_unrolled
from goptx.cost.kernels import Alone, alone, each_alone
from goptx.cost.known_launches import known_launches
from goptx.cost.sampled_kernel import sampled_kernel, waits_of_loads
from goptx.cost.units.half_words import computed_shares
from goptx.emulator.sampled.sample_counts import LOADS, UPDATES, SampledRun, Touched
from goptx.strategies.candidate import Candidate, unchanged
from goptx.strategies.candidates import possible_candidates
from goptx.strategies.estimates.estimated_gain import AMONG
from goptx.strategies.estimates.prospects import TOGETHER, Prospect, best


def examined(name: str, **more: Any) -> Alone:
    found = described(name)
    known = more.pop("known", None) or known_launches(None, found.kernels, found.shapes)[0]
    return alone(found.kernels[0], MACHINE, TABLE, known, more.pop("shape", found.shapes[0]))


# What a few CTAs tell -----------------------------------------------------------------------------------------


def test_loops_that_end_by_data_are_counted() -> None:
    """A binary search among four million elements; programs of 24 instructions."""
    search = examined("lower_bound")
    assert search.sampled and [*search.sampled.trips.values()] == [pytest.approx(22, abs=1.5)]
    assert search.is_known and search.unknown.fields == {"cached"}
    ignorant = examined("lower_bound", known=NOTHING)
    assert [*ignorant.loops.values()] == [None] and not ignorant.is_known
    programs = examined("vm_switch").sampled
    assert programs and [*programs.trips.values()] == [pytest.approx(24)]


def test_kernels_with_loops_that_end_by_data_are_not_coarsened() -> None:
    """However often they run: copies run as often as the one that runs most often."""
    found = described("mandelbrot", "vm_switch")
    known = known_launches(None, found.kernels, found.shapes)
    own = each_alone(found.kernels, MACHINE, TABLE, known, found.shapes)
    assert all(kernel.is_known and kernel.unknown_loops for kernel in own)
    assert {c.factors for c in possible_candidates(found.kernels, found.shapes, own)} == {(1, 1)}


def test_sides_of_branches_count_as_often_as_they_are_taken() -> None:
    """No lane of a bilateral filter is at the border, but for few."""
    found = examined("bilateral")
    assert found.sampled is not None
    assert max(max(s) for s in found.sampled.sides.values()) == 1.0 > min(min(s) for s in found.sampled.sides.values())
    assert found.work.units["issue"] < 0.7 * examined("bilateral", known=NOTHING).work.units["issue"]


def test_rows_that_are_read_again_and_scattered_elements_count_as_what_the_memory_moves() -> None:
    again, ignorant = (examined("layer_norm", known=k).work.units["memory"] for k in (None, NOTHING))
    counted = examined("layer_norm", known=replace(NOTHING, arguments=described_arguments("layer_norm")))
    assert again < 0.7 * counted.work.units["memory"] and ignorant
    scattered = examined("lower_bound").work.units
    assert scattered["memory"] > 3 * examined("lower_bound", known=NOTHING).work.units["memory"]


def described_arguments(name: str) -> Any:
    found = described(name)
    return known_launches(None, found.kernels, found.shapes)[0].arguments


def test_what_is_known_needs_the_launch_that_is_described() -> None:
    found = described("lower_bound")
    (path,) = UNSEEN.glob("*/lower_bound.toml")
    (known,) = known_of({"A": {"specification": str(path)}}, 1)
    assert examined("lower_bound", known=known).sampled
    other = examined("lower_bound", known=known, shape=Shape(17, found.shapes[0].threads))
    assert other.sampled is None and not other.is_known
    head = examined("lower_bound").heads[SEARCH][0]
    assert examined("lower_bound", known=Known(trips={head: 3.0}))


SEARCH = "$L__BB0_2"
CODE = """
mov.u32 %r1, %ctaid.x;
setp.gt.u32 %p1, %r1, 5;
@%p1 bra END;
mov.u32 %r2, %tid.x;
setp.gt.u32 %p2, %r2, 9;
@%p2 bra SKIP;
add.u32 %r3, %r2, 1;
add.u32 %r3, %r3, 2;
SKIP:
mov.u32 %r4, 0;
LOOP:
add.u32 %r4, %r4, 1;
setp.lt.u32 %p3, %r4, %r2;
@%p3 bra LOOP;
st.shared.u32 [tile], %r4;
END:
ret;
"""


def run_of(counts: Mapping[str, float], steps: tuple[int, ...], **more: Any) -> SampledRun:
    lines = {text.strip(): n for n, text in enumerate(kernel(CODE).splitlines(), 1)}
    issued = {lines[text]: float(n) for text, n in counts.items()}
    return SampledRun(
        issued, steps, 2, **{"touched": (), "requested": (0.0, 0.0, 0.0), "passes": 8.0, "whole": True, **more}
    )


def test_counts_of_a_run_become_those_of_a_warp() -> None:
    """Of 4 CTAs of 2 warps one ends at once; half of the others' warps go to one side."""
    code = flow(CODE)
    counts = {"mov.u32 %r1, %ctaid.x;": 8, "setp.gt.u32 %p1, %r1, 5;": 8, "mov.u32 %r2, %tid.x;": 6}
    counts |= {"setp.gt.u32 %p2, %r2, 9;": 6, "add.u32 %r3, %r2, 1;": 3, "add.u32 %r3, %r3, 2;": 3}
    counts |= {"mov.u32 %r4, 0;": 6, "add.u32 %r4, %r4, 1;": 60, "st.shared.u32 [tile], %r4;": 6}
    touched = Touched(own=100.0, common=40.0, all=1e9), Touched(own=10.0, common=0.0, all=400.0)
    run = run_of(counts, (50, 50, 4, 50), touched=touched, requested=(300.0, 0.0, 0.0))
    found = sampled_kernel(code, forks(code), frozenset(("entry",)), run, 1000, MACHINE)
    assert found is not None and found.live == 0.75
    assert found.often["entry"] == 1.0 and found.often["LOOP"] == 10.0 and found.trips == {"LOOP": 10.0}
    assert [*found.sides.values()] == [(1.0, 0.5)]
    (side,) = (name for name, times in found.often.items() if times == 0.5)
    assert found.passes[side] == 1.0
    # of the first array what neighbours do not need, of the small one each sector once; the rest is in the L2
    far = 60.0 + 0.4
    cycles = (far + (300.0 - 40.0 - far) * 0.73) * 32 * 132 * 4 / MACHINE.memory / 2
    assert found.occupied["memory"] == pytest.approx(cycles / 0.75)
    assert found.occupied["shared"] == pytest.approx(8.0 * MACHINE.cycles("shared") / 2 / 0.75)


def test_a_side_to_which_several_branches_lead_is_passed_once() -> None:
    """A step that seldom fails, four times: a warp that goes everywhere fails once, not a hundred million times."""
    step = "add.u32 %r3, %r3, %r2;\nsetp.gt.u32 %p2, %r3, {0};\n@%p2 bra FAILED;\n"
    steps = "".join(step.format(n) for n in range(4))
    store = "st.shared.u32 [tile], {};\n"
    text = f"mov.u32 %r2, %tid.x;\n{steps}{store.format('%r3')}bra END;\nFAILED:\n{store.format('%r2')}END:\nret;\n"
    code = flow(text)
    seldom = store.format("%r2").strip()
    issued = {n: 1000.0 for n, own in enumerate(kernel(text).splitlines(), 1) if own.strip().endswith(";")}
    issued |= {n: 10.0 for n, own in enumerate(kernel(text).splitlines(), 1) if own.strip() == seldom}
    run = SampledRun(issued, (50,) * 500, 2, (), (0.0, 0.0, 0.0), 0.0, True)
    found = sampled_kernel(code, forks(code), None, run, 500, MACHINE)
    assert found is not None
    (failed,) = (name for name, times in found.often.items() if times == 0.01)
    assert found.passes[failed] == pytest.approx(1.0)


def test_a_warp_waits_for_where_the_elements_are() -> None:
    touched = (
        Touched(own=100.0, common=0.0, all=1e9, asked=100.0),  # from DRAM
        Touched(own=100.0, common=0.0, all=400.0, asked=200.0),  # 0.4 of 200 sectors are a CTA's share
    )
    missed = {1: {0: 1.0}, 2: {}, 3: {1: 1.0}, 4: {0: 0.25}}
    waits = waits_of_loads(run_of({}, (9,), touched=touched, missed=missed), 1000, MACHINE, TABLE)
    hit, near, far = TABLE.cycles("ld.local"), TABLE.named["ld.global L2"].cycles, TABLE.cycles("ld.global")
    assert waits == {1: far, 2: hit, 3: pytest.approx(near, abs=2), 4: round(hit + (far - hit) / 4)}
    unknown = replace(TABLE, named={})
    assert waits_of_loads(run_of({}, (9,), touched=touched, missed=missed), 1000, MACHINE, unknown)[3] == (
        pytest.approx(far / 2, abs=2)
    )


def test_lines_far_from_all_others_take_the_memory_long() -> None:
    def cycles(touched: Touched, requested: float = 0.0) -> float:
        asked = tuple(requested * (kind == touched.kind) for kind in range(3))
        run = run_of({}, (9,), touched=(touched,), requested=asked)
        found = sampled_kernel(flow("ret;"), (), None, run, 1000, MACHINE)
        assert found is not None
        return found.occupied["memory"]

    dense = Touched(100.0, 0.0, 1e9)
    scattered = replace(dense, alone=100.0, with_them=100.0)
    assert cycles(scattered) == pytest.approx(3.4 * cycles(dense))
    assert cycles(replace(dense, alone=25.0, with_them=100.0)) == pytest.approx(cycles(dense))
    assert cycles(replace(scattered, kind=UPDATES)) == pytest.approx(8.6 * cycles(dense))
    small = replace(scattered, all=1.0)  # in the L2
    loads, updates = (cycles(replace(small, kind=kind), 100.0) for kind in (LOADS, UPDATES))
    assert cycles(dense) > loads == pytest.approx(updates * 0.73 / 1.25, rel=0.02)


def test_a_run_in_which_hardly_any_cta_does_something_tells_little() -> None:
    code = flow(CODE)
    for steps, some in (((4,) * 8, False), ((50, *(4,) * 8), False), ((50, *(4,) * 7), True)):
        run = run_of({"mov.u32 %r1, %ctaid.x;": 16}, steps)
        assert (sampled_kernel(code, forks(code), frozenset(("entry",)), run, 8, MACHINE) is not None) == some
    partly = run_of({"mov.u32 %r1, %ctaid.x;": 2}, (50,), whole=False)
    found = sampled_kernel(code, forks(code), None, partly, 1, MACHINE)
    assert found is not None and not found.occupied


def test_ctas_that_nearly_all_end_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of those that were run none does anything: how many do is known, how long they take is not."""
    early = run_of({}, (4,) * 99)
    monkeypatch.setattr("goptx.emulator.sampled.sampled_run.sampled_run", lambda *_: early)
    found = examined("lower_bound")
    assert found.sampled is None and not found.is_known and found.live == pytest.approx(0.5 / 99)
    assert "live" not in found.unknown.fields


# The form that is chosen -----------------------------------------------------------------------------------


def test_kernels_are_woven_only_where_that_is_estimated_to_be_better() -> None:
    made = fused("bilateral", "haversine")
    assert made.strategy == "interleave"
    assert any(n.startswith("each CTA runs one kernel: woven, they are estimated to ") for n in made.report.notes)
    for options in ({"policy": "latency"}, {"presume": False}, {"placement": "spread"}):
        assert fused("bilateral", "haversine", **options).strategy == "weave"


def test_kernels_of_which_little_is_known_are_woven() -> None:
    found = described("bilateral", "haversine")
    texts = [kernel.path.read_text() for kernel in found.kernels if kernel.path]
    assert goptx.weave(*texts, shapes=found.shapes).strategy == "weave"


def test_auto_weaves_known_kernels_only_for_much() -> None:
    plain = unchanged(2)
    names = {name: Candidate(name, (1, 1)) for name in ("weave", "interleave")}
    names["coarse"] = Candidate("interleave", (2, 2))

    def chosen(known: bool, **cycles: float) -> str:
        estimates = judged("bilateral", "haversine").under_all(plain)[plain][:1]
        made = {names[n]: Prospect((replace(estimates[0], cycles=c),), (100.0,)) for n, c in cycles.items()}
        made[plain] = Prospect((replace(estimates[0], cycles=100.0),), (100.0,))
        return best(made, known).strategy

    assert chosen(False, weave=90.0, interleave=99.0) == "weave"
    assert chosen(True, weave=90.0, interleave=99.0) == "separate"
    assert chosen(True, weave=99.0 / TOGETHER - 1.0, interleave=99.0) == "weave"
    assert chosen(True, weave=80.0, interleave=85.0) == "interleave"
    assert chosen(True, weave=70.0, interleave=99.0, coarse=71.0) == "weave"


def test_kernels_that_fill_the_gpu_in_turn_are_no_faster_for_being_interleaved() -> None:
    """All CTAs of one kernel, which fill the GPU, come first; spread among those of the other they run beside these."""
    judge = judged("pi_samples", "rms_norm")
    behaviours = judge.assumptions[:1]

    def cycles(**options: Any) -> float:
        candidate = Candidate("interleave", (1, 1)).having(**options) if options else Candidate("interleave", (1, 1))
        return judge.under(behaviours, candidate)[candidate][0].cycles

    alone_ = sum(each.cycles for each in judge.each_alone())
    assert cycles() == pytest.approx(alone_, rel=0.02) == pytest.approx(cycles(placement="front"), rel=0.02)
    assert cycles(placement="spread") < 0.9 * alone_ > cycles(ratio=(1, 20))
    assert 0.9 < AMONG < 1.0


# Code --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "unrolled"),
    [
        ("LOOP: ld.global.u32 %r3, [%rd1]; add.u32 %r4, %r4, %r3; {step}", True),
        ("LOOP: ld.global.u32 %r3, [%rd1]; st.global.u32 [%rd2], %r3; {step}", False),  # it may overwrite what follows
        ("LOOP: add.u32 %r4, %r4, %r3; {step}", False),  # nothing is waited for
        ('LOOP: .pragma "nounroll"; ld.global.u32 %r3, [%rd1]; {step}', False),
        ("LOOP: bar.sync 0; ld.global.u32 %r3, [%rd1]; {step}", False),
        ("LOOP: ld.global.u32 %r1, [%rd1]; setp.lt.u32 %p1, %r1, 9; @%p1 bra LOOP;", False),  # data decide
        ("LOOP: ld.global.u32 %r3, [%rd1]; " + "add.u32 %r4, %r4, %r3; " * 60 + "{step}", False),
        ("LOOP: ld.global.u32 %r3, [%rd1]; setp.gt.u32 %p2, %r3, 4; @%p2 bra OUT; {step}", False),
    ],
)
def test_loops_that_the_assembler_unrolls(body: str, unrolled: bool) -> None:
    step = "add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, %r2; @%p1 bra LOOP;"
    code = flow(
        f"ld.param.u32 %r2, [k_n]; mov.u32 %r1, 0;\n{body.format(step=step)}\nOUT: st.shared.u32 [tile], %r4; ret;"
    )
    assert is_unrolled(code, "LOOP") == unrolled


WIDE = "ld.param.u64 %rd1, [k_in]; ld.param.u64 %rd2, [k_out]; mov.u32 %r1, %tid.x; cvt.u64.u32 %rd3, %r1;"


OF_HALVES = {
    "both halves of a sum": ("add.s64 %rd4, %rd1, %rd2; st.global.u64 [%rd4], %rd4;", {}),
    "of a sum the lower half": (
        "add.s64 %rd4, %rd1, %rd2; cvt.u32.u64 %r2, %rd4; st.shared.u32 [tile], %r2;",
        {0: 0.5},
    ),
    "a short mask": ("and.b64 %rd4, %rd1, 255; st.global.u64 [%rd1], %rd4;", {0: 0.5}),
    "a long mask": ("and.b64 %rd4, %rd1, -256; st.global.u64 [%rd1], %rd4;", {}),
    "short integers": (
        "xor.b64 %rd4, %rd3, 77; or.b64 %rd5, %rd4, %rd3; st.global.u64 [%rd1], %rd5;",
        {0: 0.5, 1: 0.5},
    ),
    "a short one that becomes longer": ("shl.b64 %rd4, %rd3, 13; st.global.u64 [%rd1], %rd4;", {}),
    "shifted up by more than a half": ("shl.b64 %rd4, %rd1, 40; st.global.u64 [%rd1], %rd4;", {0: 0.5}),
    "masked later": (
        "shl.b64 %rd4, %rd1, 3; and.b64 %rd5, %rd4, 4095; st.global.u64 [%rd1], %rd5;",
        {0: 0.5, 1: 0.5},
    ),
    "shifted down by more than a half": ("shr.u64 %rd4, %rd1, 40; st.global.u64 [%rd1], %rd4;", {0: 0.5}),
    "a short one shifted down": ("shr.u64 %rd4, %rd3, 4; st.global.u64 [%rd1], %rd4;", {0: 0.5}),
    "what is shifted down": (
        "add.s64 %rd4, %rd1, %rd2; shr.u64 %rd5, %rd4, 4; cvt.u32.u64 %r2, %rd5; st.shared.u32 [tile], %r2;",
        {1: 0.5},
    ),
    "shifted by a variable": ("shr.u64 %rd4, %rd1, %r1; st.global.u64 [%rd1], %rd4;", {}),
    "a product of short ones": ("mul.lo.u64 %rd4, %rd3, %rd3; st.global.u64 [%rd1], %rd4;", {0: 0.5}),
    "a product": ("mul.lo.u64 %rd4, %rd3, %rd1; st.global.u64 [%rd1], %rd4;", {}),
    "guarded": ("setp.eq.u32 %p1, %r1, 0; @%p1 and.b64 %rd4, %rd1, 255; st.global.u64 [%rd1], %rd4;", {}),
    "written twice": (
        "and.b64 %rd4, %rd1, 255; add.s64 %rd4, %rd4, %rd2; xor.b64 %rd5, %rd4, %rd1; st.global.u64 [%rd1], %rd5;",
        {0: 0.5},
    ),
}


@pytest.mark.parametrize(("code", "shares"), OF_HALVES.values(), ids=OF_HALVES)
def test_halves_of_wide_integers_that_are_not_computed(code: str, shares: dict[int, float]) -> None:
    body = flow(f"{WIDE} {code} ret;")
    before = len(flow(f"{WIDE} ret;").blocks["entry"].instructions())
    assert {number - before: share for (_, number), share in computed_shares(body).items()} == shares
