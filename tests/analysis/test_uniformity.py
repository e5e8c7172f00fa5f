"""One test for each rule about values that are the same for all threads."""

from pathlib import Path

import pytest
from bodies import flow

from goptx.analysis.build_cfg import flow_as_written
from goptx.analysis.cfg import Block, Flow, Region
from goptx.analysis.terminators import Branch, Jump
from goptx.analysis.uniformity import Uniformity, joined, uniformity
from goptx.launch.shape import Shape
from goptx.ptx.parse import parse

CTA, WARP_DATA, WARP, DATA, DIVERGENT = Uniformity
KERNELS = Path(__file__).parents[2] / "examples" / "kernels"


def of(code: str, register: str = "%r1") -> Uniformity:
    """How uniform a register is after straight code."""
    return uniformity(flow(f"{code} ret;")).of(register)


TID = "mov.u32 %r9, %tid.x; setp.lt.u32 %p9, %r9, 7;"  # %p9 differs from lane to lane
LOADED = "ld.global.u32 %r8, [%rd1]; setp.lt.u32 %p8, %r8, 7;"  # %p8 depends on data
FIXED = "mov.u32 %r7, %ctaid.x; setp.lt.u32 %p7, %r7, 7;"  # %p7 is the same in the CTA
VOTED = f"{TID} vote.sync.any.pred %p6, %p9, -1;"  # %p6 is the same in the warp


def test_the_levels_have_an_order() -> None:
    assert CTA < WARP_DATA < WARP < DATA < DIVERGENT


@pytest.mark.parametrize("one", Uniformity)
@pytest.mark.parametrize("other", Uniformity)
def test_a_value_that_depends_on_both_is_no_more_uniform_than_either(one: Uniformity, other: Uniformity) -> None:
    joined = one.joined(other)
    assert joined == other.joined(one) >= max(one, other)
    assert (joined == max(one, other)) == ({one, other} != {WARP, DATA})


WARP_NUMBER = "mov.u32 %r2, %tid.x; shr.u32 %r3, %r2, 5; shfl.sync.idx.b32 %r4, %r3, 0, 31, -1;"


@pytest.mark.parametrize(
    ("code", "alike"),
    [
        (f"{WARP_NUMBER} mov.u32 %r1, %r4;", WARP),
        (f"{WARP_NUMBER} ld.global.u32 %r5, [%rd1]; add.u32 %r1, %r4, %r5;", DIVERGENT),
        (f"{WARP_NUMBER} ld.shared.u32 %r1, [%r4];", DIVERGENT),
        ("ld.global.u32 %r5, [%rd1]; shfl.sync.idx.b32 %r1, %r5, 0, 31, -1;", WARP_DATA),
        (f"{LOADED} vote.sync.any.pred %p1, %p8, -1; selp.u32 %r1, 1, 2, %p1;", WARP_DATA),
        (f"{FIXED} vote.sync.ballot.b32 %r1, %p7, -1;", WARP),
        (f"{LOADED} redux.sync.add.u32 %r1, %r8, -1;", WARP),
        (f"{LOADED} @%p8 vote.sync.any.pred %p1, %p8, -1; selp.u32 %r1, 1, 2, %p1;", DIVERGENT),
    ],
)
def test_known_variation_does_not_depend_on_the_input(code: str, alike: Uniformity) -> None:
    """A shuffle of the warp's number differs from warp to warp whatever the input is; loaded data may not."""
    assert of(code) == alike


@pytest.mark.parametrize("shape", [None, Shape(4, 64)])
@pytest.mark.parametrize(
    ("code", "alike"),
    [
        ("mov.u32 %r9, %tid.x; add.cc.u32 %r8, %r9, -7; addc.u32 %r1, 0, 0;", DIVERGENT),
        ("ld.global.u32 %r9, [%rd1]; sub.cc.u32 %r8, %r9, 7; subc.u32 %r1, 0, 0;", DATA),
        ("mov.u32 %r9, %ctaid.x; add.cc.u32 %r8, %r9, -7; addc.u32 %r1, 0, 0;", CTA),
        ("mov.u32 %r9, %tid.x; add.cc.u32 %r8, %r9, -7; addc.cc.u32 %r7, 0, 0; madc.lo.u32 %r1, 2, 2, 0;", DIVERGENT),
        ("mov.u32 %r9, %tid.x; add.cc.u32 %r8, %r9, -7; addc.u32 %r7, 0, 0; add.u32 %r1, 2, 2;", CTA),
    ],
)
def test_the_carry_flag_is_as_uniform_as_what_sets_it(code: str, alike: Uniformity, shape: Shape | None) -> None:
    assert uniformity(flow(f"{code} ret;"), shape=shape).of("%r1") == alike


