"""Starts independent kernels side by side: as the branches of a CUDA graph.

A graph is faster than streams that wait for events of each other: its branches begin and end together, without an event
that the device has to see first. It is made at the first launch, and a node gets other arguments when they have
changed. On a stream that is captured itself, the kernels become branches of that graph, and nothing but kernels stands
in it.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any

from goptx.device.cuda_graph import captured, dependencies
from goptx.device.launches.parameter_memory import ParameterMemory
from goptx.device.load import Launcher, Starter, bindings, current_device, in_turn, must


def side_by_side(launchers: Sequence[Launcher], backwards: bool = False) -> Starter:
    """Starts all after the earlier work of the stream, and before its later work; in order, or `backwards`."""
    return in_turn(launchers) if len(launchers) == 1 else _SideBySide(launchers, backwards)


class _SideBySide(Starter):
    ordered = False

    def __init__(self, launchers: Sequence[Launcher], backwards: bool) -> None:
        super().__init__(launchers)
        if backwards:
            self.order = self.order[::-1]
        self._own = _Own(len(launchers))

    def __call__(self, stream: Any, memory: ParameterMemory) -> None:
        driver, own = bindings(), self._own
        main = self.driver_stream(stream)
        if int(must(driver.cuStreamIsCapturing(main))):
            own.fork(main, self._parts(memory))
            return
        if own.graph is None:
            own.graph = own.branches(self._parts(memory), self.order)
        own.graph.launch(main, memory)

    def _parts(self, memory: ParameterMemory) -> list[tuple[Launcher, int]]:
        return [(self.launchers[i], memory.tables[i]) for i in self.order]


class _Own(threading.local):
    """Each thread has its own graph, streams and events, so that it neither changes the arguments of another thread's
    launch nor waits for its work."""

    def __init__(self, count: int) -> None:
        device, self._driver = current_device(), bindings()
        self._made = [device.create_stream() for _ in range(count)]
        self._streams = [self._driver.CUstream(int(side.handle)) for side in self._made]  # the first is only captured
        flags = self._driver.CUevent_flags.CU_EVENT_DISABLE_TIMING
        self._begin, *self._ends = [must(self._driver.cuEventCreate(flags)) for _ in range(count)]
        self.graph: _Branches | None = None

    def fork(self, main: Any, parts: Sequence[tuple[Launcher, int]]) -> list[Any]:
        """Launches the kernels on streams of their own that begin and end on `main`; gives the nodes of the graph into
        which it is captured. The first kernel is on `main` itself."""
        driver = self._driver
        must(driver.cuEventRecord(self._begin, main))
        nodes = []
        for k, (launcher, table) in enumerate(parts):
            there = self._streams[k] if k else main
            if k:
                must(driver.cuStreamWaitEvent(there, self._begin, 0))
            launcher.start(there, table)
            nodes.append(_last(there))
            if k:
                must(driver.cuEventRecord(self._ends[k - 1], there))
        for end in self._ends:
            must(driver.cuStreamWaitEvent(main, end, 0))
        return nodes

    def branches(self, parts: Sequence[tuple[Launcher, int]], order: Sequence[int]) -> _Branches:
        main, nodes = self._streams[0], list[Any]()
        graph = captured(main, lambda: nodes.extend(self.fork(main, parts)))
        return _Branches(graph, dict(zip(order, nodes, strict=True)))


class _Branches:
    """A graph with a node for each kernel, by the kernel's number."""

    def __init__(self, graph: Any, nodes: Mapping[int, Any]) -> None:
        self._driver = bindings()
        self._graph = graph
        self._nodes = {i: (node, must(self._driver.cuGraphKernelNodeGetParams(node))) for i, node in nodes.items()}
        self._contents = [b""] * len(nodes)
        self._executable = must(self._driver.cuGraphInstantiate(graph, 0))

    def launch(self, main: Any, memory: ParameterMemory) -> None:
        """Launches the graph with the parameters that the memory has now. Launches that have begun keep theirs."""
        for i, content in enumerate(memory.contents()):
            if content != self._contents[i]:
                node, params = self._nodes[i]
                params.kernelParams = memory.tables[i]
                must(self._driver.cuGraphExecKernelNodeSetParams(self._executable, node, params))
                self._contents[i] = content
        must(self._driver.cuGraphLaunch(self._executable, main))

    def __del__(self) -> None:
        if hasattr(self, "_executable"):
            self._driver.cuGraphExecDestroy(self._executable)
            self._driver.cuGraphDestroy(self._graph)


def _last(stream: Any) -> Any:
    """The node that was captured last on the stream."""
    found = dependencies(stream)
    return found[1][0] if found and found[1] else None
