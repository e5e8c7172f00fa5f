"""The fixture `device`. Streams are made up, so no driver is asked about them."""

import pytest
from region.emulated import device

from goptx.device import stream_watch

__all__ = ["device"]


@pytest.fixture(autouse=True)
def no_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream_watch, "seen", lambda stream: None)
