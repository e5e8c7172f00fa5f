"""Fusion regions, on the emulator: what is fused, what is launched instead, and the content of memory afterwards."""

import ctypes
import logging
import struct
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bodies import kernel
from region.emulated import Array, Device, Stream
from strategies.dependent_kernels import INDEX, elementwise, strided

import goptx
from goptx.results.fused_kernel import Woven

ROOT = Path(__file__).parents[2]
CHAIN = ROOT / "benchmarks" / "suite_d" / "chain.sm_90.ptx"
PLUS, MINUS, TIMES = (elementwise(op) for op in ("add.f32", "sub.f32", "mul.f32"))
SHIFTED = elementwise("sub.f32", before="add.s32 %r8, %r4, 32;", read="%r8")
MIRRORED = elementwise(
    "sub.f32", guard="", read="%r9",
    index=f"{INDEX} sub.s32 %r8, %r2, %r3; sub.s32 %r8, %r8, 1; mad.lo.s32 %r9, %r1, %r2, %r8;",
)  # fmt: skip
WHOLE = elementwise("mul.f32", guard="")
CTAS, THREADS, N, LENGTH = 2, 64, 100, 200
Launch = tuple[Any, ...]


def region(launches: list[Launch], *, stream: Any = None, **how: Any) -> goptx.Fusion:
    """A region of launches as `Fusion.launch` takes them, all with the same grid and block."""
    declared = {kind: how.pop(kind, ()) for kind in ("private", "local")}
    with goptx.fusion(stream or Stream(), **how) as f:
        for source, *args in launches:
            f.launch(source, CTAS, THREADS, *args)
        for kind, buffers in declared.items():
            getattr(f, kind)(*buffers)
    return f


def as_launched(device: Device, launches: list[Launch], *, but: tuple[Array, ...] = (), **how: Any) -> goptx.Fusion:
    """A region, whose results in memory are compared with those of the launches one after the other."""
    device.refill()
    before = device.contents()
    f = region(launches, **how)
    found = device.contents()
    device.restore(before)
    for source, *args in launches:
        device.alone(source, CTAS, THREADS, *args)
    expected = device.contents()
    for array, one, other in zip(device.arrays, expected, found, strict=True):
        assert one == other or array in but
    assert expected != before
    return f


def arrays(device: Device, count: int) -> list[Array]:
    return [device.random(LENGTH) for _ in range(count)]


def accesses(f: goptx.Fusion) -> int:
    assert f.fused
    return sum(word.startswith(("ld.global", "st.global")) for word in f.fused.ptx.split())


def barriers(f: goptx.Fusion) -> int:
    assert f.fused
    return f.fused.report.merged.barriers


def strategy(f: goptx.Fusion) -> str:
    assert f.fused and f.report
    assert f.fused.strategy == f.report.strategy and bool(f.report.reason) == (f.report.strategy == "separate")
    return f.report.strategy


# What is fused ------------------------------------------------------------------------------------------


def chain(device: Device) -> tuple[Callable[..., goptx.Fusion], list[Array]]:
    """Suite D: t1 = a*b; t2 = a-c; t3 = t2*d; out = t1-t3, and these eight arrays."""
    made = [device.random(1000) for _ in range(8)]
    a, b, c, d, t1, t2, t3, out = made

    def run(*temporaries: Array, **how: Any) -> goptx.Fusion:
        with goptx.fusion(Stream(), **how) as f:
            f.launch(CHAIN, 4, 256, a, b, t1, 1000, entry="first")
            f.launch(CHAIN, 4, 256, a, c, t2, 1000, entry="second")
            f.launch(CHAIN, 4, 256, t2, d, t3, 1000, entry="third")
            f.launch(CHAIN, 4, 256, t1, t3, out, 1000, entry="fourth")
            f.private(*temporaries)
        return f

    return run, made


def test_a_chain_with_temporaries(device: Device) -> None:
    run, (a, b, c, d, t1, t2, t3, out) = chain(device)
    before = t1.host.tobytes(), t2.host.tobytes(), t3.host.tobytes()
    f = run(t1, t2, t3)
    assert strategy(f) == "vertical" and accesses(f) == 5
    assert (out.host == a.host * b.host - (a.host - c.host) * d.host).all()
    assert (t1.host.tobytes(), t2.host.tobytes(), t3.host.tobytes()) == before  # never written
    assert len(device.launched) == 1


