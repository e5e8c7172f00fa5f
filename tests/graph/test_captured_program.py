"""The description of a CUDA graph, with the driver's answers in place of a driver."""

import ctypes
import sys
from types import SimpleNamespace
from typing import Any

import pytest
from graph.graph_kernels import BASE, SIZE, N, buffer, scale, u32, u64

import goptx
from goptx.device import cuda_graph
from goptx.device.cuda_graph import KernelNode, Node
from goptx.device.graphs import program_graph
from goptx.errors import DeviceError, InputError
from goptx.sources.collecting import Collected

SIZES = {70: [8, 8, 4], 71: [8, 128]}  # of the parameters of functions


class Invalid(int):
    name = "CUDA_ERROR_INVALID_VALUE"


def bindings(devices: dict[int, int] | None = None) -> Any:
    def info(function: int, i: int) -> tuple[Any, ...]:
        sizes = SIZES.get(function)
        if sizes is None:
            return Invalid(400), 0, 0
        return (0, 8 * i, sizes[i]) if i < len(sizes) else (Invalid(1), 0, 0)

    return SimpleNamespace(
        CUgraph=int, CUfunction=int, CUkernel=int, CUdeviceptr=int, cuFuncGetParamInfo=info, cuKernelGetParamInfo=info,
        CUresult=SimpleNamespace(CUDA_ERROR_INVALID_VALUE=1),
        CUpointer_attribute=SimpleNamespace(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL=9),
        cuPointerGetAttribute=lambda attribute, address: (0, (devices or {}).get(address, 0)),
    )  # fmt: skip


class Launched:
    """The driver's table of the parameters of a launch, held while it is needed."""

    def __init__(self, function: int, *parameters: bytes, plain: bool = True) -> None:
        self.memory = [ctypes.create_string_buffer(p, len(p)) for p in parameters]
        self.table = (ctypes.c_void_p * len(parameters))(*map(ctypes.addressof, self.memory))
        table = ctypes.addressof(self.table) if parameters else 0
        kernel = KernelNode((function,), (2, 1, 1), (128, 1, 1), 0, table, plain)
        self.node = Node(function, "kernel", f"function{function}", kernel)


SCALE = Launched(70, u64(buffer(0)), u64(buffer(1)), u32(N))
OPAQUE = Launched(71, u64(buffer(2) + 64), bytes(120) + u64(buffer(3)))


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    def allocation(address: int) -> tuple[int, int] | None:
        start = BASE + (address - BASE) // 4096 * 4096
        return (start, start + SIZE) if BASE <= address < BASE + (1 << 20) else None

    monkeypatch.setattr(program_graph, "bindings", bindings)
    monkeypatch.setattr(cuda_graph, "allocation", allocation)
    return monkeypatch


def captured(patch: pytest.MonkeyPatch, *nodes: Node) -> goptx.Graph:
    edges = [(i, i + 1) for i in range(len(nodes) - 1)]
    graph = SimpleNamespace(nodes=list(nodes), edges=edges)
    patch.setattr(cuda_graph, "Graph", lambda handle, stream: graph)
    kernels = Collected({70: (scale(), "scale")})
    return goptx.Graph.of(4096, kernels)


def test_a_captured_graph_is_described(driver: pytest.MonkeyPatch) -> None:
    graph = captured(driver, SCALE.node, OPAQUE.node, Node(3, "memcpy"), Node(4, "empty"), Node(5, "event_record"))
    known, opaque, *others = graph.nodes
    assert (known.entry, known.grid, known.block) == ("scale", (2, 1, 1), (128, 1, 1))
    assert known.parameters == (u64(buffer(0)), u64(buffer(1)), u32(N))
    assert known.ptx is not None
    assert (opaque.entry, opaque.ptx, len(opaque.parameters)) == ("function71", None, 2)
    assert [node.kind for node in others] == ["memcpy", "empty", "other"]
    assert graph.edges == ((0, 1), (1, 2), (2, 3), (3, 4))
    assert [a.address for a in graph.allocations] == [buffer(i) for i in range(4)]
    assert goptx.Graph.read(graph.to_json()) == graph


