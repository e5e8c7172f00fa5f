"""Threads that wait for each other in loops: locks, flags, tickets, queues; and loops that wait for ever."""

import numpy as np
import pytest
from emulator.threads import agrees, fault, module, run, with_functions

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
    """All threads pass, one at a time; the lanes of a warp reconverge after it."""
    threads = grid * block
    whole = "bar.warp.sync 0xffffffff; setp.eq.u32 %p3, %r0, %r0; vote.sync.all.pred %p4, %p3, 0xffffffff;"
    given, out = np.zeros(threads, np.uint32), np.zeros(threads + 1, np.uint32)
    source = module(body + whole, end="st.global.u32 [%rd2+4], %r5; ret;")
    goptx.emulate(source, grid, block, [given, out, 0], seed=seed)
    assert given[0] == threads
    assert sorted(out[1:].tolist()) == list(range(threads))


@pytest.mark.parametrize("seed", SEEDS)
def test_flags_from_one_cta_to_the_next(seed: int) -> None:
    """Each CTA waits for the next one: the last goes first."""
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
    """The producer is slow, and sits in the same CTA; its writes before the flag are seen after it."""
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
    """The lane that raises the flag is after the loop that the others are in."""
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
    """A loop whose end an atomic decides does not necessarily wait: a long one is not a deadlock."""
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


@pytest.mark.slow
def test_patience_that_ends() -> None:
    """A thread may give up waiting after many iterations."""
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


@pytest.mark.slow
@pytest.mark.parametrize("body", [
    "L: bra L;", "L: bar.sync 0; bra L;", "mov.u32 %r6, 0; L: xor.b32 %r6, %r6, 1; bra L;",
    "L: ld.global.u32 %r6, [%rd7]; setp.ne.u32 %p1, %r6, 12345; @%p1 bra L;",
    "setp.lt.u32 %p1, %r0, 32; @%p1 bra J; L: ld.global.u32 %r6, [%rd7]; setp.ne.u32 %p2, %r6, 12345; @%p2 bra L; J:",
])  # fmt: skip
def test_going_on_for_ever(body: str) -> None:
    """Loops that do not wait for any thread, or do not check whether another thread has arrived."""
    for seed in (0, 1):
        found = fault(body, seed=seed)
        assert found.kind == "deadlock"
        assert "in a loop that nothing ends" in str(found)
        assert fault(body, seed=seed, max_steps=3000).kind == "step limit"


TRY = """
.func (.param .b32 r) try(.param .b64 p)
{ .reg .b64 %a; .reg .b32 %x; ld.param.u64 %a, [p]; atom.global.cas.b32 %x, [%a], 0, 1; st.param.b32 [r], %x; ret; }
"""
LOCK_BY_CALLS = """
ENTER:
    { .param .b64 p; st.param.b64 [p], %rd8; .param .b32 r; call.uni (r), try, (p); ld.param.b32 %r6, [r]; }
    setp.ne.u32 %p1, %r6, 0;
    @%p1 bra ENTER;
    ld.volatile.global.u32 %r5, [%rd7];
    add.u32 %r7, %r5, 1;
    st.volatile.global.u32 [%rd7], %r7;
"""


def test_lock_within_a_function() -> None:
    given, out = np.zeros(2, np.uint32), np.zeros(3, np.uint32)
    release = "atom.global.exch.b32 %r6, [%rd8], 0;"
    end = "st.global.u32 [%rd2+4], %r5; ret;"
    source = with_functions(TRY, LOCK_BY_CALLS + release).replace("st.global.u32 [%rd2], %r5;\n    ret;", end)
    goptx.emulate(source, 1, 2, [given, out, 0])
    assert sorted(out[1:].tolist()) == [0, 1]
    with pytest.raises(goptx.EmulationFault, match="deadlock"):
        goptx.emulate(source.replace(release, ""), 1, 2, [given, out, 0])


@pytest.mark.slow
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


@pytest.mark.parametrize("number", range(6))
def test_many_swaps_at_few_places_go_in_order(number: int) -> None:
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


