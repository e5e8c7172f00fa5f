"""Which code the list schedule puts first, and that each kernel's dependences hold."""

from itertools import combinations
from pathlib import Path

import pytest
from bodies import flow

import goptx
from goptx.analysis.build_cfg import control_flow
from goptx.analysis.cfg import Code, Flow
from goptx.analysis.dataflow import read, written
from goptx.analysis.sync.barriers import is_barrier
from goptx.latency.table import load_table
from goptx.ptx.flatten import flatten
from goptx.ptx.ir import Scope
from goptx.ptx.opcodes import facts_of
from goptx.weaving.schedule.dependences import precedence
from goptx.weaving.schedule.list_schedule import list_schedule
from goptx.weaving.schedule.pressure import LiveRange, Pressure, step
from goptx.weaving.schedule.schedule import schedule_block, units

ROOT = Path(__file__).parents[2]
TABLE = load_table("sm_90", "sm_90")
KERNELS = sorted((ROOT / "examples" / "kernels").glob("*.sm_90.ptx"))


def part(body: str) -> tuple[Code, ...]:
    found = flow(body)
    return found.blocks[found.entry].code


def cycles(code: Code) -> int:
    return 0 if isinstance(code, Scope) else TABLE.cycles_of(code)


def ordered(body: str) -> list[str]:
    return [str(c).strip() for c in schedule_block([part(body)], [], "latency", cycles)]


def woven(first: str, second: str, waits: tuple[int, ...] = ()) -> list[str]:
    parts = [part(first), part(second)]
    sync_groups = [((k, next(i for i, c in enumerate(parts[k]) if is_barrier(c))),) for k in waits]
    return [str(c).split()[0] for c in schedule_block(parts, sync_groups, "latency", cycles)]


def test_loads_come_before_the_other_kernels_slow_path_and_store() -> None:
    first = "div.rn.f32 %f3, %f1, %f2; st.global.f32 [%rd1], %f3;"
    second = "add.s64 %rd2, %rd1, 4; ld.global.f32 %f1, [%rd2]; st.global.f32 [%rd1+8], %f1;"
    for order in (woven(first, second), woven(second, first)):
        assert order[:2] == ["add.s64", "ld.global.f32"]


def test_the_kernel_with_more_answers_to_await_begins() -> None:
    """One load after another: the other kernel's only load waits for the second."""
    chain = "ld.global.u64 %rd2, [%rd1]; ld.global.u64 %rd3, [%rd2]; st.global.u64 [%rd1+8], %rd3;"
    single = "ld.global.u32 %r1, [%rd1]; st.global.u32 [%rd1+4], %r1;"
    for order in (woven(chain, single), woven(single, chain)):
        assert order[0] == "ld.global.u64"
        assert set(order[1:3]) == {"ld.global.u64", "ld.global.u32"}


def test_the_scheduling_barrier_that_loads_follow_goes_first() -> None:
    slow = "sqrt.rn.f32 %f2, %f1; sqrt.rn.f32 %f3, %f2;"
    shared = "bar.sync 0; ld.shared.f32 %f1, [%r1]; add.f32 %f2, %f1, %f1;"
    for order in (woven(slow, shared, (1,)), woven(shared, slow, (0,))):
        assert order == ["bar.sync", "ld.shared.f32", "add.f32", "sqrt.rn.f32", "sqrt.rn.f32"]


def test_a_load_passes_uses_and_slow_paths_of_its_own_kernel() -> None:
    body = "ld.global.f32 %f1, [%rd1]; rcp.rn.f32 %f2, %f1; ld.global.f32 %f3, [%rd1+4]; add.f32 %f4, %f2, %f3;"
    assert [line.split()[0] for line in ordered(body)] == ["ld.global.f32", "ld.global.f32", "rcp.rn.f32", "add.f32"]


