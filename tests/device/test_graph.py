"""Captured graphs, read and changed through a fake driver: which of its functions are called, and how."""

import ctypes
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from goptx.device import cuda_graph, loaded
from goptx.device.cuda_graph import Capture, Graph
from goptx.errors import DeviceError, InputError

KINDS = ("KERNEL", "MEMCPY", "MEMSET", "EMPTY", "GRAPH", "MEM_ALLOC")
STREAM = SimpleNamespace(__cuda_stream__=lambda: (0, 42))


class Code(int):
    """The driver's answers."""

    name = "CUDA_ERROR_OF_SOME_KIND"


def enum(prefix: str, *names: str) -> SimpleNamespace:
    return SimpleNamespace(**{prefix + name: SimpleNamespace(name=prefix + name) for name in names})


class Driver:
    """Graphs and their nodes by handle; one stream, and the graph into which it is captured."""

    CUstreamCaptureMode = SimpleNamespace(CU_STREAM_CAPTURE_MODE_RELAXED=2)
    CUstreamCaptureStatus = SimpleNamespace(CU_STREAM_CAPTURE_STATUS_ACTIVE=1)
    CUstreamUpdateCaptureDependencies_flags = SimpleNamespace(CU_STREAM_SET_CAPTURE_DEPENDENCIES=1)
    CUresult = SimpleNamespace(CUDA_ERROR_STREAM_CAPTURE_UNJOINED=904)
    CUgraphNodeType = enum("CU_GRAPH_NODE_TYPE_", *KINDS)
    CUmemorytype = SimpleNamespace(
        CU_MEMORYTYPE_HOST=1, CU_MEMORYTYPE_DEVICE=2, CU_MEMORYTYPE_ARRAY=3, CU_MEMORYTYPE_UNIFIED=4
    )
    CUlaunchAttributeID = SimpleNamespace(
        CU_LAUNCH_ATTRIBUTE_COOPERATIVE="cooperative", CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION="cluster"
    )
    CUpointer_attribute = SimpleNamespace(
        CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE="legacy", CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE="pool"
    )

    def __init__(self) -> None:
        self.graphs: dict[int, dict[int, str]] = {}
        self.edges: set[tuple[int, int]] = set()
        self.partial: set[tuple[int, int]] = set()
        self.captured: int | None = None
        self.after: list[int] = []
        self.params: dict[int, Any] = {}
        self.launched: list[list[str]] = []
        self.answer = 0
        self.next = 100
        self.cooperative = False

    CUstream = CUdeviceptr = CUkernel = staticmethod(int)

    def number(self) -> int:
        self.next += 1
        return self.next

    def add(self, made: int, kind: str, after: list[int]) -> int:
        node = self.number()
        self.graphs[made][node] = kind
        self.edges |= {(one, node) for one in after}
        return node

    def put(self, kind: str) -> int:
        """Adds a node, as a launch on the stream does."""
        assert self.captured
        self.after = [self.add(self.captured, kind, self.after)]
        return self.after[0]

    def cuStreamIsCapturing(self, stream: int) -> Any:
        return 0, int(self.captured is not None)

    def cuStreamBeginCapture(self, stream: int, mode: int) -> Any:
        assert (stream, mode) == (42, 2) and self.captured is None
        self.captured, self.after = self.number(), []
        self.graphs[self.captured] = {}
        return (0,)

    def cuStreamEndCapture(self, stream: int) -> Any:
        made, self.captured = self.captured, None
        return (Code(self.answer), None) if self.answer else (0, made)

    def cuStreamGetCaptureInfo(self, stream: int) -> Any:
        return 0, 2 if self.answer else 1, 1, self.captured, self.after, [None], len(self.after)

    def cuGraphAddEmptyNode(self, made: int, after: list[int], count: int) -> Any:
        assert len(after) == count
        return 0, self.add(made, "EMPTY", after)

    def cuStreamUpdateCaptureDependencies(self, stream: int, after: list[int], data: None, count: int, how: int) -> Any:
        assert len(after) == count == how == 1
        self.after = after
        return (0,)

    def cuGraphGetNodes(self, made: int, count: int = 0) -> Any:
        return 0, list(self.graphs[made])[:count], len(self.graphs[made])

    def cuGraphGetEdges(self, made: int, count: int = 0) -> Any:
        mine = sorted(e for e in self.edges if e[0] in self.graphs[made])
        rooms = [(ctypes.c_ubyte * 8)(*([0, 0, int(e in self.partial)] + [0] * 5)) for e in mine]
        data = [SimpleNamespace(getPtr=lambda room=room: ctypes.addressof(room)) for room in rooms]
        return 0, [e[0] for e in mine][:count], [e[1] for e in mine][:count], data[:count], len(mine)

    def cuGraphNodeGetType(self, node: int) -> Any:
        kind = next(nodes[node] for nodes in self.graphs.values() if node in nodes)
        return 0, getattr(self.CUgraphNodeType, "CU_GRAPH_NODE_TYPE_" + kind)

    def cuGraphKernelNodeGetParams(self, node: int) -> Any:
        return 0, self.params[node]

    def cuGraphMemcpyNodeGetParams(self, node: int) -> Any:
        return (0, self.params[node]) if node in self.params else (Code(1), None)

    cuGraphMemsetNodeGetParams = cuGraphMemcpyNodeGetParams

    def cuFuncGetName(self, function: int) -> Any:
        return 0, f"f{function}".encode()

    def cuKernelGetName(self, kernel: int) -> Any:
        return 0, f"k{kernel}".encode()

    def cuGraphKernelNodeGetAttribute(self, node: int, name: str) -> Any:
        return 0, SimpleNamespace(cooperative=int(self.cooperative), clusterDim=SimpleNamespace(x=0))

    def cuGraphAddChildGraphNode(self, made: int, after: list[int], count: int, child: int) -> Any:
        assert len(after) == count
        return 0, self.add(made, "+".join(self.graphs[child].values()), after)

    def cuGraphAddDependencies(self, made: int, ones: list[int], others: list[int], data: None, count: int) -> Any:
        assert len(ones) == len(others) == count
        self.edges |= set(zip(ones, others, strict=True))
        return (0,)

    def cuGraphDestroyNode(self, node: int) -> Any:
        for nodes in self.graphs.values():
            nodes.pop(node, None)
        self.edges = {edge for edge in self.edges if node not in edge}
        return (0,)

    def cuGraphDestroy(self, made: int) -> Any:
        del self.graphs[made]
        return (0,)

    def cuGraphInstantiate(self, made: int, flags: int) -> Any:
        return 0, made

    def cuGraphLaunch(self, made: int, stream: int) -> Any:
        """The nodes form a chain here."""
        nodes, row = dict(self.graphs[made]), []
        while nodes:
            free = [n for n in nodes if not any(other == n and one in nodes for one, other in self.edges)]
            row.append(nodes.pop(free[0]))
            assert len(free) == 1
        self.launched.append(row)
        return (0,)

    def cuGraphExecDestroy(self, made: int) -> Any:
        return (0,)

    def cuMemGetAddressRange(self, address: int) -> Any:
        return (Code(500), None, None) if address < 1000 else (0, 1000, 512)

    def cuPointerGetAttribute(self, kind: str, address: int) -> Any:
        return 0, {"legacy": address == 1001, "pool": 3 if address == 1002 else 0}[kind]

    def cuKernelGetFunction(self, kernel: int) -> Any:
        return 0, kernel + 1


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Driver:
    made = Driver()
    for module in (cuda_graph, loaded):
        monkeypatch.setattr(module, "bindings", lambda: made)
    monkeypatch.setattr(cuda_graph, "current_device", lambda: None)
    return made


