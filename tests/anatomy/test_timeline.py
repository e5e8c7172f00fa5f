"""When instructions of a block are issued, woven and alone."""

import json

import pytest
from anatomy.results import NAMES, path, result

import goptx
from goptx.anatomy.matched import matched
from goptx.errors import InputError
from goptx.latency.cost import ISSUE, block_cycles, cycles_of
from goptx.latency.table import load_table


@pytest.mark.parametrize("name", NAMES)
def test_every_instruction_of_a_block_once(name: str) -> None:
    woven = result(name)
    found = matched(woven)
    for entry in found.entries[:1]:
        for block in entry.trace.order:
            code = entry.trace.flow.blocks[block].code
            timeline = woven.timeline(block)
            assert [s.text for s in timeline.woven.slots] == [str(c) for c in code]
            assert timeline.woven.cycles == block_cycles(code, lambda c: cycles_of(found.table, c))


@pytest.mark.parametrize("name", NAMES)
def test_runs_are_those_of_the_model(name: str) -> None:
    found = result(name).timeline()
    for run in (*found.alone, found.woven):
        free = 0
        for s in run.slots:
            assert s.stall == s.issue - free >= 0 and s.done == s.issue + s.latency
            free = s.issue + ISSUE
        last = max([free, *(s.done for s in run.slots)])
        assert run.cycles == last
        assert run.stalled == sum(s.stall for s in run.slots) + last - free
    for run in found.alone:
        assert [s.line for s in run.slots] == sorted(s.line for s in run.slots)
        assert all(s.kernel == run.kernel and s.line for s in run.slots)
    assert found.cycles_alone == sum(r.cycles * r.copies for r in found.alone)


def test_numbers_of_a_pair() -> None:
    found = result("barriers").timeline()
    assert (found.block, found.entry, found.depth) == ("after_1", "lud_sort_woven", 0)
    assert [(r.kernel, r.copies) for r in found.alone] == [("A", 1), ("B", 1)]
    assert found.woven.cycles < found.cycles_alone and found.woven.stalled < found.stalled_alone
    loads = [s for s in found.woven.slots if s.access == "load" and s.space == "global"]
    assert {s.latency for s in loads} == {load_table("sm_90", "sm_90").cycles("ld.global")}
    assert [s.text for s in found.woven.slots if s.barrier] == ["bar.sync 1;", "bar.sync 0;"]
    assert {s.space for s in found.woven.slots if s.access == "store"} <= {"global", "shared"}
    assert not any(s.far for s in result("pair").timeline("entry").woven.slots if s.space == "param")


def test_the_block_is_the_heaviest_that_is_woven() -> None:
    assert result("coarsened").timeline().block == "$AB6_C4"
    assert result("coarsened").timeline().depth == 1
    only = result("horizontal").timeline()
    assert [r.kernel for r in only.alone] == ["B"]


def test_copies_run_one_after_the_other() -> None:
    found = result("coarsened").timeline()
    assert [(r.kernel, r.copies) for r in found.alone] == [("A", 2), ("B", 1)]
    one, other = found.alone
    assert (one.cycles, len(one.slots)) == (other.cycles, len(other.slots))
    assert found.cycles_alone == 3 * one.cycles


def test_alone_is_as_the_file_has_it() -> None:
    found = result("pair").timeline("entry")
    lines = path("harris").read_text().splitlines()
    (harris,) = (r for r in found.alone if r.kernel == "B")
    for s in harris.slots:
        assert s.text.split()[0].lstrip("@!") in lines[s.line - 1]


def test_no_such_block() -> None:
    with pytest.raises(InputError, match=r"`gelu_harris_woven` has no block `nowhere`; it has `entry`, `\$A1_Be`: see"):
        result("pair").timeline("nowhere")


def test_blocks_of_kernels_that_stay_separate() -> None:
    woven = result("separate")
    for kernel in woven.anatomy().kernels:
        for block in kernel.blocks:
            for name in block.stands_in:
                found = woven.timeline(name)
                assert f"{found.entry}/{found.block}" == name
                assert {run.kernel for run in found.alone} == {kernel.letter}
    assert woven.timeline("entry").entry == woven.entries[0]
    with pytest.raises(InputError, match=f"it has `{woven.entries[0]}/entry`, "):
        woven.timeline(f"{woven.entries[0]}/nowhere")


@pytest.mark.parametrize("name", NAMES)
def test_plain_data_and_text(name: str) -> None:
    found = result(name).timeline()
    totals = json.loads(json.dumps(found.to_dict()))["totals"]
    assert totals["cycles"] == found.woven.cycles and totals["cycles_alone"] == found.cycles_alone
    text = str(found)
    assert f"block {found.block} of {found.entry}" in text and "one by one" in text
    assert all(s.text in text for s in found.woven.slots)


def test_a_call_is_one_slot() -> None:
    text = """.version 8.0\n.target sm_90\n.address_size 64
.func (.param .b32 r) leaf(.param .b32 x) { .reg .b32 %r<2>; ld.param.b32 %r1, [x]; st.param.b32 [r], %r1; ret; }
.visible .entry caller(.param .u64 out)
{
    .reg .b32 %r<3>; .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    { .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; call.uni (b), leaf, (a); ld.param.b32 %r2, [b]; }
    st.global.u32 [%rd1], %r2;
    ret;
}
"""
    found = goptx.weave(text, path("harris")).timeline()
    (call,) = (s for s in found.woven.slots if s.text.startswith("call"))
    assert (call.kernel, call.access) == ("A", "")
