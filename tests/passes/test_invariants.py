"""Each law of a pass holds of what the passes give, and notices a value that breaks it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest
from passes.run_passes import Run

import goptx
from goptx.analysis.cfg import EXIT, Block, Flow
from goptx.analysis.terminators import Branch, Jump, Stop
from goptx.ptx.ir import Guard, Immediate, Instruction, Name
from goptx.weaving import invariants
from goptx.weaving.emit import reconverge
from goptx.weaving.invariants import BrokenInvariant, check, checked_passes
from goptx.weaving.laws.flow_laws import OF_FLOWS
from goptx.weaving.laws.laws_of_passes import LAWS
from goptx.weaving.merging.merge_input import ProductState
from goptx.weaving.merging.merged_blocks import Merged
from goptx.weaving.merging.slice import SlicingThresholds
from goptx.weaving.model import Converged, Linked

HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"
BODY = """
    .reg .pred %p<3>; .reg .b32 %r<5>; .reg .b64 %rd1;
    ld.param.u64 %rd1, [NAME_out];
    mov.u32 %r1, %tid.x;
    setp.lt.u32 %p1, %r1, 9;
    @%p1 st.global.u32 [%rd1], %r1;
    bar.sync 0;
    mov.u32 %r2, 4;
LOOP:
    sub.u32 %r2, %r2, 1;
    setp.gt.s32 %p2, %r2, 0;
    @%p2 bra LOOP;
    st.global.u32 [%rd1+4], %r2;
    ret;
