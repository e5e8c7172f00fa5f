"""A folder of each test's own, and an empty memory."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from goptx.cache import settings, store


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where results are kept; it is not there yet."""
    found = tmp_path / "kept"
    monkeypatch.setenv(settings.FOLDER, str(found))
    monkeypatch.delenv(settings.SIZE)
    store.MEMORY.clear()
    yield found
    store.MEMORY.clear()
