"""Branches, loops and early ends, against a model of each thread in Python."""

from collections.abc import Callable

import pytest
from emulator.random_flow import random_flow
from emulator.threads import BEGIN, MASK, agrees, inputs, module, run

BLOCKS = (1, 33, 100, 1000)  # threads: the last warp is full in none


def signed(value: int) -> int:
    return value - (1 << 32) if value >> 31 else value


def if_else(i: int, v: int) -> int:
    return v * 3 + 1 if v & 1 else v - 7


IF_ELSE = """
    and.b32 %r6, %r3, 1;
    setp.eq.u32 %p1, %r6, 1;
    @!%p1 bra ODD;
    mad.lo.u32 %r5, %r3, 3, 1;
    bra JOIN;
ODD:
    sub.u32 %r5, %r3, 7;
JOIN:
"""


def nested(i: int, v: int) -> int:
    r = 1
    if v & 1:
        r = 2
        if v & 2:
            r = 3 if v & 4 else 4
        r *= 5
    return r + v


NESTED = """
    mov.u32 %r5, 1;
    and.b32 %r6, %r3, 1; setp.eq.u32 %p1, %r6, 0;
    @%p1 bra OUT;
    mov.u32 %r5, 2;
    and.b32 %r6, %r3, 2; setp.eq.u32 %p1, %r6, 0;
    @%p1 bra TIMES;
    and.b32 %r6, %r3, 4; setp.eq.u32 %p1, %r6, 0;
    @%p1 bra FOUR;
    mov.u32 %r5, 3;
    bra TIMES;
FOUR:
    mov.u32 %r5, 4;
TIMES:
    mul.lo.u32 %r5, %r5, 5;
OUT:
    add.u32 %r5, %r5, %r3;
"""


def trips(i: int, v: int) -> int:
    return sum(k * v for k in range(v & 15))


TRIPS = """
    and.b32 %r6, %r3, 15;
    mov.u32 %r7, 0;
LOOP:
    setp.ge.u32 %p1, %r7, %r6;
    @%p1 bra DONE;
    mad.lo.u32 %r5, %r7, %r3, %r5;
    add.u32 %r7, %r7, 1;
    bra LOOP;
DONE:
"""


def nested_loops(i: int, v: int) -> int:
    total = 0
    for j in range((v & 3) + 1):
        for k in range(j, (v >> 2 & 7) + 1):
            if (j ^ k) & 1:
                continue
            total += j * k + 1
        if total > 20:
            break
    return total


NESTED_LOOPS = """
    and.b32 %r6, %r3, 3;
    bfe.u32 %r7, %r3, 2, 3;
    mov.u32 %r8, 0;
OUTER:
    mov.u32 %r9, %r8;
INNER:
    setp.gt.u32 %p1, %r9, %r7;
    @%p1 bra LEFT;
    xor.b32 %r10, %r8, %r9; and.b32 %r10, %r10, 1; setp.ne.u32 %p2, %r10, 0;
    @%p2 bra NEXT;
    mad.lo.u32 %r11, %r8, %r9, 1;
    add.u32 %r5, %r5, %r11;
NEXT:
    add.u32 %r9, %r9, 1;
    bra INNER;
LEFT:
    setp.gt.u32 %p3, %r5, 20;
    @%p3 bra DONE;
    add.u32 %r8, %r8, 1;
    setp.le.u32 %p4, %r8, %r6;
    @%p4 bra OUTER;
DONE:
"""


def return_in_loop(i: int, v: int) -> int:
    for k in range(12):
        v = (v * 7 + k) & MASK
        if v & 31 == 3:
            return v
    return v + 1000


RETURN_IN_LOOP = """
    mov.u32 %r6, 0;
LOOP:
    mad.lo.u32 %r3, %r3, 7, %r6;
    and.b32 %r7, %r3, 31; setp.eq.u32 %p1, %r7, 3;
    @%p1 st.global.u32 [%rd2], %r3;
    @%p1 ret;
    add.u32 %r6, %r6, 1;
    setp.lt.u32 %p2, %r6, 12;
    @%p2 bra LOOP;
    add.u32 %r5, %r3, 1000;
"""


def switch(i: int, v: int) -> int:
    return [v + 10, v * 3, v ^ 99, v + 10][v & 3]


SWITCH = """
    and.b32 %r6, %r3, 3;
    TABLE: .branchtargets PLUS, TIMES, XOR, PLUS;
    brx.idx %r6, TABLE;
PLUS:
    add.u32 %r5, %r3, 10;
    bra JOIN;
TIMES:
    mul.lo.u32 %r5, %r3, 3;
    bra JOIN;
XOR:
    xor.b32 %r5, %r3, 99;
JOIN:
"""


def irreducible(i: int, v: int) -> int:
    total, k, inside = 0, v & 7, bool(v & 8)
    while True:
        if not inside:
            total += 3
        inside = False
        total = total * 2 + 1
        if k == 0:
            return total
        k -= 1


