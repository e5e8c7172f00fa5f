"""Undefined registers: harmless until they have an effect, then caught, with the register's name."""

import pytest
from emulator.faulty import LOW, TILE
from emulator.threads import agrees, fault, line_of, with_functions

# Code as compilers write it; %r6, %r7, %p5 and %rd3 get their values in some lanes only, or never.
SOME = f"{LOW} @%p1 mov.u32 %r6, %r3;"


@pytest.mark.parametrize("body", [
    # chosen away
    f"{SOME} selp.u32 %r5, %r6, 7, %p1;",
    f"{SOME} add.u32 %r7, %r6, 1; mul.lo.u32 %r7, %r7, %r7; selp.u32 %r5, %r7, 7, %p1; @%p1 mov.u32 %r5, %r6;",
    f"{SOME} mov.u32 %r5, 7; @%p1 mov.u32 %r5, %r6;",
    # not stored by those who lack it
    f"{SOME} mov.u32 %r5, 7; @!%p1 bra J; st.global.u32 [%rd2], %r6; ret; J:",
    f"{SOME} mov.u32 %r5, 7; @%p1 st.global.u32 [%rd2], %r6; @%p1 ret;",
    # moved under a guard that some lack
    f"{SOME} mov.u32 %r7, %r3; setp.eq.u32 %p5, %r6, 0; @%p5 mov.b64 %rd3, {{%r6, %r7}}; @%p5 mov.u32 %r7, 1;"
    "@%p5 add.cc.u32 %r6, %r6, %r6; selp.u32 %r5, %r3, 7, %p1;",
    # a condition that another one decides
    f"{SOME} setp.eq.u32 %p5, %r6, 12345; and.pred %p5, %p1, %p5; mov.u32 %r5, 7; @%p1 mov.u32 %r5, %r3; @%p5 trap;",
    f"{SOME} setp.ne.u32 %p5, %r6, 12345; not.pred %p2, %p1; or.pred %p5, %p5, %p2; mov.u32 %r5, 7; @!%p5 trap;"
    "@%p1 mov.u32 %r5, %r3;",
    # spilled and filled again
    f".local .align 8 .b8 spill[8]; {SOME} st.local.u32 [spill], %r6; ld.local.u32 %r7, [spill]; mov.u32 %r5, 7;"
    "@%p1 mov.u32 %r5, %r7;",
    # half of a pair
    f"{SOME} mov.b64 %rd3, {{%r6, %r7}}; mov.u32 %r5, 7; @%p1 mov.u32 %r5, %r6;",
    # loaded under a guard, used under the same
    f"{LOW} @%p1 ld.global.u32 %r6, [%rd1]; add.u32 %r6, %r6, 0; selp.u32 %r5, %r6, 7, %p1;",
    # carried around a loop, and looked at from the second turn on
    "mov.u32 %r8, 0; L: setp.ne.u32 %p2, %r8, 0; selp.u32 %r5, %r6, 7, %p2; add.u32 %r8, %r8, 1; mov.u32 %r6, %r3;"
    f"{LOW} selp.u32 %r9, 2, 1, %p1; setp.lt.u32 %p3, %r8, %r9; @%p3 bra L;",
    # shuffled, but looked at only by who got one
    f"{SOME} shfl.sync.bfly.b32 %r7, %r6, 0, 31, 0xffffffff; selp.u32 %r5, %r7, 7, %p1;",
    # a barrier does not mind
    f"{SOME} mov.u32 %r5, 7; bar.sync 0; @%p1 mov.u32 %r5, %r6;",
])  # fmt: skip
def test_harmless(body: str) -> None:
    agrees(body, lambda i, v: v if i % 32 < 16 else 7)


def test_arguments_that_a_function_does_not_look_at() -> None:
    function = """
    .func (.param .b32 r) first(.param .b32 a, .param .b32 b)
    { .reg .b32 %x; ld.param.u32 %x, [a]; st.param.b32 [r], %x; ret; }
    """
    body = """
        { .param .b32 a; st.param.b32 [a], %r3; .param .b32 b; st.param.b32 [b], %r6; .param .b32 r;
          call.uni (r), first, (a, b); ld.param.b32 %r5, [r]; }
    """
    agrees(with_functions(function, body), lambda i, v: v)


@pytest.mark.parametrize(("body", "register", "at"), [
    ("mov.u32 %r7, %r6;\n mov.u32 %r5, %r7;", "%r5", "st.global.u32 [%rd2], %r5;"),
    (f"{TILE}\n st.shared.u32 [%r6], %r7;\n", "%r7", "st.shared.u32 [%r6], %r7;"),
    ("add.u64 %rd3, %rd3, 4;\n ld.global.u32 %r5, [%rd3];\n", "%rd3", "ld.global.u32 %r5, [%rd3];"),
    ("setp.eq.u32 %p5, %r6, 0;\n @%p5 bra J;\n mov.u32 %r5, 1;\n J:", "%p5", "@%p5 bra J;"),
    ("setp.eq.u32 %p5, %r0, 0;\n and.pred %p5, %p5, %p4;\n @%p5 ld.global.u32 %r5, [%rd1];\n", "%p5",
     "@%p5 ld.global.u32 %r5, [%rd1];"),
    ("@%p5 mov.u32 %r5, 1;\n", "%r5", "st.global.u32 [%rd2], %r5;"),
    ("bar.sync %r6;\n", "%r6", "bar.sync %r6;"),
    ("setp.eq.u32 %p1, %r0, 0;\n bar.red.popc.u32 %r5, 0, %p5;\n", "%p5", "bar.red.popc.u32 %r5, 0, %p5;"),
    ("bar.warp.sync %r6;\n", "%r6", "bar.warp.sync %r6;"),
    ("T: .branchtargets X, J;\n brx.idx %r6, T;\n X: mov.u32 %r5, 1;\n J:", "%r6", "brx.idx %r6, T;"),
    ("shfl.sync.idx.b32 %r5, %r3, %r6, 31, -1;\n", "%r6", "shfl.sync.idx.b32 %r5, %r3, %r6, 31, -1;"),
    ("call %rd3, ();\n", "%rd3", "call %rd3, ();"),
])  # fmt: skip
def test_named(body: str, register: str, at: str) -> None:
    found = fault(body)
    assert found.kind == "uninitialised"
    assert f"{register} is " in str(found)
    assert line_of(body, found.line) == at
