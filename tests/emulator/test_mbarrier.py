"""mbarrier objects: counts, transactions, phases, and the copies whose completion arrives at them."""

from __future__ import annotations

import numpy as np
import pytest
from emulator.snippets import fault, run

TID = "mov.u32 %r30, %tid.x; mul.wide.u32 %rd30, %r30, 4;"
SHARED = ".shared .align 16 .b8 s[4096]; .shared .align 8 .b64 bar[4];"


def words(count: int) -> np.ndarray:
    return np.arange(1, count + 1, dtype=np.uint32) * 3


COPY = "cp.async.ca.shared.global [s+{0}], [%rd0+{0}], 4;"
BEGIN = f"""{TID} setp.eq.u32 %p1, %r30, 0; @%p1 mbarrier.init.shared.b64 [bar], {{}}; bar.sync 0; add.u64 %rd31,
                                                                           %rd0, %rd30;"""


def test_pending_counts_of_one_phase_and_the_next() -> None:
    """`state` is of before the arrival; the phase ends with the last one, and begins anew with all of them."""
    out = np.zeros(8, np.uint32)
    observe = "mbarrier.pending_count.b64 %r{0}, %rd{0};"
    body = BEGIN.format(5) + """mbarrier.arrive.shared.b64 %rd1, [bar];
        mbarrier.arrive.release.cta.shared::cta.b64 %rd2, [bar], 3;
        mbarrier.test_wait.shared.b64 %p2, [bar], %rd1; selp.u32 %r6, 1, 0, %p2;
        mbarrier.arrive.shared.b64 %rd3, [bar];
        mbarrier.test_wait.shared.b64 %p3, [bar], %rd1; selp.u32 %r7, 1, 0, %p3;
        mbarrier.arrive.noComplete.shared.b64 %rd4, [bar], 4;
        mbarrier.test_wait.parity.shared.b64 %p4, [bar], 0; selp.u32 %r8, 1, 0, %p4;
        mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p5, [bar], 1, 100;
        selp.u32 %r9, 1, 0, %p5; """ + "".join(observe.format(i) for i in (1, 2, 3, 4))  # fmt: skip
    body += "st.global.v4.u32 [%rd0], {%r1, %r2, %r3, %r4}; st.global.v4.u32 [%rd0+16], {%r6, %r7, %r8, %r9};"
    run(body, out, variables=SHARED)
    assert out.tolist() == [5, 4, 1, 5, 0, 1, 1, 0]


def test_transactions_keep_a_phase_open() -> None:
    out = np.zeros(6, np.uint32)
    test = "mbarrier.test_wait.parity.shared.b64 %p2, [bar], 0; selp.u32 %r1, 1, 0, %p2; st.global.u32 [%rd0+{}], %r1;"
    body = (
        BEGIN.format(2)
        + f"""mbarrier.arrive.expect_tx.shared.b64 _, [bar], 48;
            mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 16;
            mbarrier.arrive.shared.b64 _, [bar]; {test.format(0)} mbarrier.complete_tx.shared.b64 [bar], 40;
            {test.format(4)}
            mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar], 24;
            {test.format(8)} mbarrier.arrive_drop.expect_tx.shared.b64 %rd2, [bar], 8;
            mbarrier.complete_tx.shared.b64 [bar], 8; mbarrier.arrive.shared.b64 %rd3, [bar];
            {test.format(12)} mbarrier.arrive.shared.b64 %rd4, [bar];
            {test.format(16)} mbarrier.pending_count.b64 %r2, %rd4; st.global.u32 [%rd0+20], %r2;"""
    )
    run(body, out, variables=SHARED)
    assert out.tolist() == [0, 0, 1, 0, 1, 1]  # after the drop, one arrival ends a phase


@pytest.mark.parametrize(("kind", "body"), [
    ("uninitialised", "mbarrier.arrive.shared.b64 %rd1, [bar];"),
    ("uninitialised", "mbarrier.init.shared.b64 [bar], 1; mbarrier.inval.shared.b64 [bar]; "
     "mbarrier.arrive.shared.b64 %rd1, [bar];"), ("misaligned", "mbarrier.init.shared.b64 [bar+4], 1;"),
     ("out of bounds", "mbarrier.init.b64 [%rd0], 1;"),
    ("barrier count", "mbarrier.init.shared.b64 [bar], 0;"),
    ("barrier count", "mbarrier.init.shared.b64 [bar], 1048576;"),
    ("barrier count", "mbarrier.init.shared.b64 [bar], 2; mbarrier.arrive.shared.b64 _, [bar], 3;"),
    ("barrier count", "mbarrier.init.shared.b64 [bar], 2; mbarrier.arrive.noComplete.shared.b64 _, [bar], 2;"),
    ("uninitialised", "mbarrier.init.shared.b64 [bar], %r5;"),
])  # fmt: skip
def test_objects_that_are_misused(kind: str, body: str) -> None:
    fault(kind, body, np.zeros(4, np.uint64), variables=SHARED)


