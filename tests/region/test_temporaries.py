"""Temporaries of a region, one by one: in registers, in shared memory or left in memory, and their reports."""

import itertools
import logging
from typing import Any

import numpy as np
import pytest
from region.emulated import Array, Device
from region.test_fusion import MINUS, MIRRORED, PLUS, SHIFTED, TIMES, WHOLE, N, accesses, arrays, as_launched, region
from region.test_fusion import strategy as strategy_of
from strategies.dependent_kernels import elementwise, strided

import goptx

LONGER = elementwise("sub.f32", guard="setp.ge.s32 %p1, %r4, 90; @%p1 bra DONE;")  # than `MIDDLE` writes
MIDDLE = elementwise("mul.f32", guard="setp.ge.s32 %p1, %r4, 60; @%p1 bra DONE;")


def mixed(device: Device) -> tuple[list[Any], dict[str, Array]]:
    """Three temporaries, of which `bad` is read where nothing was written; it is between the two others."""
    x, y, z, one, bad, last, out = arrays(device, 7)
    launches = [
        (WHOLE, x, y, one, N), (MIDDLE, one, z, bad, N), (LONGER, bad, one, last, N), (PLUS, last, y, out, 80),
    ]  # fmt: skip
    return launches, {"one": one, "bad": bad, "last": last, "out": out}


def temporaries(f: goptx.Fusion) -> dict[str, str]:
    assert f.report
    return {t.buffer: t.where for t in f.report.temporaries}


def test_one_that_is_not_proved_stays_in_memory_and_the_others_do_not(
    device: Device, caplog: pytest.LogCaptureFixture
) -> None:
    launches, named = mixed(device)
    one, bad, last = named["one"], named["bad"], named["last"]
    f = as_launched(device, launches, private=[one, bad], but=(one,))
    assert strategy_of(f) == "vertical" and accesses(f) == 12 - 3 - 1  # those of `one`, and a second load of y
    assert temporaries(f) == {
        "A:2 (out), B:0 (x), C:1 (y)": "registers", "B:2 (out), C:0 (x)": "memory",
    }  # fmt: skip
    assert f.report
    proved, left = f.report.temporaries
    assert proved.internalised and proved.why == "1 stores and 2 loads" and proved.declared == "private"
    for words in ("kernel C (`k`): `", "ld.global.f32", "kernel B (`k`)", "does not imply", "name bounds", "<ptx>:"):
        assert words in left.why
    (record,) = [r for r in caplog.records if r.levelno == logging.WARNING]
    assert record.name == "goptx"
    assert record.getMessage() == f"the private buffer B:2 (out), C:0 (x) is left in memory: {left.why}"
    assert f"private B:2 (out), C:0 (x): left in memory ({left.why})" in str(f.report)
    assert "private A:2 (out), B:0 (x), C:1 (y): registers (1 stores and 2 loads)" in str(f.report)
    html = f.report._repr_html_()
    assert "left in memory" not in html and ">memory<" in html and ">registers<" in html and "does not imply" in html
    caplog.clear()
    again = as_launched(device, launches, private=[bad, one], but=(one,))
    assert again.fused is f.fused and again.report and not again.report.anew and not caplog.records
    assert again.report.temporaries == f.report.temporaries
    assert last.host.any()


def test_the_outcome_does_not_depend_on_the_order_of_declarations(device: Device) -> None:
    launches, named = mixed(device)
    made = []
    for order in itertools.permutations(["one", "bad", "last"]):
        with goptx.fusion(None) as f:
            for name in order[:2]:
                f.private(named[name])
            for source, *args in launches:
                f.launch(source, 2, 64, *args)
            for name in order[2:]:
                f.private(named[name])
        made.append(f)
    assert len({id(f.fused) for f in made}) == 1
    assert all(f.report.temporaries == made[0].report.temporaries for f in made if f.report and made[0].report)


@pytest.mark.parametrize("how", ["auto", "vertical"])
def test_several_kinds_at_once(how: str, device: Device) -> None:
    """Of a thread, of a CTA, a CTA's that is not proved, and a CTA's that is a thread's own in fact."""
    x, y, one, two, three, four, out = arrays(device, 7)
    launches = [
        (WHOLE, x, y, one, N), (MIRRORED, one, y, two, N), (MIDDLE, two, y, three, N),
        (LONGER, three, two, four, N), (elementwise(guard=""), three, two, out, N),
    ]  # fmt: skip
    f = as_launched(device, launches, private=[two], local=[one, three], but=(one, two), strategy=how)
    assert strategy_of(f) == "vertical"
    assert temporaries(f) == {
        "A:2 (out), B:0 (x)": "shared memory", "B:2 (out), C:0 (x), D:1 (y), E:1 (y)": "registers",
        "C:2 (out), D:0 (x), E:0 (x)": "memory",
    }  # fmt: skip
    assert f.report and f.report.temporaries[0].why == "256 bytes for each CTA"
    assert "not shown to have been written before by a thread of the CTA" in f.report.temporaries[2].why


