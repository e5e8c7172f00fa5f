"""Threads that wait for each other in loops: locks, flags, tickets, queues; and loops that wait for ever."""

import numpy as np
import pytest
from emulator.threads import agrees, fault, module, run

import goptx

SEEDS = (0, 1, 2, 3)

# The lock is the word at %rd8 (out[0] of the grid), the counter the word at %rd7 (in[0]).
LOCK = """
ENTER:
    atom.global.acquire.gpu.cas.b32 %r6, [%rd8], 0, 1;
    setp.ne.u32 %p1, %r6, 0;
    @%p1 bra ENTER;
    ld.volatile.global.u32 %r5, [%rd7];
    add.u32 %r7, %r5, 1;
    st.volatile.global.u32 [%rd7], %r7;
    atom.global.release.gpu.exch.b32 %r6, [%rd8], 0;
"""
# As nvcc writes `while (!done) if (atomicCAS(...) == 0) { ...; done = true; }`
LOCK_INSIDE = """
    mov.u32 %r9, 0;
AGAIN:
    atom.global.acquire.gpu.cas.b32 %r6, [%rd8], 0, 1;
    setp.ne.u32 %p1, %r6, 0;
    @%p1 bra NEXT;
    ld.global.u32 %r5, [%rd7];
    add.u32 %r7, %r5, 1;
    st.global.u32 [%rd7], %r7;
    membar.gl;
    atom.global.exch.b32 %r6, [%rd8], 0;
    mov.u32 %r9, 1;
NEXT:
    setp.eq.u32 %p2, %r9, 0;
    @%p2 bra AGAIN;
"""
TICKETS = """
    atom.global.add.u32 %r6, [%rd8], 1;
TURN:
    ld.acquire.gpu.global.u32 %r5, [%rd7];
    setp.ne.u32 %p1, %r5, %r6;
    @%p1 bra TURN;
    add.u32 %r7, %r5, 1;
    st.release.gpu.global.u32 [%rd7], %r7;
"""


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("body", [LOCK, LOCK_INSIDE, TICKETS], ids=["lock", "inside", "tickets"])
@pytest.mark.parametrize(("grid", "block"), [(1, 33), (2, 20)])
def test_lock(body: str, grid: int, block: int, seed: int) -> None:
    """Everybody passes, one at a time; the lanes of a warp meet again behind it."""
    threads = grid * block
    whole = "bar.warp.sync 0xffffffff; setp.eq.u32 %p3, %r0, %r0; vote.sync.all.pred %p4, %p3, 0xffffffff;"
    given, out = np.zeros(threads, np.uint32), np.zeros(threads + 1, np.uint32)
    source = module(body + whole, end="st.global.u32 [%rd2+4], %r5; ret;")
    goptx.emulate(source, grid, block, [given, out, 0], seed=seed)
    assert given[0] == threads
    assert sorted(out[1:].tolist()) == list(range(threads))


