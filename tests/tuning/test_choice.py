"""What is chosen, when a bench prescribes the time of each candidate."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from tuning.fake_bench import ARGS, PLUS, SEPARATE, SHAPES, TIMES, AtOnce, FakeBench, Pretending, statuses, tuned

import goptx
from goptx import InputError
from goptx.device.assemble import find_ptxas
from goptx.launch.shape import Shape
from goptx.measuring.bench.baselines import GRAPH, GRAPH_REVERSED, STREAMS, STREAMS_REVERSED, WAYS
from goptx.measuring.bench.bench import Timed
from goptx.measuring.bench.questions import Described, Judged
from goptx.strategies.candidate import Candidate
from goptx.time_budget import Budget
from goptx.tuning.making import Job, Made
from goptx.tuning.space.space import Space
from goptx.tuning.trials import Trial
from goptx.tuning.tune import WrongOutput, tune

VARIED = "weave x2 x2 slicing=None"
needs_ptxas = pytest.mark.skipif(find_ptxas() is None, reason="needs ptxas")


@pytest.mark.slow
@needs_ptxas
def test_the_fastest_is_chosen_and_made() -> None:
    executor = AtOnce()
    best = tuned(FakeBench({"interleave x2 x1": 0.4, "vertical": 0.5}), executor=executor, strategies=["interleave"])
    assert best.candidate == Candidate("interleave", (2, 1))
    assert (best.speedup, best.ms["interleave x2 x1"], best.ms[STREAMS]) == (2.5, 0.4, 1.0)
    assert best.fused.strategy == "interleave"
    assert len(executor.made) == len(set(executor.made))
    made = goptx.fuse(*best.candidate.coarse(best.job.kernels), strategy="interleave", arch="sm_90", shapes=SHAPES)
    assert best.fused.ptx == made.ptx


@pytest.mark.slow
@needs_ptxas
def test_the_options_of_a_good_candidate_are_varied() -> None:
    """No first candidate has this slicing; it is good here only for kernels coarsened by two."""
    best = tuned(FakeBench({"weave x2 x2": 0.8, "weave x2 x2 policy=paper": 0.5}), executor=AtOnce())
    assert str(best.candidate) == "weave x2 x2 policy=paper"
    assert dict(best.candidate.options) == {"policy": "paper"}
    assert best.fused.ptx != goptx.fuse(PLUS, TIMES, shapes=SHAPES, arch="sm_90").ptx


def test_round_after_round_while_it_gets_better() -> None:
    better = {
        "weave x2 x2": 0.9,
        "weave x2 x2 slicing=256": 0.8,
        "weave x2 x2 policy=concat slicing=256": 0.7,
        "weave x2 x2 divergence=park policy=concat slicing=256": 0.6,
    }
    assert str(tuned(FakeBench(better)).candidate) == list(better)[-1]
    worse = {**better, "weave x2 x2 slicing=256": 0.899}  # improves by less than a round has to
    found = tuned(FakeBench(worse))
    assert str(found.candidate) == "weave x2 x2 slicing=256"
    assert list(better)[-1] not in statuses(found)


def test_a_candidate_that_is_good_with_a_cap_only_is_varied() -> None:
    """Its trial with a cap is the best, although the one without a cap is the worst of all."""
    slow = {"weave": 9.0, "weave capped at 24": 0.5, "weave slicing=512": 0.4}

    class Capped(Pretending):
        def done(self, make: Callable[[Job], Made], job: Job) -> Made:
            made = super().done(make, job)
            capped = [Trial(replace(job.candidate, cap=24), "timed")] if str(job.candidate) == "weave" else []
            return Made((*made.trials, *capped), made.woven)

    best = tuned(FakeBench(slow), executor=Capped())
    assert str(best.candidate) == "weave slicing=512"


@needs_ptxas
@pytest.mark.parametrize(
    ("ms", "why"),
    [
        ({}, "nothing is faster"),
        ({"weave": 1.05}, "faster than one after the other, and slower than side by side"),
        ({STREAMS: 2.0, SEPARATE: 0.9, "weave": 1.0}, "faster than side by side only"),
        ({"weave": 1.0}, "as fast is not faster"),
    ],
)
def test_declined(ms: dict[str, float], why: str) -> None:
    """The unchanged kernels are chosen, one after the other or side by side."""
    best = tuned(FakeBench(ms), strategies=["weave", "vertical"])
    side_by_side = SEPARATE not in ms
    assert best.candidate == Candidate("separate", (1, 1), None, (("streams", True),) if side_by_side else ()), why
    assert (best.speedup, best.fused.strategy, best.fused.streams) == (1.0, "separate", side_by_side)
    assert best.fused.depends is not side_by_side, "side by side they have to be independent"
    assert [entry.name for entry in best.fused.module.entries] == ["plus", "times"]
    assert best.fused.ptx == goptx.fuse(PLUS, TIMES, strategy="separate", arch="sm_90", shapes=SHAPES).ptx
    assert [start.shape for start in best.fused.starts(None, None)] == SHAPES
    assert best.baseline == ("graph" if side_by_side else SEPARATE)
    why_not = f"no candidate was found that is faster than separate launches (the best of them: {best.baseline})"
    assert str(best).endswith(f"{best.candidate}: {why_not}")


def test_the_last_comparison_decides() -> None:
    """A candidate that was fast in its trial, and is slow in the last comparison, is not chosen."""

    class Moody(FakeBench):
        def time_of(self, key: str) -> float:
            return 2.0 if key == "weave" and SEPARATE in self.journal[-1:][0] else super().time_of(key)

    assert tuned(Moody({"weave": 0.5})).candidate.strategy == "separate"
    second = tuned(Moody({"weave": 0.5, "vertical": 0.9}))
    assert (str(second.candidate), second.speedup) == ("vertical", 1 / 0.9)


def test_side_by_side_is_what_has_to_be_beaten() -> None:
    best = tuned(FakeBench({STREAMS: 1.0, SEPARATE: 4.0, "weave": 0.8}))
    assert (str(best.candidate), best.speedup) == ("weave", 1.25)
    assert tuned(FakeBench({STREAMS: 4.0, SEPARATE: 1.0, "weave": 0.8})).speedup == 1.25


def test_kernels_coarsened_each_for_itself() -> None:
    best = tuned(FakeBench({"separate x2 x1": 0.5}))
    assert (str(best.candidate), best.speedup) == ("separate x2 x1", 2.0)


@pytest.mark.slow
def test_of_equals_that_made_of_less() -> None:
    fast = dict.fromkeys(["weave x2 x2", "vertical x2 x2", "interleave x1 x2", "weave", "vertical", "horizontal"], 0.5)
    for ms in (fast, dict(reversed(fast.items()))):
        assert [str(tuned(*(FakeBench(ms) for _ in range(n))).candidate) for n in (1, 2, 3)] == ["horizontal"] * 3


@pytest.mark.slow
@needs_ptxas
def test_equal_code_is_tried_once() -> None:
    bench = FakeBench({"weave x2 x2": 0.5})
    best = tuned(bench, executor=AtOnce(), strategies=["weave"])
    same = [t for t in best.table.trials if t.reason.startswith("the same code as weave")]
    assert len(same) > 5
    assert all(t.status == "pruned" and str(t.candidate) not in bench.judgements for t in same)
    assert len(bench.judgements) == len(set(bench.judgements))


def test_devices_share_the_work_and_choose_as_one() -> None:
    def choice(count: int) -> tuple[str, float, list[str], list[int]]:
        benches = [FakeBench(otherwise=lambda key: 0.4 + sum(map(ord, key)) % 89 / 100) for _ in range(count)]
        best = tuned(*benches)
        return str(best.candidate), best.speedup, sorted(statuses(best)), [len(b.judgements) for b in benches]

    candidate, speedup, trials, (alone,) = choice(1)
    for count in (2, 3):
        *same, shares = choice(count)
        assert same == [candidate, speedup, trials]
        assert all(0 < share < alone for share in shares)


@pytest.mark.slow
@needs_ptxas
def test_one_kernel_is_coarsened() -> None:
    args = {name: value for name, value in ARGS.items() if name[0] == "A"}
    bench = FakeBench({"coarsen x4": 0.5})
    best = tune(PLUS, shapes=SHAPES[:1], args=args, executor=AtOnce(), benches=[bench], progress=False)
    assert best.candidate == Candidate("coarsen", (4,))
    assert best.fused.ptx == goptx.coarsen(PLUS, 4, arch="sm_90", shape=SHAPES[0]).ptx
    odd = tune(
        PLUS, shapes=[Shape(3, 64)], args=args, executor=AtOnce(), benches=[FakeBench()], progress=False
    )  # no factor divides its grid
    assert (odd.candidate, odd.table.trials) == (Candidate("separate", (1,)), ())


def test_three_kernels_are_coarsened_alike() -> None:
    args = {**ARGS, "C:0": "u32[256]", "C:1": "u32[256]", "C:2": "u32:3"}
    best = tune(
        PLUS, TIMES, PLUS.replace("plus", "third"), shapes=[SHAPES[0]] * 3, args=args, executor=Pretending(),
        benches=[FakeBench({"weave x2 x2 x2": 0.3})], progress=False, strategies=["weave", "horizontal"],
    )  # fmt: skip
    assert str(best.candidate) == "weave x2 x2 x2"
    first = [str(candidate) for candidate in Space([SHAPES[0]] * 3, [False] * 3).first()]
    assert "weave x4 x4 x4" in first and "weave x1 x2 x1" not in first


def test_made_for_the_device_by_default() -> None:
    of = {how: tuned(FakeBench(), strategies=["weave"], arch=how).fused.module.target[0] for how in (None, "sm_80")}
    assert of == {None: "sm_90", "sm_80": "sm_80"}
    old = tuned(FakeBench(described_as=Described("Old", "sm_75", "580.1")), strategies=["weave"])
    assert old.fused.module.target[0] == "sm_80"  # the target of the kernels: sm_75 could not run them


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"strategies": "weave"}, r'strategies= takes a list, for example strategies=\["weave"\]'),
        ({"strategies": ["auto"]}, "strategy `auto` cannot be tuned; expected some of weave, vertical, interleave"),
        ({"devices": []}, "devices= names no GPU; give its number"),
        (
            {"devices": [1, 0, 1]},
            r"devices=\[1, 0, 1\] names a GPU twice; kernels that it runs at once cannot be timed",
        ),
        ({"budget": "soon"}, "budget='soon' is not a time above 0; write seconds or, for example, 90s, 5m, 1h"),
    ],
)
def test_what_makes_no_sense_is_refused_first(how: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        tuned(FakeBench(), **how)


def test_devices_of_two_kinds() -> None:
    other = FakeBench(described_as=Described("Other", "sm_90", "580.1"))
    with pytest.raises(InputError, match="devices= names GPUs of two kinds, Imaginary and Other, whose times cannot"):
        tuned(FakeBench(), other)


def test_texts_of_the_result() -> None:
    best = tuned(FakeBench({"weave": 0.5}), budget=Budget(clock=lambda: 7.0))
    assert {key: best.about[key] for key in ("gpu", "driver", "seconds")} == {
        "gpu": "Imaginary", "driver": "580.1", "seconds": 0.0,
    }  # fmt: skip
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", best.about["date"])
    assert best.about["assembler"] and best.about["goptx"]
    assert str(best).endswith("weave: 2.00 times as fast as separate launches (the best of them: graph)")


# The unchanged kernels --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fastest", "streams"),
    [(GRAPH, True), (GRAPH_REVERSED, "reversed"), (STREAMS, True), (STREAMS_REVERSED, "reversed"), (SEPARATE, None)],
)
def test_every_way_to_run_them_has_to_be_beaten(fastest: str, streams: object) -> None:
    unchanged = dict.fromkeys(WAYS, 1.0) | {fastest: 0.5}
    best = tuned(FakeBench({**unchanged, "weave": 0.6}))
    assert (best.baseline, best.candidate.strategy) == (fastest, "separate")
    assert (best.candidate.option("streams"), best.fused.streams) == (streams, streams or False)
    faster = tuned(FakeBench({**unchanged, "weave": 0.4}))
    assert (faster.baseline, str(faster.candidate), faster.speedup) == (fastest, "weave", 1.25)
    assert all(t.against == 0.5 for t in faster.table.trials if t.status == "timed")
    assert faster.table.baselines[f"{fastest} (unchanged)"] == 0.5


def test_streams_that_goptx_launches_as_a_slower_graph() -> None:
    best = tuned(FakeBench({STREAMS: 0.9, GRAPH: 1.0, GRAPH_REVERSED: 1.0}))
    assert (best.baseline, best.speedup) == (STREAMS, 0.9)


class Moving(FakeBench):
    """`moved` are the times after the process was replaced."""

    moved: Mapping[str, float] = {}

    def time_of(self, key: str) -> float:
        renewed = ("renew", "") in self.journal
        return self.moved[key] if renewed and key in self.moved else super().time_of(key)


@pytest.mark.parametrize(("later", "chosen"), [(0.9, "weave"), (1.1, SEPARATE), (0.999, SEPARATE)])
def test_the_winner_is_measured_once_more_in_another_process(later: float, chosen: str) -> None:
    bench = Moving({"weave": 0.5})
    bench.moved = {"weave": later}
    best = tuned(bench)
    assert best.candidate.strategy == chosen
    assert best.speedup == (1 / later if chosen == "weave" else 1.0), "the worse of both measurements"
    begun = [entry for entry, *_ in bench.journal]
    (renewed,) = [k for k, entry in enumerate(begun) if entry == "renew"]
    assert begun[renewed:] == ["renew", "judge", "time", "launched"]
    assert bench.journal[renewed + 1] == ("judge", "weave") and set(WAYS) < set(bench.journal[renewed + 2])


def test_another_finalist_that_is_better_in_its_worse_measurement() -> None:
    bench = Moving({"weave": 0.5, "vertical": 0.7})
    bench.moved = {"weave": 0.8, "vertical": 0.6}
    best = tuned(bench)
    assert (str(best.candidate), best.speedup) == ("vertical", 1 / 0.7)


def test_wrong_in_the_other_process() -> None:
    """Data in other places may show what the first ones hid."""

    class Wrong(Moving):
        def judge(self, key: str, *how: Any, **more: Any) -> Any:
            answer = super().judge(key, *how, **more)
            return Judged(wrong="A:1 differs") if ("renew", "") in self.journal else answer

    with pytest.warns(WrongOutput, match="weave: A:1 differs"):
        assert tuned(Wrong({"weave": 0.5})).candidate.strategy == SEPARATE


def test_the_time_with_that_of_the_host() -> None:
    """One launch instead of two may win where the device alone gains nothing."""

    class Slow(FakeBench):
        def time(self, keys: Sequence[str], repeats: int, warmups: int = 1, launched: bool = False) -> Timed:
            more = {key: 0.0 if key == "weave" else 0.5 for key in keys} if launched else {}
            timed = super().time(keys, repeats, warmups, launched)
            ms = {key: [run + more.get(key, 0.0) for run in runs] for key, runs in timed.ms.items()}
            return Timed(ms, host_us=timed.host_us)

    device, launched = tuned(Slow({"weave": 1.0})), tuned(Slow({"weave": 1.0}), objective="launched")
    assert (device.candidate.strategy, device.objective, launched.objective) == (SEPARATE, "device", "launched")
    assert (str(launched.candidate), launched.speedup) == ("weave", 1.5)
    assert device.launched_ms[GRAPH] == launched.launched_ms[GRAPH] == 1.5
    assert launched.host_us.keys() == {*WAYS, "weave"} and set(launched.host_us.values()) == {5.0}
    with pytest.raises(InputError, match="objective='host' is not one of device, launched"):
        tuned(FakeBench(), objective="host")


def test_coarsened_kernels_side_by_side_in_the_other_order() -> None:
    best = tuned(FakeBench({"separate x2 x2": 0.8, "separate x2 x2 streams=reversed": 0.6}))
    assert str(best.candidate) == "separate x2 x2 streams=reversed"
