"""The work launched on a stream within a context, as a CUDA graph whose nodes can be read and replaced.

The capture is a relaxed one: during it, frameworks may load kernels and allocate memory, which the stricter kinds
forbid. A wait for the stream, for one of its events or for the device invalidates the capture. Imports CUDA only inside
functions.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from goptx.device.load import bindings, current_device, must, stream_handle
from goptx.errors import DeviceError, InputError

Piece = tuple[int, int]  # the first address, and the number of bytes
EDGE_DATA = 8  # bytes of the driver's data of an edge, all zero for one that waits for the whole node


@dataclass(frozen=True, slots=True)
class KernelNode:
    """A launch of a kernel: the handles that may identify it, its shape, and the address of the driver's table of its
    parameters, 0 where the launch passed them otherwise. `plain`: it is not cooperative and sets no clusters of its
    own."""

    handles: tuple[int, ...]
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared: int
    table: int
    plain: bool

    def contents(self, sizes: Sequence[int]) -> list[bytes]:
        """The contents of the parameters, which have these sizes in bytes."""
        addresses = ctypes.cast(self.table, ctypes.POINTER(ctypes.c_void_p))
        return [ctypes.string_at(addresses[i] or 0, size) for i, size in enumerate(sizes)]


@dataclass(frozen=True, slots=True)
class Node:
    """A node of a graph. kind: such as "kernel", "memcpy", "memset", "host" or "empty"; name: of its kernel, else "";
    handle: the driver's. reads, writes: of a copy or a fill, the first address and the number of bytes of what it
    accesses, empty if that is not known."""

    handle: int
    kind: str
    name: str = ""
    kernel: KernelNode | None = None
    reads: tuple[Piece, ...] = ()
    writes: tuple[Piece, ...] = ()


class Capture:
    """Begins to capture a stream that is not the default one. Raises `InputError` where the stream is captured already,
    `DeviceError` without a GPU, and when the driver refuses it."""

    def __init__(self, stream: Any) -> None:
        current_device()
        self._driver = bindings()
        self._stream = self._driver.CUstream(stream_handle(stream))
        if self._is_capturing():
            raise InputError(
                "capture=True: the stream is being captured into a CUDA graph already; leave capture=True out, or end "
                "that capture first."
            )
        must(self._driver.cuStreamBeginCapture(self._stream, _relaxed()))

    def _is_capturing(self) -> bool:
        return bool(int(must(self._driver.cuStreamIsCapturing(self._stream))))

    def mark(self) -> int | None:
        """The handle of an empty node after all work launched so far and before all later work; None where the capture
        is not valid any more."""
        found = dependencies(self._stream)
        if found is None:
            return None
        graph, after = found
        node = must(self._driver.cuGraphAddEmptyNode(graph, after, len(after)))
        flags = self._driver.CUstreamUpdateCaptureDependencies_flags.CU_STREAM_SET_CAPTURE_DEPENDENCIES
        must(self._driver.cuStreamUpdateCaptureDependencies(self._stream, [node], None, 1, int(flags)))
        return int(node)

    def end(self) -> Graph | None:
        """The captured graph; None where the capture is not valid. Raises `InputError` where other streams take part in
        the capture that were not joined to it again."""
        failed, graph = self._driver.cuStreamEndCapture(self._stream)
        if failed == self._driver.CUresult.CUDA_ERROR_STREAM_CAPTURE_UNJOINED:
            raise InputError(
                "capture=True: another stream that waits for the region's stream was not joined to it again, and "
                "nothing was launched; let the region's stream wait for an event of that stream before the region ends."
            )
        return None if failed or not int(graph) else Graph(graph, self._stream)


class Graph:
    """A captured graph. `edges` are pairs of numbers of `nodes`; `partial` are those that do not wait for the whole
    node. `fixed`: no node may be removed, because the graph allocates or frees memory."""

    def __init__(self, graph: Any, stream: Any) -> None:
        self._driver, self._graph, self._stream = bindings(), graph, stream
        _, _, count = checked(self._driver.cuGraphGetNodes(graph, 0))
        self._handles = list(checked(self._driver.cuGraphGetNodes(graph, count))[1])[:count] if count else []
        self._now = list(self._handles)  # the current replacement of each
        self.nodes = [self._node(handle) for handle in self._handles]
        self.fixed = any(node.kind in ("mem_alloc", "mem_free") for node in self.nodes)

    def _node(self, handle: Any) -> Node:
        type_ = must(self._driver.cuGraphNodeGetType(handle))
        kind = type_.name.removeprefix("CU_GRAPH_NODE_TYPE_").lower()
        if kind in ("memset", "memcpy"):
            return Node(int(handle), kind, "", None, *self._accesses(handle, kind))
        if kind != "kernel":
            return Node(int(handle), kind)
        name, kernel = self._kernel(handle)
        return Node(int(handle), kind, name, kernel)

    def _accesses(self, handle: Any, kind: str) -> tuple[tuple[Piece, ...], tuple[Piece, ...]]:
        """What a copy or a fill reads and writes; nothing where that is not known."""
        driver = self._driver
        ask = driver.cuGraphMemsetNodeGetParams if kind == "memset" else driver.cuGraphMemcpyNodeGetParams
        failed, params = ask(handle)
        if failed:
            return (), ()
        if kind == "memset":
            size = params.pitch * (params.height - 1) + params.width * params.elementSize
            return (), ((int(params.dst), size),)
        types = driver.CUmemorytype
        read, written = (_copied(params, side, types) for side in ("src", "dst"))
        return ((read,), (written,)) if read and written else ((), ())

    def _kernel(self, handle: Any) -> tuple[str, KernelNode]:
        params = must(self._driver.cuGraphKernelNodeGetParams(handle))
        function = int(params.func)
        ask, of = (self._driver.cuFuncGetName, params.func) if function else (self._driver.cuKernelGetName, params.kern)
        failed, name = ask(of)
        return "" if failed else name.decode(), KernelNode(
            tuple(found for found in (function, int(params.kern)) if found),
            (params.gridDimX, params.gridDimY, params.gridDimZ),
            (params.blockDimX, params.blockDimY, params.blockDimZ),
            params.sharedMemBytes,
            int(params.kernelParams or 0),
            self._is_plain(handle),
        )

    def _is_plain(self, handle: Any) -> bool:
        names = self._driver.CUlaunchAttributeID
        ask = self._driver.cuGraphKernelNodeGetAttribute
        failed, cooperative = ask(handle, names.CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
        unknown, cluster = ask(handle, names.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
        return not failed and not unknown and not cooperative.cooperative and cluster.clusterDim.x <= 1

    @cached_property
    def _edges(self) -> list[tuple[int, int, bool]]:
        """The edges, each with whether it is partial."""
        number = {int(handle): i for i, handle in enumerate(self._handles)}
        return [
            (number[int(one)], number[int(other)], any(ctypes.string_at(of.getPtr(), EDGE_DATA)))
            for one, other, of in zip(*edges_of(self._graph), strict=True)
        ]

    @property
    def edges(self) -> list[tuple[int, int]]:
        return [(one, other) for one, other, _ in self._edges]

    @property
    def partial(self) -> list[tuple[int, int]]:
        return [(one, other) for one, other, partial in self._edges if partial]

    def replace(
        self, removed: Sequence[int], after: Sequence[int], before: Sequence[int], start: Callable[[], None]
    ) -> None:
        """Replaces the nodes `removed`, which are in order, by the work that `start` launches on the stream; `after`
        and `before` as in `Replacement`."""
        child = captured(self._stream, start)
        preceding = [self._now[removed[-1]]] if self.fixed else [self._now[node] for node in after]
        try:
            new = must(self._driver.cuGraphAddChildGraphNode(self._graph, preceding, len(preceding), child))
        finally:
            self._driver.cuGraphDestroy(child)
        following = [self._now[node] for node in before]
        if following:
            count = len(following)
            must(self._driver.cuGraphAddDependencies(self._graph, [new] * count, following, None, count))
        for node in removed:
            if not self.fixed:
                must(self._driver.cuGraphDestroyNode(self._handles[node]))
            self._now[node] = new

    def launch(self) -> None:
        """Launches the graph on the stream once; does not wait."""
        executable = must(self._driver.cuGraphInstantiate(self._graph, 0))
        try:
            must(self._driver.cuGraphLaunch(executable, self._stream))
        finally:
            self._driver.cuGraphExecDestroy(executable)  # after it has ended

    def close(self) -> None:
        self._driver.cuGraphDestroy(self._graph)


def edges_of(graph: Any) -> tuple[list[Any], list[Any], list[Any]]:
    """The edges of the driver's graph: the nodes at which they begin, those at which they end, and their data."""
    driver = bindings()
    *_, count = checked(driver.cuGraphGetEdges(graph, 0))
    if not count:
        return [], [], []
    _, ones, others, data, _ = checked(driver.cuGraphGetEdges(graph, count))
    return list(ones)[:count], list(others)[:count], list(data)[:count]


