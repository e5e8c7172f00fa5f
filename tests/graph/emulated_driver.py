"""A driver whose graphs run on the emulator: for tests of rewritten graphs without a GPU."""

import ctypes
from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import goptx
from goptx.device import cuda_graph, repeating
from goptx.device.graphs import program_graph, replayed, rewritten_graph
from goptx.device.graphs.rewritten_graph import AddedKernel
from goptx.graph.graph_description import Allocation, Graph, GraphNode, sha_of
from goptx.graph.running import graph_search, graph_trial, launchable_graph
from goptx.ptx.parse import parse
from goptx.sources.collecting import Collected
from goptx.sources.kernel_text import choose_entry

KINDS = ("KERNEL", "MEMCPY", "MEMSET", "EMPTY")
INVALID = 1


class Code(int):
    """The driver's answers."""

    name = "CUDA_ERROR_INVALID_VALUE"


@dataclass
class Made:
    """A graph: its nodes by handle, its edges, and for a copy the nodes of which its own were made."""

    nodes: dict[int, Any] = field(default_factory=dict)
    edges: set[tuple[int, int]] = field(default_factory=set)
    copies: dict[int, int] = field(default_factory=dict)


class EmulatedDriver:
    """memory: the contents of allocations by their addresses. kernels: text and entry by handle. spoil: what is done to
    memory after each launch of a graph. milliseconds: of a launch of a graph, from its nodes; again: of a launch right
    after one of the same graph, None if as long."""

    CUgraph = CUgraphNode = CUfunction = CUkernel = CUstream = CUdeviceptr = CUgraphExec = staticmethod(int)
    CUresult = SimpleNamespace(CUDA_ERROR_INVALID_VALUE=INVALID)
    CUlaunchAttributeID = SimpleNamespace(
        CU_LAUNCH_ATTRIBUTE_COOPERATIVE="cooperative", CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION="cluster"
    )
    CUpointer_attribute = SimpleNamespace(
        CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL="device", CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE="legacy",
        CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE="pool",
    )  # fmt: skip
    CUevent_flags = SimpleNamespace(CU_EVENT_DEFAULT=0)

    def __init__(self) -> None:
        self.memory: dict[int, Any] = {}
        self.kernels: dict[int, tuple[str, str]] = {}
        self.graphs: dict[int, Made] = {}
        self.executables: dict[int, int] = {}
        self.spoil: Callable[[Made], None] = lambda graph: None
        self.milliseconds: Callable[[Made], float] = lambda graph: float(len(graph.nodes))
        self.again: Callable[[Made], float] | None = None
        self.launched: list[Made] = []
        self.clock = 0.0
        self.times: dict[int, float] = {}
        self._next = 1000
        self._held: list[Any] = []

    def number(self) -> int:
        self._next += 1
        return self._next

    def hold(self, text: str, entry: str) -> int:
        handle = self.number()
        self.kernels[handle] = text, entry
        return handle

    def capture(self, graph: Graph) -> tuple[int, Collected]:
        """A graph of the driver with these nodes, and the kernels that are known."""
        made, known, at = Made(), Collected(), {}
        for node in graph.nodes:
            at[node.id] = self.number()
            if node.kind != "kernel":
                made.nodes[at[node.id]] = node.kind.upper()
                continue
            text = graph.ptx.get(node.ptx or "", "")
            handle = self.hold(text, node.entry)
            if node.ptx:
                known.add(handle, text, node.entry)
            made.nodes[at[node.id]] = (handle, node.grid, node.block, node.shared, node.parameters)
        made.edges = {(at[one], at[other]) for one, other in graph.edges}
        for one in graph.allocations:
            self.memory.setdefault(one.address, np.zeros(one.bytes, np.uint8))
        handle = self.number()
        self.graphs[handle] = made
        return handle, known

    # Graphs

    def cuGraphClone(self, handle: int) -> Any:
        old, new = self.graphs[handle], Made()
        at = {node: self.number() for node in old.nodes}
        new.nodes = {at[node]: what for node, what in old.nodes.items()}
        new.edges = {(at[one], at[other]) for one, other in old.edges}
        new.copies = at
        made = self.number()
        self.graphs[made] = new
        return 0, made

    def cuGraphNodeFindInClone(self, node: int, clone: int) -> Any:
        return 0, self.graphs[clone].copies[node]

    def cuGraphGetNodes(self, handle: int, count: int = 0) -> Any:
        if handle not in self.graphs:
            return Code(INVALID), [], 0
        nodes = list(self.graphs[handle].nodes)
        return 0, nodes[:count], len(nodes)

    def cuGraphGetEdges(self, handle: int, count: int = 0) -> Any:
        edges = sorted(self.graphs[handle].edges)
        room = (ctypes.c_ubyte * 8)()
        data = [SimpleNamespace(getPtr=lambda: ctypes.addressof(room)) for _ in edges]
        return 0, [e[0] for e in edges][:count], [e[1] for e in edges][:count], data[:count], len(edges)

    def cuGraphRemoveDependencies(self, handle: int, ones: Any, others: Any, data: Any, count: int) -> Any:
        edges = set(zip(ones, others, strict=True))
        assert edges <= self.graphs[handle].edges and len(ones) == len(data) == count
        self.graphs[handle].edges -= edges
        return (0,)

    def cuGraphAddDependencies(self, handle: int, ones: Any, others: Any, data: Any, count: int) -> Any:
        edges = set(zip(ones, others, strict=True))
        assert {node for edge in edges for node in edge} <= self.graphs[handle].nodes.keys() and len(ones) == count
        self.graphs[handle].edges |= edges
        return (0,)

    def cuGraphDestroyNode(self, node: int) -> Any:
        graph = self._of(node)
        del graph.nodes[node]
        graph.edges = {edge for edge in graph.edges if node not in edge}
        return (0,)

    def _of(self, node: int) -> Made:
        return next(graph for graph in self.graphs.values() if node in graph.nodes)

    def cuGraphAddKernelNode(self, handle: int, after: Any, count: int, params: Any) -> Any:
        assert not after and not count
        node = self.number()
        self.graphs[handle].nodes[node] = self._read(params)
        return 0, node

    def _read(self, params: Any) -> Any:
        text, entry = self.kernels[params.kern]
        sizes = [p.size for p in choose_entry(parse(text), entry).parameters]
        addresses = ctypes.cast(params.kernelParams, ctypes.POINTER(ctypes.c_void_p))
        contents = tuple(ctypes.string_at(addresses[i] or 0, size) for i, size in enumerate(sizes))
        grid = params.gridDimX, params.gridDimY, params.gridDimZ
        block = params.blockDimX, params.blockDimY, params.blockDimZ
        return params.kern, grid, block, params.sharedMemBytes, contents

    def cuGraphKernelNodeGetParams(self, node: int) -> Any:
        handle, grid, block, shared, contents = self._of(node).nodes[node]
        held = [ctypes.create_string_buffer(c, len(c)) for c in contents]
        table = (ctypes.c_void_p * len(held))(*map(ctypes.addressof, held))
        self._held = [*self._held, held, table]
        return 0, SimpleNamespace(
            func=0, kern=handle, gridDimX=grid[0], gridDimY=grid[1], gridDimZ=grid[2], blockDimX=block[0],
            blockDimY=block[1], blockDimZ=block[2], sharedMemBytes=shared, kernelParams=ctypes.addressof(table),
        )  # fmt: skip

    def cuGraphKernelNodeSetParams(self, node: int, params: Any) -> Any:
        self._of(node).nodes[node] = self._read(params)
        return (0,)

    def cuGraphExecKernelNodeSetParams(self, executable: int, node: int, params: Any) -> Any:
        assert node in self.graphs[self.executables[executable]].nodes
        return (0,)

    def CUDA_KERNEL_NODE_PARAMS(self) -> Any:
        return SimpleNamespace()

    def cuGraphNodeGetType(self, node: int) -> Any:
        what = self._of(node).nodes[node]
        return 0, SimpleNamespace(name="CU_GRAPH_NODE_TYPE_" + (what if isinstance(what, str) else "KERNEL"))

    def cuGraphKernelNodeGetAttribute(self, node: int, name: str) -> Any:
        return 0, SimpleNamespace(cooperative=0, clusterDim=SimpleNamespace(x=0))

    def cuGraphMemcpyNodeGetParams(self, node: int) -> Any:
        return Code(INVALID), None

    def cuKernelGetName(self, handle: int) -> Any:
        return 0, self.kernels[handle][1].encode()

    def cuFuncGetParamInfo(self, handle: int, i: int) -> Any:
        return self.cuKernelGetParamInfo(handle, i)

    def cuKernelGetParamInfo(self, handle: int, i: int) -> Any:
        text, entry = self.kernels[handle]
        parameters = choose_entry(parse(text), entry).parameters if text else ()
        return (0, 0, parameters[i].size) if i < len(parameters) else (Code(INVALID), 0, 0)

    def cuGraphInstantiate(self, handle: int, flags: int) -> Any:
        made = self.number()
        self.executables[made] = handle
        return 0, made

    def cuGraphLaunch(self, executable: int, stream: int) -> Any:
        made = self.graphs[self.executables[executable]]
        nodes, texts = [], {}
        for node, what in made.nodes.items():
            if isinstance(what, str):
                nodes.append(GraphNode(node, "", kind=what.lower()))
                continue
            handle, grid, block, shared, contents = what
            text, entry = self.kernels[handle]
            texts[sha_of(text)] = text
            nodes.append(GraphNode(node, entry, grid, block, shared, contents, sha_of(text)))
        allocations = tuple(Allocation(address, len(content)) for address, content in self.memory.items())
        graph = Graph(tuple(nodes), tuple(sorted(made.edges)), allocations, texts)
        found = goptx.emulate_graph(graph, self.memory, seed=len(self.launched)).memory
        for address, content in found.items():
            self.memory[address][:] = content
        self.spoil(made)
        again = bool(self.launched) and self.launched[-1] is made
        self.launched.append(made)
        self.clock += ((again and self.again) or self.milliseconds)(made)
        return (0,)

    def cuGraphDestroy(self, handle: int) -> Any:
        del self.graphs[handle]
        return (0,)

    def cuGraphExecDestroy(self, executable: int) -> Any:
        del self.executables[executable]
        return (0,)

    # Memory and time

    def _bytes(self, address: int, size: int) -> Any:
        home = max(start for start in self.memory if start <= address)
        assert address + size <= home + len(self.memory[home])
        return self.memory[home][address - home : address - home + size]

    def cuMemAlloc(self, size: int) -> Any:
        address = max([0x7E0000000000, *self.memory]) + (1 << 32)
        self.memory[address] = np.zeros(size, np.uint8)
        return 0, address

    def cuMemFree(self, address: int) -> Any:
        del self.memory[address]
        return (0,)

    def cuMemcpyDtoDAsync(self, to: int, of: int, size: int, stream: int) -> Any:
        self._bytes(to, size)[:] = self._bytes(of, size)
        return (0,)

    def cuMemcpyDtoH(self, to: int, of: int, size: int) -> Any:
        ctypes.memmove(to, self._bytes(of, size).tobytes(), size)
        return (0,)

    def cuMemGetAddressRange(self, address: int) -> Any:
        for start, content in self.memory.items():
            if start <= address < start + len(content):
                return 0, start, len(content)
        return Code(INVALID), 0, 0

    def cuPointerGetAttribute(self, kind: str, address: int) -> Any:
        return 0, {"device": 0, "legacy": 1, "pool": 0}[kind]

    def cuStreamSynchronize(self, stream: int) -> Any:
        return (0,)

    def cuCtxSynchronize(self) -> Any:
        return (0,)

    def cuEventCreate(self, flags: int) -> Any:
        return 0, self.number()

    def cuEventRecord(self, event: int, stream: int) -> Any:
        self.times[event] = self.clock
        return (0,)

    def cuEventSynchronize(self, event: int) -> Any:
        return (0,)

    def cuEventElapsedTime(self, one: int, other: int) -> Any:
        return 0, self.times[other] - self.times[one]

    def cuEventDestroy(self, event: int) -> Any:
        return (0,)


def emulated_driver(patch: pytest.MonkeyPatch) -> EmulatedDriver:
    """In place of the driver, where graphs are read, rewritten and launched."""
    made = EmulatedDriver()
    device = SimpleNamespace(default_stream=SimpleNamespace(handle=0), device_id=0)
    for module in (cuda_graph, program_graph, rewritten_graph, replayed, repeating):
        patch.setattr(module, "bindings", lambda: made)
    for module in (rewritten_graph, repeating):
        patch.setattr(module, "current_device", lambda: device)
    few = (
        (replayed, "REPLAYS", 2),
        (graph_trial, "ROUNDS", 1),
        (graph_trial, "WARMUPS", 1),
        (graph_search, "FINALS", 1),
    )
    for module, name, number in few:  # times are exact
        patch.setattr(module, name, number)

    def added(node: GraphNode, woven: Any) -> AddedKernel:
        handle = made.hold(woven.ptx, node.entry)
        launcher: Any = SimpleNamespace(handle=handle, grid=node.grid, block=node.block, shared=node.shared)
        return AddedKernel(launcher, node.parameters)

    patch.setattr(launchable_graph, "_added", added)
    return made
