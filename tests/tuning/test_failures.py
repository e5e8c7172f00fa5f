"""A failure of one candidate does not affect the others, and a candidate that failed is never chosen."""

import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Executor, Future
from concurrent.futures.process import BrokenProcessPool
from typing import Any

import pytest
from tuning.fake_bench import SEPARATE, AtOnce, FakeBench, Pretending, reason, statuses, tuned

from goptx.errors import DeviceError
from goptx.measuring.bench.baselines import GRAPH, WAYS
from goptx.measuring.bench.bench import Timed
from goptx.measuring.bench.questions import Failed, Judged
from goptx.tuning.best import Best
from goptx.tuning.finals import FINALISTS, MOST
from goptx.tuning.making import Job
from goptx.tuning.tune import WrongOutput

FAST = {"weave": 0.3, "vertical": 0.4, "interleave": 0.5, "horizontal": 0.6, "weave x2 x2": 0.7}
HANGS = "no answer within 2 s: it hangs"


@pytest.fixture(autouse=True)
def strict() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def same_but(best: Best, *names: str) -> bool:
    """Whether all other trials have the status that they have without a failure."""
    as_usual = {t.candidate: t for t in tuned(FakeBench(FAST)).table.trials}
    found = {t.candidate: t for t in best.table.trials}
    return all(
        (found[candidate].status, found[candidate].ms) == (trial.status, trial.ms)
        for candidate, trial in as_usual.items()
        if candidate.strategy not in {name.split()[0] for name in names}
    )


def test_what_hangs_or_breaks_the_device_when_it_is_judged() -> None:
    broken = {"weave": Failed(HANGS, broken=True), "weave x2 x2": Failed("the driver answers CUDA_ERROR_LAUNCH_FAILED")}
    best = tuned(FakeBench(FAST, judged=broken))
    assert str(best.candidate) == "vertical"
    assert (statuses(best)["weave"], reason(best, "weave")) == ("failed", HANGS)
    assert best.bugs == ()
    assert same_but(best, "weave")
    assert f"failed: weave: {HANGS}" in str(best.table)


def test_wrong_output_is_a_bug_and_is_reported() -> None:
    bench = FakeBench(FAST, judged={"weave": Judged(wrong="B:1 (times_out) differs in 7 elements")})
    with pytest.warns(WrongOutput, match=r"^weave: B:1 \(times_out\) differs in 7 elements; please report it$"):
        best = tuned(bench)
    assert str(best.candidate) == "vertical"
    assert [(str(t.candidate), t.status, t.ms) for t in best.bugs] == [("weave", "wrong", None)]
    assert not any("weave" in keys for what, *keys in bench.journal if what == "time")
    assert same_but(best, "weave")


def test_contraction_is_reported_and_is_not_an_error() -> None:
    best = tuned(FakeBench(FAST, judged={"weave": Judged(contracted="A:1 differs in 2 elements")}))
    assert str(best.candidate) == "weave"
    assert best.table.trials[0].contracted == "A:1 differs in 2 elements"


def test_what_hangs_when_it_is_timed_for_the_first_time() -> None:
    best = tuned(FakeBench(FAST, breaks=["weave"]))
    assert str(best.candidate) == "vertical"
    assert statuses(best)["weave"] == "failed"
    assert same_but(best, "weave")


class Late(FakeBench):
    """A run with one of `breaks` fails once it has more than `beside` kernels."""

    beside = 2

    def time(self, keys: Any, repeats: int, *how: Any, **more: Any) -> Timed:
        if len(keys) <= self.beside and repeats == 3:  # the first time
            breaks, self.breaks = self.breaks, ()
            try:
                return super().time(keys, repeats, *how, **more)
            finally:
                self.breaks = breaks
        return super().time(keys, repeats, *how, **more)


def test_one_that_hangs_among_others_is_found_and_dropped() -> None:
    bench = Late(FAST, breaks=["vertical"])
    best = tuned(bench)
    assert str(best.candidate) == "weave"
    assert (statuses(best)["vertical"], reason(best, "vertical")) == ("failed", HANGS)
    assert statuses(best)["interleave"] == "timed"
    alone = [keys for what, *keys in bench.journal if what == "time" and len(keys) == 2]
    assert [GRAPH, "vertical"] in alone


