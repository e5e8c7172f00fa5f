"""Pairs that once failed, shrunken: each file of kept/ says what went wrong, and may not go wrong again."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from random_kernels import case
from random_kernels.case import KEPT, kept, read
from random_kernels.drawing import pairs
from random_kernels.pairs import run
from random_kernels.tree import Pair
from random_kernels.written import case_of


@pytest.mark.parametrize("path", kept(), ids=lambda path: path.stem)
def test_kept(path: Path) -> None:
    run(read(path))


def test_that_kept_pairs_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(kept()) == len(list(KEPT.iterdir()))
    (tmp_path / "one.ptx").touch()
    monkeypatch.setattr(case, "KEPT", tmp_path)
    assert kept() == [tmp_path / "one.ptx"]


@given(pairs())
@settings(max_examples=5, database=None, derandomize=True, deadline=None, phases=[Phase.generate],
          suppress_health_check=list(HealthCheck))  # fmt: skip
def test_that_files_give_back_the_pair(tmp_path_factory: pytest.TempPathFactory, pair: Pair) -> None:
    """So that a failure's text can be kept as it is printed."""
    original, _ = case_of(pair)
    path = tmp_path_factory.mktemp("kept") / "pair.ptx"
    path.write_text(original.file("what goes wrong,\n\nin several lines"))
    assert read(path) == original
