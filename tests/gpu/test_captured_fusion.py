"""Regions that capture their stream, on a real GPU: other work stays in its place, waiting inside is an error, and what
a region compares and notices. Run with -s to see the reports."""

import logging
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from gpu.plus_and_times import Words
from gpu.test_fusion import CTAS, LENGTH, MINUS, PLUS, SHIFTED, THREADS, TIMES, N, Reals, arrays, stream

import goptx
from goptx import InputError
from goptx.device import cuda_graph, stream_watch
from goptx.device.load import bindings, current_device, stream_handle
from goptx.region.capture_report import CaptureReport
from goptx.region.captured import CapturedFusion

pytestmark = pytest.mark.gpu

__all__ = ["arrays", "stream"]
MIB = 1 << 20


def captured(on: Any, **how: Any) -> CapturedFusion:
    made = goptx.fusion(on, capture=True, **how)
    assert isinstance(made, CapturedFusion)
    return made


def launch(f: goptx.Fusion, source: Any, *args: Any) -> None:
    f.launch(source, CTAS, THREADS, *args)


def report(f: CapturedFusion) -> CaptureReport:
    assert f.report
    print(f.report)
    return f.report


def strategies(f: CapturedFusion) -> list[str]:
    return [g.done.strategy if g.done else "as captured" for g in report(f).groups]


def copy(on: Any, to: Reals, of: Reals) -> None:
    driver = bindings()
    Words.must(driver.cuMemcpyDtoDAsync(to.address, of.address, 4 * of.count, driver.CUstream(stream_handle(on))))


def fill(on: Any, to: Reals) -> None:
    driver = bindings()
    Words.must(driver.cuMemsetD32Async(to.address, 0, to.count, driver.CUstream(stream_handle(on))))


def test_copies_stay_in_their_place(stream: Any, arrays: Any) -> None:
    x, y, z, t, s, u, out = arrays(7)
    x0, y0, z0 = x.now, y.now, z.now
    reports = []
    for _ in range(3):
        for array, values in ((x, x0), (y, y0), (z, z0)):
            array.fill(values)
        with captured(stream) as f:
            launch(f, TIMES, x, y, t, N)
            launch(f, MINUS, t, z, s, N)
            copy(stream, y, s)
            launch(f, PLUS, y, z, u, N)
            launch(f, TIMES, u, x, out, N)
            copy(stream, z, out)
            fill(stream, x)
        made = report(f)
        assert [s.kind for s in made.steps] == ["launch"] * 2 + ["memcpy"] + ["launch"] * 2 + ["memcpy", "memset"]
        assert len(made.fused) == 2 and len(made.foreign) == 3
        first = (x0 * y0 - z0)[:N]
        assert (s.now[:N] == first).all() and (y.now[:N] == first).all()
        assert (out.now[:N] == (first + z0[:N]) * x0[:N]).all()
        assert (z.now == out.now).all() and not x.now.any()
        reports.append(made)
    assert [[g.done.anew for g in r.groups if g.done] for r in reports] == [[True] * 2, [False] * 2, [False] * 2]


def test_launches_alone_are_one_launch(stream: Any, arrays: Any) -> None:
    x, y, z, t, out = arrays(5)
    before = t.now
    with captured(stream) as f:
        launch(f, TIMES, x, y, t, N)
        launch(f, MINUS, t, z, out, N)
        f.private(t)
    assert strategies(f) == ["vertical"] and f.fused
    assert (out.now[:N] == (x.now * y.now - z.now)[:N]).all() and (t.now == before).all()


def test_what_is_not_fused_is_launched_in_its_place(stream: Any, arrays: Any) -> None:
    x, y, z, t, out = arrays(5)
    with captured(stream) as f:
        fill(stream, out)
        launch(f, TIMES, x, y, t, N)
        launch(f, SHIFTED, t, z, out, N)
        copy(stream, x, out)
    assert strategies(f) == ["separate"] and "different CTAs" in str(f.report)
    assert (out.now[:N] == (t.now - z.now)[64 : N + 64]).all() and (x.now == out.now).all()


