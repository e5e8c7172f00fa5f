"""Which nodes of a captured graph can become one, and how the graph looks with a new node in place of each chain.

Requires: nodes 0 to count - 1 of an acyclic graph, its edges, and which nodes launch kernels that are known. Ensures: a
chain is a path of known nodes that no other node branches off from or leads into, so that a new node in its place keeps
every order that the graph had, whatever becomes of the other chains. Imports nothing of CUDA.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import networkx as nx

Edge = tuple[int, int]
Chain = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Replacement:
    """A new node in place of the nodes `removed`. It comes after the nodes `after` (a removed one stands for the node
    that was put in its place by an earlier replacement) and before the nodes `before`, none of which is removed."""

    removed: Chain
    after: tuple[int, ...]
    before: tuple[int, ...]


def in_order(count: int, edges: Collection[Edge]) -> list[int]:
    """The nodes, each after those that it depends on; nodes that do not depend on each other by their numbers."""
    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_nodes_from(range(count))
    graph.add_edges_from(edges)
    return list(nx.lexicographical_topological_sort(graph))


def chains(
    count: int, edges: Collection[Edge], known: Collection[int], partial: Collection[Edge] = (), most: int = 26
) -> list[Chain]:
    """The longest chains of at most `most` nodes, in the order of the graph; every known node is in one of them.
    `partial` are edges that do not wait for all of the node that they come from: no chain goes along them."""
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
    """For each of these chains, in the order of the graph, in which they are to be carried out."""
    following, preceding = _neighbours(count, edges)
    removed = {node for chain in replaced for node in chain}
    return [
        Replacement(
            chain, tuple(preceding[chain[0]]), tuple(node for node in following[chain[-1]] if node not in removed)
        )
        for chain in replaced
    ]


def _neighbours(count: int, edges: Collection[Edge]) -> tuple[list[list[int]], list[list[int]]]:
    """The nodes directly after each node, and those directly before it."""
    following: list[list[int]] = [[] for _ in range(count)]
    preceding: list[list[int]] = [[] for _ in range(count)]
    for one, other in sorted(set(edges)):
        following[one].append(other)
        preceding[other].append(one)
    return following, preceding
