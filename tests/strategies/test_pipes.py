"""Which pipes instructions occupy, what the assembler merges, and kernels that use different pipes."""

import pytest
from bodies import kernel

from goptx import Shape
from goptx.analysis.build_cfg import flow_as_written
from goptx.analysis.registers.register_demand import Demand
from goptx.cost.estimate import Load, Wave, estimate
from goptx.cost.hardware import machine_of
from goptx.cost.kernels import alone
from goptx.cost.register_estimate import Pressure
from goptx.cost.units.merged_operations import merged_operations
from goptx.cost.work import PIPES, UNITS, arithmetic
from goptx.latency.table import load_table
from goptx.ptx.parse import parse
from goptx.results.given_kernels import kernels_of

MACHINE = machine_of("sm_90")
TIMES = 64


def work(code: str) -> dict[str, float]:
    """What a warp of a kernel with this code occupies, in cycles."""
    body = "ld.param.u32 %r9, [k_n]; mov.u32 %r1, %tid.x;" + code + "ret;"
    (one, _) = kernels_of([kernel(body)] * 2)
    return dict(alone(one, MACHINE, load_table(None, "sm_90"), shape=Shape(1000, 256)).work.units)


def units(instruction: str) -> dict[str, float]:
    """The same for one instruction."""
    one, many = work(instruction), work(instruction * (1 + TIMES))
    return {unit: (many[unit] - one[unit]) / TIMES for unit in UNITS if many[unit] > one[unit]}


@pytest.mark.parametrize(
    ("instruction", "expected"),
    [
        ("add.s32 %r1, %r1, %r9;", {"issue": 1, "integer": 2, "movable": 2}),
        ("shl.b32 %r1, %r1, 3;", {"issue": 1, "integer": 2, "movable": 2}),
        ("min.s32 %r1, %r1, %r9;", {"issue": 1, "integer": 2}),
        ("mul.lo.s32 %r1, %r1, %r9;", {"issue": 1, "multiplier": 2}),
        ("mad.lo.s32 %r1, %r1, %r9, %r9;", {"issue": 1, "multiplier": 2}),
        ("mul.hi.u32 %r1, %r1, %r9;", {"issue": 1, "multiplier": 4}),
        ("mul.wide.u32 %rd1, %r1, %r9;", {"issue": 1, "multiplier": 4}),
        ("mul.lo.u64 %rd1, %rd1, %rd2;", {"issue": 4, "multiplier": 8}),
        ("mul.f32 %f1, %f1, %f2;", {"issue": 1}),
    ],
)
def test_products_of_integers_occupy_the_multiplier(instruction: str, expected: dict[str, float]) -> None:
    assert units(instruction) == pytest.approx(expected)