"""
TEXT = HEAD + "".join(
    f".visible .entry {n}(.param .u64 {n}_out) {{ {BODY.replace('NAME', n)} }}\n" for n in ("one", "other")
)
DIVERGENT = TEXT.replace("mov.u32 %r2, 4;", "mov.u32 %r2, %laneid;")
RUN = Run.of(f"// with: slicing=8\n{TEXT}")
PARKED = Run.of(f"// with: slicing=8 divergence=park\n{DIVERGENT}")
SKIPPED = Run.of(f"// with: shapes=4x64,4x32\n{TEXT}")
STEP = RUN.steps[0]
GONE = Instruction("mov.u32", (Name("%a_gone"), Immediate("1")))
Arguments = tuple[Any, ...]


def changed(flow: Flow, name: str, **fields: Any) -> Flow:
    """The flow where the block has other fields."""
    return Flow(flow.entry, {**flow.blocks, name: replace(flow.blocks[name], **fields)})


def first_block(flow: Flow) -> str:
    """The first one with code."""
    return next(name for name, block in flow.blocks.items() if block.code)


def to_nowhere(flow: Flow) -> Flow:
    """Whose entry leads to no block."""
    return changed(flow, flow.entry, end=Jump("gone"))


def longer(flow: Flow, code: Instruction = GONE) -> Flow:
    """With one instruction more."""
    name = first_block(flow)
    return changed(flow, name, code=(*flow.blocks[name].code, code))


def shorter(flow: Flow) -> Flow:
    """Without the first instruction of the first block that has any."""
    name = first_block(flow)
    return changed(flow, name, code=flow.blocks[name].code[1:])


def with_kernel(linked: Linked, **fields: Any) -> Linked:
    return replace(linked, kernels=(replace(linked.kernels[0], **fields), *linked.kernels[1:]))


def with_flow(linked: Linked, flow: Flow) -> Linked:
    return with_kernel(linked, flow=flow)


def with_converged(run: Run, **fields: Any) -> list[Converged]:
    return [replace(run.looped[0], **fields), *run.looped[1:]]


def undeclared() -> Arguments:
    return (with_flow(RUN.linked, longer(RUN.linked.kernels[0].flow)),)


def endless(flow: Flow) -> Flow:
    """Which goes round where it ended."""
    blocks = {n: replace(b, end=Jump("round")) if EXIT in b.end.successors() else b for n, b in flow.blocks.items()}
    return Flow(flow.entry, {**blocks, "round": Block((), Jump("round")), EXIT: Block((), Stop())})


def two_entries() -> Flow:
    """A loop of two blocks, both of which the entry leads to."""
    back, end = Branch(Guard(Name("%a_p1")), "left", EXIT, True), Block((), Stop())
    left, right = Block((GONE,), Jump("right")), Block((GONE,), back)
    begin = Block((), Branch(Guard(Name("%a_p1")), "left", "right", True))
    return Flow("in", {"in": begin, "left": left, "right": right, EXIT: end})


def without_setters(flow: Flow) -> Flow:
    return flow.with_code(lambda code: (c for c in code if "setp" not in str(c)))


def swapped(flow: Flow) -> Flow:
    """With the code of each block from its end to its beginning."""
    return flow.with_code(lambda code: code[::-1])


def other_states() -> Arguments:
    """The merged kernels, of which the first has ended at the entry by its state."""
    states, begin = dict(STEP.merged.states or {}), STEP.merged.flow.entry
    states[begin] = ProductState({**states[begin].stands, 0: EXIT}, states[begin].runs)
    return replace(STEP.merged, states=states), STEP.candidates[0]


def with_sync_groups(count: int | None = None) -> Merged:
    """The merged blocks, in which so much code of the first kernel keeps its order, all of it by default."""
    blocks = {
        name: replace(b, sync_groups=tuple(((0, i),) for i in range(len(b.parts[0]) if count is None else count)))
        for name, b in RUN.merged.blocks.items()
    }
    return replace(RUN.merged, blocks=blocks)


def without_guards() -> Arguments:
    """The kernels, whose guards nothing sets."""
    kernels = [
        replace(k, range_guard=k.range_guard and replace(k.range_guard, code=())) for k in SKIPPED.shaped.kernels
    ]
    return (replace(SKIPPED.shaped, kernels=tuple(kernels)),)


BROKEN: Mapping[str, Callable[[], Arguments]] = {
    "kernels_have_flows": lambda: (with_flow(RUN.linked, to_nowhere(RUN.linked.kernels[0].flow)),),
    "names_are_separate": lambda: (replace(RUN.linked, kernels=RUN.linked.kernels[:1] * 2),),
    "registers_bear_the_prefix": lambda: (with_kernel(RUN.linked, prefix="b"),),
    "registers_are_declared": undeclared,
    "code_has_its_kernel": lambda: (replace(RUN.linked, kernels=RUN.linked.kernels[::-1]),),
    "guards_are_set": without_guards,
    "converged_have_flows": lambda: (with_converged(RUN, flow=to_nowhere(RUN.looped[0].flow)), RUN.shaped),
    "whole_warps_branch": lambda: ([Converged(k.flow) for k in PARKED.shaped.kernels], PARKED.shaped),
    "converged_registers_are_declared": lambda: (with_converged(RUN, flow=longer(RUN.looped[0].flow)), RUN.shaped),
    "predicates_are_set": lambda: (with_converged(RUN, flow=without_setters(RUN.looped[0].flow)), RUN.shaped),
    "nothing_is_lost": lambda: (with_converged(RUN, flow=shorter(RUN.looped[0].flow)), RUN.shaped),
    "ends_are_reached": lambda: (with_converged(RUN, flow=endless(RUN.looped[0].flow)), RUN.shaped),
    "loops_have_one_entry": lambda: (with_converged(RUN, flow=two_entries()), RUN.shaped),
    "barrier_ids_are_separate": lambda: ([c.flow for c in RUN.looped], RUN.shaped.kernels),
    "slices_are_the_block": lambda: ((replace(STEP.cut[0], flow=swapped(STEP.cut[0].flow)), STEP.cut[1]), STEP.cut),
    "slices_are_short": lambda: (STEP.cut, STEP.cut, SlicingThresholds(8, (8, 8))),
    "merged_has_a_flow": lambda: (replace(STEP.merged, flow=to_nowhere(STEP.merged.flow)), STEP.candidates[0]),
    "states_are_known": lambda: (replace(STEP.merged, states={}), STEP.candidates[0]),
    "paths_are_of_each": other_states,
    "merged_ends_are_reached": lambda: (replace(STEP.merged, flow=endless(STEP.merged.flow)), STEP.candidates[0]),
    "parts_are_the_code": lambda: (replace(RUN.merged, flow=longer(RUN.merged.flow)),),
    "sync_groups_are_of_the_block": lambda: (with_sync_groups(99),),
    "schedule_has_the_code": lambda: (longer(RUN.scheduled), RUN.merged),
    "reads_are_the_same": lambda: (swapped(RUN.scheduled), RUN.merged),
    "sync_groups_keep_their_order": lambda: (swapped(RUN.scheduled), with_sync_groups()),
    "only_reconvergence_is_new": lambda: (longer(RUN.final), RUN.scheduled),
    "instructions_have_origins": lambda: (replace(RUN.woven, origins=RUN.woven.origins[1:]),),
}  # fmt: skip


def test_all_laws_are_broken_here() -> None:
    assert {law.__name__ for laws in LAWS.values() for law in laws} == set(BROKEN)


@pytest.mark.parametrize("name", BROKEN)
def test_a_law_notices_what_breaks_it(name: str) -> None:
    law = next(law for laws in LAWS.values() for law in laws if law.__name__ == name)
    assert law.__doc__
    assert next(law(*BROKEN[name]())).found


REGION = "a_LOOP.region1"
SAME = Branch(Guard(Name("%p")), EXIT, EXIT)


def in_region(**fields: Any) -> Flow:
    flow = PARKED.looped[0].flow
    region = flow.blocks[REGION].region
    assert region
    return changed(flow, REGION, region=replace(region, **fields))


@pytest.mark.parametrize(
    ("flow", "found"),
    [
        (Flow("gone", {EXIT: Block((), Stop())}), "it is not there (A flow has its entry and `exit` among its blocks"),
        (Flow("in", {"in": Block((), Jump("in")), EXIT: Block((), Stop())}), "it leads to the entry `in`"),
        (Flow("in", {"in": Block((), Jump(EXIT)), "end": Block((), Stop()), EXIT: Block((), Stop())}), "ends in Stop"),
        (Flow("in", {"in": Block((), Jump("out")), EXIT: Block((), Stop())}), "`out` is not there"),
        (Flow("in", {"in": Block((), SAME), EXIT: Block((), Stop())}), "both sides are"),
        (changed(PARKED.looped[0].flow, REGION, code=(GONE,)), "it has a region and `mov.u32 %a_gone, 1;`"),
        (in_region(entry="gone"), "the region is entered at `gone`"),
        (in_region(sides=("gone",)), "the sides ['gone'] are not there"),
    ],
)  # fmt: skip
def test_flows(flow: Flow, found: str) -> None:
    broken = with_flow(RUN.linked, flow)
    with pytest.raises(BrokenInvariant, match=f"after the pass link, kernel A, block .*Found: .*{re.escape(found)}"):
        check("link", broken)


def test_sides_of_a_region_are_passed_once() -> None:
    flow = Run.of(HEAD + TWO_SIDES).looped[0].flow
    name, region = next((n, b.region) for n, b in flow.blocks.items() if b.region)
    for sides, found in ((region.sides[:1], "passes none"), ((*region.sides, region.entry), "passes two")):
        problems = [p for law in OF_FLOWS for p in law(changed(flow, name, region=replace(region, sides=sides)))]
        assert any(found in problem.found for problem in problems)


TWO_SIDES = """
.visible .entry one(.param .u64 one_out) {
    .reg .pred %p1; .reg .b32 %r<3>;
    mov.u32 %r1, %laneid;
    setp.lt.u32 %p1, %r1, 16;
    @%p1 bra LOW;
    shfl.sync.idx.b32 %r2, %r1, 31, 31, 0xffff0000;
    bra DONE;
LOW:
    shfl.sync.idx.b32 %r2, %r1, 0, 31, 0xffff;
DONE:
    ret;
}
.visible .entry other() { ret; }
"""


def test_the_message_names_pass_kernel_block_and_law() -> None:
    broken = with_converged(RUN, flow=changed(RUN.looped[0].flow, "entry", end=Jump("gone")))
    with pytest.raises(BrokenInvariant) as error:
        check("converge", broken, RUN.shaped)
    assert str(error.value) == (
        "after the pass converge, kernel A, block entry, this does not hold: Each converged kernel has a flow that is "
        "well formed. Found: `gone` is not there (Each block leads to blocks of the flow, and the two sides of a "
        "branch are two blocks)."
    )


def test_a_pass_that_breaks_a_law_is_noticed_where_that_is_turned_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def forgetting(flow: Flow, diverged: object) -> Flow:
        return shorter(flow)

    monkeypatch.setattr(reconverge, "reconverged", forgetting)
    one, other = (f"{HEAD}{entry}" for entry in TEXT.removeprefix(HEAD).split("\n.visible")[:1] * 2)
    message = r"after the pass reconverge, block .* Nothing but `bar.warp.sync`"
    with checked_passes(), pytest.raises(BrokenInvariant, match=message):
        goptx.weave(one, other)
    with checked_passes(False):
        goptx.weave(one, other)


def test_the_environment_turns_it_on() -> None:
    code = "from goptx.weaving import invariants; print(invariants._checking)"
    for value, printed in (("1", "True"), ("0", "False"), ("", "False"), (None, "False")):
        environment = {n: v for n, v in os.environ.items() if n != invariants.VARIABLE}
        environment |= {} if value is None else {invariants.VARIABLE: value}
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
        assert done.stdout.strip() == printed
