"""Texts that do something else than their kernels are not proved: for each rule, one that an earlier checker believed
or might believe.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from proof.fused_text import ADDRESS, BEFORE, BOTH, STORE, STORES, Given, certificate, check, of_one, proved

import goptx
from goptx.proof.prove import prove_text

KERNELS = Path(__file__).parents[2] / "examples" / "kernels"


def test_what_kernels_do_is_proved() -> None:
    check(STORES, BOTH + "A4\nB4", BOTH + "A4", BOTH + "A4\nB4\nst.global.u32 [%a_d2], %a_r1;")


# the witness ----------------------------------------------------------------------------------------------


def test_nobody_checks_what_claims_to_be_of_a_kernel_that_is_not_there() -> None:
    check(STORES, BOTH + "A4\nB4", BOTH + "A4\nB4\nst.global.u32 [%a_d2], %b_r1; // C:9")


def test_a_store_is_done_once_for_each_kernel() -> None:
    line = "mov.u64 %d1, 4096;\nred.global.add.u32 [%d1], 1;"
    given = Given(line, line)
    twice = f"red.global.add.u32 [%a_d1], 1; // A:{2 + BEFORE} B:{2 + BEFORE}"
    check(given, "A1\nB1\nA2\nB2", f"A1\nB1\n{twice}", because="belongs to several kernels")


def test_parameters_stand_in_their_order() -> None:
    right = BOTH + "A4\nB4"
    swapped = right.replace("A1", "A1: ld.param.u64 %a_d1, [w_b];").replace("B1", "B1: ld.param.u64 %b_d1, [w_a];")
    check(STORES, right, swapped)
    because = "does not have the parameters of its kernels in their order"
    assert because in str(Given(STORE, STORE, parameters=("w_b", "w_a")).certificate(swapped))
    both = right.replace("B1", "B1: ld.param.u64 %b_d1, [w_a];")
    assert because in str(Given(STORE, STORE, parameters=("w_a", "w_a")).certificate(both))


# variables ------------------------------------------------------------------------------------------------

IN_SHARED = """
.shared .align 4 .b8 tile[64];
mov.u32 %r1, tile;
st.shared.u32 [%r1], 7;
"""
SEPARATE = ".shared .align 4 .b8 a_tile[64];\n.shared .align 4 .b8 b_tile[64];\n"


def using(first: str, second: str) -> str:
    own = [f"{k}2: mov.u32 %{k.lower()}_r1, {name};\n{k}3\n" for k, name in (("A", first), ("B", second))]
    return "".join(own)


def test_kernels_share_no_variables() -> None:
    own = SEPARATE + using("a_tile", "b_tile")
    check(Given(IN_SHARED, IN_SHARED), own, SEPARATE + using("a_tile", "a_tile"))
    common = Given(IN_SHARED, IN_SHARED, prefixes=("a", "a")).certificate(SEPARATE + using("a_tile", "a_tile"))
    assert "belongs to another kernel, too" in str(common)


@pytest.mark.parametrize("declared", [".shared .align 4 .b8 x[64];", ".global .align 4 .u32 x;"])
def test_variables_of_modules_are_those_of_the_kernel(declared: str) -> None:
    """If the witness does not name them, nothing is known of them; variables of different modules are different."""
    space = declared.split()[0]
    line = f"mov.u64 %d1, x;\nred{space}.add.u32 [%d1], 1;"
    several = Given(
        line, line, declared, f"{declared}\n{declared.replace('x', 'y')}", {"A": {"x": "x"}, "B": {"x": "y"}}
    )
    right = "A1\nA2\nB1: mov.u64 %b_d1, y;\nB2"
    wrong = right.replace("%b_d1, y", "%b_d1, x")
    check(several, right, wrong)
    unnamed = Given(line, line, declared, declared)
    assert not proved(unnamed, wrong)
    one = Given(line, line, declared, declared, {"A": {"x": "x"}, "B": {"x": "x"}})
    if space == ".shared":
        assert "belongs to another kernel, too" in str(certificate(one, wrong))


def test_arrays_without_a_size_are_one() -> None:
    line = "mov.u32 %r1, x;\nst.shared.u32 [%r1], 7;"
    extern = ".extern .shared .align 4 .b8 x[];"
    fused = f"{extern}\n{extern.replace('x[', 'y[')}"
    given = Given(line, line, extern, fused, {"A": {"x": "x"}, "B": {"x": "y"}})
    made = certificate(given, "A1\nA2\nB1: mov.u32 %b_r1, y;\nB2")
    assert "belongs to another kernel, too" in str(made)


@pytest.mark.parametrize("declared", [
    ".shared .align 4 .b8 a_tile[32];", ".shared .align 2 .b8 a_tile[64];", ".local .align 4 .b8 a_tile[64];",
    ".shared .align 4 .b16 a_tile[64];",
])  # fmt: skip
def test_variables_are_declared_alike(declared: str) -> None:
    text = SEPARATE + using("a_tile", "b_tile")
    wrong = text.replace(".shared .align 4 .b8 a_tile[64];", declared)
    check(Given(IN_SHARED, IN_SHARED), text, wrong, because="is not declared as the kernel declares it")


def test_variables_begin_with_what_they_begin_with() -> None:
    line = ADDRESS + "ld.global.u32 %r2, [x];\nst.global.u32 [%d2], %r2;"
    own = {"A": {"x": "x"}}
    given = Given(line, STORE, ".global .align 4 .u32 x = 3;", ".global .align 4 .u32 x = 3;", own)
    text = BOTH + "A4\nA5\nB4"
    check(given, text)
    other = Given(line, STORE, ".global .align 4 .u32 x = 3;", ".global .align 4 .u32 x = 4;", own)
    assert not proved(other, text)


def test_scopes_have_variables_of_their_own() -> None:
    a = "{\n.shared .align 4 .b8 t[64];\nmov.u32 %r1, t;\nst.shared.u32 [%r1], 7;\n}"
    fused = ".shared .align 4 .b8 {}_t_s1[64];\n{}3: mov.u32 %{}_r1, {}_t_s1;\n{}4\n"
    both = [fused.format(*(k.lower(), k, k.lower(), k.lower(), k)) for k in "AB"]
    check(Given(a, a), "".join(both), both[0] + both[1].split("\n", 1)[1].replace("b_t_s1", "a_t_s1"))


# what decides how a kernel is launched --------------------------------------------------------------------


def test_bounds_are_those_of_a_kernel() -> None:
    text = BOTH + "A4\nB4"
    assert proved(Given(STORE, STORE, directives=(".maxntid 64", "", ".maxntid 64")), text)
    made = certificate(Given(STORE, STORE, directives=("", "", ".maxntid 64")), text)
    assert "excludes launches that the kernels allow" in str(made)
    made = certificate(Given(STORE, STORE, directives=(".reqnctapercluster 2", "", "")), text)
    assert "is launched in other clusters" in str(made)


def test_another_target_is_refused() -> None:
    made = certificate(Given(STORE, STORE, targets=("sm_90", "sm_90, map_f64_to_f32")), BOTH + "A4\nB4")
    assert "the kernels are made for another target" in str(made)


# instructions ---------------------------------------------------------------------------------------------


def test_a_load_does_not_become_a_load_of_constant_memory() -> None:
    a = "ld.global.u32 %r2, [%d2];\nadd.u32 %r2, %r2, 1;\nst.global.u32 [%d2], %r2;"
    of_one(a, "A4\nA5\nA6", "A4: ld.global.nc.u32 %a_r2, [%a_d2];\nA5\nA6", because="is not `ld.global.u32")
    of_one(a.replace("global.u32 %r2", "global.nc.u32 %r2"), "A4: ld.global.u32 %a_r2, [%a_d2];\nA5\nA6")


def test_a_result_is_not_forgotten() -> None:
    """The second shuffle gives a new predicate."""
    a = """
    shfl.sync.up.b32 %r2|%p1, %r1, 1, 0, -1;
    shfl.sync.up.b32 %r3|%p1, %r1, 2, 0, -1;
    @%p1 st.global.u32 [%d2], %r3;
    """
    of_one(a, "A4\nA5\nA6", "A4\nA5: shfl.sync.up.b32 %a_r3, %a_r1, 2, 0, -1;\nA6", because="is not `shfl.sync.up")


def test_a_predicate_of_zero_is_false() -> None:
    a = "mov.pred %p1, 1;\n@%p1 st.global.u32 [%d2], %r1;"
    of_one(a, "A4\nA5", "A4: mov.pred %a_p1, 0x0;\nA5", "mov.pred %a_p1, 0;\nA5", "mov.pred %a_p1, 00;\nA5")


def test_halves_are_compared_one_by_one() -> None:
    a = "setp.lt.f16x2 %p1|%p2, %r1, %r2;\n@%p1 st.global.u32 [%d2], 1;\n@%p2 st.global.u32 [%d2+4], 2;"
    of_one(a, "A4\nA5\nA6", "A4\nA5\nA6: @!%a_p1 st.global.u32 [%a_d2+4], 2;")
    of_one(a.replace("f16x2", "f32"), "A4\nA5\nA6: @!%a_p1 st.global.u32 [%a_d2+4], 2;")


@pytest.mark.parametrize("line", [
    ".reg .v4 .b32 %v;\nld.global.v4.b32 %v, [%d2];\nst.global.u32 [%d2], %v.x;",
    "alloca.u32 %r2, 64;", "stacksave.u32 %r2;", "frobnicate.u32 %r2, %r1;",
])  # fmt: skip
def test_what_the_checker_does_not_know_is_refused(line: str) -> None:
    text = "A1\nA2\nA3\n" + "\n".join(f"A{4 + i}" for i in range(len(line.splitlines())))
    assert "which the checker does not know" in str(certificate(Given(ADDRESS + line), text))


def test_directives_that_change_an_instruction_are_refused() -> None:
    right = "A1\nA2\nA3\nA4"
    check(Given(STORE), right, '.pragma "used_bytes_mask 0x1";\n' + right, because="which the checker does not know")
    assert proved(Given(STORE), '.pragma "nounroll";\n' + right)


def test_the_size_of_shared_memory_is_another_one() -> None:
    of_one("st.global.u32 [%d2], %r1;", "A4")
    a = ADDRESS + "mov.u32 %r2, %total_smem_size;\nst.global.u32 [%d2], %r2;"
    assert not proved(Given(a), "A1\nA2\nA3\nA4\nA5")


# order ----------------------------------------------------------------------------------------------------


def test_clocks_are_read_in_order() -> None:
    a = "mov.u32 %r2, %clock;\nmov.u32 %r3, %clock;\nsub.u32 %r4, %r3, %r2;\nst.global.u32 [%d2], %r4;"
    of_one(a, "A4\nA5\nA6\nA7", "A5\nA4\nA6\nA7", because="stands before")


def test_nothing_is_loaded_before_the_grid_before_has_ended() -> None:
    a = "griddepcontrol.wait;\nld.global.nc.u32 %r2, [%d2];\nst.global.u32 [%d2+4], %r2;"
    of_one(a, "A4\nA5\nA6", "A5\nA4\nA6", because="stands before")


@pytest.mark.parametrize(("first", "second"), [
    ("st.global.u32 [%d2], %r1;", "st.release.gpu.global.u32 [%d1], 1;"),
    ("ld.acquire.gpu.global.u32 %r2, [%d1];", "ld.global.u32 %r3, [%d2];"),
    ("st.global.u32 [%d2], %r1;", "membar.gl;"),
    ("ld.volatile.global.u32 %r2, [%d1];", "ld.volatile.global.u32 %r3, [%d2];"),
    ("st.global.u32 [%d2], %r1;", "ld.global.u32 %r3, [%d1];"),
    ("st.global.u32 [%d2], %r1;", "st.global.u16 [%d2+2], %h1;"),
    ("atom.global.add.u32 %r2, [%d2], 1;", "atom.global.add.u32 %r3, [%d1], 1;"),
    ("cp.async.ca.shared.global [%r1], [%d2], 4;", "cp.async.commit_group;"),
    ("st.shared.u32 [%r1], 1;", "bar.sync 0;"),
    ("st.shared.u32 [%r1], 1;", "shfl.sync.up.b32 %r4, %r1, 1, 0, -1;"),
])  # fmt: skip
def test_order_is_preserved(first: str, second: str) -> None:
    of_one(f"{first}\n{second}", "A4\nA5", "A5\nA4", because="stands before")


def test_the_carry_flag_has_one_owner() -> None:
    a = "add.cc.u32 %r2, %r1, -1;\naddc.u32 %r3, 0, 0;\nst.global.u32 [%d2], %r3;"
    given = Given(ADDRESS + a, ADDRESS + a.replace("-1", "-5"))
    check(given, BOTH + "A4\nA5\nB4\nB5\nA6\nB6", BOTH + "A4\nB4\nA5\nB5\nA6\nB6")


# flow -----------------------------------------------------------------------------------------------------


def test_a_label_that_is_not_there() -> None:
    assert "leads nowhere" in str(certificate(Given(STORE), "A1\nA2\nA3\nA4\nbra NOWHERE;"))


LOOP = """
mov.u32 %r2, 0;
mov.u32 %r3, 0;
L:
st.global.u32 [%d2], %r3;
ld.global.u32 %r3, [%d1];
add.u32 %r2, %r2, 1;
setp.lt.u32 %p1, %r2, 9;
@%p1 bra L;
"""


def test_values_of_the_iteration_before_are_others() -> None:
    first, rest = "A4\nA5\n", "\nA8\nA9\nA10\nA11: @%a_p1 bra AL;"
    right = f"{first}AL:\nA7{rest}"
    late = f"{first}mov.u32 %a_r4, 0;\nAL:\nA7: st.global.u32 [%a_d2], %a_r4;\nmov.u32 %a_r4, %a_r3;{rest}"
    of_one(LOOP, right, late)


# lanes of a warp ------------------------------------------------------------------------------------------

VOTE = """
setp.gt.u32 %p1, %r1, 5;
@%p1 ret;
vote.sync.ballot.b32 %r2, %p2, -1;
st.global.u32 [%d2], %r2;
"""


@pytest.mark.parametrize("line", [
    "vote.sync.ballot.b32 %r2, %p2, -1;", "vote.sync.any.pred %p3, %p2, -1;", "activemask.b32 %r2;",
    "redux.sync.add.u32 %r2, %r1, -1;", "match.any.sync.b32 %r2, %r1, -1;",
])  # fmt: skip
def test_lanes_that_have_ended_have_no_vote(line: str) -> None:
    a = VOTE.replace("vote.sync.ballot.b32 %r2, %p2, -1;", line)
    head = "A1\nA2\nA3\nA4\nnot.pred %a_p3, %a_p1;\n"
    text = head + "A6\nA7: @%a_p3 st.global.u32 [%a_d2], %a_r2;"
    made = certificate(Given(ADDRESS + a), text)
    assert not made and re.search("may change the result of|has other operands", str(made)), str(made)


def test_what_lanes_do_together_stands_once() -> None:
    a = "shfl.sync.up.b32 %r2, %r1, 1, 0, -1;\nst.global.u32 [%d2], %r2;"
    test, rest = "setp.lt.u32 %a_p1, %a_r1, 3;\n", "bra AE;\nAE:\nA5"
    copies = [f"A4: @{sign}%a_p1 shfl.sync.up.b32 %a_r2, %a_r1, 1, 0, -1;\n" for sign in ("", "!")]
    of_one(a, f"{test}A4\n{rest}", f"{test}{''.join(copies)}{rest}", because="stands in a block twice")
    late = f"{test}@%a_p1 bra AL;\nA4\nAL:\n{copies[0]}{rest}"
    of_one(a, f"{test}A4\n{rest}", late, f"{test}{copies[0]}bra AL;\nAL:\n{copies[1]}{rest}")


def test_barriers_do_not_become_aligned() -> None:
    a = "barrier.sync 0;\nst.global.u32 [%d2], %r1;"
    of_one(a, "A4\nA5", "A4: bar.sync 0;\nA5", "A4: barrier.sync.aligned 0;\nA5", because="is not `barrier.sync 0;`")


def test_lanes_may_vote_in_groups() -> None:
    """So what a vote gives may differ within a warp if its mask does."""
    a = """
    match.any.sync.b32 %r3, %r1, -1;
    vote.sync.any.pred %p1, %p2, %r3;
    shfl.sync.up.b32 %r2, %r1, 1, 0, -1;
    st.global.u32 [%d2], %r2;
    """
    both = "A6\nbra AE;\nAL:\nA6\nAE:\nA7"
    of_one(a, "A4\nA5\nA6\nA7", f"A4\nA5\n@%a_p1 bra AL;\n{both}", because="stands on several sides")
    of_one(a, "A4\nA5\nA6\nA7", f"A4\nA5\n@%b_p5 bra AL;\n{both}", because="stands on several sides")


def test_a_branch_by_thread_numbers_around_a_barrier_is_not_presumed() -> None:
    """Threads whose kernel has ended would be at the other kernel's barrier while others are at this one."""
    barrier = "@%p1 bra L;\nbar.sync 0;\nst.global.u32 [%d2], %r1;\nL:"
    data, number = "ld.global.u32 %r2, [%d1];", "mov.u32 %r2, %tid.x;"
    other = ADDRESS + "bar.sync 0;\nst.global.u32 [%d2], %r1;"
    both = BOTH + "A4\nA5\nA6: @%a_p1 bra AL;\nA7\nA8\nAL:\nB4\nB5"
    for first, presumed in ((data, True), (number, False)):
        made = certificate(Given(ADDRESS + f"{first}\nsetp.gt.u32 %p1, %r2, 63;\n{barrier}", other), both)
        assert bool(made) == presumed and any("alike" in p for p in made.presumed) == presumed, str(made)


