"""Which nodes of a captured graph may become one, and in what order the nodes remain; plain values."""

from itertools import pairwise

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goptx.region.chains import Replacement, chains, in_order, replacements

ROW = [(i, i + 1) for i in range(5)]


@pytest.mark.parametrize(
    ("edges", "known", "expected"),
    [
        (ROW, range(6), [(0, 1, 2, 3, 4, 5)]),
        (ROW, [0, 1, 3, 4], [(0, 1), (3, 4)]),
        (ROW, [2], [(2,)]),
        (ROW, [], []),
        ([(5, 4), (4, 3), (3, 2), (2, 1), (1, 0)], [5, 4, 2, 1], [(5, 4), (2, 1)]),  # numbers are not the order
        ([(0, 1), (0, 2), (1, 3), (2, 3), (3, 4), (4, 5)], range(6), [(0,), (1,), (2,), (3, 4, 5)]),  # another stream
        ([(0, 1), (2, 1), (1, 3)], [0, 1, 2, 3], [(0,), (2,), (1, 3)]),
        ([], [0, 1], [(0,), (1,)]),  # no order between them
    ],
)
def test_chains(edges: list[tuple[int, int]], known: list[int], expected: list[tuple[int, ...]]) -> None:
    assert chains(6, edges, known) == expected


def test_a_chain_ends_where_it_is_long_enough_or_the_edge_waits_for_less() -> None:
    assert chains(6, ROW, range(6), most=4) == [(0, 1, 2, 3), (4, 5)]
    assert chains(6, ROW, range(6), partial=[(2, 3)]) == [(0, 1, 2), (3, 4, 5)]


def test_neighbours_of_a_chain_are_neighbours_of_the_new_node() -> None:
    assert replacements(6, ROW, [(1, 2), (4,)]) == [Replacement((1, 2), (0,), (3,)), Replacement((4,), (3,), (5,))]
    assert replacements(6, ROW, [(0, 1), (2, 3)]) == [Replacement((0, 1), (), ()), Replacement((2, 3), (1,), (4,))]


@st.composite
def graphs(draw: st.DrawFn) -> tuple[int, list[tuple[int, int]], list[int]]:
    """Acyclic graphs, with numbers in any order, and the known nodes."""
    count = draw(st.integers(1, 9))
    names = draw(st.permutations(range(count)))
    pairs = [(names[i], names[j]) for j in range(count) for i in range(j)]
    near = list(pairwise(names))
    edges = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    edges += draw(st.lists(st.sampled_from(near), unique=True)) if near else []
    return count, sorted(set(edges)), draw(st.lists(st.integers(0, count - 1), unique=True))


@given(graphs(), st.integers(1, 4))
def test_every_order_is_preserved(made: tuple[int, list[tuple[int, int]], list[int]], most: int) -> None:
    count, edges, known = made
    found = chains(count, edges, known, most=most)
    assert sorted(node for chain in found for node in chain) == sorted(known)
    assert all(len(chain) <= most and all(edge in edges for edge in pairwise(chain)) for chain in found)
    before = nx.DiGraph(edges)
    before.add_nodes_from(range(count))
    after, now = before.copy(), {node: node for node in range(count)}
    for k, change in enumerate(replacements(count, edges, found)):
        new = count + k
        after.add_edges_from((now[node], new) for node in change.after)
        after.add_edges_from((new, node) for node in change.before)
        after.add_node(new)
        after.remove_nodes_from(change.removed)
        now |= dict.fromkeys(change.removed, new)
    assert nx.is_directed_acyclic_graph(after) and set(after) == set(now.values())
    for node in range(count):
        for later in nx.descendants(before, node):
            assert now[node] == now[later] or now[later] in nx.descendants(after, now[node])


@given(graphs())
def test_the_order_is_that_of_the_edges(made: tuple[int, list[tuple[int, int]], list[int]]) -> None:
    count, edges, _ = made
    order = in_order(count, edges)
    assert sorted(order) == list(range(count))
    assert all(order.index(one) < order.index(other) for one, other in edges)
