"""Bulk copies between global and shared memory, and the mbarrier objects that they complete."""

from __future__ import annotations

import numpy as np
import pytest
from emulator.snippets import fault, run

SHARED = ".shared .align 16 .b8 s[1024]; .shared .align 8 .b64 bar[2];"
LOAD = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [{to}], [{source}], {count}, [bar];"
WAIT = "W: mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0; @!%p2 bra W;"
BEGIN = """mov.u32 %r30, %tid.x; setp.eq.u32 %p1, %r30, 0; @%p1 mbarrier.init.shared.b64 [bar], 1; bar.sync 0;
           mul.wide.u32 %rd30, %r30, 4; mov.u32 %r31, s; mad.lo.u32 %r31, %r30, 4, %r31; add.u64 %rd31, %rd1, %rd30;"""
READ = "ld.shared.u32 %r1, [%r31]; st.global.u32 [%rd31], %r1;"


def words(count: int) -> np.ndarray:
    return np.arange(1, count + 1, dtype=np.uint32) * 3


def one_thread(*lines: str) -> str:
    return " ".join(f"@%p1 {line}" for line in lines)


EXPECT = "mbarrier.arrive.expect_tx.shared.b64 _, [bar], 256;"
WHOLE = LOAD.format(to="s", source="%rd0", count=256)
HALVES = [LOAD.format(to=f"s+{at}", source=f"%rd0+{at}", count=128) for at in (0, 128)]


@pytest.mark.parametrize("races", [False, True])
@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize(
    "issued",
    [
        [EXPECT, WHOLE],
        [EXPECT, *HALVES],
        [HALVES[0], EXPECT, HALVES[1]],  # transactions may complete before they are expected
        [EXPECT, WHOLE.replace("shared::cluster", "shared::cta")],
        [EXPECT, LOAD.format(to="s", source="%rd0", count=0), WHOLE],
    ],
)
def test_all_threads_read_what_one_had_copied(issued: list[str], seed: int, races: bool) -> None:
    given, out = words(64), np.zeros(64, np.uint32)
    run(f"{BEGIN} {one_thread(*issued)} {WAIT} {READ}", given, out, block=64, variables=SHARED, seed=seed, races=races)
    assert out.tolist() == given.tolist()


def test_the_phase_stays_open_until_all_bytes_are_there() -> None:
    body = f"{BEGIN} {one_thread(EXPECT, HALVES[0])} {WAIT} {READ}"
    fault("deadlock", body, words(64), np.zeros(64, np.uint32), block=64, variables=SHARED)


@pytest.mark.parametrize("wait", ["bar.sync 0;", ""])
def test_a_thread_that_does_not_wait_for_the_phase_reads_too_early(wait: str) -> None:
    """The phase is still open: another arrival is missing."""
    begin = BEGIN.replace("[bar], 1", "[bar], 2")
    body = f"{begin} {one_thread(EXPECT, WHOLE)} {wait} {READ}"
    found = fault("uninitialised", body, words(64), np.zeros(64, np.uint32), block=64, variables=SHARED)
    assert "ld.shared" in found.instruction


def test_a_barrier_beside_the_mbarrier_orders_nothing_that_the_copy_wrote() -> None:
    """Only the thread that issued it may be before the barrier; the others have not waited for the phase."""
    body = f"{BEGIN} {one_thread(EXPECT, WHOLE)} {READ}"
    fault("race", body, words(64), np.zeros(64, np.uint32), block=64, variables=SHARED, races=True)


def test_shared_memory_goes_to_global_memory() -> None:
    given, out = words(64), np.zeros(64, np.uint32)
    store = "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [s], 256;"
    body = f"""{BEGIN} add.u64 %rd32, %rd0, %rd30; ld.global.u32 %r1, [%rd32]; st.shared.u32 [%r31], %r1; bar.sync 0;
               {one_thread(store, "cp.async.bulk.commit_group;", "cp.async.bulk.wait_group.read 0;")}
               cp.async.bulk.prefetch.L2.global [%rd0], 64;"""
    run(body, given, out, block=64, variables=SHARED, races=True)
    assert out.tolist() == given.tolist()


def test_shared_memory_goes_to_shared_memory() -> None:
    out = np.zeros(4, np.uint32)
    copy = "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [s+512], [s], 16, [bar];"
    body = f"""mov.u32 %r1, 7; st.shared.v4.u32 [s], {{%r1, %r1, 9, %r1}}; mbarrier.init.shared.b64 [bar], 1;
               mbarrier.arrive.expect_tx.shared.b64 _, [bar], 16; {copy} {WAIT}
               ld.shared.v4.u32 {{%r2, %r3, %r4, %r5}}, [s+512]; st.global.v4.u32 [%rd0], {{%r2, %r3, %r4, %r5}};"""
    run(body, out, variables=SHARED)
    assert out.tolist() == [7, 7, 9, 7]


INIT = "mbarrier.init.shared.b64 [bar], 1; mov.u32 %r8, 24;"


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("misaligned", INIT + LOAD.format(to="s+8", source="%rd0", count=16)),
        ("misaligned", INIT + LOAD.format(to="s", source="%rd0+4", count=16)),
        ("misaligned", INIT + LOAD.format(to="s", source="%rd0", count="%r8")),
        ("out of bounds", INIT + LOAD.format(to="s", source="%rd0", count=4096)),
        ("uninitialised", LOAD.format(to="s", source="%rd0", count=16)),  # the mbarrier
        ("uninitialised", INIT + LOAD.format(to="s", source="%rd9", count=16)),
        ("uninitialised", "cp.async.bulk.global.shared::cta.bulk_group [%rd0], [s], 16;"),
        ("unsupported", "cp.async.bulk.tensor.1d.shared::cta.global.tile.mbarrier::complete_tx::bytes "
         "[s], [%rd0, {%r8}], [bar];"),
    ],
)  # fmt: skip
def test_copies_that_go_wrong(kind: str, body: str) -> None:
    fault(kind, body, np.zeros(256, np.uint8), variables=SHARED)
