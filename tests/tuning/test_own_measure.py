"""A caller's own candidates (`extra=`) and measure (`metric=`)."""

from pathlib import Path
from typing import Any

import pytest
from tuning.fake_bench import FakeBench, Pretending, statuses, tuned

from goptx import InputError
from goptx.strategies.candidate import Candidate
from goptx.tuning.metric import Measure, Timing

OWN = {"strategy": "weave", "factors": (2, 1), "slicing": 300}
NAME = "weave x2 x1 slicing=300"


def test_a_candidate_of_the_caller_is_tried_first_and_may_win() -> None:
    bench = FakeBench({NAME: 0.25, "weave": 0.5})
    best = tuned(bench, extra=[OWN], strategies=["vertical"])
    assert bench.judgements[0] == NAME
    assert (str(best.candidate), best.speedup) == (NAME, 4.0)
    assert NAME not in statuses(tuned(FakeBench({NAME: 0.25}), strategies=["vertical"]))


def test_a_register_cap_of_the_caller_is_tried_even_if_it_helps_no_occupancy() -> None:
    own = {"strategy": "vertical", "cap": 56}
    name = "vertical capped at 56"
    assert name not in statuses(tuned(FakeBench(), strategies=["vertical"]))
    best = tuned(FakeBench({name: 0.5}), extra=[own], strategies=["vertical"])
    assert (str(best.candidate), best.speedup) == (name, 2.0)


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        (OWN, "extra= takes a list of candidates, for example"),
        (
            ["weave"],
            r'extra\[0\] is not a table; give for example \{"strategy": "weave", "factors": \(2, 1\), "slicing": 300',
        ),
        ([OWN, {"strategy": "auto"}], r"extra\[1\]: strategy 'auto' cannot be tuned here; expected weave, vertical"),
        ([{"strategy": "coarsen"}], r"extra\[0\]: strategy 'coarsen' cannot be tuned here"),
        ([{"strategy": "vertical", "slicing": 9}], r"extra\[0\]: vertical has no option `slicing` to tune; it has div"),
        ([{"strategy": "weave", "same": ()}], r"extra\[0\]: weave has no option `same` to tune"),
        ([{"strategy": "weave", "slicing": {}}], r"extra\[0\]: `slicing` is not a number, a text or a list of these"),
        ([{"strategy": "weave", "factors": (1,)}], r"extra\[0\]: 1 factors for 2 kernels; give one for each kernel"),
        (
            [{"strategy": "weave", "factors": 2}],
            r"extra\[0\]: `factors` is not a list of numbers above 0; give for example \{",
        ),
        ([{"strategy": "weave", "cap": "x"}], r"extra\[0\]: `cap` is not a number up to 255"),
    ],
)
def test_what_is_no_candidate(extra: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        tuned(FakeBench(), extra=extra)


class Jittering(FakeBench):
    """The slowest run of `vertical` takes four times as long as the others."""

    def time(self, keys: Any, repeats: int, warmups: int = 1, launched: bool = False) -> Any:
        timed = super().time(keys, repeats, warmups, launched)
        for runs in (runs for key, runs in timed.ms.items() if key == "vertical"):
            runs[-1] *= 4
        return timed


def slowest(timing: Timing) -> float:
    return max(timing.ms)


def test_a_metric_decides() -> None:
    fast = {"vertical": 0.4, "weave": 0.5}
    usual, own = tuned(Jittering(fast)), tuned(Jittering(fast), metric=slowest)
    assert (str(usual.candidate), usual.speedup) == ("vertical", 2.5)
    assert (str(own.candidate), own.speedup) == ("weave", 2.0)
    trial = next(t for t in own.table.trials if str(t.candidate) == "vertical")
    assert trial.ms and trial.ms[0] == 0.4 and trial.score == (1.6, 1.0) and trial.speedup == 1.0 / 1.6


def test_a_metric_decides_about_the_unchanged_kernels_too() -> None:
    """By their registers nothing is known, so that a metric may compare them by a number of its own."""

    def registers(timing: Timing) -> float:
        return float(timing.registers or 30)

    best = tuned(FakeBench({"weave": 0.1}), metric=registers)  # all that is pretended has 32 registers
    assert (best.fused.strategy, best.speedup) == ("separate", 1.0)


@pytest.mark.parametrize("value", [0, -1.0, float("nan"), float("inf"), None, "1"])
def test_what_is_no_measure(value: Any) -> None:
    with pytest.raises(InputError, match=r"^metric= gives .* for separate; it has to give a number above 0\.$"):
        tuned(FakeBench(), metric=lambda _: value)


def test_records_of_another_metric_are_refused(tmp_path: Path) -> None:
    records = tmp_path / "records"
    first = tuned(Jittering({"vertical": 0.4, "weave": 0.5}), metric=slowest, records=records)
    again = Pretending()
    same = tuned(Jittering({"vertical": 0.4, "weave": 0.5}), metric=slowest, records=records, executor=again)
    assert (same.candidate, same.table.trials) == (first.candidate, first.table.trials)
    for metric in (None, lambda timing: min(timing.ms)):
        with pytest.raises(InputError, match="these are records of another run, with another metric;"):
            tuned(FakeBench(), metric=metric, records=records)


def test_identity_of_a_metric() -> None:
    def of(share: float) -> Measure:
        return Measure({0.5: lambda t: 0.5 * t.ms[0], 0.9: lambda t: 0.9 * t.ms[0]}[share])

    assert of(0.5).identity != of(0.9).identity
    assert of(0.5).identity == of(0.5).identity
    assert Measure().identity is None
    assert Measure()(Timing(str(Candidate("weave", (1, 1))), (3.0, 1.0, 2.0))) == 2.0