# Loops in which no strong read is to be seen, or none is: whoever is in one lets others go on all the same.
PEEK = """
.func (.param .b32 r) peek(.param .b64 p)
{ .reg .b64 %a; .reg .b32 %x; ld.param.u64 %a, [p]; ld.volatile.global.u32 %x, [%a]; st.param.b32 [r], %x; ret; }
.func (.param .b32 r) peek2(.param .b64 p)
{ .reg .b64 %a; .reg .b32 %x; ld.param.u64 %a, [p];
  { .param .b64 q; .param .b32 s; st.param.b64 [q], %a; call.uni (s), peek, (q); ld.param.b32 %x, [s]; }
  st.param.b32 [r], %x; ret; }
.func (.param .b32 r) until(.param .b64 p)
{ .reg .b64 %a; .reg .b32 %x; .reg .pred %q; ld.param.u64 %a, [p];
  L: ld.relaxed.gpu.global.u32 %x, [%a]; setp.eq.u32 %q, %x, 0; @%q bra L; st.param.b32 [r], %x; ret; }
"""
CALLED = "{{ .param .b64 p; st.param.b64 [p], %rd3; .param .b32 r; call.uni (r), {}, (p); ld.param.b32 %r5, [r]; }}"
AROUND = " setp.eq.u32 %p2, %r5, 0; @%p2 bra WAIT;"
LOADS = {
    "volatile": "ld.volatile.global.u32 %r5, [%rd3];" + AROUND,
    "past the first cache": "ld.global.cv.u32 %r5, [%rd3];" + AROUND,
    "from the second cache": "ld.global.cg.u32 %r5, [%rd3];" + AROUND,
    "plain": "ld.global.u32 %r5, [%rd3];" + AROUND,
    "plain, counted": "ld.global.u32 %r5, [%rd3]; add.u32 %r9, %r9, 1;" + AROUND,
    "in a function": CALLED.format("peek") + AROUND,
    "in a function's function": CALLED.format("peek2") + AROUND,
    "the loop in a function": CALLED.format("until"),
    "through memory": "ld.volatile.global.u32 %r5, [%rd3]; st.local.u32 [own], %r5; ld.local.u32 %r5, [own];" + AROUND,
    "an atomic": "atom.global.or.b32 %r5, [%rd3], 0;" + AROUND,
    "in a function by pointer": "{ .param .b64 p; st.param.b64 [p], %rd3; .param .b32 r; mov.u64 %rd4, peek;"
    " prototype: .callprototype (.param .b32 _) _ (.param .b64 _); call (r), %rd4, (p), prototype;"
    " ld.param.b32 %r5, [r]; }" + AROUND,
}


def chain(load: str, release: str = "st.release.gpu.global.u32 [%rd3], %r5;") -> str:
    """Each CTA waits for the next one; in each all threads wait, and the first releases."""
    body = f"""
        .local .b32 own; mov.u32 %r9, 0; mov.u32 %r6, %ctaid.x; mov.u32 %r7, %nctaid.x; add.u32 %r8, %r6, 1;
        mov.u32 %r5, 0; setp.eq.u32 %p1, %r8, %r7; @%p1 bra OWN; mad.wide.u32 %rd3, %r8, 4, %rd7;
        WAIT: {load}
        OWN: add.u32 %r5, %r5, 1; mad.wide.u32 %rd3, %r6, 4, %rd7; bar.sync 0; {release}
    """
    return with_functions(PEEK, body)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("load", LOADS)
