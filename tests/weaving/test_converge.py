"""Each way of dealing with a divergent branch, seen in the flow that comes out."""

import pytest
from bodies import GUARD, flow

from goptx.analysis.cfg import EXIT, Flow
from goptx.analysis.sync.barriers import holds_barrier
from goptx.analysis.terminators import Branch
from goptx.errors import CannotWeave
from goptx.weaving.converge.converge import converge_flow
from goptx.weaving.model import Converged


def converged(body: str) -> Converged:
    return converge_flow(flow(body), "a", lambda line: f"test:{line}", lambda _: 4)


def text(result: Converged) -> list[str]:
    return [str(i) for block in result.flow.blocks.values() for i in block.instructions()]


def branches(result: Flow) -> list[Branch]:
    return [b.end for b in result.blocks.values() if isinstance(b.end, Branch)]


def test_guard_becomes_a_predicate_on_what_has_effects() -> None:
    result = converged(GUARD.replace("{body}", "add.u32 %r3, %r1, 1; st.global.u32 [%rd1], %r3;"))
    assert list(result.flow.blocks) == ["entry", EXIT]
    code = text(result)
    assert "add.u32 %r3, %r1, 1;" in code  # pure: runs for all
    assert "@%a_run0 st.global.u32 [%rd1], %r3;" in code


def test_uniform_branch_stays_a_branch() -> None:
    result = converged(
        "mov.u32 %r1, %ctaid.x; setp.eq.u32 %p1, %r1, 0; @%p1 bra DONE; st.global.u32 [%rd1], 1; DONE: ret;"
    )
    assert [b.uniform for b in branches(result.flow)] == [True]
    assert not result.warp_branches
    assert "st.global.u32 [%rd1], 1;" in text(result)


def test_if_else_runs_both_sides_and_guards_what_lives_on() -> None:
    result = converged(
        """
        ld.global.u32 %r1, [%rd1]; setp.eq.u32 %p1, %r1, 0; @%p1 bra ELSE;
        add.u32 %r2, %r1, 1; mov.u32 %r3, %r2; bra JOIN;
        ELSE: mov.u32 %r3, 7;
        JOIN: st.global.u32 [%rd2], %r3; ret;
        """
    )
    code = text(result)
    assert not branches(result.flow)
    assert "add.u32 %r2, %r1, 1;" in code  # dead at the join, so nothing to protect
    moves = [c for c in code if "mov.u32 %r3" in c]
    assert len(moves) == 2
    assert all(c.startswith("@") for c in moves)
    assert moves[0].split()[0] != moves[1].split()[0]


def test_a_predicated_instruction_keeps_its_own_condition() -> None:
    result = converged(GUARD.replace("{body}", "setp.eq.u32 %p2, %r1, 3; @!%p2 st.global.u32 [%rd1], %r1;"))
    code = text(result)
    store = next(c for c in code if "st.global" in c)
    both = store.split()[0].lstrip("@")
    assert f"and.pred {both}, %a_run0, %a_unless;" in code
    assert "not.pred %a_unless, %p2;" in code


def test_the_result_of_what_the_assembler_keeps_no_guard_of_is_taken_under_it() -> None:
    body = """mov.u32 %r1, %tid.x; setp.ge.u32 %p1, %r1, 7; @%p1 bra END;
        set.gt.f32.f32 %f1, %f2, %f1; set.eq.f16.f16 %h1, %h2, %h3; testp.finite.f32 %p2, %f2;
        END: st.global.f32 [%rd1], %f1; st.global.b16 [%rd1+4], %h1; @%p2 st.global.u32 [%rd1+8], %r1; ret;"""
    code = text(converged(body))
    for found in (
        ("set.gt.f32.f32 %a_found_b32, %f2, %f1;", "@%a_if0 mov.b32 %f1, %a_found_b32;"),
        ("set.eq.f16.f16 %a_found_b16, %h2, %h3;", "@%a_if0 mov.b16 %h1, %a_found_b16;"),
        ("testp.finite.f32 %a_found_pred, %f2;", "@%a_if0 mov.pred %p2, %a_found_pred;"),
    ):
        assert code[code.index(found[0]) + 1] == found[1]


