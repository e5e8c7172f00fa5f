"""How much of a graph's time its nodes without PTX take, measured on the device.

Requires: a captured graph that may be run. Ensures: only beginnings of the graph are run, so that each node reads what
it reads in the program. The time of a node is that by which a beginning is longer with it.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from goptx.graph.captured_program import Program
from goptx.graph.graph_description import EMPTY, Graph, GraphNode
from goptx.graph.running.graph_orders import in_a_row
from goptx.graph.running.graph_trial import Trial
from goptx.graph.running.launchable_graph import LaunchableGraph

MOST_ENDS = 64  # beginnings that are run at most


def time_without_ptx(program: Program, trial: Trial) -> float | None:
    """The share of the graph's time that its nodes without PTX take, from 0 to 1, one node after the other. None where
    that is not measured: nothing may be run, or kernels with and without PTX alternate too often."""
    graph = program.graph
    unknown = [_is_unknown(graph.nodes[i]) for i in graph.order]
    if len(set(unknown)) < 2:
        return float(any(unknown))
    ends = [i for i in range(1, len(unknown)) if unknown[i] != unknown[i - 1]] + [len(unknown)]
    if trial.note or len(ends) > MOST_ENDS:
        return None
    graphs = {str(end): LaunchableGraph(program, in_a_row(_beginning(graph, end))) for end in ends}
    try:
        times = {0: 0.0} | {int(end): ms for end, ms in trial.milliseconds(graphs).items()}
    finally:
        for one in graphs.values():
            one.close()
    parts = [(max(0.0, times[end] - times[begin]), unknown[begin]) for begin, end in pairwise([0, *ends])]
    whole = sum(ms for ms, _ in parts)
    return sum(ms for ms, without in parts if without) / whole if whole else None


def _is_unknown(node: GraphNode) -> bool:
    return node.ptx is None and node.kind != EMPTY


def _beginning(graph: Graph, count: int) -> Graph:
    """The graph of the nodes that run first."""
    nodes = tuple(graph.nodes[i] for i in sorted(graph.order[:count]))
    ids = {node.id for node in nodes}
    return replace(graph, nodes=nodes, edges=tuple(e for e in graph.edges if ids.issuperset(e)))
