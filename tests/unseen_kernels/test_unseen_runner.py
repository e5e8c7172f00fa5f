"""The runner of benchmarks/unseen without a GPU: the emulator judges and times; estimates are compared with times."""

from __future__ import annotations

import json
import os
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tuning.emulating_bench import EmulatingBench
from tuning.fake_bench import FakeBench

from goptx.device.assemble import find_ptxas
from goptx.device.child_process import Lost
from goptx.measuring.bench.baselines import GRAPH, SEPARATE, STREAMS, WAYS
from goptx.measuring.bench.questions import Failed

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from unseen import HELD_OUT, SECOND, runs
from unseen import __main__ as program
from unseen.agreement import baseline, estimates, rank_correlation, ranks, signs, speedup
from unseen.issuing import issued_table, most, ratio
from unseen.makers import makers
from unseen.making import AUTO, TUNED, WEAVE, Made, Subject, issued, made, workload
from unseen.suggesting import common, suggested, suggested_table
from unseen.table import table

needs_ptxas = pytest.mark.skipif(find_ptxas() is None, reason="needs ptxas")
GPU = {"gpu": "Imaginary", "gpu_short": "imaginary", "driver": "1", "commit": "abc"}


class Closing(EmulatingBench):
    def close(self) -> None:
        pass


def ended() -> None:
    os._exit(1)


def doubled(number: int) -> int:
    if number < 0:
        raise ValueError(f"{number} is below 0")
    return 2 * number


# Processes that make


@pytest.mark.slow
def test_processes_call_functions() -> None:
    with makers(2) as there:
        assert [there.submit(doubled, n).result() for n in range(3)] == [0, 2, 4]
        with pytest.raises(RuntimeError, match="ValueError: -1 is below 0"):
            there.submit(doubled, -1).result()


@pytest.mark.slow
def test_a_process_that_hangs_or_ends_is_replaced() -> None:
    with makers(1, limit=8) as there:
        assert there.submit(doubled, 1).result() == 2
        with pytest.raises(Lost, match="it hangs"):
            there.submit(time.sleep, 60).result()
        with pytest.raises(Lost, match="ended without an answer"):
            there.submit(ended).result()
        assert there.submit(doubled, 1).result() == 2


# Rows