def _copied(params: Any, side: str, types: Any) -> Piece | None:
    """What a copy accesses at its source ("src") or its destination ("dst"); None for an array of the texture units."""
    of = {name: getattr(params, side + name) for name in ("MemoryType", "XInBytes", "Y", "Z", "Pitch", "Height")}
    if of["MemoryType"] in (types.CU_MEMORYTYPE_DEVICE, types.CU_MEMORYTYPE_UNIFIED):
        address = int(getattr(params, side + "Device"))
    elif of["MemoryType"] == types.CU_MEMORYTYPE_HOST:
        address = int(getattr(params, side + "Host"))
    else:
        return None
    rows = of["Height"] * of["Z"] + of["Y"], of["Height"] * max(params.Depth - 1, 0) + max(params.Height, 1) - 1
    first, last = (of["Pitch"] * row for row in rows)
    return address + first + of["XInBytes"], last + params.WidthInBytes


def captured(stream: Any, start: Callable[[], None]) -> Any:
    """The driver's graph of the work that `start` launches on the driver's stream; nothing is run. Raises
    `DeviceError`."""
    driver = bindings()
    must(driver.cuStreamBeginCapture(stream, _relaxed()))
    try:
        start()
    finally:
        answer = driver.cuStreamEndCapture(stream)
    return must(answer)