@pytest.mark.parametrize(
    "code",
    [
        "mov.u32 %r1, 5;",
        "mov.u32 %r1, %ctaid.x;",
        "mov.u32 %r1, %ntid.y;",
        "mov.u32 %r1, %nctaid.z;",
        "mov.u32 %r1, tile;",
        "ld.param.u32 %r1, [k_n];",
        "mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.u32 %r1, %r2, %r3, 4;",
        "ld.param.u64 %rd2, [k_in]; ld.global.nc.u32 %r1, [%rd2+4];",
        "mov.u32 %r2, %ctaid.x; ld.const.u32 %r1, [%r2];",
        "ld.param.u32 %r2, [k_n]; setp.lt.u32 %p1, %r2, 5; selp.u32 %r1, 1, 2, %p1;",
        f"{FIXED} @%p7 mov.u32 %r1, 1;",
    ],
)
def test_cta_uniform_values(code: str) -> None:
    assert of(code) == CTA


@pytest.mark.parametrize(
    "register",
    "%tid.x %tid.z %laneid %warpid %lanemask_lt %clock %clock_hi %globaltimer_lo %smid".split(),
)
def test_registers_that_differ_between_threads(register: str) -> None:
    assert of(f"mov.u32 %r1, {register};") == DIVERGENT
    assert of(f"mov.u32 %r2, {register}; add.u32 %r3, %r2, 1; xor.b32 %r1, %r3, 5;") == DIVERGENT


@pytest.mark.parametrize(
    "load",
    [
        "ld.global.u32 %r1, [%rd1];",
        "ld.volatile.global.u32 %r1, [%rd1];",
        "ld.shared.u32 %r1, [tile];",
        "ld.u32 %r1, [%rd1];",
        "ldu.global.u32 %r1, [%rd1];",
        "tex.1d.v4.u32.s32 {%r1, %r2, %r3, %r4}, [image, {%r5}];",
    ],
)
def test_what_memory_holds_is_data(load: str) -> None:
    assert of(load) == DATA
    assert of(f"{load} add.u32 %r6, %r1, 1;", "%r6") == DATA


@pytest.mark.parametrize("load", ["ld.global", "ld.global.nc", "ld.const", "ld.param", "ld.shared"])
def test_loads_from_divergent_addresses_are_divergent(load: str) -> None:
    assert of(f"mov.u32 %r9, %tid.x; cvt.u64.u32 %rd2, %r9; {load}.u32 %r1, [%rd2];") == DIVERGENT


def test_a_load_of_constant_memory_gives_as_much_as_its_address() -> None:
    assert of("ld.global.u32 %r2, [%rd1]; cvt.u64.u32 %rd2, %r2; ld.global.nc.u32 %r1, [%rd2];") == DATA
    assert of("ld.volatile.const.u32 %r1, [%rd1];") == DATA


def test_atomics_give_each_thread_another_value() -> None:
    assert of("atom.global.add.u32 %r1, [%rd1], 1;") == DIVERGENT


# warps -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mask", ["-1", "0xffffffff", "0xFFFFFFFF", "4294967295"])
@pytest.mark.parametrize(
    "vote",
    [
        "vote.sync.ballot.b32 %r1, %p9, {mask};",
        "vote.sync.any.pred %p1, %p9, {mask}; selp.u32 %r1, 1, 2, %p1;",
        "vote.sync.all.pred %p1, !%p9, {mask}; selp.u32 %r1, 1, 2, %p1;",
        "redux.sync.add.u32 %r1, %r9, {mask};",
    ],
)
def test_votes_of_all_lanes_are_warp_uniform(vote: str, mask: str) -> None:
    assert of(TID + vote.format(mask=mask)) == WARP


@pytest.mark.parametrize(
    "operation",
    [
        "vote.sync.ballot.b32 %r1, %p9, 0xffff;",
        "vote.sync.ballot.b32 %r1, %p9, %r3;",
        "redux.sync.add.u32 %r1, %r9, 0x0000ffff;",
        "vote.ballot.b32 %r1, %p9;",
        "match.any.sync.b32 %r1, %r9, -1;",
        "shfl.sync.bfly.b32 %r1, %r9, 1, 31, -1;",
        "shfl.sync.idx.b32 %r1, %r9, %r9, 31, -1;",
        "shfl.sync.idx.b32 %r1, %r9, 0, 0x181f, -1;",  # segments of 8 lanes
        "shfl.sync.idx.b32 %r1, %r9, 0, 31, 0xffff;",
        "elect.sync %r1|%p1, -1; selp.u32 %r1, 1, 2, %p1;",
        "activemask.b32 %r1;",
        "@%p9 vote.sync.ballot.b32 %r1, %p9, -1;",
    ],
)
def test_other_warp_operations_are_divergent(operation: str) -> None:
    assert of(TID + operation) == DIVERGENT


