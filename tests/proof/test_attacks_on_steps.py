"""Texts whose instructions mean something else than they seem to: registers of asynchronous products, textures, sizes
of accesses, guards that assemblers do not honour.
"""

import pytest
from proof.fused_text import ADDRESS, BOTH, STORE, Given, certificate, check, of_one, proved

PRODUCT = """
wgmma.fence.sync.aligned;
wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%r4, %r5, %r6, %r7}, %d3, %d4, 1, 1, 1, 0, 0;
wgmma.commit_group.sync.aligned;
wgmma.wait_group.sync.aligned 0;
"""


def test_nobody_reads_a_product_before_it_has_ended() -> None:
    a = PRODUCT + "st.global.u32 [%d2], %r4;"
    late = "A8: st.global.u32 [%a_d2], %a_r8;"
    right = f"A4\nA5\nA6\nA7\nmov.b32 %a_r8, %a_r4;\n{late}"
    wrong = f"A4\nA5\nmov.b32 %a_r8, %a_r4;\nA6\nA7\n{late}", f"A4\nA5\nA6\nmov.b32 %a_r8, %a_r4;\nA7\n{late}"
    of_one(a, right, *wrong, because="may be in progress")


def test_products_of_two_kernels_end_one_by_one() -> None:
    """That one is in progress does not concern registers of the other, whose group was waited for."""
    own = PRODUCT + "st.global.u32 [%d2], %r4;"
    begin = BOTH + "A4\nA5\nA6\nA7\nB4\nB5\n"
    right = begin + "A8\nB6\nB7\nB8"
    wrong = begin + "B8\nA8\nB6\nB7", begin + "mov.b32 %a_r8, %b_r4;\nA8\nB6\nB7\nB8"
    check(Given(ADDRESS + own, ADDRESS + own), right, *wrong)


def test_the_kernels_own_use_of_a_product_stays_after_its_end() -> None:
    a = PRODUCT + "add.u32 %r8, %r4, 1;\nst.global.u32 [%d2], %r8;"
    of_one(a, "A4\nA5\nA6\nA7\nA8\nA9", "A4\nA5\nA6\nA8\nA7\nA9", because="may be in progress")


def test_nobody_writes_the_factor_of_a_product_in_progress() -> None:
    factor = PRODUCT.replace("%d3, %d4, 1, 1, 1, 0, 0", "{%r1, %r2, %r3, %r8}, %d4, 1, 1, 1, 0")
    a = factor + "mov.u32 %r8, 7;\nst.global.u32 [%d2], %r8;"
    of_one(a, "A4\nA5\nA6\nA7\nA8\nA9", "A4\nA5\nA8\nA6\nA7\nA9", because="may be in progress")


def test_a_wait_for_some_products_is_not_one_for_all() -> None:
    some = PRODUCT.replace("aligned 0;", "aligned 1;")
    made = certificate(Given(ADDRESS + some + "st.global.u32 [%d2], %r4;"), "A1\nA2\nA3\nA4\nA5\nA6\nA7\nA8")
    assert "may be in progress" in str(made)


def test_a_barrier_of_a_cluster_is_not_one_of_a_cta() -> None:
    a = "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\nst.global.u32 [%d2], %r1;"
    reduction = "bar.red.popc.u32 %a_r7, 0, %a_p1;"
    of_one(a, "A4\nA5\nA6", f"A4: {reduction}\nA5: {reduction}\nA6", f"A4\nA5: {reduction}\nA6", because="is not `bar")


def test_guards_that_assemblers_do_not_honour() -> None:
    a = """
    setp.lt.u32 %p1, %r1, 3;
    mov.pred %p2, 1;
    @%p1 bra L;
    testp.finite.f32 %p2, %r2;
    L:
    @%p2 st.global.u32 [%d2], %r1;
    """
    right = "A4\nA5\nA6: @%a_p1 bra AL;\nA7\nAL:\nA9"
    of_one(a, right, "A4\nA5\nA7: @!%a_p1 testp.finite.f32 %a_p2, %a_r2;\nA9", because="do not honour")
    one_lane = "testp.finite.f32 %p2, %r2;\n@%p2 st.global.u32 [%d2], %r1;"
    added = "not.pred %a_p3, %a_p1;\n@%a_p3 testp.finite.f32 %a_p2, %a_r2;\nA4\nA5"
    of_one(one_lane, "A4\nA5", added, because="do not honour")


@pytest.mark.parametrize(("first", "second"), [
    ("tex.1d.v4.u32.s32 {%r2, %r3, %r4, %r5}, [%d3, {%r1}];", "st.global.u32 [%d2], %r1;"),
    ("tex.1d.v4.u32.s32 {%r2, %r3, %r4, %r5}, [%d3, {%r1}];", "sust.b.1d.b32.trap [%d3, {%r1}], %r1;"),
    ("st.bulk.weak.shared::cta [%r1], 131072, 0;", "st.shared.u32 [%r1+70000], 7;"),
    ("tensormap.replace.tile.global_address.global.b1024.b64 [%d2], %d1;", "ld.global.u64 %d3, [%d2+64];"),
    ("discard.global.L2 [%d2], 128;", "st.global.u32 [%d2+64], 7;"),
    ("st.u32 [%d2], %r1;", "ld.shared.u32 %r2, [%d2+64];"),
])  # fmt: skip
def test_accesses_that_may_be_to_the_same_bytes(first: str, second: str) -> None:
    of_one(f"{first}\n{second}", "A4\nA5", "A5\nA4", because="stands before")


