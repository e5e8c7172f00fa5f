"""Launches with bound arguments, and launches that are repeated, through a fake driver: what it is given each time."""

import gc
import threading
import warnings
import weakref
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from bodies import HEAD, kernel
from device.fake_driver import DEFAULT, Array, Driver, Stream, Tensor, driver

import goptx
from goptx import DependentKernels, InputError
from goptx.errors import DependenceWarning, DeviceError
from goptx.options import Streams

__all__ = ["driver"]


class CupyArray:
    """As CuPy has them."""

    reads = 0  # of all arrays
    flags = SimpleNamespace(c_contiguous=True)
    nbytes = 64

    def __init__(self, address: int) -> None:
        self._address = address

    @property
    def data(self) -> Any:
        CupyArray.reads += 1
        return SimpleNamespace(ptr=self._address)


CupyArray.__module__ = "cupy"
BODY = """
    ld.param.u64 %rd1, [{name}_in]; ld.param.u64 %rd2, [{name}_out]; ld.param.u32 %r5, [{name}_n];
    mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd1, %rd3; add.s64 %rd5, %rd2, %rd3;
    ld.global.u32 %r2, [%rd4]; {operation}.u32 %r3, %r2, %r5; st.global.u32 [%rd5], %r3;
"""
PLUS = kernel(BODY.format(name="plus", operation="add"), "plus")
TIMES = kernel(BODY.format(name="times", operation="mul.lo"), "times")
A, B, C, D, E = range(0x10000, 0x60000, 0x10000)


WOVEN = goptx.weave(PLUS, TIMES)


@pytest.fixture
def woven() -> goptx.Woven:
    """Not loaded yet."""
    return replace(WOVEN)


def bound(woven: goptx.Woven, kind: Any = Array, **options: Any) -> Any:
    return woven.bind([kind(A), kind(B), 5], [kind(C), kind(D), 6], grid=4, block=64, **options)


def arguments(driver: Driver) -> list[list[int]]:
    return [one.arguments for one in driver.started]


def test_a_bound_launch_starts_the_kernel(woven: goptx.Woven, driver: Driver) -> None:
    made = bound(woven)
    assert driver.started == []
    made.launch(Stream(7))
    made.launch()
    (one, other), name = driver.started, woven.entries[0]
    assert (one.name, one.stream, one.grid, one.block, one.shared) == (name, 7, (4, 1, 1), (64, 1, 1), 0)
    assert one.arguments == other.arguments == [A, B, 5, C, D, 6] and other.stream == DEFAULT
    assert repr(made) == f"BoundLaunch({name!r}, 6 arguments, device 0)"


def test_update_changes_one_argument_or_several(woven: goptx.Woven, driver: Driver) -> None:
    made = bound(woven)
    made.update("A:2", 7)
    made.launch()
    made.update("B:times_n", np.int32(-1))
    made.launch()
    made.update({"A:0": Array(E), "A:plus_out": None})
    made.launch()
    assert arguments(driver) == [[A, B, 7, C, D, 6], [A, B, 7, C, D, 2**32 - 1], [E, 0, 7, C, D, 2**32 - 1]]
    assert made.arguments["A:2"] == 7 and made.arguments["A:1"] is None and made.arguments["B:0"].address == C


def test_what_does_not_fit_changes_nothing(woven: goptx.Woven, driver: Driver) -> None:
    made = bound(woven)
    for name, value, message in (
        ("A:3", 1, r"update: `plus_times_woven` has no parameter `A:3`; it has A:0 \(plus_in\), A:1"),
        ("C:0", 1, "has no parameter `C:0`"),
        ("A:2", 0.5, r"parameter A:2 \(plus_n\), .u32 of 4 bytes: takes an integer, not the float 0.5"),
        ("A:2", 2**32, "does not fit into 32 bits"),
        ("A:2", Array(E), "does not take a device array"),
    ):
        with pytest.raises(InputError, match=message):
            made.update({"B:2": 9, name: value})
    made.launch()
    assert arguments(driver) == [[A, B, 5, C, D, 6]] and made.arguments["B:2"] == 6


