"""Pairs that once failed, shrunken: each file of regressions/ names the failure, which may not occur again."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from random_kernels import case
from random_kernels.case import REGRESSIONS, read, regressions
from random_kernels.drawing import pairs
from random_kernels.pairs import run
from random_kernels.tree import Pair
from random_kernels.written import case_of


@pytest.mark.slow
@pytest.mark.parametrize("path", regressions(), ids=lambda path: path.stem)
def test_regression(path: Path) -> None:
    run(read(path))


def test_that_regressions_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(regressions()) == len(list(REGRESSIONS.iterdir()))
    (tmp_path / "one.ptx").touch()
    monkeypatch.setattr(case, "REGRESSIONS", tmp_path)
    assert regressions() == [tmp_path / "one.ptx"]


@given(pairs())
@settings(max_examples=5, database=None, derandomize=True, deadline=None, phases=[Phase.generate],
          suppress_health_check=list(HealthCheck))  # fmt: skip
def test_that_files_give_back_the_pair(tmp_path_factory: pytest.TempPathFactory, pair: Pair) -> None:
    """So that the text of a failure can be saved as a file."""
    original, _ = case_of(pair)
    path = tmp_path_factory.mktemp("regressions") / "pair.ptx"
    path.write_text(original.file("what goes wrong,\n\nin several lines"))
    assert read(path) == original
