"""What the weaver once got wrong, written by hand: its checker shares no analysis with it, and must not believe them.

Others are in test_attacks.py: order at releases and acquires, `.uni` under a guard, masks of lanes that end, branches
that are alike for a warp and not for a CTA. test_synchronization.py has waits.
"""

import pytest
from proof.fused_text import ADDRESS, BOTH, STORE, STORES, Given, certificate, check, of_one

STRUCTURE = ".param .align 8 .b8 {}[16]"
COUNT = "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\nmad.lo.u32 %r4, %r2, %r3, %r1;\n"
EARLY = "setp.gt.u32 %p1, %r1, 5;\n@%p1 ret;\n"
RUN = "A4\nnot.pred %a_p3, %a_p1;\n"


def test_a_pointer_in_a_structure_is_a_pointer() -> None:
    """B reads by its second pointer what A may have written by its first one."""
    address = COUNT + "ld.param.u64 %d1, [out{0}];\nmad.wide.u32 %d2, %r4, 4, %d1;\n"
    a = address.format("") + "st.global.u32 [%d2], %r1;"
    b = address.format("+8") + "ld.global.u32 %r5, [%d2];\nst.global.u32 [%d2], %r5;"
    begin = "\n".join(f"{letter}{n}" for letter in "AB" for n in range(1, 7))
    given = Given(a, b, depends=True, parameter=STRUCTURE)
    check(given, f"{begin}\nA7\nB7\nB8", f"{begin}\nB7\nA7\nB8", because="in the order of the kernels")


def test_what_all_threads_write_is_not_a_threads_own() -> None:
    """All write one number to one place, which is no race; but a thread may read it before another one has written."""
    a = "ld.param.u64 %d1, [out];\nst.global.u32 [%d1], 7;"
    b = ADDRESS + "ld.global.u32 %r2, [%d1];\nst.global.u32 [%d2], %r2;"
    made = certificate(Given(a, b, depends=True), "A1\nA2\nB1\nB2\nB3\nB4\nB5")
    assert "not proved to come to it in the order of the kernels" in str(made)


def test_a_narrow_number_of_an_element_may_wrap() -> None:
    """So with more threads than it has values, two of them have one element: that there are not is presumed."""
    own = "ld.param.u64 %d1, [out];\n" + COUNT + "cvt.u16.u32 %h1, %r4;\ncvt.u64.u16 %d3, %h1;\nshl.b64 %d3, %d3, 2;\n"
    own += "add.u64 %d2, %d1, %d3;\nld.global.u32 %r5, [%d2];\nst.global.u32 [%d2], %r5;"
    text = "\n".join(f"{letter}{n}" for letter in "AB" for n in range(1, 12))
    made = certificate(Given(own, own, depends=True), text)
    assert made and "at most 2^16 threads" in made.presumed, str(made)


def test_a_thread_that_ends_in_a_function_ends_its_kernel_only() -> None:
    """`exit` ends the kernel, as it does in the entry: neither what comes after the call follows, nor another kernel
    is lost."""
    calling = certificate(Given(ADDRESS + "call f, (%r1);\nst.global.u32 [%d2], %r1;"), "A1\nA2\nA3\nA5")
    assert "a call: the code of `f` is not known" in str(calling)
    inlined = "setp.gt.u32 %p1, %r1, 5;\n@%p1 exit;\nst.global.u32 [%d2], %r1;"
    given = Given(ADDRESS + inlined, STORE)
    right = BOTH + "A4\nA5: @%a_p1 bra AE;\nA6\nAE:\nB4"
    check(given, right, BOTH + "A4\nA5: @%a_p1 bra AE;\nAE:\nA6\nB4", BOTH + "A4\nA5: @%a_p1 exit;\nA6\nB4")


@pytest.mark.parametrize("line", ["ld.param.u32 %r2, [%d3];", "ld.param.u32 %r2, [%d3+4];"])
def test_parameters_at_computed_addresses_are_not_loaded_by_threads_that_have_ended(line: str) -> None:
    """The address may be anything there. One by its name cannot fault."""
    a = f"{EARLY}{line}\nst.global.u32 [%d2], %r2;"
    mended = f"{RUN}A6: @%a_p3 {line.replace('%', '%a_')}\nA7: @%a_p3 st.global.u32 [%a_d2], %a_r2;"
    of_one(a, mended, mended.replace("@%a_p3 ld", "ld"), because="a lane whose kernel has ended may execute `ld.param")
    by_name = f"{EARLY}ld.param.u32 %r2, [out];\nst.global.u32 [%d2], %r2;"
    of_one(by_name, RUN + "A6\nA7: @%a_p3 st.global.u32 [%a_d2], %a_r2;")


@pytest.mark.parametrize("line", ["prefetch.global.L2 [%d2];", "discard.global.L2 [%d2], 128;"])
def test_threads_that_have_ended_give_no_hints(line: str) -> None:
    a = f"{EARLY}{line}\nst.global.u32 [%d2], %r1;"
    mended = f"{RUN}A6: @%a_p3 {line.replace('%', '%a_')}\nA7: @%a_p3 st.global.u32 [%a_d2], %a_r1;"
    of_one(
        a, mended, mended.replace(f"@%a_p3 {line[:4]}", line[:4]), because="a lane whose kernel has ended may execute"
    )