SHUFFLE = "shfl.sync.up.b32 %r2, %r1, 1, 0, -1;"
AFTER = "bra AE;\nAE:\nA5"


def test_lanes_do_not_leave_each_other_at_branches_that_were_added() -> None:
    a = f"{SHUFFLE}\nst.global.u32 [%d2], %r2;"
    test = "setp.lt.u32 %a_p1, %a_r1, 3;\n"
    of_one(a, f"A4\n{AFTER}", f"{test}@%a_p1 bra AM;\nA4\nbra AN;\nAM:\nA4\nAN:\nA5", because="on several sides")
    nowhere = f"{test}@%a_p1 bra AM;\nA4\nAM:\n@%a_p1 bra AN;\nbra AO;\nAN:\nA4\nAO:\nA5"
    of_one(a, f"A4\n{AFTER}", nowhere, because="and not of one in its kernel")


def test_lanes_do_not_leave_each_other_at_a_branch_whose_sides_have_met_in_the_kernel() -> None:
    a = f"setp.lt.u32 %p1, %r1, 3;\n@%p1 bra L;\nst.global.u32 [%d2], 1;\nL:\n{SHUFFLE}\nst.global.u32 [%d2], %r2;"
    right = "A4\nA5: @%a_p1 bra AL;\nA6\nAL:\nA8\nA9"
    early = "A4\nA5: @%a_p1 bra AL;\nA6\nA8\nAL:\n@!%a_p1 bra AM;\nA8\nAM:\nA9"
    of_one(a, right, early, because="and not of one in its kernel")