@pytest.mark.parametrize("kind", [Array, Tensor])
def test_update_compares_the_arguments_again(kind: Any, woven: goptx.Woven, driver: Driver) -> None:
    made = bound(woven, kind)
    with pytest.raises(DependentKernels, match=r"A:1 \(plus_out\) is written, B:0 \(times_in\) is read: the same"):
        made.update("A:1", kind(C))
    with pytest.raises(DependentKernels, match="their arrays have 32 bytes in common"):
        made.update("B:0", kind(B + 32))
    made.update({"A:1": kind(C), "B:0": kind(B)})  # each alone would be an error
    made.launch()
    assert arguments(driver) == [[A, C, 5, B, D, 6]]
    with pytest.warns(DependenceWarning, match="a raw pointer into the array of the other"):
        made.update("B:0", C + 8)
    trusted = bound(woven, kind, independent=True)
    trusted.update("A:1", kind(C))
    trusted.launch()
    assert driver.started[-1].arguments == [A, C, 5, C, D, 6]


def test_bind_compares_as_launch_does(woven: goptx.Woven, driver: Driver) -> None:
    with pytest.raises(DependentKernels, match="the same array"):
        woven.bind([Array(A), Array(B), 1], [Array(B), Array(C), 1], grid=1, block=1)
    with pytest.warns(DependenceWarning, match="a raw pointer into the array"):
        woven.bind([Array(A), Array(B), 1], [B + 4, Array(C), 1], grid=1, block=1)
    with pytest.raises(InputError, match="2 arguments for 3 parameters"):
        woven.bind([Array(A), Array(B)], [Array(C), Array(D), 1], grid=1, block=1)
    with pytest.raises(InputError, match="needs a grid and a block"):
        woven.bind([Array(A), Array(B), 1], [Array(C), Array(D), 1])
    assert driver.started == []


def test_parameters_that_are_one_are_updated_at_once(driver: Driver) -> None:
    made = goptx.weave(PLUS, TIMES, same=["A:0=B:0", "A:2=B:2"]).bind(
        [Array(A), Array(B), 5], [Array(A), Array(D), 5], grid=1, block=64
    )
    with pytest.raises(InputError, match=r"A:2 .* and B:2 .* are one parameter of the fused kernel"):
        made.update("A:2", 6)
    made.update({"A:2": 6, "B:2": 6})
    made.launch()
    assert arguments(driver) == [[A, B, 6, D]]


def test_it_holds_its_arrays_and_a_launch_does_not(woven: goptx.Woven, driver: Driver) -> None:
    made = bound(woven, Tensor)
    first = weakref.ref(made.arguments["A:0"])
    woven.launch(None, [last := Tensor(A), Tensor(B), 5], [Tensor(C), Tensor(D), 6], grid=4, block=64)
    launched = weakref.ref(last)
    del last
    gc.collect()
    assert first() is not None and launched() is None
    made.update("A:0", Tensor(E))
    gc.collect()
    assert first() is None


def test_another_device_is_an_error_and_no_device_is_not(woven: goptx.Woven, driver: Driver) -> None:
    made = bound(woven)
    driver.device = 1
    for start in (made.launch, made.graph, lambda: made.add_to(3)):
        with pytest.raises(InputError, match=r"was bound for device 0, and device 1 is current; make its device"):
            start()
    driver.device = None  # as in a new thread
    made.launch()
    assert driver.device == 0 and len(driver.started) == 1


def test_what_the_driver_refuses(woven: goptx.Woven, driver: Driver) -> None:
    made = bound(woven)
    driver.answer = 1
    with pytest.raises(DeviceError, match="the driver answers CUDA_ERROR_OF_SOME_KIND"):
        made.launch()
    with pytest.raises(DeviceError, match="launch on 'no stream' failed"):
        made.launch("no stream")


