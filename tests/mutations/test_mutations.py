"""The list of mutations is sound, and a few of them are made for real; `run.py` makes them all."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from mutations.every import MUTATIONS
from mutations.mutations import Mutation
from mutations.run import judge, table

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = (
    "a barrier under a branch that depends on the thread is presumed uniform",
    "two kernels use one barrier id",
)


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda m: m.rule)
def test_its_text_stands_once_in_its_file(mutation: Mutation) -> None:
    assert (ROOT / mutation.file).read_text().count(mutation.before) == 1
    assert mutation.before != mutation.after


def test_rules_are_named_once_and_are_many() -> None:
    assert len({m.rule for m in MUTATIONS}) == len(MUTATIONS) >= 15


@pytest.mark.slow
def test_every_named_test_is_there() -> None:
    tests = {m.test for m in MUTATIONS}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "--collect-only",
        "-m",
        "",
        "--all-cases",
        "-p",
        "no:cacheprovider",
        *sorted(tests),
    ]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert done.returncode == 0, done.stdout[-2000:]
    assert tests == {line for line in done.stdout.splitlines() if "::" in line}


@pytest.mark.slow
def test_some_are_caught_and_those_that_show_nothing_are_not() -> None:
    chosen = [m for m in MUTATIONS if m.rule in SAMPLE]
    assert len(chosen) == len(SAMPLE)
    one = chosen[0]
    harmless = replace(one, after=f"{one.before}  # nothing")
    broken = replace(one, after=one.before.replace("(free)", "(nothing)"))
    missing = replace(one, before="what stands nowhere")
    results = judge([*chosen, harmless, broken, missing])
    caught = tuple(f"caught: {failure}" for failure in ("AssertionError", "Failed: DID NOT RAISE"))
    assert all(r.startswith(caught) for r in results[: len(chosen)]), table(chosen, results[: len(chosen)])
    assert [r.split(":")[0] for r in results[len(chosen) :]] == ["SURVIVED", "SURVIVED", "NOT APPLIED"]
    assert "NameError" in results[-2]