@pytest.mark.parametrize("segments", ["31", "0x1f"])
@pytest.mark.parametrize("result", ["%r1", "%r1|%p2"])
def test_a_shuffle_from_one_lane_is_warp_uniform(result: str, segments: str) -> None:
    assert of(f"{TID} shfl.sync.idx.b32 {result}, %r9, 0, {segments}, -1;") == WARP


def test_a_vote_under_divergent_control_is_divergent() -> None:
    body = "{when} @%p{p} bra SKIP; vote.sync.ballot.b32 %r1, %p1, -1; SKIP: mov.u32 %r2, 0; ret;"
    assert uniformity(flow(body.format(when=FIXED, p=7))).of("%r1") == WARP
    assert uniformity(flow(body.format(when=VOTED, p=6))).of("%r1") == WARP
    assert uniformity(flow(body.format(when=TID, p=9))).of("%r1") == DIVERGENT
    assert uniformity(flow(body.format(when=LOADED, p=8))).of("%r1") == DIVERGENT


# barriers ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["bar.red", "barrier.red", "bar.cta.red", "barrier.cta.red"])
def test_a_reduction_over_the_cta_is_cta_uniform(word: str) -> None:
    assert of(f"{TID} {word}.popc.u32 %r1, 0, %p9;") == CTA


def test_a_reduction_under_a_warps_control_is_no_more_uniform_than_that() -> None:
    body = f"{VOTED} @%p6 bra SKIP; bar.red.popc.u32 %r1, 0, %p9; SKIP: mov.u32 %r2, 0; ret;"
    assert uniformity(flow(body)).of("%r1") == WARP


def test_a_counted_reduction_holds_among_its_participants_only() -> None:
    assert of(f"{TID} bar.red.popc.u32 %r1, 0, 64, %p9;") > CTA


def test_a_guarded_reduction_is_as_uniform_as_its_guard() -> None:
    assert of(f"{TID} mov.u32 %r1, 0; @%p9 bar.red.popc.u32 %r1, 0, %p9;") == DIVERGENT


# control -----------------------------------------------------------------------------------------------

IF = "{when} mov.u32 %r1, 0; @%p{p} bra SKIP; mov.u32 %r1, 1; SKIP: mov.u32 %r2, %r1; ret;"


@pytest.mark.parametrize(
    ("when", "p", "expected"), [(FIXED, 7, CTA), (VOTED, 6, WARP), (LOADED, 8, DATA), (TID, 9, DIVERGENT)]
)
def test_a_value_is_as_uniform_as_the_branch_that_decides_it(when: str, p: int, expected: Uniformity) -> None:
    found = uniformity(flow(IF.format(when=when, p=p)))
    assert found.of("%r1") == found.of("%r2") == expected
    assert found.branches["entry"] == expected
    assert found.branches["SKIP"] == CTA  # a jump


def test_control_goes_through_nested_branches() -> None:
    body = f"{TID} {FIXED} @%p9 bra SKIP; mov.u32 %r2, 0; @%p7 bra SKIP; mov.u32 %r1, 1; SKIP: mov.u32 %r3, 2; ret;"
    found = uniformity(flow(body))
    assert found.of("%r1") == found.of("%r2") == DIVERGENT
    assert found.of("%r3") == CTA


def test_a_branch_on_a_value_that_differs_makes_the_next_differ() -> None:
    """The fixpoint: later blocks change the results for earlier ones."""
    body = """
        mov.u32 %r1, 0; mov.u32 %r2, 0;
        TOP: setp.eq.u32 %p1, %r2, 3; @%p1 bra OUT;
        add.u32 %r1, %r1, 1; mov.u32 %r2, %r3; mov.u32 %r3, %tid.x; setp.lt.u32 %p2, %r1, 9; @%p2 bra TOP;
        OUT: mov.u32 %r4, %r1; ret;
    """
    found = uniformity(flow(body))
    assert found.branches["TOP"] == DIVERGENT
    assert found.of("%r1") == found.of("%r4") == DIVERGENT


@pytest.mark.parametrize(("step", "expected"), [("5", CTA), ("%r8", DATA), ("%r9", DIVERGENT)])
def test_values_leaving_a_loop_are_as_uniform_as_its_end(step: str, expected: Uniformity) -> None:
    body = f"""
        {TID} {LOADED} mov.u32 %r1, 0; mov.u32 %r2, 0;
        TOP: add.u32 %r1, %r1, 1; add.u32 %r2, %r2, {step}; setp.lt.u32 %p1, %r2, 100; @%p1 bra TOP;
        mov.u32 %r3, %r1; mov.u32 %r4, 4; ret;
    """
    found = uniformity(flow(body))
    assert found.of("%r1") == found.of("%r3") == expected
    assert found.branches["TOP"] == expected
    assert found.of("%r4") == CTA