@pytest.mark.parametrize("seed", SEEDS)
def test_flags_from_one_cta_to_the_next(seed: int) -> None:
    """Each CTA waits for the one that it has behind it: the last goes first."""
    body = """
        mov.u32 %r6, %ctaid.x; mov.u32 %r7, %nctaid.x;
        add.u32 %r8, %r6, 1;
        setp.eq.u32 %p1, %r8, %r7;
        @%p1 bra OWN;
        mad.wide.u32 %rd3, %r8, 4, %rd7;
    WAIT:
        ld.acquire.gpu.global.u32 %r5, [%rd3];
        setp.eq.u32 %p2, %r5, 0;
        @%p2 bra WAIT;
    OWN:
        add.u32 %r5, %r5, 1;
        mad.wide.u32 %rd3, %r6, 4, %rd7;
        bar.sync 0;
        st.release.gpu.global.u32 [%rd3], %r5;
    """
    given = np.zeros(12 * 40, np.uint32)
    out, _ = run(body, grid=12, block=40, given=given, seed=seed)
    assert out == [12 - i // 40 for i in range(480)]


@pytest.mark.parametrize("seed", SEEDS)
def test_flag_from_one_warp_to_another(seed: int) -> None:
    """The producer is slow, and sits in the same CTA; what it wrote ahead of the flag is seen behind it."""
    body = """
        setp.eq.u32 %p4, %r0, 0; @%p4 st.shared.u32 [tile], 0; bar.sync 0;
        setp.lt.u32 %p1, %r0, 32;
        @%p1 bra WAIT;
        mov.u32 %r6, 0;
    WORK:
        mad.lo.u32 %r7, %r6, 3, %r3; add.u32 %r6, %r6, 1; setp.lt.u32 %p2, %r6, 500; @%p2 bra WORK;
        setp.ne.u32 %p3, %r0, 50;
        @%p3 bra DONE;
        st.shared.u32 [tile+4], 77;
        membar.cta;
        st.volatile.shared.u32 [tile], 1;
        bra DONE;
    WAIT:
        ld.volatile.shared.u32 %r6, [tile]; setp.ne.u32 %p2, %r6, 1; nanosleep.u32 20; @%p2 bra WAIT;
        ld.shared.u32 %r5, [tile+4];
    DONE:
    """
    agrees(body, lambda i, v: 77 if i < 32 else 0, seeds=(seed,), races=True)


@pytest.mark.parametrize("seed", SEEDS)
def test_one_lane_waits_for_another_of_its_warp(seed: int) -> None:
    """The lane that raises the flag stands behind the loop that the others are in."""
    body = """
        setp.eq.u32 %p4, %r0, 0; @%p4 st.shared.u32 [tile], 0; bar.sync 0;
        setp.eq.u32 %p1, %r2, 31;
        @%p1 bra RAISE;
    WAIT:
        ld.volatile.shared.u32 %r5, [tile]; setp.eq.u32 %p2, %r5, 0; @%p2 bra WAIT;
        bra JOIN;
    RAISE:
        st.volatile.shared.u32 [tile], 5;
    JOIN:
        shfl.sync.idx.b32 %r5, %r5, 4, 31, 0xffffffff;
    """
    agrees(body, lambda i, v: 5, seeds=(seed,))


@pytest.mark.parametrize("seed", SEEDS)
def test_queue(seed: int) -> None:
    """A loop whose end an atomic decides need not wait for anybody: long ones are no deadlock."""
    body = """
    TAKE:
        atom.global.add.u32 %r6, [%rd7], 1;
        setp.ge.u32 %p1, %r6, 20000;
        @%p1 bra DONE;
        add.u32 %r5, %r5, 1;
        bra TAKE;
    DONE:
    """
    out, _ = run(body, block=20, given=np.zeros(20, np.uint32), seed=seed)
    assert sum(out) == 20000


def test_patience_that_ends() -> None:
    """A thread may give up waiting after many turns."""
    body = """
    WAIT:
        add.u32 %r5, %r5, 1;
        ld.volatile.global.u32 %r6, [%rd7];
        setp.eq.u32 %p1, %r6, 12345;
        setp.ge.u32 %p2, %r5, 5000;
        or.pred %p1, %p1, %p2;
        @!%p1 bra WAIT;
    """
    out, _ = run(body, block=40)
    assert out == [5000] * 40


@pytest.mark.parametrize("body", [
    "ld.volatile.global.u32 %r6, [%rd7]; setp.ne.u32 %p1, %r6, 12345; @%p1 bra WAIT;",
    "ld.relaxed.gpu.global.u32 %r6, [%rd7]; setp.ne.u32 %p1, %r6, 12345; xor.b32 %r5, %r5, 1; @%p1 bra WAIT;",
    "st.volatile.global.u32 [%rd2], 1; ld.volatile.global.u32 %r6, [%rd7]; setp.ne.u32 %p1, %r6, 12345; @%p1 bra WAIT;",
    "atom.global.or.b32 %r6, [%rd7], 0; setp.ne.u32 %p1, %r6, 12345; nanosleep.u32 100; @%p1 bra WAIT;",
    "atom.global.exch.b32 %r6, [%rd7], 1; setp.ne.u32 %p1, %r6, 12345; @%p1 bra WAIT;",
    "ld.acquire.gpu.global.u32 %r6, [%rd7]; vote.sync.any.pred %p2, %p1, -1; setp.ne.u32 %p1, %r6, 12345;"
    "vote.sync.any.pred %p1, %p1, -1; @%p1 bra WAIT;",
])  # fmt: skip
@pytest.mark.parametrize("seed", [0, 1])
def test_waiting_for_ever(body: str, seed: int) -> None:
    found = fault("setp.eq.u32 %p1, %r0, %r0;\nWAIT:\n" + body, block=33, grid=2, seed=seed)
    assert found.kind == "deadlock"
    assert "in a loop that waits for another thread" in str(found)


def test_waiting_for_ever_and_counting() -> None:
    body = "W: add.u32 %r5, %r5, 1; ld.volatile.global.u32 %r6, [%rd7]; setp.ne.u32 %p1, %r6, 12345; @%p1 bra W;"
    assert fault(body, block=1).kind == "deadlock"


def test_who_waits_for_a_lock() -> None:
    """The holder has gone to a barrier, which the others never reach."""
    body = """
        setp.eq.u32 %p4, %r0, 0; @%p4 st.shared.u32 [tile], 0; bar.sync 0;
    ENTER: atom.shared.cas.b32 %r6, [tile], 0, 1;
        setp.ne.u32 %p1, %r6, 0;
        @%p1 bra ENTER;
        barrier.sync 0;
        atom.shared.exch.b32 %r6, [tile], 0;
    """
    found = fault(body)
    assert found.kind == "deadlock"
    assert "thread 0 (lane 0 of warp 0) at <ptx>:28: `barrier.sync 0;`" in str(found)
    assert "waits for threads 1-31" in str(found)
    assert "threads 1-63 at <ptx>:25: `atom.shared.cas.b32 %r6, [tile], 0, 1;`" in str(found)


# Producers of the first warp fill a buffer in shared memory, consumers of the second empty it, eight times over.
# tile: two mbarriers, full and empty; tile+64: the buffer.
PIPELINE = """
    setp.eq.u32 %p1, %r0, 0;
    @%p1 mbarrier.init.shared.b64 [tile], 32;
    @%p1 mbarrier.init.shared.b64 [tile+8], 32;
    mov.u32 %r9, tile; mad.lo.u32 %r9, %r2, 4, %r9;
    mov.u32 %r6, 0;
    bar.sync 0;
    setp.ge.u32 %p2, %r0, 32;
    @%p2 bra CONSUME;
PRODUCE:
    setp.eq.u32 %p3, %r6, 0;
    @%p3 bra FILL;
    sub.u32 %r8, %r6, 1; and.b32 %r8, %r8, 1;
EMPTY:
    mbarrier.try_wait.parity.shared.b64 %p4, [tile+8], %r8;
    @!%p4 bra EMPTY;
FILL:
    mad.lo.u32 %r7, %r6, 100, %r2;
    st.shared.u32 [%r9+64], %r7;
    mbarrier.arrive.shared.b64 %rd3, [tile];
    add.u32 %r6, %r6, 1; setp.lt.u32 %p3, %r6, 8;
    @%p3 bra PRODUCE;
    bra DONE;
CONSUME:
    and.b32 %r8, %r6, 1;
FULL:
    mbarrier.try_wait.parity.shared.b64 %p4, [tile], %r8;
    @!%p4 bra FULL;
    ld.shared.u32 %r7, [%r9+64];
    add.u32 %r5, %r5, %r7;
    mbarrier.arrive.shared.b64 %rd3, [tile+8];
    add.u32 %r6, %r6, 1; setp.lt.u32 %p3, %r6, 8;
    @%p3 bra CONSUME;
DONE:
"""


@pytest.mark.parametrize("races", [False, True])
def test_pipeline_of_mbarriers(races: bool) -> None:
    agrees(PIPELINE, lambda i, v: 0 if i < 32 else sum(k * 100 + i % 32 for k in range(8)), seeds=SEEDS, races=races)


def test_pipeline_that_does_not_wait_for_empty_buffers_races() -> None:
    body = PIPELINE.replace("@%p3 bra FILL;", "bra FILL;")
    assert {fault(body, seed=seed, races=True).kind for seed in SEEDS} <= {"race", "barrier count", "deadlock"}


@pytest.mark.parametrize("number", range(6))
def test_many_swaps_at_few_places_go_in_turn(number: int) -> None:
    """Lanes that swap at one address in one instruction do it one after the other."""
    body = """
        and.b32 %r6, %r3, 3; mul.wide.u32 %rd3, %r6, 4; add.u64 %rd3, %rd3, %rd7;
        bfe.u32 %r7, %r3, 2, 2; bfe.u32 %r8, %r3, 4, 2;
        atom.global.cas.b32 %r5, [%rd3], %r7, %r8;
    """
    given = np.random.default_rng(number).integers(0, 64, 96, np.uint32)
    places = given[:4].tolist()
    want = []
    for v in given.tolist():
        want.append(places[v & 3])
        if places[v & 3] == v >> 2 & 3:
            places[v & 3] = v >> 4 & 3
    changed = given.copy()
    out, _ = run(body, block=96, given=changed)
    assert out == want
    assert changed[:4].tolist() == places
