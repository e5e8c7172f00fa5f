"""Rules of launch shapes, how each is broken, and the test that has to notice."""

from mutations.mutations import WEAVING, Mutation

SHAPES = "tests/weaving/test_shapes.py"
ALONE = f"{SHAPES}::test_each_kernel_does_what_it_does_alone"
SHARED = "tests/weaving/test_shapes_shared.py"
REFUSED = "tests/weaving/test_shapes_refused.py"
LAUNCHED = "tests/weaving/test_shapes_launched.py"

OF_SHAPES = (
    Mutation(
        "some CTAs of a strided kernel run twice",
        f"{WEAVING}/shapes/thread_view.py",
        "return s.multiply_add(part, ctas // STRIDE, row)",
        "return s.multiply_add(part, ctas // STRIDE - 1, row)",
        "tests/weaving/test_strided.py::test_each_cta_runs_once[ctas0-1-vertical]",
    ),
    Mutation(
        "a kernel takes strides though the other may last as long",
        f"{WEAVING}/shapes/strided.py",
        "frozenset(long) if len(long) == 1 and",
        "frozenset(long[:1]) if long and",
        "tests/weaving/test_strided.py::test_which_kernel[kernels3-]",
    ),
    # what a kernel reads
    Mutation(
        "the number of a thread counts along x only",
        f"{WEAVING}/shapes/thread_view.py",
        "row = s.multiply_add(z, self.w_size(what, 1), y) if z else y",
        "row = s.add(z, y)",
        f"{ALONE}[2x3x2:5x7x2+3x4:60-registers-registers]",
    ),
    Mutation(
        "a coordinate is not taken modulo its axis",
        f"{WEAVING}/shapes/thread_view.py",
        "last = all(n == 1 for n in sizes[axis + 1 :])",
        "last = True",
        f"{ALONE}[2x3:256+3x2:16x16-registers-registers]",
    ),
    Mutation(
        "a kernel with fewer warps sees the warps of the woven one",
        f"{WEAVING}/shapes/thread_view.py",
        'return self.scalars.divide(self.number("block"), WARP, MOST_THREADS) if self.more_warps() else None',
        'return self.scalars.divide(self.number("block"), 2 * WARP, MOST_THREADS) if self.more_warps() else None',
        f"{ALONE}[3:48+3:256-registers-registers]",
    ),
    Mutation(
        "a kernel sees all the dynamic shared memory",
        f"{WEAVING}/shapes/thread_view.py",
        '"%dynamic_smem_size": View.shared,',
        '"%dynamic_smem_size": lambda view: None,',
        f"{SHARED}::test_memory_that_a_kernel_asks_for_without_an_array_stays[1]",
    ),
    Mutation(
        "device functions read the registers of the woven kernel",
        f"{WEAVING}/link/clone_functions.py",
        "while more := {n for n, names in mentions.items() if changed & set(names)} - changed:",
        "while more := set[str]():",
        f"{SHARED}::test_a_device_function_names_a_dynamic_array",
    ),
    # who takes part
    Mutation(
        "lanes beyond a kernel's block run it",
        f"{WEAVING}/shapes/thread_view.py",
        "return own is None or (own % WARP > 0 and own < most)",
        "return own is None",
        f"{ALONE}[4:33+4:64-registers-registers]",
    ),
    Mutation(
        "warps beyond a kernel's block run it",
        f"{WEAVING}/shapes/thread_view.py",
        "return own is None or -(-own // WARP) < -(-most // WARP)",
        "return own is None",
        f"{SHAPES}::test_warps_that_are_left_out_issue_nothing_of_the_kernel",
    ),
    Mutation(
        "a kernel's barriers wait for warps that are not its own",
        f"{WEAVING}/merging/barrier_ids.py",
        "flows[i] = _each(flows[i], is_cta_barrier, partial(_with_count, c.threads))",
        "pass",
        f"{ALONE}[3:48+3:256-tiled-leaving]",
    ),
    Mutation(
        "the last CTA of a spread grid is left out",
        "goptx/launch/launch_plan.py",
        "return (min(ratio, ((ctas << 32) - 1) // (total - 1)) if total > 1 else ratio) - 1",
        "return (ctas << 32) // total - 1",
        f"{SHAPES}::test_which_ctas_carry_those_of_the_smaller_grid[True-spread-carrying0]",
    ),
    # memory and launch
    Mutation(
        "the dynamic memory of two kernels overlaps",
        "goptx/launch/launch_plan.py",
        "offsets[k] = aligned(end)",
        "offsets[k] = 0",
        f"{SHARED}::test_both_use_dynamic_memory[unknown0]",
    ),
    Mutation(
        "parts of unknown size count nothing",
        f"{WEAVING}/shapes/remap.py",
        "for letter, parts in self.unknown_before.items():",
        "for letter, parts in ():",
        f"{SHARED}::test_both_use_dynamic_memory[unknown3]",
    ),
    Mutation(
        "dynamic arrays lie upon what is carved",
        f"{WEAVING}/shapes/shared_pool.py",
        "return places | dict.fromkeys((v.name for v in self.dynamic), aligned(size))",
        "return places | dict.fromkeys((v.name for v in self.dynamic), 0)",
        f"{SHARED}::test_dynamic_arrays_lie_after_carved_ones",
    ),
    Mutation(
        "kernels of one module share shared variables",
        f"{WEAVING}/link/own_shared_variables.py",
        "for variable in (v for v in variables if v.name in used):",
        "for variable in ():",
        "tests/weaving/test_own_shared.py::test_a_kernel_beside_itself[common shape-a variable of the module]",
    ),
    Mutation(
        "a launch may contradict what was woven",
        "goptx/launch/launch_plan.py",
        "if None not in (known, new) and known != new:",
        "if False:",
        f"{LAUNCHED}::test_what_contradicts_or_is_missing[options5-kernel B was woven for .*2x5:64:9 contradicts]",
    ),
    Mutation(
        "addresses by SM are placed",
        f"{WEAVING}/shapes/launch_demands.py",
        'if "%smid" in closure(names, sources):',
        "if False:",
        f"{REFUSED}::test_an_address_by_sm_is_refused_in_another_grid",
    ),
    Mutation(
        "without shapes a kernel counts the shared memory of all",
        f"{WEAVING}/shapes/launch_demands.py",
        'if counting.get(n)), "")',
        'if counting.get(n) is None and n in counting), "")',
        "tests/weaving/test_shapes_refused.py::test_sizes_of_shared_memory_without_shapes[%total_smem_size-A]",
    ),
    Mutation(
        "a guard may have the name of a register in the braces of a call",
        "goptx/weaving/model.py",
        "(*self.registers, *inner)",
        "(*self.registers,)",
        "tests/weaving/test_guards.py::test_woven_with_another[a register in its braces has the name of a guard]",
    ),
)
