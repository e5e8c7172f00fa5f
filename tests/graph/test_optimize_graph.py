"""Graphs with fused kernels: they leave the same in memory, and only independent kernels are fused."""

import random
from collections.abc import Sequence
from dataclasses import replace
from time import process_time

import numpy as np
import pytest
from graph.graph_kernels import SIZE, N, added, buffer, chain, counter, launch, opaque, scale, scaled, u32, u64

import goptx
from goptx.errors import InputError
from goptx.graph import group_check, optimized_graph
from goptx.graph.chosen_groups import chosen_groups
from goptx.graph.graph_dependences import reachable
from goptx.graph.graph_description import Allocation, Graph, GraphNode, Id, sha_of
from goptx.graph.group_check import checked
from goptx.graph.group_choice import NEAR
from goptx.graph.group_making import Fused, fused_node
from goptx.time_budget import Budget

X = np.arange(N, dtype=np.uint32) * 7


def same(one: Graph, other: Graph, seeds: range = range(2)) -> bool:
    """Whether both leave the same in memory, the second in several orders that its edges allow."""
    given = {a.address: X + i for i, a in enumerate(one.allocations) if a.bytes == SIZE}
    expected = goptx.emulate_graph(one, given).memory
    found = [goptx.emulate_graph(other, given, seed=seed).memory for seed in seeds]
    return all(np.array_equal(memory[a], expected[a]) for memory in found for a in expected)


def test_independent_kernels_become_one_launch() -> None:
    graph = chain(scaled(0, 0, 1), scaled(1, 0, 2, constant=5), added(2, 1, 2, 3))
    done = goptx.optimize_graph(graph)
    assert [group.members for group in done.report.fused] == [(0, 1)]
    assert [node.id for node in done.graph.nodes] == [3, 2]
    assert done.graph.edges == ((3, 2),)
    assert same(graph, done.graph)
    assert goptx.Graph.read(done.graph.to_json()) == done.graph


def test_the_parameters_are_those_of_all_kernels() -> None:
    graph = chain(scaled("a", 0, 1), scaled("b", 0, 2, constant=5))
    (node,) = goptx.optimize_graph(graph).graph.nodes
    assert node.id == "a+b"
    assert node.parameters[:6] == graph.nodes[0].parameters + graph.nodes[1].parameters


def test_kernels_of_different_shapes_become_one_launch() -> None:
    graph = chain(
        scaled(0, 0, 1, grid=2), launch(1, scale("s"), "s", u64(buffer(0)), u64(buffer(2)), u32(N), grid=8, block=32)
    )
    done = goptx.optimize_graph(graph)
    assert len(done.graph.nodes) == 1
    assert same(graph, done.graph)


@pytest.mark.slow
def test_many_kernels_become_one_launch() -> None:
    nodes = [scaled(i, 0, i + 1, constant=2 + i % 3) for i in range(26)]
    graph = chain(*nodes, buffers=28)
    done = goptx.optimize_graph(graph)
    assert [len(group.members) for group in done.report.fused] == [26]
    assert same(graph, done.graph)


class Clock:
    """Each look at it takes a second."""

    now = 0.0

    def __call__(self) -> float:
        self.now += 1
        return self.now


def test_the_group_that_gains_most_is_made_first_within_the_budget() -> None:
    """Two groups, of which the second has more kernels."""
    graph = chain(
        scaled(0, 0, 1), scaled(1, 0, 2, constant=5), added(2, 1, 2, 3),
        *(scaled(3 + i, 3, 4 + i, constant=5) for i in range(4)),
    )  # fmt: skip
    assert [len(g) for g in chosen_groups(graph).indices] == [2, 4]
    report = goptx.optimize_graph(graph, budget=Budget(2, Clock())).report
    assert [group.members for group in report.fused] == [(3, 4, 5, 6)]
    assert report.untried == ((0, 1),)
    assert report.single[0] == "the budget left no time for its group"
    assert goptx.optimize_graph(graph, budget="2min").report.untried == ()


@pytest.mark.parametrize("budget", ["soon", 0, "-1s", "5 days"])
def test_a_budget_is_a_time(budget: str | float) -> None:
    with pytest.raises(InputError, match="is not a time above 0"):
        goptx.optimize_graph(chain(scaled(0, 0, 1)), budget=budget)


