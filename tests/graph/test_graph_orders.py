"""Orders of a graph that keep its dependences: as many kernels at once as fit."""

import random
from dataclasses import replace

import pytest
from graph.graph_kernels import added, chain, opaque, scaled

from goptx.graph.chosen_groups import chosen_groups, siblings
from goptx.graph.graph_dependences import reachable
from goptx.graph.graph_description import Edge, Graph, Id
from goptx.graph.graph_rewriting import Taken, rewritten
from goptx.graph.group_making import Makers
from goptx.graph.running.graph_orders import Demand, as_many_as_fit, demands_of


def work(filled: float, cycles: float = 10.0) -> Demand:
    return Demand(filled, cycles)


def fan(count: int, edges: tuple[Edge, ...] = ()) -> Graph:
    """Kernels without dependences but those given."""
    return chain(*(scaled(i, 0, i + 1) for i in range(count)), buffers=count + 1).ordered(edges)


def fitted(graph: Graph, *demands: Demand) -> set[Edge]:
    return set(as_many_as_fit(graph, dict(zip((n.id for n in graph.nodes), demands, strict=True))).edges)


def test_no_more_kernels_run_at_once_than_fit() -> None:
    assert fitted(fan(3), *[work(0.3)] * 3) == set()
    assert fitted(fan(2), work(0.6), work(0.6)) == {(0, 1)}
    assert fitted(fan(4), *[work(0.5)] * 4) == {(0, 2), (1, 3)}


def test_half_of_the_places() -> None:
    demands: dict[Id, Demand] = {i: work(0.25) for i in range(4)}
    assert as_many_as_fit(fan(4), demands).edges == ()
    assert set(as_many_as_fit(fan(4), demands, 0.5).edges) == {(0, 2), (1, 3)}
    demands = {i: work(0.9) for i in range(2)}
    assert as_many_as_fit(fan(2), demands, 0.5).edges == ((0, 1),)  # a kernel that takes more runs alone


def test_a_kernel_waits_for_what_ends_first() -> None:
    assert fitted(fan(3), work(0.5, 30), work(0.5, 10), work(0.5)) == {(1, 2)}


def test_what_runs_later_takes_no_room_now() -> None:
    """The second kernel of the first branch begins when the other branch has ended."""
    graph = fan(3, ((0, 1),))
    assert fitted(graph, work(0.5), work(0.5), work(0.5, 8)) == {(0, 1)}


def test_nodes_without_a_demand_have_their_dependences_only() -> None:
    assert as_many_as_fit(fan(3, ((0, 2),)), {}).edges == ((0, 2),)


@pytest.mark.parametrize("seed", range(10))
def test_random_graphs_keep_their_dependences(seed: int) -> None:
    chance = random.Random(seed)
    count = 12
    edges = tuple((a, b) for b in range(count) for a in range(b) if chance.random() < 0.15)
    graph = fan(count, edges)
    demands: dict[Id, Demand] = {i: work(chance.random(), chance.randint(1, 30)) for i in range(count)}
    before, after = reachable(graph), reachable(as_many_as_fit(graph, demands))
    assert all(one & other == one for one, other in zip(before, after, strict=True))


def test_the_demands_of_a_graph_with_fused_kernels() -> None:
    graph = chain(
        scaled(0, 0, 1, grid=2), scaled(1, 0, 2, constant=5), opaque(2), opaque(3, kind="memset"), added(4, 1, 2, 3)
    )
    choice = chosen_groups(graph)
    costs = choice.costs
    plain = demands_of(graph, graph, [], costs)
    assert plain.keys() == {0, 1, 4}
    assert 0 < plain[0].filled < 0.01
    many = replace(graph, nodes=(replace(graph.nodes[0], grid=(1 << 20, 1, 1)), *graph.nodes[1:]))
    full = demands_of(many, many, [], chosen_groups(many).costs)[0]
    assert full.filled == 1 and full.cycles > plain[0].cycles
    ((group, made),) = Makers(graph, costs, None).of((0, 1))
    fused, new = rewritten(graph, choice.dependences, [Taken(group, made)], costs)
    found = demands_of(new, graph, fused, costs)
    assert found.keys() == {5, 4}
    assert found[5].filled == plain[0].filled + plain[1].filled
    assert found[5].cycles == made.cycles


def test_kernels_that_wait_for_the_same_nodes_are_siblings() -> None:
    """Two pairs; the last kernel waits for one of the second pair only."""
    graph = chain(
        scaled(0, 0, 1), scaled(1, 0, 2, constant=5), added(2, 1, 2, 3), scaled(3, 3, 4), scaled(4, 3, 5, constant=5),
        scaled(5, 4, 6),
    )  # fmt: skip
    assert siblings(chosen_groups(graph), graph) == ((0, 1),)
    both = chain(*((node, graph.ptx[str(node.ptx)]) for node in graph.nodes[:5]))
    assert siblings(chosen_groups(both), both) == ((0, 1), (3, 4))


def test_more_siblings_than_a_launch_may_have_are_several_groups() -> None:
    graph = fan(40)
    found = siblings(chosen_groups(graph), graph)
    assert [i for group in found for i in group] == list(range(40))
    assert len(found) > 1