def test_counters_are_read_each_time() -> None:
    a = "mov.u32 %r2, %pm0;\nmov.u32 %r3, %pm0;\nsub.u32 %r4, %r3, %r2;\nst.global.u32 [%d2], %r4;"
    of_one(a, "A4\nA5\nA6\nA7", "A4\nA5: mov.u32 %a_r3, %a_r2;\nA6\nA7")


@pytest.mark.parametrize("line", [
    "A4: selp.u32 %a_p2, 1, 2, %a_p1;", "A4: mov.u32 %a_p2, %a_r1;", "A4: add.u32 %a_p2, %a_r1, 1;",
    "A4: not.b32 %a_r2, !%a_r1;", "A4: selp.u32 %a_r2, 1, 2, !%a_r1;", "A4: mov.u32 %a_r2, !%a_r1;",
])  # fmt: skip
def test_numbers_are_not_predicates(line: str) -> None:
    """Texts that assemblers refuse; a checker must not take numbers of terms for those of formulas."""
    for a in ("selp.u32 %r2, 1, 2, %p1;", "mov.pred %p2, 1;"):
        assert not proved(Given(f"{ADDRESS}{a}\n@%p2 st.global.u32 [%d2], %r2;"), f"A1\nA2\nA3\n{line}\nA5")


def test_what_a_line_writes_is_a_number_where_the_kernel_has_one() -> None:
    of_one("mov.pred %p1, 1;\n@%p1 st.global.u32 [%d2], %r1;", "A4\nA5", "A4: mov.u32 %a_r7, 9;\nA5")


@pytest.mark.parametrize("directive", ['.pragma "used_bytes_mask 0x1";', ".noreturn", ".frobnicate 3"])
def test_directives_of_the_entry_that_no_kernel_has(directive: str) -> None:
    text = BOTH + "A4\nB4"
    check(Given(STORE, STORE, directives=("", "", ".maxnreg 32 .minnctapersm 2")), text)
    made = certificate(Given(STORE, STORE, directives=("", "", directive)), text)
    assert "which no kernel has and the checker does not know" in str(made)


def test_many_guarded_instructions_are_followed_together() -> None:
    """Each divides the lanes in two; after it they are one case again."""
    a = "\n".join(f"setp.eq.u32 %p1, %r1, {i};\n@%p1 st.global.u32 [%d2], {i};" for i in range(60))
    right = "\n".join(f"A{i}" for i in range(4, 124))
    of_one(a, right, right.replace("A9\n", ""), right.replace("A7\n", "A7: @!%a_p1 st.global.u32 [%a_d2], 1;\n"))


@pytest.mark.slow
def test_conditions_that_are_too_many_are_not_proved() -> None:
    a = "mov.pred %p2, 1;\n"
    a += "\n".join(f"setp.eq.u32 %p1, %r{i % 8}, {i};\nand.pred %p2, %p2, %p1;" for i in range(1500))
    text = "\n".join(f"A{i}" for i in range(1, 3005)) + "\nA3005: @%a_p2 st.global.u32 [%a_d2], %a_r1;"
    made = certificate(Given(f"{ADDRESS}{a}\n@%p2 st.global.u32 [%d2], %r1;"), text)
    assert "the conditions of this kernel are too many to follow" in str(made)


def test_what_is_computed_in_an_earlier_block_than_its_turn() -> None:
    given = Given(
        "ld.param.u64 %d1, [out];\nst.global.u32 [%d1], 1;\nmov.u32 %r2, %tid.x;\nadd.u32 %r3, %r2, 5;\n"
        "st.global.u32 [%d1+4], %r3;",
        "ld.param.u64 %d1, [out];\nld.global.u32 %r1, [%d1];\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra L;\n"
        "st.global.u32 [%d1], %r1;\nL:\nst.global.u32 [%d1+4], 2;",
    )
    text = "A1\nA3\nA4\nB1\nB2\nB3\nB4: @%b_p1 bra BL;\nB5\nBL:\nA2\nA5\nB7"
    assert given.certificate(text).proved
    wrong = [("A3", "A3: mov.u32 %a_r2, %ntid.x;"), ("A4", "A4: add.u32 %a_r3, %a_r2, 6;"), ("A3\nA4", "A4\nA3")]
    for old, new in [*wrong, ("B5", "B5\nA3: mov.u32 %a_r3, 5;"), ("B5\n", "B5\nA2\n")]:
        assert not given.certificate(text.replace(old, new)).proved, new


def test_a_constant_that_is_chosen_has_a_type() -> None:
    """A whole number among floats may be another one than among bits."""
    a = "setp.gt.u32 %p1, %r1, 4;\nselp.{} %r2, 1, 0, %p1;\nst.global.u32 [%d2], %r2;\n"
    for own, other in (("u32", "f32"), ("f32", "b32")):
        right = "A4\nA5\nA6"
        of_one(a.format(own), right, f"A4\nA5: selp.{other} %a_r2, 1, 0, %a_p1;\nA6", because="has other operands")
    of_one(a.format("u32"), "A4\nA5: selp.b32 %a_r2, 1, 0, %a_p1;\nA6", "A4\nA5: selp.b32 %a_r2, 0, 1, %a_p1;\nA6")