def test_a_kernel_that_takes_other_parameters_than_its_ptx_is_opaque(driver: pytest.MonkeyPatch) -> None:
    driver.setitem(SIZES, 70, [8, 8])
    (node,) = captured(driver, SCALE.node).nodes
    assert node.ptx is None


def test_parameters_that_the_driver_does_not_give_are_unknown(driver: pytest.MonkeyPatch) -> None:
    (node,) = captured(driver, Launched(99, u64(buffer(0))).node).nodes
    assert node.parameters == ()
    (node,) = captured(driver, Launched(70).node).nodes
    assert (node.parameters, node.ptx) == ((), None)


def test_a_cooperative_launch_stays_alone(driver: pytest.MonkeyPatch) -> None:
    launched = Launched(70, u64(buffer(0)), u64(buffer(1)), u32(N), plain=False)
    graph = captured(driver, launched.node)
    assert goptx.optimize_graph(graph).report.single == {0: "it is cooperative, or launched in clusters"}


@pytest.mark.parametrize("kind", ["conditional", "graph", "mem_alloc", "mem_free"])
def test_nodes_that_cannot_be_seen_through_are_refused(kind: str, driver: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match=rf"node 1 of the graph is a {kind} node: .* The graph is unchanged\."):
        captured(driver, SCALE.node, Node(9, kind))


def test_several_devices_are_refused(driver: pytest.MonkeyPatch) -> None:
    driver.setattr(program_graph, "bindings", lambda: bindings({buffer(1): 1}))
    with pytest.raises(InputError, match=r"uses memory of the devices 0, 1; goptx takes graphs of one device"):
        captured(driver, SCALE.node)


def test_a_destroyed_graph_is_refused(driver: pytest.MonkeyPatch) -> None:
    def refuse(handle: object, stream: object) -> None:
        raise DeviceError("the driver answers CUDA_ERROR_INVALID_VALUE")

    driver.setattr(cuda_graph, "Graph", refuse)
    with pytest.raises(InputError, match=r"the graph cannot be read .* was it destroyed\? Capture it again"):
        goptx.Graph.of(4096)


class Torch:
    def __init__(self, handle: int | None) -> None:
        self.handle_ = handle

    def raw_cuda_graph(self) -> int:
        if self.handle_ is None:
            raise RuntimeError("keep_graph is false")
        return self.handle_


@pytest.mark.parametrize(
    ("given", "handle"),
    [(Torch(5), 5), (6, 6), (SimpleNamespace(handle=7), 7), (SimpleNamespace(graph=8), 8)],
)
def test_graphs_of_frameworks_have_a_handle(given: object, handle: int) -> None:
    assert program_graph.handle_of(given) == handle


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (Torch(None), r"the graph of torch cannot be read \(keep_graph is false\)"),
        (Torch(0), "the graph is not there any more: its handle is 0"),
        (True, "an object of type bool is not a CUDA graph"),
        ("graph", "an object of type str is not a CUDA graph; goptx takes"),
    ],
)
def test_what_is_no_graph_is_refused(given: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        program_graph.handle_of(given)


def test_a_graph_needs_the_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(_: object) -> None:
        raise RuntimeError("no libcuda")

    monkeypatch.setattr(program_graph, "bindings", lambda: SimpleNamespace(CUgraph=none))
    with pytest.raises(DeviceError, match=r"a CUDA graph is read by the driver, which is not there \(no libcuda\)"):
        goptx.optimize_graph(5)


def test_arrays_of_torch_are_allocations(driver: pytest.MonkeyPatch) -> None:
    """Of a pool of its own, only the whole segment is known: memory there is used again in other pieces."""
    blocks = [{"size": 512, "state": "active_allocated"}, {"size": 512, "state": "inactive"}]
    segments = [
        {"address": buffer(0), "total_size": 1024, "segment_pool_id": (0, 0), "blocks": blocks},
        {"address": buffer(1), "total_size": 1024, "segment_pool_id": (0, 1), "blocks": blocks},
    ]
    cuda = SimpleNamespace(is_initialized=lambda: True, memory_snapshot=lambda: segments)
    driver.setitem(sys.modules, "torch", SimpleNamespace(cuda=cuda))
    graph = captured(driver, SCALE.node)
    assert [(a.address, a.bytes) for a in graph.allocations] == [(buffer(0), 512), (buffer(1), 1024)]
