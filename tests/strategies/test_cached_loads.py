"""Which loads find their data in caches, and what the estimate makes of branches, loops and long CTAs."""

import pytest
from bodies import kernel

import goptx
from goptx import Shape
from goptx.analysis.registers.register_demand import Demand
from goptx.cost.assumptions import Behaviour
from goptx.cost.courses import made_of
from goptx.cost.estimate import Load, Wave, estimate
from goptx.cost.hardware import machine_of
from goptx.cost.kernels import Alone, alone
from goptx.cost.register_estimate import Pressure
from goptx.cost.units.cached_loads import cached_loads
from goptx.cost.work import UNITS
from goptx.latency.table import load_table
from goptx.results.given_kernels import kernels_of

INDEX = """
    .reg .f32 %f<9>; .reg .b64 %rd9;
    ld.param.u64 %rd1, [k_in]; ld.param.u64 %rd2, [k_out]; ld.param.u32 %r9, [k_n];
    mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.s32 %r4, %r2, %r3, %r1;
    mul.wide.s32 %rd3, %r4, 4; add.s64 %rd4, %rd1, %rd3; add.s64 %rd5, %rd2, %rd3;
"""


def analysed(body: str, shape: Shape | None = None) -> Alone:
    (one, _) = kernels_of([kernel(INDEX + body + " ret;", "k")] * 2)
    return alone(one, machine_of("sm_90"), load_table(None, "sm_90"), shape=shape)


@pytest.mark.parametrize(
    ("loads", "cached"),
    [
        ("ld.global.f32 %f1, [%rd4];", 0),
        ("ld.global.f32 %f1, [%rd4]; ld.global.f32 %f2, [%rd4+4]; ld.global.f32 %f3, [%rd4+-8];", 2),  # a stencil
        ("ld.global.f32 %f1, [%rd4]; ld.global.f32 %f2, [%rd4+4096];", 0),  # what another CTA loads, or nobody
        ("ld.global.f32 %f1, [%rd4]; ld.global.f32 %f2, [%rd5+4];", 0),  # of another array
        ("shl.b32 %r5, %r4, 4; cvt.s64.s32 %rd6, %r5; add.s64 %rd7, %rd1, %rd6; ld.global.f32 %f1, [%rd7]; "
         "ld.global.f32 %f2, [%rd7+4]; ld.global.f32 %f3, [%rd7+8];", 0),  # each thread has 16 bytes of its own
        ("mul.lo.s32 %r5, %r2, %r9; add.s32 %r6, %r5, %r1; mul.wide.s32 %rd6, %r6, 4; add.s64 %rd7, %rd1, %rd6; "
         "ld.global.f32 %f1, [%rd7]; add.s32 %r7, %r6, %r9; mul.wide.s32 %rd8, %r7, 4; add.s64 %rd9, %rd1, %rd8; "
         "ld.global.f32 %f2, [%rd9];", 1),  # the next row
        ("shl.b32 %r8, %r9, 1; mul.lo.s32 %r5, %r2, %r8; add.s32 %r6, %r5, %r1; mul.wide.s32 %rd6, %r6, 4; "
         "add.s64 %rd7, %rd1, %rd6; ld.global.f32 %f1, [%rd7]; add.s32 %r7, %r6, %r9; mul.wide.s32 %rd8, %r7, 4; "
         "add.s64 %rd9, %rd1, %rd8; ld.global.f32 %f2, [%rd9];", 0),  # the other half of a row
        ("mul.wide.u32 %rd6, %r1, 4; add.s64 %rd7, %rd1, %rd6; ld.global.f32 %f1, [%rd7];", 1),  # of every CTA
        ("add.s32 %r5, %r4, 1; add.s32 %r6, %r9, -1; min.s32 %r7, %r5, %r6; mul.wide.s32 %rd6, %r7, 4; "
         "add.s64 %rd7, %rd1, %rd6; ld.global.f32 %f1, [%rd4]; ld.global.f32 %f2, [%rd7];", 1),  # clamped
    ],
)  # fmt: skip
def test_loads_of_what_caches_hold(loads: str, cached: int) -> None:
    assert len(cached_loads(analysed(loads).flow)) == cached


def looked_up(table: str) -> str:
    """A kernel that loads an element of a table, whose number it has loaded, too."""
    text = kernel(
        INDEX + f"ld.global.u32 %r5, [%rd4]; mul.wide.u32 %rd6, %r5, 4; {table} add.s64 %rd8, %rd7, %rd6;\n"
        "ld.global.f32 %f1, [%rd8]; st.global.f32 [%rd5], %f1; ret;", "k",
    )  # fmt: skip
    return text.replace(".visible", ".global .align 4 .b8 table[1024];\n.visible", 1)


OF_MODULE, OF_CALLER = "mov.u64 %rd7, table;", "mov.u64 %rd7, %rd2;"


def test_tables_of_the_module_are_cached() -> None:
    (one, _) = kernels_of([looked_up(OF_MODULE)] * 2)
    found = alone(one, machine_of("sm_90"), load_table(None, "sm_90"))
    assert len(cached_loads(found.flow)) == 1
    moved = found.work.units["memory"] * machine_of("sm_90").memory / (machine_of("sm_90").sms * 4 * 32)
    assert moved == pytest.approx(8)  # one load, one store


def test_a_load_of_a_table_takes_as_long_as_the_l1() -> None:
    """Alone and woven."""
    table, machine = load_table(None, "sm_90"), machine_of("sm_90")
    far = table.cycles("ld.global") - table.cycles("ld.local")
    lasts = []
    for text in map(looked_up, (OF_MODULE, OF_CALLER)):
        kernels = kernels_of([text] * 2)
        own = [alone(k, machine, table) for k in kernels]
        woven = made_of(goptx.weave(text, text), own, table).course([k.unknown.middle for k in own], (0, 1))
        lasts.append((own[0].work.course.latency, woven.latency))
    (alone_near, woven_near), (alone_far, woven_far) = lasts
    assert alone_far - alone_near == pytest.approx(far, rel=0.05)
    assert woven_far - woven_near == pytest.approx(far, rel=0.05)