def test_only_other_work_and_nothing(stream: Any, arrays: Any) -> None:
    x, y = arrays(2)
    with captured(stream) as f:
        copy(stream, x, y)
    assert (x.now == y.now).all() and not report(f).groups
    with captured(stream) as f:
        pass
    assert f.report is None


def test_kernels_that_goptx_loaded_are_recognised(stream: Any, arrays: Any) -> None:
    a, b, c, d, out = arrays(5)
    woven = goptx.weave(PLUS, MINUS, arch=f"sm_{current_device().arch}")
    for loaded_before in (False, True):
        with captured(stream) as f:
            woven.launch(stream, [a, b, c, N], [a, b, d, N], grid=CTAS, block=THREADS)
            launch(f, TIMES, c, d, out, N)
        made = report(f)
        nodes = [(s.kind, s.name) for s in made.steps]
        assert len(made.recognised) == 2, f"{nodes}, loaded before: {loaded_before}; see loaded._LOADED and handles"
        assert (out.now[:N] == ((a.now + b.now) * (a.now - b.now))[:N]).all()
        fill(stream, out)
    assert [g.launches for g in made.groups] == [2] and strategies(f) == ["vertical"]
    with captured(stream) as f:  # one recognised launch and a copy: as captured
        woven.launch(stream, [a, b, c, N], [a, b, d, N], grid=CTAS, block=THREADS)
        copy(stream, out, c)
    assert strategies(f) == ["as captured"] and (out.now == c.now).all()


def test_allocations(arrays: Any) -> None:
    (x,) = arrays(1)
    found = cuda_graph.allocation(x.address)
    assert found and found[0] == x.address and found[1] - found[0] >= 4 * LENGTH
    assert cuda_graph.allocation(8) is None


@pytest.mark.parametrize("swallowed", [False, True])
def test_waiting_inside(swallowed: bool, stream: Any, arrays: Any) -> None:
    a, b, c = arrays(3)
    before = c.now
    with pytest.raises(InputError, match="the capture of the fusion region was invalidated") as raised:  # noqa: SIM117
        with captured(stream) as f:
            launch(f, PLUS, a, b, c, N)
            try:
                stream.sync()
            except Exception as error:
                print(f"{type(error).__name__}: {error}")
                if not swallowed:
                    raise
    assert (raised.value.__cause__ is None) == swallowed
    assert (c.now == before).all() and f.report is None
    with captured(stream) as f:  # the stream is as usable as before
        launch(f, PLUS, a, b, c, N)
    stream.sync()
    assert (c.now[:N] == (a.now + b.now)[:N]).all()


def test_an_exception_inside_launches_nothing(stream: Any, arrays: Any) -> None:
    a, b, c = arrays(3)
    before = c.now
    with pytest.raises(ValueError, match="mine"), captured(stream) as f:
        launch(f, PLUS, a, b, c, N)
        copy(stream, c, a)
        raise ValueError("mine")
    stream.sync()
    assert (c.now == before).all() and f.report is None
    goptx.weave(PLUS, MINUS, arch=f"sm_{current_device().arch}").launch(
        stream, [a, b, c, N], [a, b, c, 0], grid=CTAS, block=THREADS, independent=True
    )
    assert (c.now[:N] == (a.now + b.now)[:N]).all()


def test_cancel(stream: Any, arrays: Any) -> None:
    x, y, z, t, out = arrays(5)
    with captured(stream) as f:
        launch(f, TIMES, x, y, t, N)
        copy(stream, x, t)
        launch(f, MINUS, t, z, out, N)
        f.cancel()
        stream.sync()
    assert strategies(f) == ["separate"] * 2
    assert (out.now[:N] == (t.now - z.now)[:N]).all() and (x.now == t.now).all()