def test_a_region_records_the_stream(woven: goptx.Woven, driver: Driver) -> None:
    from goptx.device import recorded_streams

    made, stream = bound(woven), Stream(9)
    graph = made.graph()
    key = recorded_streams.begin(stream)
    try:
        for start in (made.launch, graph.launch, made.add_to):
            with pytest.raises(InputError, match="a fusion region records this stream"):
                start(stream)
    finally:
        recorded_streams.end(key)


SEPARATE = [goptx.Shape(1, 64), goptx.Shape(2, 32)]


def test_separate_kernels_in_order(driver: Driver) -> None:
    made = goptx.fuse(PLUS, TIMES, strategy="separate", shapes=SEPARATE)
    one = made.bind([Array(A), Array(B), 5], [Array(B), Array(C), 6])  # B reads what A has written
    one.launch(Stream(3))
    one.update("B:2", 8)
    one.launch(Stream(4))
    found = [(s.name, s.stream, s.grid, s.block, s.arguments) for s in driver.started]
    first = ("plus", 3, (1, 1, 1), (64, 1, 1), [A, B, 5]), ("times", 3, (2, 1, 1), (32, 1, 1), [B, C, 6])
    assert found[:2] == [*first] and found[2][4] == [A, B, 5] and found[3][1] == 4 and found[3][4] == [B, C, 8]
    graph = one.graph()
    assert driver.edges == {graph.handles} and len(graph.handles) == 2 and graph.last == graph.handles[1:]


@pytest.mark.parametrize("streams", [True, "reversed"])
def test_separate_kernels_side_by_side(streams: Streams, driver: Driver) -> None:
    made = goptx.fuse(PLUS, TIMES, strategy="separate", shapes=SEPARATE, streams=streams)
    one = made.bind([Array(A), Array(B), 5], [Array(C), Array(D), 6])
    one.launch(Stream(3))
    one.update("B:2", 8)
    one.launch(Stream(4))
    assert [call for call in driver.calls if call[0] == "graph"] == [("graph", 3), ("graph", 4)]
    first = [("plus", (1, 1, 1), (64, 1, 1), [A, B, 5]), ("times", (2, 1, 1), (32, 1, 1), [C, D, 6])]
    then = [first[0], (*first[1][:3], [C, D, 8])]
    order = slice(None, None, -1 if streams == "reversed" else 1)
    found = [(s.name, s.grid, s.block, s.arguments) for s in driver.started]
    assert found == [*first[order], *then[order]]
    graph = one.graph()
    assert driver.edges == set() and graph.last == graph.handles
    nodes = driver.graphs[graph.definition]
    assert [nodes[handle].name for handle in graph.handles] == ["plus", "times"]
    assert [started.name for started in nodes.values()] == ["plus", "times"][order], "in the order of their starts"
    one.update({"A:2": 1, "B:2": 2})
    graph.update()
    assert [nodes[handle].arguments[-1] for handle in graph.handles] == [1, 2]
    with pytest.raises(DependentKernels):
        one.update("B:0", Array(B))


def test_hidden_arguments_stay(driver: Driver) -> None:
    shapes = goptx.Shape((None,), 64), goptx.Shape(1, 32)
    made = goptx.weave(PLUS, TIMES, shapes=shapes)
    one = made.bind([A, B, 5], [C, D, 6], shapes=[goptx.Shape(3, 64), goptx.Shape(1, 32)])
    one.launch()
    made.launch(None, [A, B, 5], [C, D, 6], shapes=[goptx.Shape(3, 64), goptx.Shape(1, 32)])
    one.update("A:2", 9)
    one.launch()
    first, again, last = arguments(driver)
    assert first == again and len(first) > 6 and last == [A, B, 9, *first[3:]]


# Graphs -----------------------------------------------------------------------------------------------------


