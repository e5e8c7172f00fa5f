"""Kernels whose threads wait for each other in other ways than at barriers of the whole CTA, by name, with what they
show. They are written for CTAs of 128 threads.

Each gets `in`, `out` and `n` as those of divergent_kernels.py; `%r1` is the thread's number in the grid, `%r2` in its
CTA, `%r3` its element of `in`, `%r14` the address of its word of `tile`, `%r15` its lane, `%r5` is n; `%r4` is stored
to `out` after the body unless the body returns.
"""

from collections.abc import Collection

PROLOGUE = """
    .reg .pred %p<9>; .reg .b32 %r<40>; .reg .b64 %rd<12>;
    .shared .align 16 .b8 {name}_tile[1024]; .shared .align 8 .b64 {name}_bars[40];
    ld.param.u64 %rd1, [{name}_in]; ld.param.u64 %rd2, [{name}_out]; ld.param.u32 %r5, [{name}_n];
    mov.u32 %r2, %tid.x; mov.u32 %r6, %ctaid.x; mov.u32 %r7, %ntid.x; mad.lo.u32 %r1, %r6, %r7, %r2;
    rem.u32 %r8, %r1, %r5; mul.wide.u32 %rd3, %r8, 4; add.s64 %rd1, %rd1, %rd3; ld.global.u32 %r3, [%rd1];
    mul.wide.u32 %rd4, %r1, 4; add.s64 %rd2, %rd2, %rd4; mov.u32 %r4, %r3;
    and.b32 %r15, %r2, 31; shl.b32 %r13, %r2, 2; mov.u32 %r14, {name}_tile; add.u32 %r14, %r14, %r13;
"""
EPILOGUE = "st.global.u32 [%rd2], %r4;\nret;\n"
INIT = "setp.eq.u32 %p1, %r2, 0;\n@%p1 mbarrier.init.shared.b64 [{bar}], {count};\n"

# Warps 0 and 1 produce what warps 2 and 3 consume: 64 words, in rounds.
HALF = "and.b32 %r20, %r13, 255; mov.u32 %r21, {name}_tile; add.u32 %r21, %r21, %r20;"

# Threads that wait for a flag in shared memory, which a function raises: what reads it into %r18 goes between the two.
# Its address is in %r16, as a generic one in %rd5; `own` is a variable of the thread.
RAISED = """
        .local .align 4 .b8 own[8];
        mov.u32 %r16, {name}_bars; setp.eq.u32 %p1, %r2, 0; mov.u32 %r17, 0; @%p1 st.volatile.shared.u32 [%r16], %r17;
        bar.sync 0; setp.ge.u32 %p2, %r2, 32; @%p2 bra LATER; st.shared.u32 [%r14], %r3; bar.warp.sync -1;
        membar.cta; setp.ne.u32 %p3, %r15, 3; @%p3 bra DONE;
        { .param .b32 a; st.param.b32 [a], %r16; call.uni answer, (a); } bra DONE;
        LATER: cvt.u64.u32 %rd7, %r16; cvta.shared.u64 %rd5, %rd7; mov.u64 %rd6, own;
"""
SEEN = """        setp.eq.u32 %p3, %r18, 0; @%p3 bra SPIN;
        PAST: mov.u32 %r19, {name}_tile; mad.lo.u32 %r19, %r15, 4, %r19; ld.volatile.shared.u32 %r20, [%r19];
        add.u32 %r4, %r4, %r20;
        DONE: add.u32 %r4, %r4, 1;
"""
PEEK = "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r16; call.uni (b), FUNCTION, (a); ld.param.b32 %r18, [b]; }"