LOOP = """
    mov.u32 %r1, %tid.x; mov.u32 %r5, 0;
    LOOP: add.u32 %r4, %r1, 2; ld.global.u32 %r3, [%rd1]; add.u32 %r5, %r5, %r3;
    add.u32 %r1, %r1, 32; setp.lt.u32 %p1, %r1, 100; @%p1 bra LOOP;
    st.global.u32 [%rd2], %r5; ret;
"""


def test_divergent_loop_votes() -> None:
    result = converged(LOOP)
    code = text(result)
    assert [b.uniform for b in branches(result.flow)] == [True]
    assert len(result.warp_branches) == 1  # warps of one CTA may differ
    vote = next(c for c in code if c.startswith("vote.sync.any.pred"))
    inside = vote.split(", ")[1]
    assert f"@{inside} ld.global.u32 %r3, [%rd1];" in code
    assert f"@{inside} add.u32 %r5, %r5, %r3;" in code  # read after the loop: lanes that left must keep it
    assert "add.u32 %r4, %r1, 2;" in code  # not read after the loop
    assert "st.global.u32 [%rd2], %r5;" in code


def test_shuffles_under_divergence_are_parked_whole() -> None:
    body = """
        mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 16; setp.eq.u32 %p1, %r2, 0; @%p1 bra JOIN;
        shfl.sync.bfly.b32 %r3, %r1, 4, 31, 0xffff0000;
        JOIN: st.global.u32 [%rd2], %r3; ret;
    """
    result = converged(body)
    regions = [b.region for b in result.flow.blocks.values() if b.region]
    assert len(regions) == 1
    assert "shfl.sync.bfly.b32 %r3, %r1, 4, 31, 0xffff0000;" in text(result)


def test_ended_lanes_are_taken_out_of_masks() -> None:
    result = converged(GUARD.replace("{body}", "shfl.sync.bfly.b32 %r3, %r1, 1, 31, -1; activemask.b32 %r4;"))
    code = text(result)
    shuffle = next(i for i, c in enumerate(code) if "shfl" in c)
    assert code[shuffle - 1].startswith("and.b32 %a_lanes_here, -1, %a_lanes")
    assert code[shuffle].startswith("@%a_run0 shfl.sync.bfly.b32 %r3, %r1, 1, 31, %a_lanes_here;")
    assert code[-1].startswith("and.b32 %r4, %r4, %a_lanes")


def test_barrier_after_a_guard_is_reached_by_all() -> None:
    result = converged(GUARD.replace("{body}", "bar.sync 0; bar.red.and.pred %p3, 0, %p2;"))
    code = text(result)
    assert "bar.sync 0;" in code
    assert "bar.red.and.pred %p3, 0, !%a_brought;" in code


def test_a_loop_between_an_early_return_and_a_barrier_that_counts() -> None:
    """What decides it looks divergent until the early return is a predicate. A CTA that has ended skips it all."""
    loop = """mov.u32 %r5, %ctaid.x; AGAIN: bar.sync 0; sub.u32 %r5, %r5, 1; setp.ne.u32 %p3, %r5, 0; @%p3 bra AGAIN;
        bar.sync 1, 64;"""
    result = converged(GUARD.replace("{body}", loop))
    assert len(branches(result.flow)) == 2
    assert not result.warp_branches
    assert "bar.sync 0;" in text(result) and sum("red.or.pred" in line for line in text(result)) == 1


def test_barrier_that_live_threads_miss_is_refused() -> None:
    body = """
        mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 16;
        @%p1 bra JOIN;
        bar.sync 0;
        JOIN: st.global.u32 [%rd2], %r1; ret;
    """
    with pytest.raises(CannotWeave, match=r"test:12: .*depends on the thread"):
        converged(body)


ENTANGLED = """
        mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; setp.eq.u32 %p1, %r2, 0; setp.lt.u32 %p2, %r1, 16;
        {guard}
        @%p1 bra SHARED;
        @%p2 bra BOTH;
        mov.u32 %r3, 1; bra JOIN;
        SHARED: bar.sync 0;
        BOTH: mov.u32 %r3, 2;
        JOIN: st.global.u32 [%rd2], %r3; ret;
"""  # BOTH is entered from two branches, and the closed region around the divergent one holds the barrier