def test_a_graph_passes_the_arguments_of_its_last_update(woven: goptx.Woven, driver: Driver) -> None:
    made = bound(woven)
    graph = made.graph()
    made.update("A:2", 7)
    graph.launch(Stream(8))
    graph.update()
    graph.launch()
    assert arguments(driver) == [[A, B, 5, C, D, 6], [A, B, 7, C, D, 6]]
    assert driver.calls == [("graph", 8), ("graph", DEFAULT)]
    assert repr(graph) == "LaunchGraph('plus_times_woven', kernel nodes: 1)"
    graph.close()
    assert not driver.graphs and not driver.executables
    for use in (graph.launch, graph.update):
        with pytest.raises(InputError, match="the graph of `plus_times_woven` is closed; make another one"):
            use()


def test_a_deleted_graph_is_destroyed(woven: goptx.Woven, driver: Driver) -> None:
    graph = bound(woven).graph()
    assert driver.graphs and driver.executables and graph.definition in driver.graphs
    del graph
    gc.collect()
    assert not driver.graphs and not driver.executables


class CUgraph(int): ...


class CUgraphExec(int): ...


def definition(handle: int) -> Any:
    """As cuda.core has it."""
    return type("GraphDefinition", (), {"handle": CUgraph(handle)})()


def of_torch(graph: int, executable: int = 0) -> Any:
    methods = {"raw_cuda_graph": lambda self: graph, "raw_cuda_graph_exec": lambda self: executable}
    return type("CUDAGraph", (), methods)()


@pytest.mark.parametrize("kind", [definition, of_torch, int, CUgraph])
def test_nodes_in_graphs_of_others(kind: Callable[[int], Any], woven: goptx.Woven, driver: Driver) -> None:
    made = bound(woven)
    _, graph = driver.cuGraphCreate(0)
    first = made.add_to(kind(graph))
    second = made.add_to(kind(graph), after=first.handles)
    node = type("KernelNode", (), {"handle": second.handles[0]})()
    third = made.add_to(kind(graph), after=[node])
    assert driver.edges == {(*first.handles, *second.handles), (*second.handles, *third.handles)}
    _, executable = driver.cuGraphInstantiate(graph, 0)
    made.update("B:2", 9)
    second.update(executable)
    changed = [started.arguments[-1] for started in driver.executables[executable].values()]
    assert changed == [6, 9, 6] and [n.arguments[-1] for n in driver.graphs[graph].values()] == [6, 9, 6]
    third.update(of_torch(graph, executable))
    first.update(type("Graph", (), {"handle": CUgraphExec(executable)})())
    assert [started.arguments[-1] for started in driver.executables[executable].values()] == [9, 9, 9]


def test_what_is_not_a_graph(woven: goptx.Woven, driver: Driver) -> None:
    made = bound(woven)
    executable = type("Graph", (), {"handle": CUgraphExec(3)})()
    for graph in ("graph", None, executable):
        with pytest.raises(InputError, match=r"is not a CUDA graph that is taken here; give cuda.core's Graph"):
            made.add_to(graph)
    with pytest.raises(
        InputError, match=r"an object of type GraphDefinition is not a CUDA graph .*give cuda.core's Graph,"
    ):
        made.graph().update(definition(3))


def test_nodes_on_a_captured_stream(woven: goptx.Woven, driver: Driver) -> None:
    made, stream = bound(woven), Stream(5)
    with pytest.raises(InputError, match="add_to: the stream is not being captured"):
        made.add_to(stream)
    _, graph = driver.cuGraphCreate(0)
    before = made.add_to(graph)
    driver.captured[5] = graph, [*before.handles]
    with pytest.raises(InputError, match="add_to: a stream that is captured has its own order"):
        made.add_to(stream, after=before.handles)
    nodes = made.add_to(stream)
    assert driver.edges == {(*before.handles, *nodes.handles)} and driver.captured == {5: (graph, [*nodes.handles])}


# Launches that are repeated ---------------------------------------------------------------------------------