KERNELS = {
    "producers_and_consumers": (
        "named barriers between loops of producing and consuming warps",
        HALF
        + """
        mov.u32 %r9, 0; setp.ge.u32 %p1, %r2, 64; @%p1 bra CONSUME;
        PRODUCE: add.u32 %r10, %r3, %r9; st.shared.u32 [%r21], %r10;
        bar.arrive 1, 128; bar.sync 2, 128;
        add.u32 %r9, %r9, 1; setp.lt.u32 %p2, %r9, 4; @%p2 bra PRODUCE;
        bra DONE;
        CONSUME: bar.sync 1, 128; ld.shared.u32 %r10, [%r21]; mad.lo.u32 %r4, %r4, 3, %r10; bar.arrive 2, 128;
        add.u32 %r9, %r9, 1; setp.lt.u32 %p2, %r9, 4; @%p2 bra CONSUME;
        DONE: add.u32 %r4, %r4, 1;
        """,
    ),
    "one_loop_for_both": (
        "the same in one loop, producers and consumers on the sides of a branch inside",
        HALF
        + """
        mov.u32 %r9, 0;
        LOOP: setp.ge.u32 %p1, %r2, 64; @%p1 bra CONSUME;
        add.u32 %r10, %r3, %r9; st.shared.u32 [%r21], %r10; bar.arrive 1, 128; bar.sync 2, 128; bra JOIN;
        CONSUME: bar.sync 1, 128; ld.shared.u32 %r10, [%r21]; add.u32 %r4, %r4, %r10; bar.arrive 2, 128;
        JOIN: add.u32 %r9, %r9, 1; setp.lt.u32 %p2, %r9, 3; @%p2 bra LOOP;
        """,
    ),
    "producers_return": (
        "the producers' side of the branch ends the kernel",
        HALF
        + """
        mov.u32 %r9, 0; bar.sync 0; setp.ge.u32 %p1, %r2, 64; @%p1 bra CONSUME;
        PRODUCE: add.u32 %r10, %r3, %r9; st.shared.u32 [%r21], %r10;
        bar.arrive 1, 128; bar.sync 2, 128;
        add.u32 %r9, %r9, 1; setp.lt.u32 %p2, %r9, 4; @%p2 bra PRODUCE;
        st.global.u32 [%rd2], %r9; ret;
        CONSUME: bar.sync 1, 128; ld.shared.u32 %r10, [%r21]; mad.lo.u32 %r4, %r4, 3, %r10; bar.arrive 2, 128;
        add.u32 %r9, %r9, 1; setp.lt.u32 %p2, %r9, 4; @%p2 bra CONSUME;
        """,
    ),
    "producers_by_data": (
        "the same where loaded data says how often, perhaps never",
        HALF
        + """
        ld.param.u64 %rd5, [{name}_in]; ld.global.u32 %r19, [%rd5]; and.b32 %r19, %r19, 3;
        mov.u32 %r9, 0; setp.ge.u32 %p1, %r2, 64; @%p1 bra CONSUME; setp.eq.u32 %p2, %r19, 0; @%p2 bra OUT;
        PRODUCE: add.u32 %r10, %r3, %r9; st.shared.u32 [%r21], %r10; bar.arrive 1, 128; bar.sync 2, 128;
        add.u32 %r9, %r9, 1; setp.lt.u32 %p2, %r9, %r19; @%p2 bra PRODUCE;
        OUT: st.global.u32 [%rd2], %r9; ret;
        CONSUME: setp.eq.u32 %p2, %r19, 0; @%p2 bra DONE;
        AGAIN: bar.sync 1, 128; ld.shared.u32 %r10, [%r21]; mad.lo.u32 %r4, %r4, 3, %r10; bar.arrive 2, 128;
        add.u32 %r9, %r9, 1; setp.lt.u32 %p2, %r9, %r19; @%p2 bra AGAIN;
        DONE: add.u32 %r4, %r4, 1;
        """,
    ),
    "some_warps_only": (
        "a barrier that counts, in a loop of some warps, its trips loaded",
        """
        setp.ge.u32 %p1, %r2, 64; @%p1 bra JOIN;
        ld.param.u64 %rd5, [{name}_in]; ld.global.u32 %r9, [%rd5]; and.b32 %r9, %r9, 3;
        mov.u32 %r16, {name}_tile; xor.b32 %r17, %r13, 128; add.u32 %r17, %r16, %r17;
        setp.eq.u32 %p2, %r9, 0; @%p2 bra JOIN;
        LOOP: st.shared.u32 [%r14], %r4; bar.sync 1, 64; ld.shared.u32 %r10, [%r17]; bar.sync 1, 64;
        add.u32 %r4, %r10, %r9; sub.u32 %r9, %r9, 1; setp.ne.u32 %p3, %r9, 0; @%p3 bra LOOP;
        JOIN: add.u32 %r4, %r4, 1;
        """,
    ),
    "counted_for_all": (
        "a barrier that counts all threads, in a loop",
        """
        mov.u32 %r9, 0; mov.u32 %r16, {name}_tile; xor.b32 %r17, %r13, 256; add.u32 %r17, %r16, %r17; mov.u32 %r18, 5;
        LOOP: st.shared.u32 [%r14], %r4; bar.sync %r18, 128; ld.shared.u32 %r10, [%r17]; bar.sync %r18, 128;
        add.u32 %r4, %r10, %r9; add.u32 %r9, %r9, 1; setp.lt.u32 %p3, %r9, 3; @%p3 bra LOOP;
        """,
    ),
    "counted_after_return": (
        "a barrier that counts, after a return of a part of a warp",
        """
        setp.ge.u32 %p1, %r2, 120; @%p1 ret;
        st.shared.u32 [%r14], %r4; bar.sync 1, 128; mov.u32 %r16, {name}_tile; xor.b32 %r17, %r13, 16;
        add.u32 %r17, %r16, %r17; ld.shared.u32 %r4, [%r17]; setp.gt.u32 %p2, %r4, 500;
        bar.red.popc.u32 %r9, 2, 128, %p2; add.u32 %r4, %r4, %r9;
        """,
    ),
    "counted_in_an_arm": (
        "a barrier that counts on a short side of a branch",
        """
        setp.ge.u32 %p1, %r2, 64; @%p1 bra JOIN;
        st.shared.u32 [%r14], %r3; bar.sync 1, 64; mov.u32 %r16, {name}_tile; xor.b32 %r17, %r13, 128;
        add.u32 %r17, %r16, %r17; ld.shared.u32 %r4, [%r17];
        JOIN: add.u32 %r4, %r4, 1;
        """,
    ),
    "guarded_counted": (
        "a barrier that counts, under a guard",
        """
        setp.lt.u32 %p1, %r2, 64; mov.u32 %r16, {name}_tile; xor.b32 %r17, %r13, 128; add.u32 %r17, %r16, %r17;
        @%p1 st.shared.u32 [%r14], %r3; @%p1 bar.sync 1, 64; @%p1 ld.shared.u32 %r4, [%r17];
        """,
    ),
    "unaligned_halves": (
        "lanes of one warp that come to one barrier in two places",
        """
        setp.ge.u32 %p1, %r15, 16; setp.ge.or.u32 %p1, %r2, 64, %p1; mov.u32 %r16, {name}_tile;
        xor.b32 %r17, %r13, 320; add.u32 %r17, %r16, %r17;
        st.shared.u32 [%r14], %r3; @%p1 bra HIGH;
        barrier.sync 1, 128; ld.shared.u32 %r10, [%r17]; add.u32 %r4, %r4, %r10; bra JOIN;
        HIGH: barrier.sync 1, 128; ld.shared.u32 %r10, [%r17]; sub.u32 %r4, %r4, %r10;
        JOIN: add.u32 %r4, %r4, 1;
        """,
    ),
    "copies_by_warp": (
        "a barrier of the whole CTA on each side of a branch by the warp's number, in a loop",
        """
        shr.u32 %r19, %r2, 5; shfl.sync.idx.b32 %r19, %r19, 0, 31, -1; and.b32 %r20, %r19, 1; setp.ne.u32 %p1, %r20, 0;
        mov.u32 %r16, {name}_tile; xor.b32 %r17, %r13, 128; add.u32 %r17, %r16, %r17; mov.u32 %r9, 0;
        LOOP: st.shared.u32 [%r14], %r4; @%p1 bra ODD;
        bar.sync 0; ld.shared.u32 %r10, [%r17]; add.u32 %r4, %r4, %r10; bar.sync 0; bra JOIN;
        ODD: bar.sync 0; ld.shared.u32 %r10, [%r17]; sub.u32 %r4, %r10, %r9; bar.sync 0;
        JOIN: add.u32 %r9, %r9, 1; setp.lt.u32 %p4, %r9, 3; @%p4 bra LOOP;
        """,
    ),
    "copies_by_thread": (
        "the same by the thread's number, each side ending the kernel",
        """
        and.b32 %r20, %r2, 32; setp.ne.u32 %p1, %r20, 0; mov.u32 %r16, {name}_tile; xor.b32 %r17, %r13, 128;
        add.u32 %r17, %r16, %r17; st.shared.u32 [%r14], %r3; @%p1 bra ODD;
        bar.sync 0; ld.shared.u32 %r10, [%r17]; add.u32 %r4, %r4, %r10; st.global.u32 [%rd2], %r4; ret;
        ODD: bar.sync 0; ld.shared.u32 %r10, [%r17]; sub.u32 %r4, %r10, %r4;
        """,
    ),
    "copies_after_return": (
        "the same after a return by thread",
        """
        setp.ge.u32 %p8, %r2, 120; @%p8 ret; and.b32 %r20, %r2, 32; setp.ne.u32 %p1, %r20, 0; mov.u32 %r16, {name}_tile;
        xor.b32 %r17, %r13, 8; add.u32 %r17, %r16, %r17; st.shared.u32 [%r14], %r3; @%p1 bra ODD;
        bar.sync 0; ld.shared.u32 %r10, [%r17]; add.u32 %r4, %r4, %r10; bra JOIN;
        ODD: bar.sync 0; ld.shared.u32 %r10, [%r17]; sub.u32 %r4, %r10, %r4;
        JOIN: add.u32 %r4, %r4, 1;
        """,
    ),
    "register_ids": (
        "a barrier whose id differs by warp",
        """
        shr.u32 %r9, %r2, 6; add.u32 %r9, %r9, 1; st.shared.u32 [%r14], %r3; bar.sync %r9, 64;
        mov.u32 %r16, {name}_tile; xor.b32 %r17, %r13, 128; add.u32 %r17, %r16, %r17; ld.shared.u32 %r4, [%r17];
        """,
    ),
    "reductions": (
        "`bar.red` in all forms, in a loop",
        """
        mov.u32 %r9, 0;
        LOOP: add.u32 %r10, %r3, %r9; and.b32 %r10, %r10, 7; setp.gt.u32 %p1, %r10, 4;
        bar.red.popc.u32 %r11, 0, %p1; barrier.red.and.pred %p2, 1, %p1; bar.red.or.pred %p3, 1, !%p1;
        @%p2 add.u32 %r4, %r4, 1000; @%p3 add.u32 %r4, %r4, 100; add.u32 %r4, %r4, %r11;
        add.u32 %r9, %r9, 1; setp.lt.u32 %p4, %r9, 3; @%p4 bra LOOP;
        """,
    ),
    "reductions_after_return": (
        "`bar.red` after a return by thread",
        """
        setp.ge.u32 %p5, %r2, 100; @%p5 ret;
        and.b32 %r10, %r3, 7; setp.gt.u32 %p1, %r10, 4;
        bar.red.popc.u32 %r11, 0, %p1; bar.red.and.pred %p2, 0, %p1; bar.red.or.pred %p3, 0, %p1;
        @%p2 add.u32 %r4, %r4, 1000; @%p3 add.u32 %r4, %r4, 100; add.u32 %r4, %r4, %r11;
        """,
    ),
    "tiled": (
        "a loop with two barriers of the whole CTA",
        """
        mov.u32 %r9, 0; mov.u32 %r16, {name}_tile; xor.b32 %r17, %r13, 256; add.u32 %r17, %r16, %r17;
        LOOP: st.shared.u32 [%r14], %r4; bar.sync 0; ld.shared.u32 %r10, [%r17]; mad.lo.u32 %r4, %r10, 3, %r9;
        bar.sync 0; add.u32 %r9, %r9, 1; setp.lt.u32 %p3, %r9, 5; @%p3 bra LOOP;
        """,
    ),
    "tiled_by_data": (
        "the same, its trips loaded",
        """
        ld.param.u64 %rd5, [{name}_in]; ld.global.nc.u32 %r20, [%rd5]; and.b32 %r20, %r20, 3; add.u32 %r20, %r20, 1;
        mov.u32 %r9, 0; mov.u32 %r16, {name}_tile; xor.b32 %r17, %r13, 128; add.u32 %r17, %r16, %r17;
        LOOP: st.shared.u32 [%r14], %r4; bar.sync 0; ld.shared.u32 %r10, [%r17]; mad.lo.u32 %r4, %r10, 3, %r9;
        bar.sync 0; add.u32 %r9, %r9, 1; setp.lt.u32 %p3, %r9, %r20; @%p3 bra LOOP;
        """,
    ),
    "shuffles": (
        "warp instructions and no barrier",
        """
        shfl.sync.bfly.b32 %r9, %r3, 5, 31, -1; add.u32 %r4, %r4, %r9; setp.gt.u32 %p1, %r4, 900;
        vote.sync.ballot.b32 %r10, %p1, -1; add.u32 %r4, %r4, %r10; redux.sync.add.u32 %r11, %r4, -1;
        add.u32 %r4, %r4, %r11;
        """,
    ),
    "grid_stride": (
        "a loop that lanes leave one by one",
        """
        mov.u32 %r9, %r2;
        LOOP: add.u32 %r4, %r4, %r9; add.u32 %r9, %r9, 77; setp.lt.u32 %p1, %r9, 300; @%p1 bra LOOP;
        """,
    ),
    "mbarrier_for_all": (
        "all threads arrive at an mbarrier and wait for its phase, in a loop",
        INIT.format(bar="{name}_bars", count=128)
        + """
        bar.sync 0; mov.u32 %r9, 0; mov.u32 %r16, {name}_tile; xor.b32 %r17, %r13, 256; add.u32 %r17, %r16, %r17;
        LOOP: st.shared.u32 [%r14], %r4; and.b32 %r18, %r9, 1; mbarrier.arrive.shared.b64 _, [{name}_bars];
        WAIT: mbarrier.try_wait.parity.shared.b64 %p2, [{name}_bars], %r18; @!%p2 bra WAIT;
        ld.shared.u32 %r10, [%r17]; mad.lo.u32 %r4, %r10, 5, %r4; add.u32 %r14, %r14, 0;
        bar.sync 0; add.u32 %r9, %r9, 1; setp.lt.u32 %p3, %r9, 3; @%p3 bra LOOP;
        """,
    ),
    "mbarrier_uni": (
        "the same in the words of CUTLASS, by branches marked as uniform",
        INIT.format(bar="{name}_bars", count=128)
        + """
        bar.sync 0; st.shared.u32 [%r14], %r3; mbarrier.arrive.release.cta.shared::cta.b64 _, [{name}_bars];
        WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p2, [{name}_bars], 0; @%p2 bra.uni PAST; bra.uni WAIT;
        PAST: xor.b32 %r17, %r13, 256; mov.u32 %r16, {name}_tile; add.u32 %r17, %r16, %r17; ld.shared.u32 %r4, [%r17];
        """,
    ),
    "mbarrier_states": (
        "waits for the state that an arrival gave, which differs by thread",
        INIT.format(bar="{name}_bars", count=128)
        + """
        bar.sync 0; st.shared.u32 [%r14], %r3; mbarrier.arrive.shared.b64 %rd7, [{name}_bars];
        WAIT: mbarrier.test_wait.shared.b64 %p2, [{name}_bars], %rd7; @!%p2 bra WAIT;
        xor.b32 %r17, %r13, 256; mov.u32 %r16, {name}_tile; add.u32 %r17, %r16, %r17; ld.shared.u32 %r4, [%r17];
        """,
    ),
    "mbarrier_pipeline": (
        "a ring of two stages: one warp produces, the others consume, a full and an empty mbarrier for each stage",
        """
        setp.eq.u32 %p1, %r2, 0; mov.u32 %r16, {name}_bars; mov.u32 %r17, {name}_tile;
        @%p1 mbarrier.init.shared.b64 [%r16], 32; @%p1 mbarrier.init.shared.b64 [%r16+8], 32;
        @%p1 mbarrier.init.shared.b64 [%r16+16], 96; @%p1 mbarrier.init.shared.b64 [%r16+24], 96; bar.sync 0;
        mov.u32 %r9, 0; setp.ge.u32 %p2, %r2, 32; shl.b32 %r22, %r15, 2; @%p2 bra CONSUME;
        PRODUCE: and.b32 %r18, %r9, 1; shr.u32 %r19, %r9, 1; and.b32 %r19, %r19, 1; xor.b32 %r19, %r19, 1;
        mad.lo.u32 %r20, %r18, 8, %r16; mad.lo.u32 %r21, %r18, 128, %r17; add.u32 %r21, %r21, %r22;
        EMPTY: mbarrier.try_wait.parity.shared.b64 %p3, [%r20+16], %r19; @!%p3 bra EMPTY;
        add.u32 %r10, %r3, %r9; st.shared.u32 [%r21], %r10; mbarrier.arrive.shared.b64 _, [%r20];
        add.u32 %r9, %r9, 1; setp.lt.u32 %p4, %r9, 6; @%p4 bra PRODUCE;
        bra DONE;
        CONSUME: and.b32 %r18, %r9, 1; shr.u32 %r19, %r9, 1; and.b32 %r19, %r19, 1;
        mad.lo.u32 %r20, %r18, 8, %r16; mad.lo.u32 %r21, %r18, 128, %r17; add.u32 %r21, %r21, %r22;
        FULL: mbarrier.try_wait.parity.shared.b64 %p3, [%r20], %r19; @!%p3 bra FULL;
        ld.shared.u32 %r10, [%r21]; mad.lo.u32 %r4, %r4, 3, %r10; mbarrier.arrive.shared.b64 _, [%r20+16];
        add.u32 %r9, %r9, 1; setp.lt.u32 %p4, %r9, 6; @%p4 bra CONSUME;
        DONE: add.u32 %r4, %r4, 1;
        """,
    ),
    "one_lane_produces": (
        "one thread expects a transaction and completes it, all wait",
        INIT.format(bar="{name}_bars", count=1)
        + """
        bar.sync 0; mov.u32 %r9, 0; mov.u32 %r16, {name}_tile;
        LOOP: setp.ne.u32 %p2, %r2, 0; @%p2 bra LATER;
        add.u32 %r10, %r3, %r9; st.shared.u32 [%r16], %r10; mbarrier.arrive.expect_tx.shared.b64 _, [{name}_bars], 64;
        mbarrier.complete_tx.shared.b64 [{name}_bars], 64;
        LATER: and.b32 %r18, %r9, 1;
        WAIT: mbarrier.try_wait.parity.shared.b64 %p3, [{name}_bars], %r18; @!%p3 bra WAIT;
        ld.shared.u32 %r10, [%r16]; mad.lo.u32 %r4, %r4, 3, %r10; bar.sync 0;
        add.u32 %r9, %r9, 1; setp.lt.u32 %p4, %r9, 3; @%p4 bra LOOP;
        """,
    ),
    "lane_by_lane": (
        "each lane waits for an mbarrier of its own, at which the lane before it arrives after its own wait",
        """
        mov.u32 %r16, {name}_bars; mad.lo.u32 %r17, %r15, 8, %r16; setp.lt.u32 %p1, %r2, 32; mov.u32 %r20, 0;
        @%p1 mbarrier.init.shared.b64 [%r17], 1; bar.sync 0; @!%p1 bra DONE;
        setp.ne.u32 %p2, %r15, 0; @%p2 bra WAIT; mbarrier.arrive.shared.b64 _, [%r17];
        WAIT: mbarrier.try_wait.parity.shared.b64 %p3, [%r17], 0; @!%p3 bra WAIT;
        setp.eq.u32 %p4, %r15, 31; @!%p4 mbarrier.arrive.shared.b64 _, [%r17+8];
        DONE: add.u32 %r4, %r4, 1;
        """,
    ),
    "lock": (
        "a spin lock in shared memory around a sum",
        """
        mov.u32 %r16, {name}_bars; setp.eq.u32 %p1, %r2, 0; mov.u32 %r17, 0; @%p1 st.shared.u32 [%r16], %r17;
        @%p1 st.shared.u32 [%r16+4], %r17; bar.sync 0; setp.ne.u32 %p2, %r15, 7; @%p2 bra DONE;
        SPIN: atom.shared.cas.b32 %r18, [%r16], 0, 1; setp.ne.u32 %p3, %r18, 0; @%p3 bra SPIN;
        ld.volatile.shared.u32 %r19, [%r16+4]; add.u32 %r19, %r19, %r3; st.volatile.shared.u32 [%r16+4], %r19;
        membar.cta; atom.shared.exch.b32 %r20, [%r16], 0;
        DONE: bar.sync 0; ld.shared.u32 %r21, [%r16+4]; add.u32 %r4, %r4, %r21;
        """,
    ),
    "retried_swap": (
        "a sum in global memory by compare-and-swaps that are tried again, which wait for nobody",
        """
        sub.u32 %r16, %r1, %r2; mul.wide.u32 %rd5, %r16, 4; ld.param.u64 %rd6, [{name}_out]; add.s64 %rd5, %rd6, %rd5;
        setp.ne.u32 %p1, %r2, 0; mov.u32 %r17, 0; @!%p1 st.global.u32 [%rd5], %r17; bar.sync 0;
        ld.relaxed.gpu.global.u32 %r18, [%rd5];
        RETRY: add.u32 %r19, %r18, %r3; atom.global.cas.b32 %r20, [%rd5], %r18, %r19; setp.ne.s32 %p2, %r20, %r18;
        mov.u32 %r18, %r20; @%p2 bra RETRY;
        bar.sync 0; ld.global.u32 %r21, [%rd5]; add.u32 %r4, %r4, %r21; bar.sync 0;
        """,
    ),
    "flag": (
        "threads that wait for a flag in shared memory",
        """
        mov.u32 %r16, {name}_bars; setp.eq.u32 %p1, %r2, 0; mov.u32 %r17, 0; @%p1 st.volatile.shared.u32 [%r16], %r17;
        bar.sync 0; setp.ge.u32 %p2, %r2, 32; @%p2 bra SPIN; st.shared.u32 [%r14], %r3; bar.warp.sync -1;
        membar.cta; setp.ne.u32 %p3, %r15, 3; mov.u32 %r18, 1; @!%p3 st.volatile.shared.u32 [%r16], %r18; bra DONE;
        SPIN: ld.volatile.shared.u32 %r18, [%r16]; setp.eq.u32 %p3, %r18, 0; @%p3 bra SPIN;
        mov.u32 %r19, {name}_tile; mad.lo.u32 %r19, %r15, 4, %r19; ld.volatile.shared.u32 %r20, [%r19];
        add.u32 %r4, %r4, %r20;
        DONE: add.u32 %r4, %r4, 1;
        """,
    ),
    "flag_in_global": (
        "threads that wait for a word of global memory, by loads that only their CTA's threads can answer",
        """
        sub.u32 %r16, %r1, %r2; mul.wide.u32 %rd5, %r16, 4; ld.param.u64 %rd6, [{name}_out]; add.s64 %rd5, %rd6, %rd5;
        setp.ne.u32 %p1, %r2, 0; @%p1 bra SPIN; mov.u32 %r17, 5; st.release.cta.global.u32 [%rd5], %r17; bra DONE;
        SPIN: ld.acquire.cta.global.u32 %r18, [%rd5]; setp.ne.s32 %p2, %r18, 5; @%p2 bra SPIN;
        add.u32 %r4, %r4, %r18;
        DONE: bar.sync 0;
        """,
    ),
    "released_after": (
        "warps that wait for others, which arrive further on in the code",
        """
        setp.lt.u32 %p1, %r2, 64; @%p1 bra LATER; bar.sync 1, 128; add.u32 %r4, %r4, 3;
        LATER: mad.lo.u32 %r4, %r4, 3, %r2; xor.b32 %r4, %r4, 77;
        setp.ge.u32 %p2, %r2, 64; @%p2 bra DONE; bar.arrive 1, 128; add.u32 %r4, %r4, 5;
        DONE: add.u32 %r4, %r4, 1;
        """,
    ),
    "released_by_a_later_lane": (
        "lanes that wait for one of their warp, which arrives further on in the code",
        INIT.format(bar="{name}_bars", count=1)
        + """
        bar.sync 0; @%p1 bra LATER;
        WAIT: mbarrier.try_wait.parity.shared.b64 %p3, [{name}_bars], 0; @!%p3 bra WAIT;
        LATER: mad.lo.u32 %r4, %r4, 3, %r2; xor.b32 %r4, %r4, 77;
        @!%p1 bra DONE; mbarrier.arrive.shared.b64 _, [{name}_bars];
        DONE: add.u32 %r4, %r4, 1;
        """,
    ),
    "some_wait_no_longer": (
        "lanes that go on without waiting, one of which the others wait for, with a loop left one by one in between",
        INIT.format(bar="{name}_bars", count=1)
        + """
        bar.sync 0; setp.eq.u32 %p4, %r15, 6;
        WAIT: mbarrier.try_wait.parity.shared.b64 %p3, [{name}_bars], 0; @%p4 bra PAST; @!%p3 bra WAIT;
        PAST: mov.u32 %r9, %r2; LOOP: add.u32 %r9, %r9, 50; setp.lt.u32 %p5, %r9, 300; @%p5 bra LOOP;
        add.u32 %r4, %r4, %r9; setp.ne.u32 %p6, %r2, 6; @%p6 bra DONE; mbarrier.arrive.shared.b64 _, [{name}_bars];
        DONE: setp.ge.u32 %p6, %r2, 64; @%p6 bra END; bar.sync 1, 64;
        END: add.u32 %r4, %r4, 1;
        """,
    ),
    "copies_that_arrive": (
        "`cp.async` whose completion arrives at an mbarrier",
        INIT.format(bar="{name}_bars", count=128)
        + """
        bar.sync 0; cp.async.ca.shared.global [%r14], [%rd1], 4;
        cp.async.mbarrier.arrive.noinc.shared.b64 [{name}_bars];
        WAIT: mbarrier.test_wait.parity.shared.b64 %p2, [{name}_bars], 0; @!%p2 bra WAIT;
        xor.b32 %r17, %r13, 256; mov.u32 %r16, {name}_tile; add.u32 %r17, %r16, %r17; ld.shared.u32 %r4, [%r17];
        """,
    ),
    "copies_in_groups": (
        "`cp.async` in groups, two of them on the way",
        """
        mov.u32 %r9, 0; mov.u32 %r16, {name}_tile; xor.b32 %r17, %r13, 256; add.u32 %r17, %r16, %r17;
        cp.async.ca.shared.global [%r14], [%rd1], 4; cp.async.commit_group;
        LOOP: cp.async.ca.shared.global [%r14+512], [%rd1], 4; cp.async.commit_group;
        cp.async.wait_group 1; bar.sync 0; ld.shared.u32 %r10, [%r17]; bar.sync 0; mad.lo.u32 %r4, %r4, 3, %r10;
        cp.async.ca.shared.global [%r14], [%rd1], 4; cp.async.commit_group; cp.async.wait_group 1; bar.sync 0;
        ld.shared.u32 %r10, [%r17+512]; bar.sync 0; mad.lo.u32 %r4, %r4, 5, %r10;
        add.u32 %r9, %r9, 1; setp.lt.u32 %p3, %r9, 2; @%p3 bra LOOP;
        cp.async.wait_all;
        """,
    ),
    "bulk_copies": (
        "a ring of two stages that one thread fills by bulk copies with a count of bytes, for all",
        """
        ld.param.u64 %rd5, [{name}_in]; mov.u32 %r16, {name}_bars; mov.u32 %r17, {name}_tile; setp.eq.u32 %p1, %r2, 0;
        @%p1 mbarrier.init.shared.b64 [%r16], 1; @%p1 mbarrier.init.shared.b64 [%r16+8], 1;
        fence.proxy.async.shared::cta; bar.sync 0; mov.u32 %r9, 0; @!%p1 bra LATER;
        mbarrier.arrive.expect_tx.shared.b64 _, [%r16], 512;
        cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r17], [%rd5], 512, [%r16];
        LATER: and.b32 %r18, %r9, 1; shr.u32 %r19, %r9, 1; and.b32 %r19, %r19, 1; mad.lo.u32 %r20, %r18, 8, %r16;
        mad.lo.u32 %r21, %r18, 512, %r17; add.u32 %r21, %r21, %r13; xor.b32 %r22, %r18, 1; add.u32 %r23, %r9, 1;
        setp.lt.u32 %p2, %r23, 5; and.pred %p3, %p1, %p2; @!%p3 bra FULL;
        mad.lo.u32 %r24, %r22, 8, %r16; mad.lo.u32 %r25, %r22, 512, %r17; mul.wide.u32 %rd6, %r23, 16;
        add.s64 %rd6, %rd6, %rd5; mbarrier.arrive.expect_tx.shared.b64 _, [%r24], 512;
        cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r25], [%rd6], 512, [%r24];
        FULL: mbarrier.try_wait.parity.shared.b64 %p4, [%r20], %r19; @!%p4 bra FULL;
        ld.shared.u32 %r10, [%r21]; mad.lo.u32 %r4, %r4, 3, %r10; bar.sync 0;
        add.u32 %r9, %r9, 1; setp.lt.u32 %p5, %r9, 5; @%p5 bra LATER;
        """,
    ),
    "bulk_store": (
        "a result that one thread stores by a bulk copy",
        """
        add.u32 %r4, %r4, 7; st.shared.u32 [%r14], %r4; fence.proxy.async.shared::cta; bar.sync 0;
        setp.ne.u32 %p1, %r2, 0; @%p1 ret;
        mov.u32 %r16, {name}_tile; cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r16], 512;
        cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; ret;
        """,
    ),
    "grids": (
        "`griddepcontrol`",
        """
        griddepcontrol.launch_dependents; griddepcontrol.wait; ld.global.u32 %r10, [%rd1]; add.u32 %r4, %r4, %r10;
        """,
    ),
    "one_lane_copies": (
        "a ring of two stages that one lane of the first warp fills by bulk copies, for the other warps",
        """
        ld.param.u64 %rd5, [{name}_in]; mov.u32 %r16, {name}_bars; mov.u32 %r17, {name}_tile; setp.eq.u32 %p1, %r2, 0;
        @%p1 mbarrier.init.shared.b64 [%r16], 1; @%p1 mbarrier.init.shared.b64 [%r16+8], 1;
        @%p1 mbarrier.init.shared.b64 [%r16+16], 96; @%p1 mbarrier.init.shared.b64 [%r16+24], 96; bar.sync 0;
        shr.u32 %r10, %r2, 5; shfl.sync.idx.b32 %r10, %r10, 0, 31, -1; setp.ne.u32 %p2, %r10, 0; mov.u32 %r9, 0;
        @%p2 bra CONSUME; setp.ne.u32 %p3, %r15, 0; @%p3 bra DONE;
        PRODUCE: and.b32 %r18, %r9, 1; shr.u32 %r19, %r9, 1; and.b32 %r19, %r19, 1; xor.b32 %r19, %r19, 1;
        mad.lo.u32 %r20, %r18, 8, %r16; mad.lo.u32 %r21, %r18, 128, %r17;
        EMPTY: mbarrier.try_wait.parity.shared.b64 %p3, [%r20+16], %r19; @!%p3 bra EMPTY;
        mbarrier.arrive.expect_tx.shared.b64 _, [%r20], 128; mul.wide.u32 %rd6, %r9, 32; add.s64 %rd6, %rd6, %rd5;
        cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r21], [%rd6], 128, [%r20];
        add.u32 %r9, %r9, 1; setp.lt.u32 %p4, %r9, 6; @%p4 bra PRODUCE;
        bra DONE;
        CONSUME: and.b32 %r18, %r9, 1; shr.u32 %r19, %r9, 1; and.b32 %r19, %r19, 1; shl.b32 %r22, %r15, 2;
        mad.lo.u32 %r20, %r18, 8, %r16; mad.lo.u32 %r21, %r18, 128, %r17; add.u32 %r21, %r21, %r22;
        FULL: mbarrier.try_wait.parity.shared.b64 %p3, [%r20], %r19; @!%p3 bra FULL;
        ld.shared.u32 %r10, [%r21]; mad.lo.u32 %r4, %r4, 3, %r10; mbarrier.arrive.shared.b64 _, [%r20+16];
        add.u32 %r9, %r9, 1; setp.lt.u32 %p4, %r9, 6; @%p4 bra CONSUME;
        DONE: add.u32 %r4, %r4, 1;
        """,
    ),
    "flag_in_function": (
        "threads that wait for a flag which a function reads, and another function raises",
        RAISED + "SPIN: " + PEEK.replace("FUNCTION", "peek") + SEEN,
    ),
    "flag_in_inner_function": (
        "the same by a function of that function, which leaves it in the caller's memory",
        RAISED
        + """
        cvta.local.u64 %rd6, %rd6;
        SPIN: { .param .b32 a; .param .b64 b; st.param.b32 [a], %r16; st.param.b64 [b], %rd6; call.uni look, (a, b); }
        ld.local.u32 %r18, [own];"""
        + SEEN,
    ),
    "wait_in_function": (
        "the loop that waits for the flag in a function",
        RAISED + PEEK.replace("FUNCTION", "until") + " SPIN: " + SEEN,
    ),
    "flag_through_memory": (
        "the flag held in memory of the thread before it is looked at",
        RAISED
        + """
        SPIN: ld.volatile.shared.u32 %r19, [%r16]; st.local.u32 [%rd6+4], %r19; mov.u32 %r19, 1;
        ld.local.u32 %r18, [own+4];"""
        + SEEN,
    ),
    "flag_by_generic_address": (
        "the flag read by a generic address, as builds for a debugger do",
        RAISED + "SPIN: ld.acquire.gpu.u32 %r18, [%rd5];" + SEEN,
    ),
    "lock_in_functions": (
        "a spin lock as in a debug build, taken and let go in functions",
        """
        mov.u32 %r16, {name}_bars; setp.eq.u32 %p1, %r2, 0; mov.u32 %r17, 0; @%p1 st.shared.u32 [%r16], %r17;
        @%p1 st.shared.u32 [%r16+4], %r17; bar.sync 0; setp.ne.u32 %p2, %r15, 7; @%p2 bra DONE;
        cvt.u64.u32 %rd7, %r16; cvta.shared.u64 %rd5, %rd7;
        SPIN: { .param .b64 a; .param .b32 b; .param .b32 c; .param .b32 d; st.param.b64 [a], %rd5; st.param.b32 [b], 0;
        st.param.b32 [c], 1; call.uni (d), swap, (a, b, c); ld.param.b32 %r18, [d]; }
        setp.ne.s32 %p3, %r18, 0; not.pred %p4, %p3; @%p4 bra PAST; bra.uni NEXT; NEXT: bra.uni SPIN;
        PAST: ld.volatile.shared.u32 %r19, [%r16+4]; add.u32 %r19, %r19, %r3; st.volatile.shared.u32 [%r16+4], %r19;
        membar.cta; { .param .b64 a; .param .b32 b; .param .b32 c; .param .b32 d; st.param.b64 [a], %rd5;
        st.param.b32 [b], 1; st.param.b32 [c], 0; call.uni (d), swap, (a, b, c); }
        DONE: bar.sync 0; ld.shared.u32 %r21, [%r16+4]; add.u32 %r4, %r4, %r21;
        """,
    ),
    "barrier_in_function": (
        "barriers in a device function, which is called twice",
        """
        mov.u32 %r9, 0;
        LOOP: { .param .b32 param0; .param .b32 param1; .param .b32 retval0; st.param.b32 [param0], %r4;
        st.param.b32 [param1], 3; call.uni (retval0), exchange, (param0, param1); ld.param.b32 %r10, [retval0]; }
        add.u32 %r4, %r4, %r10; call (%r11), halves, (%r4); add.u32 %r4, %r4, %r11;
        add.u32 %r9, %r9, 1; setp.lt.u32 %p3, %r9, 2; @%p3 bra LOOP;
        """,
    ),
}

