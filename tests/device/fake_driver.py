"""A driver that starts nothing: it reads the parameters of launches from memory as the real one does."""

import ctypes
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest

from goptx.device.executable import Executable
from goptx.launch.launching import Launch

DEFAULT = 1  # handle of the default stream


class Stream:
    def __init__(self, handle: int = 42) -> None:
        self.handle = handle

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self.handle


class Array:
    """A device array of bytes."""

    def __init__(self, address: int, size: int = 64) -> None:
        self.address, self.size = address, size

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {"data": (self.address, False), "shape": (self.size,), "typestr": "|u1", "version": 3}


class Tensor:
    """As torch has them: the class has all names."""

    is_cuda = True
    nbytes = 64

    def __init__(self, address: int, nbytes: int = 64, stride: int = 1) -> None:
        self.address, self.nbytes, self.step = address, nbytes, stride

    def data_ptr(self) -> int:
        return self.address

    def is_contiguous(self) -> bool:
        return self.step == 1

    def element_size(self) -> int:
        return 4

    def numel(self) -> int:
        return self.nbytes // 4

    @property
    def shape(self) -> tuple[int]:
        return (self.numel(),)

    def stride(self) -> tuple[int]:
        return (self.step,)


class Code(int):
    """The driver's answers."""

    name = "CUDA_ERROR_OF_SOME_KIND"


class Handle(int):
    """What the driver hands out; `kind` is its C type."""


@dataclass(frozen=True)
class Kernel:
    """A loaded kernel: `sizes` are those of its parameters, in bytes."""

    handle: int
    name: str
    sizes: tuple[int, ...]
    attributes = SimpleNamespace(max_dynamic_shared_size_bytes=227 * 1024)


@dataclass(frozen=True)
class Started:
    """One launch: the kernel's name, its shape, and the numbers that its parameters hold."""

    name: str
    stream: int
    grid: tuple[int, ...]
    block: tuple[int, ...]
    shared: int
    arguments: list[int]


