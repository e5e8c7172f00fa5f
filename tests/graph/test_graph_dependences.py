"""Which nodes of a graph depend on each other: what they may access decides, not the order of the capture."""

import random

import networkx as nx
import pytest
from graph.graph_kernels import (
    HEAD,
    SIZE,
    N,
    added,
    buffer,
    chain,
    counter,
    indirect,
    launch,
    opaque,
    scale,
    scaled,
    u32,
    u64,
    within,
)

import goptx
from goptx.errors import InputError
from goptx.graph.graph_dependences import dependences, reachable
from goptx.graph.graph_description import Allocation, Graph, GraphNode, sha_of
from goptx.graph.node_effects import effects_of


def edges(graph: Graph, **options: object) -> set[tuple[object, object]]:
    return set(goptx.parallelize_graph(graph, **options).edges)  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (scaled(0, 0, 1), scaled(1, 1, 2)),  # the second reads what the first writes
        (scaled(0, 1, 2), scaled(1, 0, 1)),  # the second writes what the first reads
        (scaled(0, 0, 2), scaled(1, 1, 2)),  # both write
        (scaled(0, 0, 1), scaled(1, 1, 1)),
    ],
)
def test_a_conflict_keeps_the_order(one: tuple[GraphNode, str], other: tuple[GraphNode, str]) -> None:
    assert edges(chain(one, other)) == {(0, 1)}


@pytest.mark.parametrize("other", [scaled(1, 0, 2), scaled(1, 2, 3)])
def test_without_a_conflict_there_is_no_order(other: tuple[GraphNode, str]) -> None:
    assert edges(chain(scaled(0, 0, 1), other)) == set()


def test_the_order_of_nodes_that_the_graph_does_not_order_stays_open() -> None:
    graph = chain(scaled(0, 0, 1), scaled(1, 1, 2)).ordered([])
    assert edges(graph) == set()


def test_a_dependence_through_others_is_no_edge() -> None:
    graph = chain(scaled(0, 0, 1), scaled(1, 1, 2), added(2, 1, 2, 3))
    assert edges(graph) == {(0, 1), (1, 2)}


def within_one_allocation(offset: int, n: int, grid: int = 1) -> Graph:
    """Both kernels write into one allocation: the second `offset` bytes after the first."""
    big = Allocation(buffer(50), 1 << 20)
    nodes = [
        launch(i, scale(), "scale", u64(buffer(0)), u64(big.address + at), u32(n), grid=grid)
        for i, at in enumerate((0, offset))
    ]
    return chain(*nodes, more=[big])


def test_extents_that_threads_determine_are_compared() -> None:
    """A launch of 128 threads writes 512 bytes from its pointer on."""
    assert edges(within_one_allocation(512, 128)) == set()
    assert edges(within_one_allocation(508, 128)) == {(0, 1)}
    assert edges(within_one_allocation(512, 128, grid=2)) == {(0, 1)}


def strided() -> str:
    """A loop over the grid: how far it goes is not known from thread numbers."""
    return (
        HEAD
        + """
.visible .entry strided(.param .u64 x, .param .u64 y, .param .u32 n)
{
    .reg .pred %p;
    .reg .b32 %r<8>;
    .reg .b64 %rd<8>;
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [y];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %tid.x;
    mov.u32 %r3, %ntid.x;
LOOP:
    setp.ge.u32 %p, %r2, %r1;
    @%p bra DONE;
    mul.wide.u32 %rd3, %r2, 4;
    add.s64 %rd4, %rd1, %rd3;
    ld.global.u32 %r4, [%rd4];
    add.s64 %rd5, %rd2, %rd3;
    st.global.u32 [%rd5], %r4;
    add.s32 %r2, %r2, %r3;
    bra LOOP;
DONE:
    ret;
}
"""
    )


def test_an_unknown_extent_is_the_whole_allocation() -> None:
    big = Allocation(buffer(50), 1 << 20)
    loop = launch(0, strided(), "strided", u64(buffer(0)), u64(big.address), u32(128), grid=1)
    beside = launch(1, scale(), "scale", u64(buffer(1)), u64(big.address + 4096), u32(128), grid=1)
    assert edges(chain(loop, beside, more=[big])) == {(0, 1)}
    elsewhere = scaled(1, 1, 2)
    assert edges(chain(loop, elsewhere, more=[big])) == set()


def test_an_unknown_extent_outside_of_all_allocations_is_everything() -> None:
    loop = launch(0, strided(), "strided", u64(buffer(0)), u64(buffer(77)), u32(128), grid=1)
    assert edges(chain(loop, scaled(1, 1, 2))) == {(0, 1)}


def test_an_extent_ends_with_its_allocation() -> None:
    """Threads beyond the bounds check do not count where the allocation ends."""
    first = launch(0, scale(), "scale", u64(buffer(0)), u64(buffer(1)), u32(N), grid=64)
    other = launch(1, scale(), "scale", u64(buffer(0)), u64(buffer(2)), u32(N), grid=64)
    assert edges(chain(first, other)) == set()


def test_memory_that_is_used_again_counts() -> None:
    """Two allocations at one address, of which the second was made after the first was freed."""
    again = Allocation(buffer(1) + 512, SIZE)
    first, other = scaled(0, 0, 1), launch(1, strided(), "strided", u64(buffer(3)), u64(again.address), u32(4), grid=1)
    assert edges(chain(first, other, more=[again])) == {(0, 1)}