def captured(driver: Driver, *kinds: str) -> Graph:
    """ "mark" is a mark, anything else a node of that kind."""
    capture = Capture(STREAM)
    for kind in kinds:
        assert capture.mark() if kind == "mark" else driver.put(kind)
    made = capture.end()
    assert made
    return made


def fused(driver: Driver, kind: str = "KERNEL") -> Callable[[], None]:
    def start() -> None:
        driver.put(kind)

    return start


def test_marks_stand_between_other_work(driver: Driver) -> None:
    made = captured(driver, "mark", "mark", "MEMCPY", "mark")
    assert [node.kind for node in made.nodes] == ["empty", "empty", "memcpy", "empty"]
    assert made.edges == [(0, 1), (1, 2), (2, 3)] and made.partial == [] and not made.fixed
    made.replace((0, 1), (), (2,), fused(driver))
    made.replace((3,), (2,), (), fused(driver))
    made.launch()
    assert driver.launched == [["KERNEL", "MEMCPY", "KERNEL"]]
    made.close()
    assert driver.graphs == {}


def test_a_new_node_comes_after_one_that_took_the_place_of_another(driver: Driver) -> None:
    made = captured(driver, "MEMCPY", "mark", "mark", "MEMCPY")
    made.replace((1,), (0,), (), fused(driver))
    made.replace((2,), (1,), (3,), fused(driver, "EMPTY"))
    made.launch()
    assert driver.launched == [["MEMCPY", "KERNEL", "EMPTY", "MEMCPY"]]


