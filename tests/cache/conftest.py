"""A folder of each test's own, an empty memory, and a count of what was really woven."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from goptx.cache import settings, store
from goptx.weaving.link import link as linking


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where results are kept; it is not there yet."""
    found = tmp_path / "kept"
    monkeypatch.setenv(settings.FOLDER, str(found))
    monkeypatch.delenv(settings.SIZE)
    store.MEMORY.clear()
    yield found
    store.MEMORY.clear()


@pytest.fixture
def linked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """One entry for each time that the passes were run."""
    runs: list[int] = []
    real = linking.link

    def link(*args: Any, **kwargs: Any) -> Any:
        runs.append(1)
        return real(*args, **kwargs)

    monkeypatch.setattr("goptx.weaving.pipeline.link", link)
    return runs