def test_pointers_in_structures_count() -> None:
    copied = launch(1, within(), "within", u64(buffer(1)) + u64(buffer(4)), grid=1)
    assert edges(chain(scaled(0, 0, 1), copied)) == {(0, 1)}
    copied = launch(1, within(), "within", u64(buffer(0)) + u64(buffer(4)), grid=1)
    assert edges(chain(scaled(0, 0, 1), copied)) == set()


def test_null_pointers_lead_nowhere() -> None:
    null = launch(1, scale(), "scale", u64(0), u64(0), u32(0))
    assert edges(chain(scaled(0, 0, 1), null)) == set()


def test_addresses_from_memory_may_be_any() -> None:
    far = launch(1, indirect(), "indirect", u64(buffer(5)), grid=1, block=1)
    graph = chain(scaled(0, 0, 1), far, scaled(2, 2, 3))
    assert edges(graph) == {(0, 1), (1, 2)}
    assert edges(graph, trust="pointers") == set()


def test_launches_of_one_module_share_its_variables() -> None:
    nodes = [launch(i, counter(), "count", u64(buffer(i)), grid=1, block=1) for i in range(2)]
    assert edges(chain(*nodes)) == {(0, 1)}
    other = launch(1, counter("other"), "other", u64(buffer(1)), grid=1, block=1)
    assert edges(chain(nodes[0], other)) == set()


def test_a_pointer_outside_of_all_allocations_may_lead_to_a_variable() -> None:
    count = launch(0, counter(), "count", u64(buffer(0)), grid=1, block=1)
    unplaced = launch(1, scale(), "scale", u64(buffer(90)), u64(buffer(1)), u32(4))
    assert edges(chain(count, unplaced)) == {(0, 1)}


def test_opaque_nodes_stay_in_order() -> None:
    graph = chain(scaled(0, 0, 1), opaque(1, u64(buffer(5))), scaled(2, 2, 3))
    assert edges(graph) == {(0, 1), (1, 2)}


def test_trusted_pointers_bound_opaque_kernels() -> None:
    graph = chain(scaled(0, 0, 1), opaque(1, u64(buffer(5) + 16), u64(7)), scaled(2, 2, 3), scaled(3, 3, 5))
    assert edges(graph, trust="pointers") == {(1, 3), (2, 3)}


def test_trusted_pointers_are_found_in_structures() -> None:
    graph = chain(scaled(0, 0, 1), opaque(1, u32(7) * 2 + u64(buffer(1))))
    assert edges(graph, trust="pointers") == {(0, 1)}


@pytest.mark.parametrize("kind", ["memcpy", "memset", "host", "other", "kernel"])
def test_trust_is_only_for_known_parameters(kind: str) -> None:
    graph = chain(scaled(0, 0, 1), opaque(1, kind=kind), scaled(2, 2, 3))
    assert edges(graph, trust="pointers") == {(0, 1), (1, 2)}


def test_empty_nodes_only_order_others() -> None:
    graph = chain(scaled(0, 0, 1), opaque(1, kind="empty"), scaled(2, 1, 2), opaque(3, kind="empty"), scaled(4, 3, 4))
    assert edges(graph) == {(0, 2)}


def test_another_trust_is_refused() -> None:
    with pytest.raises(InputError, match=r'trust=.* expected "pointers" or None'):
        edges(chain(scaled(0, 0, 1)), trust="all")


@pytest.mark.parametrize("seed", range(20))
def test_the_dependences_are_the_fewest_with_their_closure(seed: int) -> None:
    chance = random.Random(seed)
    nodes = [scaled(i, chance.randrange(6), chance.randrange(6)) for i in range(12)]
    graph = chain(*nodes)
    graph = graph.ordered([(a, b) for a in range(12) for b in range(a + 1, 12) if chance.random() < 0.3])
    effects = effects_of(graph)
    before = reachable(graph)
    whole: nx.DiGraph[int] = nx.DiGraph()
    whole.add_nodes_from(range(12))
    whole.add_edges_from(
        (a, b) for a in range(12) for b in range(12) if before[b] >> a & 1 and effects[a].conflicts(effects[b])
    )
    assert set(dependences(graph, effects)) == set(nx.transitive_reduction(whole).edges)


def test_the_given_graph_is_unchanged() -> None:
    graph = chain(scaled(0, 0, 1), scaled(1, 0, 2))
    assert goptx.parallelize_graph(graph).edges == ()
    assert graph.edges == ((0, 1),)
    assert goptx.parallelize_graph(graph.to_json()).nodes == graph.nodes
    assert sha_of(scale("scale3")) in graph.ptx


def test_copies_and_fills_access_what_they_name() -> None:
    copy = GraphNode(1, "", kind="memcpy", reads=((buffer(1), SIZE),), writes=((buffer(2), SIZE),))
    fill = GraphNode(2, "", kind="memset", writes=((buffer(3), SIZE),))
    graph = chain(scaled(0, 0, 1), (copy, ""), (fill, ""), scaled(3, 2, 4), scaled(4, 3, 5))
    assert goptx.parallelize_graph(graph).edges == ((0, 1), (1, 3), (2, 4))
    assert goptx.Graph.read(graph.to_json()) == graph