IRREDUCIBLE = """
    and.b32 %r6, %r3, 7;
    and.b32 %r7, %r3, 8; setp.ne.u32 %p1, %r7, 0;
    @%p1 bra SECOND;
FIRST:
    add.u32 %r5, %r5, 3;
SECOND:
    mad.lo.u32 %r5, %r5, 2, 1;
    setp.eq.u32 %p2, %r6, 0;
    @%p2 bra DONE;
    sub.u32 %r6, %r6, 1;
    bra FIRST;
DONE:
"""


def short_circuit(i: int, v: int) -> int:
    return v * 2 if (v & 3 == 1 and v > 100) or v & 12 == 4 else 5


SHORT_CIRCUIT = """
    mov.u32 %r5, 5;
    and.b32 %r6, %r3, 3; setp.ne.u32 %p1, %r6, 1;
    @%p1 bra SECOND;
    setp.gt.u32 %p2, %r3, 100;
    @%p2 bra YES;
SECOND:
    and.b32 %r6, %r3, 12; setp.ne.u32 %p3, %r6, 4;
    @%p3 bra NO;
YES:
    shl.b32 %r5, %r3, 1;
NO:
"""


def predicated(i: int, v: int) -> int:
    a = v + 5 if v & 1 else v
    return a * (7 if signed(v) < 0 else 2) + (0 if v & 1 else i)


PREDICATED = """
    mov.u32 %r6, %r3;
    and.b32 %r7, %r3, 1; setp.eq.u32 %p1|%p2, %r7, 1;
    @%p1 add.u32 %r6, %r6, 5;
    setp.lt.s32 %p3, %r3, 0;
    @%p3 mul.lo.u32 %r5, %r6, 7;
    @!%p3 shl.b32 %r5, %r6, 1;
    @%p2 add.u32 %r5, %r5, %r1;
    @%p2 bra PAST;
    bra.uni PAST;
PAST:
"""

KERNELS = [
    (IF_ELSE, if_else),
    (NESTED, nested),
    (TRIPS, trips),
    (NESTED_LOOPS, nested_loops),
    (RETURN_IN_LOOP, return_in_loop),
    (SWITCH, switch),
    (IRREDUCIBLE, irreducible),
    (SHORT_CIRCUIT, short_circuit),
    (PREDICATED, predicated),
]


@pytest.mark.parametrize(("body", "model"), KERNELS, ids=[model.__name__ for _, model in KERNELS])
def test_each_thread_does_what_its_model_does(body: str, model: Callable[[int, int], int]) -> None:
    for block in BLOCKS:
        agrees(body, model, block=block)
    agrees(body, model, block=40, grid=5)


def test_more_ctas_than_run_at_a_time() -> None:
    agrees(IF_ELSE, if_else, seeds=(0, 1), block=64, grid=1100)


@pytest.mark.parametrize("number", range(24))
def test_random_flow(number: int) -> None:
    """After it all lanes that have not ended reconverge, and see which others have."""
    flow = random_flow(number)
    body = f"""
        mov.u32 %r5, %r3;
        {flow.text()}
        setp.eq.u32 %p3, %r0, %r0;
        vote.sync.ballot.b32 %r8, %p3, 0xffffffff;
        add.u32 %r5, %r5, %r8;
    """
    block = BLOCKS[number % 3]
    ends = [flow.ends(int(v)) for v in inputs(block)]

    def model(i: int, v: int) -> int:
        value, comes = ends[i]
        warp = range(i - i % 32, min(i - i % 32 + 32, block))
        return value + sum(1 << j % 32 for j in warp if ends[j][1]) if comes else value

    agrees(body, model, seeds=(0, number + 1), block=block)


def test_a_warp_reconverges_after_a_branch() -> None:
    """All lanes are active after the join, and each side has cost one issue for each warp."""
    body = IF_ELSE + "activemask.b32 %r7; sub.u32 %r5, %r5, %r7;"
    agrees(body, lambda i, v: if_else(i, v) - MASK, block=96)
    _, counts = run(body, block=96)
    assert counts.instructions["A", "JOIN", "activemask.b32"] == 3


def test_lanes_that_go_around_an_early_end_are_one_group() -> None:
    """An exit within the branch does not separate the others, although only the kernel's end post-dominates."""
    body = """
        and.b32 %r6, %r0, 3; setp.ne.u32 %p1, %r6, 0;
        @%p1 bra PAST;
        setp.eq.u32 %p2, %r0, 4;
        @%p2 ret;
    PAST:
        activemask.b32 %r5;
    """
    out, counts = run(body, block=32)
    assert {x for i, x in enumerate(out) if i != 4} == {MASK & ~16}
    assert counts.instructions["A", "PAST", "activemask.b32"] == 1


def test_falling_off_the_end_ends_a_thread() -> None:
    assert run(module("", end="st.global.u32 [%rd2], 7;"), block=40)[0] == [7] * 40


def test_exit_and_ret_end_a_thread() -> None:
    for word in ("ret", "exit", "ret.uni"):
        agrees(f"st.global.u32 [%rd2], 9; {word}; {BEGIN}", lambda i, v: 9, seeds=(0,))
