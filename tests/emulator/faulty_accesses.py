"""Kernels with an access that strict mode must catch, each beside the same kernel repaired; as in `faulty`."""

from __future__ import annotations

from emulator.faulty import ALL, FIRST, LOW, TILE, Faulty
from emulator.threads import with_functions

# A function that gives the address of a local variable of its own, which nobody may use when it has returned.
DANGLING = """
.func (.param .b64 at) leak(.param .b32 value)
{
    .local .align 4 .b8 own[16];
    .reg .b32 %r; .reg .b64 %a;
    ld.param.b32 %r, [value];
    mov.u64 %a, own;
    st.local.u32 [%a+4], %r;
    st.param.b64 [at], %a;
    ret;
}
"""
CALL = """
    { .param .b32 value; st.param.b32 [value], %r3;
      .param .b64 at;
      call.uni (at), leak, (value);
      ld.param.b64 %rd3, [at]; }
"""
# 16 bytes of each thread from the input to shared memory
COPY = """
    mov.u32 %r9, tile; mad.lo.u32 %r6, %r0, 16, %r9;
    and.b32 %r7, %r0, 15; mul.wide.u32 %rd3, %r7, 16; add.u64 %rd3, %rd7, %rd3;
    cp.async.ca.shared.global [%r6], [%rd3], 16;
    cp.async.commit_group;
"""

