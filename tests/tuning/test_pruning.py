"""Candidates that are not timed, because of the cost model, the assembler or the occupancy of an SM."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from bodies import kernel
from tuning.fake_bench import ARGS, PLUS, SHAPES, TIMES, AtOnce, FakeBench, Pretending, reason, statuses, tuned

from goptx.device.assemble import find_ptxas
from goptx.device.occupancy import occupancy
from goptx.device.register_bound import register_bound
from goptx.device.sweep import CAPS
from goptx.errors import InputError
from goptx.launch.shape import Shape
from goptx.measuring.bench.questions import Judged
from goptx.results.fused_kernel import Woven
from goptx.strategies.candidate import Candidate
from goptx.strategies.fuse import fuse
from goptx.time_budget import Budget
from goptx.tuning import making, tuning_search
from goptx.tuning.making import Job, Made, caps, make, under_cap
from goptx.tuning.measured import Measured, measured
from goptx.tuning.space import partitions as module
from goptx.tuning.space import pruning
from goptx.tuning.space.partitions import Partitions, sizes_of
from goptx.tuning.space.pruning import Pruning
from goptx.tuning.space.space import Space
from goptx.tuning.trials import Trial
from goptx.tuning.tune import WrongOutput, tune

KERNELS = Path(__file__).parents[2] / "examples" / "kernels"
needs_ptxas = pytest.mark.skipif(find_ptxas() is None, reason="needs ptxas")


def small(shapes: Sequence[Shape] = SHAPES) -> Measured:
    return measured([PLUS, TIMES], shapes=shapes, args=ARGS)


def examples(*names: str) -> Measured:
    return measured([], spec=[KERNELS / f"{name}.toml" for name in names])


def job(what: Measured, candidate: Candidate, tunable: Sequence[bool] = (False, False)) -> Job:
    return Job(what.kernels, what.shapes, tuple(tunable), candidate, "sm_90")


# The cost model -------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_what_is_estimated_to_be_much_slower_is_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pruning, "MUCH", 1.2)
    bench, executor = FakeBench(), Pretending()
    best = tuned(bench, executor=executor)
    slow = [t for t in best.table.trials if "times as long as the best estimate" in t.reason]
    assert len(slow) > 10
    assert all(t.status == "pruned" and str(t.candidate) not in executor.made for t in slow)
    assert reason(best, "separate x4 x4") == "estimated to take 2.0 times as long as the best estimate"
    assert not any(t.candidate.strategy == "horizontal" for t in slow)  # the model has no estimate for it
    monkeypatch.setattr(pruning, "MUCH", 1000)
    assert "pruned" not in statuses(tuned(FakeBench())).values()


def test_the_most_promising_first() -> None:
    what = small()
    sight = Pruning.of(what.kernels, what.shapes, "sm_90")
    tried, _ = sight.sorted(reversed(Space(what.shapes, what.tunable).first()))
    first = [candidate for candidate in tried if candidate.default]
    rest = tried[len(first) :]
    for part in (first, rest):
        known = [estimate for candidate in part if (estimate := sight.estimate(candidate)) is not None]
        assert known == sorted(known) and len(set(known)) > 2
    assert len(first) == 5 and not any(candidate.default for candidate in rest)
    place = [candidate.strategy for candidate in rest].index("horizontal")
    assert 0 < place < len(rest) - 1  # in the middle


def test_long_code_is_not_woven() -> None:
    what = examples("gelu", "sha256")
    tried, pruned = Pruning.of(what.kernels, what.shapes, "sm_90").sorted(Space(what.shapes, what.tunable).first())
    long = {str(t.candidate) for t in pruned if t.reason == "more than 1500 lines of code"}
    assert {"weave x1 x2", "interleave x4 x4"} <= long
    assert not any(name.endswith(("weave", "horizontal")) for name in long)  # unchanged kernels are never pruned
    assert "horizontal" in map(str, tried)


def test_without_control_flow_the_model_is_silent() -> None:
    jumpy = kernel("TS: .branchtargets L; mov.u32 %r1, 0; brx.idx %r1, TS; L: ret;", "jumpy")
    what = measured([jumpy], shapes=[Shape(4, 64)], args={"A:0": "u32[64]", "A:1": "u32[64]", "A:2": "u32:3"})
    sight = Pruning.of(what.kernels, what.shapes, "sm_90")
    candidates = Space(what.shapes, (False,)).first()
    assert sight.judge is None or sight.estimate(candidates[0]) is not None
    assert Pruning(None, (0,)).sorted(candidates) == (candidates, [])


# The assembler and the SM ---------------------------------------------------------------------------------


@pytest.mark.slow
@needs_ptxas
def test_caps_are_tried_where_they_let_more_ctas_onto_an_sm() -> None:
    what = examples("histogram", "gemm")
    candidate = Candidate("weave", (1, 1))
    made = make(job(what, candidate))
    assert made.woven and made.woven.shape
    free = made.woven.resources()
    tried = caps(job(what, candidate), made.woven, free.registers)
    assembly, threads = made.woven.assembly(), made.woven.shape.threads or 0
    shared = assembly.shared_bytes + (made.woven.shape.shared or 0)
    fitting = [
        occupancy("sm_90", registers, shared, threads, barriers=assembly.barriers).ctas_per_sm
        for registers in (free.registers, *tried)
    ]
    assert tried and fitting == sorted(set(fitting))
    assert all(cap % 8 == 0 and free.registers / 2 < cap < free.registers for cap in tried)
    assert [t.candidate.cap for t in made.trials] == [None, *tried]
    for trial in made.trials:
        assert trial.registers is not None and trial.registers <= (trial.candidate.cap or 255)
        if trial.candidate.cap and trial.status == "timed":
            assert (trial.occupancy or 0) > (free.occupancy or 1)


def test_the_caps_of_the_paper_are_those_below_the_registers() -> None:
    space = Space(SHAPES, [False] * 2)
    candidate = Candidate("weave", (2, 2)).having(slicing=None)
    assert CAPS == (32, 40, 48, 64, 80, 128, 256)
    assert [w.cap for w in space.capped(candidate, 255)] == [32, 40, 48, 64, 80, 128]
    assert [str(w) for w in space.capped(candidate, 41)] == [
        "weave x2 x2 slicing=None capped at 32", "weave x2 x2 slicing=None capped at 40",
    ]  # fmt: skip
    assert space.capped(candidate, 32) == [] and space.capped(Candidate("separate", (2, 2)), 255) == []


class Large(Pretending):
    """Each candidate has 70 registers, and its machine code as many as the cap."""

    def done(self, make: Callable[[Job], Made], job: Job) -> Made:
        made = super().done(make, job)
        return Made((replace(made.trials[0], registers=70),), made.woven)


def capped_trial(candidate: Candidate, woven: Woven, always: bool = False) -> Trial:
    return Trial(candidate, "timed", registers=candidate.cap, spill_bytes=0, occupancy=1.0)


def test_the_caps_of_the_paper_are_tried_for_the_best_candidates_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning_search, "under_cap", capped_trial)
    bench = FakeBench({"vertical": 0.8, "vertical capped at 48": 0.5})
    best = tuned(bench, executor=Large())
    assert str(best.candidate) == "vertical capped at 48"
    swept = [key for key in bench.judgements if "capped at" in key]
    of = {key.partition(" capped")[0] for key in swept}
    assert len(of) == tuning_search.LEADERS and "vertical" in of
    assert len(swept) == 4 * tuning_search.LEADERS  # 32, 40, 48 and 64
    first = bench.judgements.index(swept[0])
    assert not any("capped" in key for key in bench.judgements[:first])  # other candidates come before


def test_caps_are_left_out_where_no_time_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning_search, "under_cap", capped_trial)
    monkeypatch.setattr(tuning_search, "ROUNDS", 0)
    seconds = iter(range(10_000))
    bench = FakeBench({"vertical": 0.8})
    best = tuned(bench, executor=Large(), strategies=["vertical"], budget=Budget(30, clock=lambda: next(seconds)))
    late = [t for t in best.table.trials if t.candidate.cap]
    assert late and {(t.status, t.reason) for t in late} <= {("left out", tuning_search.NO_TIME), ("timed", "")}
    assert any(t.status == "left out" for t in late)


@pytest.mark.slow
@needs_ptxas
def test_a_cap_is_judged_by_its_machine_code() -> None:
    what = examples("histogram", "gemm")
    candidate = Candidate("weave", (1, 1))
    made = make(job(what, candidate))
    assert made.woven
    free = made.woven.resources()
    for cap in (32, 40, 48):
        trial = under_cap(replace(candidate, cap=cap), made.woven)
        assert trial.registers is not None and trial.registers <= cap < free.registers
        if trial.status == "timed":
            assert (trial.occupancy or 0) > (free.occupancy or 1)
        else:
            assert "spills" in trial.reason or "no more CTAs fit" in trial.reason


@needs_ptxas
def test_no_caps_where_an_sm_is_full_anyhow() -> None:
    made = make(job(small(), Candidate("weave", (1, 1))))
    assert [str(t.candidate) for t in made.trials] == ["weave"]
    assert made.trials[0].occupancy == 1.0


@pytest.mark.slow
@needs_ptxas
def test_what_spills_much_is_not_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    what = examples("histogram", "gemm")
    monkeypatch.setattr(making, "LEAST", 0.2)
    monkeypatch.setattr(making, "SPILLS", 0)
    spilling = [t for t in make(job(what, Candidate("weave", (1, 1)))).trials if t.reason.startswith("spills ")]
    for trial in spilling:
        assert trial.status == "pruned" and trial.reason == f"spills {trial.spill_bytes} bytes per thread"
    monkeypatch.setattr(making, "SPILLS", 1 << 20)
    assert not any("spills" in t.reason for t in make(job(what, Candidate("weave", (1, 1)))).trials)
    assert spilling


@needs_ptxas
def test_the_bound_of_the_hfuse_paper() -> None:
    """1024 threads, of which two CTAs fit on an SM whatever their registers, may have 32 registers each."""
    shapes = [Shape(4, 512), Shape(4, 512)]
    what = small(shapes)
    candidate = Candidate("horizontal", (1, 1))
    woven = fuse(*what.kernels, strategy="horizontal", arch="sm_90", shapes=shapes)
    assert 32 in caps(job(what, candidate), woven, 64)
    assert caps(job(what, candidate), woven, 32) == []  # no cap where the kernel has no more registers
    parted = job(what, candidate.having(partition=(256, 768)), (True, True))
    assert 32 in caps(parted, woven, 64)


@needs_ptxas
def test_the_bound_of_three_kernels() -> None:
    """The least of what the registers of each, shared memory and threads allow."""
    shapes = [Shape(4, 256), Shape(4, 512), Shape(4, 256)]
    args = {f"{letter}:{i}": f"u32[{4 * 512}]" if i < 2 else "u32:3" for letter in "ABC" for i in range(3)}
    what = measured([PLUS, TIMES, PLUS], shapes=shapes, args=args)
    candidate = Candidate("horizontal", (1, 1, 1))
    woven = fuse(*what.kernels, strategy="horizontal", arch="sm_90", shapes=shapes)
    assert woven.shape == Shape(4, 1024)
    assert caps(job(what, candidate, [False] * 3), woven, 64)[-1] == 32
    assert register_bound((256, 512, 256), (32, 32, 32), "sm_90") == 32  # 1,024 threads: two CTAs
    assert register_bound((256, 512, 256), (32, 128, 32), "sm_90") == 64  # one, for the second kernel's registers
    assert register_bound((128, 128, 128), (40, 40, 40), "sm_90", 76 * 1024) == 80  # two, for shared memory
    parted = job(what, candidate.having(partition=(128, 128, 128)), (True, True, True))
    assert register_bound((128, 128, 128), (12, 12, 12), "sm_90") == 32  # 384 threads: five CTAs
    assert 32 in caps(parted, woven, 64)


@needs_ptxas
def test_what_does_not_fit_on_an_sm_is_refused_or_not_timed() -> None:
    half = [Shape(4, 64, 200 * 1024), Shape(4, 64, 200 * 1024)]
    best = tuned(FakeBench(), shapes=half, executor=AtOnce(), strategies=["weave", "interleave"])
    assert statuses(best)["weave"] in ("refused", "pruned")
    assert {t.status for t in best.table.trials if t.candidate.strategy == "weave"} <= {"refused", "pruned"}
    assert "interleave" in [
        str(t.candidate) for t in best.table.trials if t.status == "timed"
    ]  # this one needs only the larger


# Partitions -----------------------------------------------------------------------------------------------


def partitions(shapes: Sequence[Shape], tunable: Sequence[bool], sizes: Sequence[int] = ()) -> list[tuple[int, ...]]:
    return [
        p for candidate in Space(shapes, tunable, ["horizontal"], sizes).first() if (p := candidate.option("partition"))
    ]


def test_partitions_of_kernels_that_take_other_blocks() -> None:
    one, other = Shape(4, 256), Shape(4, 512)
    assert partitions([one, other], [False, False]) == []
    assert partitions([one, other], [True, False]) == [(128, 512), (384, 512), (512, 512)]
    assert partitions([one, other], [False, True]) == [(256, 128), (256, 256), (256, 384), (256, 640), (256, 768)]
    both = partitions([one, other], [True, True])
    assert (128, 640) in both and (896, 128) in both and (256, 512) not in both
    assert {sum(p) for p in both} == {768, 1024}
    assert all(d % 128 == 0 for p in both for d in p)
    assert len(both) == len(set(both))


def test_partitions_keep_whole_rows_and_what_a_cta_holds() -> None:
    rows = partitions([Shape(4, (48, 8)), Shape(4, 128)], [True, False])
    assert rows == [(768, 128)]  # 16 rows of 48; 384 threads are its own block
    assert {sum(p) for p in partitions([Shape(4, 1024), Shape(4, 1024)], [True, True])} == {1024}


def test_partitions_of_three_kernels() -> None:
    three = [Shape(4, 256)] * 3
    assert partitions(three, [False] * 3) == []
    found = partitions(three, [True] * 3)  # of 768 threads together, as their own blocks have, and of 1,024
    assert len([p for p in found if sum(p) == 768]) == 10 - 1 and (256, 256, 256) not in found
    assert len([p for p in found if sum(p) == 1024]) == 21
    assert len(found) == len(set(found)) == 30 and all(d % 128 == 0 for p in found for d in p)
    assert partitions(three, [True, False, True], [768]) == [
        (128, 256, 384), (384, 256, 128),
    ]  # fmt: skip
    assert partitions(three, [False, True, False]) == [(256, 128, 256), (256, 384, 256), (256, 512, 256)]


@pytest.mark.parametrize(
    ("blocks", "tunable", "sizes", "expected"),
    [
        ((256, 256), (True, True), [512], [(128, 384), (384, 128)]),
        ((256, 256), (True, True), [768], [(128, 640), (256, 512), (384, 384), (512, 256), (640, 128)]),
        ((256, 256), (True, False), [768], [(512, 256)]),
        ((256, 256), (True, True), [256, 384], [(128, 128), (128, 256), (256, 128)]),
        ((96, 256), (False, True), [512, 1024], [(96, 416), (96, 928)]),  # what the other one leaves
        ((100, 256), (False, True), [512], [(128, 384)]),  # whole warps
        ((128,) * 4, (True,) * 4, [640], [(128,) * k + (256,) + (128,) * (3 - k) for k in (3, 2, 1, 0)]),
        (((32, 8), 256), (True, True), [512], [(128, 384), (384, 128)]),
        (((48, 8), 256), (True, True), [896], [(384, 512), (768, 128)]),  # whole rows of 48
    ],
)
def test_partitions_of_a_given_size(
    blocks: Sequence[Any], tunable: Sequence[bool], sizes: Sequence[int], expected: list[tuple[int, ...]]
) -> None:
    assert partitions([Shape(4, block) for block in blocks], tunable, sizes) == expected


def test_the_sizes_of_the_paper_are_searched_in_its_steps() -> None:
    """d1 = 128, 256, ... < d0, and d2 = d0 - d1."""
    for d0 in (512, 768, 1024):
        found = partitions([Shape(4, 96)] * 2, [True] * 2, [d0])
        assert found == [(d1, d0 - d1) for d1 in range(128, d0, 128)]


def test_partitions_are_bounded_in_number(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    most = [len(partitions([Shape(4, 96)] * n, [True] * n, [1024])) for n in range(2, 9)]
    assert most == [7, 21, 35, 35, 21, 7, 1] and max(most) < module.MOST
    assert not caplog.records
    found = partitions([Shape(4, 96)] * 4, [True] * 4, range(512, 1025, 128))
    assert len(found) == module.MOST == 64 and {sum(p) for p in found} == {512, 640, 768, 896, 1024}
    assert caplog.messages == ["6 of 70 partitions are left out: 64 are tried at most"]


def test_sizes_that_no_partition_has(caplog: pytest.LogCaptureFixture) -> None:
    shapes = [Shape(4, 512), Shape(4, 256)]
    Partitions(shapes, [True, False], [512, 768]).check()
    assert not caplog.records
    Partitions(shapes, [True, False], [128, 768]).check()
    assert caplog.messages == ["d0=128 is left out: no partition of the kernels has so many threads"]
    for tunable, sizes, message in (
        (
            [True, False],
            [128, 256],
            "d0=128, 256: no partition has so many threads: kernels that are not tunable take 256",
        ),
        (
            [False, False],
            [768],
            "d0=768: no kernel takes another block than its own; declare those that are right with",
        ),
    ):
        with pytest.raises(InputError, match=message):
            Partitions(shapes, tunable, sizes).check()
    with pytest.raises(InputError, match="d0=768: one kernel alone has no partition; give two kernels or more"):
        Partitions(shapes[:1], [True], [768]).check()
    Partitions(shapes, [False, False]).check()


@pytest.mark.parametrize("d0", [100, 0, -128, 1152, True, "768", [], [512, 600], [512.0], [None]])
def test_sizes_that_make_no_sense(d0: Any) -> None:
    with pytest.raises(
        InputError, match=r"d0=.* takes the threads of a fused CTA, one number or several: multiples of"
    ):
        tuned(FakeBench(), d0=d0)


def test_sizes_are_of_horizontal_kernels() -> None:
    assert sizes_of(None) == () and sizes_of(768) == (768,) and sizes_of([1024, 512, 1024]) == (1024, 512)
    with pytest.raises(InputError, match="d0=768 is for horizontal kernels, which strategies= leaves out"):
        tuned(FakeBench(), d0=768, strategies=["weave"])
    with pytest.raises(InputError, match="d0=768: no kernel takes another block than its own"):
        tuned(FakeBench(), d0=768)


def test_a_size_is_searched() -> None:
    spec = [KERNELS / "reduce.toml", KERNELS / "softmax.toml"]
    fast = "horizontal partition=512,256"
    best = tune(
        spec=spec, executor=Pretending(), benches=[FakeBench({fast: 0.5})], progress=False, strategies=["horizontal"],
        d0=768,
    )  # fmt: skip
    assert str(best.candidate) == fast
    tried = {p for t in best.table.trials if (p := t.candidate.option("partition"))}
    assert tried == {(d1, 768 - d1) for d1 in range(128, 768, 128)}


def test_a_partition_that_rounds_differently_is_not_a_bug() -> None:
    spec = [KERNELS / "layernorm.toml", KERNELS / "softmax.toml"]
    what = measured([], spec=spec)
    assert any(what.tunable)
    space = Space(what.shapes, what.tunable, ["horizontal"])
    parted, *_ = (candidate for candidate in space.first() if candidate.option("partition"))
    bench = FakeBench(judged={str(parted): Judged(wrong="A:1 differs in 3 elements"), "horizontal": Judged("all")})
    with pytest.warns(WrongOutput, match="horizontal: all; please report it") as warned:
        best = tune(
            spec=spec, executor=Pretending(), benches=[bench], progress=False, strategies=["horizontal"]
        )  # fmt: skip
    assert len(warned) == 1 and [str(t.candidate) for t in best.bugs] == ["horizontal"]
    assert statuses(best)[str(parted)] == "pruned"
    assert reason(best, str(parted)) == (
        "A:1 differs in 3 elements; blocks of another size may round differently: give the allowed difference as "
        "tolerance="
    )


# What is near ---------------------------------------------------------------------------------------------


def near(candidate: Candidate, shapes: Sequence[Shape] = SHAPES) -> list[str]:
    return [str(w) for w in Space(shapes, [False] * len(shapes)).near(candidate)]


def test_near_candidates_differ_in_one_option() -> None:
    candidate = Candidate("weave", (2, 2), 40).having(policy="paper")
    found = near(candidate)
    assert len(found) == len(set(found))
    assert "weave x2 x2 policy=paper slicing=256" in found and "weave x2 x2 policy=concat" in found
    assert "weave x4 x2 policy=paper" in found and "weave x1 x2 policy=paper" in found
    assert "weave x2 x2 policy=paper" not in found
    assert not any("capped" in name or "placement" in name for name in found)  # grids are equal


def test_orders_of_ctas_exclude_each_other() -> None:
    unequal = [Shape(4, 64), Shape(8, 64)]
    plain, front = Candidate("interleave", (1, 1)), Candidate("interleave", (1, 1)).having(placement="front")
    assert {"interleave placement=front", "interleave ratio=1,2"} <= set(near(plain, unequal))
    assert not any("ratio" in name for name in near(front, unequal))
    few = near(plain, [Shape(192, 128), Shape(65536, 128)])
    assert "interleave placement=spread" in few and "interleave placement=front" not in few
    assert not any("placement" in name for name in near(plain.having(ratio=(1, 2)), unequal))


def test_no_cta_is_left_over() -> None:
    odd = [Shape(6, 64), Shape(4, 64)]
    factors = {candidate.factors for candidate in Space(odd, [False] * 2, ["weave"]).first()}
    assert factors == {(1, 1), (2, 2), (1, 2), (1, 4), (2, 1), (2, 4)}
    clusters = [Shape(4, 64, cluster=2), Shape(4, 64)]
    assert {candidate.factors for candidate in Space(clusters, [False] * 2, ["weave"]).first()} == {
        (1, 1),
        (1, 2),
        (1, 4),
    }
    assert tuning_search.ROUNDS > 1
