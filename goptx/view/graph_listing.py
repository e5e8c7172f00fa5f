"""A picture of a graph of launches as text: what may run at once stands in one row."""

from __future__ import annotations

from collections.abc import Sequence

from goptx.graph.graph_description import Edge, Graph, GraphNode, Id


def graph_listing(graph: Graph, dependences: Sequence[Edge], groups: Sequence[Sequence[Id]]) -> str:
    """Rows of nodes, each node below all that it depends on; kernels to fuse are in brackets."""
    after: dict[Id, list[Id]] = {}
    for one, other in dependences:
        after.setdefault(other, []).append(one)
    group = {id_: number for number, ids in enumerate(groups, 1) for id_ in ids}
    lines = [str(graph)]
    for number, row in enumerate(rows(graph, dependences), 1):
        for i, node in enumerate(row):
            waits = ", ".join(str(id_) for id_ in after.get(node.id, ()))
            parts = [f"{number:>5}" if not i else " " * 5, _named(node), f"after {waits}" if waits else "at once"]
            parts += [f"[group {group[node.id]}]"] if node.id in group else []
            lines.append("  ".join(parts))
    lines += [f"group {n}: {', '.join(map(str, ids))}" for n, ids in enumerate(groups, 1)]
    lines += [] if groups else ["no group of independent kernels is estimated to gain"]
    return "\n".join(lines) + "\n"


def _named(node: GraphNode) -> str:
    launch = f" {node.shape}" if node.kind == "kernel" and node.ptx else ""
    return f"{node}{launch}"


def rows(graph: Graph, dependences: Sequence[Edge]) -> list[list[GraphNode]]:
    """The nodes by the number of nodes on the longest path that leads to them."""
    depth: dict[Id, int] = {node.id: 0 for node in graph.nodes}
    for one, other in _in_order(graph, dependences):
        depth[other] = max(depth[other], depth[one] + 1)
    found: list[list[GraphNode]] = [[] for _ in range(max(depth.values(), default=-1) + 1)]
    for node in graph.nodes:
        found[depth[node.id]].append(node)
    return found


def _in_order(graph: Graph, edges: Sequence[Edge]) -> list[Edge]:
    rank = {graph.nodes[node].id: i for i, node in enumerate(graph.order)}
    return sorted(edges, key=lambda edge: (rank[edge[1]], rank[edge[0]]))
