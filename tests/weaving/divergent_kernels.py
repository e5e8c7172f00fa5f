"""Kernels whose lanes part in the ways that tests/constructs has not got from a compiler, by name, with what they show.

Each gets `in`, `out` and `n` as those do; `%r1` is the thread's number in the grid, `%r2` in its CTA, `%r3` its
element of `in`, `%r4` is stored to `out` after the body unless the body returns.
"""

PROLOGUE = """
    .reg .pred %p<9>; .reg .b32 %r<30>; .reg .b64 %rd<9>; .reg .f32 %f<9>;
    .shared .align 16 .b8 {name}_tile[4096];
    ld.param.u64 %rd1, [{name}_in]; ld.param.u64 %rd2, [{name}_out]; ld.param.u32 %r5, [{name}_n];
    mov.u32 %r2, %tid.x; mov.u32 %r6, %ctaid.x; mov.u32 %r7, %ntid.x; mad.lo.u32 %r1, %r6, %r7, %r2;
    rem.u32 %r8, %r1, %r5; mul.wide.u32 %rd3, %r8, 4; add.s64 %rd1, %rd1, %rd3; ld.global.u32 %r3, [%rd1];
    mul.wide.u32 %rd4, %r1, 4; add.s64 %rd2, %rd2, %rd4; mov.u32 %r4, %r3;
"""
EPILOGUE = "st.global.u32 [%rd2], %r4;\nret;\n"

