"""Producers and consumers that wait for each other at mbarrier objects."""

import pytest
from emulator.threads import agrees, fault, inputs

SEEDS = (0, 1, 2, 3)

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


# Each thread copies 8 bytes, and reads those of another when all copies have arrived.
COPIES = """
    setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.init.shared.b64 [tile+1016], 64; bar.sync 0;
    mov.u32 %r9, tile; mad.lo.u32 %r6, %r0, 8, %r9; xor.b32 %r7, %r0, 33; mad.lo.u32 %r7, %r7, 8, %r9;
    and.b32 %r10, %r0, 31; mul.wide.u32 %rd3, %r10, 8; add.u64 %rd3, %rd3, %rd7;
    cp.async.ca.shared.global [%r6], [%rd3], 8;
    cp.async.mbarrier.arrive.noinc.shared.b64 [tile+1016];
WAIT:
    mbarrier.test_wait.parity.shared.b64 %p2, [tile+1016], 0;
    @!%p2 bra WAIT;
    ld.shared.u32 %r5, [%r7];
"""


@pytest.mark.parametrize("races", [False, True])
def test_copies_that_arrive_at_an_mbarrier(races: bool) -> None:
    given = inputs(64)
    agrees(COPIES, lambda i, v: int(given[((i ^ 33) & 31) * 2]), seeds=SEEDS, races=races)


def test_copies_that_nobody_waits_for() -> None:
    broken = COPIES.replace("mbarrier.test_wait.parity.shared.b64 %p2, [tile+1016], 0;", "").replace(
        "@!%p2 bra WAIT;", ""
    )
    assert {fault(broken, races=True, seed=seed).kind for seed in SEEDS} <= {"uninitialised", "race"}