def test_another_kernels_branch_is_not_the_kernels() -> None:
    b = ADDRESS + "setp.lt.u32 %p1, %r1, 3;\n@%p1 bra L;\nst.global.u32 [%d2], 1;\nL:"
    given = Given(ADDRESS + f"{SHUFFLE}\nst.global.u32 [%d2], %r2;", b)
    right = BOTH + "A4\nB4\nB5: @%b_p1 bra BL;\nB6\nBL:\nA5"
    wrong = BOTH + "B4\nB5: @%b_p1 bra BL;\nB6\nA4\nBL:\nA4: @%b_p1 shfl.sync.up.b32 %a_r2, %a_r1, 1, 0, -1;\nA5"
    check(given, right, wrong)


def test_warpgroups_come_to_one_copy() -> None:
    """A vote is the same within a warp only."""
    a = "wgmma.fence.sync.aligned;\nst.global.u32 [%d2], %r1;"
    vote = "setp.lt.u32 %a_p1, %a_r1, 3;\nvote.sync.any.pred %a_p2, %a_p1, -1;\n"
    copies = f"{vote}@%a_p2 bra AM;\nA4\nbra AN;\nAM:\nA4\nAN:\nA5"
    of_one(a, "A4\nA5", copies, because="on several sides")


def test_warpgroups_come_together_where_the_kernel_may_pass_them_by() -> None:
    """Warps take different sides by an added vote, and a branch of the kernel on each, which all threads take alike."""
    a = "mov.u32 %r3, {};\nsetp.eq.u32 %p1, %r3, 64;\n@%p1 bra L;\nwgmma.fence.sync.aligned;\n"
    a += "st.global.u32 [%d2], %r1;\nL:\nbar.sync 0;\nst.global.u32 [%d2+4], %r1;"
    vote = "A4\nA5\nsetp.lt.u32 %a_p3, %a_r1, 3;\nvote.sync.any.pred %a_p2, %a_p3, -1;\n@%a_p2 bra AM;\n"
    branch, end = "A6: @%a_p1 bra AL;\n", "AL:\nA10\nA11"
    joined = f"{vote}{branch}bra AN;\nAM:\n{branch}AN:\nA7\nA8\n{end}"
    copies = f"{vote}{branch}A7\nA8\nbra AL;\nAM:\n{branch}A7\nA8\n{end}"
    waits = joined.replace("bra AN;", "bar.sync 1;\nbra AN;")
    of_one(a.format("%ntid.x"), joined, copies, waits)
    made = certificate(Given(ADDRESS + a.format("%tid.x")), "A1\nA2\nA3\n" + joined)
    assert "on several sides" in str(made)  # threads do not take the kernel's branch alike


