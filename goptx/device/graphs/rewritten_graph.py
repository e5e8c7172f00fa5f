"""A CUDA graph made of another one: a copy in which kernels were replaced and the edges are new, instantiated.

Requires: a graph of the driver that is not destroyed. Ensures: the given graph is as it was; the nodes that are
preserved have all that they had (parameters, attributes, priorities). Imports CUDA only inside functions.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from goptx.device.cuda_graph import checked, edges_of
from goptx.device.launches.launch_graph import node_params
from goptx.device.launches.parameter_memory import ParameterMemory
from goptx.device.load import Launcher, bindings, current_device, must
from goptx.device.recorded_streams import check_launch
from goptx.device.repeating import driver_stream
from goptx.errors import InputError

Key = int | str  # of a node


@dataclass(frozen=True, slots=True)
class AddedKernel:
    """A kernel that is launched in place of others, and the contents of its parameters."""

    launcher: Launcher
    contents: tuple[bytes, ...]


class RewrittenGraph:
    """The new graph. It holds the kernels that were added.

    source: the handle of the given graph. preserved: the handles of its nodes that stay, by their keys. added: the new
    nodes. order: all keys; new nodes are added in this order. edges: pairs of keys. Raises `DeviceError`.
    """

    def __init__(
        self,
        source: int,
        preserved: Mapping[Key, int],
        added: Mapping[Key, AddedKernel],
        order: Sequence[Key],
        edges: Sequence[tuple[Key, Key]],
    ) -> None:
        driver = self._driver = bindings()
        current_device()
        self._added = dict(added)
        self._memory: dict[Key, ParameterMemory] = {}
        graph = must(driver.cuGraphClone(driver.CUgraph(source)))
        self.close = weakref.finalize(self, _destroy, driver, made := [graph])
        self._graph = graph
        self._nodes = self._preserved(preserved)
        for key in order:
            if key in added:
                self._nodes[key] = self._add(key, added[key])
        ones = [self._nodes[one] for one, _ in edges]
        if ones:
            others = [self._nodes[other] for _, other in edges]
            must(driver.cuGraphAddDependencies(graph, ones, others, None, len(ones)))
        self._executable = must(driver.cuGraphInstantiate(graph, 0))
        made.append(self._executable)

    def _preserved(self, preserved: Mapping[Key, int]) -> dict[Key, Any]:
        """The nodes of the copy that stay, without edges; the others are destroyed."""
        driver, graph = self._driver, self._graph
        find = driver.cuGraphNodeFindInClone
        found = {key: must(find(driver.CUgraphNode(handle), graph)) for key, handle in preserved.items()}
        ones, others, data = edges_of(graph)
        if ones:
            must(driver.cuGraphRemoveDependencies(graph, ones, others, data, len(ones)))
        stay = {int(node) for node in found.values()}
        _, _, count = checked(driver.cuGraphGetNodes(graph, 0))
        for node in list(checked(driver.cuGraphGetNodes(graph, count))[1])[:count] if count else []:
            if int(node) not in stay:
                must(driver.cuGraphDestroyNode(node))
        return found

    def _add(self, key: Key, kernel: AddedKernel) -> Any:
        params = self._params(key, kernel.contents)
        return must(self._driver.cuGraphAddKernelNode(self._graph, [], 0, params))

    def _params(self, key: Key, contents: Sequence[bytes]) -> Any:
        return node_params(self._driver, self._added[key].launcher, self._parameters(key, contents))

    def _parameters(self, key: Key, contents: Sequence[bytes]) -> int:
        """The address of a table of these contents, which are held until the next ones of the node."""
        memory = self._memory[key] = ParameterMemory([(tuple(map(len, contents)), ())])
        memory.fill(contents)
        return memory.tables[0]

    def update(self, key: Key, contents: Sequence[bytes]) -> None:
        """Passes other parameters to the kernel of a node, in later launches. Raises `DeviceError`."""
        driver, node = self._driver, self._nodes[key]
        if key in self._added:
            params = self._params(key, contents)
        else:
            params = must(driver.cuGraphKernelNodeGetParams(node))
            params.kernelParams = self._parameters(key, contents)
        must(driver.cuGraphKernelNodeSetParams(node, params))
        must(driver.cuGraphExecKernelNodeSetParams(self._executable, node, params))

    def starter(self, stream: Any = None) -> Callable[[], None]:
        """What launches the graph once on that stream and does not wait. `stream` is a cuda.core Stream, any object
        with `__cuda_stream__`, or None for the default stream. Raises `InputError` after `close`, `DeviceError`."""
        check_launch(stream)
        if not self.close.alive:
            raise InputError("the graph is closed; optimize the captured graph again.")
        launch, executable, made = self._driver.cuGraphLaunch, self._executable, driver_stream(stream)
        return lambda: must(launch(executable, made))


def _destroy(driver: Any, made: list[Any]) -> None:
    """Destroys a graph and what was instantiated of it, the last first."""
    graph, *executables = made
    for executable in executables:
        driver.cuGraphExecDestroy(executable)
    driver.cuGraphDestroy(graph)