def test_regions_that_cannot_begin(stream: Any) -> None:
    with captured(stream), pytest.raises(InputError, match="cannot stand within a fusion region"):
        captured(current_device().create_stream()).__enter__()
    with pytest.raises(InputError, match="the default stream cannot be captured"):
        captured(None).__enter__()
    driver = bindings()
    handle = driver.CUstream(int(stream.handle))
    Words.must(driver.cuStreamBeginCapture(handle, driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED))
    try:
        with pytest.raises(InputError, match="the stream is being captured into a CUDA graph already"):
            captured(stream).__enter__()
    finally:
        made = Words.must(driver.cuStreamEndCapture(handle))  # it is still valid
    driver.cuGraphDestroy(made)


@pytest.mark.parametrize("joined", [True, False])
def test_other_streams_that_take_part(joined: bool, stream: Any, arrays: Any) -> None:
    a, b, c, d, out = arrays(5)
    driver = bindings()
    main, side = stream, current_device().create_stream()
    events = [Words.must(driver.cuEventCreate(driver.CUevent_flags.CU_EVENT_DISABLE_TIMING)) for _ in range(2)]

    def wait(later: Any, earlier: Any, event: Any) -> None:
        Words.must(driver.cuEventRecord(event, driver.CUstream(int(earlier.handle))))
        Words.must(driver.cuStreamWaitEvent(driver.CUstream(int(later.handle)), event, 0))

    def run() -> CapturedFusion:
        with captured(main) as f:
            launch(f, PLUS, a, b, c, N)
            wait(side, main, events[0])
            copy(side, d, c)
            if joined:
                wait(main, side, events[1])
            launch(f, TIMES, c, a, out, N)
        return f

    if not joined:
        with pytest.raises(InputError, match="was not joined to it again"):
            run()
        main.sync()
        joined = True
    f = run()
    assert [s.kind for s in report(f).steps].count("memcpy") == 1
    assert (out.now[:N] == ((a.now + b.now) * a.now)[:N]).all() and (d.now[:N] == c.now[:N]).all()


def test_memory_that_the_stream_allocates(stream: Any, arrays: Any) -> None:
    a, b, out = arrays(3)
    driver = bindings()
    handle = driver.CUstream(int(stream.handle))
    with captured(stream) as f:
        address = int(Words.must(driver.cuMemAllocAsync(4 * LENGTH, handle)))
        launch(f, PLUS, a, b, address, N)
        launch(f, TIMES, address, a, out, N)
        Words.must(driver.cuMemFreeAsync(address, handle))
    assert [s.kind for s in report(f).steps] == ["mem_alloc", "launch", "launch", "mem_free"]
    assert (out.now[:N] == ((a.now + b.now) * a.now)[:N]).all()


def test_kernels_and_copies_of_cupy() -> None:
    cp = pytest.importorskip("cupy")
    made = cp.cuda.Stream(non_blocking=True)
    if not hasattr(made, "__cuda_stream__"):
        pytest.skip("this cupy is older than the protocol")
    source = 'extern "C" __global__ void twice(float* x, int n) {int i = blockIdx.x * blockDim.x + threadIdx.x; '
    twice = cp.RawKernel(source + "if (i < n) x[i] = 2 * x[i];}", "twice")
    x, y, z = (cp.arange(LENGTH, dtype=cp.float32) % (7 + i) for i in range(3))
    t, s, out = (cp.zeros(LENGTH, cp.float32) for _ in range(3))
    cp.cuda.Device().synchronize()
    with made, captured(made) as f:
        launch(f, TIMES, x, y, t, N)
        launch(f, MINUS, t, z, s, N)
        twice((CTAS,), (THREADS,), (s, np.int32(N)))
        launch(f, PLUS, s, z, out, N)
        launch(f, TIMES, out, x, out, N)
        added = cp.add(out, 1)  # allocates, compiles and launches
    made.synchronize()
    made_of = report(f)
    assert len(made_of.fused) == 2 and "twice" in " ".join(step.name for step in made_of.foreign)
    expected = ((2 * (x * y - z) + z) * x)[:N]
    assert bool((out[:N] == expected).all()) and bool((added[:N] == expected + 1).all())


