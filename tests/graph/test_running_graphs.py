"""Rewritten graphs on a driver that emulates them: what they leave, which is taken, and what is passed on."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from graph.emulated_driver import EmulatedDriver, Made, emulated_driver
from graph.graph_kernels import N, added, buffer, chain, opaque, scaled, u32, u64

import goptx
from goptx.errors import InputError
from goptx.graph.captured_program import Program, captured_program
from goptx.graph.chosen_groups import chosen_groups
from goptx.graph.graph_description import Graph, Id
from goptx.graph.graph_rewriting import Taken
from goptx.graph.group_making import Makers
from goptx.graph.optimized_graph import OptimizedGraph
from goptx.graph.running import graph_trial
from goptx.graph.running.graph_search import is_faster
from goptx.graph.running.graph_trial import Trial
from goptx.graph.running.launchable_graph import LaunchableGraph
from goptx.graph.running.placed_graph import ORDERS, Order, Placing
from goptx.graph.running.unknown_time import time_without_ptx
from goptx.time_budget import Budget


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> EmulatedDriver:
    return emulated_driver(monkeypatch)


def diamond() -> Graph:
    return chain(scaled(0, 0, 1), scaled(1, 0, 2, constant=5), added(2, 1, 2, 3))


def fill(driver: EmulatedDriver, seed: int = 0) -> None:
    for i, content in enumerate(driver.memory.values()):
        content[:] = np.random.default_rng((seed, i)).integers(0, 256, len(content), np.uint8)


def left(driver: EmulatedDriver, fast: OptimizedGraph, seed: int = 1) -> list[bytes]:
    fill(driver, seed)
    fast.replay()
    return [content.tobytes() for content in driver.memory.values()]


def expected(driver: EmulatedDriver, graph: Graph, seed: int = 1) -> list[bytes]:
    fill(driver, seed)
    found = goptx.emulate_graph(graph, driver.memory).memory
    return [found[address].tobytes() for address in driver.memory]


@pytest.mark.slow
def test_the_fastest_graph_is_taken(driver: EmulatedDriver) -> None:
    graph = diamond()
    handle, kernels = driver.capture(graph)
    fill(driver)
    before = {a: c.copy() for a, c in driver.memory.items()}
    fast = goptx.optimize_graph(handle, kernels)
    assert [group.members for group in fast.report.fused] == [(0, 1)]
    assert fast.report.measured == {"as captured": 3, "parallel": 3, "fused": 2}
    assert fast.report.taken == "fused" and "  taken: fused" in str(fast.report).splitlines()
    assert fast.report.note == ""
    assert driver.memory.keys() == before.keys()
    assert all((driver.memory[a] == before[a]).all() for a in before)
    assert left(driver, fast) == expected(driver, graph)


@pytest.mark.slow
def test_a_graph_of_which_no_change_is_faster_stays_as_captured(driver: EmulatedDriver) -> None:
    graph = diamond()
    handle, kernels = driver.capture(graph)
    driver.milliseconds = lambda made: 4.0 if is_chain(made) and len(made.nodes) == 3 else 5.0
    fast = goptx.optimize_graph(handle, kernels)
    assert fast.report.fused == ()
    assert fast.report.single[0] == "the graph with its fused kernel takes 5 ms, as captured less"
    assert fast.graph.edges == graph.edges
    assert left(driver, fast) == expected(driver, graph)


@pytest.mark.slow
def test_launches_in_a_row_are_compared(driver: EmulatedDriver) -> None:
    """Branches are fastest once, and slow to launch again."""
    handle, kernels = driver.capture(diamond())
    driver.milliseconds = lambda made: 1.0 if len(made.nodes) == 3 and not is_chain(made) else 4.0
    assert not goptx.optimize_graph(handle, kernels).report.fused
    driver.again = lambda made: 9.0 if len(made.nodes) == 3 and not is_chain(made) else 4.0
    fast = goptx.optimize_graph(handle, kernels)
    assert fast.report.measured["parallel"] >= 5
    assert fast.graph.edges == ((0, 1), (1, 2))
    assert fast.report.taken == "as captured"


def is_chain(made: Made) -> bool:
    ends = [{edge[side] for edge in made.edges} for side in (0, 1)]
    return len(ends[0]) == len(ends[1]) == len(made.edges) == len(made.nodes) - 1


def two_pairs() -> Graph:
    """Two groups: what is added comes between them."""
    return chain(
        scaled(0, 0, 1), scaled(1, 0, 2, constant=5), added(2, 1, 2, 3), scaled(3, 3, 4), scaled(4, 3, 5, constant=5)
    )


@pytest.mark.slow
def test_a_group_without_which_the_graph_is_faster_is_left_out(driver: EmulatedDriver) -> None:
    graph = two_pairs()
    handle, kernels = driver.capture(graph)

    def milliseconds(made: Made) -> float:
        """The second pair is slow if it is fused."""
        blocks = [what[1][0] for what in made.nodes.values()]
        slow = len(made.nodes) < 5 and made.nodes[max(made.nodes)][4][0] == u64(buffer(3))
        return len(blocks) + 1.5 * slow

    driver.milliseconds = milliseconds
    fast = goptx.optimize_graph(handle, kernels)
    assert [group.members for group in fast.report.fused] == [(0, 1)]
    assert "the graph without its fused kernel is" in fast.report.single[3]
    assert left(driver, fast) == expected(driver, graph)


@pytest.mark.parametrize("order", ORDERS)
def test_graphs_in_all_orders_leave_the_same(order: Order, driver: EmulatedDriver) -> None:
    graph = two_pairs()
    handle, kernels = driver.capture(graph)
    program = captured_program(handle, kernels)
    choice = chosen_groups(program.graph)
    taken = [Taken(*one) for one in Makers(program.graph, choice.costs, None).of((0, 1))]
    placing = Placing(program, choice, Budget(), True)
    for groups in [], taken:
        made = placing.fused(groups, order)
        assert len(made.graph.nodes) == 5 - bool(groups)
        fill(driver, 1)
        made.replay()
        assert [content.tobytes() for content in driver.memory.values()] == expected(driver, graph)
        made.close()


@pytest.mark.slow
def test_a_group_of_a_plan_gains_by_itself(driver: EmulatedDriver) -> None:
    """With both pairs fused the graph is slower than with branches, and with the first pair alone it is faster."""
    graph = two_pairs()
    handle, kernels = driver.capture(graph)

    def milliseconds(made: Made) -> float:
        return {5: 5.0, 4: 4.0, 3: 9.0}[len(made.nodes)] + 6 * is_chain(made)

    driver.milliseconds = milliseconds
    fast = goptx.optimize_graph(handle, kernels)
    assert [group.members for group in fast.report.fused] == [(0, 1)]
    assert fast.report.measured["parallel"] == 5
    assert fast.report.measured["with further groups"] == 4
    assert fast.report.taken == "with further groups"
    assert left(driver, fast) == expected(driver, graph)


@pytest.mark.slow
def test_groups_may_gain_only_together_and_not_with_all_others(driver: EmulatedDriver) -> None:
    """One of three pairs gains nothing, all three are slower than branches, and two of them are faster."""
    ends = scaled(6, 6, 7), scaled(7, 6, 8, constant=5)
    middle = added(2, 1, 2, 3), scaled(3, 3, 4), scaled(4, 3, 5, constant=5), added(5, 4, 5, 6)
    graph = chain(scaled(0, 0, 1), scaled(1, 0, 2, constant=5), *middle, *ends, buffers=9)
    handle, kernels = driver.capture(graph)
    times = {8: 5.0, 7: 5.0, 6: 4.0, 5: 5.1}
    driver.milliseconds = lambda made: times[len(made.nodes)] + 4 * (is_chain(made) and len(made.nodes) > 5)
    fast = goptx.optimize_graph(handle, kernels)
    assert len(fast.report.fused) == 2
    assert fast.report.measured["parallel"] == 5 and fast.report.taken == "with fewer groups"
    assert left(driver, fast) == expected(driver, graph)


@pytest.mark.slow
def test_a_graph_that_gained_by_chance_is_not_taken(driver: EmulatedDriver) -> None:
    """The fused graph is the fastest at first, and the slowest when it is measured again."""
    graph = diamond()
    handle, kernels = driver.capture(graph)
    runs = []

    def milliseconds(made: Made) -> float:
        if len(made.nodes) == 3:
            return 3.0
        runs.append(made)
        return 2.0 if len(runs) < 6 else 4.0

    driver.milliseconds = milliseconds
    fast = goptx.optimize_graph(handle, kernels)
    assert fast.report.fused == ()
    assert fast.report.single[0] == ("measured again, the graph with its fused kernel takes 4 ms, as captured 3 ms")
    assert left(driver, fast) == expected(driver, graph)


def test_a_graph_is_faster_if_it_is_in_most_rounds() -> None:
    slow = [1.0] * 10
    assert is_faster([0.99] * 10, slow)
    assert is_faster([0.98] * 7 + [1.5] * 3, slow)
    assert not is_faster([0.98] * 6 + [1.01] * 4, slow)
    assert not is_faster([0.999] * 10, slow)
    assert not is_faster(slow, slow)


def test_rounds_begin_with_another_graph_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph_trial, "WARMUPS", 1)
    monkeypatch.setattr(graph_trial, "ROUNDS", 2)
    ran: list[str] = []

    def milliseconds(launch: str) -> float:
        ran.append(launch)
        return float(len(ran))

    trial = Trial.__new__(Trial)
    trial._replayed, trial._stream = SimpleNamespace(milliseconds=milliseconds), None  # type: ignore[assignment]
    graphs: Any = {name: SimpleNamespace(starter=lambda stream, name=name: name) for name in "abc"}
    assert trial.rounds(graphs) == {"a": [6, 8], "b": [4, 9], "c": [5, 7]}
    assert "".join(ran) == "abcbcacab"


def three() -> Graph:
    """Independent kernels that all become one launch by the cost model."""
    return chain(scaled(0, 0, 1), scaled(1, 0, 2, constant=5), scaled(2, 0, 3, constant=7))


def pairs_gain(made: Made) -> float:
    """Two kernels in one launch are fast, three are slow."""
    return {3: 3.0, 2: 2.0, 1: 9.0}[len(made.nodes)]


def test_part_of_a_group_gains_where_the_whole_does_not(driver: EmulatedDriver) -> None:
    graph = three()
    handle, kernels = driver.capture(graph)
    driver.milliseconds = pairs_gain
    fast = goptx.optimize_graph(handle, kernels)
    assert fast.report.measured["fused"] == 9
    assert [len(group.members) for group in fast.report.fused] == [2]
    assert fast.report.measured["with further groups"] == 2
    assert fast.report.untried == ()
    assert left(driver, fast) == expected(driver, graph)


class Clock:
    """Seconds, of which each launch of a graph takes some."""

    def __init__(self, driver: EmulatedDriver, each: float) -> None:
        self.driver, self.each = driver, each

    def __call__(self) -> float:
        return self.each * len(self.driver.launched)


def test_groups_beyond_the_budget_are_named(driver: EmulatedDriver) -> None:
    graph = three()
    handle, kernels = driver.capture(graph)
    driver.milliseconds = pairs_gain
    fast = goptx.optimize_graph(handle, kernels, budget=Budget(60, Clock(driver, 10)))
    assert fast.report.fused == ()
    assert fast.report.untried[0] in {(0, 1), (0, 2), (1, 2)}
    assert len(fast.report.untried) == 3
    assert "not tried within the budget: 0, 1" in str(fast.report)
    assert left(driver, fast) == expected(driver, graph)


def test_groups_that_would_form_a_cycle_are_not_added() -> None:
    graph = chain(scaled(0, 0, 1), scaled(1, 1, 2), scaled(2, 3, 4), scaled(3, 4, 5))
    placing = Placing(Program(graph, (), 0, None), chosen_groups(graph), Budget(), False)
    taken = [Taken((0, 3), None)]  # type: ignore[arg-type]
    assert not placing.may_add((1, 2), taken)
    assert not placing.may_add((0, 2), taken)
    assert placing.may_add((0, 3), [])
    assert placing.may_add((0, 2), [Taken((1, 3), None)])  # type: ignore[arg-type]


def test_the_time_of_nodes_without_ptx_is_reported(driver: EmulatedDriver) -> None:
    """Opaque kernels take three times as long as others. Only beginnings of the graph are run."""
    graph = chain(scaled(0, 0, 1), opaque(1), opaque(2), added(3, 0, 1, 3), opaque(4))
    program = captured_program(*driver.capture(graph))
    ran: list[list[Id]] = []

    def milliseconds(graphs: Mapping[str, LaunchableGraph]) -> dict[str, float]:
        ran.extend([node.id for node in one.graph.nodes] for one in graphs.values())
        return {name: sum(1.0 if n.ptx else 3.0 for n in one.graph.nodes) for name, one in graphs.items()}

    trial: Any = SimpleNamespace(note="", milliseconds=milliseconds)
    assert time_without_ptx(program, trial) == pytest.approx(9 / 11)
    assert ran == [[0], [0, 1, 2], [0, 1, 2, 3], [0, 1, 2, 3, 4]]
    assert len(driver.graphs) == 1
    assert time_without_ptx(program, SimpleNamespace(note="it may write anywhere")) is None  # type: ignore[arg-type]


@pytest.mark.slow
def test_a_graph_whose_kernels_all_have_ptx_needs_no_time_for_that(driver: EmulatedDriver) -> None:
    assert goptx.optimize_graph(*driver.capture(diamond())).report.without_ptx == 0


def test_a_wrong_fused_kernel_is_not_taken(driver: EmulatedDriver) -> None:
    graph = two_pairs()
    handle, kernels = driver.capture(graph)

    def spoil(made: Made) -> None:
        """The second pair is wrong if it is fused."""
        if any(what[4][0] == u64(buffer(3)) and len(what[4]) > 4 for what in made.nodes.values()):
            driver.memory[buffer(5)][7] ^= 1

    driver.spoil = spoil
    fast = goptx.optimize_graph(handle, kernels, tune=False)
    assert [group.members for group in fast.report.fused] == [(0, 1)]
    assert fast.report.single[3] == (
        f"the graph with its fused kernel differs: it leaves 1 other bytes, the first at {buffer(5) + 7:#x}"
    )
    assert len(goptx.optimize_graph(handle, kernels, tune=False, check=False).report.fused) == 2


def test_bytes_in_which_the_captured_graph_differs_from_itself_are_not_compared(driver: EmulatedDriver) -> None:
    handle, kernels = driver.capture(diamond())

    def spoil(made: Made) -> None:
        driver.memory[buffer(3)][5] = len(driver.launched) % 251

    driver.spoil = spoil
    assert len(goptx.optimize_graph(handle, kernels, tune=False).report.fused) == 1


def test_a_graph_of_which_it_is_not_known_what_it_writes_is_not_run(driver: EmulatedDriver) -> None:
    graph = chain(scaled(0, 0, 1), scaled(1, 0, 2, constant=5), opaque(2, u64(buffer(1))), added(3, 1, 2, 3))
    handle, kernels = driver.capture(graph)
    fast = goptx.optimize_graph(handle, kernels)
    assert driver.launched == []
    assert fast.report.note == "node 2 `nvjet` may write anywhere: its PTX is not known"
    assert "not run: node 2" in str(fast.report)
    assert len(fast.report.fused) == 1
    assert fast.report.measured == {}


def test_a_graph_of_unknown_kernels_only_stays_as_it_is(driver: EmulatedDriver) -> None:
    graph = chain(opaque(0, u64(buffer(1))), opaque(1, u64(buffer(2))))
    handle, kernels = driver.capture(graph)
    before = dict(driver.graphs[handle].nodes), set(driver.graphs[handle].edges)
    fast = goptx.optimize_graph(handle, kernels)
    assert fast.graph.edges == graph.edges
    assert fast.report.advice.startswith("the PTX of no kernel is known, so that none can be fused: capture the graph")
    assert set(fast.report.single.values()) == {"its PTX is not known"}
    assert (driver.graphs[handle].nodes, driver.graphs[handle].edges) == before
    assert driver.launched == []


def test_copies_stay_where_they_are(driver: EmulatedDriver) -> None:
    graph = chain(scaled(0, 0, 1), opaque(1, kind="memcpy"), scaled(2, 0, 2))
    handle, kernels = driver.capture(graph)
    fast = goptx.optimize_graph(handle, kernels)
    assert fast.report.note == "node 1 is a memcpy node, and goptx does not know what it writes"
    assert (fast.report.fused, fast.graph.edges) == ((), ((0, 1), (1, 2)))


def test_branches_alone(driver: EmulatedDriver) -> None:
    graph = diamond()
    handle, kernels = driver.capture(graph)
    parallel = goptx.parallelize_graph(handle, kernels)
    assert parallel.graph.edges == ((0, 2), (1, 2))
    assert parallel.report.fused == ()
    assert left(driver, parallel) == expected(driver, graph)


def test_parameters_are_passed_on(driver: EmulatedDriver) -> None:
    graph = diamond()
    handle, kernels = driver.capture(graph)
    fast = goptx.optimize_graph(handle, kernels, tune=False)
    new = chain(scaled(0, 0, 1), scaled(1, 0, 2, n=100, constant=5), added(2, 2, 2, 3))
    assert fast.update({i: n.parameters for i, n in enumerate(new.nodes)}) == (1, 2)
    assert left(driver, fast) == expected(driver, new)
    assert fast.update({1: graph.node(1).parameters, 2: graph.node(2).parameters}) == (1, 2)
    assert left(driver, fast) == expected(driver, graph)


def test_parameters_of_the_captured_graph_are_passed_on(driver: EmulatedDriver) -> None:
    graph = diamond()
    handle, kernels = driver.capture(graph)
    fast = goptx.optimize_graph(handle, kernels, tune=False)
    assert fast.update() == ()
    nodes = driver.graphs[handle].nodes
    first = next(iter(nodes))
    nodes[first] = (*nodes[first][:4], (u64(buffer(4)), u64(buffer(1)), u32(N)))
    assert fast.update() == (0,)
    assert left(driver, fast) == expected(
        driver, chain(scaled(0, 4, 1), scaled(1, 0, 2, constant=5), added(2, 1, 2, 3))
    )
    driver.cuGraphDestroyNode(first)
    with pytest.raises(InputError, match="has other nodes than before; optimize it again"):
        fast.update()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {1: (u64(buffer(1)), u64(buffer(2)), u32(N))},
            "node 1 and node 0 depend .* they are one fused kernel; optimize",
        ),
        ({2: (u64(buffer(1)),)}, "node 2 takes parameters of 8, 8, 8, 4 bytes"),
        ({8: ()}, "the captured graph has no node 8; its nodes are 0 to 2"),
    ],
)
def test_parameters_that_do_not_fit_are_refused(
    changes: dict[int, tuple[bytes, ...]], message: str, driver: EmulatedDriver
) -> None:
    graph = diamond()
    handle, kernels = driver.capture(graph)
    fast = goptx.optimize_graph(handle, kernels, tune=False)
    with pytest.raises(InputError, match=message):
        fast.update(changes)
    assert left(driver, fast) == expected(driver, graph)


def test_parameters_that_need_an_edge_are_refused(driver: EmulatedDriver) -> None:
    handle, kernels = driver.capture(diamond())
    parallel = goptx.parallelize_graph(handle, kernels)
    with pytest.raises(InputError, match="node 1 and node 0 depend on each other, and they may run at once in the"):
        parallel.update({1: (u64(buffer(1)), u64(buffer(2)), u32(N))})


@pytest.mark.slow
def test_a_closed_graph_is_not_launched(driver: EmulatedDriver) -> None:
    handle, kernels = driver.capture(diamond())
    fast = goptx.optimize_graph(handle, kernels)
    fast.close()
    with pytest.raises(InputError, match="the graph is closed; optimize the captured graph again"):
        fast.replay()
    assert list(driver.graphs) == [handle]
    assert driver.executables == {}


def test_a_description_is_not_launched() -> None:
    with pytest.raises(InputError, match="made of a description and cannot be launched"):
        goptx.optimize_graph(diamond()).replay()


@pytest.mark.slow
def test_the_captured_graph_is_as_it_was(driver: EmulatedDriver) -> None:
    handle, kernels = driver.capture(diamond())
    before = dict(driver.graphs[handle].nodes), set(driver.graphs[handle].edges)
    goptx.optimize_graph(handle, kernels)
    assert (driver.graphs[handle].nodes, driver.graphs[handle].edges) == before
