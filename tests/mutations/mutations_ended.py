"""Rules for warps that have ended a kernel, or have no lane on a side, how each is broken, and the test that has to
notice."""

from mutations.mutations import LANES, WEAVING, Mutation

DEAD = "tests/weaving/test_dead_warps.py"
ENDED = f"{LANES}/ended"

OF_ENDED = (
    Mutation(
        "warps run long code of a kernel that they have ended",
        f"{ENDED}/skip_ended.py",
        "(name in asked or slots[name] > least[name])",
        "name in asked",
        f"{DEAD}::test_ctas_that_have_ended_a_kernel_cost_little[weave-unrolled]",
    ),
    Mutation(
        "copies of a kernel skip long code each by itself",
        f"{ENDED}/skip_ended.py",
        "line=line, safe_to_take=True)",
        "line=line)",
        f"{DEAD}::test_copies_skip_long_code_together",
    ),
    Mutation(
        "kernels that warps skip leave no room for the others alone",
        f"{WEAVING}/merging/size_limits.py",
        "instructions=found.instructions + alone",
        "instructions=found.instructions",
        "tests/weaving/test_growth.py::test_kernels_that_warps_skip_may_also_stand_alone",
    ),
    Mutation(
        "warps run what comes after the last barrier of a kernel that they have ended",
        f"{ENDED}/skip_ended.py",
        "for block in _past_barriers(lanes):",
        "for block in _past_barriers(lanes)[:0]:",
        f"{DEAD}::test_it_skips_what_comes_after_the_last_barrier[weave]",
    ),
    Mutation(
        "a warp that has ended skips what counts the trips to a barrier",
        f"{ENDED}/skeleton.py",
        "found = {running, *(name for block in flow.blocks.values() for name in block.end.reads())}",
        "found = {running}",
        f"{DEAD}::test_results_where_some_warps_of_a_cta_have_ended[few_warps-64]",
    ),
    Mutation(
        "a warp that has ended skips a barrier between pieces of code",
        f"{ENDED}/skeleton.py",
        "if is_barrier(code) or is_cluster_barrier(code) or is_of_warpgroup(code) or row.ends:",
        "if row.ends:",
        f"{DEAD}::test_results_where_some_warps_of_a_cta_have_ended[few_warps-64]",
    ),
    Mutation(
        "warps that wait at barriers run all code between them",
        f"{ENDED}/skeleton.py",
        "[(skip and code_slots(c) > least, c) for skip, c in runs]",
        "[(False, c) for skip, c in runs]",
        f"{DEAD}::test_a_warp_that_waits_at_barriers_runs_the_skeleton",
    ),
    Mutation(
        "a warp skips a side that some of its lanes take",
        f"{LANES}/predicate.py",
        "vote_any(anyone, under)]",
        "set_false(anyone)]",
        f"{DEAD}::test_a_side_that_no_lane_takes_is_skipped",
    ),
    Mutation(
        "lanes come from a side that the warp has skipped",
        f"{LANES}/predicate.py",
        "*(set_false(edges[edge]) for edge in leaving), ",
        "",
        f"{DEAD}::test_no_lane_comes_from_a_skipped_condition",
    ),
)