FUNCTIONS = """
.shared .align 4 .b8 pool[512];
.func (.param .b32 result) exchange(.param .b32 value, .param .b32 rounds)
{
    .reg .pred %p<3>; .reg .b32 %r<12>;
    ld.param.u32 %r1, [value]; ld.param.u32 %r2, [rounds]; mov.u32 %r4, %tid.x; shl.b32 %r5, %r4, 2;
    mov.u32 %r6, pool; add.u32 %r7, %r6, %r5; xor.b32 %r8, %r5, 256; add.u32 %r8, %r8, %r6;
    AGAIN: st.shared.u32 [%r7], %r1; bar.sync 0; ld.shared.u32 %r9, [%r8]; bar.sync 0; mad.lo.u32 %r1, %r1, 3, %r9;
    sub.u32 %r2, %r2, 1; setp.ne.u32 %p1, %r2, 0; @%p1 bra AGAIN;
    setp.gt.u32 %p2, %r1, 5000; @%p2 bra LARGE; st.param.b32 [result], %r1; ret;
    LARGE: shr.u32 %r1, %r1, 1; st.param.b32 [result+0], %r1; ret;
}
.func (.reg .b32 sum) halves(.reg .b32 value)
{
    .reg .pred %p<2>; .reg .b32 %r<4>;
    shfl.sync.bfly.b32 %r1, value, 9, 31, -1; add.u32 sum, value, %r1;
    mov.u32 %r2, %tid.x; setp.lt.u32 %p1, %r2, 64; @%p1 bra LOW; bar.sync 1, 64; ret;
    LOW: bar.sync 2, 64; ret;
}
.func (.param .b32 result) peek(.param .b32 place)
{
    .reg .b32 %r<3>;
    ld.param.u32 %r1, [place]; ld.volatile.shared.u32 %r2, [%r1]; st.param.b32 [result], %r2; ret;
}
.func look(.param .b32 place, .param .b64 found)
{
    .reg .b32 %r<3>; .reg .b64 %rd<2>;
    ld.param.u32 %r1, [place]; ld.param.u64 %rd1, [found];
    { .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; call.uni (b), peek, (a); ld.param.b32 %r2, [b]; }
    st.u32 [%rd1], %r2; ret;
}
.func (.param .b32 result) until(.param .b32 place)
{
    .reg .pred %p<2>; .reg .b32 %r<3>;
    ld.param.u32 %r1, [place];
    AGAIN: { .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; call.uni (b), peek, (a); ld.param.b32 %r2, [b]; }
    setp.eq.u32 %p1, %r2, 0; @%p1 bra AGAIN; st.param.b32 [result], %r2; ret;
}
.func answer(.param .b32 place)
{
    .reg .b32 %r<3>;
    ld.param.u32 %r1, [place]; mov.u32 %r2, 1; st.volatile.shared.u32 [%r1], %r2; ret;
}
.func (.param .b32 result) swap(.param .b64 place, .param .b32 old, .param .b32 new)
{
    .reg .b32 %r<4>; .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [place]; ld.param.u32 %r1, [old]; ld.param.u32 %r2, [new];
    atom.cas.b32 %r3, [%rd1], %r1, %r2; st.param.b32 [result], %r3; ret;
}
.func (.param .b32 result) fetch(.param .b64 place)
{
    .reg .b32 %r<2>; .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [place]; ld.global.cg.u32 %r1, [%rd1]; st.param.b32 [result], %r1; ret;
}
"""

