"""Starts independent kernels side by side: as the branches of a CUDA graph.

A graph is faster than streams that wait for events of each other: its branches begin and end together, without an event
that the device has to see first. It is made at the first launch, and its nodes get other arguments as they come. On a
stream that is captured itself, the kernels become branches of that graph, and nothing but kernels stands in it.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any

from goptx.device.cuda_graph import dependencies
from goptx.device.load import Launcher, Starter, bindings, current_device, in_turn, must, stream_handle


def side_by_side(launchers: Sequence[Launcher], backwards: bool = False) -> Starter:
    """Starts all after the earlier work of the stream, and before its later work; in order, or `backwards`. Each
    launcher takes its own part of the contents, in order."""
    return in_turn(launchers) if len(launchers) == 1 else _SideBySide(launchers, backwards)


class _SideBySide(threading.local):
    """Each thread has its own graph, streams and events, so that it neither changes the arguments of another thread's
    launch nor waits for its work."""

    def __init__(self, launchers: Sequence[Launcher], backwards: bool) -> None:
        device, driver = current_device(), bindings()
        ends = [0, *accumulate(launcher.takes for launcher in launchers)]
        parts = [(launcher, slice(*at)) for launcher, at in zip(launchers, pairwise(ends), strict=True)]
        self._parts = parts[::-1] if backwards else parts
        self._streams = [device.create_stream() for _ in launchers]  # the first one is only captured
        flags = driver.CUevent_flags.CU_EVENT_DISABLE_TIMING
        self._begin, *self._ends = [must(driver.cuEventCreate(flags)) for _ in launchers]
        self._default = int(device.default_stream.handle)
        self._driver = driver
        self._graph: _Branches | None = None

    def __call__(self, stream: Any, contents: Sequence[bytes]) -> None:
        driver = self._driver
        main = driver.CUstream(self._default if stream is None else stream_handle(stream))
        own = [contents[part] for _, part in self._parts]
        if int(must(driver.cuStreamIsCapturing(main))):
            self._fork(stream, main, own)
            return
        if self._graph is None:
            self._graph = self._captured(own)
        self._graph.launch(main, own)

    def _fork(self, stream: Any, main: Any, contents: Sequence[Sequence[bytes]]) -> list[Any]:
        """Launches the kernels on streams of their own that begin and end on `main`; gives the nodes of the graph into
        which it is captured. The first kernel is on `main` itself."""
        driver = self._driver
        must(driver.cuEventRecord(self._begin, main))
        nodes = []
        for k, ((launcher, _), own) in enumerate(zip(self._parts, contents, strict=True)):
            side = self._streams[k] if k else stream
            there = driver.CUstream(int(side.handle)) if k else main
            if k:
                must(driver.cuStreamWaitEvent(there, self._begin, 0))
            launcher(side, own)
            nodes.append(_last(there))
            if k:
                must(driver.cuEventRecord(self._ends[k - 1], there))
        for end in self._ends:
            must(driver.cuStreamWaitEvent(main, end, 0))
        return nodes

    def _captured(self, contents: Sequence[Sequence[bytes]]) -> _Branches:
        driver, stream = self._driver, self._streams[0]
        main = driver.CUstream(int(stream.handle))
        must(driver.cuStreamBeginCapture(main, driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED))
        try:
            nodes = self._fork(stream, main, contents)
        finally:
            answer = driver.cuStreamEndCapture(main)
        return _Branches(must(answer), nodes, [launcher for launcher, _ in self._parts], contents)


class _Branches:
    """A graph with a node for each launcher, and the contents of the parameters that each node has now."""

    def __init__(
        self, graph: Any, nodes: Sequence[Any], launchers: Sequence[Launcher], contents: Sequence[Sequence[bytes]]
    ) -> None:
        self._driver = bindings()
        self._graph, self._launchers, self._nodes = graph, launchers, nodes
        self._params = [must(self._driver.cuGraphKernelNodeGetParams(node)) for node in nodes]
        self._contents = list(contents)
        self._executable = must(self._driver.cuGraphInstantiate(graph, 0))

    def launch(self, main: Any, contents: Sequence[Sequence[bytes]]) -> None:
        for k, own in enumerate(contents):
            if own != self._contents[k]:
                self._change(k, own)
        must(self._driver.cuGraphLaunch(self._executable, main))

    def _change(self, k: int, contents: Sequence[bytes]) -> None:
        """Gives a node other arguments. Launches of the graph that have begun keep theirs."""
        params = self._params[k]
        params.kernelParams = self._launchers[k].filled(contents)
        must(self._driver.cuGraphExecKernelNodeSetParams(self._executable, self._nodes[k], params))
        self._contents[k] = contents

    def __del__(self) -> None:
        if hasattr(self, "_executable"):
            self._driver.cuGraphExecDestroy(self._executable)
            self._driver.cuGraphDestroy(self._graph)


def _last(stream: Any) -> Any:
    """The node that was captured last on the stream."""
    found = dependencies(stream)
    return found[1][0] if found and found[1] else None
