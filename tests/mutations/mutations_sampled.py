"""Rules of sampled runs and of what estimates take from them, how each is broken, and the test that notices."""

from mutations.mutations import Mutation

RUN, KNOWN = "tests/emulator/test_sampled_run.py", "tests/strategies/test_known_behaviour.py"
MEMORY = "goptx/emulator/sampled/described_memory.py"
SAMPLED = "goptx/emulator/sampled/sampled_run.py"
OF_KERNEL, KERNELS = "goptx/cost/sampled_kernel.py", "goptx/cost/kernels.py"
HALVES = "goptx/cost/units/half_words.py"
LAUNCHES, PROSPECTS = "goptx/strategies/estimates/launches.py", "goptx/strategies/estimates/prospects.py"
GAIN = "goptx/strategies/estimates/estimated_gain.py"
WARP_COUNTS = f"{KNOWN}::test_counts_of_a_run_become_those_of_a_warp"

OF_SAMPLED_RUNS = (
    Mutation(
        "elements of arrays with other seeds are the same",
        MEMORY,
        "_mixed(np.array([argument.seed + 1], np.uint64))",
        "_mixed(np.array([1], np.uint64))",
        f"{RUN}::test_elements_depend_on_their_position_and_on_the_seed_alone",
    ),
    Mutation(
        "the last page of an array has more elements than the array",
        MEMORY,
        "np.where(inside, ALL, 0)",
        "ALL",
        f"{RUN}::test_pages_begin_where_arrays_do",
    ),
    Mutation(
        "neighbours may be outside of the grid",
        SAMPLED,
        "% 1 * max(size - 1, 1))",
        "% 1 * size)",
        f"{RUN}::test_groups_are_in_the_grid[grid1]",
    ),
    Mutation(
        "loads and stores of one place count once",
        SAMPLED,
        "self._sectors[stores].append(",
        "self._sectors[0].append(",
        f"{RUN}::test_what_a_cta_accesses[in place]",
    ),
    Mutation(
        "nothing is in common",
        SAMPLED,
        "self._common[stores] += size * self._by_array(common)",
        "self._common[stores] += 0 * self._by_array(common)",
        f"{RUN}::test_sectors_of_neighbours",
    ),
    Mutation(
        "the L1 holds nothing",
        SAMPLED,
        "(np.diff(order) <= self._held)",
        "(np.diff(order) < 0)",
        f"{RUN}::test_what_a_cta_accesses[twice]",
    ),
    Mutation(
        "it is not noted that instructions were passed over",
        SAMPLED,
        "accesses.passes / ctas, not launch.skipped,",
        "accesses.passes / ctas, True,",
        f"{RUN}::test_what_the_emulator_lacks_is_passed_over",
    ),
    Mutation(
        "CTAs that end at once count as others",
        OF_KERNEL,
        "live = sum(steps > ended for steps in run.steps) if early else len(run.steps)",
        "live = len(run.steps)",
        WARP_COUNTS,
    ),
    Mutation(
        "blocks before the end count as often as others",
        OF_KERNEL,
        "often |= {name: often[name] * live / len(run.steps) for name in early or ()}",
        "often |= {}",
        WARP_COUNTS,
    ),
    Mutation(
        "what neighbours need, too, is loaded by each",
        OF_KERNEL,
        "max(touched.own - touched.common, share if share < touched.own else 0.0)",
        "touched.own",
        WARP_COUNTS,
    ),
    Mutation(
        "small arrays are loaded by each CTA",
        OF_KERNEL,
        "return min(touched.own, share)",
        "return touched.own",
        WARP_COUNTS,
    ),
    Mutation(
        "one CTA of many tells how all behave",
        OF_KERNEL,
        "if live < FEW * len(run.steps):",
        "if not live:",
        f"{KNOWN}::test_a_run_in_which_hardly_any_cta_does_something_tells_little",
    ),
    Mutation(
        "another launch than the described one is known",
        KERNELS,
        "return known if same else replace(known, described=()), shape",
        "return known, shape",
        f"{KNOWN}::test_what_is_known_needs_the_launch_that_is_described",
    ),
    Mutation(
        "loops that were counted in a sampled run may be copied",
        KERNELS,
        "return replace(found, sampled=sampled, live=live,",
        "return replace(found, loops=dict(sampled.trips) if sampled else found.loops, sampled=sampled, live=live,",
        f"{KNOWN}::test_kernels_with_loops_that_end_by_data_are_not_coarsened",
    ),
    Mutation(
        "it is not known that CTAs end at once",
        KERNELS,
        "live = sampled.live if sampled else 0.5 / len(run.steps)",
        "live = sampled.live if sampled else None",
        f"{KNOWN}::test_ctas_that_nearly_all_end_at_once",
    ),
    Mutation(
        "registers that are written twice may be short",
        HALVES,
        "if any(writes[r] > 1 for r in written(instruction)) or instruction.guard:",
        "if instruction.guard:",
        f"{KNOWN}::test_halves_of_wide_integers_that_are_not_computed[written twice]",
    ),
    Mutation(
        "the lower half of what is shifted down needs the lower half only",
        HALVES,
        "        if facts.shifts and not facts.moves_bits_up:\n            halves = BOTH\n        elif",
        "        if",
        f"{KNOWN}::test_halves_of_wide_integers_that_are_not_computed[what is shifted down]",
    ),
    Mutation(
        "kernels whose CTAs come in turn run at the same time",
        LAUNCHES,
        "        if self._order:\n",
        "        if False:\n",
        f"{KNOWN}::test_kernels_that_fill_the_gpu_in_turn_are_no_faster_for_being_interleaved",
    ),
    Mutation(
        "auto weaves known kernels for little",
        PROSPECTS,
        "        return TOGETHER\n",
        "        return 1.0\n",
        f"{KNOWN}::test_auto_weaves_known_kernels_only_for_much",
    ),
    Mutation(
        "kernels of which little is known are interleaved",
        GAIN,
        'if woven.strategy != "weave" or not judge.is_known:',
        'if woven.strategy != "weave":',
        f"{KNOWN}::test_kernels_of_which_little_is_known_are_woven",
    ),
)