def test_nodes_stay_where_memory_is_allocated(driver: Driver) -> None:
    made = captured(driver, "MEM_ALLOC", "mark", "mark", "MEMCPY")
    assert made.fixed
    made.replace((1, 2), (0,), (3,), fused(driver))
    made.launch()
    assert driver.launched == [["MEM_ALLOC", "EMPTY", "EMPTY", "KERNEL", "MEMCPY"]]


def test_a_kernel_and_its_launch_parameters(driver: Driver) -> None:
    number, address = ctypes.c_uint32(7), ctypes.c_uint64(0x1234)
    table = (ctypes.c_void_p * 2)(ctypes.addressof(address), ctypes.addressof(number))
    shape = {f"{what}Dim{axis}": n for what in ("grid", "block") for n, axis in enumerate("XYZ", 1)}
    capture = Capture(STREAM)
    for func, kern in ((5, 0), (0, 6)):
        driver.params[driver.put("KERNEL")] = SimpleNamespace(
            func=func, kern=kern, sharedMemBytes=48, kernelParams=ctypes.addressof(table), **shape
        )
    made = capture.end()
    assert made and [(n.kind, n.name) for n in made.nodes] == [("kernel", "f5"), ("kernel", "k6")]
    kernel = made.nodes[0].kernel
    assert kernel and kernel.handles == (5,) and kernel.plain and kernel.shared == 48
    assert kernel.grid == kernel.block == (1, 2, 3)
    assert kernel.contents([8, 4]) == [bytes(address), bytes(number)]
    driver.cooperative = True
    capture = Capture(STREAM)
    driver.params[driver.put("KERNEL")] = SimpleNamespace(func=5, kern=0, sharedMemBytes=0, kernelParams=0, **shape)
    again = capture.end()
    assert again and again.nodes[0].kernel and not again.nodes[0].kernel.plain and not again.nodes[0].kernel.table


def test_an_edge_that_does_not_wait_for_all(driver: Driver) -> None:
    capture = Capture(STREAM)
    one, other = driver.put("MEMCPY"), driver.put("MEMCPY")
    driver.partial = {(one, other)}
    made = capture.end()
    assert made and made.partial == made.edges == [(0, 1)]


