"""Rules for kernels that depend on each other, how each is broken, and the test that has to notice."""

from mutations.mutations import Mutation

STRATEGIES, ANALYSIS, TESTS = "goptx/strategies", "goptx/analysis", "tests/strategies"

OF_VERTICAL = (
    Mutation(
        "no barrier stands between kernels",
        f"{STRATEGIES}/dependences.py",
        "flow=_behind_barrier(flow) if j in waits else flow",
        "flow=_behind_barrier(flow) if j < 0 else flow",
        f"{TESTS}/test_dependences.py::test_what_stays_within_a_cta_gets_a_barrier",
    ),
    Mutation(
        "loads keep the read-only path",
        f"{STRATEGIES}/dependences.py",
        "if _is_read_only(a.instruction) and any(",
        "if not a.instruction.opcode and any(",
        f"{TESTS}/test_dependences.py::test_the_read_only_path_is_left_where_a_kernel_writes",
    ),
    Mutation(
        "parameters that are not named are two buffers",
        f"{STRATEGIES}/dependences.py",
        "return self.depends and not bases <= self.variables and all(map(self._may_be_any, bases))",
        "return False",
        f"{TESTS}/test_dependences.py::test_parameters_that_are_not_named_may_be_one",
    ),
    Mutation(
        "a load is taken for guarded as the store is",
        f"{ANALYSIS}/places.py",
        "return known.implies(guard)\n",
        "return True\n",
        f"{TESTS}/test_internalise.py::test_what_cannot_be_kept_in_registers_is_refused[bound]",
    ),
    Mutation(
        "loops run in step whatever decides them",
        f"{STRATEGIES}/lockstep.py",
        "values.holds(one, end.guard) != values.branches[one]",
        "not values.holds(one, end.guard)",
        f"{TESTS}/test_internalise.py::test_loops_of_different_trip_counts_are_not_fused",
    ),
    Mutation(
        "clocks are alike",
        f"{ANALYSIS}/values.py",
        "plain and only and _is_steady(code))",
        "plain and only)",
        f"{TESTS}/test_internalise.py::test_clocks_are_not_alike",
    ),
    Mutation(
        "steps may change",
        f"{ANALYSIS}/values.py",
        'return key[0] == "made" or (',
        "return bool(0) and (",
        "tests/analysis/test_values.py::test_steps_are_the_same_each_time_around[loaded]",
    ),
    Mutation(
        "elements of the buffer need not have been written by the CTA",
        f"{STRATEGIES}/local.py",
        "if key is None or not known.implies(",
        "if key is None and not known.implies(",
        f"{TESTS}/test_local.py::test_what_cannot_be_kept_in_shared_memory_is_refused[bounds]",
    ),
    Mutation(
        "a kernel's own loads are made one",
        f"{STRATEGIES}/internalise.py",
        "if self.kernel(source[0].instruction).letter == self.kernel(load[0].instruction).letter:",
        "if not self.kernel(source[0].instruction).letter:",
        f"{TESTS}/test_internalise.py::test_a_kernels_own_loads_stay_since_it_may_write_between_them",
    ),
    Mutation(
        "pointers in structures are buffers of their own",
        f"{STRATEGIES}/dependences.py",
        "        name = parameter_of(base)\n        named =",
        "        name = base\n        named =",
        f"{TESTS}/test_own_elements.py::test_pointers_in_structures_are_pointers[all-direct]",
    ),
    Mutation(
        "a parameter is told by how its address is written",
        f"{ANALYSIS}/values.py",
        'return f"{of[0]}+{offset}" if offset else str(of[0])',
        'return str(load.operands[1]).strip("[]").removesuffix("+0")',
        f"{TESTS}/test_own_elements.py::test_pointers_in_structures_are_pointers[cta-copied]",
    ),
    Mutation(
        "variables are no buffers",
        f"{STRATEGIES}/dependences.py",
        "return base in self.variables or name in",
        "return name in",
        f"{TESTS}/test_own_elements.py::test_a_pointer_from_anywhere_may_lead_to_the_buffer[variable]",
    ),
    Mutation(
        "a structure in common has no buffers in common",
        f"{STRATEGIES}/dependences.py",
        "        if parameter_of(access.base) != buffer.name or buffer.name not in self.structures:\n",
        "        if buffer.name:\n",
        f"{TESTS}/test_own_elements.py::test_a_structure_in_common_has_written_buffers_in_common",
    ),
    Mutation(
        "what depends on thread and CTA is a thread's own, since others would race",
        f"{STRATEGIES}/dependences.py",
        "        if one_foot is None or other_foot is None or not _one_piece(",
        '        if "tid" in str(atoms := [*one.places.values.atoms.within(first.offset)]) and "ctaid" in str(atoms):\n'
        "            if first.offset == second.offset:\n"
        "                return True\n"
        "        if one_foot is None or other_foot is None or not _one_piece(",
        f"{TESTS}/test_own_elements.py::test_stores_of_equal_values_do_not_race[read first-divided]",
    ),
    Mutation(
        "one of several stored values is private",
        f"{STRATEGIES}/internalise.py",
        "            if found is None or not found.alone:  # of",
        "            if not several:\n                continue\n            if found is None or not found.alone:  # of",
        f"{TESTS}/test_own_elements.py::test_one_of_several_stored_values_is_not_private",
    ),
    Mutation(
        "numbers of threads do not wrap",
        f"{ANALYSIS}/apart.py",
        "limits = {Limit(_GRID, numbers // (abs(pitch) or 1))}",
        "limits: set[Limit] = set()",
        f"{TESTS}/test_own_elements.py::test_indices_that_wrap_bound_the_launch[16 bits to 64]",
    ),
    Mutation(
        "limits are not asked of a launch",
        "goptx/weaving/result.py",
        "(limit for limit in self.limits if not limit.admits(shape))",
        "(limit for limit in self.limits if not shape)",
        f"{TESTS}/test_own_elements.py::test_a_thread_beyond_its_width_shares_an_element",
    ),
    Mutation(
        "limits are not asked of known shapes",
        f"{ANALYSIS}/apart.py",
        "return prod(self.of(name) or 1 for name in limit.sizes) > limit.most",
        "return limit.most < 0",
        f"{TESTS}/test_own_elements.py::test_indices_that_wrap_bound_the_launch[bytes of 32 bits]",
    ),
    Mutation(
        "all strides of CTAs are one",
        f"{ANALYSIS}/apart.py",
        "stride = 0 if close else stride",
        "stride = 0",
        f"{TESTS}/test_own_elements.py::test_pieces_of_other_strides_are_not_one",
    ),
    Mutation(
        "short counters do not wrap",
        f"{ANALYSIS}/apart.py",
        "times // count > 0 and bits >= _NARROW:",
        "times // count > 0:",
        f"{TESTS}/test_own_elements.py::test_short_counters_of_loops_wrap[grid]",
    ),
    Mutation(
        "columns end where rows do",
        f"{ANALYSIS}/apart.py",
        "if times != pitch or not self.is_below(fast, row):",
        "if times != pitch:",
        f"{TESTS}/test_own_elements.py::test_rows_and_columns_are_a_threads_own",
    ),
)