def test_the_report_advises_how_to_get_ptx() -> None:
    report = goptx.optimize_graph(chain(scaled(0, 0, 1), opaque(1, u64(buffer(1))))).report
    assert report.unknown == ("nvjet",)
    assert report.advice.startswith("nvjet: torch.compile(mode=")
    assert replace(report, without_ptx=0.94).advice.startswith("94% of the time is of nodes without PTX; nvjet: ")
    assert "  94% of the time" in str(replace(report, without_ptx=0.94))
    assert replace(report, unknown=("memcpy_like",)).advice == ""


def test_the_given_graph_is_as_it_was() -> None:
    graph = chain(scaled(0, 0, 1), scaled(1, 0, 2))
    text = graph.to_json()
    goptx.optimize_graph(graph)
    assert graph.to_json() == text


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_random_graphs_leave_the_same(seed: int) -> None:
    chance = random.Random(seed)
    nodes: list[tuple[GraphNode, str]] = []
    for i in range(14):
        pick = [chance.randrange(7) for _ in range(3)]
        nodes.append(
            added(i, *pick)
            if chance.random() < 0.4
            else scaled(i, pick[0], pick[1], n=chance.choice((N, N - 60)), constant=chance.choice((3, 5)))
        )
    nodes.insert(chance.randrange(14), launch(20, counter(), "count", u64(buffer(7)), grid=1, block=1))
    graph = chain(*nodes)
    if seed % 3 == 0:
        skips = [(a, b) for a in range(14) for b in range(a + 1, 14) if chance.random() < 0.3]
        graph = graph.ordered([*skips, *goptx.parallelize_graph(graph).edges])
    done = goptx.optimize_graph(graph, check=False)
    assert same(graph, goptx.parallelize_graph(graph), range(1, 3))
    assert same(graph, done.graph, range(3))


@pytest.mark.parametrize("seed", range(12))
def test_groups_have_no_dependences_and_form_no_cycle(seed: int) -> None:
    chance = random.Random(seed)
    graph = chain(*(scaled(i, chance.randrange(9), chance.randrange(9)) for i in range(40)), buffers=9)
    choice = chosen_groups(graph)
    true = graph.ordered(choice.dependences)
    before = reachable(true)
    for group in choice.indices:
        assert not any(before[one] >> other & 1 for one in group for other in group)
        assert max(group) - min(group) <= NEAR
    home = {node.id: node.id for node in graph.nodes} | {i: g[0] for g in choice.indices for i in g}
    whole = {(home[a], home[b]) for a, b in choice.dependences}
    Graph(true.nodes, tuple(whole), true.allocations, true.ptx)  # a cycle is refused


def test_groups_whose_members_wait_for_each_other_crosswise_are_not_both_chosen() -> None:
    """0 before 3 and 1 before 2: {0, 2} and {1, 3} would wait for each other."""
    graph = chain(scaled(0, 0, 1), scaled(1, 0, 2), scaled(2, 2, 4), scaled(3, 1, 5))
    done = goptx.optimize_graph(graph)
    assert same(graph, done.graph)
    assert sorted(len(group.members) for group in done.report.fused) == [2, 2]


def test_the_critical_path_does_not_become_longer() -> None:
    """A long kernel beside a chain of short ones: in one launch with any but the first of the chain, or with one after
    which others come, it would lengthen the path."""
    short = [scaled(i, i, i + 1) for i in range(5)]
    slow = launch(9, long_running(), "slow", u64(buffer(7)), grid=1, block=32)
    choice = chosen_groups(chain(*short[:3], slow, *short[3:]))
    assert choice.groups in ((), ((4, 9),), ((9, 4),))
    first = chosen_groups(chain(slow, *short))
    assert first.groups == ()


def long_running() -> str:
    """y[i] after many dependent steps."""
    steps = "\n".join("    mad.lo.s32 %r2, %r2, %r2, 7;" for _ in range(4000))
    return f""".version 8.0
.target sm_90
.address_size 64
.visible .entry slow(.param .u64 y)
{{
    .reg .b32 %r<4>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [y];
    mov.u32 %r2, %tid.x;
    mul.wide.u32 %rd2, %r2, 4;
    add.s64 %rd3, %rd1, %rd2;
{steps}
    st.global.u32 [%rd3], %r2;
    ret;
}}
"""


