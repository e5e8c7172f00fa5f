"""An interrupted run is resumed from its records, and ends as if it had not been interrupted."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tuning.fake_bench import ARGS, PLUS, SHAPES, TIMES, AtOnce, FakeBench, Pretending, statuses, tuned

from goptx import InputError
from goptx.device.assemble import find_ptxas
from goptx.launch.shape import Shape
from goptx.measuring.bench.questions import Described, Judged
from goptx.strategies.candidate import Candidate
from goptx.time_budget import Budget
from goptx.tuning.best import Best
from goptx.tuning.making import Made
from goptx.tuning.records import Records
from goptx.tuning.trials import Trial
from goptx.tuning.tune import tune

FAST = {"weave": 0.3, "weave slicing=256": 0.25, "vertical": 0.4, "interleave": 0.5, "horizontal": 0.6}
needs_ptxas = pytest.mark.skipif(find_ptxas() is None, reason="needs ptxas")


class Stops(FakeBench):
    """A keyboard interrupt after so many kernels have been judged."""

    after = 0

    def judge(self, *args: Any) -> Any:
        if len(self.judgements) == self.after:
            raise KeyboardInterrupt
        return super().judge(*args)


def result(best: Best) -> tuple[Any, ...]:
    return best.candidate, best.speedup, best.fused.ptx, best.table.trials


def interrupted(records: Path, after: int, **how: Any) -> Stops:
    bench = Stops(FAST)
    bench.after = after
    with pytest.raises(KeyboardInterrupt):
        tuned(bench, records=records, **how)
    return bench


@pytest.mark.parametrize("after", [0, 1, 7, 36, 41])
def test_goes_on_where_it_was_interrupted(after: int, tmp_path: Path) -> None:
    whole = FakeBench(FAST)
    expected = result(tuned(whole))
    first = interrupted(tmp_path / "records", after)
    assert len(first.judgements) == after < len(whole.judgements)
    second = FakeBench(FAST)
    assert result(tuned(second, records=tmp_path / "records")) == expected
    anew = set(first.judgements) & set(second.judgements)
    finalists = [key for what, *keys in second.journal if what == "time" and len(keys) > 2 for key in keys]
    assert anew <= set(finalists)  # brought to the bench once more, to be compared
    new = [keys[1] for what, *keys in second.journal if what == "time" and len(keys) == 2]
    assert not set(new) & set(first.judgements)


@pytest.mark.slow
@needs_ptxas
@pytest.mark.parametrize("after", [3, 6])
def test_equal_code_is_known_from_the_records(after: int, tmp_path: Path) -> None:
    how = {"strategies": ["weave"], "shapes": [Shape(2, 64), Shape(2, 64)]}
    expected = result(tuned(FakeBench(FAST), executor=AtOnce(), **how))
    interrupted(tmp_path / "records", after, executor=AtOnce(), **how)
    assert result(tuned(FakeBench(FAST), executor=AtOnce(), records=tmp_path / "records", **how)) == expected


def test_a_finished_run_is_compared_once_more_and_nothing_else(tmp_path: Path) -> None:
    expected = result(tuned(FakeBench(FAST), records=tmp_path / "records"))
    bench, executor = FakeBench(FAST), Pretending()
    assert result(tuned(bench, records=tmp_path / "records", executor=executor)) == expected
    assert len(bench.judgements) == len(executor.made) < 17  # those that are timed again
    assert not any(len(keys) == 2 for what, *keys in bench.journal if what == "time")


def test_what_was_left_out_is_tried_when_it_goes_on(tmp_path: Path) -> None:
    tuned(FakeBench(FAST), records=tmp_path / "records", budget=Budget(1e-9))
    assert result(tuned(FakeBench(FAST), records=tmp_path / "records")) == result(tuned(FakeBench(FAST)))


def test_what_turns_out_wrong_when_it_is_brought_again(tmp_path: Path) -> None:
    tuned(FakeBench(FAST), records=tmp_path / "records")
    bench = FakeBench(FAST, judged={"weave slicing=256": Judged(wrong="A:1 differs")})
    with pytest.warns(UserWarning, match="weave slicing=256: A:1 differs; please report it"):
        best = tuned(bench, records=tmp_path / "records")
    assert (str(best.candidate), statuses(best)["weave slicing=256"]) == ("weave", "wrong")


def test_what_cannot_be_made_again(tmp_path: Path) -> None:
    tuned(FakeBench(FAST), records=tmp_path / "records")

    def spoilt(job: Any) -> None:
        if job.candidate.option("slicing") == 256:
            raise MemoryError

    best = tuned(FakeBench(FAST), records=tmp_path / "records", executor=Pretending(spoilt))
    assert (str(best.candidate), statuses(best)["weave slicing=256"]) == ("weave", "failed")
    assert "it could not be made again" in str(best.table)


def test_a_line_that_was_being_written_does_not_count(tmp_path: Path) -> None:
    path = tmp_path / "records"
    interrupted(path, 7)
    whole = path.read_text()
    path.write_text(whole + whole.splitlines()[-1][:40])
    assert result(tuned(FakeBench(FAST), records=path)) == result(tuned(FakeBench(FAST)))
    assert path.read_text().startswith(whole)
    assert all(isinstance(json.loads(line), dict) for line in path.read_text().splitlines())


CHANGED: dict[str, tuple[dict[str, Any], str]] = {
    "seed": ({"seed": 1}, "another seed;"),
    "shapes": ({"shapes": [SHAPES[0], Shape(2, 64)]}, "another shapes;"),
    "arguments": ({"args": {**ARGS, "A:2": "u32:4"}}, "another arguments;"),
    "strategies": ({"strategies": ["weave"]}, "another strategies;"),
    "tolerance": ({"tolerance": 0.5}, "another tolerance;"),
    "architecture": ({"arch": "sm_80"}, "another arch"),
}


@pytest.mark.parametrize("what", CHANGED)
def test_records_of_another_run(what: str, tmp_path: Path) -> None:
    how, message = CHANGED[what]
    interrupted(tmp_path / "records", 2)
    before = (tmp_path / "records").read_bytes()
    with pytest.raises(InputError, match=f"these are records of another run, with {message}"):
        tuned(FakeBench(FAST), records=tmp_path / "records", **how)
    assert (tmp_path / "records").read_bytes() == before


def test_records_of_other_kernels_or_of_another_device(tmp_path: Path) -> None:
    interrupted(tmp_path / "records", 2)
    how: dict[str, Any] = {"shapes": SHAPES, "args": ARGS, "progress": False, "records": tmp_path / "records"}
    with pytest.raises(InputError, match=r"with another kernels; give another file \(records=, --records\), or delete"):
        tune(PLUS, TIMES.replace("mul.lo", "add"), benches=[FakeBench()], executor=Pretending(), **how)
    other = FakeBench(described_as=Described("Other", "sm_90", "581.0"))
    with pytest.raises(InputError, match="with another gpu, driver;"):
        tuned(other, records=tmp_path / "records")


@pytest.mark.parametrize("content", [b"trials\n", b"\xff\xfe\n", b"[1]\n[2]\n", b"no end of a line", b"3\n"])
def test_a_file_that_is_something_else(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "records"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"records: these are (not records of a run|records of another run)"):
        tuned(FakeBench(FAST), records=path)
    assert path.read_bytes() == content


def test_a_path_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot be used for the records of a run \(No such file or directory\)"):
        tuned(FakeBench(), records=tmp_path / "none" / "records")
    with pytest.raises(InputError, match="cannot be used for the records of a run"):
        tuned(FakeBench(), records=tmp_path)


def test_an_empty_file_is_a_new_one(tmp_path: Path) -> None:
    (tmp_path / "records").touch()
    tuned(FakeBench(FAST), records=tmp_path / "records")
    assert (tmp_path / "records").stat().st_size > 0


def test_trials_are_recorded_unchanged(tmp_path: Path) -> None:
    candidate = Candidate("horizontal", (2, 1), 40).having(partition=(128, 256), slicing=None)
    trials = [
        Trial(candidate, "timed", "", 40, 0, 0.5, (1.0, 0.5, 2.0), 3.0, 5, "A:1 differs", "c0de"),
        Trial(candidate.uncapped, "refused", "a line\nand another: \u2028 \u00e9"),
    ]
    records = Records({"seed": 0}, tmp_path / "records")
    for trial in trials:
        records.add(trial)
    again = Records({"seed": 0}, tmp_path / "records")
    assert again.all() == trials
    assert not again.lack(candidate)
    records.add(trials[0].failed("left out", "late"))
    assert Records({"seed": 0}, tmp_path / "records").lack(candidate)


def test_a_candidate_of_which_some_caps_are_known(tmp_path: Path) -> None:
    """Interrupted between the trials of one candidate: what was judged is not judged again."""

    class Capped(Pretending):
        def done(self, make: Any, job: Any) -> Made:
            made = super().done(make, job)
            capped = (
                [Trial(replace(job.candidate, cap=cap), "timed") for cap in (32, 24)]
                if str(job.candidate) == "weave"
                else []
            )
            return Made((*made.trials, *capped), made.woven)

    def stop(key: str) -> None:
        if key == "weave capped at 32":
            raise KeyboardInterrupt

    how = {"executor": Capped(), "strategies": ["weave"]}
    with pytest.raises(KeyboardInterrupt):
        tuned(FakeBench({}, asked=stop), records=tmp_path / "records", **how)
    bench = FakeBench()
    tuned(bench, records=tmp_path / "records", **how)
    new = [keys[1] for what, *keys in bench.journal if what == "time" and len(keys) == 2]
    assert "weave" in new and "weave capped at 32" in new and "weave capped at 24" not in new
