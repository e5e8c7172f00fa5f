"""Device functions in which threads wait for each other, put where they are called."""

import numpy as np
import pytest

import goptx
from goptx.emulator.instructions.lanewise import Array
from goptx.ptx.ir import Function
from goptx.weaving.link.inline import inlined

HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n.shared .align 8 .b8 pool[1024];\n"
BLOCK = 64
DATA = np.arange(BLOCK, dtype=np.int32) * 5 + 1
PARTNER = f"""{HEAD}.visible .entry other(.param .u64 out)
{{
    .reg .b32 %r<6>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd1, %rd1, %rd2;
    shl.b32 %r2, %r1, 2; mov.u32 %r3, pool; add.u32 %r3, %r3, %r2; st.shared.u32 [%r3], %r1; bar.sync 0;
    ld.shared.u32 %r4, [%r3]; st.global.u32 [%rd1], %r4; ret;
}}
"""


def module(functions: str, body: str) -> str:
    """An entry in which %r1 is the thread's number, %r2 its word of `in`, and %r3 is stored behind the body."""
    return f"""{HEAD}{functions}
.visible .entry k(.param .u64 in, .param .u64 out)
{{
    .reg .pred %p<5>; .reg .b16 %h<5>; .reg .b32 %r<20>; .reg .f32 %f<9>; .reg .b64 %rd<9>;
    ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 4;
    add.s64 %rd1, %rd1, %rd3; add.s64 %rd2, %rd2, %rd3; ld.global.u32 %r2, [%rd1]; mov.u32 %r3, 0;
    {body}
    st.global.u32 [%rd2], %r3; ret;
}}
"""


MEET = "mov.u32 %m1, %tid.x; shl.b32 %m1, %m1, 2; mov.u32 %m2, pool; add.u32 %m2, %m2, %m1;"


def exchange(word: str) -> str:
    """%m4 becomes the %m3, set by `word`, of the thread 32 numbers away."""
    return f"""
        .reg .b32 %m<5>; {MEET} {word} st.shared.u32 [%m2], %m3; bar.sync 0; xor.b32 %m1, %m1, 128; mov.u32 %m2, pool;
        add.u32 %m2, %m2, %m1; ld.shared.u32 %m4, [%m2]; bar.sync 0;
    """


LOAD = "ld.param.u32 %m3, [x];"
CALL = "{ .param .b32 p0; .param .b32 q; st.param.b32 [p0], %r2; call.uni (q), f, (p0); ld.param.b32 %r3, [q]; }"
SIMPLE = f".func (.param .b32 y) f(.param .b32 x) {{ {exchange(LOAD)} st.param.b32 [y], %m4; ret; }}"

