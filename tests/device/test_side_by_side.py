"""Kernels side by side are the branches of a CUDA graph, which a driver in Python records here."""

from types import SimpleNamespace
from typing import Any

import pytest

from goptx.device import cuda_graph
from goptx.device import side_by_side as module
from goptx.device.side_by_side import side_by_side


class Stream:
    def __init__(self, handle: int) -> None:
        self.handle = handle

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self.handle


class Driver:
    """journal: the calls. captured: the streams that are captured, with the nodes before their next work."""

    CUevent_flags = SimpleNamespace(CU_EVENT_DISABLE_TIMING=2)
    CUstreamCaptureMode = SimpleNamespace(CU_STREAM_CAPTURE_MODE_RELAXED=2)
    CUstreamCaptureStatus = SimpleNamespace(CU_STREAM_CAPTURE_STATUS_ACTIVE=1)

    def __init__(self) -> None:
        self.journal: list[Any] = []
        self.captured: dict[int, list[str]] = {}
        self.events: dict[int, list[str] | None] = {}
        self.made = 0

    def CUstream(self, handle: int) -> int:
        return handle

    def cuEventCreate(self, flags: int) -> tuple[int, int]:
        self.made += 1
        return 0, self.made

    def cuStreamIsCapturing(self, stream: int) -> tuple[int, int]:
        return 0, int(stream in self.captured)

    def cuStreamBeginCapture(self, stream: int, mode: int) -> tuple[int]:
        self.captured[stream] = []
        return (0,)

    def cuStreamEndCapture(self, stream: int) -> tuple[int, str]:
        self.journal.append(("graph", self.captured[stream]))
        self.captured.clear()
        return 0, "graph"

    def cuEventRecord(self, event: int, stream: int) -> tuple[int]:
        self.events[event] = list(self.captured[stream])
        return (0,)

    def cuStreamWaitEvent(self, stream: int, event: int, flags: int) -> tuple[int]:
        self.captured[stream] = [*self.captured.get(stream, []), *(self.events[event] or [])]
        return (0,)

    def cuStreamGetCaptureInfo(self, stream: int) -> tuple[Any, ...]:
        nodes = self.captured.get(stream)
        return (0, 1 if nodes is not None else 0, 0, "graph", nodes or [], None, len(nodes or []))

    def launched(self, stream: int, name: str) -> None:
        self.journal.append((name, stream, tuple(self.captured[stream])))
        self.captured[stream] = [name]

    def cuGraphKernelNodeGetParams(self, node: str) -> tuple[int, Any]:
        return 0, SimpleNamespace(kernelParams=None)

    def cuGraphInstantiate(self, graph: str, flags: int) -> tuple[int, str]:
        return 0, "executable"

    def cuGraphExecKernelNodeSetParams(self, executable: str, node: str, params: Any) -> tuple[int]:
        self.journal.append(("change", node, params.kernelParams))
        return (0,)

    def cuGraphLaunch(self, executable: str, stream: int) -> tuple[int]:
        self.journal.append(("launch", stream))
        return (0,)

    def cuGraphExecDestroy(self, executable: str) -> None: ...
    def cuGraphDestroy(self, graph: str) -> None: ...


class Launcher:
    def __init__(self, driver: Driver, name: str, takes: int) -> None:
        self.driver, self.name, self.takes = driver, name, takes

    def filled(self, contents: Any) -> Any:
        return list(contents)

    def __call__(self, stream: Stream, contents: Any) -> None:
        self.driver.launched(stream.handle, self.name)


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Driver:
    made, streams = Driver(), iter(range(101, 120))
    device = SimpleNamespace(create_stream=lambda: Stream(next(streams)), default_stream=Stream(1))
    monkeypatch.setattr(module, "bindings", lambda: made)
    monkeypatch.setattr(cuda_graph, "bindings", lambda: made)
    monkeypatch.setattr(module, "current_device", lambda: device)
    return made


def starter(driver: Driver, backwards: bool = False) -> Any:
    launchers: list[Any] = [Launcher(driver, "a", 2), Launcher(driver, "b", 1), Launcher(driver, "c", 0)]
    return side_by_side(launchers, backwards)


def test_a_graph_is_made_once_and_launched(driver: Driver) -> None:
    start = starter(driver)
    start(Stream(7), [b"1", b"2", b"3"])
    assert driver.journal == [("a", 101, ()), ("b", 102, ()), ("c", 103, ()), ("graph", ["a", "b", "c"]), ("launch", 7)]
    driver.journal.clear()
    start(Stream(7), [b"1", b"2", b"3"])
    start(None, [b"1", b"2", b"4"])
    start(Stream(8), [b"0", b"2", b"4"])
    changed = [("change", "b", [b"4"]), ("launch", 1), ("change", "a", [b"0", b"2"]), ("launch", 8)]
    assert driver.journal == [("launch", 7), *changed]


def test_the_last_one_first(driver: Driver) -> None:
    starter(driver, backwards=True)(Stream(7), [b"1", b"2", b"3"])
    assert [entry[0] for entry in driver.journal] == ["c", "b", "a", "graph", "launch"]


def test_branches_of_a_graph_that_is_captured(driver: Driver) -> None:
    """No graph within the graph: after what is there, and before what comes."""
    driver.captured[7] = ["before"]
    starter(driver)(Stream(7), [b"1", b"2", b"3"])
    assert driver.journal == [("a", 7, ("before",)), ("b", 102, ("before",)), ("c", 103, ("before",))]
    assert driver.captured[7] == ["a", "b", "c"]


def test_one_kernel_needs_no_graph(driver: Driver) -> None:
    only: Any = Launcher(driver, "a", 2)
    assert side_by_side([only]) is only