# What the emulator lacks: woven, taken by ptxas, and looked at.
NOT_EMULATED = {
    "warpgroup": (
        "`wgmma` in a loop between barriers",
        """
        .reg .f32 %f<5>; .reg .b64 %descriptor;
        mov.u32 %r16, {name}_tile; cvt.u64.u32 %descriptor, %r16; shr.u64 %descriptor, %descriptor, 4;
        and.b64 %descriptor, %descriptor, 16383; mov.u32 %r9, 0; mov.f32 %f1, 0f00000000; mov.f32 %f2, %f1;
        mov.f32 %f3, %f1; mov.f32 %f4, %f1;
        LOOP: st.shared.u32 [%r14], %r3; fence.proxy.async; bar.sync 0; wgmma.fence.sync.aligned;
        wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %descriptor, %descriptor, 1, 1, 1, 0, 0;
        wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; bar.sync 0;
        add.u32 %r9, %r9, 1; setp.lt.u32 %p3, %r9, %r5; @%p3 bra LOOP;
        add.f32 %f1, %f1, %f4; mov.b32 %r4, %f1;
        """,
    ),
    "cluster": (
        "the barrier of a cluster, and shared memory of another CTA",
        """
        st.shared.u32 [%r14], %r3; mov.u32 %r16, %cluster_ctarank; xor.b32 %r16, %r16, 1;
        barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned; mapa.shared::cluster.u32 %r17, %r14, %r16;
        ld.shared::cluster.u32 %r4, [%r17]; barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
        """,
    ),
}
DIRECTIVES = {"cluster": ".reqnctapercluster 2, 1, 1\n"}

