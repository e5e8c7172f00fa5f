"""Rules of the strategies horizontal and interleave, how each is broken, and the test that has to notice."""

from mutations.mutations import WEAVING, Mutation

HORIZONTAL = "tests/strategies/test_horizontal.py"
INTERLEAVE = "tests/strategies/test_interleave.py"
COARSENED = "tests/strategies/test_coarsened.py"
BATCHNORM_HIST = "tests/strategies/test_batchnorm_hist.py"
STRATEGIES = "goptx/strategies"

OF_STRATEGIES = (
    # horizontal
    Mutation(
        "a kernel counts its threads from the first of the CTA",
        "goptx/weaving/shapes/partitioned.py",
        "return sum(self.role_threads[:kernel])",
        "return 0",
        f"{HORIZONTAL}::test_numbers_of_warps_begin_at_zero_in_each_kernel",
    ),
    Mutation(
        "warps that end are not missed at barriers that count",
        f"{STRATEGIES}/horizontal.py",
        "if is_barrier_uniform(of_own_lanes(kernel.flow)):",
        "if True:",
        f"{HORIZONTAL}::test_threads_that_end_before_a_barrier_live_on",
    ),
    Mutation(
        "what decides about a barrier need not be the same for the whole CTA",
        "goptx/analysis/sync/barrier_uniformity.py",
        "return all(barriers_on_every_path(flow, n, joins[n] or EXIT) is not None for n in deciding)",
        "return True",
        f"{HORIZONTAL}::test_a_barrier_that_some_never_reach",
    ),
    Mutation(
        "a tunable block changes along its first axis",
        f"{STRATEGIES}/horizontal.py",
        "return Shape(shape.grid, (*others, threads // row), shape.shared, shape.cluster)",
        "return Shape(shape.grid, (threads // row, *others), shape.shared, shape.cluster)",
        f"{BATCHNORM_HIST}::test_blocks_of_three_axes_change_along_the_last",
    ),
    Mutation(
        "a tunable kernel is compared with itself in its own block",
        "goptx/checking/check.py",
        "launched = _with_blocks_of(woven, launched)",
        "launched = tuple(launched)",
        f"{BATCHNORM_HIST}::test_a_tunable_kernel_is_compared_in_the_block_that_it_is_given",
    ),
    Mutation(
        "lanes that a kernel lacks make it another one",
        f"{WEAVING}/shapes/remap.py",
        "if flow.entry != LANES or not isinstance(first.end, Branch):",
        "if True:",
        f"{HORIZONTAL}::test_kernels_are_unchanged_where_barriers_are_uniform",
    ),
    Mutation(
        "warpgroups begin at any warp",
        f"{WEAVING}/shapes/launch_demands.py",
        "if together is not None and (first % WARPGROUP or threads % WARPGROUP):",
        "if together is not None and threads % WARPGROUP:",
        f"{HORIZONTAL}::test_warpgroups_stay_whole",
    ),
    Mutation(
        "the fewest CTAs of an SM stay for larger CTAs",
        f"{WEAVING}/link/launch_bounds.py",
        "if stated and isinstance(plan, Partitioned):",
        "if False:",
        f"{HORIZONTAL}::test_launch_bounds_of_smaller_ctas",
    ),
    Mutation(
        "a thread that is not a kernel's ends without asking the next",
        f"{WEAVING}/shapes/kernel_dispatch.py",
        "passed_by = replace(range_guard.end, taken=names[k + 1][sides[k + 1].flow.entry])",
        "passed_by = range_guard.end",
        f"{HORIZONTAL}::test_numbers_of_warps_begin_at_zero_in_each_kernel",
    ),
    # interleave
    Mutation(
        "the next kernel's CTAs are numbered as if none of this one stood before",
        "goptx/weaving/shapes/interleaved.py",
        'return high, s.compare("gt", low, step), s.subtract(number, s.add(high, 1))',
        'return high, s.compare("gt", low, step), s.subtract(number, high)',
        f"{INTERLEAVE}::test_orders[grids0-options0-ABBABABBAB-True]",
    ),
    Mutation(
        "the rest after the groups begins with the first CTAs again",
        "goptx/weaving/shapes/interleaved.py",
        "first = s.select(within, s.multiply(group, self.ratio[k]), s.multiply(groups, self.ratio[k]))",
        "first = s.select(within, s.multiply(group, self.ratio[k]), 0)",
        f"{INTERLEAVE}::test_orders[grids9-options9-AABABBBBBB-True]",
    ),
    Mutation(
        "kernels are spread over all CTAs, not over those that are left",
        "goptx/weaving/shapes/interleaved.py",
        "for k in range(kernel, len(shapes))",
        "for k in range(len(shapes))",
        f"{INTERLEAVE}::test_orders[grids4-options4-ABCCABCC-True]",
    ),
    Mutation(
        "threads that a block lacks run the kernel",
        f"{WEAVING}/shapes/thread_view.py",
        "return self.more_lanes() or (self.warps_end() and self.coarse.factor == 1)",
        "return self.more_lanes()",
        f"{INTERLEAVE}::test_whole_warps_that_are_too_many[64-256]",
    ),
    Mutation(
        "the shared memory of several kernels is that of the first",
        "goptx/weaving/shapes/interleaved.py",
        "return [0] * len(shapes), max(self.needed(k, shapes) for k in range(len(shapes)))",
        "return [0] * len(shapes), self.needed(0, shapes)",
        f"{INTERLEAVE}::test_shared_memory_lies_in_one_place",
    ),
    Mutation(
        "clusters are preserved though other CTAs lie between",
        f"{WEAVING}/shapes/launch_demands.py",
        "if alike and not plan.overlaid and",
        "if alike and",
        f"{INTERLEAVE}::test_clusters_are_refused",
    ),
    # coarsened kernels
    Mutation(
        "whole warps that a coarsened kernel lacks run it",
        f"{WEAVING}/shapes/remap.py",
        "if view.warps_end():",
        "if False:",
        f"{COARSENED}::test_whole_warps_that_are_too_many_end_at_once",
    ),
    Mutation(
        "a kernel's CTAs are counted as if none was coarsened",
        "goptx/weaving/shapes/interleaved.py",
        "known = self.ctas_of(view.position, self.shapes)\n        step",
        "known = view.shape.ctas\n        step",
        f"{COARSENED}::test_which_ctas[grids1-factors1-options1-ABAB-True]",
    ),
    Mutation(
        "an interleaved kernel has the shared memory of one copy",
        "goptx/launch/launch_plan.py",
        "return (parts - 1) * aligned(part) + part",
        "return part",
        f"{COARSENED}::test_shared_memory_of_an_interleaved_kernel_is_that_of_all_its_copies",
    ),
    Mutation(
        "a candidate that may lose much is chosen",
        "goptx/strategies/estimates/prospects.py",
        "    if prospect.loss > LOSS:",
        "    if False:",
        "tests/strategies/test_assumptions.py::test_a_candidate_that_may_lose_much_is_not_chosen",
    ),
)
