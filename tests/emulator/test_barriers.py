"""CTA barriers. Except where a fault is expected, an H200 gives the results of the models."""

from collections.abc import Callable

import pytest
from emulator.faulty import FIRST, LOW, TILE
from emulator.threads import agrees, fault, inputs, run

FORMS = ("bar.sync", "barrier.sync", "barrier.sync.aligned", "bar.cta.sync", "barrier.cta.sync")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("block", [1, 33, 96, 250])
def test_all_threads_see_earlier_writes(form: str, block: int) -> None:
    """Twice over, so that the second round must not overtake the first."""
    body = f"""
        {TILE} mov.u32 %r7, {block - 1}; sub.u32 %r7, %r7, %r0; mad.lo.u32 %r7, %r7, 4, %r9;
        st.shared.u32 [%r6], %r3; {form} 0; ld.shared.u32 %r8, [%r7]; {form} 0;
        add.u32 %r8, %r8, %r0;
        st.shared.u32 [%r6], %r8; {form} 0; ld.shared.u32 %r5, [%r7];
    """
    agrees(body, lambda i, v: v + block - 1 - i, block=block, races=True)
    _, counts = run(body, block=block)
    assert counts.barriers == 3


def reduced(kind: str, votes: list[bool]) -> int:
    return {"popc": sum(votes), "and": all(votes), "or": any(votes)}[kind]


@pytest.mark.parametrize("kind", ["popc", "and", "or"])
@pytest.mark.parametrize("negated", [False, True])
@pytest.mark.parametrize("ended", [0, 8, 40])
@pytest.mark.parametrize("form", ["bar.red", "barrier.red", "bar.cta.red"])
def test_reductions(kind: str, negated: bool, ended: int, form: str) -> None:
    """Over the threads that have not ended; of many votes, one that all share and one that only some do."""
    block = 100
    type_, result = ("u32", "%r6") if kind == "popc" else ("pred", "%p3")
    take = "" if kind == "popc" else "selp.u32 %r6, 1, 0, %p3;"
    reduction = (
        f"{form}.{kind}.{type_} {result}, 1, {'!' if negated else ''}%p2; {take} mad.lo.u32 %r5, %r5, 1000, %r6;\n"
    )
    body = f"setp.lt.u32 %p1, %r0, {ended}; @%p1 ret;"
    tests: list[tuple[str, Callable[[int, int], bool]]] = [
        ("and.b32 %r7, %r3, 1; setp.eq.u32 %p2, %r7, 1;", lambda i, v: bool(v & 1)),
        ("setp.lt.u32 %p2, %r0, 1000;", lambda i, v: True),
        ("setp.eq.u32 %p2, %r0, 70;", lambda i, v: i == 70),
        ("setp.ge.u32 %p2, %r0, 1000;", lambda i, v: False),
    ]
    want = 0
    for text, holds in tests:
        body += text + reduction
        votes = [holds(i, int(v)) != negated for i, v in enumerate(inputs(block)) if i >= ended]
        want = want * 1000 + reduced(kind, votes)
    agrees(body, lambda i, v: 0xDEAD if i < ended else want, block=block, seeds=(0, 1))


def test_unaligned_reduction_from_both_sides_of_a_branch() -> None:
    body = f"""
        {LOW} @!%p1 bra E;
        setp.eq.u32 %p2, %r0, 3; barrier.red.popc.u32 %r5, 0, %p2; bra J;
    E:  setp.ne.u32 %p2, %r0, 16; barrier.red.popc.u32 %r5, 0, %p2; add.u32 %r5, %r5, 100;
    J:
    """
    agrees(body, lambda i, v: 32 + (0 if i % 32 < 16 else 100), races=True)


@pytest.mark.parametrize("count", ["", ", 64"])
def test_both_sides_of_a_branch_share_unaligned_barriers(count: str) -> None:
    body = f"""
        {TILE} st.shared.u32 [%r6], %r3; xor.b32 %r7, %r0, 48; mad.lo.u32 %r7, %r7, 4, %r9;
        {LOW} @!%p1 bra E;
        barrier.sync 1{count}; ld.shared.u32 %r5, [%r7]; bra J;
    E:  barrier.sync 1{count}; ld.shared.u32 %r5, [%r7]; add.u32 %r5, %r5, 1;
    J:
    """
    given = inputs(64)
    agrees(body, lambda i, v: int(given[i ^ 48]) + (i >> 4 & 1), races=True)


