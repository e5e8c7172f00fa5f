"""Jobs of random pairs in several child processes; one that hangs or ends holds up no other."""

import sys
from pathlib import Path
from typing import Any

import pytest
from random_kernels.stand_in import HANGS, serve
from random_kernels.trial import Data

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from pairs import children
from pairs.children import Children
from pairs.job import Job, Part

from goptx.launch.shape import Shape


def job(name: str) -> Job:
    return Job(name, "weave", Data([], [], {}), parts=[Part("first", bytes(200_000), (), Shape(1, 32))])


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 3])
def test_each_job_is_answered(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(children, "LIMIT", HANGS)
    kinds = ("right", "ends", "hangs", "right", "woven-hangs", "fails", "right")
    jobs = [job(f"{what} {i}") for i, what in enumerate(kinds)]
    jobs.append(Job("refused 0", "weave", Data([], [], {}), refused="a reason"))
    several = Children(count, ("a", "b"), serve)
    answers: dict[str, dict[str, Any]] = {one.name: answer for one, answer in several.answers(jobs)}
    assert set(answers) == {one.name for one in jobs}
    assert several.replaced == 4
    hang = {"problem": f"no answer within {HANGS} s: hangs", "hang": True}
    expected = {
        "ends": {"problem": "the child ended without an answer"},
        "hangs": hang | {"separate": True},
        "woven-hangs": hang,
        "fails": {"problem": "CUDAError: no"},
        "refused": {"refused": "a reason", "problem": ""},
    }
    for name, answer in answers.items():
        if name.startswith("right"):
            assert answer["device"] in ("a", "b")[:count]
        else:
            assert answer == expected[name.split()[0]]


def test_a_child_that_does_not_begin(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(RuntimeError, match="a child does not begin: the child ended"):
        list(Children(1, ("0",), no_function).answers([job("right 0")]))


no_function: Any = sys.exit  # ends the process
