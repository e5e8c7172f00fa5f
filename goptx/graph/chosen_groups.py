"""The dependences of a graph and the groups of kernels that may be fused, without fusing them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from goptx.graph.graph_dependences import dependences
from goptx.graph.graph_description import Edge, Graph, Id
from goptx.graph.group_choice import choose_groups, sibling_groups, target_of, unfit
from goptx.graph.group_costs import Costs, Group
from goptx.graph.node_effects import Effects, Trust, effects_of


@dataclass(frozen=True, slots=True)
class Choice:
    """dependences: the true ones, as pairs of ids. groups: the ids of kernels that are estimated to gain as one launch.
    effects: of each node, with `trust`. single: why a node is in no group, by its index. indices: the groups as indices
    of nodes."""

    dependences: tuple[Edge, ...]
    groups: tuple[tuple[Id, ...], ...]
    effects: tuple[Effects, ...]
    single: dict[int, str]
    indices: tuple[Group, ...]
    costs: Costs
    trust: Trust = None


def daring(choice: Choice, graph: Graph) -> Choice:
    """Other groups, which may gain and are to be measured."""
    costs = replace(choice.costs, daring=True, trials=0)
    free = [i for i in range(len(graph.nodes)) if i not in choice.single]
    groups = choose_groups(graph, choice.dependences, costs, free)
    ids = tuple(tuple(graph.nodes[i].id for i in group) for group in groups)
    return replace(choice, groups=ids, indices=tuple(groups), costs=costs)


def siblings(choice: Choice, graph: Graph) -> tuple[Group, ...]:
    """Groups that add no order, whatever they are estimated to gain, to be measured, as indices of nodes."""
    free = [i for i in range(len(graph.nodes)) if i not in choice.single]
    return tuple(sibling_groups(graph, choice.dependences, free))


def chosen_groups(graph: Graph, trust: Trust = None, arch: str | None = None) -> Choice:
    """What `goptx.optimize_graph` begins with. `trust` and `arch` are those of it."""
    effects = effects_of(graph, trust)
    true = dependences(graph, effects)
    costs = Costs(graph, arch or target_of(graph))
    single = unfit(graph, costs)
    groups = choose_groups(graph, true, costs, [i for i in range(len(graph.nodes)) if i not in single])
    ids = tuple(tuple(graph.nodes[i].id for i in group) for group in groups)
    return Choice(true, ids, tuple(effects), single, tuple(groups), costs, trust)