@pytest.mark.parametrize("name", ["weave", "vertical", "interleave"])
def test_one_that_hangs_in_the_last_comparison(name: str) -> None:
    class Last(FakeBench):
        def time(self, keys: Any, repeats: int, *how: Any, **more: Any) -> Timed:
            if SEPARATE in keys and repeats == MOST:
                self.breaks = (name,)
            return super().time(keys, repeats, *how, **more)

    best = tuned(Last(FAST))
    assert str(best.candidate) == next(candidate for candidate in FAST if candidate != name)
    assert statuses(best)[name] == "failed"
    assert sum(t.repeats == 20 for t in best.table.trials) >= FINALISTS - 1


def test_finalists_that_hang_together_only() -> None:
    class Crowded(FakeBench):
        def time(self, keys: Any, *how: Any, **more: Any) -> Timed:
            crowded = SEPARATE in keys and len(keys) > len(WAYS) + 1
            return Timed(problem=HANGS) if crowded else super().time(keys, *how, **more)

    best = tuned(Crowded(FAST))
    assert (str(best.candidate), statuses(best)["vertical"]) == ("weave", "timed")


def test_unchanged_kernels_that_cannot_be_measured_any_more() -> None:
    with pytest.raises(DeviceError, match="the unchanged kernels cannot be measured: no answer within 2 s"):
        tuned(FakeBench(FAST, breaks=[SEPARATE]))


def test_wrong_on_the_device_of_the_finals_only() -> None:
    """With two devices some finalists come to the first one from the second."""
    wrong = dict.fromkeys(FAST, Judged(wrong="A:1 differs in 1 elements"))
    right, one = FakeBench(FAST), FakeBench(FAST, judged=wrong)
    with pytest.warns(WrongOutput):
        best = tuned(one, right)
    assert best.candidate.strategy == "separate" or str(best.candidate) not in {str(t.candidate) for t in best.bugs}
    assert set(statuses(best).values()) <= {"timed", "wrong", "pruned"}


# What makes kernels ---------------------------------------------------------------------------------------


def spoiling(name: str, problem: Exception) -> Callable[[Job], None]:
    def spoilt(job: Job) -> None:
        if str(job.candidate) == name:
            raise problem

    return spoilt


@pytest.mark.parametrize("problem", [AssertionError("goptx has a fault"), CancelledError(), MemoryError()])
def test_a_candidate_that_cannot_be_made(problem: Exception) -> None:
    best = tuned(FakeBench(FAST), executor=Pretending(spoiling("weave", problem)))
    assert str(best.candidate) == "vertical"
    assert statuses(best)["weave"] == "failed"
    assert reason(best, "weave") == f"it could not be made: {type(problem).__name__}: {problem}"
    assert same_but(best, "weave")


class Dying(Executor):
    """A process pool that dies when it makes one candidate, with all that was submitted before."""

    def __init__(self, name: str) -> None:
        self.name, self.died = name, 0
        self.inner = Pretending()

    def submit(self, make: Callable[..., Any], /, *args: Any, **options: Any) -> Future[Any]:
        if str(args[0].candidate) != self.name and self.died:
            return self.inner.submit(make, *args)
        broken: Future[Any] = Future()
        broken.set_exception(BrokenProcessPool("a process ended"))
        self.died += 1
        return broken


def test_a_process_that_dies_loses_no_other_candidate() -> None:
    executor = Dying("weave")
    best = tuned(FakeBench(FAST), executor=executor)
    assert executor.died >= 2
    assert str(best.candidate) == "vertical"
    assert reason(best, "weave") == "it could not be made: BrokenProcessPool: a process ended"
    assert same_but(best, "weave")


def test_an_executor_that_takes_nothing_more() -> None:
    class Closed(AtOnce):
        def submit(self, make: Callable[..., Any], /, *args: Any, **options: Any) -> Future[Any]:
            raise RuntimeError("cannot schedule new futures after shutdown")

    best = tuned(FakeBench(FAST), executor=Closed())
    assert best.candidate.strategy == "separate"
    assert "failed" in statuses(best).values() and "timed" not in statuses(best).values()