UNI = """
setp.lt.u32 %p1, %r1, 3;
@%p1 ret;
ld.global.u32 %r2, [%d1];
setp.eq.u32 %p2, %r2, 1;
@%p2 bra.uni L;
st.global.u32 [%d2], %r1;
L:
"""


def test_the_kernels_promise_does_not_hold_for_lanes_that_have_ended() -> None:
    text = "A4\nnot.pred %a_p3, %a_p1;\nA6: @%a_p3 ld.global.u32 %a_r2, [%a_d1];\nA7\n{} AL;\nA9: @%a_p3 {}\nAL:\n"
    store = "st.global.u32 [%a_d2], %a_r1;"
    of_one(UNI, text.format("A8: @%a_p2 bra", store), text.format("A8: @%a_p2 bra.uni", store), because="says that all")


def test_an_aligned_barrier_stands_under_a_branch_of_its_kernel() -> None:
    """The claim is that of a branch, and the test another one."""
    a = """
    setp.eq.u32 %p1, %r1, 40;
    @%p1 bra L;
    L:
    setp.lt.u32 %p2, %r1, 3;
    bar.sync 0;
    st.global.u32 [%d2], %r1;
    """
    right = "A4\nA7\nA8\nA9"
    wrong = "A4\nA7\nA5: @%a_p2 bra AL;\nA8\nbra AM;\nAL:\nA8\nAM:\nA9"
    of_one(a, right, wrong, because="not all lanes of a warp may come to")