STAGES = """
    setp.eq.u32 %p1, %r30, 0; mov.u32 %r1, bar; mov.u32 %r2, s;
    @%p1 mbarrier.init.shared.b64 [bar], 32; @%p1 mbarrier.init.shared.b64 [bar+8], 32;
    @%p1 mbarrier.init.shared.b64 [bar+16], 64;
    @%p1 mbarrier.init.shared.b64 [bar+24], 64; bar.sync 0;
    mov.u32 %r3, 0; mov.u32 %r9, 0; setp.ge.u32 %p2, %r30, 64; @%p2 bra PRODUCE;
    CONSUME: and.b32 %r4, %r3, 1; shr.u32 %r5, %r3, 1; and.b32 %r5, %r5, 1; mad.lo.u32 %r6, %r4, 8, %r1;
    FULL: mbarrier.try_wait.parity.shared.b64 %p3, [%r6], %r5; @!%p3 bra FULL;
    mad.lo.u32 %r7, %r4, 256, %r2; mad.lo.u32 %r7, %r30, 4, %r7; ld.shared.u32 %r8, [%r7]; add.u32 %r9, %r9, %r8;
    mbarrier.arrive.shared.b64 _, [%r6+16]; add.u32 %r3, %r3, 1; setp.lt.u32 %p4, %r3, 6; @%p4 bra CONSUME;
    add.u64 %rd10, %rd1, %rd30; st.global.u32 [%rd10], %r9; bra END;
    PRODUCE: sub.u32 %r10, %r30, 64; mul.wide.u32 %rd11, %r10, 8; add.u64 %rd11, %rd11, %rd0;
    NEXT: and.b32 %r4, %r3, 1; shr.u32 %r5, %r3, 1; and.b32 %r5, %r5, 1; xor.b32 %r5, %r5, 1;
    mad.lo.u32 %r6, %r4, 8, %r1;
    EMPTY: mbarrier.try_wait.parity.shared.b64 %p3, [%r6+16], %r5; @!%p3 bra EMPTY;
    mad.lo.u32 %r7, %r4, 256, %r2; mad.lo.u32 %r7, %r10, 8, %r7; cp.async.ca.shared.global [%r7], [%rd11], 8;
    ARRIVE; add.u64 %rd11, %rd11, 256; add.u32 %r3, %r3, 1; setp.lt.u32 %p4, %r3, 6; @%p4 bra NEXT;
    END:
"""  # two warps consume what the third copies, in two stages with a full and an empty barrier each


@pytest.mark.parametrize("arrive", [
    "cp.async.mbarrier.arrive.noinc.shared.b64 [%r6]",
    "cp.async.mbarrier.arrive.shared.b64 [%r6]; mbarrier.arrive.shared.b64 _, [%r6]",
    "cp.async.wait_all; mbarrier.arrive.release.cta.shared::cta.b64 _, [%r6]",
])  # fmt: skip
@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_producers_and_consumers(arrive: str, seed: int) -> None:
    given, out = words(6 * 64), np.zeros(64, np.uint32)
    run(TID + STAGES.replace("ARRIVE", arrive), given, out, block=96, variables=SHARED, seed=seed)
    assert out.tolist() == given.reshape(6, 64).sum(axis=0).tolist()


def test_producers_that_do_not_wait_for_their_copies() -> None:
    """An arrival that does not cover the copy lets consumers go on too early."""
    body = TID + STAGES.replace("ARRIVE", "mbarrier.arrive.shared.b64 _, [%r6]")
    assert (
        "ld.shared"
        in fault("uninitialised", body, words(384), np.zeros(64, np.uint32), block=96, variables=SHARED).instruction
    )


def test_an_object_that_waits_for_too_many_arrivals() -> None:
    body = TID + STAGES.replace("[bar+16], 64", "[bar+16], 65").replace(
        "ARRIVE", "cp.async.mbarrier.arrive.noinc.shared.b64 [%r6]"
    )
    fault("deadlock", body, words(384), np.zeros(64, np.uint32), block=96, variables=SHARED)


def test_each_object_completes_its_own_copies() -> None:
    body = f"""mbarrier.init.shared.b64 [bar], 1; mbarrier.init.shared.b64 [bar+8], 2;
        {COPY.format(0)} cp.async.mbarrier.arrive.noinc.shared.b64 [bar];
        {COPY.format(4)} cp.async.mbarrier.arrive.noinc.shared.b64 [bar+8]; ld.shared.u32 %r1, [s];"""
    fault("uninitialised", body + "ld.shared.u32 %r1, [s+4];", words(2), variables=SHARED)
    run(body + "mbarrier.arrive.shared.b64 _, [bar+8]; ld.shared.u32 %r1, [s+4];", words(2), variables=SHARED)