def test_a_chain_without_temporaries(device: Device) -> None:
    run, (a, b, c, d, t1, t2, t3, out) = chain(device)
    f = run()
    assert strategy(f) == "vertical" and accesses(f) == 11
    expected = a.host * b.host, a.host - c.host, (a.host - c.host) * d.host, a.host * b.host - t3.host
    assert all((t.host == e).all() for t, e in zip((t1, t2, t3, out), expected, strict=True))


def test_the_second_time_it_is_only_launched(device: Device) -> None:
    run, (*_, t1, t2, t3, out) = chain(device)
    first = run(t1, t2, t3)
    out.host[:] = 0
    second = run(t1, t2, t3)
    assert out.host.any() and second.fused is first.fused and device.loaded == [first.fused]
    assert first.report and second.report
    assert first.report.anew and not second.report.anew
    assert second.report.first == first.report.first and second.report.preparing < first.report.preparing
    assert str(first.report).startswith("vertical, made: ") and "found in memory (made in" in str(second.report)
    third = run(t1, t2)  # another pattern of temporaries
    assert third.report and third.report.anew and accesses(third) == 7


def test_independent_kernels_are_woven(device: Device) -> None:
    a, b, c, d, e = arrays(device, 5)
    f = as_launched(device, [(PLUS, a, b, c, N), (TIMES, a, b, d, N)])
    assert strategy(f) == "weave"
    other = as_launched(device, [(PLUS, b, d, a, 7), (TIMES, c, b, e, N)])
    assert other.fused is f.fused and f.fused  # whatever the arguments are
    assert [p.instead for p in f.fused.params] == [None] * 8


def test_one_kernel_serves_all_grids_of_independent_launches(device: Device) -> None:
    a, b, c, d = arrays(device, 4)
    fused = []
    for grid in (1, 3):
        with goptx.fusion(Stream()) as f:
            f.launch(PLUS, grid, 32, a, b, c, 1000)
            f.launch(MINUS, [grid], (32, 1), a, b, d, 1000)
        fused.append(f.fused)
        for out, expected in ((c, a.host + b.host), (d, a.host - b.host)):
            assert (out.host[: 32 * grid] == expected[: 32 * grid]).all()
    assert fused[0] is fused[1]


@pytest.mark.slow
def test_large_blocks_are_stated(device: Device) -> None:
    """Else the assembler may take more registers than exist for so many threads."""
    a, b, c, d = arrays(device, 4)
    for threads in (256, 288):
        with goptx.fusion(Stream()) as f:
            f.launch(PLUS, 1, threads, a, b, c, N)
            f.launch(MINUS, 1, threads, a, b, d, N)
        assert f.fused and (f".reqntid {threads}, 1, 1" in f.fused.ptx) == (threads > 256)


def test_a_region_that_has_ended_keeps_no_arrays(device: Device) -> None:
    a, b = arrays(device, 2)
    mine = Array(np.zeros(LENGTH, np.float32))
    device.arrays.append(mine)
    dead = weakref.ref(mine)
    f = region([(PLUS, a, b, mine, N), (MINUS, a, b, b, 0)])
    del mine, device.arrays[-1]
    assert f.fused and dead() is None


def test_kernels_of_shapes_of_their_own(device: Device) -> None:
    a, b, c, d = arrays(device, 4)
    with goptx.fusion(Stream()) as f:
        f.launch(PLUS, 3, 32, a, b, c, N)
        f.launch(TIMES, (2,), (16, 1), a, b, d, N)
    assert strategy(f) in ("weave", "interleave") and f.fused and f.fused.plan
    assert f.fused.plan.shapes == (goptx.Shape(3, 32), goptx.Shape(2, 16))
    assert (c.host[:96] == (a.host + b.host)[:96]).all() and (d.host[:32] == (a.host * b.host)[:32]).all()


