"""What tuning found for suite A can be made again, and its results are what the tables say."""

import json
import sys
from pathlib import Path

import pytest

import goptx

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

from suite_a import PAIRS, SHAPES, best, report  # noqa: E402
from suite_a.schemes import TUNED, Subject, made, tasks_of  # noqa: E402

RESULTS = ROOT / "benchmarks" / "results"


@pytest.mark.parametrize("shape", SHAPES)
def test_every_pair_is_tuned_as_it_is_now(shape: str) -> None:
    for pair in PAIRS:
        job = best.tuned(pair, shape).job()  # raises where a kernel has changed since
        assert [kernel.entry for kernel in job.kernels] == pair.split("+")


@pytest.mark.parametrize(
    ("pair", "shape"), [("harris+lud", "paper"), ("gelu+gelu", "natural"), ("micnd+sort", "paper")]
)
def test_what_was_found_is_made_again(pair: str, shape: str) -> None:
    (task,) = [task for task in tasks_of(Subject(pair, shape)) if task.scheme == TUNED]
    done = made(task)
    assert done.refused == ""
    assert [form.said for form in done.forms.values()] == [str(best.tuned(pair, shape).way)]


def test_a_pair_that_was_not_tuned() -> None:
    with pytest.raises(goptx.InputError, match=r"best.json has nothing of gelu\+scan in the paper shape; make it with"):
        best.tuned("gelu+scan", "paper")


def test_the_tables_are_those_of_the_results() -> None:
    for path in RESULTS.glob("*-h200-suite_a.json"):
        document = json.loads(path.read_text())
        assert report.table(document) == path.with_suffix(".md").read_text()


def test_a_scheme_without_a_time() -> None:
    """Such as the paper's merge, where it hangs: no cell, and a mean over fewer pairs."""
    fine = {
        "name": "a+b",
        "right": True,
        "schemes": {"x": {"scheme": "x"}},
        "ms": {"streams": [2, 2, 2], "x": [1, 1, 1]},
    }
    hangs = {
        "name": "a+c",
        "right": True,
        "schemes": {"x": {"scheme": "x", "failed": "hangs"}},
        "ms": {"streams": [2, 2, 2]},
    }
    assert (report.speedup(fine, "x"), report.speedup(hangs, "x")) == (2.0, None)
    assert report.geomean([fine, hangs], "x") == "2.000 of 1" and report.geomean([hangs], "x") == "-"
