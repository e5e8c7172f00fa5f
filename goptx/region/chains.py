"""Finds chains of nodes of a captured graph that can become one node, and replaces each chain by a new node.

Requires: nodes 0 to count - 1 of an acyclic graph, its edges, and which nodes launch known kernels. Ensures: a chain is
a path of known nodes without edges to or from other nodes within it. So a new node in its place preserves every order
of the graph, whether or not other chains are replaced. Imports nothing of CUDA.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import networkx as nx

Edge = tuple[int, int]
Chain = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Replacement:
    """A new node for the nodes `removed`. It comes after the nodes `after` (a removed one stands for the node that
    replaced it earlier) and before the nodes `before`, which are not removed."""

    removed: Chain
    after: tuple[int, ...]
    before: tuple[int, ...]


def in_order(count: int, edges: Collection[Edge]) -> list[int]:
    """The nodes in topological order; independent nodes are in the order of their numbers."""
    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_nodes_from(range(count))
    graph.add_edges_from(edges)
    return list(nx.lexicographical_topological_sort(graph))


def chains(
    count: int, edges: Collection[Edge], known: Collection[int], partial: Collection[Edge] = (), most: int = 26
) -> list[Chain]:
    """The longest chains of at most `most` nodes, in the order of the graph; every known node is in one of them.
    `partial` are edges that do not wait for the end of the node from which they come: no chain has them."""
    following, preceding = _neighbours(count, edges)
    wanted, partial = set(known), set(partial)
    ends: dict[int, list[int]] = {}  # chains by their last nodes
    found: list[list[int]] = []
    for node in (n for n in in_order(count, edges) if n in wanted):
        before = preceding[node]
        chain = ends.pop(before[0], None) if len(before) == 1 else None
        follows = chain is not None and following[before[0]] == [node] and (before[0], node) not in partial
        if chain is None or not follows or len(chain) == most:
            chain = []
            found.append(chain)
        chain.append(node)
        ends[node] = chain
    return [tuple(chain) for chain in found]


def replacements(count: int, edges: Collection[Edge], replaced: Sequence[Chain]) -> list[Replacement]:
    """A replacement for each of these chains, in the order of the graph; carry them out in this order."""
    following, preceding = _neighbours(count, edges)
    removed = {node for chain in replaced for node in chain}
    return [
        Replacement(
            chain, tuple(preceding[chain[0]]), tuple(node for node in following[chain[-1]] if node not in removed)
        )
        for chain in replaced
    ]


def _neighbours(count: int, edges: Collection[Edge]) -> tuple[list[list[int]], list[list[int]]]:
    """The successors of each node, and its predecessors."""
    following: list[list[int]] = [[] for _ in range(count)]
    preceding: list[list[int]] = [[] for _ in range(count)]
    for one, other in sorted(set(edges)):
        following[one].append(other)
        preceding[other].append(one)
    return following, preceding
