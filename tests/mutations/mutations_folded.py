"""Rules of folded grids and of registers that move, how each is broken, and the test that has to notice."""

from mutations.mutations import WEAVING, Mutation

FOLDED = "tests/strategies/test_folded.py"
VALUES = f"{FOLDED}::test_unequal_grids_and_partial_rounds"
VIRTUAL_CTAS, LOOPS = f"{WEAVING}/shapes/virtual_ctas.py", f"{WEAVING}/shapes/cta_loops.py"

OF_FOLDED_GRIDS = (
    Mutation(
        "the next virtual CTA writes what threads of the last one still read",
        VIRTUAL_CTAS,
        'yield Instruction("barrier.sync", (Immediate(str(free)),))',
        "yield from ()",
        f"{FOLDED}::test_shared_memory_is_not_written_while_others_read_it",
    ),
    Mutation(
        "threads that have ended a virtual CTA are waited for in it",
        VIRTUAL_CTAS,
        "if u > Uniformity.CTA and joins[n] == EXIT",
        "if False",
        f"{FOLDED}::test_threads_that_end_are_not_waited_for",
    ),
    Mutation(
        "copies of a virtual CTA arrive in the next one",
        VIRTUAL_CTAS,
        "yield Instruction(opcode, tuple(map(Immediate, operands)))",
        "yield from ()",
        f"{FOLDED}::test_copies_that_nobody_waits_for",
    ),
    Mutation(
        "the barrier between virtual CTAs is one that counts fewer threads",
        VIRTUAL_CTAS,
        "if str(n) not in counted",
        "if True",
        f"{FOLDED}::test_barriers_with_counts_keep_their_ids",
    ),
    Mutation(
        "arrivals may be left over",
        VIRTUAL_CTAS,
        "if is_barrier(instruction) and not facts.row.blocking:",
        "if False:",
        f"{FOLDED}::test_an_arrival_without_a_wait_is_refused",
    ),
    Mutation(
        "a team runs the next virtual CTA, too",
        LOOPS,
        'return _Numbers(team, ctas, s.read("%nctaid.x"))',
        "return _Numbers(team, ctas, 1)",
        f"{FOLDED}::test_each_cta_runs_once[static]",
    ),
    Mutation(
        "pieces do not begin where those before them end",
        LOOPS,
        "first = s.multiply_add(team, each, s.least(team, rest))",
        "first = s.multiply(team, each)",
        f"{VALUES}[tiled-registers-chunk-5]",
    ),
    Mutation(
        "all teams take registers",
        LOOPS,
        'way = "inc" if wanted > at_entry else "dec"',
        'way = "inc"',
        f"{FOLDED}::test_registers_move_before_any_thread_ends",
    ),
    Mutation(
        "a cap takes registers that others wait for",
        "goptx/ptx/register_cap.py",
        "if moving is not None and register_cap(module) != cap:",
        "if False:",
        f"{FOLDED}::test_a_cap_would_take_what_others_wait_for",
    ),
    Mutation(
        "a device function reads the number of the fused kernel's CTA",
        f"{WEAVING}/shapes/remap.py",
        "if role == self.number_role:\n                raise CannotWeave(",
        "if role == self.number_role:\n                return self.number\n                raise CannotWeave(",
        f"{FOLDED}::test_functions_and_their_barriers",
    ),
    Mutation(
        "addresses depend on the SM in folded grids",
        f"{WEAVING}/shapes/launch_demands.py",
        "(coarse or view.plan.folds or view.fewer_ctas())",
        "(coarse or view.fewer_ctas())",
        f"{FOLDED}::test_addresses_by_the_sm_are_refused",
    ),
    Mutation(
        "the emulator has registers for all",
        "goptx/emulator/instructions/register_pool.py",
        "if (each > most).any():",
        "if False:",
        f"{FOLDED}::test_the_emulator_counts_registers",
    ),
    Mutation(
        "code of one virtual CTA is ordered among that of the next",
        "goptx/analysis/cfg.py",
        "separate = block.region or following.region or block.alone or following.alone",
        "separate = block.region or following.region",
        f"{FOLDED}::test_code_of_the_loop_stays_by_itself",
    ),
)
