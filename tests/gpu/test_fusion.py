"""Fusion regions on a real GPU: what is fused, launched instead, found again, and captured."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gpu.plus_and_times import Words
from gpu.test_launch import captured
from strategies.dependent_kernels import INDEX, elementwise

import goptx
from goptx import InputError
from goptx.device.load import current_device, launch
from goptx.errors import DeviceError

pytestmark = pytest.mark.gpu

ROOT = Path(__file__).parents[2]
CHAIN = ROOT / "benchmarks" / "suite_d" / "chain.sm_90.ptx"
FORMS = {"element": "", "strided": "_strided"}
CTAS, THREADS, N = 8, 64, 500
LENGTH = 600
PLUS, MINUS, TIMES = (elementwise(f"{operation}.f32") for operation in ("add", "sub", "mul"))  # of sm_80
SHIFTED = elementwise("sub.f32", before="add.s32 %r8, %r4, 64;", read="%r8")
WHOLE = elementwise("mul.f32", guard="")
MIRRORED = elementwise(
    "sub.f32", guard="", read="%r9",
    index=f"{INDEX} sub.s32 %r8, %r2, %r3; sub.s32 %r8, %r8, 1; mad.lo.s32 %r9, %r1, %r2, %r8;",
)  # fmt: skip

Floats = np.ndarray[Any, np.dtype[np.float32]]


@pytest.fixture(scope="module")
def stream() -> Any:
    try:
        return current_device().create_stream()
    except DeviceError as error:
        pytest.skip(str(error))


class Reals(Words):
    """Whole numbers in floats, so that it does not matter which products are contracted."""

    def __init__(self, seed: int, count: int = LENGTH) -> None:
        super().__init__(count)
        self.fill(np.random.default_rng(seed).integers(-50, 50, count).astype(np.float32))

    def fill(self, values: Floats) -> None:
        self.put(values.view(np.uint32))

    @property
    def now(self) -> Floats:
        return np.array(self.get(), np.uint32).view(np.float32)


@pytest.fixture
def arrays(stream: Any) -> Iterator[Callable[[int], list[Reals]]]:
    """arrays(n) are n arrays with different contents."""
    made: list[Reals] = []

    def some(count: int, length: int = LENGTH) -> list[Reals]:
        made.extend(Reals(len(made) + i, length) for i in range(count))
        return made[-count:]

    yield some
    for array in made:
        array.free()


def region(stream: Any, *launches: tuple[Any, ...], **how: Any) -> goptx.Fusion:
    with goptx.fusion(stream, **how) as f:
        for source, *args in launches:
            f.launch(source, CTAS, THREADS, *args)
    assert f.report
    return f


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("private", [True, False])
def test_suite_d(form: str, private: bool, stream: Any, arrays: Any) -> None:
    a, b, c, d, t1, t2, t3, out = arrays(8, 5000)
    grid = 20 if form == "element" else 4
    before = [t.now for t in (t1, t2, t3)]
    reports = []
    for _ in range(3):
        with goptx.fusion(stream) as f:
            f.launch(CHAIN, grid, 256, a, b, t1, 5000, entry=f"first{FORMS[form]}")
            f.launch(CHAIN, grid, 256, a, c, t2, 5000, entry=f"second{FORMS[form]}")
            f.launch(CHAIN, grid, 256, t2, d, t3, 5000, entry=f"third{FORMS[form]}")
            f.launch(CHAIN, grid, 256, t1, t3, out, 5000, entry=f"fourth{FORMS[form]}")
            if private:
                f.private(t1, t2, t3)
        assert f.report
        reports.append(f.report)
        print(f.report)
        one, two = a.now * b.now, a.now - c.now
        assert (out.now == one - two * d.now).all()
        out.fill(np.zeros(5000, np.float32))
        expected = before if private else [one, two, two * d.now]
        assert all((t.now == e).all() for t, e in zip((t1, t2, t3), expected, strict=True))
    assert [r.strategy for r in reports] == ["vertical"] * 3
    assert [r.anew for r in reports] == [True, False, False]
    assert reports[2].preparing < reports[0].preparing / 10


def test_the_second_time_costs_a_launch(stream: Any, arrays: Any) -> None:
    x, y, z, t, out = arrays(5)
    launches = (TIMES, x, y, t, N), (MINUS, t, z, out, N)
    region(stream, *launches)
    stream.sync()
    begin, times = time.perf_counter(), 500
    for _ in range(times):
        f = region(stream, *launches)
    each = (time.perf_counter() - begin) / times
    stream.sync()
    print(f"{each * 1e6:.1f} us for a region of two launches; {f.report}")
    assert f.report and not f.report.anew and each < 1e-3


def test_independent_kernels_of_shapes_of_their_own(stream: Any, arrays: Any) -> None:
    """The PTX is for an older architecture, and is assembled for the device's."""
    a, b, c, d = arrays(4)
    rest = d.now[160:]
    with goptx.fusion(stream) as f:
        f.launch(PLUS, 9, 64, a, b, c, N)
        f.launch(MINUS, (5, 1), (32, 1), a, b, d, N)
    assert f.report and f.report.strategy in ("weave", "interleave", "vertical")
    assert (c.now[:N] == (a.now + b.now)[:N]).all() and (d.now[:160] == (a.now - b.now)[:160]).all()
    assert (d.now[160:] == rest).all()


