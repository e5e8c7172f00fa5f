"""Rules of products that are divided, of registers of teams and of what estimates know of loops, how each is broken,
and the test that notices."""

from mutations.mutations import WEAVING, Mutation

PRODUCTS, TRIPS = "tests/strategies/test_divided_products.py", "tests/strategies/test_launch_trips.py"
MOVED, CANDIDATES = "tests/strategies/test_moved_registers.py", "tests/strategies/test_fold_candidates.py"
REGISTERS, OPERATIONS = "tests/analysis/test_registers.py", "goptx/analysis/registers/machine_operations.py"
FOLDS, LAUNCHES = (f"goptx/strategies/estimates/{name}.py" for name in ("fold_candidates", "launches"))
FULLEST = f"{CANDIDATES}::test_the_kernel_with_wgmma_has_what_it_would_be_given_where_there_is_room"
DIVIDED = f"{WEAVING}/folding/divided_products.py"
VALUES, SAMPLED = "goptx/analysis/values/thread_values.py", "goptx/analysis/loops/launch_trips.py"
PIECES = f"{PRODUCTS}::test_the_pieces_are_the_product[four-256-f32-f16-swizzle"
UNROLLED = f"{TRIPS}::test_what_a_loop_leaves_is_unknown_unless_it_grows_evenly["

