"""Which loops may wait for other threads, and for which reads."""

import pytest
from bodies import HEAD, flow

from goptx.analysis.build_cfg import flow_as_written
from goptx.analysis.sync.spin_loops import strong_reads_of_functions, waiting_loops, waiting_recursion
from goptx.ptx.parse import parse

AROUND = "setp.eq.u32 %p1, %r5, 0; @%p1 bra L; ret;"
OWN = ".local .b8 own[32]; mov.u64 %rd5, own; cvta.local.u64 %rd6, %rd5; "

WAITS = {
    "volatile": "L: ld.volatile.shared.u32 %r5, [tile];",
    "relaxed": "L: ld.relaxed.cta.global.u32 %r5, [%rd1];",
    "acquire": "L: ld.acquire.gpu.u32 %r5, [%rd1];",
    "mmio": "L: ld.mmio.relaxed.sys.global.u32 %r5, [%rd1];",
    "an atomic": "L: atom.global.cas.b32 %r5, [%rd1], 0, 1;",
    "an atomic that adds": "L: atom.global.add.u32 %r5, [%rd1], 1;",
    "ld.cv": "L: ld.global.cv.u32 %r5, [%rd1];",
    "ld.cg": "L: ld.global.cg.u32 %r5, [%rd1];",
    "an address that is computed again": "L: add.s64 %rd2, %rd1, 8; ld.global.cg.u32 %r5, [%rd2];",
    "by steps of what is loaded":
        "L: ld.global.cv.u32 %r5, [%rd1]; mul.wide.u32 %rd2, %r5, 4; add.s64 %rd1, %rd1, %rd2;",
    "a step in one way around":
        "L: ld.global.cv.u32 %r5, [%rd1]; setp.gt.u32 %p2, %r5, 9; @!%p2 bra N; add.s64 %rd1, %rd1, 4; N:",
    "a step under a guard": "setp.gt.u32 %p2, %r6, 9; L: ld.global.cv.u32 %r5, [%rd1]; @%p2 add.s64 %rd1, %rd1, 4;",
    "a guarded step": "L: ld.global.cv.u32 %r5, [%rd1]; setp.gt.u32 %p2, %r5, 9; @%p2 add.s64 %rd1, %rd1, 4;",
    "round and round":
        "L: ld.global.cg.u32 %r5, [%rd2]; add.u32 %r6, %r6, 1; and.b32 %r6, %r6, 7; mul.wide.u32 %rd3, %r6, 4;"
        "add.s64 %rd2, %rd1, %rd3;",
    "by a predicate": "L: ld.volatile.shared.u32 %r6, [tile]; setp.ne.u32 %p2, %r6, 3; selp.u32 %r5, 0, 1, %p2;",
    "by a vote": "L: ld.volatile.shared.u32 %r6, [tile]; setp.ne.u32 %p2, %r6, 3; vote.sync.any.pred %p3, %p2, -1;"
        "selp.u32 %r5, 0, 1, %p3;",
    "in several blocks":
        "L: ld.volatile.shared.u32 %r6, [tile]; setp.ne.u32 %p2, %r6, 3; @%p2 bra N; mov.u32 %r5, 1; N:",
    "by a carry": "L: ld.volatile.shared.u32 %r6, [tile]; add.cc.u32 %r7, %r6, -1; addc.u32 %r5, 0, 0;",
    "by the stack":
        OWN + "L: ld.volatile.shared.u32 %r6, [tile]; st.local.u32 [own+8], %r6; ld.local.u32 %r5, [own+8];",
    "by the stack, by another address":
        OWN + "L: ld.volatile.shared.u32 %r6, [tile]; st.u32 [%rd6+8], %r6; ld.local.u32 %r5, [%rd5+8];",
    "by a part of what was stored":
        OWN + "L: ld.volatile.shared.u64 %rd7, [tile]; st.local.u64 [own+8], %rd7; ld.local.u32 %r5, [own+12];",
    "by the stack at an index": OWN + "L: ld.volatile.shared.u32 %r6, [tile]; mul.wide.u32 %rd7, %r3, 4;"
        "add.s64 %rd7, %rd6, %rd7; st.u32 [%rd7], %r6; ld.local.u32 %r5, [own+8];",
    "by an address that was given away": OWN + "st.global.u64 [%rd1], %rd6; L: ld.volatile.shared.u32 %r6, [tile];"
        "ld.global.u64 %rd7, [%rd1]; st.u32 [%rd7], %r6; ld.local.u32 %r5, [own+8];",
    "by shared memory": "L: ld.acquire.gpu.global.u32 %r6, [%rd1]; st.shared.u32 [tile], %r6; bar.sync 0;"
        "ld.shared.u32 %r5, [tile];",
    "by whether it is stored": "L: ld.acquire.gpu.global.u32 %r6, [%rd1]; setp.eq.u32 %p2, %r6, 0; @%p2 bra N;"
        "st.shared.u32 [tile], 1; N: ld.shared.u32 %r5, [tile];",
    "by a reload":
        "L: ld.acquire.gpu.global.u32 %r6, [%rd1]; st.global.u32 [%rd1+8], %r6; ld.global.u32 %r5, [%rd1+8];",
}  # fmt: skip
WAITS_FOR_NOBODY = {
    "plain": "L: ld.global.u32 %r5, [%rd1];",
    "read-only": "L: ld.global.nc.cg.u32 %r5, [%rd1];",
    "the thread's own": "L: ld.volatile.local.u32 %r5, [%rd1];",
    "ld.cg of the next word": "L: ld.global.cg.u32 %r5, [%rd1]; add.s64 %rd1, %rd1, 4;",
    "ld.cv of the word before": "L: ld.global.cv.u32 %r5, [%rd1]; sub.s64 %rd1, %rd1, 4;",
    "ld.cg at a counter": "mov.u32 %r6, %tid.x; L: mov.u32 %r7, %r6; cvt.s64.s32 %rd2, %r7; shl.b64 %rd2, %rd2, 2;"
        "add.s64 %rd3, %rd1, %rd2; ld.global.cg.u32 %r5, [%rd3]; add.s32 %r8, %r7, 1; mov.u32 %r6, %r8;",
    "a list": "L: ld.global.cg.u32 %r5, [%rd1]; ld.global.cg.u64 %rd1, [%rd1+8];",
    "what decides something else":
        "L: atom.global.add.u32 %r6, [%rd1], 1; st.global.u32 [%rd2], %r6; add.u32 %r5, %r5, 1;",
    "a reduction": "L: red.relaxed.gpu.global.add.u32 [%rd1], 1; ld.global.u32 %r5, [%rd1];",
    "another word of the stack":
        OWN + "L: ld.volatile.shared.u32 %r6, [tile]; st.u32 [%rd6+8], %r6; ld.local.u32 %r5, [own+12];",
    "a store to memory that is not the stack":
        OWN + "ld.param.u64 %rd7, [k_out]; L: ld.volatile.shared.u32 %r6, [tile];"
        "st.u32 [%rd7], %r6; ld.local.u32 %r5, [own+12];",
    "a store to another array": "ld.param.u64 %rd7, [k_out]; ld.param.u64 %rd8, [k_in];"
        "L: atom.global.cas.b32 %r6, [%rd7], 0, 1; st.global.u32 [%rd7+8], %r6; ld.global.u32 %r5, [%rd8];",
    "a drawn number in shared memory": "L: bar.sync 0; atom.global.add.u32 %r6, [%rd1], 1; st.shared.u32 [tile], %r6;"
        "bar.sync 0; ld.shared.u32 %r5, [tile];",
}  # fmt: skip


