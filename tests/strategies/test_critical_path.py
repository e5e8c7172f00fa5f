"""How long a warp takes alone, by the critical path through its blocks."""

import pytest
from bodies import kernel

from goptx.analysis.build_cfg import flow_as_written
from goptx.cost.branches import BESIDE_LOOPS, PREDICATED
from goptx.cost.critical_path import critical_cycles
from goptx.cost.hardware import machine_of
from goptx.latency.table import load_table
from goptx.ptx.parse import parse

TABLE, MACHINE = load_table("sm_90"), machine_of("sm_90")
FAR, ADD, SHARED = (TABLE.cycles(key) for key in ("ld.global", "add.f32", "ld.shared"))
BEGIN = """
    .reg .f32 %f<9>;
    ld.param.u64 %rd1, [k_in]; ld.param.u64 %rd2, [k_out]; ld.param.u32 %r9, [k_n];
    mov.u32 %r4, %tid.x; mul.wide.s32 %rd3, %r4, 4; add.s64 %rd4, %rd1, %rd3; add.s64 %rd5, %rd2, %rd3;
"""
END = "st.global.f32 [%rd5], %f9; ret;"
LONG = " ".join("fma.rn.f32 %f8, %f8, %f8, %f8;" for _ in range(PREDICATED + 1))


def cycles(body: str) -> int:
    """Of all blocks, for a warp that goes through each once."""
    body = (BEGIN + body + END).replace("%f9", "%f0")
    module = parse(kernel(body))
    flow = flow_as_written(module.entries[0].body or (), "test")
    return sum(critical_cycles(flow, TABLE, MACHINE, lambda instruction: None).values())


def guarded(number: int, code: str) -> str:
    """A piece of code that threads skip by a branch."""
    return f"setp.ge.s32 %p1, %r4, %r9; @%p1 bra AFTER{number}; {code} AFTER{number}: add.s32 %r4, %r4, 1;"


def loads(several: int, beside: str = "") -> str:
    each = (guarded(n, f"ld.global.f32 %f{n}, [%rd4+{4 * n}]; {beside}") for n in range(1, several + 1))
    sums = (f"add.f32 %f0, %f0, %f{n};" for n in range(1, several + 1))
    return " ".join((*each, *sums))


def test_loads_on_short_sides_of_branches_are_under_way_together() -> None:
    assert cycles(loads(4)) < cycles(loads(1)) + 0.2 * FAR


def test_loads_on_long_sides_of_branches_are_not() -> None:
    assert cycles(loads(4, LONG)) > cycles(loads(1, LONG)) + 2.8 * FAR


@pytest.mark.parametrize(("slots", "together"), [(BESIDE_LOOPS, True), (BESIDE_LOOPS + 1, False)])
def test_a_kernel_with_a_loop_has_fewer_predicates(slots: int, together: bool) -> None:
    loop = "LOOP: add.s32 %r4, %r4, 1; setp.lt.s32 %p2, %r4, %r9; @%p2 bra LOOP;"
    beside = "fma.rn.f32 %f8, %f8, %f8, %f8;" * (slots - 1)
    more = cycles(loads(4, beside) + loop) - cycles(loads(1, beside) + loop)
    assert (more < 0.3 * FAR) == together
    assert cycles(loads(4, beside)) < cycles(loads(1, beside)) + 0.3 * FAR  # without one


@pytest.mark.parametrize(
    ("store", "together"),
    [("st.shared.f32 [tile], %f{};", True), ("st.global.f32 [%rd5+64], %f{};", False), ("st.f32 [%rd5], %f{};", False)],
)
def test_loads_begin_above_stores_to_other_memory(store: str, together: bool) -> None:
    each = [f"ld.global.f32 %f{n}, [%rd4+{4 * n}]; {store.format(n)}" for n in range(1, 5)]
    assert (cycles("".join(each)) < cycles(each[0]) + 0.3 * FAR) == together


def test_a_barrier_on_a_side_ends_what_is_under_way_together() -> None:
    assert cycles(loads(2, "bar.sync 0;")) > cycles(loads(1, "bar.sync 0;")) + 0.8 * FAR


def test_a_warp_goes_on_beyond_a_branch_while_it_loads() -> None:
    """What is loaded before a branch is used after it: the chain of additions runs meanwhile."""
    load = "ld.global.f32 %f1, [%rd4];"
    chain = " ".join("add.f32 %f2, %f2, %f2;" for _ in range(40))
    branch = "setp.ge.s32 %p1, %r4, %r9; @%p1 bra OTHER; {} add.f32 %f0, %f1, %f2; bra JOIN; OTHER: {} JOIN:"
    beside = cycles(load + branch.format(chain, LONG))
    assert beside < cycles(load + chain + branch.format("", LONG)) + 5 * ADD
    assert beside < FAR + 40 * ADD


def test_a_branch_waits_for_its_predicate() -> None:
    known = "setp.ge.s32 %p1, %r4, %r9;"
    loaded = "ld.global.u32 %r5, [%rd4]; setp.ge.s32 %p1, %r5, %r9;"
    sides = f"@%p1 bra OTHER; ld.global.f32 %f1, [%rd4+8]; {LONG} bra JOIN; OTHER: {LONG} JOIN:"
    assert cycles(loaded + sides) > cycles(known + sides) + 0.8 * FAR


@pytest.mark.parametrize("between", ["bar.sync 0;", "div.rn.f32 %f2, %f3, %f4;"])
def test_what_stays_in_order_waits_for_stores_before_it(between: str) -> None:
    """A store needs what was loaded; the barrier after it, and what is after that, come later."""
    store = "ld.global.f32 %f1, [%rd4]; st.global.f32 [%rd5+64], {};"
    after = between + " ".join("add.f32 %f5, %f5, %f5;" for _ in range(200))
    assert cycles(store.format("%f1") + after) > cycles(store.format("%f3") + after) + 0.8 * FAR


def test_a_sum_with_carry_waits_for_the_one_below() -> None:
    words = "".join(f"{op}.u32 %r{n}, %r4, %r9; " for n, op in enumerate(("add.cc", *["addc.cc"] * 6), 10))
    words += "st.global.u32 [%rd5], %r16; "
    alone = words.replace("addc.cc", "add").replace("add.cc", "add")
    assert cycles(words) > cycles(alone) + 6