def test_lanes_of_a_warp_come_to_an_aligned_barrier_together() -> None:
    """In the kernel some have ended, and are waited for no more; in the fused kernel they are alive."""
    a = "setp.gt.u32 %p1, %r1, 5;\n@%p1 ret;\nbar.sync 1, 32;\nst.global.u32 [%d2], %r1;"
    head = "A4\nnot.pred %a_p3, %a_p1;\nvote.sync.any.pred %a_p4, %a_p3, -1;\n"
    rest = "A7: @%a_p3 st.global.u32 [%a_d2], %a_r1;"
    of_one(a, f"{head}A6: @%a_p4 bar.sync 1, 32;\n{rest}", f"{head}A6: @%a_p3 bar.sync 1, 32;\n{rest}")


def test_nobody_waits_for_lanes_whose_kernel_ended_at_the_branch() -> None:
    a = "setp.gt.u32 %p1, %r1, 5;\n@%p1 ret;\nvote.sync.ballot.b32 %r2, %p2, -1;\nst.global.u32 [%d2], %r2;"
    given = Given(ADDRESS + a, ADDRESS + "bar.sync 0;\nst.global.u32 [%d2], %r1;")
    wrong = BOTH + "A4\nA5: @%a_p1 bra AE;\nA6\nA7\nAE:\nB4\nB5"
    assert "may wait for a thread whose kernel has ended" in str(certificate(given, wrong))