class Driver:
    """started: what was launched; calls: other calls, by name, with their arguments; device: the current one.

    graphs: nodes by graph. captured: streams that are captured, each with its graph and the nodes before its next work.
    instantiated: how many graphs were.
    """

    CUevent_flags = SimpleNamespace(CU_EVENT_DISABLE_TIMING=2)
    CUstreamCaptureMode = SimpleNamespace(CU_STREAM_CAPTURE_MODE_RELAXED=2)
    CUstreamUpdateCaptureDependencies_flags = SimpleNamespace(CU_STREAM_SET_CAPTURE_DEPENDENCIES=1)
    CUstreamCaptureStatus = SimpleNamespace(CU_STREAM_CAPTURE_STATUS_ACTIVE=1)
    CUDA_KERNEL_NODE_PARAMS = SimpleNamespace

    def __init__(self) -> None:
        self.started: list[Started] = []
        self.calls: list[tuple[Any, ...]] = []
        self.kernels: dict[int, Kernel] = {}
        self.graphs: dict[int, dict[int, Started]] = {}
        self.edges: set[tuple[int, int]] = set()
        self.executables: dict[int, dict[int, Started]] = {}
        self.device: int | None = 0
        self.answer = 0
        self.captured: dict[int, tuple[int, list[int]]] = {}
        self.events: dict[int, tuple[int, list[int]]] = {}  # that were recorded on captured streams
        self.instantiated = 0
        self.ids: dict[int, int] = {}  # of streams whose ids are not their handles
        self.next = 1000

    CUfunction = CUstream = CUkernel = CUgraph = CUgraphNode = CUgraphExec = staticmethod(int)

    def kernel(self, launch: Launch) -> Kernel:
        """The kernel that is loaded for a launch."""
        return self.of_sizes(launch.entry, tuple(p.size for p in launch.params if p.instead is None))

    def of_sizes(self, name: str, sizes: tuple[int, ...]) -> Kernel:
        """A kernel whose parameters have these sizes in bytes."""
        made = Kernel(self.number(), name, sizes)
        self.kernels[made.handle] = made
        return made

    def number(self) -> int:
        self.next += 10
        return self.next

    def read(self, function: int, stream: int, shape: Sequence[int], table: int) -> Started:
        kernel = self.kernels[function]
        addresses = ctypes.cast(table, ctypes.POINTER(ctypes.c_void_p))
        contents = [ctypes.string_at(addresses[i] or 0, size) for i, size in enumerate(kernel.sizes)]
        numbers = [int.from_bytes(content, "little") for content in contents]
        return Started(kernel.name, stream, tuple(shape[:3]), tuple(shape[3:6]), shape[6], numbers)

    def cuLaunchKernel(self, function: int, *rest: int) -> tuple[int]:
        *shape, stream, table, extra = rest
        assert extra == 0
        if not self.answer:
            self._start(stream, self.read(function, stream, shape, table))
        return (Code(self.answer),)

    def _start(self, stream: int, started: Started) -> None:
        """On a captured stream it becomes a node."""
        if stream not in self.captured:
            self.started.append(started)
            return
        graph, after = self.captured[stream]
        node = self._added(graph, after, started)
        self.captured[stream] = graph, [node]

    def _added(self, graph: int, after: Sequence[int], started: Started) -> int:
        node = self.number()
        self.graphs[graph][node] = started
        self.edges |= {(one, node) for one in after}
        return node

    def cuCtxGetDevice(self) -> tuple[int, int | None]:
        return (0, self.device) if self.device is not None else (201, None)

    def cuKernelGetFunction(self, kernel: int) -> tuple[int, int]:
        return 0, kernel

    def cuEventCreate(self, flags: int) -> tuple[int, int]:
        return 0, self.number()

    def cuEventRecord(self, event: int, stream: int) -> tuple[int]:
        self.calls.append(("record", stream))
        if stream in self.captured:
            self.events[event] = self.captured[stream]
        return (0,)

    def cuStreamWaitEvent(self, stream: int, event: int, flags: int) -> tuple[int]:
        self.calls.append(("wait", stream))
        if event in self.events:
            graph, after = self.events[event]
            _, before = self.captured.get(stream, (graph, []))
            self.captured[stream] = graph, list(dict.fromkeys([*before, *after]))
        return (0,)

    def cuStreamIsCapturing(self, stream: int) -> tuple[int, int]:
        return 0, int(stream in self.captured)

    def cuStreamGetId(self, stream: int) -> tuple[int, int]:
        return 0, self.ids.get(stream, stream)

    def cuStreamBeginCapture(self, stream: int, mode: int) -> tuple[int]:
        self.captured[stream] = self.cuGraphCreate(0)[1], []
        return (0,)

    def cuStreamEndCapture(self, stream: int) -> tuple[int, int]:
        """Everything that was captured has to come before the end."""
        graph, last = self.captured[stream]
        ends = set(self.graphs[graph]) - {one for one, _ in self.edges}
        assert ends == set(last), "a stream was not joined to the capture again"
        self.captured = {other: state for other, state in self.captured.items() if state[0] != graph}
        self.events = {event: state for event, state in self.events.items() if state[0] != graph}
        return 0, graph

    def cuGraphCreate(self, flags: int) -> tuple[int, int]:
        made = self.number()
        self.graphs[made] = {}
        return 0, made

    def cuGraphDestroy(self, graph: int) -> tuple[int]:
        del self.graphs[graph]
        return (0,)

    def cuGraphAddKernelNode(self, graph: int, after: list[int], count: int, params: Any) -> tuple[int, int]:
        assert len(after) == count
        return 0, self._added(graph, after, self._of(params))

    def cuGraphInstantiate(self, graph: int, flags: int) -> tuple[int, int]:
        made = self.number()
        self.instantiated += 1
        self.executables[made] = dict(self.graphs[graph])
        return 0, made

    def cuGraphExecDestroy(self, made: int) -> tuple[int]:
        del self.executables[made]
        return (0,)

    def cuGraphLaunch(self, made: int, stream: int) -> tuple[int]:
        self.calls.append(("graph", stream))
        self.started += self.executables[made].values()
        return (0,)

    def cuGraphKernelNodeGetParams(self, node: int) -> tuple[int, Any]:
        started = next(nodes[node] for nodes in self.graphs.values() if node in nodes)
        extents = zip(
            (f"{what}Dim{axis}" for what in ("grid", "block") for axis in "XYZ"),
            started.grid + started.block,
            strict=True,
        )
        kern = next(handle for handle, kernel in self.kernels.items() if kernel.name == started.name)
        return 0, SimpleNamespace(kern=kern, sharedMemBytes=started.shared, kernelParams=0, **dict(extents))

    def cuGraphKernelNodeSetParams(self, node: int, params: Any) -> tuple[int]:
        nodes = next(nodes for nodes in self.graphs.values() if node in nodes)
        nodes[node] = self._of(params)
        return (0,)

    def cuGraphExecKernelNodeSetParams(self, made: int, node: int, params: Any) -> tuple[int]:
        assert node in self.executables[made]
        self.executables[made][node] = self._of(params)
        return (0,)

    def _of(self, params: Any) -> Started:
        extents = [getattr(params, f"{what}Dim{axis}") for what in ("grid", "block") for axis in "XYZ"]
        return self.read(params.kern, 0, [*extents, params.sharedMemBytes], params.kernelParams)

    def cuStreamGetCaptureInfo(self, stream: int) -> tuple[Any, ...]:
        graph, after = self.captured.get(stream, (0, []))
        return 0, int(stream in self.captured), 1, graph, after, [], len(after)

    def cuStreamUpdateCaptureDependencies(self, stream: int, after: list[int], data: None, count: int, how: int) -> Any:
        assert len(after) == count and how == 1
        self.captured[stream] = self.captured[stream][0], after
        return (0,)


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Driver:
    return install(monkeypatch)


def install(monkeypatch: pytest.MonkeyPatch) -> Driver:
    """goptx launches with this driver, on this device."""
    made = Driver()
    streams = iter(range(500, 600))

    def current_device() -> Any:
        made.device = made.device or 0
        default = SimpleNamespace(handle=DEFAULT)
        return SimpleNamespace(
            device_id=made.device, default_stream=default, create_stream=lambda: Stream(next(streams))
        )

    for name, module in list(sys.modules.items()):
        if name.startswith("goptx.device"):
            for function, fake in (("bindings", lambda: made), ("current_device", current_device)):
                if hasattr(module, function):
                    monkeypatch.setattr(module, function, fake)
    monkeypatch.setattr(Executable, "kernels", lambda self, cap: [made.kernel(one) for one in self.launching.launches])
    return made
