"""Rules of coarsening and of batches, how each is broken, and the test that has to notice."""

from mutations.mutations import WEAVING, Mutation

COARSEN = "tests/weaving/test_coarsen.py"
REFUSED = "tests/weaving/test_coarsen_refused.py"
EACH = f"{COARSEN}::test_each_thread_does_what_it_does_alone"
COMMON = f"{COARSEN}::test_among_others_in_one_common_shape"
OWN = f"{COARSEN}::test_among_others_in_shapes_of_their_own"
BATCH = "tests/weaving/test_batch.py"

OF_COARSENING = (
    # which CTAs
    Mutation(
        "CTAs left over get no CTA of their own",
        "goptx/launch/coarsening.py",
        "sizes[self.axis] = along // self.factor + along % self.factor",
        "sizes[self.axis] = -(-along // self.factor)",
        f"{COARSEN}::test_the_grid_of_the_launch_follows[4-x-grid1-expected1]",
    ),
    Mutation(
        "CTAs left over have the distance of the others",
        f"{WEAVING}/shapes/thread_view.py",
        "return s.multiply_add(s.least(place, self.whole()), factor - 1, place)",
        "return s.multiply_add(place, factor - 1, place)",
        f"{COARSEN}::test_a_cta_carries_neighbours_and_those_left_over_have_one_each",
    ),
    Mutation(
        "dynamic memory that the launch states for all is every kernel's",
        "goptx/launch/launch_plan.py",
        "own = stated.shared is not None and (self.common or not given.shared)",
        "own = False",
        f"{COARSEN}::test_dynamic_memory_of_one_kernel_in_a_common_shape",
    ),
    Mutation(
        "all copies are one CTA",
        f"{WEAVING}/shapes/remap.py",
        "return (self.kernel.copy + 1) % self.plan.coarse[self.position].factor",
        "return 0",
        f"{EACH}[2-x-4:64-tiled-known]",
    ),
    Mutation(
        "all copies run where CTAs are left over",
        f"{WEAVING}/merging/copies.py",
        "if copy is others[-1]:  # the CTAs",
        "if False:  # the CTAs",
        f"{EACH}[2-x-5:64-tiled-known]",
    ),
    Mutation(
        "copies run in CTAs and warps that are not the kernel's",
        f"{WEAVING}/merging/copies.py",
        'return _skipped(_skipped(whole, ends.beyond, "beyond"), ends.ended)',
        "return whole",
        f"{OWN}[front-(('leaving', 2, 'x'), ('tiled', 2, 'x'))]",
    ),
    Mutation(
        "a kernel with more CTAs in one always has the fewest",
        "goptx/launch/launch_plan.py",
        "return least if self.same_shape and (least.factor == 1 or len({*self.coarse}) == 1) else None",
        "return least if self.same_shape else None",
        f"{COMMON}[(('tiled', 2, 'y'), ('tiled', 4, 'y'))]",
    ),
    Mutation(
        "a coarsened kernel reads the grid of the woven one",
        "goptx/launch/launch_plan.py",
        "return self.common_grid is not None and (self.common_grid.factor == 1 or axis != self.common_grid.axis)",
        "return self.common_grid is not None",
        f"{EACH}[2-x-4:64-registers-unknown]",
    ),
    # what the copies have in common, and what not
    Mutation(
        "what depends on the thread is known to all copies, as if it were the same for all threads",
        f"{WEAVING}/shapes/remap.py",
        "scalars = replace(scalars, made=dict(scalars.made))",
        "scalars = replace(scalars, made=scalars.made)",
        f"{OWN}[front-(('leaving', 2, 'x'), ('tiled', 2, 'x'))]",
    ),
    Mutation(
        "the dynamic memory of copies overlaps",
        "goptx/launch/launch_plan.py",
        "+ copy * aligned(self._part(kernel, self.shapes))",
        "+ 0 * aligned(self._part(kernel, self.shapes))",
        f"{EACH}[2-x-4:64-dynamic-known]",
    ),
    Mutation(
        "dynamic memory of unknown size is that of one copy",
        f"{WEAVING}/shapes/remap.py",
        "| {self.position: self.kernel.copy}",
        "| {self.position: 0}",
        f"{EACH}[2-x-4:64-dynamic-unknown]",
    ),
    Mutation(
        "each copy has parameters of its own",
        "goptx/weaving/model.py",
        "return tuple(k for k in self.kernels if not k.copy)",
        "return self.kernels",
        f"{COARSEN}::test_parameters_are_common_to_all_copies",
    ),
    # what is refused
    Mutation(
        "clusters are coarsened",
        f"{WEAVING}/shapes/launch_demands.py",
        "and not plan.folds and all(c.factor == 1 for c in plan.coarse):",
        "and not plan.folds:",
        f"{REFUSED}::test_clusters_are_refused[known-a register]",
    ),
    Mutation(
        "addresses by SM are coarsened",
        f"{WEAVING}/shapes/launch_demands.py",
        'if (coarse or view.plan.folds or view.fewer_ctas()) and "%smid" in names:',
        'if view.fewer_ctas() and "%smid" in names:',
        f"{REFUSED}::test_addresses_by_sm_are_refused[shape0]",
    ),
    Mutation(
        "a kernel is coarsened along two axes",
        "goptx/launch/coarsening.py",
        "if self.factor > 1 and AXES[self.axis] != axis:",
        "if self.factor < 1:",
        f"{REFUSED}::test_one_axis_only",
    ),
    # batches
    Mutation(
        "a batched kernel sees the grid of all iterations",
        f"{WEAVING}/shapes/batch_axis.py",
        'self.nctaid = Substitution({f"%nctaid.{over.axis}": Immediate("1")}, self.at)',
        "self.nctaid = Substitution({}, self.at)",
        f"{BATCH}::test_the_kernel_sees_the_grid_that_it_had",
    ),
    Mutation(
        "iterations are counted from 0 by 1",
        f"{WEAVING}/shapes/batch_axis.py",
        "if (self.over.start, self.over.step) != (0, 1):",
        "if self.over.step == 0:",
        f"{BATCH}::test_one_launch_does_what_the_loop_does[12--4-A:2-u32]",
    ),
    Mutation(
        "an axis in use is taken",
        f"{WEAVING}/shapes/batch_axis.py",
        'for register in ("%ctaid", f"%ctaid.{self.over.axis}", "%nctaid"):',
        "for register in ():",
        f"{BATCH}::test_an_axis_in_use[mov.u32 %r9, %ctaid.y;-%ctaid.y]",
    ),
    Mutation(
        "iterations that write the same elements are taken for independent",
        "goptx/strategies/batch_passes.py",
        "if varying not in known and _MEMORY not in known and len(written_to) == 1:",
        "if not known:",
        f"{BATCH}::test_iterations_that_write_the_same_elements",
    ),
    Mutation(
        "what decides about a store is not looked at",
        "goptx/strategies/batch_passes.py",
        "taken = {*named, *tested, *(read(store) if store.guard else ())}",
        "taken = {*named}",
        f"{BATCH}::test_what_is_not_proved_to_depend_is_the_callers_word[under a branch by the parameter]",
    ),
)
