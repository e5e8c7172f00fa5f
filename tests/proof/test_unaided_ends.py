"""Threads that leave for code in which nothing waits come to their end whatever others do; the rest are together."""

from __future__ import annotations

import pytest
from proof.fused_text import ADDRESS, Given, certificate, check, of_one

VOTE = "vote.sync.ballot.b32 %r3, %p2, 0xffffffff;"
# Lines of A: threads that load a number leave with a store, the others vote.
LEAVES = (
    ADDRESS
    + f"""
ld.global.u32 %r2, [%d2];
setp.eq.u32 %p1, %r2, 7;
setp.gt.u32 %p2, %r2, 9;
@%p1 bra LEAVE;
{VOTE}
st.global.u32 [%d2], %r3;
bra DONE;
LEAVE:
st.global.u32 [%d2+4], %r2;
exit;
DONE:
"""
)
BEGIN = "A1\nA2\nA3\nA4\nA5\nA6\nA7: @%a_p1 bra $LEAVE;\n"
END = "A9\nbra $DONE;\n$LEAVE:\n{leave}A12\nexit;\n$DONE:"
VOTES = ADDRESS + "vote.sync.ballot.b32 %r3, %p2, 0xffffffff;\nst.global.u32 [%d2], %r3;"
AFTER = Given(LEAVES, "")


def test_an_instruction_of_the_warp_after_some_have_left() -> None:
    right = BEGIN + "A8\n" + END.format(leave="")
    added = "vote.sync.any.pred %a_p5, %a_p2, -1;\n"
    check(
        AFTER,
        right,
        BEGIN + "bra $ON;\n$ON:\n" + END.format(leave="A8\n"),  # by those that leave
        BEGIN + "A8\n" + END.format(leave="A8\n"),  # by both
        BEGIN + "A8\n" + END.format(leave=added),  # those that leave wait for the others
        BEGIN + added + "A8\n" + END.format(leave=added),
        right.replace("A7: @%a_p1", "A7: @!%a_p1"),
    )
    assert certificate(AFTER, BEGIN + added + "A8\n" + END.format(leave=""))  # all that are left come


SPIN = "SPIN:\nld.acquire.cta.global.u32 %r4, [%d2+8];\nsetp.eq.u32 %p3, %r4, 0;\n@%p3 bra SPIN;\n"


@pytest.mark.parametrize("waits", [SPIN, "bar.sync 0;\n", "bar.warp.sync %r2;\n"])
def test_threads_that_wait_on_their_way_are_not_unaided(waits: str) -> None:
    """Another kernel's vote may hold up those for which they wait."""
    kernel = LEAVES.replace("LEAVE:\n", "LEAVE:\n" + waits)
    kernel = kernel.replace(VOTE, "mov.u32 %r3, 1;\nst.release.cta.global.u32 [%d2+8], 1;")
    given = Given(kernel, ADDRESS + "setp.eq.u32 %p2, %r1, 3;\n" + VOTE + "\nst.global.u32 [%d2], %r3;")
    numbers = {line.split(":")[0]: f"A{n}" for n, line in enumerate(given.body("A"), 1)}
    lines = [numbers[line] for line in waits.strip().splitlines() if not line.endswith("SPIN:")]
    if waits == SPIN:
        lines = ["$SPIN:", *lines[:-1], f"{lines[-1]}: @%a_p3 bra $SPIN;"]
    leave = "".join(f"{line}\n" for line in lines)
    store, votes = numbers["st.global.u32 [%d2+4], %r2;"], "B5\nB6\n"
    ends = "A8\nA9\nA10\nbra $DONE;\n$LEAVE:\n" + leave + store
    text = "B1\nB2\nB3\nB4\n{0}" + BEGIN + "{1}" + ends + "\n{2}exit;\n$DONE:"
    assert certificate(given, text.format(votes, "", ""))  # all of B has been
    assert not certificate(given, text.format("", votes, ""))  # those that leave have not had B's vote
    assert not certificate(given, text.format("", votes, votes))


def test_values_of_those_that_leave_differ_from_those_of_the_others() -> None:
    """Code at which threads arrive that left and threads that did not: a value that only these have written."""
    function = ".func f() { .reg .b64 %d1; mov.u64 %d1, 64; st.global.u32 [%d1], 1; ret; }"
    kernel = ADDRESS + (
        "ld.global.u32 %r2, [%d2];\nsetp.eq.u32 %p1, %r2, 7;\nsetp.ne.u32 %p3, %r1, %r1;\n@%p1 bra TAIL;\n"
        "bar.warp.sync -1;\nmov.u32 %r5, 4;\nsetp.eq.u32 %p3, %r5, 4;\nTAIL:\n@%p3 call f;\n"
    )
    code = "A1\nA2\nA3\nA4\nA5\nA6\nA7: @%a_p1 bra $TAIL;\nA8\nA9\nA10\n$TAIL:\n{}"
    given = Given(kernel, "", of_module=function, of_fused=function, symbols={"A": {"f": "f"}})
    check(given, code.format("A12: @%a_p3 call f;"), code.format("A12: @%a_p3 call.uni f;"), because="guard")


