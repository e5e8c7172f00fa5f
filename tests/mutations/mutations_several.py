"""Rules for more than two kernels, how each is broken, and the test that has to notice."""

from mutations.mutations import WEAVING, Mutation

SEVERAL = "tests/weaving/test_several.py"
REGRESSIONS = "tests/random_kernels/test_regressions.py::test_regression"

OF_SEVERAL = (
    Mutation(
        "warps that pass a kernel by find the barriers of others in another order",
        f"{WEAVING}/merging/merge_input.py",
        "or (s.threads and name == s.flow.entry and not s.copy)",
        "or (s.threads and not s.flow.entry and not s.copy)",
        f"{SEVERAL}::test_warps_that_skip_a_kernel_keep_the_order_of_barriers[15]",
    ),
    Mutation(
        "merged kernels are taken for uniform",
        f"{WEAVING}/merging/merge_input.py",
        "(name in s.warp_branches or",
        "(not s.flow.entry or",
        f"{SEVERAL}::test_three_kernels[producers_by_data-bulk_copies-bulk_store]",
    ),
    Mutation(
        "barriers that are one are separated",
        f"{WEAVING}/merging/sync_order.py",
        "position + max(common(code, position), 1)",
        "position + 1",
        f"{SEVERAL}::test_one_barrier_for_all_that_stand_at_one_place",
    ),
    Mutation(
        "barriers that are one are separated after the code of others",
        f"{WEAVING}/merging/sync_order.py",
        "position + max(common(code, position), 1)",
        "position + (1 if position else common(code))",
        f"{REGRESSIONS}[one_barrier_cut_in_two]",
    ),
    Mutation(
        "barriers that are one are several after the code of others",
        f"{WEAVING}/merging/merged_blocks.py",
        "together = common(code, position)",
        "together = 0 if position else common(code)",
        f"{REGRESSIONS}[one_barrier_after_code_of_others]",
    ),
    Mutation(
        "two barriers of one kernel are one",
        f"{WEAVING}/merging/sync_order.py",
        "if len({c.kernel for c in found}) <= count:",
        "if len({c.kernel for c in found}) < 0:",
        f"{SEVERAL}::test_two_barriers_of_one_kernel_stay_two",
    ),
    Mutation(
        "what is unknown is woven like anything else",
        f"{WEAVING}/schedule/schedule.py",
        "if part and not all(map(_is_known, part)) and sum(map(bool, known)) > 1:",
        "if part and not all(map(_is_known, part)) and not known:",
        f"{SEVERAL}::test_unknown_instructions_run_after_all_others[0]",
    ),
)