def test_what_stays_separate_may_be_coarsened(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("goptx.strategies.candidates.STRATEGIES", ("separate",))
    monkeypatch.setattr("goptx.strategies.candidates.FACTORS", (2,))  # few CTAs gain nothing by it
    a, b, c, d = arrays(device, 4)
    with goptx.fusion(Stream()) as f:
        f.launch(PLUS, 4, 32, a, b, c, 100)
        f.launch(TIMES, 2, 32, a, b, d, N)
    assert strategy(f) == "separate" and f.fused and f.fused.plan
    assert [own.factor for own in f.fused.plan.coarse] == [2, 2]
    assert (c.host[:100] == (a.host + b.host)[:100]).all() and (d.host[:64] == (a.host * b.host)[:64]).all()


def test_dynamic_shared_memory(device: Device) -> None:
    staged = kernel(
        "ld.param.u64 %rd1, [k_in]; ld.param.u64 %rd2, [k_out]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 4; "
        "add.s64 %rd4, %rd1, %rd3; add.s64 %rd5, %rd2, %rd3; ld.global.u32 %r2, [%rd4]; mov.u32 %r3, pool; "
        "mad.lo.u32 %r3, %r1, 4, %r3; st.shared.u32 [%r3], %r2; ld.shared.u32 %r4, [%r3]; st.global.u32 [%rd5], %r4; "
        "ret;"
    ).replace(".visible .entry", ".extern .shared .align 16 .b8 pool[];\n.visible .entry")
    a, b, c = (device.array(np.arange(64) + i, np.uint32) for i in range(3))
    with goptx.fusion(Stream()) as f:
        f.launch(staged, 1, 64, a, b, 0, shared=256)
        f.launch(staged, 1, 64, a, c, 0, shared=256)
    assert strategy(f) in ("weave", "interleave")
    assert (b.host == a.host).all() and (c.host == a.host).all()


@pytest.mark.parametrize("how", ["text", "bytes", "module", "path", "coarsened", "coarsened twice"])
def test_whatever_is_a_kernel(how: str, device: Device, tmp_path: Path) -> None:
    path = tmp_path / "plus.ptx"
    path.write_text(PLUS)
    coarse = goptx.coarsen(PLUS, 2)
    sources: dict[str, Any] = {
        "text": PLUS, "bytes": PLUS.encode(), "module": goptx.read(PLUS), "path": path,
        "coarsened": coarse, "coarsened twice": goptx.coarsen(coarse, 2),
    }  # fmt: skip
    a, b, c, d = arrays(device, 4)
    fused = []
    for _ in range(2):
        with goptx.fusion(Stream()) as f:
            f.launch(sources[how], 5, 32, a, b, c, 150)
            f.launch(MINUS, 5, 32, a, b, d, 150)
        assert strategy(f) == ("separate" if how == "coarsened twice" else "weave")
        fused.append(f.fused)
        assert (c.host[:150] == (a.host + b.host)[:150]).all() and (d.host[:150] == (a.host - b.host)[:150]).all()
    assert fused[0] is fused[1]
    if how == "path":
        path.write_text(TIMES + "\n")
        with goptx.fusion(Stream()) as f:
            f.launch(path, 5, 32, a, b, c, 150)
            f.launch(MINUS, 5, 32, a, b, d, 150)
        assert (c.host[:150] == (a.host * b.host)[:150]).all()


def test_the_strategies_by_name(device: Device) -> None:
    a, b, c, d = arrays(device, 4)
    launches = [(PLUS, a, b, c, N), (MINUS, a, b, d, N)]
    for name in ("weave", "vertical", "horizontal", "interleave", "separate"):
        assert strategy(as_launched(device, launches, strategy=name)) == name
    assert accesses(as_launched(device, launches, strategy="vertical")) == 4  # inputs in common are loaded once
    assert accesses(as_launched(device, [(PLUS, a, b, c, N), (MINUS, b, d, a, N)][:1] * 2, strategy="weave")) == 6
    ratio = as_launched(device, launches, strategy="interleave", ratio=[1, 2])
    assert ratio.fused and "1:2 CTAs at a time" in str(ratio.fused.plan)


def test_arguments_are_those_of_the_time_of_the_launch(device: Device) -> None:
    a, b, c, d = arrays(device, 4)
    bound = ctypes.c_int32(N)
    with goptx.fusion(Stream()) as f:
        f.launch(PLUS, CTAS, THREADS, a, b, c, bound)
        f.launch(MINUS, CTAS, THREADS, a, b, d, bound)
        assert not device.launched
        bound.value = 0
    assert (c.host[:N] == (a.host + b.host)[:N]).all() and f.fused


# Kernels that depend on each other ----------------------------------------------------------------------


def test_within_a_thread_nothing_is_needed(device: Device) -> None:
    x, y, z, t, out = arrays(device, 5)
    for form in (elementwise, strided):
        f = as_launched(device, [(form("mul.f32"), x, y, t, N), (form("sub.f32"), t, z, out, N)])
        assert strategy(f) == "vertical" and barriers(f) == 0


def test_within_a_cta_a_barrier_is_needed(device: Device) -> None:
    x, y, z, t, out = arrays(device, 5)
    f = as_launched(device, [(WHOLE, x, y, t, N), (MIRRORED, t, z, out, N)])
    assert strategy(f) == "vertical" and barriers(f) == 1


def test_the_caller_asserts_that_no_barrier_is_needed(device: Device) -> None:
    x, y, z, t, out = arrays(device, 5)
    launches = [(WHOLE, x, y, t, N), (MIRRORED, t, z, out, N)]
    f = region(launches, no_barriers=True)
    assert strategy(f) == "vertical" and barriers(f) == 0 and f.fused
    assert any("no barrier stands before kernel B" in note for note in f.fused.report.notes)
    assert barriers(region(launches)) == 1  # another kernel


@pytest.mark.parametrize("kind", ["read", "overwritten", "written twice"])
def test_across_ctas_they_are_launched_one_after_the_other(
    kind: str, device: Device, caplog: pytest.LogCaptureFixture
) -> None:
    x, y, z, t, out = arrays(device, 5)
    shifted = elementwise("add.f32", before="add.s32 %r8, %r4, 32;", write="%r8")
    launches = {
        "read": [(TIMES, x, y, t, N), (SHIFTED, t, z, out, N)],
        "overwritten": [(SHIFTED, t, y, out, N), (TIMES, x, z, t, N)],
        "written twice": [(TIMES, x, y, t, N), (shifted, x, z, t, N)],
    }[kind]
    f = as_launched(device, launches)
    assert strategy(f) == "separate" and f.report
    assert "different CTAs" in f.report.reason and "assume_local=True" in f.report.reason
    assert any(r.name == "goptx" and r.levelno == logging.WARNING for r in caplog.records)
    caplog.clear()
    assert strategy(as_launched(device, launches)) == "separate" and not caplog.records  # logged once
    assert barriers(region(launches, assume_local=True)) == 1


def test_what_another_launch_knows_of_buffers_is_used(device: Device) -> None:
    """Kernel B reads all of z, which is known to be a different buffer from those that A writes."""
    x, y, z, t, out = arrays(device, 5)
    f = as_launched(device, [(TIMES, x, y, t, N), (SHIFTED, z, t, out, N)])
    assert strategy(f) == "separate"
    own = SHIFTED.replace("[%rd6]", "[%rd9]").replace(
        "add.s64 %rd6, %rd2, %rd4;", "mul.wide.s32 %rd8, %r4, 4; add.s64 %rd9, %rd2, %rd8;"
    )
    assert strategy(as_launched(device, [(TIMES, x, y, t, N), (own, z, t, out, N)])) == "vertical"


def test_equal_bounds_are_one_number_and_others_are_not(device: Device) -> None:
    x, y, z, t, out = arrays(device, 5)
    equal = as_launched(device, [(TIMES, x, y, t, N), (MINUS, t, z, out, N)], private=[t], but=(t,))
    assert accesses(equal) == 4
    other = as_launched(device, [(TIMES, x, y, t, N), (MINUS, t, z, out, 90)], private=[t], but=(t,))
    assert strategy(other) == "vertical" and accesses(other) == 6  # not proved to be written: it stays in memory
    assert other.fused and any("name bounds that are equal" in note for note in other.fused.report.notes)
    again = as_launched(device, [(TIMES, x, y, t, 55), (MINUS, t, z, out, 55)], private=[t], but=(t,))
    assert again.fused is equal.fused


def test_temporaries_of_a_cta(device: Device) -> None:
    x, y, z, t, out = arrays(device, 5)
    f = as_launched(device, [(WHOLE, x, y, t, N), (MIRRORED, t, z, out, N)], local=[t], but=(t,))
    assert strategy(f) == "vertical" and accesses(f) == 4 and barriers(f) == 1
    assert f.fused and ".shared .align 16" in f.fused.ptx


def test_temporaries_that_are_pieces_of_an_array(device: Device) -> None:
    x, y, z, whole, out = arrays(device, 5)
    one, other = whole[:100], whole[100:]
    launches = [(TIMES, x, y, one, N), (MINUS, one, z, other, N), (PLUS, other, z, out, N)]
    assert accesses(as_launched(device, launches, private=[whole], but=(whole,))) == 4  # z once
    assert accesses(as_launched(device, launches, private=[one], but=(whole,))) == 6
    assert accesses(as_launched(device, launches, private=[one.address], but=(whole,))) == 6


def test_a_temporary_that_only_one_kernel_takes_stays_in_memory(device: Device) -> None:
    x, y, z, t, out = arrays(device, 5)
    f = as_launched(device, [(TIMES, x, y, t, N), (MINUS, x, z, out, N)], private=[t])
    assert strategy(f) == "weave" and accesses(f) == 6


def test_buffers_that_overlap_are_not_fused(device: Device, caplog: pytest.LogCaptureFixture) -> None:
    x, y, z, t, out = arrays(device, 5)
    f = as_launched(device, [(TIMES, x, y, t, N), (MINUS, t[1:], z, out, N)])
    assert strategy(f) == "separate" and f.report
    assert f.report.reason.startswith("A:2 (out) and B:0 (x) are different pointers into the same memory")
    assert "not fused: A:2 (out) and B:0 (x)" in caplog.text
    # Arrays that are only read may overlap, and so may separate parts of one array.
    assert strategy(as_launched(device, [(TIMES, x, y, t, N), (MINUS, x[1:], z, out, N)])) == "weave"
    assert strategy(as_launched(device, [(TIMES, x, y, t[:100], N), (MINUS, t[100:], z, out, N)])) == "weave"


def test_a_temporary_that_another_pointer_leads_into_is_not_fused(device: Device) -> None:
    """Within one kernel that is allowed, except for buffers that are no longer in memory."""
    x, z, t, out = arrays(device, 4)
    launches = [(TIMES, x, t[100:], t, N), (MINUS, t, z, out, N)]
    assert strategy(as_launched(device, launches)) == "vertical"
    assert strategy(as_launched(device, launches, private=[t], but=(t,))) == "separate"


def test_raw_pointers(device: Device) -> None:
    x, y, z, t, out = arrays(device, 5)
    f = region([(TIMES, x, y, t.address, N), (MINUS, t.address, z, out, N)])
    assert strategy(f) == "vertical" and (out.host[:N] == (x.host * y.host - z.host)[:N]).all()
    assert strategy(region([(TIMES, x, y, t, N), (MINUS, t.address, z, out, N)])) == "vertical"
    assert strategy(region([(TIMES, x, y, t, N), (MINUS, t.address + 4, z, out, N)])) == "separate"
    assert strategy(region([(TIMES, x, y, t.address, N), (MINUS, z.address, z, out, N)])) == "weave"


def test_grids_of_two_dimensions_are_not_fused_where_it_matters(device: Device) -> None:
    x, y, z, t, out = arrays(device, 5)
    with goptx.fusion(Stream()) as f:
        f.launch(WHOLE, (2, 1), (16, 2), x, y, t, N)
        f.launch(MIRRORED, (2, 1), (16, 2), t, z, out, N)
    assert strategy(f) == "separate" and f.report and "in grids and blocks along x only" in f.report.reason


def test_kernels_that_depend_have_one_shape(device: Device) -> None:
    x, y, z, t, out = arrays(device, 5)
    with goptx.fusion(Stream()) as f:
        f.launch(TIMES, 4, 32, x, y, t, N)
        f.launch(MINUS, 2, 64, t, z, out, N)
    assert strategy(f) == "separate" and f.report and "the same grid and block" in f.report.reason
    assert (out.host[:N] == (x.host * y.host - z.host)[:N]).all()


def test_what_is_made_for_one_shape_serves_no_other(device: Device) -> None:
    x, y, z, t, out = arrays(device, 5)
    for grid, block in ((2, 64), (4, 32), (2, 32)):
        with goptx.fusion(Stream()) as f:
            f.launch(TIMES, grid, block, x, y, t, N)
            f.launch(MINUS, grid, block, t, z, out, N)
        count = min(N, grid * block)
        assert strategy(f) == "vertical" and (out.host[:count] == (x.host * y.host - z.host)[:count]).all()
        out.host[:] = 0


def test_a_coarsened_kernel_among_kernels_that_depend(device: Device) -> None:
    x, y, z, t, out = arrays(device, 5)
    with goptx.fusion(Stream()) as f:
        f.launch(goptx.coarsen(TIMES, 2), 3, 32, x, y, t, N)
        f.launch(MINUS, 3, 32, t, z, out, N)
    assert strategy(f) == "separate"
    assert (out.host[:96] == (x.host * y.host - z.host)[:96]).all()


@pytest.mark.parametrize("name", ["weave", "horizontal", "interleave"])
def test_strategies_for_independent_kernels(name: str, device: Device) -> None:
    x, y, z, t, out = arrays(device, 5)
    f = as_launched(device, [(TIMES, x, y, t, N), (MINUS, t, z, out, N)], strategy=name)
    assert strategy(f) == "separate" and f.report
    assert f.report.reason == (
        f"strategy {name} takes kernels that do not depend on each other: A:2 (out) and B:0 (x) are one buffer"
    )


def test_what_a_strategy_refuses_is_launched_separately(device: Device) -> None:
    x, y, z, t, out = arrays(device, 5)
    f = as_launched(device, [(TIMES, x, y, t, N), (SHIFTED, t, z, out, N)], strategy="vertical")
    assert strategy(f) == "separate" and f.report and "different CTAs" in f.report.reason


def test_pointers_of_unknown_origin_are_not_fused(device: Device) -> None:
    chased = elementwise("sub.f32", before="ld.global.u64 %rd1, [%rd2];")
    x, y, z, out = arrays(device, 4)
    with goptx.fusion(Stream(), strategy="auto") as f:
        f.launch(TIMES, 1, 32, x, y, out, 0)
        f.launch(chased, 1, 32, x, y, z, 0)
    assert strategy(f) == "separate" and f.report
    assert "kernel B (`k`) may access memory that its parameters do not point to" in f.report.reason
    with goptx.fusion(Stream(), independent=True) as f:
        f.launch(TIMES, 1, 32, x, y, out, 0)
        f.launch(chased, 1, 32, x, y, z, 0)
    assert strategy(f) == "weave"


def test_pointers_in_structures_are_not_fused_with_others(device: Device) -> None:
    """The second kernel would read what the first has written, through a pointer in a structure."""
    reads = elementwise("sub.f32").replace(".param .u64 x", ".param .align 8 .b8 x[16]").replace("[x]", "[x+8]")
    x, y, z, out = arrays(device, 4)
    as_bytes = struct.pack("<QQ", 0, out.address)
    f = as_launched(device, [(TIMES, x, y, out, N), (reads, as_bytes, y, z, 0)])
    assert strategy(f) == "separate" and f.report
    assert (
        "kernel B (`k`) may access memory that its parameters do not point to (through pointers in memory or"
        in f.report.reason
    )


def test_variables_of_a_module_are_shared(device: Device) -> None:
    counting = """
    .version 8.0 .target sm_80 .address_size 64
    .global .u32 counter;
    .visible .entry put(.param .u32 n) { .reg .b32 %r<3>; ld.param.u32 %r1, [n]; st.global.u32 [counter], %r1; ret; }
    .visible .entry get(.param .u64 out) { .reg .b32 %r<3>; .reg .b64 %rd<3>; ld.param.u64 %rd1, [out];
        ld.global.u32 %r1, [counter]; st.global.u32 [%rd1], %r1; ret; }
    """
    out = device.array([0], np.uint32)
    with goptx.fusion(Stream()) as f:
        f.launch(counting, 1, 32, 7, entry="put")
        f.launch(counting, 1, 32, out, entry="get")
    assert strategy(f) == "separate" and f.report and "counter" in f.report.reason
    with goptx.fusion(Stream(), strategy="weave") as f:
        f.launch(counting, 1, 32, 7, entry="put")
        f.launch(counting, 1, 32, out, entry="get")
    assert f.report and f.report.reason == "strategy weave takes kernels that do not depend on each other"
    with goptx.fusion(Stream()) as f:  # another module, another variable
        f.launch(counting, 1, 32, 7, entry="put")
        f.launch(f"{counting}.global .u32 other;", 1, 32, out, entry="get")
    assert strategy(f) == "weave"


def test_what_is_too_large_together_is_launched_separately(device: Device) -> None:
    large = kernel("ret;").replace(".visible .entry", ".extern .shared .align 16 .b8 pool[];\n.visible .entry").replace(
        "ret;", "mov.u32 %r1, pool; st.shared.u32 [%r1], 1; ret;"
    )  # fmt: skip
    with goptx.fusion(Stream()) as f:
        for _ in range(2):
            f.launch(large, 1, 32, None, None, 0, shared=200_000)
    assert strategy(f) == "separate" and f.report and "bytes of dynamic shared memory" in f.report.reason


# Not fused ----------------------------------------------------------------------------------------------


def test_one_launch_and_none(device: Device, caplog: pytest.LogCaptureFixture) -> None:
    a, b, c = arrays(device, 3)
    f = as_launched(device, [(PLUS, a, b, c, N)])
    assert strategy(f) == "separate" and f.report and f.report.reason == "there is only one launch"
    with goptx.fusion(Stream()) as f:
        pass
    assert f.fused is None and f.report is None and not caplog.records


def test_separate_launches_are_made_once_for_all_arguments(device: Device) -> None:
    x, y, z, t, out = arrays(device, 5)
    for launches in ([(PLUS, x, y, t, N), (MINUS, t, z, out, N)], [(PLUS, z, z, x, 50), (MINUS, z, y, t, 60)]):
        as_launched(device, launches, strategy="separate")
    one, other = (woven for woven, _ in device.launched)
    assert one.executable is other.executable
    with goptx.fusion(Stream(), strategy="separate") as f:
        f.launch(PLUS, 3, 64, x, y, t, N)
        f.launch(MINUS, 4, 32, t, z, out, N)
    assert f.fused and f.fused.executable is one.executable
    assert (out.host[:N] == (x.host + y.host - z.host)[:N]).all()


def test_cancel_launches_in_order_at_once(device: Device) -> None:
    x, y, z, t, out = arrays(device, 5)
    stream = Stream()
    with goptx.fusion(stream) as f:
        f.launch(TIMES, CTAS, THREADS, x, y, t, N)
        f.launch(SHIFTED, CTAS, THREADS, t, z, out, N)
        assert not device.launched
        f.cancel()
        ((woven, on),) = device.launched
        assert woven is f.fused and woven.strategy == "separate" and on is stream
        with pytest.raises(goptx.InputError, match="belongs inside a fusion region, and the region was cancelled"):
            f.launch(TIMES, CTAS, THREADS, x, y, t, N)
        assert f.stream.sync() == "waited"
        with goptx.fusion(stream):
            pass
    assert len(device.launched) == 1 and f.report
    assert (f.report.strategy, f.report.reason) == ("separate", "the region was cancelled")
    assert (t.host[:N] == (x.host * y.host)[:N]).all()
    assert (out.host[:N] == (t.host - z.host)[32 : N + 32]).all()


def test_cancel_of_nothing(device: Device) -> None:
    with goptx.fusion(Stream()) as f:
        f.cancel()
    assert f.fused is None and not device.launched


def test_an_exception_inside_launches_nothing(device: Device) -> None:
    a, b, c, d = arrays(device, 4)
    stream = Stream()
    with pytest.raises(ZeroDivisionError), goptx.fusion(stream) as f:
        f.launch(PLUS, CTAS, THREADS, a, b, c, N)
        f.launch(MINUS, CTAS, THREADS, a, b, d, N)
        _ = 1 // 0
    assert not device.launched and f.fused is None and f.report is None
    assert strategy(region([(PLUS, a, b, c, N), (MINUS, a, b, d, N)], stream=stream)) == "weave"  # the stream is free


def test_an_exception_at_the_end_launches_nothing(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(woven: Woven, cap: int | None = None) -> None:
        raise goptx.DeviceError("no GPU")

    monkeypatch.setattr(Woven, "load", fails)
    a, b, c, d = arrays(device, 4)
    stream = Stream()
    for _ in range(2):
        with pytest.raises(goptx.DeviceError, match="no GPU"):
            region([(PLUS, b, a, d, N), (PLUS, a, b, c, N)], stream=stream)
    assert not device.launched
