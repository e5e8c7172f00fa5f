"""Each thread of a woven kernel computes what it computes in its kernels alone, where a small slip of the
merger would matter: compared by `goptx.check` on the emulator."""

from pathlib import Path
from typing import Any

import pytest
from bodies import kernel

import goptx
from goptx.checking.verdict import Check
from goptx.options import Choice
from goptx.ptx.ir import Module

CONSTRUCTS = goptx.read(Path(__file__).parents[1] / "constructs" / "constructs.sm_80.ptx")
BLOCK = 256
ARGUMENTS = {"0": "u32[300]:0..1024", "1": "u32[300]:zeros", "2": "u32:100"}  # in, out, n


def checked(first: Module | str, second: Module | str, **options: Any) -> Check:
    """Every thread of one CTA has an element of its own; n is less than there are threads."""
    arguments = {f"{letter}:{position}": text for letter in "AB" for position, text in ARGUMENTS.items()}
    found = goptx.check(first, second, grid=1, block=BLOCK, args=arguments, **options)
    if found.failure is not None:
        raise found.failure
    return found


def of_threads(body: str, name: str = "k") -> str:
    """A kernel that runs `body`: %r1 is the thread's number, %r2 n, %rd1 and %rd2 the addresses of its elements."""
    begin = f"""
        mov.u32 %r1, %tid.x; ld.param.u32 %r2, [{name}_n]; mul.wide.u32 %rd3, %r1, 4;
        ld.param.u64 %rd1, [{name}_in]; add.s64 %rd1, %rd1, %rd3;
        ld.param.u64 %rd2, [{name}_out]; add.s64 %rd2, %rd2, %rd3;
    """
    return kernel(begin + body, name)


STEP = "ld.global.u32 %r3, [%rd1]; mad.lo.u32 %r4, %r4, 5, %r3;\n"  # once more gives another value
LONG = of_threads(f"mov.u32 %r4, 1; {STEP * 6} st.global.u32 [%rd2], %r4; ret;", "long")
EARLY = "setp.ge.u32 %p1, %r1, %r2; @%p1 ret;"
CARRY = "add.cc.u32 %r4, %r3, -7; {more} addc.u32 %r5, %r3, -1; add.u32 %r3, %r3, %r5;\n"
HALF = """
    ld.global.u32 %r4, [%rd1]; and.b32 %r3, %r1, 16; setp.eq.u32 %p2, %r3, 0; @%p2 bra LOW;
    ld.global.u32 %r5, [%rd1]; st.global.u32 [%rd2], %r5; bar.warp.sync 0xffff0000; bra JOIN;
    LOW: mov.u32 %r5, 9; st.global.u32 [%rd2], %r5; bar.warp.sync 0xffff;
    JOIN: add.u32 %r4, %r4, %r5; st.global.u32 [%rd2], %r4; ret;
"""  # the code under the branch cannot run under predicates


def test_lanes_that_have_ended_enter_no_loop() -> None:
    loop = f"{EARLY} mov.u32 %r3, %r1; TURN: st.global.u32 [%rd2], %r3; add.u32 %r3, %r3, 9; setp.lt.u32 %p2, %r3, 200;"
    checked(of_threads(f"{loop} @%p2 bra TURN; ret;"), LONG)


def test_each_side_of_a_branch_finds_what_was_before_it() -> None:
    """A register that one side writes and the other reads, each in a loop with lanes of its own."""
    turn = "{side}: {step} add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, 9; @%p2 bra {side};"
    body = f"""
        ld.global.u32 %r4, [%rd1]; mov.u32 %r5, 77; and.b32 %r3, %r1, 7; setp.gt.u32 %p1, %r3, 4; @%p1 bra WRITES;
        {turn.format(side="READS", step="mad.lo.u32 %r4, %r4, 3, %r5;")} bra JOIN;
        WRITES: mov.u32 %r5, 5; {turn.format(side="TURN", step="add.u32 %r4, %r4, %r5;")}
        JOIN: st.global.u32 [%rd2], %r4; ret;
    """
    found = checked(of_threads(body), LONG)
    assert {d.choice for d in found.report.divergences} == {"predicate"}


@pytest.mark.parametrize("slicing", [1, None])
def test_carry_flags_are_not_mixed_up(slicing: int | None) -> None:
    """Nor where the slices of one chain would stand on both sides of the other kernel's branch."""
    short, long = (CARRY.format(more="addc.cc.u32 %r4, %r4, %r3; " * more) for more in (0, 2))
    choice = f"""
        mov.u32 %r6, %ctaid.x; setp.eq.u32 %p1, %r6, 1; @%p1 bra OTHER;
        {long} bra BOTH;
        OTHER: {long}
        BOTH: add.u32 %r3, %r3, 1;
    """
    texts = (
        of_threads(f"ld.global.u32 %r3, [%rd1]; {chains} st.global.u32 [%rd2], %r3; ret;", name)
        for name, chains in (("k", short), ("other", choice))
    )
    checked(*texts, policy="paper", slicing=slicing)


@pytest.mark.parametrize("choice", [None, "park"])
def test_regions_after_an_early_return(choice: Choice | None) -> None:
    text = of_threads((EARLY if choice is None else "") + HALF)
    found = checked(text, LONG, policy="paper", slicing=100, divergence=choice)
    assert "duplicate" in {d.choice for d in found.report.divergences} or choice == "park"


@pytest.mark.parametrize("choice", ["park", "duplicate"])
@pytest.mark.parametrize("partner", ["straight", "warp_reduce", "barrier"])
@pytest.mark.parametrize("name", ["choose", "divergent_shuffle", "short_circuit"])
def test_what_stands_beside_a_region_runs_once(name: str, partner: str, choice: Choice) -> None:
    checked(CONSTRUCTS, CONSTRUCTS, entries=[name, partner], divergence=choice, slicing=30)


TWO_WAYS_IN = """
    and.b32 %r3, %r1, 7; setp.gt.u32 %p1, %r3, 3; @%p1 bra MIDDLE;
    TOP: add.u32 %r4, %r4, 3; setp.gt.u32 %p1, %r4, 90; @%p1 bra OUT;
    MIDDLE: add.u32 %r4, %r4, 1; add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, 9; @%p2 bra TOP;
    OUT: st.global.u32 [%rd2], %r4; ret;
"""
MASK_INSIDE = """
    and.b32 %r3, %r1, 7;
    TOP: ld.global.u32 %r5, [%rd1]; setp.gt.u32 %p1, %r3, 9; @%p1 bra OUT;
    activemask.b32 %r6; add.u32 %r4, %r4, %r5; add.u32 %r3, %r3, 1; bra TOP;
    OUT: st.global.u32 [%rd2], %r4; ret;
"""


@pytest.mark.parametrize("choice", [None, "park"])
@pytest.mark.parametrize("loop", [TWO_WAYS_IN, MASK_INSIDE], ids=["two ways in", "mask inside"])
def test_what_stands_beside_a_parked_loop_runs_once(loop: str, choice: Choice | None) -> None:
    checked(of_threads(f"ld.global.u32 %r4, [%rd1];{loop}"), LONG, divergence=choice)
