"""Orders of a graph that keep its dependences, besides that of the dependences alone.

Requires: a graph whose edges are its dependences. Ensures: each order has these edges or a path in place of each.
Branches cost time themselves, and kernels that fill the GPU may be slower at once than one after the other: which
order is the fastest is measured.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf

from goptx.cost.kernels import Alone
from goptx.graph.graph_description import Graph, Id
from goptx.graph.graph_report import FusedGroup
from goptx.graph.graph_rewriting import reduced
from goptx.graph.group_costs import Costs


@dataclass(frozen=True, slots=True)
class Demand:
    """filled: the share of the GPU's places for CTAs that a kernel fills. cycles: how long it is estimated to take."""

    filled: float
    cycles: float


def in_a_row(graph: Graph) -> Graph:
    """The graph with its nodes one after the other, as the capture of one stream has them."""
    return graph.ordered(list(pairwise(graph.nodes[i].id for i in graph.order)))


def as_many_as_fit(graph: Graph, demands: Mapping[Id, Demand], most: float = 1.0) -> Graph:
    """The graph in which no more kernels run at once, by the estimates, than the GPU has places for CTAs, or the share
    `most` of these: others wait for those that end first. Nodes without a demand have their dependences only, and are
    estimated to take no time."""
    ids, at = [node.id for node in graph.nodes], graph.position
    each = [demands.get(id_) for id_ in ids]
    needed: list[list[int]] = [[] for _ in ids]
    for one, other in graph.edges:
        needed[at[other]].append(at[one])
    rank = {node: i for i, node in enumerate(graph.order)}
    left, done = set(graph.order), list[int]()
    waited_for = [0] * len(ids)
    begin, end = [0.0] * len(ids), [0.0] * len(ids)
    filled = [demand.filled if demand else 0.0 for demand in each]

    def ready(node: int) -> float:
        return max((end[i] for i in needed[node]), default=0.0)

    while left:  # the node that may begin first
        free = [node for node in left if left.isdisjoint(needed[node])]
        node = min(free, key=lambda node: (ready(node), rank[node]))
        begin[node] = ready(node)
        left.remove(node)
        own = each[node]
        while own:
            running = [i for i in done if begin[i] <= begin[node] < end[i]]
            if not running or own.filled + sum(filled[i] for i in running) <= most:
                break
            first = min(running, key=lambda i: (end[i], waited_for[i], rank[i]))
            waited_for[first] += 1
            needed[node].append(first)
            begin[node] = end[first]
        end[node] = begin[node] + (own.cycles if own else 0.0)
        done.append(node)
    edges = [(ids[one], ids[node]) for node in graph.order for one in needed[node]]
    return graph.ordered(reduced(ids, edges))


def demands_of(graph: Graph, captured: Graph, fused: Sequence[FusedGroup], costs: Costs) -> dict[Id, Demand]:
    """The demands of a rewritten graph's kernels, of those with known costs and fused ones."""
    found: dict[Id, Demand] = {}
    for i, node in enumerate(captured.nodes):
        if node.ptx and isinstance(costs.kernel(node), Alone) and costs.alone(i) < inf:
            found[node.id] = Demand(costs.filled(i), costs.alone(i))
    at = captured.position
    for group in fused:
        filled = sum(costs.filled(at[id_]) for id_ in group.members)
        found[group.id] = Demand(min(filled, 1.0), group.cycles)
    return {node.id: found[node.id] for node in graph.nodes if node.id in found}
