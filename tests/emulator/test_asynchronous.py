"""`cp.async` copies in groups, in kernels that work in stages, and read too early."""

from __future__ import annotations

import numpy as np
import pytest
from emulator.snippets import fault, run

TID = "mov.u32 %r30, %tid.x; mul.wide.u32 %rd30, %r30, 4;"
SHARED = ".shared .align 16 .b8 s[4096]; .shared .align 8 .b64 bar[4];"


def words(count: int) -> np.ndarray:
    return np.arange(1, count + 1, dtype=np.uint32) * 3


# cp.async -------------------------------------------------------------------------------------------

COPIES = [("ca", 4, ""), ("ca", 8, ""), ("ca", 16, ""), ("cg", 16, ""), ("cg", 16, ".L2::128B"), ("ca", 4, ".L2::64B")]


@pytest.mark.parametrize(("level", "size", "hint"), COPIES)
@pytest.mark.parametrize("wait", ["cp.async.wait_all;", "cp.async.commit_group; cp.async.wait_group 0;"])
def test_copies_of_all_sizes(level: str, size: int, hint: str, wait: str) -> None:
    """Each thread copies `size` bytes in reverse, and its neighbour stores them once it has waited."""
    threads = 40
    given, out = words(threads * size // 4), np.zeros(threads * size // 4, np.uint32)
    body = f"""mov.u32 %r30, %tid.x; mul.wide.u32 %rd10, %r30, {size}; mov.u64 %rd11, {(threads - 1) * size};
        sub.u64 %rd11, %rd11, %rd10;
        add.u64 %rd12, %rd0, %rd11; mov.u64 %rd13, s; add.u64 %rd13, %rd13, %rd10;
        cp.async.{level}.shared.global{hint} [%rd13], [%rd12], {size}; {wait} bar.sync 0;
        mov.u32 %r31, 0; mov.u64 %rd14, s; add.u64 %rd14, %rd14, %rd11; add.u64 %rd15, %rd1, %rd11;
        LOOP: ld.shared.u32 %r1, [%rd14]; st.global.u32 [%rd15], %r1; add.u64 %rd14, %rd14, 4;
        add.u64 %rd15, %rd15, 4;
        add.u32 %r31, %r31, 4; setp.lt.u32 %p1, %r31, {size}; @%p1 bra LOOP;"""
    run(body, given, out, block=threads, variables=SHARED)
    assert (out.reshape(threads, -1) == given.reshape(threads, -1)[::-1]).all()


@pytest.mark.parametrize("ignore", [False, True])
def test_bytes_that_are_not_read_are_zero(ignore: bool) -> None:
    """The size of the source, lane by lane from 0 to 16, or a predicate; what is not read need not exist."""
    given, out = np.full(16, 0xFF, np.uint8), np.full((17, 16), 0xEE, np.uint8)
    operand = "%p1" if ignore else "%r30"
    body = f"""mov.u32 %r30, %tid.x; setp.lt.u32 %p1, %r30, 9; mul.wide.u32 %rd10, %r30, 16; mov.u64 %rd11, s;
        add.u64 %rd11, %rd11, %rd10;
        add.u64 %rd13, %rd1, %rd10; mov.u64 %rd12, %rd0; setp.eq.u32 %p2, %r30, 0;
        {"@%p1" if ignore else "@%p2"} mov.u64 %rd12, %rd2;
        cp.async.cg.shared.global [%rd11], [%rd12], 16, {operand}; cp.async.wait_all;
        ld.shared.v4.u32 {{%r1, %r2, %r3, %r4}}, [%rd11]; st.global.v4.u32 [%rd13], {{%r1, %r2, %r3, %r4}};"""
    run(body, given, out, np.zeros(0, np.uint8), block=17, variables=SHARED)
    assert out.tolist() == [[0xFF * (thread >= 9 if ignore else i < thread) for i in range(16)] for thread in range(17)]


def test_policies_and_sizes_together() -> None:
    given, out = words(4), np.zeros(4, np.uint32)
    body = """createpolicy.fractional.L2::evict_first.b64 %rd9;
        cp.async.cg.shared.global.L2::cache_hint [s], [%rd0], 16, %rd9;
        cp.async.cg.shared.global.L2::cache_hint.L2::256B [s], [%rd0], 16, 12, %rd9; cp.async.wait_all;
        ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [s]; st.global.v4.u32 [%rd1], {%r1, %r2, %r3, %r4};"""
    run(body, given, out, variables=SHARED)
    assert out.tolist() == [3, 6, 9, 0]


WRONG = [
    ("misaligned", "cp.async.ca.shared.global [s+4], [%rd0], 8;"),
    ("misaligned", "cp.async.ca.shared.global [s], [%rd0+4], 8;"),
    ("out of bounds", "cp.async.cg.shared.global [s], [%rd0+16], 16;"),
    ("out of bounds", "cp.async.cg.shared.global [s+4128], [%rd0], 16;"),
    ("out of bounds", "mov.u32 %r1, 17; cp.async.cg.shared.global [s], [%rd0], 16, %r1;"),
    ("uninitialised", "cp.async.ca.shared.global [s], [%rd9], 4;"),
    ("unsupported", "cp.async.cg.shared.global [s], [%rd0], 8;"),
    ("unsupported", "cp.async.ca.shared.global [s], [%rd0], 12;"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "body"), WRONG)
def test_copies_that_go_wrong(kind: str, body: str) -> None:
    fault(kind, body, np.zeros(16, np.uint8), variables=SHARED)


FIRST, SECOND = (f"cp.async.ca.shared.global [s+{at}], [%rd0+{at}], 4;" for at in (0, 4))
COMMIT = "cp.async.commit_group;"


@pytest.mark.parametrize(("before", "loaded", "early"), [
    (f"{FIRST}", 0, True),
    (f"{FIRST} {COMMIT}", 0, True),
    (f"{FIRST} {COMMIT} cp.async.wait_group 1;", 0, True),
    (f"{FIRST} cp.async.wait_group 0;", 0, True),  # in no group yet
    (f"{FIRST} cp.async.wait_all;", 0, False),
    (f"{FIRST} {COMMIT} cp.async.wait_group 0;", 0, False),
    (f"{FIRST} {COMMIT} {COMMIT} cp.async.wait_group 1;", 0, False),  # an empty group counts
    (f"{FIRST} {COMMIT} {SECOND} {COMMIT} cp.async.wait_group 1;", 0, False),
    (f"{FIRST} {COMMIT} {SECOND} {COMMIT} cp.async.wait_group 1;", 4, True),
    (f"{FIRST} {SECOND} {COMMIT} cp.async.wait_group 0; ld.shared.u32 %r2, [s];", 4, False),
    (f"st.shared.u32 [s], 1; {FIRST}", 0, True),  # what was there before is gone
    (f"{FIRST} st.shared.u32 [s], 1;", 0, False),
])  # fmt: skip
def test_reads_before_the_copy_is_complete(before: str, loaded: int, early: bool) -> None:
    body = f"{before} ld.shared.u32 %r1, [s+{loaded}];"
    if early:
        fault("uninitialised", body, words(2), variables=SHARED)
    run(body, words(2), variables=SHARED, strict=not early)


def test_every_thread_waits_for_its_own_copies_only() -> None:
    """Thread 1 waits, thread 0 does not: only reads of the word of thread 0 are reported."""
    body = f"""{TID} add.u64 %rd10, %rd0, %rd30; mov.u64 %rd11, s; add.u64 %rd11, %rd11, %rd30;
        cp.async.ca.shared.global [%rd11], [%rd10], 4;
        cp.async.commit_group; setp.ne.u32 %p1, %r30, 0; @%p1 bra WAIT; bra.uni JOIN; WAIT: cp.async.wait_group 0;
        JOIN: bar.sync 0;"""
    run(body + "@%p1 ld.shared.u32 %r1, [%rd11];", words(64), block=64, variables=SHARED)
    assert fault(
        "uninitialised", body + "ld.shared.u32 %r1, [%rd11];", words(64), block=64, variables=SHARED
    ).threads == (0,)


def test_a_pipeline_of_groups() -> None:
    """Three stages in flight; each sums a word of its neighbour, so that the barrier matters as well."""
    steps, threads = 8, 64
    given, out = words(steps * threads), np.zeros(threads, np.uint32)
    body = f"""{TID} mov.u32 %r1, 0; mov.u32 %r2, 0; mov.u32 %r5, s; mad.lo.u32 %r6, %r30, 4, %r5;
        add.u32 %r7, %r30, 1; rem.u32 %r7, %r7, {threads};
        mad.lo.u32 %r7, %r7, 4, %r5; add.u64 %rd10, %rd0, %rd30; mov.u32 %r9, 0;
        FILL: rem.u32 %r10, %r9, 3; mad.lo.u32 %r11, %r10, {4 * threads}, %r6;
        cp.async.ca.shared.global [%r11], [%rd10], 4; cp.async.commit_group;
        add.u64 %rd10, %rd10, {4 * threads}; add.u32 %r9, %r9, 1; setp.lt.u32 %p1, %r9, 2; @%p1 bra FILL;
        STEP: cp.async.wait_group 1; bar.sync 0; rem.u32 %r10, %r2, 3; mad.lo.u32 %r11, %r10, {4 * threads}, %r7;
        ld.shared.u32 %r12, [%r11];
        add.u32 %r1, %r1, %r12; setp.lt.u32 %p2, %r9, {steps}; rem.u32 %r10, %r9, 3;
        mad.lo.u32 %r11, %r10, {4 * threads}, %r6;
        @%p2 cp.async.ca.shared.global [%r11], [%rd10], 4; cp.async.commit_group;
        add.u64 %rd10, %rd10, {4 * threads}; add.u32 %r9, %r9, 1;
        add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, {steps}; @%p1 bra STEP; add.u64 %rd11, %rd1, %rd30;
        st.global.u32 [%rd11], %r1;"""
    for seed in (0, 1, 2):
        run(body, given, out, block=threads, variables=SHARED, seed=seed)
        assert out.tolist() == [int(given.reshape(steps, threads)[:, (i + 1) % threads].sum()) for i in range(threads)]
    late = body.replace("cp.async.wait_group 1", "cp.async.wait_group 2")
    fault("uninitialised", late, given, out, block=threads, variables=SHARED)