CASES = {
    "numbers in memory": (SIMPLE, CALL),
    "called twice, and in a loop": (
        SIMPLE,
        f"mov.u32 %r5, 0; L: {CALL} add.u32 %r2, %r2, %r3; {CALL} add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 2;"
        "@%p1 bra L;",
    ),
    "registers": (
        f".func (.reg .u32 y, .reg .u32 z) f(.reg .u32 x, .reg .f32 w) {{ {exchange('mov.u32 %m3, x;')}"
        " add.u32 y, %m4, x; cvt.rzi.u32.f32 z, w; ret; }",
        "call (%r3, %r4), f, (%r2, 0f40E00000); add.u32 %r3, %r3, %r4; call (%r5, %r6), f, (7, 0f00000000);"
        "add.u32 %r3, %r3, %r5;",
    ),
    "a structure": (
        ".func (.param .align 8 .b8 y[8]) f(.param .align 8 .b8 x[16]) { .reg .b32 %v<5>;"
        + exchange("ld.param.v2.u32 {%v1, %v2}, [x]; ld.param.u32 %v3, [x+12]; add.u32 %m3, %v1, %v3;")
        + " st.param.b32 [y], %m4; st.param.b32 [y+4], %v2; ret; }",
        "{ .param .align 8 .b8 p0[16]; .param .align 8 .b8 q[8]; st.param.v2.b32 [p0], {%r2, %r1};"
        "st.param.b32 [p0+12], 3; call (q), f, (p0); ld.param.b32 %r3, [q]; ld.param.b32 %r4, [q+4];"
        "mad.lo.u32 %r3, %r3, 3, %r4; }",
    ),
    "wide and floating numbers": (
        ".func (.param .f32 y) f(.param .u64 x, .param .f64 w) { .reg .f64 %d<3>; .reg .f32 %g<3>; .reg .b64 %x<3>;"
        "ld.param.u64 %x1, [x]; ld.param.f64 %d1, [w]; cvt.rn.f32.f64 %g1, %d1; cvt.rn.f32.u64 %g2, %x1;"
        "add.f32 %g1, %g1, %g2; bar.sync 0; st.param.f32 [y+0], %g1; ret; }",
        "{ .param .b64 p0; .param .f64 p1; .param .f32 q; cvt.u64.u32 %rd5, %r2; st.param.b64 [p0], %rd5;"
        "st.param.f64 [p1], 0d4008000000000000; call (q), f, (p0, p1); ld.param.f32 %f1, [q];"
        "cvt.rzi.u32.f32 %r3, %f1; }",
    ),
    "returns in the middle": (
        f".func (.param .b32 y) f(.param .b32 x) {{ .reg .pred %q<3>;"
        f"{exchange(LOAD)} setp.gt.u32 %q1, %m4, 150; setp.lt.u32 %q2, %m4, 50;"
        " st.param.b32 [y], %m4; @%q1 ret; mul.lo.u32 %m4, %m4, 3; st.param.b32 [y], %m4; @%q2 bra E;"
        " st.param.b32 [y], 1; ret.uni; E: ret; }",
        CALL,
    ),
    "under a guard that the CTA shares": (
        SIMPLE,
        "mov.u32 %r5, %ctaid.x; setp.eq.u32 %p1, %r5, 0; setp.eq.u32 %p2, %r5, 9;"
        + CALL.replace("call.uni", "@%p1 call.uni")
        + CALL.replace("call.uni", "@!%p2 call").replace("ld.param.b32 %r3", "ld.param.b32 %r4")
        + "add.u32 %r3, %r3, %r4;",
    ),
    "functions within functions, names alike": (
        SIMPLE
        + ".func (.param .b32 q) g(.param .b32 p0) { .reg .b32 %r<4>; .reg .b32 %m<3>; ld.param.u32 %r1, [p0];"
        "mov.u32 %m1, 9;"
        "{ .reg .b32 %r<3>; .param .b32 p0; .param .b32 y; mov.u32 %r1, 4; st.param.b32 [p0], %r1;"
        " call (y), f, (p0); ld.param.b32 %r2, [y]; mov.u32 %m2, %r2; }"
        " add.u32 %r1, %r1, %m1; add.u32 %r1, %r1, %m2; vote.sync.ballot.b32 %m2, 1, -1; st.param.b32 [q], %r1; ret; }",
        CALL.replace(" f,", " g,"),
    ),
    "a function that calls another, in braces": (
        ".func (.param .b32 q) plain(.param .b32 p) { .reg .b32 %r<3>; ld.param.u32 %r1, [p]; mul.lo.u32 %r2, %r1, 3;"
        "st.param.b32 [q], %r2; ret; }\n"
        f".func (.param .b32 y) f(.param .b32 x) {{ {exchange(LOAD)} {{ .param .b32 p; .param .b32 q;"
        "st.param.b32 [p], %m4; call.uni (q), plain, (p); ld.param.b32 %m4, [q]; } st.param.b32 [y], %m4; ret; }",
        CALL,
    ),
    "a register has the name of what the caller passes": (
        ".func (.param .b32 y) f(.param .b32 x) { .reg .b32 p0; .reg .b32 q; ld.param.u32 p0, [x]; add.u32 q, p0, 1;"
        "bar.sync 0; st.param.b32 [y], q; ret; }",
        CALL,
    ),
    "shared memory of the function, which one call leaves for the next": (
        ".func (.reg .b32 y) f(.reg .b32 x, .reg .b32 first) { .reg .pred %q<3>; .reg .b32 %m<3>;"
        ".shared .b32 pool[64]; mov.u32 %m1, %tid.x; shl.b32 %m1, %m1, 2; mov.u32 %m2, pool;"
        "add.u32 %m1, %m1, %m2; setp.ne.u32 %q1, first, 0;"
        "@%q1 st.shared.u32 [%m1], x; { .shared .b32 sum; setp.eq.u32 %q2, %m1, %m2; mov.u32 y, 9; bar.sync 0;"
        "@%q2 st.shared.u32 [sum], y; bar.sync 0; ld.shared.u32 y, [sum]; } ld.shared.u32 %m1, [%m1];"
        "add.u32 y, y, %m1; ret; }",
        "call (%r3), f, (%r2, 1); add.u32 %r2, %r2, 1; call (%r4), f, (%r2, 0); mad.lo.u32 %r3, %r3, 3, %r4;",
    ),
    "without parameters": (
        ".func f() { bar.sync 0; ret; }\n.func g { bar.warp.sync -1; ret; }",
        "call f; call.uni f, (); call g; mov.u32 %r3, %r2;",
    ),
    "warp instructions": (
        ".func (.reg .b32 y) f(.reg .b32 x) { .reg .b32 %s<3>; shfl.sync.bfly.b32 %s1, x, 3, 31, -1;"
        "add.u32 y, x, %s1; ret; }",
        "call (%r3), f, (%r2);",
    ),
    "an mbarrier": (
        ".func f(.reg .b32 at) { .reg .pred %q; .reg .b64 %s; mbarrier.arrive.shared.b64 %s, [at];"
        " W: mbarrier.test_wait.shared.b64 %q, [at], %s; @!%q bra W; ret; }",
        "setp.eq.u32 %p1, %r1, 0; @%p1 mbarrier.init.shared.b64 [pool], 64; bar.sync 0; mov.u32 %r5, pool;"
        "call f, (%r5); mov.u32 %r3, %r2;",
    ),
    "a switch": (
        f".func (.param .b32 y) f(.param .b32 x) {{ {exchange(LOAD)}"
        " and.b32 %m3, %m3, 1; T: .branchtargets A, B; brx.idx %m3, T; A: add.u32 %m4, %m4, 10;"
        " B: st.param.b32 [y], %m4; ret; }",
        CALL,
    ),
}  # fmt: skip


