"""Regions that capture their stream, on the emulator: what is fused, what keeps its order, and what is an error."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from region.emulated import Array, Device, Stream
from region.emulated_graph import Streams, emulated
from strategies.dependent_kernels import elementwise

import goptx
from goptx import InputError
from goptx.device import cuda_graph, loaded
from goptx.device.cuda_graph import KernelNode
from goptx.region.captured import CapturedFusion

PLUS, MINUS, TIMES = (elementwise(op) for op in ("add.f32", "sub.f32", "mul.f32"))
SHIFTED = elementwise("sub.f32", before="add.s32 %r8, %r4, 32;", read="%r8")
CTAS, THREADS, N, LENGTH = 2, 64, 100, 200


@pytest.fixture
def streams(device: Device, monkeypatch: pytest.MonkeyPatch) -> Iterator[Streams]:
    yield emulated(device, monkeypatch)


def arrays(device: Device, count: int) -> list[Array]:
    return [device.random(LENGTH) for _ in range(count)]


def captured(**how: Any) -> CapturedFusion:
    made = goptx.fusion(Stream(), capture=True, **how)
    assert isinstance(made, CapturedFusion)
    return made


def launch(f: goptx.Fusion, source: Any, *args: Any) -> None:
    f.launch(source, CTAS, THREADS, *args)


def copy(streams: Streams, to: Array, of: Array) -> None:
    streams.put("memcpy", lambda: np.copyto(to.host, of.host))


def strategies(f: CapturedFusion) -> list[str]:
    assert f.report
    return [g.done.strategy if g.done else "as captured" for g in f.report.groups]


def test_other_work_keeps_its_order(device: Device, streams: Streams) -> None:
    x, y, z, t, s, u, out = arrays(device, 7)
    x0, y0, z0 = (a.host.copy() for a in (x, y, z))
    for again in range(2):
        x.host[:], y.host[:], z.host[:] = x0, y0, z0
        with captured() as f:
            launch(f, TIMES, x, y, t, N)
            launch(f, MINUS, t, z, s, N)
            copy(streams, y, s)
            launch(f, PLUS, y, z, u, N)
            launch(f, TIMES, u, x, out, N)
            copy(streams, x, y)
        expected = x0 * y0 - z0
        assert (s.host[:N] == expected[:N]).all() and (x.host[:N] == expected[:N]).all()
        assert (out.host[:N] == ((expected + z0) * x0)[:N]).all()
        assert strategies(f) == ["vertical", "vertical"] and f.report and f.fused is None
        assert [g.done.anew for g in f.report.groups if g.done] == [not again] * 2
        assert [str(s) for s in f.report.steps] == [
            "launch `k` (group 0)", "launch `k` (group 0)", "memcpy",
            "launch `k` (group 1)", "launch `k` (group 1)", "memcpy",
        ]  # fmt: skip
        assert len(f.report.recognised) == 4 and len(f.report.foreign) == 2 and len(f.report.fused) == 2
    assert streams.launched == [["graph", "memcpy", "graph", "memcpy"]] * 2 and streams.closed == 2
    assert (
        f.report
        and "6 steps, 4 recognised, 2 groups fused" in str(f.report)
        and "2 launches: vertical" in str(f.report)
    )
    assert "6 steps recognised" in f._repr_html_() and "memcpy" in f.report._repr_html_()


def test_launches_alone_need_no_graph(device: Device, streams: Streams) -> None:
    x, y, z, t, out = arrays(device, 5)
    with captured() as f:
        launch(f, TIMES, x, y, t, N)
        launch(f, MINUS, t, z, out, N)
        f.private(t)
    assert strategies(f) == ["vertical"] and streams.launched == [] and streams.closed == 1
    assert f.fused and len(device.launched) == 1 and "ld.global" in f.fused.ptx
    assert (out.host[:N] == (x.host * y.host - z.host)[:N]).all()


def test_what_cannot_be_fused_is_launched_in_order(device: Device, streams: Streams) -> None:
    x, y, z, t, out = arrays(device, 5)
    with captured() as f:
        launch(f, TIMES, x, y, t, N)
        launch(f, SHIFTED, t, z, out, N)
        copy(streams, x, out)
    assert strategies(f) == ["separate"] and f.report
    assert f.report.groups[0].done and "different CTAs" in f.report.groups[0].done.reason and not f.report.fused
    expected = (x.host, (t.host - z.host)[32 : N + 32])
    assert (out.host[:N] == expected[1]).all() and (x.host[:N] == expected[1]).all()


def test_only_other_work(device: Device, streams: Streams) -> None:
    x, y = arrays(device, 2)
    with captured() as f:
        copy(streams, y, x)
    assert f.report and len(f.report.foreign) == 1 and not f.report.groups and f.fused is None
    assert (x.host == y.host).all() and streams.launched == [["memcpy"]]
    with captured() as f:
        pass
    assert f.report is None and f.fused is None and streams.closed == 2 and "has ended" in f._repr_html_()


def test_a_temporary_of_several_groups_stays_in_memory(
    device: Device, streams: Streams, caplog: pytest.LogCaptureFixture
) -> None:
    x, y, z, t, u, out = arrays(device, 6)
    with captured() as f:
        launch(f, TIMES, x, y, t, N)
        launch(f, PLUS, t, z, u, N)
        copy(streams, y, z)
        launch(f, MINUS, t, u, out, N)
        f.private(t, u)
    assert f.report and len(f.report.notes) == 2 and "a private buffer stays in memory" in f.report.notes[0]
    assert "a private buffer stays in memory" in caplog.text and f.report.notes[0] in str(f.report)
    assert (out.host[:N] == (t.host - u.host)[:N]).all()
    with pytest.raises(InputError, match=r"private\(\): no captured launch takes that buffer"), captured() as f:
        launch(f, TIMES, x, y, t, N)
        f.private(out)


def test_an_exception_launches_nothing(device: Device, streams: Streams) -> None:
    x, y, t = arrays(device, 3)
    before = device.contents()
    with pytest.raises(ValueError, match="mine"), captured() as f:
        launch(f, TIMES, x, y, t, N)
        copy(streams, x, y)
        raise ValueError("mine")
    assert f.report is None and f.fused is None and device.contents() == before
    assert streams.nodes is None and streams.closed == 1
    with captured() as f:
        launch(f, TIMES, x, y, t, N)
    assert (t.host[:N] == (x.host * y.host)[:N]).all()


def test_waiting_inside_launches_nothing(device: Device, streams: Streams) -> None:
    x, y, t = arrays(device, 3)
    before = device.contents()
    message = (
        "the capture of the fusion region was invalidated, and nothing was launched: something in the region waited"
    )
    with pytest.raises(InputError, match=message), captured() as f:  # the driver's error was caught
        launch(f, TIMES, x, y, t, N)
        streams.wait()
    with pytest.raises(InputError, match=message) as raised, captured() as f:
        streams.wait()
        raise RuntimeError("the driver's")
    assert isinstance(raised.value.__cause__, RuntimeError)
    with pytest.raises(InputError, match=message), captured() as f:
        streams.wait()
        launch(f, TIMES, x, y, t, N)
    with pytest.raises(KeyboardInterrupt), captured() as f:
        streams.wait()
        raise KeyboardInterrupt
    assert device.contents() == before and f.report is None
    with captured() as f:
        launch(f, TIMES, x, y, t, N)
    assert f.report


def test_cancel(device: Device, streams: Streams) -> None:
    x, y, z, t, out = arrays(device, 5)
    x0 = x.host.copy()
    with captured() as f:
        launch(f, TIMES, x, y, t, N)
        launch(f, MINUS, t, z, out, N)
        copy(streams, x, out)
        f.cancel()
        assert (out.host[:N] == (x0 * y.host - z.host)[:N]).all() and (x.host[:N] == out.host[:N]).all()
        with pytest.raises(InputError, match="the region was cancelled"):
            launch(f, TIMES, x, y, t, N)
    assert strategies(f) == ["separate"] and f.report and f.report.groups[0].done
    assert f.report.groups[0].done.reason == "the region was cancelled" and streams.closed == 1


def test_regions_within_and_beside(device: Device, streams: Streams) -> None:
    stream = Stream()
    with goptx.fusion(stream, capture=True) as f:
        assert f.stream is stream  # type: ignore[comparison-overlap]
        with pytest.raises(InputError, match="a fusion region cannot stand within a fusion region"):
            goptx.fusion(Stream(43)).__enter__()
        with pytest.raises(InputError, match="the fusion region is open"):
            f.__enter__()
    with pytest.raises(InputError, match=r"capture=True takes a cuda\.core Stream, or an object with"):
        goptx.fusion(object(), capture=True).__enter__()
    for default in (None, Stream(0), Stream(1)):
        with pytest.raises(InputError, match="the default stream cannot be captured; give capture=True a stream"):
            goptx.fusion(default, capture=True).__enter__()


def test_a_capture_that_cannot_begin(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(stream: Any) -> None:
        raise InputError("refused")

    monkeypatch.setattr(cuda_graph, "Capture", refuse)
    for _ in range(2):  # the region is not taken for an open one
        with pytest.raises(InputError, match="refused"):
            captured().__enter__()


# Kernels that goptx loaded and others launched ---------------------------------------------------------------


class Loaded:
    """Kernels of known PTX that a framework launches, and their arguments as the driver has them."""

    def __init__(self, device: Device, streams: Streams, monkeypatch: pytest.MonkeyPatch) -> None:
        self.device, self.streams = device, streams
        self.modules = {i + 1: goptx.read(text) for i, text in enumerate((PLUS, MINUS, TIMES, SHIFTED))}
        self.contents: dict[int, list[bytes]] = {}
        monkeypatch.setattr(
            loaded, "origin", lambda handles: (self.modules[handles[0]], "k") if handles[0] < 9 else None
        )
        monkeypatch.setattr(KernelNode, "contents", lambda node, sizes: self.contents[node.table])

    def launch(self, handle: int, *args: Any, plain: bool = True) -> None:
        table = len(self.contents) + 1
        self.contents[table] = [
            a.address.to_bytes(8, "little") if isinstance(a, Array) else a.to_bytes(4, "little") for a in args
        ]
        node = KernelNode((handle,), (CTAS, 1, 1), (THREADS, 1, 1), 0, table, plain)
        source = str(self.modules[handle % 10])
        self.streams.put("kernel", lambda: self.device.alone(source, CTAS, THREADS, *args), "k", node)


@pytest.fixture
def others(device: Device, streams: Streams, monkeypatch: pytest.MonkeyPatch) -> Loaded:
    return Loaded(device, streams, monkeypatch)


def test_kernels_that_goptx_loaded_are_recognised(device: Device, streams: Streams, others: Loaded) -> None:
    x, y, z, t, out = arrays(device, 5)
    with captured() as f:
        others.launch(3, x, y, t, N)
        launch(f, MINUS, t, z, out, N)
    assert strategies(f) == ["vertical"] and streams.launched == []
    assert (out.host[:N] == (x.host * y.host - z.host)[:N]).all()
    with captured() as f:
        others.launch(3, x, y, t, N)
        others.launch(2, t, z, out, N)
        copy(streams, x, out)
    assert strategies(f) == ["vertical"] and streams.launched == [["graph", "memcpy"]]
    assert (out.host[:N] == x.host[:N]).all()


def test_kernels_of_others_stay_as_they_are_where_nothing_becomes_one(
    device: Device, streams: Streams, others: Loaded
) -> None:
    x, y, z, t, out = arrays(device, 5)
    with captured() as f:
        others.launch(3, x, y, t, N)
        copy(streams, z, t)
        others.launch(3, x, y, t, N)
        others.launch(4, t, z, out, N)
    assert strategies(f) == ["as captured"] * 2 and f.report and len(f.report.recognised) == 3
    assert f.report.groups[0].reason == "there is only one launch" and not f.report.fused
    assert "1 launch: as captured: there is only one launch" in str(f.report)
    assert streams.launched == [["kernel", "memcpy", "kernel", "kernel"]]
    assert (out.host[:N] == (t.host - z.host)[32 : N + 32]).all() and "as captured" in f.report._repr_html_()


def test_pointers_of_others_into_one_allocation_are_not_distinguished(
    device: Device, streams: Streams, others: Loaded, monkeypatch: pytest.MonkeyPatch
) -> None:
    x, y, z, t, out = arrays(device, 5)
    low = min(a.address for a in device.arrays)
    monkeypatch.setattr(cuda_graph, "allocation", lambda address: (low, low + (1 << 40)))
    with captured() as f:
        others.launch(3, x, y, t, N)
        launch(f, MINUS, t, z, out, N)
    assert strategies(f) == ["separate"] and f.report and f.report.groups[0].done
    assert "are different pointers into" in f.report.groups[0].done.reason
    monkeypatch.setattr(cuda_graph, "allocation", lambda address: None)
    with captured() as f:
        others.launch(3, x, y, t, N)
        launch(f, MINUS, t, z, out, N)
    assert f.report and [s.group for s in f.report.steps] == [None, 0]
    assert (out.host[:N] == (x.host * y.host - z.host)[:N]).all()


def test_kernels_that_are_not_recognised(device: Device, streams: Streams, others: Loaded) -> None:
    x, y, z, t, out = arrays(device, 5)
    with captured() as f:
        others.launch(3, x, y, t, N, plain=False)
        launch(f, MINUS, t, z, out, N)
        others.launch(13, x, y, t, N)  # whose PTX is not known
    assert f.report and [str(s) for s in f.report.foreign] == ["kernel `k`"] * 2
    assert streams.launched == [["kernel", "graph", "kernel"]]
    streams.fixed = True  # nodes of a graph that allocates memory stay
    with captured() as f:
        others.launch(3, x, y, t, N)
        launch(f, MINUS, t, z, out, N)
    assert f.report and len(f.report.recognised) == 1
    assert (out.host[:N] == (x.host * y.host - z.host)[:N]).all()


def test_launches_on_two_streams_are_not_one(device: Device, streams: Streams) -> None:
    x, y, z, t, s, out = arrays(device, 6)
    streams.edges = [(0, 1), (0, 2), (1, 3), (2, 3)]
    with captured() as f:
        launch(f, TIMES, x, y, t, N)
        launch(f, PLUS, x, z, s, N)
        copy(streams, z, y)
        launch(f, MINUS, t, s, out, N)
    assert f.report and [g.launches for g in f.report.groups] == [1, 1, 1]
    assert (out.host[:N] == (t.host - s.host)[:N]).all()