@pytest.mark.parametrize("name", WAITS)
def test_a_loop_that_may_wait(name: str) -> None:
    assert list(waiting_loops(flow(WAITS[name] + AROUND)))


@pytest.mark.parametrize("name", WAITS_FOR_NOBODY)
def test_a_loop_that_does_not_wait(name: str) -> None:
    assert not list(waiting_loops(flow(WAITS_FOR_NOBODY[name] + AROUND)))


def test_every_read_that_decides_is_named() -> None:
    """One of them could be answered by another CTA."""
    body = (
        "L: ld.volatile.shared.u32 %r5, [tile]; ld.acquire.gpu.global.u32 %r6, [%rd1]; add.u32 %r5, %r5, %r6;" + AROUND
    )
    assert [str(i).split()[0] for _, i in waiting_loops(flow(body))] == [
        "ld.volatile.shared.u32",
        "ld.acquire.gpu.global.u32",
    ]
    one_register = body.replace("%r6, [%rd1]; add.u32 %r5, %r5, %r6", "%r5, [%rd1]")
    assert len(list(waiting_loops(flow(one_register)))) == 2


def test_in_a_piece_of_a_flow_other_code_may_have_an_address() -> None:
    body = "L: ld.volatile.shared.u32 %r6, [tile]; st.local.u32 [%rd6+4], %r6; ld.local.u32 %r5, [own+4];" + AROUND
    assert not list(waiting_loops(flow(".local .b8 own[32];" + body)))
    assert list(waiting_loops(flow(".local .b8 own[32];" + body), piece=True))


