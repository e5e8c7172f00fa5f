"""The state of a stream as reported by a fake driver."""

from types import SimpleNamespace
from typing import Any

import pytest

from goptx.device import cuda_graph, stream_watch
from goptx.device.stream_watch import IDLE, has_new_work, seen


class Driver:
    """Streams that are "idle", "busy", or captured after the node of some number."""

    CUresult = SimpleNamespace(CUDA_ERROR_NOT_READY=600)
    CUstreamCaptureStatus = SimpleNamespace(CU_STREAM_CAPTURE_STATUS_ACTIVE=1)

    def __init__(self) -> None:
        self.state: str | int = "idle"
        self.asked = 0
        self.failed = 0

    def CUstream(self, handle: int) -> int:
        return handle

    def cuStreamIsCapturing(self, stream: int) -> Any:
        return self.failed, int(isinstance(self.state, int))

    def cuStreamQuery(self, stream: int) -> Any:
        assert isinstance(self.state, str), "would invalidate the capture"
        self.asked += 1
        return (0 if self.state == "idle" else 600,)

    def cuStreamGetCaptureInfo(self, stream: int) -> Any:
        return 0, 1, 7, "graph", [self.state], [None], 1


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Driver:
    made = Driver()
    for module in (cuda_graph, stream_watch):
        monkeypatch.setattr(module, "bindings", lambda: made)
    return made


STREAM = SimpleNamespace(__cuda_stream__=lambda: (0, 42))


def test_a_stream_that_gets_work(driver: Driver) -> None:
    before = seen(STREAM)
    assert before == IDLE and not has_new_work(STREAM, before)
    driver.state = "busy"
    assert has_new_work(STREAM, before)
    assert seen(STREAM) is None and not has_new_work(STREAM, seen(STREAM))  # it was busy before


def test_a_stream_that_is_captured_elsewhere(driver: Driver) -> None:
    driver.state = 5
    before = seen(STREAM)
    assert before == (5,) and not has_new_work(STREAM, before)
    driver.state = 6
    assert has_new_work(STREAM, before) and not driver.asked
    driver.state = "idle"  # that capture has ended
    assert not has_new_work(STREAM, before)
    driver.state = 5
    assert not has_new_work(STREAM, IDLE)


def test_unknown_states(driver: Driver, monkeypatch: pytest.MonkeyPatch) -> None:
    for default in (None, SimpleNamespace(__cuda_stream__=(0, 1)), SimpleNamespace(__cuda_stream__=(0, 0))):
        assert seen(default) is None
    assert seen(object()) is None
    driver.failed = 1
    assert seen(STREAM) is None and not has_new_work(STREAM, IDLE)

    def missing() -> Any:
        raise ImportError("no cuda-python")

    monkeypatch.setattr(stream_watch, "bindings", missing)
    assert seen(STREAM) is None and not has_new_work(STREAM, None)