OF_ESTIMATES = (
    Mutation(
        "all pieces but the first have the second columns",
        DIVIDED,
        "yield from _added(begin, b, piece * columns, stride, fresh)",
        "yield from _added(begin, b, columns, stride, fresh)",
        f"{PIECES}1]",
    ),
    Mutation(
        "pieces have the same sums",
        DIVIDED,
        "sums.parts[piece * own : piece * own + own]",
        "sums.parts[:own]",
        f"{PIECES}1]",
    ),
    Mutation(
        "columns of a pattern are as far from each other as rows",
        DIVIDED,
        "if not _is_transposed(instruction, product) or not swizzle:",
        "if True:",
        f"{PIECES}1-transposed]",
    ),
    Mutation(
        "patterns are all of 64 columns",
        DIVIDED,
        "return leading << swizzle >> 1",
        "return leading",
        f"{PIECES}2-transposed]",
    ),
    Mutation(
        "products are divided although nobody knows where columns lie",
        DIVIDED,
        "return not _is_transposed(instruction, product) or _stride(instruction, product, known) is not None",
        "return True",
        f"{PRODUCTS}::test_what_cannot_be_divided_is_refused[unknown]",
    ),
    Mutation(
        "pieces may be too narrow",
        DIVIDED,
        "or product.n // pieces < FEWEST_COLUMNS",
        "",
        f"{PRODUCTS}::test_how_many_pieces_are_possible",
    ),
    Mutation(
        "products are divided where registers are not moved",
        DIVIDED,
        "plan.registers_at_entry if isinstance(plan, Folded) and plan.moves else None",
        "plan.registers_at_entry if isinstance(plan, Folded) else None",
        f"{PRODUCTS}::test_what_cannot_be_divided_is_refused[not moved]",
    ),
    Mutation(
        "kernels that are made convergent need the registers that they need alone",
        "goptx/strategies/estimates/moved_registers.py",
        "needed = kernel.folded.value if copies == 1 else",
        "needed = kernel.pressure.needed.value if copies == 1 else",
        f"{MOVED}::test_registers_of_a_kernel_that_is_made_convergent",
    ),
    Mutation(
        "of equal forms those come first that do not help",
        "goptx/strategies/estimates/moved_registers.py",
        "threads, bool(form.option(",
        "threads, not bool(form.option(",
        f"{MOVED}::test_of_equal_forms_those_come_first_that_help",
    ),
    Mutation(
        "registers that a product is short of cost nothing",
        LAUNCHES,
        "1.0 + SHORT * short",
        "1.0 + 0.0 * short",
        FULLEST,
    ),
    Mutation(
        "what is left goes to the kernel without products",
        FOLDS,
        "(min(r[1 - streaming], roles[1 - streaming].free), r[streaming])",
        "r[streaming]",
        FULLEST,
    ),
    Mutation(
        "folded grids are chosen that gain little",
        "goptx/strategies/estimates/prospects.py",
        "least = much = LEAST_FOLDED",
        "pass",
        f"{CANDIDATES}::test_only_folded_grids_that_gain_much_are_chosen",
    ),
    Mutation(
        "products always read their sums",
        OPERATIONS,
        "and begins_sums(code):",
        "and False:",
        f"{REGISTERS}::test_sums_that_begin_at_zero_are_not_live_before[False]",
    ),
    Mutation(
        "scale-d of a sparse product is where that of others is",
        "goptx/analysis/matrix_products.py",
        '5 if "sp" in facts.modifiers else 3',
        "3",
        f"{REGISTERS}::test_sums_that_begin_at_zero_are_not_live_before[True]",
    ),
    Mutation(
        "an assembler sees that nobody reads what a load wrote before",
        OPERATIONS,
        "if loads or _updates(code) else",
        "if _updates(code) else",
        f"{REGISTERS}::test_what_a_load_under_a_predicate_wrote_is_live_around_its_loop[added]",
    ),
    Mutation(
        "what comes after a load under a predicate comes as late as it can",
        "goptx/analysis/registers/issue_order.py",
        "min(self._peak(late), self._peak([*first, *rest]))",
        "self._peak(late)",
        f"{REGISTERS}::test_one_load_under_a_predicate_moves_nothing_else",
    ),
    Mutation(
        "an assembler does not know that the warps of a team run the same CTA",
        f"{WEAVING}/folding/cta_loops.py",
        "view.scalars.of_warp(view.scalars.divide(view.thread_of_kernel(), view.warps_threads, MOST_THREADS))",
        "view.scalars.divide(view.thread_of_kernel(), view.warps_threads, MOST_THREADS)",
        f"{MOVED}::test_teams_need_no_more_registers_than_one[False]",
    ),
    Mutation(
        "what a loop leaves is what it begins with",
        VALUES,
        "return (first + int(times) * step) % size if",
        "return first % size if",
        f"{TRIPS}::test_the_rest_and_then_four_at_a_time[4099]",
    ),
    Mutation(
        "what grows under a predicate counts as if it always did",
        VALUES,
        "if not isinstance(code, Instruction) or code.guard or written(code) != {register}:",
        "if not isinstance(code, Instruction) or written(code) != {register}:",
        f"{UNROLLED}guarded]",
    ),
    Mutation(
        "what grows twice in an iteration counts once",
        VALUES,
        "once = definitions == 1 and",
        "once =",
        f"{UNROLLED}twice]",
    ),
    Mutation(
        "threads come to blocks that no branch of theirs leads to",
        VALUES,
        "return target == (end.taken if taken else end.fallen)",
        "return True",
        f"{TRIPS}::test_the_rest_and_then_four_at_a_time[4099]",
    ),
    Mutation(
        "all elements of an array are the least",
        VALUES,
        "return self.low + (place * SCATTER % PERIOD * (self.high - self.low)) // PERIOD",
        "return self.low",
        f"{TRIPS}::test_elements_of_an_array_are_in_its_range",
    ),
    Mutation(
        "only the first and the last CTA count",
        SAMPLED,
        "for number in range(EIGHTHS):",
        "for number in range(0):",
        f"{TRIPS}::test_the_mean_over_the_grid",
    ),
    Mutation(
        "a specification counts although it describes another launch",
        "goptx/cost/known_launches.py",
        'return all(described.axes(what) == shape.axes(what) for what in ("grid", "block"))',
        "return described.known",
        f"{TRIPS}::test_the_specification_beside_a_file_tells_of_the_launch_that_it_describes",
    ),
    Mutation(
        "a product reads from shared memory what registers have",
        "goptx/cost/units/tensor_cores.py",
        "return 0.0 if in_registers else product.m * each, product.n * each",
        "return product.m * each, product.n * each",
        f"{PRODUCTS}::test_what_a_product_takes",
    ),
    Mutation(
        "words are never computed again",
        "goptx/analysis/registers/issue_order.py",
        "found = again if again <= found * (1 - SAVED) else found",
        "found = min(again, found) if SAVED > 1 else found",
        f"{REGISTERS}::test_cheap_words_are_computed_again_if_that_saves_many",
    ),
    Mutation(
        "any word may as well be computed again",
        "goptx/analysis/registers/issue_order.py",
        "if place > before + 1 and block[i].cheap and all(",
        "if place > before + 1 and all(",
        f"{REGISTERS}::test_cheap_words_are_computed_again_if_that_saves_many",
    ),
)
