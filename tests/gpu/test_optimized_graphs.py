"""CUDA graphs that are rewritten, launched, compared in place, measured and updated, on a real GPU. Run with -s to see
the reports."""

from collections.abc import Callable
from typing import Any

import pytest
from gpu.captured_graphs import LENGTH, Captured
from graph.graph_kernels import u32

import goptx
from goptx.device.load import bindings, current_device, must
from goptx.errors import DeviceError, InputError
from goptx.graph import graph_rewriting
from goptx.graph.running import graph_search, placed_graph
from goptx.graph.running.graph_trial import Trial

pytestmark = pytest.mark.gpu


@pytest.fixture
def made() -> Callable[..., Captured]:
    try:
        current_device()
    except DeviceError as error:
        pytest.skip(str(error))
    return Captured


def diamond(made: Callable[..., Captured], **how: Any) -> Captured:
    """Two scaled copies of an array, and their sum."""
    one = made(4, **how)

    def start() -> None:
        one.scale(0, 1)
        one.scale(0, 2, "scale5")
        one.add(1, 2, 3)

    one.capture(start)
    return one


def test_a_captured_chain_is_read(made: Callable[..., Captured]) -> None:
    one = diamond(made)
    graph = goptx.Graph.of(one.graph, one.kernels)
    assert [node.entry for node in graph.nodes] == ["scale", "scale5", "add"]
    assert graph.nodes[0].parameters == (one.at(0), one.at(1), u32(LENGTH))
    assert graph.edges == ((0, 1), (1, 2))
    assert {a.bytes for a in graph.allocations} == {4 * LENGTH}


@pytest.mark.parametrize("tune", [False, True])
def test_an_optimized_graph_leaves_the_same(tune: bool, made: Callable[..., Captured]) -> None:
    one = diamond(made)
    before = one.description()
    fast = goptx.optimize_graph(one.graph, one.kernels, tune=tune)
    print(fast.report)
    if not tune:
        assert [group.members for group in fast.report.fused] == [(0, 1)]
    else:
        assert {graph_search.CAPTURED, graph_search.PARALLEL} <= fast.report.measured.keys()
    assert fast.report.note == ""
    for seed in (1, 2):
        assert one.left(fast.replay, seed) == one.left(None, seed)
    assert one.description() == before


def test_what_is_compared_and_measured_stays_as_it_was(made: Callable[..., Captured]) -> None:
    one = diamond(made)
    before = [array.get() for array in one.arrays]
    goptx.optimize_graph(one.graph, one.kernels)
    assert [array.get() for array in one.arrays] == before


@pytest.mark.parametrize("order", placed_graph.ORDERS)
def test_a_graph_in_another_order_leaves_the_same(
    order: placed_graph.Order, made: Callable[..., Captured], monkeypatch: pytest.MonkeyPatch
) -> None:
    one = diamond(made)
    monkeypatch.setattr(graph_search, "ORDERS", (order,))
    monkeypatch.setattr(graph_search, "GAIN", 10)
    monkeypatch.setattr(graph_search, "MOSTLY", 0)  # the last graph is taken
    fast = goptx.optimize_graph(one.graph, one.kernels)
    print(fast.report)
    for seed in (1, 2):
        assert one.left(fast.replay, seed) == one.left(None, seed)


def test_a_graph_with_branches_leaves_the_same(made: Callable[..., Captured]) -> None:
    one = diamond(made)
    parallel = goptx.parallelize_graph(one.graph, one.kernels)
    assert parallel.graph.edges == ((0, 2), (1, 2))
    assert one.left(parallel.replay, 3) == one.left(None, 3)


def test_a_wrong_fused_kernel_is_not_taken(made: Callable[..., Captured], monkeypatch: pytest.MonkeyPatch) -> None:
    one = diamond(made)
    real = graph_rewriting.rewritten

    def wrong(*args: Any) -> Any:
        fused, graph = real(*args)
        if fused:
            nodes = [n if n.id != fused[0].id else spoilt(n) for n in graph.nodes]
            graph = goptx.Graph(tuple(nodes), graph.edges, graph.allocations, graph.ptx)
        return fused, graph

    def spoilt(node: Any) -> Any:
        from dataclasses import replace

        return replace(node, parameters=(*node.parameters[:2], u32(LENGTH - 9), *node.parameters[3:]))

    monkeypatch.setattr(placed_graph, "rewritten", wrong)
    fast = goptx.optimize_graph(one.graph, one.kernels)
    assert fast.report.fused == ()
    assert "the graph with its fused kernel differs: it leaves" in fast.report.single[0]
    assert one.left(fast.replay, 1) == one.left(None, 1)


def test_opaque_kernels_stay_in_order(made: Callable[..., Captured]) -> None:
    one = made(5, opaque=["scale5"])

    def start() -> None:
        one.scale(0, 1)
        one.scale(4, 2, "scale5")
        one.add(1, 2, 3)

    one.capture(start)
    fast = goptx.optimize_graph(one.graph, one.kernels)
    print(fast.report)
    assert fast.report.fused == ()
    assert fast.report.single[1] == "its PTX is not known"
    assert "may write anywhere" in fast.report.note
    assert one.left(fast.replay, 1) == one.left(None, 1)
    trusted = goptx.parallelize_graph(one.graph, one.kernels, trust="pointers")
    assert trusted.graph.edges == ((0, 2), (1, 2))
    assert one.left(trusted.replay, 1) == one.left(None, 1)