@pytest.mark.parametrize("strategy", ["weave", "vertical", "horizontal", "interleave", "separate"])
def test_strategies(strategy: str, stream: Any, arrays: Any) -> None:
    a, b, c, d = arrays(4)
    f = region(stream, (PLUS, a, b, c, N), (TIMES, a, b, d, N), strategy=strategy)
    assert f.report and f.report.strategy == strategy
    assert (c.now[:N] == (a.now + b.now)[:N]).all() and (d.now[:N] == (a.now * b.now)[:N]).all()


def test_what_stays_within_a_cta(stream: Any, arrays: Any) -> None:
    x, y, z, t, out = arrays(5)
    f = region(stream, (WHOLE, x, y, t, N), (MIRRORED, t, z, out, N))
    assert f.report and f.report.strategy == "vertical" and f.fused and f.fused.report.merged.barriers == 1
    opposite = np.arange(CTAS * THREADS) ^ (THREADS - 1)
    assert (out.now[: CTAS * THREADS] == (t.now - z.now)[opposite]).all()
    assert (t.now[: CTAS * THREADS] == (x.now * y.now)[: CTAS * THREADS]).all()


def test_what_other_ctas_need_is_launched_in_turn(stream: Any, arrays: Any) -> None:
    x, y, z, t, out = arrays(5)
    f = region(stream, (TIMES, x, y, t, N), (SHIFTED, t, z, out, N))
    assert f.report and f.report.strategy == "separate" and "different CTAs" in f.report.reason
    assert (t.now[:N] == (x.now * y.now)[:N]).all()
    assert (out.now[:N] == (t.now - z.now)[64 : N + 64]).all()


def test_separate_kernels_share_the_variables_of_their_module(stream: Any, arrays: Any) -> None:
    module = """
    .version 8.0 .target sm_80 .address_size 64
    .global .u32 counter;
    .visible .entry put(.param .u32 n) { .reg .b32 %r<3>; ld.param.u32 %r1, [n]; st.global.u32 [counter], %r1; ret; }
    .visible .entry get(.param .u64 out) { .reg .b32 %r<3>; .reg .b64 %rd<3>; ld.param.u64 %rd1, [out];
        ld.global.u32 %r1, [counter]; st.global.u32 [%rd1], %r1; ret; }
    """
    (out,) = arrays(1)
    for value in (7, 9):
        with goptx.fusion(stream) as f:
            f.launch(module, 1, 32, value, entry="put")
            f.launch(module, 1, 32, out, entry="get")
        assert f.report and f.report.strategy == "separate" and out.get()[0] == value
    made = goptx.fuse(module, module, entries=["put", "get"], strategy="separate", arch=f"sm_{current_device().arch}")
    made.launch(stream, [11], [out], grid=1, block=32, max_registers=32)
    assert out.get()[0] == 11


def test_cancel(stream: Any, arrays: Any) -> None:
    x, y, z, t, out = arrays(5)
    with goptx.fusion(stream) as f:
        f.launch(TIMES, CTAS, THREADS, x, y, t, N)
        f.launch(SHIFTED, CTAS, THREADS, t, z, out, N)
        f.cancel()
        f.stream.sync()
        assert (out.now[:N] == (t.now - z.now)[64 : N + 64]).all()
    assert f.report and f.report.reason == "the region was cancelled"


def test_an_exception_inside_launches_nothing(stream: Any, arrays: Any) -> None:
    a, b, c = arrays(3)
    before = c.now
    with pytest.raises(ValueError), goptx.fusion(stream) as f:
        f.launch(PLUS, CTAS, THREADS, a, b, c, N)
        raise ValueError
    assert (c.now == before).all() and f.fused is None
    region(stream, (PLUS, a, b, c, N))
    assert (c.now[:N] == (a.now + b.now)[:N]).all()


def test_what_is_wrong_inside(stream: Any, arrays: Any) -> None:
    a, b, c, d = arrays(4)
    woven = goptx.weave(PLUS, MINUS, arch=f"sm_{current_device().arch}")
    arguments = [a, b, c, N], [a, b, d, N]
    before = c.now
    with goptx.fusion(stream) as f:
        with pytest.raises(InputError, match="a fusion region records this stream"):
            woven.launch(stream, *arguments, grid=CTAS, block=THREADS)
        with pytest.raises(InputError, match="a fusion region records this stream"):
            launch(woven.load(), stream, woven.arguments(*arguments), grid=CTAS, block=THREADS)
        with pytest.raises(InputError, match="asked of a stream that a fusion region records"):
            f.stream.sync()
        with pytest.raises(InputError, match="cannot stand within"), goptx.fusion(None):
            pass
        woven.launch(current_device().create_stream(), *arguments, grid=CTAS, block=THREADS)
    assert not (c.now == before).all()
    woven.launch(stream, *arguments, grid=CTAS, block=THREADS)


