"""The tuned kernels of suite A can be made again, and the tables agree with the results."""

import json
import sys
from pathlib import Path

import pytest

import goptx
from goptx.device.assemble import find_ptxas

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

from suite_a import PAIRS, SHAPES, best, report  # noqa: E402
from suite_a.schemes import (  # noqa: E402
    PAIRED,
    SCHEMES,
    TUNED,
    Subject,
    made,
    measured_of,
    tasks_of,
    threshold_of_both,
)

RESULTS = ROOT / "benchmarks" / "results"


@pytest.mark.parametrize("shape", SHAPES)
def test_every_pair_is_tuned_as_it_is_now(shape: str) -> None:
    for pair in PAIRS:
        job = best.tuned(pair, shape).job()  # raises if a kernel has changed since
        assert [kernel.entry for kernel in job.kernels] == pair.split("+")


@pytest.mark.parametrize(
    ("pair", "shape"), [("harris+lud", "paper"), ("gelu+gelu", "natural"), ("micnd+sort", "paper")]
)
def test_what_was_found_is_made_again(pair: str, shape: str) -> None:
    (task,) = [task for task in tasks_of(Subject(pair, shape)) if task.scheme == TUNED]
    done = made(task)
    assert done.refused == ""
    assert [form.chosen for form in done.forms.values()] == [str(best.tuned(pair, shape).candidate)]


def test_a_pair_that_was_not_tuned() -> None:
    with pytest.raises(goptx.InputError, match=r"best.json has nothing of gelu\+scan in the paper shape; make it with"):
        best.tuned("gelu+scan", "paper")


def test_the_tables_are_those_of_the_results() -> None:
    for path in RESULTS.glob("*-h200-suite_a.json"):
        document = json.loads(path.read_text())
        assert report.table(document) == path.with_suffix(".md").read_text()


def test_a_scheme_without_a_time() -> None:
    """For example the paper's merge, where it hangs: no cell, and a mean over fewer pairs."""
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


ABLATION = ("merge", "merge, slicing", "merge, weaving", "merge, slicing, weaving")
PAPERS = ("paper's weave, safe merge", "paper's weave, slices joined", "paper's weave, one threshold", "paper's merge")


def test_only_some_schemes() -> None:
    subject = Subject("gelu+lud", "paper")
    assert [task.scheme for task in tasks_of(subject, ABLATION)] == list(ABLATION)
    assert [task.scheme for task in tasks_of(subject)] == [*PAIRED, TUNED]
    assert tasks_of(Subject("gelu", "paper"), ABLATION) == []
    assert {*ABLATION, *PAPERS} < {*SCHEMES}


@pytest.mark.slow
@pytest.mark.skipif(find_ptxas() is None, reason="needs ptxas")
def test_the_schemes_of_the_paper() -> None:
    """All schemes that the paper compares are made, each by its own code."""
    made_of = {task.scheme: made(task) for task in tasks_of(Subject("harris+lud", "paper"), (*ABLATION, *PAPERS))}
    assert not [done.refused for done in made_of.values() if done.refused]
    free = {scheme: next(iter(done.forms.values())).woven for scheme, done in made_of.items()}
    assert len({woven.ptx for scheme, woven in free.items() if scheme != "paper's weave, safe merge"}) == 7
    assert free["merge, slicing, weaving"].ptx == free["paper's weave, safe merge"].ptx
    found = measured_of(Subject("harris+lud", "paper"))
    assert free["paper's weave, one threshold"].report.slicing == threshold_of_both(found)
    assert all(form.common is not None for form in made_of["paper's merge"].forms.values())


def test_a_table_has_the_columns_that_were_run() -> None:
    schemes = {key: {"scheme": key} for key in ABLATION}
    row = {
        "name": "a+b",
        "right": True,
        "schemes": schemes,
        "ms": {"streams": [2.0] * 3, **{k: [1.0] * 3 for k in ABLATION}},
    }
    assert report.columns([row]) == ["graph", *ABLATION]
    facts = dict.fromkeys(("gpu", "date", "driver", "assembler", "commit", "command", "seconds"), "x")
    text = report.table({**facts, "pairs": {"paper": [row]}, "single": {}})
    assert f"| graph | {' | '.join(ABLATION)} | tuned is |" in text
    assert "| a+b | yes | 2.000 | - | 2.00 | 2.00 | 2.00 | 2.00 |  |" in text
    assert "`one threshold`: the mean block latency of both kernels together" in text
