"""Rules of fusion regions, of separate launches and of checks of kernels that depend on each other; how each is broken,
and the test that has to notice."""

from mutations.mutations import Mutation

REGION, TESTS = "goptx/region", "tests/region"

OF_REGIONS = (
    Mutation(
        "buffers that overlap are two",
        f"{REGION}/meeting.py",
        "        if (cross or kept) and _overlap(one.extent, other.extent):\n",
        "        if (cross or kept) and equal:\n",
        f"{TESTS}/test_fusion.py::test_buffers_that_overlap_are_not_fused",
    ),
    Mutation(
        "a temporary may be led into",
        f"{REGION}/meeting.py",
        "kept = not equal and (one.place in temporary or other.place in temporary)",
        "kept = False",
        f"{TESTS}/test_fusion.py::test_a_temporary_that_another_pointer_leads_into_is_not_fused",
    ),
    Mutation(
        "only what is read by both is met",
        f"{REGION}/meeting.py",
        "cross = one.place[0] != other.place[0] and (one.writes or other.writes)",
        "cross = one.place[0] != other.place[0] and one.writes and other.writes",
        f"{TESTS}/test_fusion.py::test_across_ctas_they_are_launched_one_after_the_other[read]",
    ),
    Mutation(
        "one fused kernel serves arguments of all patterns",
        f"{REGION}/completion.py",
        "self.met if self.names else None",
        "None",
        f"{TESTS}/test_fusion.py::test_equal_bounds_are_one_number_and_others_are_not",
    ),
    Mutation(
        "one fused kernel serves all shapes",
        f"{REGION}/completion.py",
        "return self._of_kernels, self.shapes, ",
        "return self._of_kernels, self.shapes is None, ",
        f"{TESTS}/test_fusion.py::test_what_is_made_for_one_shape_serves_no_other",
    ),
    Mutation(
        "what a parameter does not lead to is nothing",
        f"{REGION}/completion.py",
        "if r.known.reach.beyond:",
        "if not r:",
        f"{TESTS}/test_fusion.py::test_what_leads_nobody_knows_where_is_not_fused",
    ),
    Mutation(
        "variables of a module are not shared",
        f"{REGION}/completion.py",
        '    return any(v.space == ".global" and all(v.name in r for r in reached) for v in one.module.variables)\n',
        "    return False\n",
        f"{TESTS}/test_fusion.py::test_variables_of_a_module_are_shared",
    ),
    Mutation(
        "large blocks get any number of registers",
        f"{REGION}/completion.py",
        " and (shape.threads or 0) <= FREE",
        "",
        f"{TESTS}/test_fusion.py::test_large_blocks_are_stated",
    ),
    Mutation(
        "arguments are looked at when the region ends",
        f"{REGION}/completion.py",
        "contents = [r.contents for r in launches]",
        "contents = [r.args for r in launches]",
        f"{TESTS}/test_fusion.py::test_arguments_are_those_of_the_time_of_the_launch",
    ),
    Mutation(
        "an exception inside ends the region like any other end",
        f"{REGION}/fusion.py",
        "if kind is None and self._launches:",
        "if self._launches:",
        f"{TESTS}/test_fusion.py::test_an_exception_inside_launches_nothing",
    ),
    Mutation(
        "a stream stays recorded",
        "goptx/recording.py",
        "        _OPEN.discard(key)\n",
        "        pass\n",
        f"{TESTS}/test_wrong_use.py::test_a_stream_is_free_after_whatever_happened",
    ),
    Mutation(
        "launches on a recorded stream are let through",
        "goptx/recording.py",
        "if _OPEN and _key(stream) in _OPEN:",
        "if _OPEN and stream in _OPEN:",
        f"{TESTS}/test_wrong_use.py::test_no_other_launch_on_the_stream",
    ),
    Mutation(
        "buffers that lie apart are not told to the strategy",
        "goptx/strategies/buffers.py",
        "} - named\n",
        "} - named - {(k, i) for k in range(26) for i in range(99)}\n",
        "tests/strategies/test_auto.py::test_buffers_that_are_known_to_lie_apart",
    ),
    Mutation(
        "what is shown along x holds in all shapes",
        "goptx/strategies/vertical.py",
        '            check_along_x(inside.linked, "what kernels hand on to each other")\n',
        "            pass\n",
        "tests/strategies/test_auto.py::test_shapes_of_several_axes_are_refused_where_it_matters",
    ),
    Mutation(
        "entries of one name are one",
        "goptx/weaving/separate.py",
        "_entry(entry, free_name(entry.name, taken), own)",
        "_entry(entry, entry.name, own)",
        "tests/strategies/test_separate.py::test_one_entry_for_each_kernel",
    ),
    Mutation(
        "parameters that are one are checked on arrays of their own",
        "goptx/emulator/in_common.py",
        "    if buffer is None:\n        return own\n",
        "    if buffer is None or buffer.temporary:\n        return own\n",
        "tests/emulator/test_check_dependent.py::test_data_that_is_made_up_is_one_too",
    ),
    Mutation(
        "temporaries are compared",
        "goptx/emulator/in_common.py",
        "if place not in temporary}, undefined",
        "}, undefined",
        "tests/emulator/test_check_dependent.py::test_data_that_is_made_up_is_one_too",
    ),
)