def test_a_barrier_in_a_region_to_which_ended_threads_do_not_come_is_refused() -> None:
    guard = "setp.gt.u32 %p3, %r1, 99; @%p3 ret;"
    with pytest.raises(CannotWeave, match=r"`bar.sync 0;` stands in divergent flow .*threads that have ended"):
        converged(ENTANGLED.replace("{guard}", guard))


def test_a_barrier_in_a_region_to_which_all_threads_come() -> None:
    (region,) = (b for b in converged(ENTANGLED.replace("{guard}", "")).flow.blocks.values() if b.region)
    assert holds_barrier(region)


def test_barrier_under_loaded_data_is_presumed_uniform_and_noted() -> None:
    body = """
        ld.global.u32 %r1, [%rd1]; setp.lt.u32 %p1, %r1, 16;
        @%p1 bra JOIN;
        bar.sync 0;
        JOIN: st.global.u32 [%rd2], %r1; ret;
    """
    result = converged(body)
    assert len(result.notes) == 1
    assert "presumed" in result.notes[0]


SWITCH = """
    ld.global.u32 %r1, [%rd1];
    LIST: .branchtargets CASE0, CASE1, CASE0;
    brx.idx %r1, LIST;
    CASE0: {first} bra JOIN;
    CASE1: mov.u32 %r2, 2;
    JOIN: st.global.u32 [%rd2], %r2; ret;
"""


def test_the_cases_of_a_switch_run_under_predicates() -> None:
    code = text(converged(SWITCH.format(first="mov.u32 %r2, 1;")))
    assert [c for c in code if c.startswith("setp")] == [
        "setp.eq.u32 %a_if0, %r1, 0;", "setp.eq.u32 %a_case, %r1, 2;", "setp.eq.u32 %a_if2, %r1, 1;"
    ]  # fmt: skip
    assert "or.pred %a_if0, %a_if0, %a_case;" in code
    assert [c.split()[0] for c in code if "mov.u32 %r2" in c] == ["@%a_if2", "@%a_if0"]


def test_a_switch_with_a_long_case_is_parked() -> None:
    result = converged(SWITCH.format(first="mov.u32 %r2, 1; " * 97))
    assert sum(b.region is not None for b in result.flow.blocks.values()) == 1


def test_an_arm_that_ends_may_overwrite_what_the_branch_read() -> None:
    body = """
        mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 9; @%p1 bra STAY;
        setp.eq.u32 %p1, %r1, 40; st.global.u32 [%rd1], %r1; ret;
        STAY: add.u32 %r2, %r1, 1; add.u32 %r2, %r2, 1; st.global.u32 [%rd2], %r1; ret;
    """
    code = text(converged(body))
    update = next(i for i, c in enumerate(code) if c.startswith("and.pred %a_run0, %a_run0"))
    assert update < code.index("setp.eq.u32 %p1, %r1, 40;")
    assert "@%a_run0 st.global.u32 [%rd2], %r1;" in code


def test_a_warp_that_ends_still_arrives_at_barriers() -> None:
    body = """
        vote.sync.any.pred %p1, %p2, -1; @%p1 bra STAY;
        ret;
        STAY: {barrier} st.global.u32 [%rd2], 1; ret;
    """
    alone = converged(body.replace("{barrier}", ""))
    assert len(branches(alone.flow)) == 1  # nothing waits for the warp: it may take its branch
    waiting = converged(body.replace("{barrier}", "bar.sync 0;"))
    assert not branches(waiting.flow)
    assert "bar.sync 0;" in text(waiting)


def test_a_promise_of_the_active_lanes_does_not_hold_for_ended_ones() -> None:
    body = GUARD.replace(
        "{body}", "ld.global.u32 %r3, [%rd1]; setp.eq.u32 %p2, %r3, 0; @%p2 bra.uni L; st.global.u32 [%rd2], 1; L:"
    )
    assert not branches(converged(body).flow)  # so it became predicates
