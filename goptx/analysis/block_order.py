"""A block order in which loops stay together."""

from __future__ import annotations

from collections.abc import Iterator

import networkx as nx

from goptx.analysis.cfg import Flow


def loop_order(flow: Flow) -> list[str]:
    """Reachable blocks, predecessors first except over back edges. Each loop is contiguous: what follows a loop comes
    after all of it (a weak topological order, Bourdoncle 1993)."""
    rank = flow.ranks()
    if all(rank[target] > rank[name] for name in rank for target in flow.blocks[name].end.successors()):
        return list(rank)  # there is no loop
    graph = flow.graph()

    def order(part: nx.DiGraph[str]) -> Iterator[str]:
        heads = {n: min(c, key=rank.__getitem__) for c in nx.strongly_connected_components(part) for n in c}
        components: dict[str, list[str]] = {}
        for name, head in heads.items():
            components.setdefault(head, []).append(name)
        outline: nx.DiGraph[str] = nx.DiGraph()
        outline.add_nodes_from(components)
        outline.add_edges_from((heads[s], heads[t]) for s, t in part.edges if heads[s] != heads[t])
        for head in nx.lexicographical_topological_sort(outline, key=rank.__getitem__):
            members = components[head]
            if len(members) == 1:
                yield head
                continue
            inner = nx.DiGraph(part.subgraph(members))
            inner.remove_edges_from(list(inner.in_edges(head)))
            yield from order(inner)

    return list(order(nx.DiGraph(graph.subgraph(rank))))