def test_captures_that_are_not_valid(driver: Driver) -> None:
    capture = Capture(STREAM)
    with pytest.raises(InputError, match="the stream is being captured into a CUDA graph already"):
        Capture(STREAM)
    driver.answer = 901
    assert capture.mark() is None and capture.end() is None
    driver.answer = 0
    capture = Capture(STREAM)
    driver.answer = 904
    with pytest.raises(InputError, match="another stream that waits for the region's stream was not joined to it"):
        capture.end()
    driver.answer = 0
    made = captured(driver, "mark", "MEMCPY")

    def fail() -> None:
        raise DeviceError("refused")

    with pytest.raises(DeviceError, match="refused"):
        made.replace((0,), (), (1,), fail)
    assert driver.captured is None


def test_allocations(driver: Driver) -> None:
    assert cuda_graph.allocation(999) is None  # not of the device
    assert cuda_graph.allocation(1001) == cuda_graph.allocation(1002) == (1000, 1512)
    assert cuda_graph.allocation(1003) is None  # mapped piece by piece


def test_kernels_that_goptx_loaded(driver: Driver, monkeypatch: pytest.MonkeyPatch) -> None:
    class Kernel:
        handle = 8

    monkeypatch.setattr(loaded, "_LOADED", {})
    kernel, module = Kernel(), object()
    loaded.remember([kernel], module, ["k"])  # type: ignore[arg-type]
    assert loaded.origin([7]) is None
    assert loaded.origin([8]) == loaded.origin([7, 9]) == (module, "k")  # the driver has two handles for it
    del kernel
    assert loaded.origin([8, 9]) is None


def side(
    name: str, kind: int, address: int, x: int = 0, y: int = 0, z: int = 0, pitch: int = 0, height: int = 0
) -> Any:
    names = ("MemoryType", "XInBytes", "Y", "Z", "Pitch", "Height", "Host" if kind == 1 else "Device")
    return {name + n: value for n, value in zip(names, (kind, x, y, z, pitch, height, address), strict=True)}


COPIES = [  # the source, the destination, the extents of the copy; what it reads, and what it writes
    ((2, 4096), (2, 8192), (100, 1, 1), (4096, 100), (8192, 100)),
    ((1, 4096, 8), (4, 8192), (100, 0, 0), (4104, 100), (8192, 100)),
    ((2, 4096, 8, 2, 0, 64), (2, 8192), (32, 3, 1), (4096 + 8 + 128, 128 + 32), (8192, 32)),
    ((2, 4096, 0, 0, 1, 64, 4), (2, 8192), (32, 2, 3), (4096 + 256, 64 * 9 + 32), (8192, 32)),
]


@pytest.mark.parametrize(("source", "to", "extents", "reads", "writes"), COPIES)
def test_copies_access_what_they_copy(
    source: Any, to: Any, extents: Any, reads: Any, writes: Any, driver: Driver
) -> None:
    driver.graphs[7] = {1: "MEMCPY"}
    width, height, depth = extents
    parts = side("src", *source) | side("dst", *to)
    driver.params[1] = SimpleNamespace(**parts, WidthInBytes=width, Height=height, Depth=depth)
    (node,) = Graph(7, 42).nodes
    assert (node.reads, node.writes) == ((reads,), (writes,))


def test_copies_of_texture_arrays_may_access_everything(driver: Driver) -> None:
    driver.graphs[7] = {1: "MEMCPY"}
    parts = side("src", 3, 0) | side("dst", 2, 8192)
    driver.params[1] = SimpleNamespace(**parts, WidthInBytes=1, Height=1, Depth=1)
    (node,) = Graph(7, 42).nodes
    assert (node.reads, node.writes) == ((), ())


def test_fills_write_their_rows(driver: Driver) -> None:
    driver.graphs[7] = {1: "MEMSET"}
    driver.params[1] = SimpleNamespace(dst=4096, pitch=64, width=5, elementSize=4, height=3)
    (node,) = Graph(7, 42).nodes
    assert (node.reads, node.writes) == ((), ((4096, 148),))