def test_the_number_of_a_barrier_is_not_made_up_of_sizes() -> None:
    """Which size a launch has is not known, so two barriers may be one."""
    a = "mov.u32 %r2, %ntid.x;\nshr.u32 %r2, %r2, 6;\nbar.sync %r2;\nst.global.u32 [%d2], %r1;"
    b = "bar.sync 1;\nst.global.u32 [%d2], %r1;"
    made = certificate(Given(ADDRESS + a, ADDRESS + b), BOTH + "A4\nA5\nA6\nB4\nA7\nB5")
    assert "its number in a register" in str(made), str(made)
    made = certificate(Given(ADDRESS + a, ADDRESS + b), BOTH + "A4\nA5\nA6: bar.sync 2;\nB4\nA7\nB5")
    assert not made, str(made)


def test_a_barrier_has_a_number_below_16() -> None:
    a = "mov.u32 %r2, 2;\nbar.sync %r2;\nst.global.u32 [%d2], %r1;"
    text = "A4: mov.u32 %a_r2, {};\nA5\nA6"
    of_one(a, text.format(15), text.format(16), text.format(-2), because="has other operands")


@pytest.mark.parametrize("line", [
    "mov.u32 %a_h2, %a_h1;", "mul.lo.u32 %a_d3, %a_r1, 4;", "mul.wide.u32 %a_r2, %a_r1, 4;",
    "add.u64 %a_d3, %a_d1, %a_r1;", "mad.wide.u32 %a_d3, %a_r1, 4, %a_r1;", "shl.b32 %a_r2, %a_r1, %a_d1;",
    "setp.lt.u32 %a_p1, %a_r1, %a_d1;",
])  # fmt: skip
def test_registers_are_as_large_as_operations_say(line: str) -> None:
    check(STORES, BOTH + "A4\nB4", f"{BOTH}{line}\nA4\nB4", because="has an operand of another size")


SIDES = """
setp.gt.u32 %p1, %r1, 31;
@%p1 bra L;
bar.sync 0;
st.global.u32 [%d2], 1;
bra M;
L:
bar.sync 0;
st.global.u32 [%d2], 2;
M:
"""


def test_barriers_on_both_sides_of_a_branch_are_one() -> None:
    """Warps that take different sides wait for each other, so another kernel's barrier stands before or after both."""
    given = Given(ADDRESS + SIDES, ADDRESS + "bar.sync 0;\nst.global.u32 [%d2], %r1;")
    begin = BOTH + "A4\n"
    first = "A5: @%a_p1 bra AL;\n{0}A6\nA7\n{1}bra AM;\nAL:\n{2}A10\nA11\n{3}AM:\n"
    after, before = first.format("", "", "", "") + "B4\nB5", "B4\n" + first.format("", "", "", "") + "B5"
    copies = first.format("", "B4\n", "", "B4\n") + "B5"
    mixed = first.format("", "B4\n", "B4\n", "") + "B5", first.format("B4\n", "", "", "B4\n") + "B5"
    assert certificate(given, begin + before)
    check(given, begin + after, *(begin + text for text in mixed), because="some threads of a CTA may be at")
    assert certificate(given, begin + copies)


AROUND = """
setp.gt.u32 %p1, %ntid.x, 64;
@%p1 bra L;
bar.sync 0;
L:
st.global.u32 [%d2], 1;
"""


def test_warps_that_come_late_to_a_branch_of_all_threads_go_as_the_first_did() -> None:
    """Some warps are at B's branch when others are at A's barrier before it."""
    given = Given(ADDRESS + SIDES, ADDRESS + AROUND)
    barrier = "B6: bar.sync 1;\n"
    early = f"B4\nB5: @%b_p1 bra BL;\nA6\nA7\n{barrier}B8\nbra AM;\nBL:\nA6\nA7\nB8\nbra AM;\n"
    late = f"A10\nA11\nB4\nB5: @%b_p1 bra BN;\n{barrier}BN:\nB8\n"
    sides = "A4\nA5: @%a_p1 bra AL;\n{}AL:\n{}AM:\n"
    other_order = sides.format(early.replace(f"A6\nA7\n{barrier}", f"{barrier}A6\nA7\n"), late)
    other_way = sides.format(early, late.replace("@%b_p1", "@!%b_p1"))
    check(given, BOTH + sides.format(early, late), BOTH + other_order, because="some threads of a CTA may be at")
    assert not certificate(given, BOTH + other_way)


LOOP = """
mov.u32 %r2, 0;
LOOP:
add.u32 %r2, %r2, 1;
setp.lt.u32 %p1, %r2, %r1;
@%p1 bra LOOP;
st.global.u32 [%d2], %r2;
"""


def test_lanes_do_not_wait_for_others_that_wait_for_all_threads() -> None:
    """Lanes leave A's loop one by one, and B's vote waits for all of them."""
    given = Given(ADDRESS + LOOP, ADDRESS + "vote.sync.ballot.b32 %r2, %p1, -1;\nst.global.u32 [%d2], %r2;")
    text = BOTH + "A4\n$L:\nA6\n{}A7\nA8: @%a_p1 bra $L;\nA9\nB4\nB5"
    check(given, text.format(""), text.format("barrier.sync 0;\n"), because="not all lanes of a warp may come to")
    own = Given(ADDRESS + LOOP.replace("setp", "barrier.sync 0;\nsetp"), given.b)
    after = BOTH + "{}A4\n$L:\nA6\nA7\nA8\nA9: @%a_p1 bra $L;\nA10\n{}B5"
    because = "may wait for a lane that waits at `barrier.sync 0;` for all threads"
    check(own, after.format("B4\n", ""), after.format("", "B4\n"), because=because)