@pytest.mark.filterwarnings("ignore:.*frobnicate")
@pytest.mark.parametrize(
    "body",
    [
        "st.global.u32 [%rd1], %r1; ld.global.u32 %r2, [%rd2];",  # may alias
        "st.shared.u32 [%r1], %r2; ld.u32 %r3, [%rd2];",  # generic: may be shared memory
        "bar.sync 0; ld.global.u32 %r2, [%rd2];",
        "ld.volatile.shared.u32 %r1, [%r9]; ld.volatile.global.u32 %r2, [%rd2];",
        "atom.global.add.u32 %r1, [%rd1], 1; ld.global.u32 %r2, [%rd2];",
        "st.global.u32 [%rd1], %r1; cp.async.ca.shared.global [%r3], [%rd1], 4; ld.global.u32 %r2, [%rd2];",
        "add.u32 %r3, %r2, 1; ld.global.u32 %r2, [%rd2];",  # written after it is read
        "mov.u32 %r2, 1; @%p1 ld.global.u32 %r2, [%rd2];",
        "mov.u32 %r1, %clock; ld.global.u32 %r2, [%rd2];",
        "shfl.sync.idx.b32 %r1, %r3, 0, 31, -1; ld.volatile.global.u32 %r2, [%rd2];",
        "frobnicate.u32 %r1, %r3; ld.global.u32 %r2, [%rd2];",
    ],
)
def test_what_must_not_pass(body: str) -> None:
    assert ordered(body) == [str(c).strip() for c in part(body)]


def test_a_constant_load_passes_the_kernels_own_barrier() -> None:
    assert ordered("bar.sync 0; ld.global.nc.u32 %r2, [%rd2];")[0].startswith("ld.global.nc")


def flows() -> list[Flow]:
    constructs = goptx.read(ROOT / "tests" / "constructs" / "constructs.sm_80.ptx")
    entries = [e for module in (*map(goptx.read, KERNELS), constructs) for e in module.entries]
    return [control_flow(flatten(e.body or (), lambda n: n)) for e in entries]


def depends(later: Code, earlier: Code) -> bool:
    """Written from the definition: one writes a register that the other names, or both touch memory and one is
    neither a load nor a constant load."""
    if written(earlier) & (read(later) | written(later)) or read(earlier) & written(later):
        return True
    facts = [facts_of("call" if isinstance(c, Scope) else c.opcode) for c in (earlier, later)]
    touching = [f for f in facts if f.row.access and f.space != "param" and "nc" not in f.modifiers]
    touched = [set(f.spaces) for f in facts]
    if len(touching) < 2 or (
        all(f.row.access != "f" for f in facts) and {"shared"} in touched and {"global"} in touched
    ):
        return False
    return any(f.row.access != "l" or f.volatile for f in facts)


def test_dependences_of_all_examples_hold() -> None:
    moved = 0
    for found in flows():
        for block in found.blocks.values():
            order = schedule_block([block.code], [], "latency", cycles)
            place = {id(c): i for i, c in enumerate(order)}
            assert sorted(place) == sorted(map(id, block.code))
            moved += list(place) != list(map(id, block.code))
            for earlier, later in combinations(block.code, 2):
                assert place[id(earlier)] < place[id(later)] or not depends(later, earlier), (earlier, later)
    assert moved > 10


def test_the_part_of_a_warpgroup_keeps_its_order() -> None:
    """A wait for products does not name their registers, so only the original order puts their readers after it."""
    body = """wgmma.wait_group.sync.aligned 0; ld.global.nc.u64 %rd3, [%rd2]; add.s64 %rd1, %rd1, %rd4;
              ld.global.nc.u64 %rd5, [%rd1]; st.global.u64 [%rd2], %rd5;"""
    assert ordered(body) == [str(c).strip() for c in part(body)]
    fenced = ordered(body.replace("wgmma.wait_group.sync.aligned 0;", "membar.cta;"))
    assert fenced.index("add.s64 %rd1, %rd1, %rd4;") < fenced.index("membar.cta;")


def test_stores_come_as_late_as_they_may() -> None:
    first = "st.global.u32 [%rd1], %r1;"
    second = "ld.global.u32 %r1, [%rd1]; add.u32 %r2, %r1, 1; div.rn.f32 %f2, %f1, %f1; st.global.u32 [%rd1], %r2;"
    for order in (woven(first, second), woven(second, first)):
        assert order[0] == "ld.global.u32"
        assert order[-2:] == ["st.global.u32", "st.global.u32"]