def test_every_kernel_that_is_not_fused_has_a_reason() -> None:
    graph = chain(
        scaled(0, 0, 1), opaque(1), launch(2, counter(), "count", u64(buffer(5)), grid=1, block=1),
        opaque(3, kind="memcpy"), scaled(4, 0, 2),
    )  # fmt: skip
    report = goptx.optimize_graph(graph).report
    assert report.single == {
        0: "no group with an independent kernel near it is estimated to gain",
        1: "its PTX is not known",
        2: "it uses the variable `launches` of its module, and a fused kernel would have another one",
        3: "a memcpy node",
        4: "no group with an independent kernel near it is estimated to gain",
    }
    assert str(report).startswith("5 nodes, 3 with PTX; 4 dependences; 0 groups independent, 0 fused\n")


def test_a_node_that_must_stay_alone_stays() -> None:
    node, text = scaled(0, 0, 1)
    alone = GraphNode(0, node.entry, node.grid, node.block, 0, node.parameters, node.ptx, alone="it is cooperative")
    report = goptx.optimize_graph(chain((alone, text), scaled(1, 0, 2))).report
    assert report.fused == ()
    assert report.single[0] == "it is cooperative"


def test_a_graph_without_ptx_is_reported() -> None:
    done = goptx.optimize_graph(chain(opaque(0), opaque(1)))
    assert done.graph.edges == ((0, 1),)
    assert str(done).endswith("not fused 0, 1: its PTX is not known")


def test_a_fused_kernel_that_differs_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """If a strategy were wrong, the comparison on the emulator would find it."""

    def wrong(id_: Id, nodes: Sequence[GraphNode], made: Fused) -> GraphNode:
        node = fused_node(id_, nodes, made)
        changed = (*node.parameters[:2], u32(3), *node.parameters[3:])
        return GraphNode(node.id, node.entry, node.grid, node.block, node.shared, changed, node.ptx)

    monkeypatch.setattr(optimized_graph, "fused_node", wrong)
    graph = chain(scaled(0, 0, 1), scaled(1, 0, 2))
    report = goptx.optimize_graph(graph).report
    assert report.fused == ()
    assert "leaves another byte" in report.single[0]


def test_what_is_too_large_to_be_compared_is_noted() -> None:
    big = [Allocation(buffer(100 + i * 100), 1 << 18) for i in range(3)]
    nodes = [
        launch(i, scale(), "scale", u64(big[0].address), u64(big[i + 1].address), u32(1 << 16), grid=512)
        for i in range(2)
    ]
    (group,) = goptx.optimize_graph(chain(*nodes, more=big)).report.fused
    assert group.note == f"not compared on the emulator: more than {group_check.MOST_THREADS} threads"


def test_nodes_that_fail_themselves_are_not_compared() -> None:
    graph = chain(scaled(0, 0, 1, n=N + 64, grid=3))
    (node,) = graph.nodes
    right, note = checked(graph, [node], node, graph.ptx[sha_of(scale("scale3"))])
    assert right
    assert note.startswith("not compared on the emulator: node 0: ")


@pytest.mark.slow
def test_two_hundred_nodes_take_little_time() -> None:
    nodes = []
    for layer in range(40):
        a, b = layer % 2, 1 - layer % 2
        nodes += [scaled(f"{layer}.{k}", a, 2 + k, constant=3 + (layer * 4 + k) % 40) for k in range(4)]
        nodes.append(added(f"{layer}.sum", 2, 3, b))
    graph = chain(*nodes)
    begin = process_time()
    report = goptx.optimize_graph(graph, check=False).report
    assert report.nodes == 200
    assert len(report.fused) >= 40
    assert process_time() - begin < 20


def test_an_architecture_may_be_given() -> None:
    graph = chain(scaled(0, 0, 1), scaled(1, 0, 2))
    done = goptx.optimize_graph(graph, arch="sm_90a")
    (text,) = done.graph.ptx.values()
    assert ".target sm_90a" in text
