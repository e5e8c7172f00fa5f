"""What is done within a budget, by a clock that the bench advances."""

from typing import Any

import pytest
from tuning.fake_bench import SEPARATE, FakeBench, Pretending, reason, statuses, tuned

from goptx.errors import InputError
from goptx.measuring.bench.baselines import WAYS
from goptx.measuring.bench.bench import Timed
from goptx.measuring.bench.questions import Judged
from goptx.strategies.candidate import Candidate
from goptx.time_budget import TRYING, Budget, seconds_of

FAST = {"weave": 0.3, "vertical": 0.4, "interleave": 0.5}


class Clock:
    """A clock that is advanced by hand, in seconds."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


class Slow(FakeBench):
    """Each kernel takes a second to be judged and timed."""

    def __init__(self, clock: Clock, ms: dict[str, float]) -> None:
        super().__init__(ms)
        self.clock = clock

    def judge(self, *args: Any) -> Any:
        self.clock.now += 0.75
        return super().judge(*args)

    def time(self, keys: Any, *how: Any, **more: Any) -> Timed:
        self.clock.now += 0 if SEPARATE in keys else 0.25
        return super().time(keys, *how, **more)


def within(seconds: float | None) -> tuple[Slow, Any]:
    clock = Clock()
    bench = Slow(clock, FAST)
    return bench, tuned(bench, budget=Budget(seconds, clock))


def test_what_there_is_no_time_for_is_left_out() -> None:
    bench, best = within(20)
    assert len({*bench.judgements} - {*WAYS}) == 20 * TRYING  # the unchanged kernels have been run before
    late = [t for t in best.table.trials if t.status == "left out"]
    assert len(late) > 10
    assert {t.reason for t in late} == {"there was no time left"}
    assert not {str(t.candidate) for t in late} & set(bench.judgements)
    timed = [t for t in best.table.trials if t.status == "timed"]
    assert len(timed) == len(bench.judgements)
    assert f"{len(late)} left out" in str(best.table)
    assert best.candidate == min(timed, key=lambda t: FAST.get(str(t.candidate), 3.0)).candidate


def test_the_last_comparison_is_made_whatever_the_time() -> None:
    bench, best = within(1)
    *_, (last, *compared), (launched, *_) = bench.journal
    assert (last, launched) == ("time", "launched") and compared[: len(WAYS)] == list(WAYS)
    assert len(bench.judgements) == len(compared) - len(WAYS) == 1
    assert str(best.candidate) in (SEPARATE, *bench.judgements)


CHOSEN = Candidate("vertical", (1, 1))


def test_no_time_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """What `auto` chooses is tried all the same."""
    monkeypatch.setattr("goptx.tuning.tune.auto_choices", lambda *_: [CHOSEN])
    clock = Clock()
    executor = Pretending()

    class Opening(Slow):
        def described(self) -> Any:
            clock.now += 100  # this time does not count
            return super().described()

    bench = Opening(clock, FAST)
    assert str(tuned(bench, budget=Budget(20, clock)).candidate) in FAST
    best = tuned(FakeBench(FAST), budget=Budget(1e-9), executor=executor)
    assert (best.candidate, executor.made) == (CHOSEN, [str(CHOSEN)])
    others = {status for name, status in statuses(best).items() if name != str(CHOSEN)}
    assert statuses(best)[str(CHOSEN)] == "timed" and others <= {"left out", "pruned"}


def test_enough_time_is_as_good_as_any() -> None:
    bench, best = within(1e6)
    assert statuses(best) == statuses(tuned(FakeBench(FAST)))
    assert str(best.candidate) == "weave"
    assert best.about["seconds"] == round(bench.clock.now, 1)


def test_time_that_ends_while_kernels_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("goptx.tuning.tune.auto_choices", lambda *_: [CHOSEN])
    clock = Clock()

    def made(job: Any) -> None:
        clock.now += 1

    best = tuned(FakeBench(FAST), budget=Budget(10, clock), executor=Pretending(made))
    assert [name for name, status in statuses(best).items() if status == "timed"] == [str(CHOSEN)]
    assert reason(best, "horizontal") == "there was no time left"


def test_some_time_is_reserved_for_comparing() -> None:
    clock = Clock()
    budget = Budget(10, clock)
    clock.now = 7
    assert (budget.left(), budget.left(reserved=True), budget.spent) == (1, 3, 7)
    clock.now = 9
    assert (budget.left(), budget.left(reserved=True)) == (0, 1)
    clock.now = 11
    assert budget.left(reserved=True) == 0
    budget.start()
    assert budget.left(reserved=True) == 10
    assert Budget(None, clock).left() > 1e6
    assert Judged() == Judged("", "")


@pytest.mark.parametrize(
    ("text", "seconds"), [("90s", 90), ("5m", 300), ("1.5h", 5400), ("30", 30), (30, 30), (0.5, 0.5), (None, None)]
)
def test_seconds(text: str | float | None, seconds: float | None) -> None:
    assert seconds_of(text) == seconds
    assert Budget.of(text).seconds == seconds


@pytest.mark.parametrize("text", ["0", 0, -1, "-5m", "5 days", "", "m", "1e3", float("nan"), float("inf"), True])
def test_what_is_not_a_time(text: str | float) -> None:
    with pytest.raises(InputError, match=r"is not a time above 0; write seconds or, for example, 90s, 5m, 1h\."):
        seconds_of(text)