@pytest.mark.slow
@needs_ptxas
def test_a_pair_is_measured_and_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then a run that goes on with the file measures nothing again, and one at another commit refuses it."""
    monkeypatch.setattr(program, "environment", lambda commit: {**GPU, "commit": commit or "abc"})
    monkeypatch.setattr(program, "Bench", lambda number: Closing())
    arguments = ["unseen", "--pairs", "gelu+lud", "--small", "--workers", "1", "-o", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", arguments)
    assert program.main() == 0
    (path,) = tmp_path.glob("*-imaginary-unseen.json")
    document = json.loads(path.read_text())
    (row,) = document["rows"]
    assert (row["group"], row["name"], row["right"], [*row["ways"]]) == (SECOND, "gelu+lud", True, [WEAVE, AUTO])
    assert all(len(row["ms"][key]) == runs.REPEATS for key in (*WAYS, WEAVE, AUTO))
    assert row["ways"][WEAVE]["strategy"] == "weave" and row["ways"][WEAVE]["registers"] > 0
    assert path.with_suffix(".md").read_text() == table(document)
    monkeypatch.setattr(sys, "argv", [*arguments, "--resume", str(path)])
    monkeypatch.setattr(runs, "measured_row", lambda *_: pytest.fail("it was measured again"))
    assert program.main() == 0
    monkeypatch.setattr(sys, "argv", [*arguments, "--resume", str(path), "--commit", "def"])
    assert program.main() == 2


@pytest.mark.slow
@needs_ptxas
def test_no_pair_is_begun_after_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    left = iter([True, False])
    subjects = [Subject(SECOND, pair, small=True) for pair in ("gelu+lud", "gelu+sort")]
    with makers(1) as there:
        found = list(runs.rows(subjects, Closing(), there, 0, lambda: next(left)))
    assert [row["name"] for row in found] == ["gelu+lud"]


def test_what_is_wrong_or_refused_is_not_timed() -> None:
    subject = Subject(SECOND, "gelu+lud", small=True)
    weave = made(subject, WEAVE, assembled=False)
    refused = Made(AUTO, facts={"refused": "no such kernel"})
    bench = FakeBench({STREAMS: 2.0, SEPARATE: 2.5, WEAVE: 1.0}, judged={TUNED: Failed("it hangs")})
    tuned = Made(TUNED, weave.woven)
    row = runs.measured_row(bench, workload(subject), [weave, refused, tuned])
    assert not row["right"] and row["ways"][TUNED] == {"failed": "it hangs"}
    assert {*row["ms"]} == {*WAYS, WEAVE}
    assert (baseline(row), speedup(row, WEAVE), speedup(row, AUTO)) == (GRAPH, 2.0, None)


# Instructions


def test_issued_instructions_over_those_of_the_kernels_alone() -> None:
    found = issued(Subject(SECOND, "harris+stms", small=True), WEAVE)
    assert len(found["alone"]) == 2 and 0.8 * sum(found["alone"]) < found["fused"]
    row = {"name": "harris+stms", "ways": {WEAVE: found, AUTO: {"refused": "no | such"}}}
    assert most([row]) == ratio(found)
    assert most([{"ways": {WEAVE: {"failed": "hangs"}}}]) == float("inf")
    text = issued_table({"rows": [row], "date": "d", "commit": "c", "command": "x"})
    assert (
        f"| harris+stms | {sum(found['alone'])} | {ratio(found):.2f} ({ratio(found, 'ptx_'):.2f}) | no / such |  |"
        in text
    )


# Pairs of a command line


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("all", {"second": 28, "fitted": 30, "held_out": 30, "later": 60, "newest": 60}),
        ("newest", {"newest": 60}),
        ("later,gelu+lud", {"second": 1, "later": 60}),
        ("newest:advect_midpoint+lz_decode", {"newest": 1}),
        ("nothing", {}),
    ],
)
def test_pairs_by_group_and_by_name(wanted: str, found: dict[str, int]) -> None:
    assert Counter(subject.group for subject in program._subjects(wanted, small=True)) == found


# Estimates against measurements


def test_ranks() -> None:
    assert ranks([3.0, 1.0, 2.0]) == [3, 1, 2]
    assert ranks([1.0, 2.0, 2.0, 0.5]) == [2, 3.5, 3.5, 1]
    assert rank_correlation([(1, 10), (2, 100), (3, 1000)]) == pytest.approx(1)
    assert rank_correlation([(1, 3), (2, 2), (3, 1)]) == pytest.approx(-1)
    assert rank_correlation([(1, 3), (2, 2)]) is None
    assert rank_correlation([(1, 1), (1, 2), (1, 3)]) is None


def test_signs_of_speedups_that_are_not_near_to_1() -> None:
    assert signs([(1.2, 1.1), (0.9, 0.8), (1.1, 0.9), (0.95, 1.3), (2.0, 1.02), (0.5, 0.98)]) == (2, 1, 1)


def row_of(group: str, name: str, weave: float, estimate: float | None) -> dict[str, Any]:
    ms = {STREAMS: [2.0] * 3, SEPARATE: [2.2] * 3, WEAVE: [2.0 / weave] * 3}
    ways = {WEAVE: {"strategy": "weave", "estimate": estimate}}
    return {"group": group, "name": name, "right": True, "ways": ways, "ms": ms, "seconds": 1}


def test_the_table_has_the_samples_side_by_side() -> None:
    rows = [row_of("fitted", f"a+{i}", 1 + i / 10, 1 + i / 5) for i in range(1, 4)]
    rows += [row_of("held_out", "b+c", 0.5, 1.2), row_of("held_out", "b+d", 2.0, None)]
    without = table({**GPU, "date": "d", "command": "x", "rows": rows})
    assert "(in sample) |" in without and "real kernels, later" not in without and "newest (" not in without
    rows += [row_of("later", "g+h", 1.5, 1.4), row_of("newest", "k+l", 1.25, 1.2)]
    rows.append({"group": "held_out", "name": "e+f", "right": False, "ways": {}, "problem": "no | device"})
    text = table({**GPU, "date": "d", "command": "x", "rows": rows})
    fitted = "| real kernels, fitted (in sample) | weave |"
    held_out = "| real kernels, held out (out of sample) | weave |"
    assert f"{fitted} 3 of 3 | 1.10 | 1.197 | 1.10 | 1.197 | 3 |  |" in text
    assert f"{held_out} 2 of 3 | 0.50 | 1.000 | 0.50 | 1.000 | 2 | 0.80 |" in text
    assert f"{fitted} 3 | 1.00 | 3 of 3 (100%) | 0 | 0 |" in text
    assert f"{held_out} 1 | - | 0 of 1 (0%) | 1 | 0 |" in text
    assert "| real kernels, later (in sample) | weave | 1 of 1 | 1.50 | 1.500 | 1.50 | 1.500 | 1 |  |" in text
    assert "## real kernels, later (in sample)" in text and "| g+h | yes |" in text
    assert "| real kernels, newest (in sample) | weave | 1 of 1 | 1.25 | 1.250 | 1.25 | 1.250 | 1 |  |" in text
    assert "## real kernels, newest (in sample)" in text and "| k+l | yes |" in text
    assert "| b+c | yes | 2.000 | streams | 0.50, 1.20 |" in text and "| e+f | NO | no / device |" in text
    assert estimates(rows[:1], WEAVE)[0] == pytest.approx((1.2, 1.1))


# Tuning


@pytest.mark.slow
@needs_ptxas
def test_what_tuning_finds_is_compared_and_timed_beside_the_defaults() -> None:
    bench = FakeBench({STREAMS: 2.0, SEPARATE: 2.5}, otherwise=lambda _: 1.5)
    with makers(1) as there:
        (row,) = runs.rows([Subject(SECOND, "harris+stms")], bench, there, 0.5, lambda: True)
    assert [*row["ways"]] == [WEAVE, AUTO, TUNED] and row["right"]
    assert row["ways"][TUNED]["chosen"] and speedup(row, TUNED) == pytest.approx(2 / 1.5)


def test_suggestions_against_what_was_measured() -> None:
    """Of three rows two are best by both; a pair that was not timed is left out."""
    rows = [{"name": name, "suggested": s, "gain": g} for name, s, g in (("a", 3, 1), ("b", 2, 3), ("c", 1, 2))]
    many = [{"name": str(n), "suggested": -n, "gain": -n} for n in range(20)]
    assert common(rows) == (3, 3)
    assert common([*rows, *many]) == (20, 20)
    assert common([*many, {"name": "z", "suggested": 9, "gain": -99}]) == (19, 20)
    timed = {"separate": [2.0], "weave": [1.0], "auto": [4.0]}
    row = {"group": HELD_OUT, "name": "adam+softmax", "ways": {"weave": {}, "auto": {}}}
    (found,) = suggested([{**row, "ms": timed}, row])
    assert (found["name"], found["gain"]) == ("adam+softmax", 2.0) and found["suggested"] > 0
    text = suggested_table({"rows": [found], "date": "d", "commit": "c", "command": "x", "gpu": "G", "measured": "f"})
    assert (
        "| held_out | 1 | 1 | 1 | - |" in text
        and "| later |" not in text
        and "| newest |" not in text
        and "| adam+softmax |" in text
    )