def test_after_an_early_return_of_some_lanes_values_differ() -> None:
    found = uniformity(flow(f"{TID} @%p9 ret; mov.u32 %r1, 1; ret;"))
    assert found.of("%r1") == DIVERGENT


@pytest.mark.parametrize(("guard", "expected"), [("%p7", CTA), ("%p6", WARP), ("%p8", DATA), ("%p9", DIVERGENT)])
def test_a_guarded_definition_is_as_uniform_as_its_guard(guard: str, expected: Uniformity) -> None:
    assert of(f"{FIXED} {LOADED} {VOTED} mov.u32 %r1, 0; @!{guard} mov.u32 %r1, 1;") == expected


def test_registers_are_not_ssa() -> None:
    assert of("mov.u32 %r1, %tid.x; st.global.u32 [%rd1], %r1; mov.u32 %r1, 0;") == DIVERGENT


@pytest.mark.parametrize(("when", "p", "alike"), [(LOADED, 8, WARP_DATA), (TID, 9, WARP)])
def test_uni_promises_for_the_warp_only(when: str, p: int, alike: Uniformity) -> None:
    found = uniformity(flow(IF.format(when=when, p=p).replace(" bra ", " bra.uni ")))
    assert found.branches["entry"] == alike
    assert found.of("%r1") == alike
    assert uniformity(flow(IF.format(when=FIXED, p=7).replace(" bra ", " bra.uni "))).branches["entry"] == CTA


def test_uni_of_an_indexed_branch() -> None:
    body = f"{TID} LIST: .branchtargets A, B; {{}} %r9, LIST; A: mov.u32 %r1, 1; B: mov.u32 %r2, 2; ret;"
    assert uniformity(flow(body.format("brx.idx"))).branches["entry"] == DIVERGENT
    assert uniformity(flow(body.format("brx.idx.uni"))).branches["entry"] == WARP


# pieces that are moved whole ----------------------------------------------------------------------------


def test_what_a_call_returns_is_divergent() -> None:
    call = "{ .param .b32 p; .param .b32 q; st.param.b32 [p], 1; call.uni (q), f, (p); ld.param.b32 %r1, [q]; }"
    assert of(call) == DIVERGENT


def test_what_a_call_outside_of_braces_returns_is_divergent() -> None:
    call = ".param .b32 p; .param .b32 q; st.param.b32 [p], 1; call.uni (q), f, (p); ld.param.b32 %r1, [q];"
    assert of(call) == DIVERGENT


@pytest.mark.filterwarnings("ignore::goptx.errors.UnknownInstruction")
def test_unknown_instructions_give_anything() -> None:
    assert of("novel.u32 %r1, 5;") == DIVERGENT


def test_what_a_region_writes_is_divergent() -> None:
    found = flow("mov.u32 %r2, 1; ret;")
    inner = flow("mov.u32 %r1, 1; mov.u32 %r3, 2; ret;").blocks["entry"]
    region = Block((), Jump("exit"), region=Region("in", {"in": inner}, "exit"))
    blocks = {
        "entry": Block(found.blocks["entry"].code, Jump("region")),
        "region": region,
        "exit": found.blocks["exit"],
    }
    result = uniformity(Flow("entry", blocks))
    assert result.of("%r1") == result.of("%r3") == DIVERGENT
    assert result.of("%r2") == CTA


def test_components_are_as_uniform_as_their_vector() -> None:
    found = uniformity(flow("mov.u32 %v.x, %tid.x; mov.u32 %w.y, 5; ret;"))
    assert found.of("%v.y") == DIVERGENT
    assert found.of("%w.x") == CTA


@pytest.mark.parametrize("shape", [None, Shape(64, 256)], ids=["any", "known"])
@pytest.mark.parametrize("path", sorted(KERNELS.glob("*.sm_90.ptx")), ids=lambda path: path.name.partition(".")[0])
def test_a_branch_is_as_uniform_as_what_it_reads(path: Path, shape: Shape | None) -> None:
    """Branches are solved from what they depend on alone, registers from all code."""
    written = flow_as_written(parse(path.read_text()).entries[0].body, path.name)
    found = uniformity(written, shape=shape)
    branches = {n: b.end for n, b in written.blocks.items() if isinstance(b.end, Branch) and not b.end.uniform}
    assert branches
    for name, end in branches.items():
        assert found.branches[name] == joined(found.of(register) for register in end.reads())
