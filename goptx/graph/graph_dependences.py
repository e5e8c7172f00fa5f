"""Which nodes of a graph depend on each other: an order that the graph has, and that matters.

Requires: a graph. Ensures: two nodes that the graph orders, and whose effects conflict (RAW, WAR or WAW), stay in that
order; nodes that the graph does not order get no order. The dependences are the fewest with that closure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from goptx.graph.graph_description import Edge, Graph
from goptx.graph.graph_json import is_description, read_graph
from goptx.graph.node_effects import Effects, Trust, effects_of

if TYPE_CHECKING:
    from goptx.graph.optimized_graph import OptimizedGraph
    from goptx.sources.collecting import Collected


def dependences(graph: Graph, effects: Sequence[Effects]) -> tuple[Edge, ...]:
    """The dependences as pairs of ids, in the order of the graph."""
    before = reachable(graph)
    earlier = [0] * len(graph.nodes)  # bits of the nodes on which each depends, in any number of steps
    found: list[Edge] = []
    rank = {node: i for i, node in enumerate(graph.order)}
    for node in graph.order:
        edges: list[int] = []
        for other in sorted(members(before[node]), key=rank.__getitem__, reverse=True):
            if not earlier[node] >> other & 1 and effects[other].conflicts(effects[node]):
                earlier[node] |= earlier[other] | 1 << other
                edges.append(other)
        found += [(graph.nodes[other].id, graph.nodes[node].id) for other in sorted(edges, key=rank.__getitem__)]
    return tuple(found)


def reachable(graph: Graph) -> list[int]:
    """For each node the bits of the nodes that run before it."""
    found = [0] * len(graph.nodes)
    preceding: list[list[int]] = [[] for _ in graph.nodes]
    for one, other in graph.edges:
        preceding[graph.position[other]].append(graph.position[one])
    for node in graph.order:
        for one in preceding[node]:
            found[node] |= found[one] | 1 << one
    return found


def members(bits: int) -> list[int]:
    """The numbers of the bits that are set."""
    found = []
    while bits:
        lowest = bits & -bits
        found.append(lowest.bit_length() - 1)
        bits ^= lowest
    return found


@overload
def parallelize_graph(  # type: ignore[overload-overlap]
    graph: Graph | str | bytes | Path | Mapping[str, Any], *, trust: Trust = None
) -> Graph: ...
@overload
def parallelize_graph(graph: object, kernels: Collected | None = None, *, trust: Trust = None) -> OptimizedGraph: ...
def parallelize_graph(
    graph: object, kernels: Collected | None = None, *, trust: Trust = None
) -> Graph | OptimizedGraph:
    """The graph with edges only between nodes that depend on each other, so that the others may run at once; nothing is
    fused.

    graph: a CUDA graph that a program has captured, as for `goptx.optimize_graph`: the new one is returned, with
        `replay`. Or a `goptx.Graph`, or what `goptx.Graph.read` takes, which needs no GPU: a `goptx.Graph` is returned.
    kernels: of a CUDA graph, what `goptx.collect()` gave.
    trust: "pointers" asserts that kernels of which goptx does not know what they access, opaque ones among them, access
        only the allocations that their parameters point into. Nodes that are not kernels stay in order.

    Raises `InputError` for what is not a graph, and for graphs that `goptx.optimize_graph` refuses; `DeviceError`.
    """
    if not is_description(graph):
        from goptx.graph.optimized_graph import parallelized

        return parallelized(graph, kernels, trust)
    known = read_graph(graph)
    return known.ordered(dependences(known, effects_of(known, trust)))
