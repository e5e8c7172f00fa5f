"""Bound launches on a real GPU: with updated arguments, of separate kernels, in CUDA graphs, captures and threads."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from gpu.plus_and_times import PLUS, THREADS, TIMES, Words, arguments, expected, results

import goptx
from goptx import DependentKernels
from goptx.device.load import bindings, current_device, must
from goptx.options import STREAMS, Streams
from goptx.results.fused_kernel import Woven

pytestmark = pytest.mark.gpu


def bound(woven: Woven, arrays: list[Words], n: int) -> Any:
    return woven.bind(*arguments(arrays, n), grid=1, block=THREADS)


def both(n: int, m: int) -> tuple[list[int], list[int]]:
    """The results of A with n, and of B with m."""
    return expected(n)[0], expected(m)[1]


def test_a_bound_launch_and_its_updates(woven: Woven, arrays: list[Words]) -> None:
    made, stream = bound(woven, arrays, 3), current_device().create_stream()
    made.launch(stream)
    assert results(arrays) == expected(3)
    made.update("A:2", 8)
    made.launch()
    assert results(arrays) == both(8, 3)
    other = Words()
    made.update({"B:1": other, "B:times_n": np.uint32(5)})
    made.launch(stream)
    assert (arrays[1].get(), other.get()) == both(8, 5)
    with pytest.raises(DependentKernels, match="the same array"):
        made.update("B:0", arrays[1])
    made.launch(stream)
    assert (arrays[1].get(), other.get()) == both(8, 5)
    other.free()


def test_many_launches_pass_what_was_bound_at_the_time(woven: Woven) -> None:
    """The driver has read the arguments when a launch returns."""
    count, stream = 200, current_device().create_stream()
    inputs, outs, rest = Words(), [Words() for _ in range(count)], [Words() for _ in range(2)]
    inputs.put(np.arange(THREADS, dtype=np.uint32))
    made = woven.bind([inputs, outs[0], 0], [*rest, 1], grid=1, block=THREADS)
    for n, out in enumerate(outs):
        made.update({"A:1": out, "A:2": n})
        made.launch(stream)
    stream.sync()
    assert [out.get() for out in outs] == [expected(n)[0] for n in range(count)]
    for n, out in enumerate(outs):
        woven.launch(stream, [inputs, out, 2 * n], [*rest, 1], grid=1, block=THREADS)
    assert [out.get() for out in outs] == [expected(2 * n)[0] for n in range(count)]
    for array in (inputs, *outs, *rest):
        array.free()


@pytest.mark.parametrize("streams", STREAMS)
def test_separate_kernels(streams: Streams, woven: Woven, arrays: list[Words]) -> None:
    shapes = [goptx.Shape(1, THREADS)] * 2
    made = goptx.fuse(
        PLUS, TIMES, strategy="separate", arch=woven.module.target[0], shapes=shapes, streams=streams
    ).bind(*arguments(arrays, 5))
    stream = current_device().create_stream()
    made.launch(stream)
    stream.sync()
    assert results(arrays) == expected(5)
    made.update("B:2", 6)
    graph = made.graph()
    graph.launch(stream)
    stream.sync()
    assert results(arrays) == both(5, 6) and len(graph.handles) == 2
    made.update("A:2", 7)
    graph.update()
    graph.launch(stream)
    stream.sync()
    assert results(arrays) == both(7, 6)
    made.update("B:2", 8)
    made.launch(stream)
    stream.sync()
    assert results(arrays) == both(7, 8)


def test_separate_kernels_in_order_depend(woven: Woven, arrays: list[Words]) -> None:
    """B reads what A has written, also in a graph."""
    made = goptx.fuse(PLUS, TIMES, strategy="separate", arch=woven.module.target[0])
    one = made.bind([arrays[0], arrays[1], 5], [arrays[1], arrays[3], 2], grid=1, block=THREADS)
    graph, stream = one.graph(), current_device().create_stream()
    for start in (one.launch, graph.launch):
        arrays[3].put(np.zeros(THREADS, np.uint32))
        start(stream)
        stream.sync()
        assert arrays[3].get() == [2 * (i + 5) for i in range(THREADS)]


def test_threads_launch_one_bound_launch(woven: Woven, arrays: list[Words]) -> None:
    made, device = bound(woven, arrays, 4), current_device()
    streams = [device.create_stream() for _ in range(4)]

    def run(stream: Any) -> None:  # the thread has no current device before
        for _ in range(100):
            made.launch(stream)
        stream.sync()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(run, streams))
    assert results(arrays) == expected(4)


def test_large_shared_memory(woven: Woven, arrays: list[Words]) -> None:
    made = woven.bind(*arguments(arrays, 4), grid=1, block=THREADS, shared=60_000)
    graph = made.graph()
    graph.launch()
    assert results(arrays) == expected(4)


# Graphs -----------------------------------------------------------------------------------------------------


def test_a_graph_is_updated(woven: Woven, arrays: list[Words]) -> None:
    made, stream = bound(replace(woven), arrays, 3), current_device().create_stream()
    graph = made.graph()
    assert results(arrays) == ([0] * THREADS, [0] * THREADS)  # nothing ran
    made.update("A:2", 9)
    graph.launch(stream)
    stream.sync()
    assert results(arrays) == expected(3)
    graph.update()
    graph.launch()
    assert results(arrays) == both(9, 3)
    graph.launch(stream)
    graph.close()
    stream.sync()


def test_nodes_in_a_graph_of_cuda_core(woven: Woven, arrays: list[Words]) -> None:
    graphs = pytest.importorskip("cuda.core.graph")
    if not hasattr(graphs, "GraphDefinition"):
        pytest.skip("this cuda.core has no GraphDefinition")
    made, stream = bound(woven, arrays, 3), current_device().create_stream()
    definition = graphs.GraphDefinition()
    nodes = made.add_to(definition)
    back = woven.bind([arrays[1], arrays[0], 0], [arrays[3], arrays[2], 1], grid=1, block=THREADS)
    after = back.add_to(definition, after=nodes.handles)
    executable = definition.instantiate()
    executable.launch(stream)
    stream.sync()
    assert results(arrays) == expected(3)
    assert (arrays[0].get(), arrays[2].get()) == expected(3), "copied back after the first node"
    back.update({"A:2": 1})
    after.update(executable)
    for inputs in arrays[::2]:
        inputs.put(np.arange(THREADS, dtype=np.uint32))
    executable.launch(stream)
    stream.sync()
    assert arrays[0].get() == expected(4)[0]


def test_nodes_on_a_captured_stream(woven: Woven, arrays: list[Words]) -> None:
    made, stream, driver = bound(woven, arrays, 3), current_device().create_stream(), bindings()
    handle = driver.CUstream(int(stream.handle))
    must(driver.cuStreamBeginCapture(handle, driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED))
    nodes = made.add_to(stream)
    woven.launch(stream, [arrays[1], arrays[0], 0], [arrays[3], arrays[2], 1], grid=1, block=THREADS)
    graph = must(driver.cuStreamEndCapture(handle))
    executable = must(driver.cuGraphInstantiate(graph, 0))
    must(driver.cuGraphLaunch(executable, handle))
    stream.sync()
    assert (arrays[0].get(), arrays[2].get()) == expected(3), "the later launch waits for the added nodes"
    for inputs in arrays[::2]:
        inputs.put(np.arange(THREADS, dtype=np.uint32))
    made.update("B:2", 7)
    nodes.update(int(executable))
    must(driver.cuGraphLaunch(executable, handle))
    stream.sync()
    assert results(arrays) == both(3, 7)
    must(driver.cuGraphExecDestroy(executable))
    must(driver.cuGraphDestroy(graph))


def test_a_bound_launch_is_captured(woven: Woven, arrays: list[Words]) -> None:
    made, stream, driver = bound(woven, arrays, 6), current_device().create_stream(), bindings()
    handle = driver.CUstream(int(stream.handle))
    must(driver.cuStreamBeginCapture(handle, driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL))
    made.launch(stream)
    graph = must(driver.cuStreamEndCapture(handle))
    executable = must(driver.cuGraphInstantiate(graph, 0))
    made.update("A:2", 1)  # a captured launch has the arguments of its time
    must(driver.cuGraphLaunch(executable, handle))
    stream.sync()
    assert results(arrays) == expected(6)


def test_nodes_in_a_graph_of_torch(woven: Woven) -> None:
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available() or not hasattr(torch.cuda.CUDAGraph, "raw_cuda_graph"):
        pytest.skip("torch sees no GPU, or is older than raw_cuda_graph")
    whole = torch.arange(4 * THREADS, dtype=torch.int32, device="cuda")
    one, two, three, four = whole.split(THREADS)
    made = woven.bind([one, two, 2], [three, four, 3], grid=1, block=THREADS)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph(keep_graph=True)
    with torch.cuda.graph(graph):
        nodes = made.add_to(torch.cuda.current_stream())
        doubled = four * 2
    graph.instantiate()
    graph.replay()
    torch.cuda.synchronize()
    assert two.tolist() == expected(2)[0]
    assert doubled.tolist() == [2 * 3 * i for i in range(2 * THREADS, 3 * THREADS)]
    if hasattr(graph, "raw_cuda_graph_exec"):
        made.update("B:2", 5)
        nodes.update(graph)
        graph.replay()
        torch.cuda.synchronize()
        assert doubled.tolist() == [2 * 5 * i for i in range(2 * THREADS, 3 * THREADS)]


def test_torch_tensors_are_read_anew_at_each_launch(woven: Woven) -> None:
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("torch sees no GPU")
    whole = torch.arange(8 * THREADS, dtype=torch.int32, device="cuda")
    tensors = [t.clone() for t in whole.split(THREADS)]
    one, two, three, four, five, *_ = tensors

    def launch() -> None:
        woven.launch(None, [one, two, 2], [three, four, 3], grid=1, block=THREADS)
        torch.cuda.synchronize()

    torch.cuda.synchronize()
    for _ in range(2):
        launch()
    assert two.tolist() == [i + 2 for i in range(THREADS)]
    one.data = five.data  # the same object, other memory
    launch()
    assert two.tolist() == [i + 2 for i in range(4 * THREADS, 5 * THREADS)]
    two.data = three.data
    with pytest.raises(DependentKernels, match="the same array"):
        launch()
    two = torch.zeros(THREADS, dtype=torch.int32)
    with pytest.raises(goptx.InputError, match="host memory"):
        launch()


def test_cupy_arrays_are_read_anew_at_each_launch(woven: Woven) -> None:
    cp = pytest.importorskip("cupy")
    whole = cp.arange(8 * THREADS, dtype=cp.uint32)
    cp.cuda.Device().synchronize()
    parts = [whole[i * THREADS : (i + 1) * THREADS] for i in range(8)]
    for source in (parts[0], parts[4], parts[5][::-1], parts[0]):
        woven.launch(None, [source, parts[1], 2], [parts[2], parts[3], 3], grid=1, block=THREADS)
        assert int(parts[1][0].get()) == int(source[0].get()) + 2
    with pytest.raises(DependentKernels, match="the same array"):
        woven.launch(None, [parts[0], parts[1], 2], [parts[1], parts[3], 3], grid=1, block=THREADS)