def test_spinning_threads_let_others_go_on(load: str, seed: int) -> None:
    given, out = np.zeros(12 * 40, np.uint32), np.zeros(12 * 40, np.uint32)
    goptx.emulate(chain(LOADS[load]), 12, 40, [given, out, 480], seed=seed, max_steps=100_000)
    assert out.tolist() == [12 - i // 40 for i in range(480)]


@pytest.mark.parametrize("load", [load for load in LOADS if load != "plain, counted"])
def test_no_thread_answers_and_nothing_changes(load: str) -> None:
    given, out = np.zeros(2 * 40, np.uint32), np.zeros(2 * 40, np.uint32)
    with pytest.raises(goptx.EmulationFault, match="deadlock"):
        goptx.emulate(chain(LOADS[load], ""), 2, 40, [given, out, 80])


@pytest.mark.slow
@pytest.mark.parametrize("load", ["plain", "in a function", "past the first cache", "plain, counted"])
@pytest.mark.parametrize("seed", SEEDS[:2])
def test_a_lane_that_waits_for_one_that_left_the_loop(load: str, seed: int) -> None:
    """Lanes of a warp take turns; a lane that has had its turn waits after the loop to reconverge."""
    body = f"""
        mov.u32 %r9, 0; .local .b32 own; mov.u64 %rd3, %rd7; setp.eq.u32 %p1, %r0, 1; mov.u32 %r5, 7; @%p1 bra LEFT;
        WAIT: {LOADS[load]}
        LEFT: st.global.u32 [%rd7], %r5;
    """
    given, out = np.zeros(32, np.uint32), np.zeros(32, np.uint32)
    goptx.emulate(with_functions(PEEK, body), 1, 32, [given, out, 32], seed=seed, max_steps=300_000)
    assert out.tolist() == [7] * 32


@pytest.mark.slow
def test_a_short_cycle_does_not_count_for_all() -> None:
    """One waits in a loop of one block; another, in a longer one, has patience and then answers."""
    body = """
        setp.ge.u32 %p1, %r0, 32; mov.u32 %r6, 0; @%p1 bra COUNT;
        WAIT: ld.volatile.global.u32 %r5, [%rd7]; setp.eq.u32 %p2, %r5, 0; @%p2 bra WAIT; bra DONE;
        COUNT: add.u32 %r6, %r6, 1; bar.warp.sync -1; ld.volatile.global.u32 %r5, [%rd7+4]; setp.ne.u32 %p3, %r5, 0;
        setp.gt.u32 %p4, %r6, 2000; or.pred %p3, %p3, %p4; @!%p3 bra COUNT; st.volatile.global.u32 [%rd7], 3;
        mov.u32 %r5, 3; DONE:
    """
    for seed in SEEDS:
        out, _ = run(body, block=64, given=np.zeros(64, np.uint32), seed=seed)
        assert out == [3] * 64


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS[:2])
@pytest.mark.parametrize("load", ["volatile", "plain", "in a function"])
def test_ctas_that_begin_later_answer(load: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A GPU runs more of them at a time than the emulator does."""
    monkeypatch.setattr("goptx.emulator.emulated_launch.RESIDENT", 128)
    given, out = np.zeros(5 * 40, np.uint32), np.zeros(5 * 40, np.uint32)
    goptx.emulate(chain(LOADS[load]), 5, 40, [given, out, 200], seed=seed)
    assert out.tolist() == [5 - i // 40 for i in range(200)]


def test_a_gpu_has_room_for_so_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("goptx.emulator.emulated_launch.RESIDENT", 64)
    monkeypatch.setattr("goptx.emulator.emulated_launch.CTAS", 1)
    monkeypatch.setattr("goptx.emulator.emulated_launch.SMS", 8)
    for ctas, fits in ((8, True), (9, False)):
        given, out = np.zeros(ctas * 64, np.uint32), np.zeros(ctas * 64, np.uint32)
        if fits:
            goptx.emulate(chain(LOADS["volatile"]), ctas, 64, [given, out, ctas * 64])
        else:
            with pytest.raises(goptx.EmulationFault, match="deadlock"):
                goptx.emulate(chain(LOADS["volatile"]), ctas, 64, [given, out, ctas * 64])


@pytest.mark.slow
def test_two_that_change_memory_for_ever() -> None:
    """They undo their changes, and no thread sees anything else."""
    body = """
        setp.ge.u32 %p1, %r0, 32; mov.u32 %r6, 0;
        L: ld.volatile.global.u32 %r5, [%rd7]; xor.b32 %r6, %r6, 1; st.volatile.global.u32 [%rd2], %r6;
        setp.eq.u32 %p2, %r5, 9; @!%p2 bra L;
    """
    assert fault(body).kind == "deadlock"
