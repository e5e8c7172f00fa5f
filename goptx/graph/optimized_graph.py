"""optimize_graph(): a graph that does the same with fused kernels, and edges only where nodes depend on each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter

import networkx as nx

from goptx.display import as_text, brief
from goptx.graph.chosen_groups import Choice, chosen_groups
from goptx.graph.graph_description import Edge, Graph, GraphNode, Id
from goptx.graph.graph_json import read_graph
from goptx.graph.graph_report import FusedGroup, GraphReport
from goptx.graph.group_check import checked
from goptx.graph.group_choice import Costs, Group
from goptx.graph.group_making import Fused, Makers, fused_node
from goptx.graph.node_effects import Trust


@dataclass(frozen=True, slots=True)
class OptimizedGraph:
    """graph: the new graph. report: what was done. The given graph is as it was."""

    __repr__ = brief

    graph: Graph
    report: GraphReport

    _repr_pretty_ = as_text

    def __str__(self) -> str:
        return str(self.report)


def optimize_graph(
    graph: object, *, trust: Trust = None, check: bool = True, arch: str | None = None
) -> OptimizedGraph:
    """A graph that leaves the same in memory as the given one, with independent kernels fused where the cost model
    estimates a gain, and with edges only between nodes that depend on each other. Needs no GPU.

    graph: a `goptx.Graph`, or what `goptx.Graph.read` takes.
    trust: as for `goptx.parallelize_graph`.
    check: compare each fused kernel once with its kernels, on the emulator, if they are small enough; one that differs
        is not taken.
    arch: of the GPU, such as "sm_90"; by default that of most kernels of the graph.

    Raises `InputError` for what is not a graph.
    """
    begin = perf_counter()
    known = read_graph(graph)
    choice = chosen_groups(known, trust, arch)
    true, costs, single, groups = choice.dependences, choice.costs, choice.single, choice.indices
    makers = Makers(known, costs, arch)
    made = [(part, one, *_checked(known, part, one, check)) for group in groups for part, one in makers.of(group)]
    taken = [(part, one, note) for part, one, right, note in made if right]
    wrong = {i: note for part, _, right, note in made if not right for i in part}
    fused, result = _rewritten(known, true, taken, costs)
    inside = {i for part, _, _ in taken for i in part}
    reasons = {
        node.id: single.get(i) or wrong.get(i) or _why(known, i, makers, choice)
        for i, node in enumerate(known.nodes)
        if i not in inside
    }
    report = GraphReport(
        len(known.nodes),
        sum(node.ptx is not None for node in known.nodes),
        true,
        choice.groups,
        tuple(fused),
        reasons,
        perf_counter() - begin,
    )
    return OptimizedGraph(result, report)


def _checked(graph: Graph, group: Group, made: Fused, check: bool) -> tuple[bool, str]:
    if not check:
        return True, ""
    nodes = [graph.nodes[i] for i in group]
    return checked(graph, nodes, fused_node("fused", nodes, made.woven), made.woven.ptx)


def _rewritten(
    graph: Graph, true: Sequence[Edge], taken: Sequence[tuple[Group, Fused, str]], costs: Costs
) -> tuple[list[FusedGroup], Graph]:
    """The new graph, and what was fused. A fused node stands where the first of its kernels stood."""
    home: dict[Id, Id] = {node.id: node.id for node in graph.nodes}
    texts = dict(graph.ptx)
    new: dict[int, GraphNode] = dict(enumerate(graph.nodes))
    fused: list[FusedGroup] = []
    for group, made, note in taken:
        nodes = [graph.nodes[i] for i in group]
        node = fused_node(_free_id(nodes, home), nodes, made.woven)
        texts[str(node.ptx)] = made.woven.ptx
        for i, old in zip(group, nodes, strict=True):
            home[old.id] = node.id
            del new[i]
        new[min(group)] = node
        separate = costs.separate(group)
        ids = tuple(n.id for n in nodes)
        fused.append(FusedGroup(node.id, ids, made.woven.strategy, separate, made.cycles, note))
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


def _why(graph: Graph, node: int, makers: Makers, choice: Choice) -> str:
    """Why a kernel that might be fused is not."""
    id_ = graph.nodes[node].id
    refused = [why for ids, why in makers.refused.items() if id_ in ids]
    if refused:
        return refused[-1]
    if choice.effects[node].everything:
        return f"{choice.effects[node].everything}, so that it stays in order with all others"
    if len(graph.nodes) - len(choice.single) < 2:
        return "no other kernel of the graph can be fused"
    return "no group with an independent kernel near it is estimated to gain"