@pytest.mark.parametrize("line", ["@%a_r1 mov.u32 %a_r2, 1;", "setp.lt.u32 %a_r2, %a_r1, 3;"])
def test_what_is_no_predicate_is_refused(line: str) -> None:
    check(STORES, BOTH + "A4\nB4", f"{BOTH}{line}\nA4\nB4", because="is not a predicate")


def test_what_was_added_for_a_warp_names_all_of_it() -> None:
    text = BOTH + "A4\n{}\nB4"
    check(STORES, text.format("bar.warp.sync -1;"), *(text.format(f"bar.warp.sync {m};") for m in ("0", "15", "%a_r1")))


def test_a_number_may_be_written_in_several_ways() -> None:
    """Two barriers with a count that are one, and numbers that are equal."""
    a, b = (
        ADDRESS + "bar.sync 1, 32;\nst.global.u32 [%d2], %r1;",
        ADDRESS + "bar.sync 2, 32;\nst.global.u32 [%d2], %r1;",
    )
    right = BOTH + "A4\nB4{}\nA5\nB5"
    wrong = [right.format(f": bar.sync {n}, 32;") for n in ("1", "0x1", "01", "0b1")]
    check(Given(a, b), right.format(""), *wrong, because="kernels share barrier 1")
    assert proved(STORES, BOTH + "A4\nB4") and proved(Given(a, b), right.format(": bar.sync 0x2, 0x20;"))


