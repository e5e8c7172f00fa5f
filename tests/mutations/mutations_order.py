"""Rules of releases and acquires, how each is broken, and the test that has to notice."""

from mutations.mutations import WEAVING, Mutation

ORDER = "tests/weaving/test_memory_order.py"
INTERNALISE = "tests/strategies/test_internalise.py"
ARRIVAL = "cp.async.mbarrier.arrive.noinc.shared.b64 [%r9];-st.global.u32 [%rd1], 1;"

OF_ORDER = (
    Mutation(
        "a release is ordered with its own space only",
        f"{WEAVING}/schedule/dependences.py",
        "if kind not in touched and not own.releases:",
        "if kind not in touched:",
        f"{ORDER}::test_no_thread_sees_a_flag_without_the_data[release-latency]",
    ),
    Mutation(
        "a release is ordered with stores, and with no loads",
        f"{WEAVING}/schedule/dependences.py",
        "for load in loads.get(kind, ()):",
        "for load in loads.get(kind, ()) if kind in touched else ():",
        f"{ORDER}::test_a_load_that_comes_late_holds_the_release_back",
    ),
    Mutation(
        "what releases by default releases nothing",
        "goptx/ptx/opcodes.py",
        "return self.is_fence or self.releases or",
        "return self.is_fence or",
        f"{ORDER}::test_nothing_moves_after_a_release[{ARRIVAL}]",
    ),
    Mutation(
        "acq_rel is no acquire",
        "goptx/ptx/opcodes.py",
        '_ACQUIRE = frozenset(("acquire", "acq_rel", "sc"))',
        '_ACQUIRE = frozenset(("acquire",))',
        f"{ORDER}::test_nothing_moves_before_an_acquire"
        "[red.acq_rel.gpu.global.add.u32 [%rd2], 1;-st.shared.u32 [%r9], 1;]",
    ),
    Mutation(
        "inputs are loaded once whatever is acquired between",
        "goptx/analysis/values/access_sites.py",
        "return sorted(acquiring | passing)",
        "return []",
        f"{INTERNALISE}::test_inputs_are_loaded_again_after_an_acquire[fence.acq_rel.sys;]",
    ),
    Mutation(
        "barriers hand on nothing that was acquired",
        "goptx/analysis/values/access_sites.py",
        "return sorted(acquiring | passing)",
        "return sorted(acquiring)",
        f"{INTERNALISE}::test_barriers_acquire_nothing_from_outside_the_kernels",
    ),
    Mutation(
        "a function that is called acquires nothing",
        "goptx/analysis/sync/acquires.py",
        "left = {n for n in found if not any(may_acquire(i, found) or is_barrier_or_fence(i) for i in code[n])}",
        "left = set(found)",
        f"{INTERNALISE}::test_a_function_that_acquires_does_so_for_its_caller[call inner;-6]",
    ),
    Mutation(
        "no acquire lies on a way around a loop",
        "goptx/analysis/values/access_sites.py",
        "name == block and begin < i < end for",
        "name != block and begin < i < end for",
        f"{INTERNALISE}::test_inputs_are_loaded_again_after_an_acquire_in_each_iteration",
    ),
    Mutation(
        "threads never write one element in turn",
        "goptx/weaving/dependent/to_registers.py",
        "several |= bool(self.places.acquires)",
        "several |= False",
        f"{INTERNALISE}::test_an_element_that_threads_may_write_in_turn_is_refused[membar.gl;]",
    ),
    Mutation(
        "no warp comes between a release and what stands beside it",
        "goptx/emulator/decode.py",
        "(ordered or last_ordered)",
        "False",
        f"{ORDER}::test_the_emulator_sees_a_flag_without_the_data",
    ),
    Mutation(
        "an asynchronous store is done when the next begins",
        "goptx/analysis/values/access_sites.py",
        ' and "async" not in self.facts.modifiers',
        "",
        "tests/strategies/test_dependences.py::test_asynchronous_stores_are_refused",
    ),
)
