"""The switches `--update-golden` and `--all-cases`, and the fixtures that compare with golden files: texts of
tests/golden/ and tables of docs/. No test gets results of another: the cache is off, except in the tests of the cache.

Slow tests that have many cases (all pairs of kernels in all ways, say) run a part of them, always the same; with
`--all-cases` they run all. Those marked `slow(all_cases=True)` always do."""

import gc
import os
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

os.environ["GOPTX_CACHE_SIZE"] = "0"  # also of the processes that tests start

FEW = 2  # cases of a slow test that always run; of more, one in PART does
PART = 10
GOLDEN = Path(__file__).parent / "golden"
DOCUMENTS = Path(__file__).parents[1] / "docs"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write what the tests see to tests/golden/ and docs/")
    parser.addoption("--all-cases", action="store_true", help="run all cases of slow tests that have many")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves cases of slow tests out. What is left depends on their names alone: every process chooses the same."""
    if config.getoption("--all-cases"):
        return
    cases = defaultdict(list)
    for item in items:
        mark = item.get_closest_marker("slow")
        if mark and not mark.kwargs.get("all_cases"):
            cases[item.nodeid.partition("[")[0]].append(item)
    left_out = set()
    for of_one in cases.values():
        of_one.sort(key=lambda item: zlib.crc32(item.nodeid.encode()))
        left_out.update(of_one[max(FEW, len(of_one) // PART) :])
    config.hook.pytest_deselected(items=[item for item in items if item in left_out])
    items[:] = [item for item in items if item not in left_out]


def pytest_collection() -> None:
    gc.disable()


def pytest_collection_finish() -> None:
    """Freezes the collected tests: the garbage collector need not search them again and again."""
    gc.freeze()
    gc.enable()


@pytest.fixture
def laws(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The laws of passes (goptx/weaving/invariants.py) are checked, unless the environment turns that off."""
    from goptx.weaving.invariants import VARIABLE, checked_passes

    on = os.environ.get(VARIABLE) != "0"
    monkeypatch.setenv(VARIABLE, str(int(on)))
    with checked_passes(on):
        yield


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """golden(name, text) fails unless tests/golden/NAME holds `text`; with --update-golden it writes it there."""

    def check(name: str, text: str) -> None:
        path = GOLDEN / name
        if request.config.getoption("--update-golden"):
            path.write_text(text, encoding="utf-8")
        assert path.exists(), f"{path} is missing; write it with --update-golden and read what it says"
        assert text == path.read_text(encoding="utf-8")

    return check


@pytest.fixture
def table(request: pytest.FixtureRequest) -> Callable[[str, Sequence[Sequence[str]]], str]:
    """table(name, rows) fails unless the first table of docs/NAME has those rows below its head; with --update-golden
    it writes them there. Gives the text after the table."""

    def check(name: str, rows: Sequence[Sequence[str]]) -> str:
        path = DOCUMENTS / name
        document = path.read_text(encoding="utf-8")
        rule = f"|{'---|' * len(rows[0])}"
        before, _, rest = document.partition(f"{rule}\n")
        after = rest[rest.index("\n## ") :]
        expected = "\n".join([f"{before}{rule}", *(f"| {' | '.join(row)} |" for row in rows), after])
        if request.config.getoption("--update-golden"):
            path.write_text(expected, encoding="utf-8")
        assert path.read_text(encoding="utf-8") == expected
        return after

    return check