def test_without_strict_lanes_may_reach_aligned_barriers_separately() -> None:
    body = f"{LOW} @!%p1 bra E; bar.sync 0; mov.u32 %r5, 7; bra J; E: bar.sync 0; mov.u32 %r5, 8; J:"
    agrees(body, lambda i, v: 7 if i % 32 < 16 else 8, strict=False)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("block", "ended"), [(48, 0), (64, 8), (33, 0), (64, 33)])
def test_a_warp_counts_as_a_whole(form: str, block: int, ended: int) -> None:
    """However many of its lanes there are, or still are."""
    first = ended // 32
    count = 32 * (-(-block // 32) - first)
    body = f"setp.lt.u32 %p1, %r0, {ended}; @%p1 ret; {form} 1, {count}; mov.u32 %r5, 7;"
    agrees(body, lambda i, v: 0xDEAD if i < ended else 7, block=block)


def test_a_warp_that_has_ended_does_not_arrive() -> None:
    body = "setp.lt.u32 %p1, %r0, 32; @%p1 ret; bar.sync 1, 64;"
    assert fault(body).kind == "deadlock"
    agrees(body.replace(", 64", ""), lambda i, v: 0xDEAD if i < 32 else 0)


def test_part_of_a_warp_waits_for_the_rest_to_end() -> None:
    body = f"{LOW} @!%p1 bra J; barrier.sync 1, 32; mov.u32 %r5, 7; J:"
    agrees(body, lambda i, v: 7 if i % 32 < 16 else 0, block=32)


def test_part_of_a_warp_does_not_make_up_for_that_of_another() -> None:
    """Sixteen lanes of each of two warps are 32 threads, but neither warp has arrived."""
    body = f"""
        {LOW} @!%p1 bra J; barrier.sync 1, 32; mov.u32 %r5, 7;
    J:  bar.warp.sync 0xffffffff;
    """
    assert fault(body).kind == "convergence"
    found = fault(body, strict=False)
    assert found.kind == "deadlock"
    assert "barrier 1 has 0 of 32 threads, waits for threads 16-31, 48-63" in str(found)


def test_lanes_of_a_warp_that_wait_and_that_do_not() -> None:
    body = f"{LOW} @!%p1 bra E; barrier.arrive 1, 64; bra J; E: barrier.sync 1, 64; J:"
    assert fault(body).kind == "convergence"


RING = """
    shr.u32 %r8, %r0, 5;
    mov.u32 %r9, tile; mad.lo.u32 %r9, %r2, 4, %r9;
    mov.u32 %r6, 0;
    setp.ge.u32 %p1, %r8, 1;
    @%p1 bra CONSUME;
PRODUCE:
    and.b32 %r10, %r6, 1; add.u32 %r11, %r10, 3;
    setp.lt.u32 %p2, %r6, 2;
    @%p2 bra FILL;
    bar.sync %r11, {all};
FILL:
    mad.lo.u32 %r12, %r10, 128, %r9; mad.lo.u32 %r7, %r6, 100, %r2; st.shared.u32 [%r12], %r7;
    add.u32 %r11, %r10, 1; bar.arrive %r11, {all};
    add.u32 %r6, %r6, 1; setp.lt.u32 %p3, %r6, 7;
    @%p3 bra PRODUCE;
    bra DONE;
CONSUME:
    and.b32 %r10, %r6, 1; add.u32 %r11, %r10, 1;
    bar.sync %r11, {all};
    mad.lo.u32 %r12, %r10, 128, %r9; ld.shared.u32 %r7, [%r12]; add.u32 %r5, %r5, %r7;
    add.u32 %r11, %r10, 3; bar.arrive %r11, {all};
    add.u32 %r6, %r6, 1; setp.lt.u32 %p3, %r6, 7;
    @%p3 bra CONSUME;
DONE:
"""


@pytest.mark.parametrize("consumers", [1, 3])
@pytest.mark.parametrize("races", [False, True])
def test_ring_of_two_buffers(consumers: int, races: bool) -> None:
    """Named barriers, ids in registers: one warp produces, others consume; arrivals that no thread waits for remain."""
    threads = 32 * (consumers + 1)

    def model(i: int, v: int) -> int:
        return 0 if i < 32 else sum(k * 100 + i % 32 for k in range(7))

    agrees(RING.format(all=threads), model, block=threads, races=races, seeds=(0, 1, 2, 3, 4))


@pytest.mark.parametrize(("who", "kinds"), [(0, {"race", "deadlock"}), (1, {"race", "uninitialised"})])
def test_ring_in_which_one_side_does_not_wait(who: int, kinds: set[str]) -> None:
    """A thread that only arrives has not seen the others' writes."""
    pieces = RING.format(all=64).split("bar.sync %r11")
    broken = (
        pieces[0] + ("bar.arrive %r11", "bar.sync %r11")[who] + pieces[1] + ("bar.sync %r11", "bar.arrive %r11")[who]
    )
    found = {fault(broken + pieces[2], races=True, seed=seed).kind for seed in (0, 1, 2, 3)}
    assert found <= kinds


def test_groups_of_warps_at_barriers_of_their_own() -> None:
    """Each pair of warps has an id; the pairs have different numbers of iterations."""
    body = f"""
        {TILE} shr.u32 %r7, %r0, 6; add.u32 %r8, %r7, 1; mov.u32 %r10, 0; xor.b32 %r11, %r0, 32;
        mad.lo.u32 %r11, %r11, 4, %r9; mov.u32 %r5, %r3;
    L:  st.shared.u32 [%r6], %r5; bar.sync %r8, 64; ld.shared.u32 %r5, [%r11]; bar.sync %r8, 64;
        add.u32 %r5, %r5, 1; add.u32 %r10, %r10, 1; setp.le.u32 %p1, %r10, %r7; @%p1 bra L;
    """
    given = inputs(192)

    def model(i: int, v: int) -> int:
        rounds = i // 64 + 1
        return int(given[i ^ 32 if rounds % 2 else i]) + rounds

    agrees(body, model, block=192, races=True)


def test_warps_may_leave_a_loop_of_barriers_and_end() -> None:
    body = """
        shr.u32 %r6, %r0, 5; add.u32 %r6, %r6, 2;
    L:  bar.sync 0; add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, %r6; @%p1 bra L;
    """
    agrees(body, lambda i, v: i // 32 + 2, block=130)


def test_warps_that_leave_a_loop_of_barriers_for_another_barrier() -> None:
    body = """
        shr.u32 %r6, %r0, 5; add.u32 %r6, %r6, 2;
    L:  bar.sync 0; add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, %r6; @%p1 bra L;
        bar.sync 1;
    """
    found = fault(body)
    assert found.kind == "deadlock"
    first, second = (f"<ptx>:{found.line + i}: `bar.sync {i};` (barrier {i} has 32 of 64 threads" for i in (0, 1))
    assert f"threads 32-63 at {first}, waits for threads 0-31)" in str(found)
    assert f"threads 0-31 at {second}, waits for threads 32-63)" in str(found)


def test_guarded_barriers() -> None:
    """A warp whose guard is false goes past."""
    agrees(f"{FIRST} @%p1 bar.sync 1, 32; @!%p1 bar.sync 2, 32; mov.u32 %r5, 3;", lambda i, v: 3)
    agrees(f"{FIRST} @%p1 bar.sync 1, 32; mov.u32 %r5, 3;", lambda i, v: 3)
    assert fault(f"{LOW} @%p1 bar.sync 0;").kind == "convergence"


def test_each_cta_has_barriers_of_its_own() -> None:
    body = """
        mov.u32 %r6, %ctaid.x; add.u32 %r6, %r6, 1;
    L:  bar.sync 0; add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, %r6; @%p1 bra L;
    """
    agrees(body, lambda i, v: i // 64 + 1, grid=6)
    _, counts = run(body, grid=6)
    assert counts.barriers == 21
