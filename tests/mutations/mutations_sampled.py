"""Rules of sampled runs and of what estimates take from them, how each is broken, and the test that notices."""

from mutations.mutations import Mutation

RUN, KNOWN = "tests/emulator/test_sampled_run.py", "tests/strategies/test_known_behaviour.py"
MEMORY = "goptx/emulator/sampled/described_memory.py"
SAMPLED = "goptx/emulator/sampled/sampled_run.py"
OF_KERNEL, KERNELS = "goptx/cost/sampled_kernel.py", "goptx/cost/kernels.py"
HALVES = "goptx/cost/units/half_words.py"
LAUNCHES, PROSPECTS = "goptx/strategies/estimates/launches.py", "goptx/strategies/estimates/prospects.py"
GAIN = "goptx/strategies/estimates/estimated_gain.py"
ASSUMPTIONS, PATHS = "tests/strategies/test_assumptions.py", "tests/strategies/test_critical_path.py"
BRANCHES, PATH, ESTIMATE = "goptx/cost/branches.py", "goptx/cost/critical_path.py", "goptx/cost/estimate.py"
MERGED, PIPES = "goptx/cost/units/merged_operations.py", "tests/strategies/test_pipes.py"
LINES = f"{RUN}::test_lines_far_from_all_others"
FAR_LINES = f"{KNOWN}::test_lines_far_from_all_others_take_the_memory_long"
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
        'else LOADS if facts.row.access == "l" else STORES',
        "else LOADS",
        f"{RUN}::test_what_a_cta_accesses[in place]",
    ),
    Mutation(
        "nothing is in common",
        SAMPLED,
        "self._common[kind] += size * self._by_array(common)",
        "self._common[kind] += 0 * self._by_array(common)",
        f"{RUN}::test_sectors_of_neighbours",
    ),
    Mutation(
        "the L1 holds nothing",
        SAMPLED,
        "fresh | (np.diff(place[order], prepend=0) > self._held)",
        "True",
        f"{RUN}::test_what_a_cta_accesses[twice]",
    ),
    Mutation(
        "it is not noted that instructions were passed over",
        SAMPLED,
        "not launch.skipped, accesses.missed(),",
        "True, accesses.missed(),",
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
    Mutation(
        "a side is passed once for each branch that leads there",
        OF_KERNEL,
        "for side, (share, before) in most_taken(self.sides).items():",
        "for side, share, before in ((s, o, f.block) for f, e in self.sides.items() for s, o in zip(f.sides, e)):",
        f"{KNOWN}::test_a_side_to_which_several_branches_lead_is_passed_once",
    ),
    Mutation(
        "warps have to be sent to a side by all branches",
        BRANCHES,
        "share[name] *= taken.get(side, 1.0 - passed)",
        "share[name] *= taken.get(side, passed)",
        f"{ASSUMPTIONS}::test_a_side_to_which_several_branches_lead_is_executed_by_those_that_any_sends_there",
    ),
    Mutation(
        "loops do not matter to what is put under predicates",
        BRANCHES,
        "return BESIDE_LOOPS if loops(flow) else PREDICATED",
        "return PREDICATED",
        f"{PATHS}::test_a_kernel_with_a_loop_has_fewer_predicates[9-False]",
    ),
    Mutation(
        "each side may be as long as both",
        BRANCHES,
        "max(lengths) <= most and sum(lengths) <= PREDICATED",
        "max(lengths) <= most",
        f"{ASSUMPTIONS}::test_which_sides_the_assembler_puts_under_predicates",
    ),
    Mutation(
        "every branch reconverges its lanes",
        BRANCHES,
        "inner = any(meets[name] == meets[other.block] for other in around_blocks.get(name, ()))",
        "inner = False",
        f"{ASSUMPTIONS}::test_branches_whose_sides_meet_at_one_place_are_reconverged_once",
    ),
    Mutation(
        "loads wait for all stores",
        PATH,
        "return not space or not other or space == other",
        "return True",
        f"{PATHS}::test_loads_begin_above_stores_to_other_memory[st.shared.f32 [tile], %f{{}};-True]",
    ),
    Mutation(
        "stores to any space do not matter",
        PATH,
        "return not space or not other or space == other",
        "return space == other",
        f"{PATHS}::test_loads_begin_above_stores_to_other_memory[st.f32 [%rd5], %f{{}};-False]",
    ),
    Mutation(
        "all that is loaded is in DRAM",
        OF_KERNEL,
        "far = min(beyond[number] / run.touched[number].asked, 1.0)",
        "far = 1.0",
        f"{KNOWN}::test_a_warp_waits_for_where_the_elements_are",
    ),
    Mutation(
        "the warps that load are counted for each sector",
        SAMPLED,
        "for number in _distinct(whose) >> SHIFT:",
        "for number in whose >> SHIFT:",
        f"{RUN}::test_which_loads_wait_for_what_is_beyond_the_l1",
    ),
    Mutation(
        "lines beside each other are far from all others",
        SAMPLED,
        "single = np.isin(lines, every[distant[:-1] & distant[1:]])",
        "single = np.isin(lines, every)",
        f"{LINES}[one after the other]",
    ),
    Mutation(
        "neighbours continue no lines",
        SAMPLED,
        "alone = max(1.0 - 2.0 * beside / sectors, 0.0) if sectors else 0.0",
        "alone = 1.0",
        f"{LINES}[every second line of neighbours]",
    ),
    Mutation(
        "scattered sectors are as fast as others",
        OF_KERNEL,
        "+ max(touched.alone * least - touched.with_them * each, 0.0)",
        "+ 0.0",
        FAR_LINES,
    ),
    Mutation(
        "all kinds of accesses are as fast",
        OF_KERNEL,
        "each, least = EACH[touched.kind], LEAST[touched.kind]",
        "each, least = EACH[0], LEAST[0]",
        FAR_LINES,
    ),
    Mutation(
        "a sum is merged although another instruction reads it",
        MERGED,
        "and uses[register] == 1 and",
        "and",
        f"{PIPES}::test_sums_are_merged_with_their_minimum[read by another]",
    ),
    Mutation(
        "a minimum takes in all that it reads",
        MERGED,
        "own, whole = together, kind != LOGIC",
        "own, whole = together, False",
        f"{PIPES}::test_sums_are_merged_with_their_minimum[three maxima]",
    ),
    Mutation(
        "sums occupy one pipe only",
        "goptx/cost/work.py",
        'units["integer"] - units["movable"], (units',
        'units["integer"], (units',
        f"{PIPES}::test_sums_are_divided_among_the_pipes_that_compute_them",
    ),
    Mutation(
        "CTAs that end at once run beside the others",
        ESTIMATE,
        "if wave.ends and len(waves) > 1:",
        "if False:",
        f"{ASSUMPTIONS}::test_ctas_that_end_at_once_come_when_all_others_have_ended",
    ),
    Mutation(
        "warps that end at once need no room",
        "goptx/device/occupancy.py",
        "return (room - whole) // warps + 1 if whole <= room else 0",
        "return room // warps",
        "tests/device/test_occupancy.py::test_ctas_of_which_most_warps_end_at_once[64-128-512-5-registers]",
    ),
    Mutation(
        "what is live across a slow path is not spilled",
        "goptx/analysis/registers/register_demand.py",
        "self._beside_calls - most, 0)",
        "0)",
        "tests/analysis/test_registers.py::test_words_across_slow_paths_are_spilled_with_a_few_registers",
    ),
    Mutation(
        "pipes of several kernels work at the same time",
        "goptx/cost/estimate.py",
        "every = resources(*(load.all(machine) for load in loads))",
        "every = resources(sum((load.all(machine) for load in loads), Counter()))",
        f"{PIPES}::test_kernels_overlap_but_not_in_their_arithmetic",
    ),
    Mutation(
        "the carry flag is there at once",
        "goptx/cost/critical_path.py",
        "            for register in sets(one):\n",
        "            for register in written(one):\n",
        "tests/strategies/test_critical_path.py::test_a_sum_with_carry_waits_for_the_one_below",
    ),
    Mutation(
        "kernels wait for no SM to have more shared memory",
        "goptx/strategies/estimates/launches.py",
        "self._carveout(other) > WIDER * self._carveout(kernel)",
        "False",
        "tests/strategies/test_assumptions.py::test_the_kernel_that_needs_more_shared_memory_is_launched_first",
    ),
)