def test_operations_of_torch() -> None:
    torch = pytest.importorskip("torch")
    made = torch.cuda.Stream()
    if not hasattr(made, "__cuda_stream__"):
        pytest.skip("this torch is older than the protocol")
    x, y, z = (torch.arange(LENGTH, device="cuda", dtype=torch.float32) % (7 + i) for i in range(3))
    t, s, out = (torch.zeros(LENGTH, device="cuda") for _ in range(3))
    torch.cuda.synchronize()
    with torch.cuda.stream(made), captured(made) as f:
        launch(f, TIMES, x, y, t, N)
        launch(f, MINUS, t, z, s, N)
        twice = torch.relu(s) * 2
        launch(f, PLUS, twice, z, out, N)
    made.synchronize()
    assert len(report(f).fused) == 1 and len(report(f).foreign) >= 2
    assert torch.equal(out[:N], (torch.relu(x * y - z) * 2 + z)[:N])
    with (
        pytest.raises(InputError, match="the capture of the fusion region was invalidated"),
        torch.cuda.stream(made),
        captured(made) as f,
    ):
        launch(f, PLUS, x, y, out, N)
        print(out.sum().item())  # waits
    assert torch.equal(out[:N], (torch.relu(x * y - z) * 2 + z)[:N])


# Regions that do not capture ---------------------------------------------------------------------------------


def test_work_that_overtakes_is_noticed(stream: Any, arrays: Any, caplog: pytest.LogCaptureFixture) -> None:
    a, b, c = arrays(3)
    driver = bindings()
    handle, size = driver.CUstream(int(stream.handle)), 512 * MIB
    big = Words.must(driver.cuMemAlloc(size))
    caplog.set_level(logging.WARNING, "goptx")

    def region(inside: Callable[[], None]) -> bool:
        stream.sync()
        caplog.clear()
        with goptx.fusion(stream) as f:
            launch(f, PLUS, a, b, c, N)
            inside()
        return "something was put on the stream while a fusion region was open" in caplog.text

    def busy() -> None:
        for _ in range(20):
            Words.must(driver.cuMemsetD32Async(big, 0, size // 4, handle))

    try:
        region(lambda: None)  # fuses
        assert not region(lambda: None)
        assert region(busy)
        busy()
        with goptx.fusion(stream) as f:  # it was busy before: nothing is known
            launch(f, PLUS, a, b, c, N)
            caplog.clear()
        assert "something was put" not in caplog.text
    finally:
        stream.sync()
        driver.cuMemFree(big)


def test_looking_at_the_stream_takes_little(stream: Any) -> None:
    stream.sync()
    begin, times = time.perf_counter(), 2000
    for _ in range(times):
        assert not stream_watch.has_new_work(stream, stream_watch.seen(stream))
    each = (time.perf_counter() - begin) / times
    print(f"{each * 1e6:.2f} us to look at the stream at a region's begin and end")
    assert each < 20e-6


def test_compare(stream: Any, arrays: Any) -> None:
    """In place, so that each further run would change the data."""
    x, y, z = arrays(3, 100_000)
    expected = x.now * y.now - z.now
    with goptx.fusion(stream, compare=True) as f:
        f.launch(TIMES, 400, 256, x, y, x, 100_000)
        f.launch(MINUS, 400, 256, x, z, x, 100_000)
    assert f.report and f.report.strategy == "vertical"
    print(f.report)
    found = f.report.comparison
    assert found and found.fused and found.separate and found.speedup and not found.reason
    assert (x.now == expected).all()