def launch(woven: goptx.Woven, args: list[list[object]], **options: Any) -> None:
    woven.launch(None, *args, grid=4, block=64, **options)


@pytest.mark.parametrize("kind", [Array, Tensor, int])
def test_repeated_launches_pass_what_is_given_now(kind: Any, woven: goptx.Woven, driver: Driver) -> None:
    sets = [[A, B, 5, C, D, 6], [A, B, 7, C, D, 6], [C, D, 7, A, B, 6], [C, D, 7, A, E, 1], [A, B, 5, C, D, 6]]
    for given in sets:
        made = [n if i % 3 == 2 else kind(n) for i, n in enumerate(given)]
        launch(woven, [made[:3], made[3:]])
    assert arguments(driver) == sets


def test_an_array_with_other_memory_is_noticed(woven: goptx.Woven, driver: Driver) -> None:
    """The same objects, as tensors of which the data are set."""
    for kind in (Array, Tensor):
        one, out = kind(A), kind(B)
        args: list[list[object]] = [[one, out, 5], [kind(C), kind(D), 6]]
        launch(woven, args)
        one.address = E
        launch(woven, args)
        assert [a[0] for a in arguments(driver)[-2:]] == [A, E]
        out.address = D
        with pytest.raises(DependentKernels, match="the same array"):
            launch(woven, args)
        out.address = C - 32
        with pytest.raises(DependentKernels, match="their arrays have 32 bytes in common"):
            launch(woven, args)
    tensor = Tensor(B)
    args = [[Tensor(A), tensor, 5], [Tensor(C), Tensor(D), 6]]
    launch(woven, args)
    tensor.nbytes = C - B + 4  # as after resize_
    with pytest.raises(DependentKernels, match="their arrays have 4 bytes in common"):
        launch(woven, args)
    tensor.nbytes, tensor.step = 64, (C - B) // 4  # as after as_strided_
    with pytest.raises(DependentKernels, match="their arrays have 64 bytes in common"):
        launch(woven, args)
    tensor.step, tensor.address, tensor.is_cuda = 1, E, False
    with pytest.raises(InputError, match="the tensor is in host memory"):
        launch(woven, args)


def test_a_tensor_is_read_again_whatever_was_refused(woven: goptx.Woven, driver: Driver) -> None:
    """Also where the address stayed, and where a launch between did not compare."""
    tensor = Tensor(B)
    args: list[list[object]] = [[Tensor(A), tensor, 5], [Tensor(C), Tensor(D), 6]]
    launch(woven, args)
    for _ in range(2):
        tensor.nbytes = C - B + 4
        with pytest.raises(DependentKernels, match="their arrays have 4 bytes in common"):
            launch(woven, args)
        launch(woven, args, independent=True)
        with pytest.raises(DependentKernels, match="their arrays have 4 bytes in common"):
            launch(woven, args)
        tensor.nbytes = 64
        launch(woven, args)
    assert arguments(driver) == [[A, B, 5, C, D, 6]] * 5