# Refused whatever stands beside them.
REFUSED = {
    "unknown_cluster": ("a cluster whose shape is not stated", "mov.u32 %r4, %cluster_nctarank;"),
    "registers_moved": ("`setmaxnreg`", "setmaxnreg.inc.sync.aligned.u32 64;"),
    "tensor_memory": ("`tcgen05`", "tcgen05.wait::ld.sync.aligned;"),
    "stolen_work": ("`clusterlaunchcontrol`", "clusterlaunchcontrol.try_cancel.async.b128 [%r14], [{name}_bars];"),
    "breakpoint": ("`brkpt`", "brkpt;"),
    "other_ctas": (
        "a loop that waits for a word of global memory, another CTA perhaps",
        "SPIN: ld.acquire.gpu.global.u32 %r10, [%rd1]; setp.eq.u32 %p1, %r10, 0; @%p1 bra SPIN;",
    ),
    "other_ctas_in_function": (
        "the same by a function",
        "SPIN: { .param .b64 a; .param .b32 b; st.param.b64 [a], %rd1; call.uni (b), fetch, (a);"
        " ld.param.b32 %r10, [b]; } setp.eq.u32 %p1, %r10, 0; @%p1 bra SPIN;",
    ),
    "other_ctas_past_the_cache": (
        "the same by loads that go past the first cache, as often as a word of the flags is not set",
        "mov.u32 %r9, 0; SPIN: ld.global.cv.u32 %r10, [%rd1]; setp.eq.u32 %p1, %r10, 0; selp.b64 %rd5, 0, 4, %p1;"
        " add.s64 %rd1, %rd1, %rd5; @%p1 bra SPIN;",
    ),
    "ends_amid_waits": (
        "lanes that wait one by one, of which some end the kernel before a barrier that counts",
        INIT.format(bar="{name}_bars", count=1)
        + """
        bar.sync 0; setp.ne.u32 %p2, %r2, 5; @%p2 bra WAIT; mbarrier.arrive.shared.b64 _, [{name}_bars];
        WAIT: mbarrier.try_wait.parity.shared.b64 %p3, [{name}_bars+0], 0; setp.gt.u32 %p4, %r3, 10; @%p4 bra PAST;
        @!%p3 bra WAIT;
        PAST: setp.ge.u32 %p5, %r2, 100; @%p5 ret; bar.sync 1, 128;
        setp.ne.u32 %p6, %r2, 6; @%p6 bra DONE; mbarrier.arrive.shared.b64 _, [{name}_bars];
        DONE: add.u32 %r4, %r4, %r9;
        """,
    ),
}


def text(target: str = "sm_90a", names: Collection[str] = (*KERNELS, *NOT_EMULATED)) -> str:
    """These of them as one module."""
    entries = []
    for name, (_, body) in (KERNELS | NOT_EMULATED | REFUSED).items():
        if name in names:
            parameters = f".param .u64 {name}_in, .param .u64 {name}_out, .param .u32 {name}_n"
            code = f"{PROLOGUE}{body}{EPILOGUE}".replace("{name}", name)
            entries.append(f".visible .entry {name}({parameters})\n{DIRECTIVES.get(name, '')}{{{code}}}\n")
    return f".version 8.0\n.target {target}\n.address_size 64\n{FUNCTIONS}" + "".join(entries)
