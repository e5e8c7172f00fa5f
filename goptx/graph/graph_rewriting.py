"""A graph in which groups of kernels are one node each.

Requires: a graph, its dependences, and fused kernels of independent groups. Ensures: the new graph has the fewest edges
that keep the dependences.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import networkx as nx

from goptx.graph.graph_description import Edge, Graph, GraphNode, Id
from goptx.graph.graph_report import FusedGroup
from goptx.graph.group_costs import Costs, Group
from goptx.graph.group_making import Fused, fused_node


@dataclass(frozen=True, slots=True)
class Taken:
    """A group of kernels that is fused, and why it was not compared."""

    group: Group
    made: Fused
    note: str = ""


def rewritten(
    graph: Graph, true: Sequence[Edge], taken: Sequence[Taken], costs: Costs
) -> tuple[list[FusedGroup], Graph]:
    """The new graph, and what was fused. A fused node stands where the first of its kernels stood."""
    home: dict[Id, Id] = {node.id: node.id for node in graph.nodes}
    texts = dict(graph.ptx)
    new: dict[int, GraphNode] = dict(enumerate(graph.nodes))
    fused: list[FusedGroup] = []
    for one in taken:
        group, made, note = one.group, one.made, one.note
        nodes = [graph.nodes[i] for i in group]
        node = fused_node(_free_id(nodes, home), nodes, made)
        texts[str(node.ptx)] = made.woven.ptx
        for i, old in zip(group, nodes, strict=True):
            home[old.id] = node.id
            del new[i]
        new[min(group)] = node
        separate = costs.separate(group)
        ids = tuple(n.id for n in nodes)
        fused.append(FusedGroup(node.id, ids, made.how, separate, made.cycles, note))
    nodes = [new[i] for i in sorted(new)]
    used = {node.ptx for node in nodes}
    edges = reduced([n.id for n in nodes], [(home[one], home[other]) for one, other in true])
    return fused, Graph(tuple(nodes), edges, graph.allocations, {s: t for s, t in texts.items() if s in used})


def reduced(ids: Sequence[Id], edges: Sequence[Edge]) -> tuple[Edge, ...]:
    """The fewest edges with the same order."""
    whole: nx.DiGraph[Id] = nx.DiGraph()
    whole.add_nodes_from(ids)
    whole.add_edges_from(edges)
    least = nx.transitive_reduction(whole)
    return tuple(edge for edge in dict.fromkeys(edges) if least.has_edge(*edge))


def _free_id(nodes: Sequence[GraphNode], home: Mapping[Id, Id]) -> Id:
    """An id that no other node has: the next number where all ids are numbers, else the joined ids."""
    taken = {*home, *home.values()}
    numbers = [id_ for id_ in taken if isinstance(id_, int)]
    if len(numbers) == len(taken):
        return max(numbers) + 1
    name = "+".join(str(node.id) for node in nodes)
    while name in taken:
        name += "'"
    return name
