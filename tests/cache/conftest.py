"""A separate folder for each test, and an empty memory."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from goptx.cache import settings, store


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder for results; it does not exist yet."""
    found = tmp_path / "cached"
    monkeypatch.setenv(settings.FOLDER, str(found))
    monkeypatch.delenv(settings.SIZE)
    store.MEMORY.clear()
    yield found
    store.MEMORY.clear()