def test_the_default_stream(arrays: Any) -> None:
    a, b, c, d = arrays(4)
    woven = goptx.weave(PLUS, MINUS, arch=f"sm_{current_device().arch}")
    with goptx.fusion(None) as f:
        f.launch(PLUS, CTAS, THREADS, a, b, c, N)
        f.launch(MINUS, CTAS, THREADS, a, b, d, N)
        for same in (None, current_device().default_stream):
            with pytest.raises(InputError, match="a fusion region records this stream"):
                woven.launch(same, [a, b, c, N], [a, b, d, N], grid=CTAS, block=THREADS)
    assert (d.now[:N] == (a.now - b.now)[:N]).all()


def test_a_region_in_a_graph(stream: Any, arrays: Any) -> None:
    x, y, z, t, out = arrays(5)

    def run() -> None:
        region(stream, (TIMES, x, y, t, N), (MINUS, t, z, out, N))
        region(stream, (TIMES, x, y, t, N), (SHIFTED, t, z, z, 0))  # one after the other

    run()
    stream.sync()
    replay = captured(stream, run)
    x.fill(np.arange(LENGTH, dtype=np.float32))
    before = out.now
    replay()
    assert (out.now[:N] == (x.now * y.now - z.now)[:N]).all() and not (out.now == before).all()


def test_arrays_and_streams_of_frameworks() -> None:
    cp = pytest.importorskip("cupy")
    made = cp.cuda.Stream(non_blocking=True)
    if not hasattr(made, "__cuda_stream__"):
        pytest.skip("this cupy is older than the protocol")
    x, y, z = (cp.arange(LENGTH, dtype=cp.float32) % (7 + i) for i in range(3))
    t, out = cp.zeros(LENGTH, cp.float32), cp.zeros(LENGTH, cp.float32)
    cp.cuda.Device().synchronize()
    f = region(made, (TIMES, x, y, t, N), (MINUS, t, z, out, N))
    made.synchronize()
    assert f.report and f.report.strategy == "vertical" and bool((out[:N] == (x * y - z)[:N]).all())
    f = region(made, (TIMES, x, y, t, N), (MINUS, t[1:], z, out, N))
    made.synchronize()
    assert f.report and f.report.strategy == "separate" and "different pointers into" in f.report.reason
    assert bool((out[:N] == (t[1:] - z[:-1])[:N]).all())


def test_kernels_that_were_coarsened(stream: Any, arrays: Any) -> None:
    a, b, c, d = arrays(4)
    f = region(stream, (goptx.coarsen(PLUS, 2), a, b, c, N), (MINUS, a, b, d, N))
    assert f.report and f.report.strategy in ("weave", "interleave", "vertical")
    assert (c.now[:N] == (a.now + b.now)[:N]).all() and (d.now[:N] == (a.now - b.now)[:N]).all()
    f = region(stream, (goptx.coarsen(TIMES, 3), a, b, c, N), (MINUS, c, b, d, N))
    assert f.report and f.report.strategy == "separate"
    assert (d.now[:N] == (a.now * b.now - b.now)[:N]).all()


def test_temporaries_one_by_one(stream: Any, arrays: Callable[[int], list[Reals]]) -> None:
    """One is read where nothing was written and stays in memory; the one before it is placed in registers."""
    short = elementwise("mul.f32", guard="setp.ge.s32 %p1, %r4, 300; @%p1 bra DONE;")
    long = elementwise("sub.f32", guard="setp.ge.s32 %p1, %r4, 400; @%p1 bra DONE;")
    x, y, z, one, bad, out = arrays(6)
    before = one.now, bad.now
    with goptx.fusion(stream) as f:
        for source, *args in ((WHOLE, x, y, one, N), (short, one, z, bad, N), (long, bad, one, out, N)):
            f.launch(source, CTAS, THREADS, *args)
        f.private(one, bad)
    stream.sync()
    assert f.report and [t.where for t in f.report.temporaries] == ["registers", "memory"]
    product = x.now * y.now
    assert (one.now == before[0]).all() and (bad.now[:300] == (product * z.now)[:300]).all()
    assert (bad.now[300:] == before[1][300:]).all() and (out.now[:400] == (bad.now - product)[:400]).all()
    with goptx.fusion(stream, assume_private=True) as f:
        for source, *args in ((WHOLE, x, y, one, N), (TIMES, one, z, bad, 400), (MINUS, bad, y, out, 300)):
            f.launch(source, CTAS, THREADS, *args)
        f.private(one, bad)
    stream.sync()
    assert f.report and [t.where for t in f.report.temporaries] == ["registers", "registers"]
    assert (out.now[:300] == (product * z.now - y.now)[:300]).all()