SIDES = "setp.gt.s32 %p1, %r1, 5; @%p1 bra ONE; {long} bra DONE; ONE: {long} DONE: st.global.f32 [%rd5], %f1;"
LONG = " ".join("sqrt.rn.f32 %f1, %f1;" for _ in range(5))


def test_a_warp_that_diverges_runs_one_side_after_the_other() -> None:
    found = analysed("ld.global.f32 %f1, [%rd4];" + SIDES.format(long=LONG))
    one, both = (found.under(Behaviour(divergent=d)).work.course.latency for d in (0.0, 1.0))
    side = sum(cycles for name, cycles in found.critical.items() if name == "ONE")
    assert side and both == pytest.approx(one + side)
    assert found.work.course.latency == pytest.approx(one + side / 2)


def test_loops_over_the_threads_of_a_cta_are_counted() -> None:
    loop = "mov.u32 %r5, %r1; LOOP: {} add.s32 %r5, %r5, %r3; setp.lt.s32 %p1, %r5, {}; @%p1 bra LOOP;"
    body = "mul.wide.s32 %rd6, %r5, 4; add.s64 %rd7, %rd1, %rd6; st.global.u32 [%rd7], %r5;"
    shape = Shape(1000, 64)
    assert list(analysed(loop.format(body, 256), shape).loops.values()) == [4.0]
    assert list(analysed(loop.format(body, 256)).loops.values()) == [None]
    assert list(analysed(loop.format(body, "%r9"), shape).loops.values()) == [None]


STRIDE = """
    mov.u32 %r5, %nctaid.x; mul.lo.s32 %r6, %r5, %r3;
    LOOP: mul.wide.s32 %rd6, %r4, 4; add.s64 %rd7, %rd1, %rd6; ld.global.f32 %f1, [%rd7]; sqrt.rn.f32 %f2, %f1;
    st.global.f32 [%rd7], %f2; add.s32 %r4, %r4, %r6; setp.lt.s32 %p1, %r4, %r9; @%p1 bra LOOP;
"""


def test_a_loop_that_goes_on_alone_is_not_counted_twice() -> None:
    """Woven grid-stride loops run once beside each other; each stands there again for when the other has ended."""
    text = kernel(INDEX + STRIDE + "ret;", "k")
    kernels, shapes = kernels_of([text] * 2, None), [Shape(1 << 16, 256)] * 2
    made = goptx.weave(text, text, shapes=shapes)
    own = [alone(k, machine_of("sm_90"), load_table(None, "sm_90")) for k in kernels]
    course = made_of(made, own, load_table(None, "sm_90")).course([k.unknown.middle for k in own], (0, 1))
    assert course.latency < 1.6 * own[0].work.course.latency


def test_long_ctas_leave_a_gpu_idle_at_the_end() -> None:
    """Of two kernels, one that takes a single round and waits for nothing, the other with many short CTAs."""
    units = {**dict.fromkeys(UNITS, 0.0), "issue": 1e5}
    none = Pressure.of(Demand(20))

    def cycles(ctas: int) -> float:
        loads = [Load({**units, "issue": 1e5 * 1056 / ctas}, ctas, 256)] * 2
        return estimate(loads, [Wave(ctas, 256, 1000.0)] * 2, none, 0, "sm_90", together=False).cycles

    assert cycles(1056) > 1.15 * cycles(105_600)


def test_long_ctas_that_issue_little_hardly_last_longer_among_others() -> None:
    """Few CTAs of one kernel mostly wait for memory; the many short ones of the other keep the SM busy."""
    units = {**dict.fromkeys(UNITS, 0.0), "issue": 1e4}
    none = Pressure.of(Demand(20))

    def cycles(pipe: float) -> float:
        loads = [Load({**units, "issue": 1e2}, 132, 256), Load(units, 8448, 256)]
        waves = [Wave(132, 256, 1e5, pipe=pipe), Wave(8448, 256, 1e3, pipe=1e4)]
        return estimate(loads, waves, none, 0, "sm_90", together=False).cycles

    assert cycles(1e4) > 1.05 * cycles(1e2)


def test_warps_without_a_part_in_all_kernels_leave_room_for_others() -> None:
    """Where the room for warps or registers decides how many CTAs fit, not where shared memory does."""
    units = {**dict.fromkeys(UNITS, 0.0), "issue": 1e2}
    loads, none = [Load(units, 1 << 16, 256)] * 2, Pressure.of(Demand(20))

    def cycles(mean: float, shared: int = 0) -> float:
        return estimate(loads, [Wave(1 << 16, 256, 1e4, mean=mean)], none, shared, "sm_90").cycles

    assert cycles(0.5) == pytest.approx(0.75 * cycles(1.0), rel=0.02)
    assert cycles(0.5, 1 << 17) == cycles(1.0, 1 << 17)


def test_few_threads_of_a_woven_cta_run_the_kernel_with_the_smaller_block() -> None:
    text = kernel(INDEX + LONG + "st.global.f32 [%rd5], %f1; ret;", "k")
    gains = []
    for block in (256, 32):
        woven = goptx.weave(text, text, shapes=[Shape(1 << 16, block), Shape(1 << 16, 256)], policy="latency")
        assert woven.report.expected
        gains.append(woven.report.expected.gain)
    assert gains[1] > 0.8 * gains[0]