FUNCTIONS = """
.func (.param .b32 r) peek(.param .b64 p)
{ .reg .b64 %a; .reg .b32 %x; ld.param.u64 %a, [p]; ld.volatile.u32 %x, [%a]; st.param.b32 [r], %x; ret; }
.func (.param .b32 r) peek2(.param .b64 p)
{ .reg .b64 %a; .reg .b32 %x; ld.param.u64 %a, [p];
  { .param .b64 q; .param .b32 s; st.param.b64 [q], %a; call.uni (s), peek, (q); ld.param.b32 %x, [s]; }
  st.param.b32 [r], %x; ret; }
.func (.reg .b32 r) swap(.reg .b64 p) { atom.global.exch.b32 r, [p], 1; ret; }
.func (.param .b32 r) whether(.param .b64 p)
{ .reg .b64 %a; .reg .b32 %x; .reg .pred %q; ld.param.u64 %a, [p]; ld.relaxed.gpu.u32 %x, [%a];
  setp.eq.u32 %q, %x, 0; @%q bra N; st.param.b32 [r], 1; ret; N: st.param.b32 [r], 0; ret; }
.func leave(.param .b64 p, .param .b64 to)
{ .reg .b64 %a; .reg .b32 %x; ld.param.u64 %a, [p]; ld.global.cv.u32 %x, [%a]; ld.param.u64 %a, [to];
  st.u32 [%a], %x; ret; }
.func count(.param .b64 p) { .reg .b64 %a; .reg .b32 %x; ld.param.u64 %a, [p]; atom.add.u32 %x, [%a], 1; ret; }
.func (.param .b32 r) plain(.param .b64 p)
{ .reg .b64 %a; .reg .b32 %x; ld.param.u64 %a, [p]; ld.u32 %x, [%a]; st.param.b32 [r], %x; ret; }
.func again(.param .b64 p)
{ .reg .b64 %a; .reg .b32 %x; .reg .pred %q; ld.param.u64 %a, [p]; ld.volatile.u32 %x, [%a];
  setp.ne.u32 %q, %x, 0; @%q ret; { .param .b64 s; st.param.b64 [s], %a; call.uni again, (s); } ret; }
.func adds(.param .b64 p)
{ .reg .b64 %a; .reg .b32 %x, %y; .reg .pred %q; ld.param.u64 %a, [p]; atom.add.u32 %y, [%a], 1; ld.u32 %x, [%a+4];
  setp.ne.u32 %q, %x, 0; @%q ret; { .param .b64 s; st.param.b64 [s], %a; call.uni adds, (s); } ret; }
"""
MODULE = parse(HEAD + FUNCTIONS)
BODIES = {f.name: f for f in MODULE.functions}
FLOWS = {name: flow_as_written(f.body) for name, f in BODIES.items()}
FUNCTION_READS = strong_reads_of_functions(FLOWS, BODIES)


def test_strong_reads_of_functions() -> None:
    assert sorted(FUNCTION_READS) == ["again", "leave", "peek", "peek2", "swap", "whether"]
    assert FUNCTION_READS["peek"] == FUNCTION_READS["peek2"]


def called(name: str) -> str:
    return (
        f"{{ .param .b64 p; st.param.b64 [p], %rd1; .param .b32 r; call.uni (r), {name}, (p); ld.param.b32 %r5, [r]; }}"
    )


@pytest.mark.parametrize(("code", "waits"), [
    (f"L: {called('peek')}", True),
    (f"L: {called('peek2')}", True),
    (f"L: {called('whether')}", True),
    (f"L: {called('plain')}", False),
    ("L: call (%r5), swap, (%rd1);", True),
    (f"{called('peek')} mov.u32 %r6, %r5; L: add.u32 %r5, %r5, 1;", False),  # before the loop
    (f"L: {called('peek')} mov.u32 %r5, 1;", True),  # by the register, whatever comes last
    (f"L: {called('peek').replace('%r5', '%r6')} add.u32 %r5, %r5, 1;", False),
    (f"L: {called('peek').replace('%r5', '%r6')} {called('plain')}", True),  # it may read what the other left
    ("L: { .param .b64 p; st.param.b64 [p], %rd1; call.uni count, (p); } add.u32 %r5, %r5, 1;", False),
    (OWN + "L: { .param .b64 p; .param .b64 q; st.param.b64 [p], %rd1; st.param.b64 [q], %rd6; call leave, (p, q); }"
     "ld.local.u32 %r5, [own];", True),
    ("L: { .param .b64 p; st.param.b64 [p], %rd1; .param .b32 r; "
     "t: .callprototype (.param .b32 _) _ (.param .b64 _); call (r), %rd2, (p), t; ld.param.b32 %r5, [r]; }", True),
])  # fmt: skip
def test_loops_around_calls(code: str, waits: bool) -> None:
    assert bool(list(waiting_loops(flow(code + AROUND), FUNCTION_READS))) == waits


def test_functions_that_call_themselves() -> None:
    assert list(waiting_recursion(FLOWS["again"], FUNCTION_READS, frozenset(["again"])))
    assert not list(waiting_recursion(FLOWS["adds"], FUNCTION_READS, frozenset(["adds"])))
    assert not list(waiting_recursion(FLOWS["peek2"], FUNCTION_READS, frozenset()))
