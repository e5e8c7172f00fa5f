"""A rewritten graph on the device: its nodes are those of the captured graph, and fused kernels."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from goptx.device.graphs.rewritten_graph import AddedKernel, RewrittenGraph
from goptx.device.load import Launcher
from goptx.errors import InputError
from goptx.graph.captured_program import Program, described_parameters, with_allocations
from goptx.graph.graph_dependences import reachable
from goptx.graph.graph_description import Graph, GraphNode, Id
from goptx.graph.group_making import Fused, fused_node
from goptx.graph.node_effects import Trust, effects_of
from goptx.results.fused_kernel import Woven

Parameters = Sequence[bytes]


@dataclass(frozen=True, slots=True)
class FusedNode:
    """The ids of the nodes that a fused kernel replaces, in order, and the kernel."""

    members: tuple[Id, ...]
    made: Fused


class LaunchableGraph:
    """A graph that can be launched. graph: its description.

    program: the captured graph. fused: the fused kernels, by the ids of their nodes. trust: that with which its
    dependences were found. Raises `AssemblyError`, `DeviceError`.
    """

    def __init__(
        self, program: Program, graph: Graph, fused: Mapping[Id, FusedNode] | None = None, trust: Trust = None
    ) -> None:
        self.program, self.graph, self.fused, self.trust = program, graph, dict(fused or {}), trust
        at = program.graph.position
        preserved = {n.id: program.handles[at[n.id]] for n in graph.nodes if n.id not in self.fused}
        added = {n.id: _added(n, self.fused[n.id].made.woven) for n in graph.nodes if n.id in self.fused}
        order = [graph.nodes[i].id for i in graph.order]
        self._running = RewrittenGraph(program.source, preserved, added, order, graph.edges)

    def starter(self, stream: Any = None) -> Callable[[], None]:
        """What launches it once on that stream and does not wait. Raises `InputError` after `close`, `DeviceError`."""
        return self._running.starter(stream)

    def replay(self, stream: Any = None) -> None:
        """Launches it; without a stream, a graph of torch is launched on torch's current one."""
        if stream is None and hasattr(self.program.given, "raw_cuda_graph"):
            stream = sys.modules["torch"].cuda.current_stream()
        self._running.starter(stream)()

    def update(self, changes: Mapping[int, Parameters] | None = None) -> tuple[int, ...]:
        """Passes other parameters to nodes of the captured graph, by their ids; without `changes`, those that the
        captured graph has now. Gives the ids of the nodes that changed. Raises `InputError` where the order of this
        graph is not enough for them; then nothing is changed."""
        known = self.program.graph
        if changes is None:
            changes = described_parameters(self.program)
        new_ones = {id_: tuple(p) for id_, p in changes.items() if tuple(p) != self._node(id_).parameters}
        if not new_ones:
            return ()
        given: dict[Id, Parameters] = dict(new_ones.items())
        nodes = tuple(_changed(node, given.get(node.id)) for node in known.nodes)
        new = with_allocations(replace(known, nodes=nodes))
        self._check_order(new, given)
        for id_ in dict.fromkeys(self._home(id_) for id_ in given):
            self._running.update(id_, self._parameters(id_, new))
        self.program = replace(self.program, graph=new)
        return tuple(new_ones)

    def _node(self, id_: Id) -> GraphNode:
        known = self.program.graph
        if id_ not in known.position:
            raise InputError(f"the captured graph has no node {id_!r}; its nodes are 0 to {len(known.nodes) - 1}.")
        return known.node(id_)

    def _home(self, id_: Id) -> Id:
        """The node of this graph that runs a node of the captured one."""
        return next((key for key, one in self.fused.items() if id_ in one.members), id_)

    def _parameters(self, id_: Id, new: Graph) -> Parameters:
        one = self.fused.get(id_)
        if one is None:
            return new.node(id_).parameters
        return fused_node(id_, [new.node(member) for member in one.members], one.made).parameters

    def _check_order(self, new: Graph, changes: Mapping[Id, Parameters]) -> None:
        """Raises `InputError` where a node with new parameters depends on one that this graph does not order alike."""
        effects, captured, here = effects_of(new, self.trust), reachable(new), reachable(self.graph)
        for id_ in changes:
            one = new.position[id_]
            for other in range(len(new.nodes)):
                pairs = [(other, one)] * (captured[one] >> other & 1) + [(one, other)] * (captured[other] >> one & 1)
                if not pairs or not effects[one].conflicts(effects[other]):
                    continue
                first, last = (self.graph.position[self._home(new.nodes[i].id)] for i in pairs[0])
                if not here[last] >> first & 1:
                    both = "are one fused kernel" if first == last else "may run at once in the optimized graph"
                    raise InputError(
                        f"with these parameters node {id_!r} and node {new.nodes[other].id!r} depend on each other, "
                        f"and they {both}; optimize the captured graph again. Nothing was changed."
                    )

    def close(self) -> None:
        """Destroys the graph; launches that have begun end."""
        self._running.close()


def _changed(node: GraphNode, parameters: Parameters | None) -> GraphNode:
    if parameters is None:
        return node
    if not node.parameters or list(map(len, parameters)) != list(map(len, node.parameters)):
        sizes = ", ".join(str(len(p)) for p in node.parameters) or "no known"
        raise InputError(f"node {node.id!r} takes parameters of {sizes} bytes; give the bytes of each of them.")
    return replace(node, parameters=tuple(parameters))


def _added(node: GraphNode, woven: Woven) -> AddedKernel:
    sizes = tuple(map(len, node.parameters))
    launcher = Launcher(woven.load(), grid=node.grid, block=node.block, shared=node.shared, sizes=sizes)
    return AddedKernel(launcher, node.parameters)