def functions(source: str) -> list[str]:
    return [f.name for f in goptx.read(source).functions if not f.is_entry]


def alone(source: str, entry: str, *data: Array) -> list[int]:
    out = np.zeros(BLOCK, np.int32)
    goptx.emulate(source, 1, BLOCK, [*data, out], entry=entry, races=True)
    return [int(v) for v in out]


@pytest.mark.parametrize("name", CASES)
def test_it_does_what_the_call_did(name: str, assembles: object) -> None:
    source = module(*CASES[name])
    woven = goptx.weave(source, PARTNER)
    assert functions(woven.ptx) == ["plain"] * ("plain" in source)
    outs: list[Array] = [np.zeros(BLOCK, np.int32) for _ in range(2)]
    goptx.emulate(woven, 1, BLOCK, [[DATA, outs[0]], [outs[1]]], races=True)
    assert outs[0].tolist() == alone(source, "k", DATA)
    assert len(set(outs[0].tolist())) > 1
    assert outs[1].tolist() == alone(PARTNER, "other")
    assert callable(assembles)
    assembles(woven)


def test_shared_memory_of_a_function_stands_once() -> None:
    woven = goptx.weave(module(*CASES["shared memory of the function, which one call leaves for the next"]), PARTNER)
    assert woven.ptx.count(".shared .b32 a_pool__f[64];") == 1
    assert len([text for text in woven.ptx.splitlines() if ".shared .b32" in text]) == 2


def test_numbers_are_passed_in_registers() -> None:
    """So that a function's loop may be as uniform as what it was called with."""
    assert ".local" not in goptx.weave(module(*CASES["numbers in memory"]), PARTNER).ptx
    assert ".local .align 8 .b8" in goptx.weave(module(*CASES["a structure"]), PARTNER).ptx


def test_a_result_that_nobody_takes() -> None:
    source = module(".func (.reg .b32 y) f(.reg .b32 x) { bar.sync 0; mov.u32 y, x; ret; }", "call (_), f, (%r2);")
    assert "y__f_1_s1, a_x__f_1_s1;" in goptx.weave(source, PARTNER).ptx


def test_functions_in_which_nobody_waits_stay_calls() -> None:
    plain = ".func (.reg .b32 y) plain(.reg .b32 x) { add.u32 y, x, 1; ret; }"
    source = module(SIMPLE + plain, f"{CALL} call (%r3), plain, (%r3);")
    assert functions(goptx.weave(source, PARTNER).ptx) == ["plain"]
    assert inlined(goptx.read(module(plain, "call (%r3), plain, (%r2);"))) == goptx.read(
        module(plain, "call (%r3), plain, (%r2);")
    )


def test_entries_of_one_module_still_share_its_state() -> None:
    source = module(SIMPLE + "\n.global .b32 count;", f"{CALL} red.global.add.u32 [count], 1;")
    woven = goptx.weave(source, source)
    assert woven.ptx.count(".global .align 4 .b32 count;") + woven.ptx.count(".global .b32 count;") == 1


def test_messages_name_the_functions_own_line() -> None:
    source = module(".func f(.reg .b32 x) {\nbar.sync x;\nret; }", "and.b32 %r5, %r1, 1; call f, (%r5);")
    with pytest.raises(
        goptx.errors.CannotWeave, match=r"<ptx>:6: kernel A \(`k`\): `bar.sync .*` takes its barrier id"
    ):
        goptx.weave(source, PARTNER)


def test_a_call_that_does_not_fit_its_function_stays() -> None:
    """It is not for goptx to say what ptxas will."""
    source = module(SIMPLE, "call f, (%r2);")
    (entry,) = (i for i in inlined(goptx.read(source)).items if isinstance(i, Function) and i.is_entry)
    assert "call f, (%r2);" in str(entry)
