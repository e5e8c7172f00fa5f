"""Tuning begins with what `auto` chooses, so that a short search ends with no less."""

from typing import Any, cast

import pytest
from tuning.fake_bench import ARGS, PLUS, SHAPES, FakeBench, Pretending, tuned

import goptx
from goptx.errors import InputError
from goptx.options import MeasuredStrategy
from goptx.strategies.candidate import Candidate
from goptx.tuning.measured import measured
from goptx.tuning.space import auto_choices as choices
from goptx.tuning.space.auto_choices import auto_choices, with_arguments

SPECIFICATIONS = [f"examples/kernels/{name}.toml" for name in ("harris", "stms")]


def test_what_auto_chooses() -> None:
    subject = measured([], spec=SPECIFICATIONS)
    by_auto = goptx.fuse(*subject.kernels, strategy="auto", shapes=subject.shapes).report.decision
    assert by_auto
    chosen = Candidate.from_dict(by_auto.taken).uncapped
    assert chosen.strategy != "separate"
    kernels, shapes, strategy = subject.kernels, subject.shapes, cast(MeasuredStrategy, chosen.strategy)
    assert chosen in auto_choices(
        kernels, shapes, "sm_90", [strategy], [with_arguments(None, subject.workload.arguments)]
    )
    assert auto_choices(kernels, shapes, "sm_90", [strategy], [None, None]) == [chosen]
    assert auto_choices(kernels, shapes, "sm_90", ["separate"], [None]) == []


def test_what_auto_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise InputError("no")

    monkeypatch.setattr(choices, "auto", refused)
    subject = measured([], spec=SPECIFICATIONS)
    assert auto_choices(subject.kernels, subject.shapes, "sm_90", ["weave"], [None]) == []


def test_arguments_that_are_known() -> None:
    assert with_arguments(None, [[1.0, 7], [9]]) == {"A": {"arguments": {1: 7}}, "B": {"arguments": {0: 9}}}
    own: Any = {"A": {"arguments": {0: 3}}, "B": {"live_ctas": 5}}
    assert with_arguments(own, [[1, 7], [9]]) == {**own, "B": {"live_ctas": 5, "arguments": {0: 9}}}
    assert own["B"] == {"live_ctas": 5}


def test_it_is_tried_first(monkeypatch: pytest.MonkeyPatch) -> None:
    unlikely = Candidate("weave", (1, 1)).having(slicing=77)
    monkeypatch.setattr("goptx.tuning.tune.auto_choices", lambda *_: [unlikely])
    executor, bench = Pretending(), FakeBench({str(unlikely): 0.5})
    best = tuned(bench, executor=executor)
    assert executor.made[0] == str(unlikely)
    assert best.candidate == unlikely


def test_another_failure_does_not_end_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise RuntimeError

    monkeypatch.setattr("goptx.tuning.tune.auto_choices", fails)
    assert tuned(FakeBench({"weave": 0.5})).candidate == Candidate("weave", (1, 1))


def test_one_kernel_has_no_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(choices, "auto", fails)
    best = goptx.tune(
        PLUS, shapes=SHAPES[:1], args={name: value for name, value in ARGS.items() if name.startswith("A")},
        benches=[FakeBench()], executor=Pretending(), progress=False,
    )  # fmt: skip
    assert best.table.trials