def test_what_changes_after_several_launches_is_noticed(woven: goptx.Woven, driver: Driver) -> None:
    """From the third launch on the same arguments are recognised together."""
    tensor = Tensor(B)
    first: list[Any] = [Tensor(A), tensor, 5]
    second: list[Any] = [CupyArray(C), CupyArray(D), 6]

    def settled() -> None:
        for _ in range(3):
            launch(woven, [first, second])
        assert arguments(driver)[-1] == [A, B, 5, C, D, 6]

    others: list[tuple[list[Any], list[Any], list[int]]] = [
        ([Tensor(A), Tensor(B), 7], second, [A, B, 7, C, D, 6]),
        ([Tensor(A), Tensor(E), 5], second, [A, E, 5, C, D, 6]),
        (first, [CupyArray(C), CupyArray(E), 6], [A, B, 5, C, E, 6]),
        ([A, B, 5], second, [A, B, 5, C, D, 6]),  # of other types
        ([Tensor(A), Tensor(B), np.int32(-1)], second, [A, B, 2**32 - 1, C, D, 6]),
    ]
    for one, other, expected in others:
        settled()
        for _ in range(3):
            launch(woven, [one, other])
            assert arguments(driver)[-1] == expected
    settled()
    tensor.nbytes = C - B + 4
    with pytest.raises(DependentKernels, match="their arrays have 4 bytes in common"):
        launch(woven, [first, second])
    launch(woven, [first, second], independent=True)
    tensor.nbytes, tensor.step = 64, 2048
    with pytest.raises(DependentKernels, match="in common"):
        launch(woven, [first, second])
    tensor.step = 1
    settled()
    for wrong in ([first[:2], second], [[*first, *second]], [first + second[:1], second[1:]]):
        with pytest.raises(InputError, match="argument"):
            launch(woven, wrong)
    settled()


def test_a_zero_keeps_its_sign_however_often_it_comes(driver: Driver) -> None:
    scale = f"{HEAD}.visible .entry scale(.param .f32 by)\n{{ ret; }}\n"
    woven = goptx.weave(scale, PLUS)
    for zero in (0.0, 0.0, 0.0, -0.0, -0.0, -0.0, 0.0):
        woven.launch(None, [zero], [Array(A), Array(B), 5], grid=1, block=1)
    for zero in (0.0, 0.0, 0.0, -0.0, -0.0, -0.0, 0.0):
        woven.launch(None, [zero], [A, B, 5], grid=1, block=1)
    assert [a[0] >> 31 for a in arguments(driver)] == [0, 0, 0, 1, 1, 1, 0] * 2


def test_an_array_of_cupy_is_read_once(woven: goptx.Woven, driver: Driver) -> None:
    """It has the same memory as long as it lives; another array in the same place is another one."""
    args: list[list[object]] = [[CupyArray(A), CupyArray(B), 5], [CupyArray(C), CupyArray(D), 6]]
    launch(woven, args)
    reads = CupyArray.reads
    launch(woven, args)
    assert CupyArray.reads == reads
    launch(woven, [[args[0][0], CupyArray(B), 5], args[1]])
    assert CupyArray.reads > reads
    died = weakref.ref(args[0][0])
    args[0][0] = CupyArray(E)
    gc.collect()
    assert died() is None, "a launch holds no array"
    launch(woven, args)
    assert [a[0] for a in arguments(driver)] == [A, A, A, E]
    with pytest.raises(DependentKernels, match="their arrays have 32 bytes in common"):
        launch(woven, [[args[0][0], CupyArray(C - 32), 5], args[1]])


def test_arguments_of_other_types_take_turns(woven: goptx.Woven, driver: Driver) -> None:
    """What one type left is not taken for what the other one gave."""
    sets: list[list[Any]] = [[Tensor(A), 5], [A, 6], [Tensor(A), 6], [Tensor(E), 5], [A, 5], [Tensor(A), np.uint32(5)]]
    for first, number in sets:
        launch(woven, [[first, Tensor(B), number], [Tensor(C), Tensor(D), 6]])
    expected = [(A, 5), (A, 6), (A, 6), (E, 5), (A, 5), (A, 5)]
    assert [(a[0], a[2]) for a in arguments(driver)] == expected


def test_equal_numbers_of_other_types_are_not_the_same(driver: Driver) -> None:
    real = f"{HEAD}.visible .entry real(.param .f32 x, .param .u32 n)\n{{ ret; }}\n"
    woven = goptx.weave(real, PLUS)
    rest = [Array(A), Array(B), 5]
    for x in (0.0, -0.0, 1, 1.0, True, np.float32(2), 2):
        woven.launch(None, [x, 1], rest, grid=1, block=1)
    bits = [int(np.float32(x).view(np.uint32)) for x in (0.0, -0.0, 1, 1, 1, 2, 2)]
    assert [a[0] for a in arguments(driver)] == bits
    with pytest.raises(InputError, match=r"takes an integer, not the float 1\.0"):
        woven.launch(None, [0.0, 1.0], rest, grid=1, block=1)
    with pytest.raises(InputError, match="is too large for a float of 4 bytes"):
        woven.launch(None, [1e39, 1], rest, grid=1, block=1)