def test_only_unknown_kernels(made: Callable[..., Captured]) -> None:
    one = diamond(made, opaque=["scale", "scale5", "add"])
    fast = goptx.optimize_graph(one.graph, one.kernels)
    assert set(fast.report.single.values()) == {"its PTX is not known"}
    assert one.left(fast.replay, 1) == one.left(None, 1)


def test_copies_and_fills_are_in_their_place(made: Callable[..., Captured]) -> None:
    one = made(4)
    stream = one.stream

    def start() -> None:
        driver, bytes_ = one.driver, 4 * LENGTH
        one.scale(0, 1)
        must(driver.cuMemcpyDtoDAsync(one.arrays[2].address, one.arrays[1].address, bytes_, stream))
        must(driver.cuMemsetD32Async(one.arrays[1].address, 7, LENGTH, stream))
        one.add(1, 2, 3)

    one.capture(start)
    fast = goptx.optimize_graph(one.graph, one.kernels)
    print(fast.report)
    assert one.left(fast.replay, 1) == one.left(None, 1)


def test_parameters_are_passed_on_to_fused_kernels(made: Callable[..., Captured]) -> None:
    one = diamond(made)
    fast = goptx.optimize_graph(one.graph, one.kernels, tune=False)
    assert fast.report.fused
    assert fast.update({1: (one.at(0), one.at(2), u32(100))}) == (1,)
    found = one.left(fast.replay)
    one.fill()
    given = one.arrays[0].get()
    before = one.arrays[2].get()
    assert found[2] == [(5 * x + 1) % (1 << 32) for x in given[:100]] + before[100:]
    fast.update({2: (one.at(2), one.at(2), one.at(3), u32(LENGTH))})
    assert one.left(fast.replay)[3] == [2 * x % (1 << 32) for x in found[2]]


def test_parameters_that_the_captured_graph_gets_are_passed_on(made: Callable[..., Captured]) -> None:
    one = diamond(made)
    fast = goptx.optimize_graph(one.graph, one.kernels, tune=False)
    assert fast.update() == ()
    driver = bindings()
    (_, nodes, _) = driver.cuGraphGetNodes(driver.CUgraph(one.graph), 3)
    params = must(driver.cuGraphKernelNodeGetParams(nodes[0]))
    from goptx.device.launches.parameter_memory import ParameterMemory

    memory = ParameterMemory([((8, 8, 4), ())])
    memory.fill([one.at(0), one.at(1), u32(50)])
    params.kernelParams = memory.tables[0]
    must(driver.cuGraphKernelNodeSetParams(nodes[0], params))
    assert fast.update() == (0,)
    assert one.left(fast.replay, 1) == one.left(None, 1)


def test_parameters_that_need_another_order_are_refused(made: Callable[..., Captured]) -> None:
    one = diamond(made)
    fast = goptx.optimize_graph(one.graph, one.kernels, tune=False)
    with pytest.raises(InputError, match=r"node 1 and node 0 depend on each other, and they are one fused kernel"):
        fast.update({1: (one.at(1), one.at(2), u32(LENGTH))})
    parallel = goptx.parallelize_graph(one.graph, one.kernels)
    with pytest.raises(InputError, match=r"they may run at once in the optimized graph"):
        parallel.update({1: (one.at(1), one.at(2), u32(LENGTH))})
    assert one.left(fast.replay, 1) == one.left(None, 1)
    with pytest.raises(InputError, match="node 0 takes parameters of 8, 8, 4 bytes"):
        fast.update({0: (b"",)})
    with pytest.raises(InputError, match="no node 9"):
        fast.update({9: ()})


def test_a_closed_graph_is_not_launched(made: Callable[..., Captured]) -> None:
    one = diamond(made)
    fast = goptx.parallelize_graph(one.graph, one.kernels)
    fast.close()
    with pytest.raises(InputError, match="the graph is closed"):
        fast.replay()
    one.left(None)  # the captured one is


def test_graphs_that_cannot_be_seen_through_are_refused(made: Callable[..., Captured]) -> None:
    made(1)
    driver = bindings()
    graph, child = (must(driver.cuGraphCreate(0)) for _ in range(2))
    must(driver.cuGraphAddEmptyNode(child, [], 0))
    must(driver.cuGraphAddChildGraphNode(graph, [], 0, child))
    with pytest.raises(InputError, match=r"node 0 of the graph is a graph node.*The graph is unchanged"):
        goptx.optimize_graph(graph)
    empty = must(driver.cuGraphCreate(0))
    assert goptx.optimize_graph(empty).report.nodes == 0


def test_the_time_of_a_graph_is_that_of_the_device(made: Callable[..., Captured]) -> None:
    one = diamond(made)
    fast = goptx.parallelize_graph(one.graph, one.kernels)
    assert fast.launchable is not None
    from goptx.graph.node_effects import effects_of

    graph = fast.launchable.program.graph
    with Trial(fast.launchable, effects_of(graph)) as trial:
        times = trial.milliseconds({"one": fast.launchable, "other": fast.launchable})
        assert trial.different(fast.launchable) == ""
    assert 0 < times["one"] < 5