FAULTY_ACCESSES = [
    # out of bounds -----------------------------------------------------------------------------------
    Faulty(
        "one past the end of a buffer", "out of bounds", "ld.global.u32 %r5, [%rd1+4];", (63,),
        "ld.global.u32 %r5, [%rd1+4];\n", "setp.lt.u32 %p1, %r0, 63;\n @%p1 ld.global.u32 %r5, [%rd1+4];\n",
    ),
    Faulty(
        "before the beginning", "out of bounds", "st.global.u32 [%rd2+-4], %r5;", (0,),
        "st.global.u32 [%rd2+-4], %r5;\n",
        "setp.gt.u32 %p1, %r0, 0;\n @%p1 st.global.u32 [%rd2+-4], %r5;\n bar.sync 0;",
    ),
    Faulty(
        "a vector over the end", "out of bounds", "ld.global.v2.u32 {%r5, %r6}, [%rd3];", (63,),
        "and.b64 %rd3, %rd1, -8; setp.eq.u32 %p1, %r0, 63; @%p1 add.u64 %rd3, %rd3, 8;\n"
        "ld.global.v2.u32 {%r5, %r6}, [%rd3];\n",
        "and.b64 %rd3, %rd1, -8; setp.eq.u32 %p1, %r0, 63; @%p1 add.u64 %rd3, %rd3, 0;\n"
        "ld.global.v2.u32 {%r5, %r6}, [%rd3];\n",
    ),
    Faulty(
        "null pointer", "out of bounds", "ld.u32 %r5, [%rd3];", (7,),
        "setp.eq.u32 %p1, %r0, 7; selp.b64 %rd3, 0, %rd1, %p1;\n ld.u32 %r5, [%rd3];\n",
        "setp.eq.u32 %p1, %r0, 77; selp.b64 %rd3, 0, %rd1, %p1;\n ld.u32 %r5, [%rd3];\n",
    ),
    Faulty(
        "past shared memory", "out of bounds", "st.shared.u32 [%r6+772], %r3;", (63,),
        f"{TILE}\n st.shared.u32 [%r6+772], %r3;\n", f"{TILE}\n st.shared.u32 [%r6+768], %r3;\n",
    ),
    Faulty(
        "a generic address past shared memory", "out of bounds", "st.u32 [%rd3], %r3;", range(16, 64),
        "mov.u64 %rd3, tile; cvta.shared.u64 %rd3, %rd3; mul.wide.u32 %rd4, %r0, 64; add.u64 %rd3, %rd3, %rd4;\n"
        "st.u32 [%rd3], %r3;\n",
        "mov.u64 %rd3, tile; cvta.shared.u64 %rd3, %rd3; mul.wide.u32 %rd4, %r0, 16; add.u64 %rd3, %rd3, %rd4;\n"
        "st.u32 [%rd3], %r3;\n",
    ),
    Faulty(
        "past a local array", "out of bounds", "st.local.u32 [%rd3], %r3;", (4, 36),
        ".local .align 4 .b8 own[16]; mov.u64 %rd3, own; and.b32 %r6, %r0, 4; mul.wide.u32 %rd4, %r6, 4;\n"
        "setp.ne.u32 %p1, %r2, 4; @!%p1 add.u64 %rd3, %rd3, %rd4;\n st.local.u32 [%rd3], %r3;\n",
        ".local .align 4 .b8 own[16]; mov.u64 %rd3, own; and.b32 %r6, %r0, 3; mul.wide.u32 %rd4, %r6, 4;\n"
        "add.u64 %rd3, %rd3, %rd4;\n st.local.u32 [%rd3], %r3;\n",
    ),
    Faulty(
        "local memory of a function that has returned", "out of bounds", "ld.local.u32 %r5, [%rd3+4];", ALL,
        with_functions(DANGLING, CALL + "\n ld.local.u32 %r5, [%rd3+4];\n"),
        with_functions(DANGLING.replace("ret;", "ld.local.u32 %r, [%a+4]; st.param.b64 [at], %a; ret;"), CALL),
    ),
    Faulty(
        "atomic past the end", "out of bounds", "atom.global.add.u32 %r5, [%rd1+4], 1;", (63,),
        "atom.global.add.u32 %r5, [%rd1+4], 1;\n", "atom.global.add.u32 %r5, [%rd1], 1;\n",
    ),
    # misaligned, read-only ---------------------------------------------------------------------------
    Faulty(
        "word at an odd address", "misaligned", "ld.global.u16 %r5, [%rd3];", (1,),
        "setp.eq.u32 %p1, %r0, 1; selp.b64 %rd3, 1, 2, %p1; add.u64 %rd3, %rd7, %rd3;\n ld.global.u16 %r5, [%rd3];\n",
        "setp.eq.u32 %p1, %r0, 1; selp.b64 %rd3, 4, 2, %p1; add.u64 %rd3, %rd7, %rd3;\n ld.global.u16 %r5, [%rd3];\n",
    ),
    Faulty(
        "vector at an element's address", "misaligned", "ld.global.v2.u32 {%r5, %r6}, [%rd1];", range(1, 64, 2),
        "ld.global.v2.u32 {%r5, %r6}, [%rd1];\n",
        "setp.ne.u32 %p1, %r2, 99; and.b32 %r6, %r0, 1; setp.eq.u32 %p1, %r6, 0;\n"
        "@%p1 ld.global.v2.u32 {%r5, %r6}, [%rd1];\n",
    ),
    Faulty(
        "misaligned in shared memory", "misaligned", "st.shared.u64 [%r6], %rd1;", range(1, 64, 2),
        f"{TILE} \n st.shared.u64 [%r6], %rd1;\n",
        f"{TILE} add.u32 %r6, %r6, %r6; sub.u32 %r6, %r6, %r9;\n st.shared.u64 [%r6], %rd1;\n",
    ),
    Faulty(
        "write to a constant", "read-only", "st.u32 [%rd3], %r3;", ALL,
        with_functions(".const .u32 v = 1;", "mov.u64 %rd3, v; cvta.const.u64 %rd3, %rd3;\n st.u32 [%rd3], %r3;\n"),
        with_functions(".global .u32 v = 1;", "mov.u64 %rd3, v; cvta.global.u64 %rd3, %rd3;\n st.u32 [%rd3], 2;\n"),
    ),
    # uninitialised -----------------------------------------------------------------------------------
    Faulty(
        "shared memory that nobody wrote", "uninitialised", "ld.shared.u32 %r5, [%r6];", range(32, 64),
        f"{TILE}{FIRST} @%p1 st.shared.u32 [%r6], %r3; bar.sync 0;\n ld.shared.u32 %r5, [%r6];\n",
        f"{TILE}{FIRST} @%p1 st.shared.u32 [%r6+128], %r3; @%p1 st.shared.u32 [%r6], %r3; bar.sync 0;\n"
        "ld.shared.u32 %r5, [%r6];\n",
    ),
    Faulty(
        "one byte of a word that nobody wrote", "uninitialised", "ld.shared.u32 %r5, [%r6];", ALL,
        f"{TILE} st.shared.u16 [%r6], %r3; st.shared.u8 [%r6+3], %r3;\n ld.shared.u32 %r5, [%r6];\n",
        f"{TILE} st.shared.u16 [%r6], %r3; st.shared.u16 [%r6+2], %r3;\n ld.shared.u32 %r5, [%r6];\n",
    ),
    Faulty(
        "atomic on shared memory that nobody wrote", "uninitialised", "atom.shared.add.u32 %r5, [tile], 1;", ALL,
        "atom.shared.add.u32 %r5, [tile], 1;\n",
        "st.shared.u32 [tile], 0; bar.sync 0;\n atom.shared.add.u32 %r6, [tile], 1;\n",
    ),
    Faulty(
        "store of a register that nobody wrote", "uninitialised", "st.global.u32 [%rd2], %r7;", ALL,
        "add.u32 %r7, %r8, 1;\n st.global.u32 [%rd2], %r7;\n",
        "mov.u32 %r8, 1; add.u32 %r7, %r8, 1;\n st.global.u32 [%rd2], %r7;\n",
    ),
    Faulty(
        "store of a register that some wrote", "uninitialised",
        "st.shared.u32 [%r6], %r7;", (*range(16, 32), *range(48, 64)),
        f"{TILE}{LOW} @%p1 mov.u32 %r7, 3;\n st.shared.u32 [%r6], %r7;\n",
        f"{TILE}{LOW} @%p1 mov.u32 %r7, 3;\n @!%p1 mov.u32 %r7, 4;\n st.shared.u32 [%r6], %r7;\n",
    ),
    Faulty(
        "address that nobody wrote", "uninitialised", "ld.global.u32 %r5, [%rd4];", ALL,
        "ld.global.u32 %r5, [%rd4];\n", "add.u64 %rd4, %rd7, 4;\n ld.global.u32 %r5, [%rd4];\n",
    ),
    Faulty(
        "guard that nobody wrote", "uninitialised", "@%p3 ld.global.u32 %r5, [%rd1];", (5,),
        "setp.ne.u32 %p1, %r0, 5; @%p1 setp.eq.u32 %p3, %r0, 0;\n @%p3 ld.global.u32 %r5, [%rd1];\n",
        "setp.ne.u32 %p1, %r0, 5; setp.eq.u32 %p3, %r0, 0;\n @%p3 ld.global.u32 %r5, [%rd1];\n",
    ),
    Faulty(
        "branch on what nobody wrote", "uninitialised", "@!%p3 bra J;", ALL,
        "@!%p3 bra J;\n mov.u32 %r5, 1;\n J:", "setp.eq.u32 %p3, %r0, 0;\n @!%p3 bra J;\n mov.u32 %r5, 1;\n J:",
    ),
    Faulty(
        "operand of an atomic that nobody wrote", "uninitialised", "red.global.add.u32 [%rd2], %r8;", ALL,
        "st.global.u32 [%rd2], 1;\n red.global.add.u32 [%rd2], %r8;\n",
        "mov.u32 %r8, 4; st.global.u32 [%rd2], 1;\n red.global.add.u32 [%rd2], %r8;\n",
    ),
    Faulty(
        "vote on what nobody wrote", "uninitialised", "vote.sync.ballot.b32 %r5, %p3, -1;", ALL,
        "vote.sync.ballot.b32 %r5, %p3, -1;\n", "setp.eq.u32 %p3, %r0, 0;\n vote.sync.ballot.b32 %r5, %p3, -1;\n",
    ),
    Faulty(
        "shuffle from a lane outside of the mask", "uninitialised", "st.global.u32 [%rd2], %r5;", (15, 47),
        f"{LOW} @%p1 shfl.sync.down.b32 %r5, %r3, 1, 31, 0xffff;\n",
        f"{LOW} @%p1 shfl.sync.down.b32 %r5|%p2, %r3, 1, 0x100f, 0xffff;\n",
    ),
    Faulty(
        "local memory that nobody wrote", "uninitialised", "st.global.u32 [%rd2], %r5;", ALL,
        ".local .align 4 .b8 own[16];\n st.local.u32 [own], %r3; ld.local.u32 %r5, [own+4];\n",
        ".local .align 4 .b8 own[16];\n st.local.u32 [own+4], %r3; ld.local.u32 %r5, [own+4];\n",
    ),
    Faulty(
        "copy that nobody waited for", "uninitialised", "ld.shared.u32 %r5, [%r6];", ALL,
        f"{COPY} bar.sync 0;\n ld.shared.u32 %r5, [%r6];\n",
        f"{COPY} cp.async.wait_group 0; bar.sync 0;\n ld.shared.u32 %r5, [%r6];\n",
    ),
    Faulty(
        "wait for too few groups of copies", "uninitialised", "ld.shared.u32 %r5, [%r6];", ALL,
        f"{COPY} cp.async.wait_group 1; bar.sync 0;\n ld.shared.u32 %r5, [%r6];\n",
        f"{COPY} cp.async.commit_group; cp.async.wait_group 1; bar.sync 0;\n ld.shared.u32 %r5, [%r6];\n",
    ),
    # the rest ----------------------------------------------------------------------------------------
    Faulty(
        "endless loop", "step limit", "L: add.u32 %r5, %r5, 1;", range(1, 32),
        "L: add.u32 %r5, %r5, 1;\n setp.ne.u32 %p1, %r2, 0;\n @%p1 bra L;",
        "L: add.u32 %r5, %r5, 1;\n setp.lt.u32 %p1, %r5, 20;\n @%p1 bra L;",
        {"max_steps": 200, "block": 32},
    ),
    Faulty(
        "trap", "trap", "@%p1 trap;", (3,),
        "setp.eq.u32 %p1, %r0, 3;\n @%p1 trap;\n", "setp.eq.u32 %p1, %r0, 64;\n @%p1 trap;\n",
    ),
    Faulty(
        "switch past its targets", "out of bounds", "brx.idx %r2, T;", (*range(2, 32), *range(34, 64)),
        "T: .branchtargets X, J;\n brx.idx %r2, T;\n X: mov.u32 %r5, 1;\n J:",
        "T: .branchtargets X, J;\n and.b32 %r2, %r2, 1; brx.idx %r2, T;\n X: mov.u32 %r5, 1;\n J:",
    ),
    Faulty(
        "instruction that the emulator lacks", "unsupported", "stacksave.u64 %rd3;", ALL,
        "stacksave.u64 %rd3;\n", "setp.ne.u32 %p1, %r4, 0;\n @!%p1 bra J;\n stacksave.u64 %rd3;\n J:",
    ),
]  # fmt: skip
