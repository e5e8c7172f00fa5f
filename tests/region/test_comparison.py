"""Fused and separate launches timed on the same memory, on the emulator: which memory is saved, and what is left."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from region.emulated import Array, Device, Stream
from strategies.dependent_kernels import elementwise

import goptx
from goptx import DeviceError, InputError
from goptx.device import repeating
from goptx.region.fused_comparison import REPEATS, WARMUPS, Comparison

PLUS, MINUS, TIMES = (elementwise(op) for op in ("add.f32", "sub.f32", "mul.f32"))
SHIFTED = elementwise("sub.f32", before="add.s32 %r8, %r4, 32;", read="%r8")
CTAS, THREADS, N, LENGTH = 2, 64, 100, 200


class Clock:
    """A clock with fixed milliseconds for each kind of launch, and copies of host memory."""

    def __init__(self, device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
        self.device, self.pieces, self.restored, self.freed = device, [], 0, 0  # type: ignore[var-annotated]
        self.captured, self.room = False, True
        monkeypatch.setattr(repeating, "Saved", self.saved)
        monkeypatch.setattr(repeating, "timed", self.timed)
        monkeypatch.setattr(repeating, "is_captured", lambda stream: self.captured)

    def saved(self, stream: Any, pieces: Sequence[tuple[int, int]]) -> "Clock":
        if not self.room:
            raise DeviceError("the driver answers CUDA_ERROR_OUT_OF_MEMORY")
        self.pieces = [(at, self.memory(at, end).copy()) for at, end in pieces]
        return self

    def memory(self, start: int, end: int) -> Any:
        found = self.device.from_address(start)
        assert found is not None and len(found) >= end - start
        return found[: end - start]

    def restore(self) -> None:
        self.restored += 1
        for at, content in self.pieces:
            self.memory(at, at + len(content))[:] = content

    def free(self) -> None:
        self.freed += 1

    def timed(self, stream: Any, start: Callable[[], None]) -> float:
        before = len(self.device.launched)
        start()
        ((woven, _),) = self.device.launched[before:]
        return 3.0 if woven.strategy == "separate" else 2.0


@pytest.fixture
def clock(device: Device, monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(device, monkeypatch)


def region(launches: Sequence[tuple[Any, ...]], **how: Any) -> goptx.Fusion:
    with goptx.fusion(Stream(), compare=True, **how) as f:
        for source, *args in launches:
            f.launch(source, CTAS, THREADS, *args)
    return f


def comparison(f: goptx.Fusion) -> Comparison:
    assert f.report and f.report.comparison
    return f.report.comparison


def arrays(device: Device, count: int) -> list[Array]:
    return [device.random(LENGTH) for _ in range(count)]


def test_memory_is_as_if_launched_once(device: Device, clock: Clock) -> None:
    """Both kernels write in place, so that each further run would change the memory."""
    x, y, z = arrays(device, 3)
    expected = (x.host * y.host)[:N] - z.host[:N]
    f = region([(TIMES, x, y, x, N), (MINUS, x, z, x, N)])
    assert (x.host[:N] == expected).all()
    assert comparison(f) == Comparison(2.0, 3.0, REPEATS) and comparison(f).speedup == 1.5
    assert len(device.launched) == 2 * (WARMUPS + REPEATS) + 1 and device.launched[-1][0] is f.fused
    assert clock.restored == 2 * (WARMUPS + REPEATS) + 1 and clock.freed == 1
    assert [(at, len(content)) for at, content in clock.pieces] == [(x.address, 4 * LENGTH)]
    assert "2 ms fused, 3 ms separate, 1.50 times as fast" in str(f.report)
    assert "1.50 times as fast" in f._repr_html_()


def test_pieces_that_touch_are_one(device: Device, clock: Clock) -> None:
    x, y, out = arrays(device, 3)
    region([(TIMES, x, y, out[:N], N), (MINUS, x, y, out[N:], N)])
    assert [(at, len(content)) for at, content in clock.pieces] == [(out.address, 4 * LENGTH)]


def test_what_is_not_compared(device: Device, clock: Clock) -> None:
    x, y, z, t, out = arrays(device, 5)
    two = [(TIMES, x, y, t, N), (MINUS, t, z, out, N)]
    assert "the launches are not fused" in comparison(region([two[0], (SHIFTED, t, z, out, N)])).reason
    raw = [(TIMES, x.address, y.address, t.address, N), (MINUS, x.address, z.address, out.address, N)]
    reason = comparison(region(raw)).reason
    assert "`k` writes by `out`, a pointer to memory of unknown size; pass an array" in reason
    clock.room = False
    assert "the memory that they write could not be copied (the driver answers" in comparison(region(two)).reason
    clock.captured = True
    f = region(two)
    assert str(comparison(f)) == "not compared: the stream is being captured into a CUDA graph"
    assert comparison(f).speedup is None and (out.host[:N] == (x.host * y.host - z.host)[:N]).all()
    assert clock.restored == 0


def test_kernels_that_write_elsewhere_are_not_compared(device: Device, clock: Clock) -> None:
    counter = """
    .version 8.0 .target sm_80 .address_size 64
    .global .u32 counter;
    .visible .entry put(.param .u32 n) { .reg .b32 %r<3>; ld.param.u32 %r1, [n]; st.global.u32 [counter], %r1; ret; }
    """
    x, y, out = arrays(device, 3)
    plus = (PLUS, x, y, out, N)
    assert "`put` writes variables of its module" in comparison(region([(counter, 3), plus], strategy="weave")).reason
    chased = elementwise(before="ld.global.u64 %rd3, [%rd2];")
    f = region([(chased, x, y, out, 0), plus], strategy="weave", independent=True)
    assert "`k` may write memory that its parameters do not point to" in comparison(f).reason


def test_memory_is_freed_where_a_launch_fails(device: Device, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(stream: Any, start: Any) -> float:
        raise DeviceError("refused")

    x, y, out = arrays(device, 3)
    monkeypatch.setattr(repeating, "timed", fail)
    with pytest.raises(DeviceError, match="refused"):
        region([(TIMES, x, y, out, N), (PLUS, x, y, y, N)])
    assert clock.freed == clock.restored - 1 == 1


def test_only_regions_that_record(device: Device) -> None:
    with pytest.raises(InputError, match="compare=True times a region's launches alone"):
        goptx.fusion(Stream(), compare=True, capture=True)
