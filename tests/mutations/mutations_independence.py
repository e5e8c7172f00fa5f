"""Rules of independence, how each is broken, and the test that has to notice."""

from mutations.mutations import Mutation

POINTERS = "goptx/analysis/values/pointer_effects.py"
OF_POINTERS = "tests/analysis/test_pointers.py"
LAUNCHED = "tests/test_independence.py"
REPEATED = "tests/device/test_bound_launch.py"

OF_INDEPENDENCE = (
    # what is known of a parameter
    Mutation(
        "the last access of a parameter hides those before it",
        POINTERS,
        "self.done[origin] |= set(how)",
        "self.done[origin] = set(how)",
        f"{OF_POINTERS}::test_instructions[st.global.u32 [%rd1], 1; ld.global.u32 %r2, [%rd1];-expected6]",
    ),
    Mutation(
        "a pointer that is added to an address counts as a number",
        POINTERS,
        "p if p == Part.POINTER else Part.NUMBER",
        "Part.NUMBER",
        f"{OF_POINTERS}::test_the_distance_of_two_pointers_leads_from_one_to_the_other",
    ),
    Mutation(
        "a number that is added to an address counts as a pointer",
        POINTERS,
        "a, b = _offset(a) if b.address else a, _offset(b) if a.address else b",
        "pass",
        f"{OF_POINTERS}::test_a_64_bit_number_is_not_a_pointer[.u64 p-cvta.to.global.u64]",
    ),
    Mutation(
        "pointers that are passed to a function are not lost",
        POINTERS,
        "self.lose({origin for o in step.instruction.operands for origin in self.of(o).bases()})",
        "pass",
        f"{OF_POINTERS}::test_pointers_that_are_passed_on_are_unknown",
    ),
    Mutation(
        "pointers that come back from memory are those of nobody",
        POINTERS,
        "        if self.fetches:\n            self.lose(self.stored)\n",
        "",
        f"{OF_POINTERS}::test_pointers_that_cannot_be_tracked_are_unknown"
        "[st.local.u64 [place], %rd1; ld.local.u64 %rd4, [place];]",
    ),
    # what is compared at launch
    Mutation(
        "what is unknown counts as not accessed",
        "goptx/launch/independence.py",
        'or p.access == "none"',
        'or p.access in ("none", "unknown")',
        f"{LAUNCHED}::test_unknown_counts_as_read_and_written[unknown]",
    ),
    Mutation(
        "pointers in structures are not compared",
        "goptx/launch/independence.py",
        "for offset, access in p.inside)",
        "for offset, access in p.inside[:0])",
        f"{LAUNCHED}::test_pointers_in_structures_are_compared[direct]",
    ),
    Mutation(
        "arrays that follow each other count as overlapping",
        "goptx/launch/independence.py",
        "if size <= 0:",
        "if size < 0:",
        f"{LAUNCHED}::test_independent_arguments[out0-other0]",
    ),
    Mutation(
        "what was warned of once is forgotten",
        "goptx/launch/independence.py",
        "        if not doubts:\n            if len(self._accepted)",
        "        if True:\n            if len(self._accepted)",
        f"{LAUNCHED}::test_a_raw_pointer_into_an_array_is_warned_of_at_every_launch",
    ),
    Mutation(
        "an array with negative strides begins at its address",
        "goptx/launch/device_arrays.py",
        "address + sum(e for e in ends if e < 0)",
        "address",
        f"{LAUNCHED}::test_dependent_arguments[out3-other3-the same array]",
    ),
    # arguments that are given again
    Mutation(
        "a tensor that was resized is the same",
        "goptx/launch/repeated/argument_groups.py",
        "(sized and (tensor.nbytes != size or not tensor.is_contiguous()))",
        "(sized and not tensor.is_contiguous())",
        f"{REPEATED}::test_a_tensor_is_read_again_whatever_was_refused",
    ),
    Mutation(
        "an array of CuPy is that of the launch before",
        "goptx/launch/repeated/argument_groups.py",
        "if self._before and all(map(is_, arrays, [ref() for ref in self._before])):",
        "if self._before:",
        f"{REPEATED}::test_an_array_of_cupy_is_read_once",
    ),
    Mutation(
        "zeros have no sign",
        "goptx/launch/repeated/argument_groups.py",
        "if now == before and not (self._zeros and not all(map(is_, now, before))):",
        "if now == before:",
        f"{REPEATED}::test_equal_numbers_of_other_types_are_not_the_same",
    ),
    Mutation(
        "groups go on where arguments of other types were given between",
        "goptx/launch/repeated/repeated_arguments.py",
        "            group.forget()",
        "            pass",
        f"{REPEATED}::test_arguments_of_other_types_take_turns",
    ),
    Mutation(
        "kernels side by side keep their first arguments",
        "goptx/device/side_by_side.py",
        "if content != self._contents[i]:",
        "if not self._contents[i]:",
        "tests/device/test_side_by_side.py::test_a_graph_is_made_once_and_passes_what_is_given_now",
    ),
    # threads
    Mutation(
        "several threads make what one is making",
        "goptx/memo.py",
        "with making:",
        "with Lock():",
        "tests/test_threads.py::test_threads_make_a_thing_once_and_wait_for_nothing_else",
    ),
)