def test_a_temporary_of_a_cta_that_is_each_threads_own_goes_to_registers(device: Device) -> None:
    """Grid-stride loops: a CTA has no piece of the buffer."""
    x, y, t, out = arrays(device, 4)
    f = as_launched(device, [(strided("mul.f32"), x, y, t, N), (strided(), t, y, out, N)], local=[t], but=(t,))
    assert strategy_of(f) == "vertical" and accesses(f) == 3 and list(temporaries(f).values()) == ["registers"]
    assert f.report and f.report.temporaries[0].declared == "local"


def test_buffers_of_one_launch_are_listed_too(device: Device, caplog: pytest.LogCaptureFixture) -> None:
    x, y, z, t, out = arrays(device, 5)
    f = as_launched(device, [(TIMES, x, y, t, N), (MINUS, x, z, out, N)], private=[t])
    assert strategy_of(f) == "weave" and f.report
    (left,) = f.report.temporaries
    assert left.where == "memory" and left.why.startswith("only one launch of the region takes it")
    assert "is left in memory: only one launch" in caplog.text
    again = as_launched(device, [(TIMES, x, y, t, N), (MINUS, x, z, out, N)])  # nothing is declared
    assert again.report and again.report.temporaries == ()
    first = as_launched(device, [(TIMES, x, y, t[:N], N), (MINUS, t[:150], z, out, N)], private=[t[:N]])
    assert first.report and first.report.temporaries[0].why.startswith("a launch takes more of the array than")


def test_launches_that_are_not_fused_leave_all_in_memory(device: Device) -> None:
    x, y, z, t, out = arrays(device, 5)
    f = as_launched(device, [(TIMES, x, y, t, N), (SHIFTED, t, z, out, N)], private=[t])
    assert strategy_of(f) == "separate" and f.report
    (left,) = f.report.temporaries
    assert left.where == "memory" and left.why == f"the launches are not fused: {f.report.reason}"
    assert "not shown to be equal" in left.why and "different CTAs" in left.why
    one = as_launched(device, [(TIMES, x, y, t, N)], private=[t])
    assert one.report and one.report.temporaries[0].why == "the launches are not fused: there is only one launch"


def test_a_buffer_in_two_dimensions_stays_in_memory(device: Device) -> None:
    """Only the temporary, which needs launches along x, is refused; the kernels are fused."""
    number = (
        "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.s32 %r6, %r1, %r2, %r3; "
        "mov.u32 %r1, %ctaid.y; mov.u32 %r2, %ntid.y; mov.u32 %r3, %tid.y; mad.lo.s32 %r7, %r1, %r2, %r3; "
        "mad.lo.s32 %r4, %r7, 16, %r6;"
    )
    first, second = (elementwise(op, index=number, guard="") for op in ("mul.f32", "sub.f32"))
    x, y, z, t, out = arrays(device, 5)
    for kind, where in (("private", "registers"), ("local", "registers")):
        with goptx.fusion(None) as f:
            f.launch(first, (1, 2), (16, 4), x, y, t, N)
            f.launch(second, (1, 2), (16, 4), t, z, out, N)
            getattr(f, kind)(t)
        assert strategy_of(f) == "vertical" and list(temporaries(f).values()) == [where]
        assert (out.host[:128] == (x.host * y.host - z.host)[:128]).all()
        out.host[:] = 0


# Assertions of the caller -----------------------------------------------------------------------------------


def test_the_assertion_for_private_buffers(device: Device) -> None:
    """Bounds that differ in the region: B's is the lower one, which cannot be seen from the kernels."""
    x, y, z, t, out = arrays(device, 5)
    launches = [(TIMES, x, y, t, N), (MINUS, t, z, out, 90)]
    assert accesses(as_launched(device, launches, private=[t], but=(t,))) == 6
    f = as_launched(device, launches, private=[t], but=(t,), assume_private=True)
    assert accesses(f) == 4 and list(temporaries(f).values()) == ["registers"]
    assert f.report and "on the word of assume_private=True; not proved: <ptx>" in f.report.temporaries[0].why
    assert np.array_equal(out.host[:90], (x.host * y.host - z.host)[:90])


def test_the_assertion_does_not_name_the_store(device: Device) -> None:
    """Each thread stores two elements and loads one of them; which one depends on data."""
    twice = elementwise("add.f32").replace("st.global.f32 [%rd7], %f3;", "st.global.f32 [%rd7], %f3; "
        "ld.global.u32 %r8, [%rd5]; add.u32 %r9, %r4, %r8; mul.wide.s32 %rd9, %r9, 4; add.s64 %rd9, %rd3, %rd9; "
        "st.global.f32 [%rd9], %f3;")  # fmt: skip
    x, y, z, t, out = arrays(device, 5)
    f = region([(twice, x, y, t, 0), (MINUS, t, z, out, 0)], private=[t], assume_private=True, assume_local=True)
    assert f.report and [t.where for t in f.report.temporaries] == ["memory"]
    assert "which assume_private=True does not match with one store" in f.report.temporaries[0].why
