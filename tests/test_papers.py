"""docs/papers.md: each feature of the papers names files that exist, and a test or a result that tried it."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")
HEAD = "| feature | where | tried by | what is different, and why |"
LEAST = {"GoPTX": 18, "HFUSE": 9, "User-driven": 15, "Some Simple": 5}  # rows


def rows() -> Iterator[tuple[str, list[str]]]:
    """The work and the cells of each feature."""
    for section in PAGE.split("\n## ")[1:]:
        if HEAD in section:
            for line in section.split(HEAD)[1].strip().splitlines()[1:]:
                yield section.splitlines()[0], line.strip().strip("|").split(" | ")


def paths(cell: str) -> set[str]:
    """Files that are named, and results that are linked."""
    linked = re.findall(r"\]\(\.\./(benchmarks/results/[^)]+)\)", cell)
    return {*re.findall(r"`([\w./]+/[\w.]+)`", cell), *linked}


ROWS = list(rows())


def test_every_work_has_its_features() -> None:
    works = [work for work, _ in ROWS]
    assert {
        name: sum(work.startswith(name) for work in works) >= least for name, least in LEAST.items()
    } == dict.fromkeys(LEAST, True)


@pytest.mark.parametrize(("work", "cells"), ROWS, ids=[cells[0].strip()[:60] for _, cells in ROWS])
def test_a_feature(work: str, cells: list[str]) -> None:
    assert len(cells) == 4 and all(cell.strip() for cell in cells), work
    where, tried = paths(cells[1]), paths(cells[2])
    assert where and any(path.startswith(("tests/", "benchmarks/results/")) for path in tried)
    assert [path for path in sorted(where | tried) if not (ROOT / path).exists()] == []
