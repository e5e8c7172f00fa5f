"""Rules about what kernels could share besides registers: the carry flag, variables, arrays; and how each
is broken."""

from mutations.mutations import WEAVING, Mutation

CARRIES = "tests/weaving/test_carries.py"

OF_SHARED_STATE = (
    Mutation(
        "a carry flag may live over the end of a block",
        "goptx/weaving/converge/converge.py",
        "    refuse_flags_across_blocks(flow, prefix, at)\n",
        "",
        f"{CARRIES}::test_a_flag_over_the_end_of_a_block_is_refused[a branch of some, with a chain-None]",
    ),
    Mutation(
        "nobody looks whose carry flag the woven kernel takes",
        f"{WEAVING}/schedule/carry_flag.py",
        "if facts.uses_carry and setters - {kernel} and not surely and mixed is None:",
        "if False:",
        f"{CARRIES}::test_a_flag_over_a_barrier_is_right_or_refused[paper]",
    ),
    Mutation(
        "what waits is forgotten where divergence is predicated, once a second kernel is merged",
        "goptx/weaving/converge/spin_regions.py",
        'if lanes.forced != "predicate" or all(branches[n] <= Uniformity.WARP for n in left):',
        'if lanes.forced != "predicate":',
        "tests/weaving/test_waits_of_several.py::test_loops_that_wait_stay_whole_whatever_becomes_of_branches[predicate]",
    ),
    Mutation(
        "a function of two modules has one variable for both, and copies of a kernel have several",
        f"{WEAVING}/link/link.py",
        "with_statics_outside(without_aliases(kernel.module))",
        "without_aliases(kernel.module)",
        "tests/weaving/test_statics.py::test_copies_of_a_kernel_have_one_variable[2]",
    ),
    Mutation(
        "the distance between two pointers leads nowhere",
        "goptx/analysis/values/pointer_effects.py",
        "if not a.address and b.bases():",
        "if False:",
        "tests/analysis/test_pointers.py::test_pointers_in_other_forms[distance]",
    ),
)
