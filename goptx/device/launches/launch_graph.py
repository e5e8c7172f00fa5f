"""Bound launches in CUDA graphs: as graphs of their own, or as nodes of graphs of cuda.core and torch.

The driver copies the arguments into a node, so a graph passes those at the time when it was made or last updated.
Imports CUDA only inside functions.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from goptx.device.cuda_graph import dependencies
from goptx.device.load import bindings, must, stream_handle
from goptx.device.recorded_streams import check_launch
from goptx.errors import InputError

if TYPE_CHECKING:
    from goptx.device.launches.bound_launch import BoundLaunch
    from goptx.device.load import Launcher

DEFINITIONS = "cuda.core's GraphDefinition, torch's CUDAGraph with keep_graph=True, or a handle of the driver"
EXECUTABLES = "cuda.core's Graph, torch's CUDAGraph with keep_graph=True, or a handle of the driver"


class GraphNodes:
    """The kernel nodes of a bound launch in a CUDA graph, made by `BoundLaunch.add_to`. They hold the kernels and the
    bound arrays, so they must live as long as the graph.

    bound: the launch. handles: those of the nodes for the driver, one for each kernel that is launched, in the order of
        the kernels.
    """

    def __init__(self, bound: BoundLaunch, graph: int, after: Sequence[int]) -> None:
        self.bound = bound
        driver = bindings()
        starter, memory = bound.prepared.starter, bound.prepared.memory
        self._driver = driver
        self._params = [
            node_params(driver, one, table) for one, table in zip(starter.launchers, memory.tables, strict=True)
        ]
        self._number = starter.for_nodes()
        made: dict[int, Any] = {}
        before = [driver.CUgraphNode(node) for node in after]
        with starter.passing(memory, self._number):
            for i in starter.order:  # branches tend to start in the order in which they were added
                made[i] = must(driver.cuGraphAddKernelNode(driver.CUgraph(graph), before, len(before), self._params[i]))
                before = [made[i]] if starter.ordered else before
        self._nodes = [made[i] for i in range(len(made))]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.bound.name!r}, kernel nodes: {len(self._nodes)})"

    @property
    def handles(self) -> tuple[int, ...]:
        return tuple(int(node) for node in self._nodes)

    @property
    def last(self) -> tuple[int, ...]:
        """The handles of the nodes that all end after: of kernels in order the last one, else all of them."""
        return self.handles[-1:] if self.bound.prepared.starter.ordered else self.handles

    def update(self, executable: Any = None) -> None:
        """Passes the present arguments of the bound launch: in later launches of `executable`, a graph that was
        instantiated of the one with these nodes (cuda.core's Graph, torch's CUDAGraph, a handle of the driver); and in
        graphs that are instantiated later. Raises `InputError`, `DeviceError`."""
        self.bound.use_device()
        driver = self._driver
        made = None
        if executable is not None:
            made = driver.CUgraphExec(_handle(executable, "CUgraphExec", "raw_cuda_graph_exec", EXECUTABLES))
        prepared = self.bound.prepared
        with prepared.starter.passing(prepared.memory, self._number):
            for node, params in zip(self._nodes, self._params, strict=True):
                must(driver.cuGraphKernelNodeSetParams(node, params))
                if made is not None:
                    must(driver.cuGraphExecKernelNodeSetParams(made, node, params))


class LaunchGraph(GraphNodes):
    """A CUDA graph of a bound launch, instantiated, made by `BoundLaunch.graph`.

        graph = bound.graph()
        graph.launch(stream)
        bound.update("A:4", 0.1)
        graph.update()
        graph.launch(stream)

    definition, executable: the driver's handles (CUgraph, CUgraphExec), valid until `close` or until this object is
        deleted. The definition may become a child of another graph.
    """

    def __init__(self, bound: BoundLaunch) -> None:
        driver = bindings()
        definition = must(driver.cuGraphCreate(0))
        self._close = weakref.finalize(self, driver.cuGraphDestroy, definition)
        super().__init__(bound, int(definition), ())
        executable = must(driver.cuGraphInstantiate(definition, 0))
        self._close_executable = weakref.finalize(self, driver.cuGraphExecDestroy, executable)
        self._executable = executable
        self.definition, self.executable = int(definition), int(executable)

    def launch(self, stream: Any = None) -> None:
        """Launches the graph once and does not wait. `stream` as for `BoundLaunch.launch`. Raises `InputError` after
        `close` and while a fusion region records the stream, `DeviceError`."""
        check_launch(stream)
        self._check_open()
        must(self._driver.cuGraphLaunch(self._executable, self.bound.prepared.starter.driver_stream(stream)))

    def update(self, executable: Any = None) -> None:
        """Passes the present arguments of the bound launch in later launches of this graph, and of `executable`, one
        that was instantiated of the same definition. Raises `InputError`, `DeviceError`."""
        self._check_open()
        super().update(self._executable)
        if executable is not None:
            super().update(executable)

    def close(self) -> None:
        """Destroys the graph; launches that have begun end."""
        self._close_executable()
        self._close()

    def _check_open(self) -> None:
        if not self._close.alive:
            raise InputError(f"the graph of `{self.bound.name}` is closed; make another one with graph().")


def added(bound: BoundLaunch, graph: Any, after: Sequence[Any]) -> GraphNodes:
    """As of `BoundLaunch.add_to`."""
    if not hasattr(graph, "__cuda_stream__"):
        nodes = [node if isinstance(node, int) else int(node.handle) for node in after]
        return GraphNodes(bound, _handle(graph, "CUgraph", "raw_cuda_graph", DEFINITIONS), nodes)
    check_launch(graph)
    if after:
        raise InputError("add_to: a stream that is captured has its own order; leave `after` out.")
    driver = bindings()
    stream = driver.CUstream(stream_handle(graph))
    found = dependencies(stream)
    if found is None:
        raise InputError("add_to: the stream is not being captured; begin the capture first, or use launch().")
    made = GraphNodes(bound, int(found[0]), [int(node) for node in found[1]])
    flags = driver.CUstreamUpdateCaptureDependencies_flags.CU_STREAM_SET_CAPTURE_DEPENDENCIES
    last = [driver.CUgraphNode(node) for node in made.last]
    must(driver.cuStreamUpdateCaptureDependencies(stream, last, None, len(last), int(flags)))
    return made


def node_params(driver: Any, launcher: Launcher, table: int) -> Any:
    """The parameters of a node that starts a kernel with the parameters of a table."""
    params = driver.CUDA_KERNEL_NODE_PARAMS()
    params.kern = driver.CUkernel(launcher.handle)
    params.gridDimX, params.gridDimY, params.gridDimZ = launcher.grid
    params.blockDimX, params.blockDimY, params.blockDimZ = launcher.block
    params.sharedMemBytes = launcher.shared
    params.kernelParams = table
    return params


def _handle(graph: Any, kind: str, method: str, taken: str) -> int:
    """The driver's handle of this kind of a graph of cuda.core, which has `handle`, or of torch, which has the method.
    Raises `InputError` for anything else, also for a handle of another kind."""
    if type(graph) is int:
        return graph
    made = getattr(graph, method, None)
    if made is not None:
        return int(made())
    found = getattr(graph, "handle", graph)
    if type(found).__name__ == kind:
        return int(found)
    raise InputError(f"an object of type {type(graph).__name__} is not a CUDA graph that is taken here; give {taken}.")