KERNELS = {
    "switch_by_lane": (
        "`brx.idx` on a value that differs by lane",
        """
        and.b32 %r9, %r3, 3;
        LIST: .branchtargets C0, C1, C2, C1;
        brx.idx %r9, LIST;
        C0: add.u32 %r4, %r3, 5; bra JOIN;
        C1: mul.lo.u32 %r4, %r3, 3; st.global.u32 [%rd2], %r4; bra JOIN;
        C2: xor.b32 %r4, %r3, 77;
        JOIN: add.u32 %r4, %r4, %r2;
        """,
    ),
    "irreducible": (
        "a loop with two ways in, trip counts by lane",
        """
        and.b32 %r9, %r3, 7; setp.gt.u32 %p1, %r9, 3; @%p1 bra MIDDLE;
        TOP: add.u32 %r4, %r4, 3;
        MIDDLE: add.u32 %r4, %r4, 1; add.u32 %r9, %r9, 1; setp.lt.u32 %p2, %r9, 9; @%p2 bra TOP;
        """,
    ),
    "returns_in_loop": (
        "returns amid a loop, one with a store",
        """
        mov.u32 %r9, 0;
        LOOP: add.u32 %r4, %r4, %r9; and.b32 %r10, %r4, 31; setp.eq.u32 %p1, %r10, 7; @%p1 bra OUT;
        setp.gt.u32 %p2, %r4, 1060; @%p2 ret;
        add.u32 %r9, %r9, 1; setp.lt.u32 %p3, %r9, 9; @%p3 bra LOOP;
        bra REST;
        OUT: mov.u32 %r11, 5; st.global.u32 [%rd2], %r11; ret;
        REST: add.u32 %r4, %r4, 100;
        """,
    ),
    "return_in_loop_before_shuffle": (
        "a return amid a loop, then a shuffle that names all lanes",
        """
        mov.u32 %r9, 0;
        LOOP: add.u32 %r9, %r9, 1; and.b32 %r10, %r2, 15; setp.eq.u32 %p1, %r10, %r9; @%p1 ret;
        setp.lt.u32 %p3, %r9, 6; @%p3 bra LOOP;
        vote.sync.ballot.b32 %r11, %p3, -1; activemask.b32 %r12;
        match.any.sync.b32 %r13, %r9, -1; add.u32 %r4, %r12, %r13; add.u32 %r4, %r4, %r11;
        """,
    ),
    "return_in_loop_before_barrier": (
        "a return amid a loop, then a CTA barrier",
        """
        mov.u32 %r9, 0; shl.b32 %r13, %r2, 2; mov.u32 %r11, return_in_loop_before_barrier_tile;
        LOOP: add.u32 %r9, %r9, 1; and.b32 %r10, %r2, 15; setp.eq.u32 %p1, %r10, %r9; @%p1 ret;
        setp.lt.u32 %p3, %r9, 6; @%p3 bra LOOP;
        add.u32 %r11, %r11, %r13; st.shared.u32 [%r11], %r3;
        bar.sync 0; xor.b32 %r12, %r11, 256; ld.shared.u32 %r4, [%r12];
        """,
    ),
    "endless_loop_with_return": (
        "a loop that only returns leave",
        """
        LOOP: add.u32 %r4, %r4, 3; st.global.u32 [%rd2], %r4; setp.gt.u32 %p1, %r4, 1024; @%p1 ret; bra LOOP;
        """,
    ),
    "vote_in_a_loop_left_by_returns": (
        "the same with a vote of all lanes inside",
        """
        LOOP: add.u32 %r4, %r4, 3; setp.gt.u32 %p1, %r4, 1024; st.global.u32 [%rd2], %r4; @%p1 ret;
        vote.sync.any.pred %p2, %p1, -1; bra LOOP;
        """,
    ),
    "shuffle_in_an_arm_that_returns": (
        "a partial shuffle on a side that ends the kernel",
        """
        and.b32 %r9, %r2, 31; setp.lt.u32 %p1, %r9, 16; @!%p1 bra STAY;
        shfl.sync.bfly.b32 %r10, %r3, 3, 31, 0xffff; st.global.u32 [%rd2], %r10; ret;
        STAY: shfl.sync.bfly.b32 %r4, %r3, 4, 31, 0xffff0000;
        """,
    ),
    "partial_masks": (
        "`match`, `redux`, `bar.warp.sync` of half a warp on each side",
        """
        and.b32 %r9, %r2, 31; setp.lt.u32 %p1, %r9, 16; @!%p1 bra HIGH;
        redux.sync.add.s32 %r10, %r3, 0xffff; bar.warp.sync 0xffff; add.u32 %r4, %r4, %r10; bra JOIN;
        HIGH: match.any.sync.b32 %r10, %r3, 0xffff0000; bar.warp.sync 0xffff0000; add.u32 %r4, %r4, %r10;
        JOIN: redux.sync.max.u32 %r10, %r4, -1; add.u32 %r4, %r4, %r10;
        """,
    ),
    "tensor_after_return": (
        "`mma` and `ldmatrix` after a return of whole warps",
        """
        setp.ge.u32 %p1, %r1, 224; @%p1 ret;
        shl.b32 %r9, %r2, 4; mov.u32 %r10, tensor_after_return_tile; add.u32 %r10, %r10, %r9; and.b32 %r11, %r3, 15;
        st.shared.v4.u32 [%r10], {%r11, %r11, %r11, %r11}; bar.warp.sync -1;
        ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r12, %r13, %r14, %r15}, [%r10];
        mma.sync.aligned.m16n8k16.row.col.s32.u8.u8.s32 {%r16, %r17, %r18, %r19}, {%r12, %r13}, {%r14}, {0, 0, 0, 0};
        add.u32 %r4, %r16, %r19;
        """,
    ),
    "counted_barrier": (
        "a barrier that counts, by some warps",
        """
        setp.ge.u32 %p1, %r2, 64; @%p1 bra JOIN;
        shl.b32 %r9, %r2, 2; mov.u32 %r10, counted_barrier_tile; add.u32 %r10, %r10, %r9; st.shared.u32 [%r10], %r3;
        bar.sync 1, 64; xor.b32 %r10, %r10, 128; ld.shared.u32 %r4, [%r10];
        JOIN: add.u32 %r4, %r4, 1;
        """,
    ),
    "barrier_by_thread": (
        "a CTA barrier that some threads never meet",
        """
        setp.ge.u32 %p1, %r2, 64; @%p1 bra JOIN;
        bar.sync 0;
        JOIN: add.u32 %r4, %r4, 1;
        """,
    ),
    "barrier_by_data": (
        "a CTA barrier that loaded data decides",
        """
        ld.param.u64 %rd5, [barrier_by_data_in]; ld.global.u32 %r13, [%rd5]; setp.gt.u32 %p1, %r13, 5000; @%p1 bra JOIN;
        shl.b32 %r9, %r2, 2; mov.u32 %r10, barrier_by_data_tile; add.u32 %r10, %r10, %r9; st.shared.u32 [%r10], %r3;
        bar.sync 0; xor.b32 %r10, %r10, 252; ld.shared.u32 %r4, [%r10];
        JOIN: add.u32 %r4, %r4, 1;
        """,
    ),
}


def text() -> str:
    """All of them as one module."""
    entries = []
    for name, (_, body) in KERNELS.items():
        head = f".visible .entry {name}(.param .u64 {name}_in, .param .u64 {name}_out, .param .u32 {name}_n)"
        entries.append(f"{head}\n{{{PROLOGUE.format(name=name)}{body}{EPILOGUE}}}\n")
    return ".version 8.0\n.target sm_80\n.address_size 64\n" + "".join(entries)