def test_a_structure_that_changes_is_packed_again(driver: Driver) -> None:
    structure = f"{HEAD}.visible .entry structure(.param .align 4 .b8 s[12])\n{{ ret; }}\n"
    woven = goptx.weave(structure, PLUS)
    given = np.zeros(1, [("a", "u4"), ("b", "u4"), ("c", "u4")])
    scalar = given[0]
    for b in (1, 2):
        scalar["b"] = b
        for value in (scalar, given):
            woven.launch(None, [value], [Array(A), Array(B), 5], grid=1, block=1)
    assert [a[0] >> 32 for a in arguments(driver)] == [1, 1, 2, 2]


def test_a_promise_holds_for_one_launch(woven: goptx.Woven, driver: Driver) -> None:
    args: list[list[object]] = [[Tensor(A), Tensor(B), 5], [Tensor(B), Tensor(D), 6]]
    launch(woven, args, independent=True)
    with pytest.raises(DependentKernels):
        launch(woven, args)
    launch(woven, args, independent=True)
    assert len(driver.started) == 2


def test_a_warning_is_given_each_time(woven: goptx.Woven, driver: Driver) -> None:
    args: list[list[object]] = [[Tensor(A), Tensor(B), 5], [B + 8, Tensor(D), 6]]
    for _ in range(2):
        with pytest.warns(DependenceWarning, match="a raw pointer into the array of the other"):
            launch(woven, args)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        launch(woven, args, independent=True)


def test_shapes_take_turns(woven: goptx.Woven, driver: Driver) -> None:
    args: list[list[object]] = [[Tensor(A), Tensor(B), 5], [Tensor(C), Tensor(D), 6]]
    grid = [4]
    for size in (4, 8, 4):
        grid[0] = size
        woven.launch(None, *args, grid=grid, block=64, max_registers=size)
    assert [one.grid[0] for one in driver.started] == [4, 8, 4]
    assert len({one.name for one in driver.started}) == 1 and len(driver.kernels) == 2


def test_devices_take_turns(woven: goptx.Woven, driver: Driver) -> None:
    args: list[list[object]] = [[Tensor(A), Tensor(B), 5], [Tensor(C), Tensor(D), 6]]
    fresh = goptx.weave(PLUS, TIMES)
    for number in (0, 1, 0):
        driver.device = number
        launch(fresh, args)
    assert len(driver.kernels) == 2


def test_threads_have_parameters_of_their_own(woven: goptx.Woven, driver: Driver) -> None:
    """Each launch passes the arguments of its own thread, whatever others launch meanwhile."""
    found: list[list[int]] = []

    def run(k: int) -> None:
        for n in range(50):
            launch(woven, [[Tensor(A), Tensor(B), 1000 * k + n], [Tensor(C), Tensor(D), k]])

    threads = [threading.Thread(target=run, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = sorted([one.arguments[2], one.arguments[5]] for one in driver.started)
    assert found == sorted([1000 * k + n, k] for k in range(4) for n in range(50))


def test_a_failed_launch_leaves_the_arguments_of_the_last(woven: goptx.Woven, driver: Driver) -> None:
    args: list[list[object]] = [[Tensor(A), Tensor(B), 5], [Tensor(C), Tensor(D), 6]]
    launch(woven, args)
    with pytest.raises(InputError, match="does not fit"):
        launch(woven, [[Tensor(E), Tensor(B), 2**40], args[1]])
    launch(woven, args)
    assert arguments(driver) == [[A, B, 5, C, D, 6]] * 2