def test_a_loop_in_which_others_stay_when_those_that_asked_have_left() -> None:
    """Threads of A leave the loop by ending. The others of the warp came along, and nobody tells them."""
    loops = ADDRESS + (
        "setp.lt.u32 %p1, %r1, 9;\nmov.u32 %r2, 0;\n@!%p1 exit;\nLOOP:\nadd.u32 %r2, %r2, 1;\n"
        "setp.eq.u32 %p2, %r2, %r1;\n@%p2 bra LEAVE;\nbra LOOP;\nLEAVE:\nst.global.u32 [%d2], %r2;\n"
    )
    code = (
        "A1\nA2\nA3\nA4\nA5\nvote.sync.any.pred %a_p4, %a_p1, -1;\n@!%a_p4 bra $END;\n$LOOP:\n"
        "A8\nA9\nand.pred %a_p5, %a_p1, %a_p2;\nA10: @%a_p5 bra $LEAVE;\n{}bra $LOOP;\n$LEAVE:\nA13\nexit;\n$END:"
    )
    given = Given(loops, "")
    made = certificate(given, code.format(""))
    assert "may go on when no kernel does" in str(made)
    again = "and.pred %a_p1, %a_p1, %a_p1;\nvote.sync.any.pred %a_p4, %a_p1, -1;\n@!%a_p4 bra $END;\n"
    assert certificate(given, code.format(again)), str(certificate(given, code.format(again)))


SKIPS = """
setp.gt.u32 %p1, %r1, 40;
@%p1 bra DONE;
vote.sync.any.pred %p2, %p1, -1;
selp.b32 %r2, 1, 0, %p2;
st.global.u32 [%d2], %r2;
DONE:
"""


def test_lanes_that_end_in_the_block_of_a_vote_are_not_waited_for() -> None:
    """They pass it by with a guard, and are where the others are when these have voted."""
    cut = "vote.sync.ballot.b32 %a_r5, %a_p3, -1;\n"
    code = "A4\nnot.pred %a_p3, %a_p1;\n" + cut + "A6: @%a_p3 vote.sync.any.pred %a_p2, %a_p1, {};\nA7\n"
    code += "A8: @%a_p3 st.global.u32 [%a_d2], %a_r2;\n"
    waits = Given(ADDRESS + SKIPS, ADDRESS + "bar.sync 0;\nst.global.u32 [%d2], %r1;")
    begin, end = "A1\nA2\nA3\nB1\nB2\nB3\n", "B4\nB5\n"
    wrong = begin + code.format("-1") + end
    check(waits, begin + code.format("%a_r5") + end, wrong, because="names a lane whose kernel has ended")
    assert not certificate(waits, begin + code.format("-1") + "bra L;\nL:\n" + end)
    nothing = Given(ADDRESS + SKIPS, ADDRESS + "st.global.u32 [%d2], %r1;")
    assert not certificate(nothing, begin + code.format("-1") + "B4\n")  # lanes may wait for each other after a guard


def test_lanes_that_end_where_others_come_later_may_wait_for_them() -> None:
    """An assembler may let lanes wait where sides of a branch meet, until those of the other side have come."""
    a = "setp.lt.u32 %p1, %r1, 16;\n@%p1 bra L;\nadd.u32 %r1, %r1, 1;\nL:\nst.global.u32 [%d2], %r1;"
    text = "A4\nA5: @%a_p1 bra $L;\n{}A6\n$L:\nA8"
    vote = "vote.sync.any.pred %a_p2, %a_p1, -1;\n"
    of_one(a, text.format(""), text.format(vote), because="not all lanes of a warp may come to")
    alone = text.replace("$L:", "A8\nexit;\n$L:")
    assert certificate(Given(ADDRESS + a, ""), "A1\nA2\nA3\n" + alone.format(vote))  # no side has what comes after it


def test_a_barrier_of_the_warp_may_not_go_on_when_lanes_have_ended() -> None:
    """Lanes leave a loop one by one, and end; a vote waits for those that have not ended, by the manual."""
    a = "LOOP:\nadd.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, 32;\n@%p1 bra LOOP;\nst.global.u32 [%d2], %r1;"
    loop = "AL:\nA5\n{}A6\nA7: @%a_p1 bra AL;\nA8"
    of_one(a, loop.format(""), loop.format("bar.warp.sync -1;\n"), because="not all lanes of a warp may come to")