def test_active_lanes_are_cut_by_those_that_run() -> None:
    a = "setp.gt.u32 %p1, %r1, 5;\n@%p1 ret;\nactivemask.b32 %r2;\nst.global.u32 [%d2], %r2;"
    head = (
        "vote.sync.ballot.b32 %a_r5, %a_p0, -1;\nA4\nnot.pred %a_p3, %a_p1;\nvote.sync.ballot.b32 %a_r6, %a_p3, -1;\n"
    )
    begin = f"mov.pred %a_p0, 1;\n{head}bra AE;\nAE:\n"
    cut = begin + "A6\nand.b32 %a_r2, %a_r2, %a_r{};\nA7: @%a_p3 st.global.u32 [%a_d2], %a_r2;"
    of_one(a, cut.format(6), cut.format(5), begin + "A6\nA7: @%a_p3 st.global.u32 [%a_d2], %a_r2;")


AGAIN = """
mov.u32 %r2, 0;
L:
st.global.u32 [%d2], %r2;
add.u32 %r2, %r2, 1;
setp.lt.u32 %p1, %r2, %r1;
@%p1 bra L;
st.global.u32 [%d2+4], 1;
"""
VOTED = "A4\nmov.pred %a_p4, 1;\nAL:\nA6: @%a_p4 st.global.u32 [%a_d2], %a_r2;\nA7\nA8\nand.pred %a_p4, %a_p4, %a_p1;\n"