def merged(body: str, minimum: bool = True) -> int:
    text = "ld.param.u32 %r9, [k_n]; mov.u32 %r1, %tid.x; ld.param.u64 %rd1, [k_out];" + body
    module = parse(kernel(text + " st.global.u32 [%rd1], %r5; ret;"))
    return len(merged_operations(flow_as_written(module.entries[0].body or (), "test"), minimum))


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("xor.b32 %r2, %r1, %r9; xor.b32 %r5, %r2, %r3;", 1),
        ("xor.b32 %r2, %r1, 7; not.b32 %r3, %r2; and.b32 %r5, %r3, %r9;", 2),
        ("xor.b32 %r2, %r1, %r9; and.b32 %r3, %r2, %r4; or.b32 %r5, %r3, %r6;", 1),  # of four registers
        ("xor.b32 %r2, %r1, %r9; and.b32 %r5, %r2, %r4; add.s32 %r6, %r2, 1;", 0),  # another instruction reads it
        ("xor.b32 %r2, %r1, %r9; add.s32 %r5, %r2, 1;", 0),
        ("xor.b32 %r2, %r1, %r9; mov.u32 %r1, 3; and.b32 %r5, %r2, %r4;", 0),  # what it reads is overwritten
        ("setp.eq.s32 %p1, %r1, 0; @%p1 xor.b32 %r2, %r1, %r9; and.b32 %r5, %r2, %r4;", 0),
        ("xor.b64 %rd2, %rd1, %rd3; and.b64 %rd4, %rd2, %rd5; cvt.u32.u64 %r5, %rd4;", 1),
        ("xor.b32 %r2, %r1, %r9; setp.eq.s32 %p1, %r1, 0; @%p1 bra L; mov.u32 %r4, 1; L: and.b32 %r5, %r2, %r4;", 0),
    ],
)
def test_logical_operations_of_three_registers_are_merged(body: str, expected: int) -> None:
    assert merged(body) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("add.s32 %r2, %r1, %r9; min.s32 %r5, %r2, %r3;", 1),
        ("sub.s32 %r2, %r1, %r9; max.s32 %r5, %r3, %r2;", 1),
        ("add.s32 %r2, %r1, %r9; add.s32 %r4, %r1, %r9; min.s32 %r5, %r2, %r4;", 1),  # one of the two sums
        ("add.s32 %r2, %r1, %r9; add.s32 %r4, %r2, %r9; min.s32 %r5, %r4, %r3;", 1),
        ("max.s32 %r2, %r1, %r9; max.s32 %r5, %r2, %r3;", 1),
        ("max.s32 %r2, %r1, %r9; min.s32 %r5, %r2, %r3;", 0),
        pytest.param("max.s32 %r2, %r1, 3; max.s32 %r4, %r2, %r9; max.s32 %r5, %r4, 7;", 1, id="three maxima"),
        pytest.param("add.s32 %r2, %r1, %r9; min.s32 %r5, %r2, %r3; add.s32 %r6, %r2, 1;", 0, id="read by another"),
        ("add.sat.s32 %r2, %r1, %r9; min.s32 %r5, %r2, %r3;", 0),
        ("add.s64 %rd2, %rd1, %rd3; min.s64 %rd4, %rd2, %rd5; cvt.u32.u64 %r5, %rd4;", 0),
    ],
)
def test_sums_are_merged_with_their_minimum(body: str, expected: int) -> None:
    assert merged(body) == expected
    assert merged(body, minimum=False) == 0


def test_sums_are_divided_among_the_pipes_that_compute_them() -> None:
    def cycles(**used: float) -> float:
        return arithmetic(dict.fromkeys(UNITS, 0.0) | used)

    assert cycles(issue=3.0, integer=8.0) == 8.0 and cycles(issue=3.0, integer=8.0, movable=8.0) == 4.0
    assert cycles(integer=8.0, movable=2.0) == 6.0 and cycles(integer=8.0, movable=8.0, multiplier=6.0) == 7.0
    assert (
        cycles(integer=2.0, movable=2.0, multiplier=6.0) == 6.0 and cycles(issue=9.0, integer=8.0, movable=8.0) == 9.0
    )


def test_a_merged_operation_takes_no_slot() -> None:
    one, both = work("xor.b32 %r2, %r1, %r9;"), work("xor.b32 %r2, %r1, %r9; xor.b32 %r3, %r2, %r4;")
    assert one == both


def test_kernels_overlap_but_not_in_their_arithmetic() -> None:
    """So it was measured, though the pipes are others; while one computes, another may use shared memory."""
    none = Pressure.of(Demand(20))

    def cycles(*units: str) -> float:
        loads = [Load({**dict.fromkeys(UNITS, 0.0), "issue": 1e2, unit: 1e4}, 1 << 14, 256) for unit in units]
        return estimate(loads, [Wave(1 << 14, 256, 10.0)], none, 0, "sm_90").cycles

    one, *others = (pipe for pipe in PIPES if pipe != "issue")
    for other in others:
        assert cycles(one, other) == cycles(one, one) > 1.8 * cycles(one)
    assert cycles(one, "shared") < 1.3 * cycles(one)
