"""Launches of a woven kernel on a real GPU: in CUDA graphs, on foreign streams, from threads, of frameworks' arrays."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from gpu.plus_and_times import PLUS, THREADS, TIMES, Words, arguments, expected, results

import goptx
from goptx import DependentKernels
from goptx.device.load import current_device
from goptx.errors import DependenceWarning
from goptx.results.fused_kernel import Woven

pytestmark = pytest.mark.gpu

# CUDA graphs ----------------------------------------------------------------------------------------------


def captured(stream: Any, run: Callable[[], None]) -> Any:
    """A graph of what `run` launches on the stream, ready to be launched; no call that could wait is allowed."""
    from cuda.bindings import driver

    handle = driver.CUstream(int(stream.handle))
    Words.must(driver.cuStreamBeginCapture(handle, driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL))
    try:
        run()
    finally:
        answer = driver.cuStreamEndCapture(handle)
    graph = Words.must(driver.cuGraphInstantiate(Words.must(answer), 0))
    return lambda: (Words.must(driver.cuGraphLaunch(graph, handle)), stream.sync())


@pytest.mark.parametrize("shared", [0, 60_000])
def test_launches_are_captured(shared: int, woven: Woven, arrays: list[Words]) -> None:
    fresh = goptx.weave(PLUS, TIMES, arch=woven.module.target[0])
    fresh.load()  # and no launch yet
    stream = current_device().create_stream()
    replay = captured(stream, lambda: fresh.launch(stream, *arguments(arrays, 5), grid=1, block=THREADS, shared=shared))
    assert results(arrays) == ([0] * THREADS, [0] * THREADS)  # nothing ran
    replay()
    assert results(arrays) == expected(5)
    for inputs in arrays[::2]:
        inputs.put(np.arange(100, 100 + THREADS, dtype=np.uint32))
    replay()
    assert results(arrays) == expected(5, 100)


def test_two_shapes_in_one_graph(woven: Woven, arrays: list[Words]) -> None:
    shaped = goptx.weave(
        PLUS, TIMES, arch=woven.module.target[0], shapes=[goptx.Shape((None,), THREADS), goptx.Shape(1, THREADS // 2)]
    )
    shaped.load()
    stream = current_device().create_stream()
    shapes = [[goptx.Shape(grid, THREADS), goptx.Shape(1, THREADS // 2)] for grid in (1, 3)]

    def run() -> None:
        for k, own in enumerate(shapes):
            shaped.launch(stream, *arguments(arrays, 7 + k), shapes=own)

    captured(stream, run)()
    plus, times = expected(8)
    assert results(arrays) == (plus, times[: THREADS // 2] + [0] * (THREADS // 2))


def side_by_side(woven: Woven) -> Woven:
    shapes = [goptx.Shape(1, THREADS)] * 2
    return goptx.fuse(PLUS, TIMES, strategy="separate", arch=woven.module.target[0], shapes=shapes, streams=True)


def test_kernels_side_by_side_are_between_what_comes_before_and_after(woven: Woven, arrays: list[Words]) -> None:
    """Each launch reads what the one before it has written, on any stream."""
    both, stream = side_by_side(woven), current_device().create_stream()
    first, second = arrays[:2], arrays[2:]
    both.launch(stream, *arguments(arrays, 5))
    back = [first[1], first[0], np.uint32(6)], [second[1], second[0], np.uint32(6)]
    both.launch(stream, *back)
    stream.sync()
    plus, times = expected(5)
    assert [first[0].get(), second[0].get()] == [[n + 6 for n in plus], [n * 6 for n in times]]


def test_kernels_side_by_side_again_and_again(woven: Woven, arrays: list[Words]) -> None:
    """The graph gets other arguments only where they have changed."""
    both, stream = side_by_side(woven), current_device().create_stream()
    for k in (3, 3, 8):
        both.launch(stream, *arguments(arrays, k))
        stream.sync()
        assert results(arrays) == expected(k)
    backwards = both.side_by_side("reversed")
    backwards.launch(None, *arguments(arrays, 4))
    current_device().sync()
    assert results(arrays) == expected(4)


def test_kernels_side_by_side_in_a_graph(woven: Woven, arrays: list[Words]) -> None:
    both, stream = side_by_side(woven), current_device().create_stream()
    both.load()  # and no launch yet
    captured(stream, lambda: both.launch(stream, *arguments(arrays, 9)))()
    assert results(arrays) == expected(9)


# Streams, threads, caching ---------------------------------------------------------------------------


class Method:
    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, int(self.stream.handle)


class Value:
    def __init__(self, stream: Any) -> None:
        self.__cuda_stream__ = 0, int(stream.handle)


@pytest.mark.parametrize("make", [Method, Value, lambda stream: stream, lambda stream: None])
def test_any_object_that_has_a_stream(make: Callable[[Any], Any], woven: Woven, arrays: list[Words]) -> None:
    stream = current_device().create_stream()
    woven.launch(make(stream), *arguments(arrays, 3), grid=1, block=THREADS)
    stream.sync()
    assert results(arrays) == expected(3)


@pytest.mark.parametrize("framework", ["cupy", "torch"])
def test_streams_of_frameworks(framework: str, woven: Woven, arrays: list[Words]) -> None:
    module = pytest.importorskip(framework)
    stream = module.cuda.Stream()
    if not hasattr(stream, "__cuda_stream__"):
        pytest.skip(f"this {framework} is older than the protocol")
    woven.launch(stream, *arguments(arrays, 4), grid=1, block=THREADS)
    stream.synchronize()
    assert results(arrays) == expected(4)


def test_threads_launch_with_arguments_of_their_own(woven: Woven) -> None:
    device, count, times = current_device(), 8, 200
    sets = [[Words() for _ in range(4)] for _ in range(count)]
    for own in sets:
        for inputs in own[::2]:
            inputs.put(np.arange(THREADS, dtype=np.uint32))
    streams = [device.create_stream() for _ in range(count)]

    def run(k: int) -> None:  # the thread has no current device before
        for n in range(times):
            woven.launch(streams[k], *arguments(sets[k], k * times + n), grid=1, block=THREADS)
        streams[k].sync()

    with ThreadPoolExecutor(count) as pool:
        list(pool.map(run, range(count)))
    assert [results(own) for own in sets] == [expected(k * times + times - 1) for k in range(count)]
    for own in sets:
        for array in own:
            array.free()


def test_loaded_once_and_cached(woven: Woven) -> None:
    assert woven.load() is woven.load()
    assert woven.load(32) is not woven.load()


# Arrays of frameworks -------------------------------------------------------------------------------------


@pytest.fixture
def whole(woven: Woven) -> Any:
    """A CuPy array that counts up, four times as long as what a kernel takes."""
    cp = pytest.importorskip("cupy")
    return cp.arange(4 * THREADS, dtype=cp.uint32)


def quarters(whole: Any) -> list[Any]:
    return [whole[i * THREADS : (i + 1) * THREADS] for i in range(4)]


def launch(woven: Woven, arrays: list[Any], **options: Any) -> None:
    woven.launch(None, *arguments(arrays, 2), grid=1, block=THREADS, **options)


def test_cupy_arrays_that_depend_are_refused(woven: Woven, whole: Any) -> None:
    one, two, three, four = quarters(whole)
    with pytest.raises(
        DependentKernels, match=r"^A:1 \(plus_out\) is written, B:0 \(times_in\) is read: the same array"
    ):
        launch(woven, [one, two, two, three])
    with pytest.raises(DependentKernels, match=r"B:1 \(times_out\) is written, A:0 \(plus_in\) is read"):
        launch(woven, [one, two, three, one])
    with pytest.raises(DependentKernels, match="their arrays have 128 bytes in common"):
        launch(woven, [one, two, whole[THREADS + 32 : 2 * THREADS + 32], four])
    with pytest.raises(DependentKernels, match="the same array"):
        launch(woven, [one, two, two[::-1], four])
    assert whole.get().tolist() == list(range(4 * THREADS))  # nothing was launched


def test_cupy_views_of_one_allocation_are_independent(woven: Woven, whole: Any) -> None:
    one, two, _, four = quarters(whole)
    launch(woven, [one, two, one, four])  # both may read the same
    assert two.get().tolist() == [i + 2 for i in range(THREADS)]
    assert four.get().tolist() == [i * 2 for i in range(THREADS)]


def test_the_callers_promise_is_trusted(woven: Woven, whole: Any) -> None:
    launch(woven, [whole[:THREADS], whole[THREADS:], whole[:THREADS], whole[2 * THREADS :]], independent=True)
    assert whole.get().tolist()[2 * THREADS : 3 * THREADS] == [2 * i for i in range(THREADS)]


def test_a_raw_pointer_into_a_cupy_array_is_warned_of(woven: Woven, whole: Any) -> None:
    start = whole.data.ptr
    with pytest.warns(DependenceWarning, match="a raw pointer into the array of the other"):
        launch(woven, [whole[:THREADS], start + 8 * THREADS, whole, start + 12 * THREADS])


def test_torch_tensors(woven: Woven) -> None:
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("torch sees no GPU")
    whole = torch.arange(4 * THREADS, dtype=torch.int32, device="cuda")
    one, two, three, four = whole.split(THREADS)
    torch.cuda.synchronize()
    with pytest.raises(DependentKernels, match="the same array"):
        launch(woven, [one, two, two, three])
    launch(woven, [one, two, three, four])
    torch.cuda.synchronize()
    assert two.tolist() == [i + 2 for i in range(THREADS)]
    assert four.tolist() == [2 * i for i in range(2 * THREADS, 3 * THREADS)]


# inputs in common -----------------------------------------------------------------------------------------


def test_what_both_kernels_load_is_loaded_once(arrays: list[Words]) -> None:
    made = goptx.weave(PLUS, TIMES, arch=f"sm_{current_device().arch}", same=["A:0=B:0", "A:2=B:2"])
    one, other = arguments([arrays[0], arrays[1], arrays[0], arrays[3]], 3)
    made.launch(current_device().create_stream(), one, other, grid=1, block=THREADS)
    assert made.ptx.count("ld.global") == 1
    assert results(arrays) == expected(3)