def dependencies(stream: Any) -> tuple[Any, list[Any]] | None:
    """The graph into which the driver's stream is captured, and the nodes on which the next launch will depend; None
    where the stream is not captured, or the capture is not valid."""
    made = bindings()
    failed, status, _, graph, after, _, count = made.cuStreamGetCaptureInfo(stream)
    if failed or status != made.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_ACTIVE:
        return None
    return graph, list(after or ())[:count]


def allocation(address: int) -> tuple[int, int] | None:
    """The first byte of the device memory allocation that contains this address, and the byte after its last; None if
    unknown: for example, arrays in memory that is mapped piece by piece may span several pieces."""
    made = bindings()
    failed, start, size = made.cuMemGetAddressRange(made.CUdeviceptr(address))
    if failed:
        return None
    kinds = made.CUpointer_attribute
    whole = (kinds.CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, kinds.CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE)
    for kind in whole:
        failed, value = made.cuPointerGetAttribute(kind, made.CUdeviceptr(address))
        if not failed and value is not None and int(value):
            return int(start), int(start) + int(size)
    return None


def _relaxed() -> Any:
    return bindings().CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED


def checked(answer: Any) -> Any:
    """The whole answer of a function of the driver, its status first. Raises `DeviceError` where that is an error."""
    if answer[0]:
        raise DeviceError(f"the driver answers {answer[0].name}")
    return answer
