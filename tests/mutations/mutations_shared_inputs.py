"""Rules for inputs that woven kernels have in common, how each is broken, and the test that has to notice."""

from mutations.mutations import WEAVING, Mutation

STRATEGIES, TEST = "goptx/strategies", "tests/strategies/test_shared_inputs.py"

OF_SHARED_INPUTS = (
    Mutation(
        "a load is left out whatever guards the earlier one",
        "goptx/weaving/dependent/to_registers.py",
        "and self.places.dominates(source.place, load.place)",
        "and self.places.precedes(source.place, load.place)",
        f"{TEST}::test_bounds_that_may_differ",
    ),
    Mutation(
        "a load is left out everywhere if it can be left out somewhere",
        "goptx/weaving/dependent/to_registers.py",
        "return all(any(self._holds_at(s, one, source) for s in source) for one in load)",
        "return any(any(self._holds_at(s, one, source) for s in source) for one in load)",
        f"{TEST}::test_a_load_that_stands_in_several_places",
    ),
    Mutation(
        "a copy of the earlier load may have loaded another element since",
        "goptx/weaving/dependent/to_registers.py",
        "and not self.places.between(source.place, load.place, others)",
        "and others is not None",
        f"{TEST}::test_a_source_whose_copies_load_other_elements",
    ),
    Mutation(
        "kernels may write what they have in common",
        "goptx/weaving/dependent/kernel_dependences.py",
        "if access.writes and self._is_written_for_others",
        "if not buffer.members and self._is_written_for_others",
        f"{TEST}::test_a_buffer_that_a_kernel_writes[A:2=B:0-weave]",
    ),
    Mutation(
        "kernels that acquire take what was loaded before",
        "goptx/weaving/dependent/shared_inputs.py",
        "first_unknown(kernel.flow) or any(may_acquire(i, non_acquiring) for i in kernel.flow.instructions())",
        "first_unknown(kernel.flow)",
        f"{TEST}::test_kernels_that_acquire_load_for_themselves[0]",
    ),
    Mutation(
        "carry chains hand on what they load",
        "goptx/weaving/dependent/shared_inputs.py",
        "if len(unit) > 1\n",
        "if not unit\n",
        f"{TEST}::test_loads_within_a_carry_chain_stay",
    ),
    Mutation(
        "forwarded registers may be read before they are written",
        f"{WEAVING}/schedule/dependences.py",
        "in across(parts, forwarded):",
        "in across(parts, ()):",
        f"{TEST}::test_three_kernels",
    ),
    Mutation(
        "published policies read what is handed on before",
        f"{WEAVING}/schedule/schedule.py",
        "< len(parts[k]) and there and all(",
        "< len(parts[k]) and all(",
        f"{TEST}::test_forwarded_values_are_there_before_they_are_read[paper]",
    ),
)