def test_a_store_that_loads_follow_does_not_wait_for_the_other_kernel() -> None:
    first = "st.global.u32 [%rd1], %r1; ld.global.u32 %r2, [%rd1+4]; add.u32 %r3, %r2, 1;"
    second = "ex2.approx.f32 %f2, %f1; ex2.approx.f32 %f3, %f2; st.global.f32 [%rd1], %f3;"
    for order in (woven(first, second), woven(second, first)):
        assert order[:2] == ["st.global.u32", "ld.global.u32"]


def test_the_longer_path_goes_first() -> None:
    """By hundreds of cycles: the assembler orders by smaller differences."""
    add, slow = "add.u32 %r2, %r1, 1;", "div.approx.f32 %f2, %f1, %f1;"
    assert ordered(add + slow + "sin.approx.f32 %f2, %f2;" * 40)[0].startswith("div")
    assert ordered(add + slow + "sin.approx.f32 %f2, %f2;" * 4)[0].startswith("add")


def test_code_under_one_guard_does_not_stand_in_a_row() -> None:
    """ptxas makes a branch of it; code that becomes no machine instruction separates nothing."""
    loads = "@%p1 ld.global.u32 %r1, [%rd1]; @%p1 ld.global.u32 %r2, [%rd1+4]; @%p1 ld.global.u32 %r3, [%rd1+8];"
    order = ordered(f"{loads} cvta.to.global.u64 %rd2, %rd3; add.u32 %r5, %r4, 1; add.u32 %r6, %r4, 2;")
    other = ordered(f"{loads} {loads.replace('%p1', '%p2').replace('%r', '%s')}")
    assert [line.split()[0] for line in other] == ["@%p1", "@%p2"] * 3
    assert order[0].startswith("@%p1")


def values(count: int) -> str:
    """Each loaded, then used."""
    pieces = [f"ld.global.u32 %r{i}, [%rd1+{4 * i}]; add.u32 %r9, %r9, %r{i};" for i in range(count)]
    return " ".join(pieces)


@pytest.mark.parametrize(("most", "together"), [(255, 6), (6, 4), (4, 2)])
def test_no_more_registers_than_there_are(most: int, together: int) -> None:
    """The pointer takes two, the sum one: so many loads begin before the first use."""
    nodes = precedence([units(part(values(6)))], [])
    widths = {"%rd1": 2} | {f"%r{i}": 1 for i in range(10)}
    live = LiveRange(frozenset({"%rd1", "%r9"}), frozenset({"%r9"}), widths)
    order = [str(c).split()[0] for c in list_schedule(nodes, Pressure(nodes, live), most, cycles)]
    assert order.index("add.u32") == max(together - (0 if most == 255 else 1), 1)


def test_what_is_live() -> None:
    body = "add.u32 %r2, %r1, 1; add.s64 %rd2, %rd1, 8; @%p1 mov.u32 %r3, %r2; st.global.u32 [%rd2], %r3;"
    nodes = precedence([units(part(body))], [])
    widths = {"%r1": 1, "%r2": 1, "%r3": 1, "%rd1": 2, "%rd2": 2, "%p1": 0, "%other": 4}
    pressure = Pressure(nodes, LiveRange(frozenset({"%r1", "%rd1", "%r3", "%other"}), frozenset({"%other"}), widths))
    assert (pressure.live, pressure.peak()) == (8, 8)
    changes = []
    for i in range(len(nodes)):
        changes.append(pressure.change(i))
        pressure.take(i)
    assert changes == [0, 0, -1, -3]  # under a guard the old value of %r3 stays
    assert pressure.live == 4


@pytest.mark.parametrize(
    ("registers", "threads", "most"),
    [(8, 256, 32), (32, 256, 32), (33, 256, 40), (41, 256, 48), (49, 256, 64), (65, 256, 80), (97, 256, 128),
     (129, 256, 255), (30, 1024, 32), (33, 1024, 64), (65, 1024, 64), (33, 96, 40)],
)  # fmt: skip
def test_steps_of_occupancy(registers: int, threads: int, most: int) -> None:
    """As the occupancy calculator has them."""
    assert step(registers, threads) == most
