"""Kernels that strict mode must catch, each beside the same kernel repaired.

Each runs as one CTA of 64 threads, in `threads.BEGIN` and `threads.END`; %r0 is the thread, %r2 the lane.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

LOW = "setp.lt.u32 %p1, %r2, 16;\n"  # the lower half of each warp
FIRST = "setp.lt.u32 %p1, %r0, 32;\n"  # the first warp
TILE = "mov.u32 %r9, tile; mad.lo.u32 %r6, %r0, 4, %r9;\n"  # where each thread's word of shared memory is
# The second warp waits until a lane of the first raises a flag.
RAISED = """
    setp.eq.u32 %p5, %r0, 0; @%p5 st.shared.u32 [tile], 0; bar.sync 0; setp.lt.u32 %p6, %r0, 32; @%p6 bra FIRST;
    WAIT: ld.volatile.shared.u32 %r6, [tile]; setp.eq.u32 %p4, %r6, 0; @%p4 bra WAIT;
    bra LAST;
    FIRST:
"""
RAISE = "setp.eq.u32 %p3, %r2, 20; @%p3 st.volatile.shared.u32 [tile], 1;\n LAST:"


@dataclass(frozen=True)
class Faulty:
    """`at` is the line of the fault, `threads` those that it names, both for seed 0; `kind` as in `EmulationFault`.
    Where warps that come one after the other do nothing wrong, `seeds` has those that let them come together."""

    name: str
    kind: str
    at: str
    threads: Sequence[int]
    broken: str
    repaired: str
    options: dict[str, Any] = field(default_factory=dict)
    seeds: tuple[int, ...] = (0, 1, 2)


ALL = range(64)


FAULTY = [
    # convergence -------------------------------------------------------------------------------------
    Faulty(
        "shuffle of a whole warp in half of it", "convergence",
        "shfl.sync.bfly.b32 %r5, %r3, 1, 31, 0xffffffff;", range(16),
        f"{LOW} @!%p1 bra J;\n shfl.sync.bfly.b32 %r5, %r3, 1, 31, 0xffffffff;\n J:",
        f"{LOW} @!%p1 bra J;\n shfl.sync.bfly.b32 %r5, %r3, 1, 31, 0x0000ffff;\n J:",
    ),
    Faulty(
        "the same, while another warp waits for this one", "convergence",
        "shfl.sync.bfly.b32 %r5, %r3, 1, 31, 0xffffffff;", range(16),
        f"{RAISED} {LOW} @!%p1 bra J;\n shfl.sync.bfly.b32 %r5, %r3, 1, 31, 0xffffffff;\n J: {RAISE}",
        f"{RAISED} {LOW} @!%p1 bra J;\n shfl.sync.bfly.b32 %r5, %r3, 1, 31, 0x0000ffff;\n J: {RAISE}",
    ),
    Faulty(
        "guarded shuffle of a whole warp", "convergence",
        "@%p1 shfl.sync.bfly.b32 %r5, %r3, 3, 31, -1;", range(16),
        f"{LOW}\n @%p1 shfl.sync.bfly.b32 %r5, %r3, 3, 31, -1;\n",
        f"{LOW}\n @%p1 shfl.sync.bfly.b32 %r5, %r3, 3, 31, 0xffff;\n",
    ),
    Faulty(
        "one vote in two places", "convergence",
        "vote.sync.any.pred %p2, %p1, 0xffffffff;", range(16),
        f"""{LOW} @!%p1 bra E;
            vote.sync.any.pred %p2, %p1, 0xffffffff;
            bra J;
         E: vote.sync.any.pred %p2, %p1, 0xffffffff; // here too
         J: selp.u32 %r5, 1, 2, %p2;""",
        f"""{LOW} @!%p1 bra E;
            vote.sync.any.pred %p2, %p1, 0x0000ffff;
            bra J;
         E: vote.sync.any.pred %p2, %p1, 0xffff0000;
         J: selp.u32 %r5, 1, 2, %p2;""",
    ),
    Faulty(
        "a mask without the lane that names it", "convergence",
        "match.any.sync.b32 %r5, %r3, 0xfffffffe;", (0, 32),
        "match.any.sync.b32 %r5, %r3, 0xfffffffe;\n",
        "setp.ne.u32 %p1, %r2, 0;\n @%p1 match.any.sync.b32 %r5, %r3, 0xfffffffe;\n",
    ),
    Faulty(
        "masks of different lanes that do not agree", "convergence",
        "redux.sync.add.u32 %r5, %r3, %r6;", (*range(8), *range(24, 40), *range(56, 64)),
        "setp.lt.u32 %p1, %r2, 8; setp.ge.u32 %p2, %r2, 24; or.pred %p1, %p1, %p2;"
        "selp.u32 %r6, 0xffffffff, 0x00ffff00, %p1;\n redux.sync.add.u32 %r5, %r3, %r6;\n",
        "setp.lt.u32 %p1, %r2, 8; setp.ge.u32 %p2, %r2, 24; or.pred %p1, %p1, %p2;"
        "selp.u32 %r6, 0xff0000ff, 0x00ffff00, %p1;\n redux.sync.add.u32 %r5, %r3, %r6;\n",
    ),
    Faulty(
        "warp barrier in a loop of unequal trips", "convergence",
        "bar.warp.sync 0xffffffff;", range(1, 32),
        "mov.u32 %r6, 0;\n L:\n bar.warp.sync 0xffffffff;\n"
        "add.u32 %r6, %r6, 1; setp.le.u32 %p1, %r6, %r2;\n @%p1 bra L;",
        "mov.u32 %r6, 0;\n L:\n bar.warp.sync 0xffffffff;\n"
        "add.u32 %r6, %r6, 1; setp.le.u32 %p1, %r6, 3;\n @%p1 bra L;",
    ),
    Faulty(
        "branch that is not uniform", "convergence",
        "@%p1 bra.uni J;", range(32),
        "setp.eq.u32 %p1, %r0, 5;\n @%p1 bra.uni J;\n add.u32 %r5, %r5, 1;\n J:",
        "setp.lt.u32 %p1, %r0, 32;\n @%p1 bra.uni J;\n add.u32 %r5, %r5, 1;\n J:",
    ),
    Faulty(
        "switch that is not uniform", "convergence",
        "brx.idx.uni %r6, T;", range(32, 64),
        "shr.u32 %r6, %r0, 4; min.u32 %r6, %r6, 3; max.u32 %r6, %r6, 2;\n"
        "T: .branchtargets J, J, X, Y;\n brx.idx.uni %r6, T;\n X: mov.u32 %r5, 1; bra J;\n Y: mov.u32 %r5, 2;\n J:",
        "shr.u32 %r6, %r0, 5; max.u32 %r6, %r6, 0;\n"
        "T: .branchtargets X, Y;\n brx.idx.uni %r6, T;\n X: mov.u32 %r5, 1; bra J;\n Y: mov.u32 %r5, 2;\n J:",
    ),
    Faulty(
        "guard of a switch that is not uniform", "convergence",
        "@%p1 brx.idx.uni %r6, T;", range(32),
        "setp.eq.u32 %p1, %r0, 5; mov.u32 %r6, 0;\n"
        "T: .branchtargets X, Y;\n @%p1 brx.idx.uni %r6, T;\n X: mov.u32 %r5, 1; bra J;\n Y: mov.u32 %r5, 2;\n J:",
        "setp.lt.u32 %p1, %r0, 32; mov.u32 %r6, 0;\n"
        "T: .branchtargets X, Y;\n @%p1 brx.idx.uni %r6, T;\n X: mov.u32 %r5, 1; bra J;\n Y: mov.u32 %r5, 2;\n J:",
    ),
    Faulty(
        "return that is not uniform", "convergence",
        "@%p1 ret.uni;", range(32),
        "setp.eq.u32 %p1, %r0, 5;\n @%p1 ret.uni;",
        "setp.lt.u32 %p1, %r0, 32;\n @%p1 ret.uni;",
    ),
    Faulty(
        "aligned barrier in half of a warp", "convergence",
        "bar.sync 0;", range(16),
        f"{LOW} @!%p1 bra J;\n bar.sync 0;\n J:",
        f"{LOW} @!%p1 bra J;\n mov.u32 %r5, 1;\n J: bar.sync 0;",
    ),
    Faulty(
        "aligned barrier on both sides of a branch", "convergence",
        "bar.sync 0;", range(16),
        f"{LOW} @!%p1 bra E;\n bar.sync 0;\n bra J;\n E: bar.sync 0; // again\n J:",
        f"{LOW} @!%p1 bra E;\n barrier.sync 0;\n bra J;\n E: barrier.sync 0;\n J:",
    ),
    Faulty(
        "aligned barrier in a loop that lanes leave one by one", "convergence",
        "bar.red.popc.u32 %r5, 0, %p1;", range(1, 32),
        "mov.u32 %r6, 0;\n L: setp.eq.u32 %p1, %r6, %r2;\n bar.red.popc.u32 %r5, 0, %p1;\n add.u32 %r6, %r6, 1;"
        "setp.le.u32 %p2, %r6, %r2;\n @%p2 bra L;",
        "mov.u32 %r6, 0;\n L: setp.eq.u32 %p1, %r6, %r2;\n bar.red.popc.u32 %r5, 0, %p1;\n add.u32 %r6, %r6, 1;"
        "setp.le.u32 %p2, %r6, 4;\n @%p2 bra L;",
    ),
    Faulty(
        "half a warp at one barrier, half at another", "convergence",
        "E: barrier.sync 2, 64;", (*range(16, 32), *range(48, 64)),
        f"{LOW} @!%p1 bra E;\n barrier.sync 1, 64;\n bra J;\n E: barrier.sync 2, 64;\n J:",
        f"{LOW} @!%p1 bra E;\n barrier.sync 2, 64;\n bra J;\n E: barrier.sync 2, 64;\n J:",
    ),
    Faulty(
        "matrices loaded by half of a warp", "convergence",
        "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r5}, [%r7];", range(16),
        f"{TILE} st.shared.u32 [%r6], %r3; mad.lo.u32 %r7, %r2, 16, %r9;\n bar.sync 0;\n and.b32 %r7, %r7, -16;\n"
        f"{LOW} @!%p1 bra J;\n ldmatrix.sync.aligned.m8n8.x1.shared.b16 {{%r5}}, [%r7];\n J:",
        f"{TILE} st.shared.u32 [%r6], %r3; and.b32 %r7, %r2, 7; mad.lo.u32 %r7, %r7, 16, %r9;\n bar.sync 0;\n"
        f"{LOW} ldmatrix.sync.aligned.m8n8.x1.shared.b16 {{%r5}}, [%r7];\n",
    ),
    # barrier count -----------------------------------------------------------------------------------
    Faulty(
        "count that is not a multiple of a warp", "barrier count", "bar.sync 1, 33;", ALL,
        "bar.sync 1, 33;\n", "bar.sync 1, 64;\n",
    ),
    Faulty(
        "count of more threads than there are", "barrier count", "barrier.sync 1, 96;", ALL,
        "barrier.sync 1, 96;\n", "barrier.sync 1, 64;\n",
    ),
    Faulty(
        "count of fewer threads than come", "barrier count", "bar.sync 1, 32;", ALL,
        "bar.sync 1, 32;\n", "shr.u32 %r6, %r0, 5; add.u32 %r6, %r6, 1;\n bar.sync %r6, 32;\n", seeds=(0,),
    ),
    Faulty(
        "counts that differ", "barrier count", "bar.sync 1, %r6;", ALL,
        f"{FIRST} selp.u32 %r6, 32, 64, %p1;\n bar.sync 1, %r6;\n",
        f"{FIRST} selp.u32 %r6, 64, 64, %p1;\n bar.sync 1, %r6;\n",
    ),
    Faulty(
        "counts that differ between instructions", "barrier count", "E: bar.sync 1, 32;", range(32, 64),
        f"{FIRST} @!%p1 bra E;\n bar.arrive 1, 64;\n bra J;\n E: bar.sync 1, 32;\n J:",
        f"{FIRST} @!%p1 bra E;\n bar.arrive 1, 64;\n bra J;\n E: bar.sync 1, 64;\n J:",
        seeds=(0,),
    ),
    Faulty(
        "no such barrier", "barrier count", "bar.sync 16;", ALL, "bar.sync 16;\n", "bar.sync 15;\n",
    ),
    Faulty(
        "no such barrier in a register", "barrier count", "bar.sync %r6, 32;", ALL,
        "shr.u32 %r6, %r0, 5; add.u32 %r6, %r6, 15;\n bar.sync %r6, 32;\n",
        "shr.u32 %r6, %r0, 5; add.u32 %r6, %r6, 14;\n bar.sync %r6, 32;\n",
    ),
    Faulty(
        "reduction at a plain barrier", "barrier count", "E: bar.red.popc.u32 %r5, 0, %p1;", range(32, 64),
        f"{FIRST} @!%p1 bra E;\n bar.sync 0;\n bra J;\n E: bar.red.popc.u32 %r5, 0, %p1;\n J:",
        f"{FIRST} @!%p1 bra E;\n bar.red.popc.u32 %r5, 0, %p1;\n bra J;\n E: bar.red.popc.u32 %r5, 0, %p1;\n J:",
    ),
    # deadlock ----------------------------------------------------------------------------------------
    Faulty(
        "two barriers in different order", "deadlock", "bar.sync 1;", range(32),
        f"{FIRST} @!%p1 bra E;\n bar.sync 1;\n bar.sync 2;\n bra J;\n"
        "E: bar.sync 2; // first\n bar.sync 1; // then\n J:",
        f"{FIRST} @!%p1 bra E;\n bar.sync 1;\n bar.sync 2;\n bra J;\n"
        "E: bar.sync 1; // first\n bar.sync 2; // then\n J:",
    ),
    Faulty(
        "consumer without producer", "deadlock", "bar.sync 3, 64;", range(32),
        f"{FIRST} @!%p1 bra J;\n bar.sync 3, 64;\n J:",
        f"{FIRST} @!%p1 bra E;\n bar.sync 3, 64;\n bra J;\n E: bar.arrive 3, 64;\n J:",
    ),
    Faulty(
        "part of a warp that the rest never joins", "deadlock", "barrier.sync 0;", range(16),
        "setp.lt.u32 %p1, %r0, 16;\n @!%p1 bra J;\n barrier.sync 0;\n J: ld.volatile.global.u32 %r6, [%rd7];"
        "setp.eq.u32 %p2, %r6, 12345; @!%p2 bra J;",
        "setp.lt.u32 %p1, %r0, 16;\n @!%p1 bra J;\n barrier.sync 0;\n J: ld.volatile.global.u32 %r6, [%rd7];"
        "setp.eq.u32 %p2, %r6, 12345; @%p2 bra J;",
    ),
    Faulty(
        "flag that nobody raises", "deadlock", "L: ld.acquire.gpu.global.u32 %r6, [%rd7];", ALL,
        "st.global.u32 [%rd1], 0; bar.sync 0;\n L: ld.acquire.gpu.global.u32 %r6, [%rd7];\n"
        "setp.eq.u32 %p1, %r6, 0;\n @%p1 bra L;",
        "st.global.u32 [%rd1], 0; bar.sync 0; setp.eq.u32 %p2, %r0, 40; @%p2 st.release.gpu.global.u32 [%rd7], 1;\n"
        "L: ld.acquire.gpu.global.u32 %r6, [%rd7];\n setp.eq.u32 %p1, %r6, 0;\n @%p1 bra L;",
    ),
    Faulty(
        "lock that is not released", "deadlock", "L: atom.shared.cas.b32 %r6, [tile], 0, 1;", range(1, 64),
        "st.shared.u32 [tile], 0; bar.sync 0;\n L: atom.shared.cas.b32 %r6, [tile], 0, 1;\n"
        "setp.ne.u32 %p1, %r6, 0;\n @%p1 bra L;",
        "st.shared.u32 [tile], 0; bar.sync 0;\n L: atom.shared.cas.b32 %r6, [tile], 0, 1;\n"
        "setp.ne.u32 %p1, %r6, 0;\n @%p1 bra L;\n atom.shared.exch.b32 %r6, [tile], 0;",
    ),
    Faulty(
        "mbarrier that waits for one more", "deadlock",
        "L: mbarrier.test_wait.shared.b64 %p2, [tile], %rd3;", ALL,
        "setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.init.shared.b64 [tile], 65; bar.sync 0;\n"
        "mbarrier.arrive.shared.b64 %rd3, [tile];\n L: mbarrier.test_wait.shared.b64 %p2, [tile], %rd3;\n @!%p2 bra L;",
        "setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.init.shared.b64 [tile], 64; bar.sync 0;\n"
        "mbarrier.arrive.shared.b64 %rd3, [tile];\n L: mbarrier.test_wait.shared.b64 %p2, [tile], %rd3;\n @!%p2 bra L;",
    ),
]  # fmt: skip
