"""Indirect branches: the index, and the lanes that go to each target."""

from __future__ import annotations

from proof.fused_text import ADDRESS, STORE, Given, certificate, check, of_one

SWITCH = """
T: .branchtargets L, M;
and.b32 %r2, %r1, 1;
brx.idx %r2, T;
L:
st.global.u32 [%d2], 1;
bra E;
M:
st.global.u32 [%d2], 2;
E:
"""


def test_an_index_is_that_of_the_kernel() -> None:
    head = "AT: .branchtargets AL, AM;\nA5\n"
    rest = "AL:\nA8\nbra AE;\nAM:\nA11\nAE:\n"
    right = f"{head}A6: brx.idx %a_r2, AT;\n{rest}"
    other = f"{head}A6: brx.idx %a_r3, AT;\n{rest}"
    of_one(SWITCH, right, other)
    added = "AT: .branchtargets AL;\nbrx.idx %a_r1, AT;\nAL:\nA4"
    made = certificate(Given(STORE), f"A1\nA2\nA3\n{added}")
    assert "may have an index that is beyond its targets" in str(made)
    bounded = "and.b32 %b_r2, %b_r1, {};\nAT: .branchtargets AL, AL;\nbrx.idx %b_r2, AT;\nAL:\n"
    check(Given(STORE), "A1\nA2\nA3\n" + bounded.format(1) + "A4", "A1\nA2\nA3\n" + bounded.format(3) + "A4")
    elsewhere = f"AT:\nA5\n.branchtargets AL, AM;\nA6: brx.idx %a_r2, AT;\n{rest}"
    made = certificate(Given(ADDRESS + SWITCH), f"A1\nA2\nA3\n{elsewhere}")
    assert "which the checker does not know" in str(made)  # the label of a table stands at it
    to_the_list = certificate(Given(ADDRESS + SWITCH), f"A1\nA2\nA3\n{right.replace('bra AE', 'bra AT')}")
    assert "leads nowhere" in str(to_the_list)
    guarded = SWITCH.replace("brx.idx", "@%p1 brx.idx")
    assert "which the checker does not know" in str(certificate(Given(ADDRESS + guarded), f"A1\nA2\nA3\n{right}"))


TABLE = """
T: .branchtargets N, M, L;
and.b32 %r2, %r1, 3;
brx.idx %r2, T;
L:
st.global.u32 [%d2], 1;
bra E;
M:
st.global.u32 [%d2], 2;
bra E;
N:
st.global.u32 [%d2], 3;
E:
"""


def test_a_block_that_stands_twice_in_a_table_has_the_lanes_of_both_indices() -> None:
    right = "AT: .branchtargets AN, AM, AL;\nA5\nA6: brx.idx %a_r2, AT;\n"
    right += "AL:\nA8\nbra AE;\nAM:\nA11\nbra AE;\nAN:\nA14\nAE:\n"
    of_one(TABLE, right, right.replace("AN, AM, AL", "AL, AM, AL"), right.replace("AN, AM, AL", "AN, AM, AN"))


def test_guards_may_stand_for_the_targets_of_a_table() -> None:
    """As `setp.eq.u32` finds out which index it is."""
    is_2, is_0 = "setp.eq.u32 %a_p2, %a_r2, 2;", "setp.eq.u32 %a_p3, %a_r2, 0;"
    guards = f"{is_2}\nA8: @%a_p2 st.global.u32 [%a_d2], 1;\n{is_0}\nA14: @%a_p3 st.global.u32 [%a_d2], 3;\n"
    middle = "setp.eq.u32 %a_p4, %a_r2, 1;\nA11: @%a_p4 st.global.u32 [%a_d2], 2;\n"
    right = f"A5\n{guards}{middle}"
    wrong = [right.replace(a, b) for a, b in (("r2, 2", "r2, 1"), ("@%a_p3", "@!%a_p3"), ("r2, 0", "r2, 3"))]
    of_one(TABLE, right, *wrong, f"A5\n{guards}", right.replace("eq.u32 %a_p4", "eq.u32 %a_p5"))
