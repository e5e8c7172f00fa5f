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
        "return self.depends and unnamed",
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
        "self.kernel(s.instruction) is not self.kernel(load.instruction)",
        "self.kernel(s.instruction) is not None",
        f"{TESTS}/test_internalise.py::test_a_kernels_own_loads_stay_since_it_may_write_between_them",
    ),
)