def test_a_branch_may_go_to_the_next_line() -> None:
    vote = "vote.sync.any.pred %a_p5, %a_p4, -1;\n"
    nowhere = f"{VOTED}{vote}A9: @!%a_p5 bra AM;\nAM:\nA10"
    assert not certificate(Given(ADDRESS + AGAIN), f"A1\nA2\nA3\n{nowhere}")


def test_a_loop_votes_each_time() -> None:
    """Else lanes are in it for ever that asked for it once."""
    vote, again = "vote.sync.any.pred %a_p5, %a_p4, -1;\n", "A9: @%a_p5 bra AL;\nA10"
    of_one(AGAIN, VOTED + vote + again, because="may go on when no kernel does")
    once = f"A4\nmov.pred %a_p4, 1;\n{vote}{VOTED.split(chr(10), 2)[2]}{again}"
    assert "may go on when no kernel does" in str(certificate(Given(ADDRESS + AGAIN), f"A1\nA2\nA3\n{once}"))


def test_lanes_that_have_left_a_loop_are_there() -> None:
    """What a predicate was when the loop began again is not what it is from then on."""
    vote, again = "vote.sync.any.pred %a_p5, %a_p4, -1;\n", "A9: @%a_p5 bra AL;\nA10"
    right = VOTED + vote + again
    of_one(
        AGAIN, right, right.replace("@%a_p4 st", "st"), right.replace("and.pred %a_p4, %a_p4", "and.pred %a_p4, %a_p1")
    )


@pytest.mark.slow
def test_what_a_predicate_was_in_the_iteration_before() -> None:
    """It is another variable than what it is from then on, although a register has it all the time."""
    paths = [KERNELS / f"{name}.sm_90.ptx" for name in ("layernorm", "lud")]
    text = goptx.weave(*paths).text()
    lines = text.splitlines()
    vote = max(i for i, line in enumerate(lines) if "vote.sync.any.pred %a_any" in line)
    modules = [goptx.read(p) for p in paths]
    assert prove_text(text, modules)
    made = prove_text("\n".join([*lines[:vote], *lines[vote + 1 :], ""]), modules)
    assert "may go on when no kernel does" in str(made)


def test_a_ballot_is_no_predicate() -> None:
    line = "vote.sync.ballot.b32 %a_p2, %a_p1, -1;\nand.pred %a_p2, %a_p2, %a_p1;"
    check(STORES, BOTH + "A4\nB4", f"{BOTH}{line}\nA4\nB4", because="writes a predicate")


PRODUCT = """
.version 8.5
.target sm_80
.address_size 64
.visible .entry sides(.param .u64 out)
{
    .reg .pred %p<3>; .reg .b32 %r<5>; .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mul.lo.u32 %r2, %r1, 96; setp.lt.u32 %p1, %r2, 1000;
    mov.u32 %r3, 5; mov.u32 %r4, 0; @%p1 bra OUT;
    TOP: add.u32 %r3, %r3, %r4; add.u32 %r4, %r4, 1; setp.lt.u32 %p2, %r4, 10; @%p2 bra TOP;
    OUT: mad.wide.u32 %rd2, %r1, 4, %rd1; st.global.u32 [%rd2], %r3; ret;
}
.visible .entry shuffles(.param .u64 out)
{
    .reg .b32 %r<5>; .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1;
    mad.wide.u32 %rd2, %r1, 4, %rd1; st.global.u32 [%rd2], %r2; ret;
}
"""


def test_a_product_is_not_a_comparison_with_a_multiple_of_the_warps_size() -> None:
    """`lo` is a comparison, too; the product of a lane's number and 96 is another one in each lane."""
    module = goptx.read(PRODUCT)
    woven = goptx.weave(
        module, module, entries=["sides", "shuffles"], divergence="park", shapes=[goptx.Shape(1, 32)] * 2
    )
    text = woven.text()
    assert prove_text(text, [module, module])
    wrong, count = re.subn(r"(@!?%a_p1 bra) ", r"\1.uni ", text)
    assert count == 1
    made = prove_text(wrong, [module, module])
    assert not made and "all lanes of a warp go one way" in str(made)
