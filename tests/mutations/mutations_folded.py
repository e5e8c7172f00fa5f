"""Rules of folded grids and of registers that move, how each is broken, and the test that has to notice."""

from mutations.mutations import WEAVING, Mutation

FOLDED = "tests/strategies/test_folded.py"
VALUES = f"{FOLDED}::test_unequal_grids_and_partial_rounds"
TICKETS, COUNTERS = "tests/strategies/test_tickets.py", "tests/device/test_counters.py"
TICKET_CODE, NUMBERS = f"{WEAVING}/folding/ticket_code.py", "goptx/device/launches/ticket_counters.py"
TEAM_BARRIERS = f"{WEAVING}/folding/team_barriers.py"
VIRTUAL_CTAS, LOOPS = f"{WEAVING}/folding/virtual_ctas.py", f"{WEAVING}/folding/cta_loops.py"

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
        "_Numbers(team, ctas, teams)",
        "_Numbers(team, ctas, 1)",
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
        "if role in self.of_team:\n                raise CannotWeave(",
        "if role in self.of_team:\n                return self.team.number\n                raise CannotWeave(",
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
    Mutation(
        "an estimate of registers halves the CTAs of an SM",
        "goptx/cost/ctas_at_once.py",
        "max(occupancy(arch, registers, shared, threads).ctas_per_sm, min(2, fewest))",
        "occupancy(arch, registers, shared, threads).ctas_per_sm",
        f"{FOLDED}::test_two_ctas_where_only_registers_may_be_too_few[168-0-2]",
    ),
    Mutation(
        "the last ticket does not set the counter to 0",
        TICKET_CODE,
        "operand(s.add(s.subtract(ctas, 1), helpers))",
        "operand(s.add(ctas, helpers))",
        f"{TICKETS}::test_counters_are_as_before_when_the_launch_has_ended[5]",
    ),
    Mutation(
        "the next ticket is written where the last one is still read",
        TICKET_CODE,
        'Instruction("xor.b32", (place, place, operand(WORD)))',
        'Instruction("xor.b32", (place, place, operand(0)))',
        f"{TICKETS}::test_tickets_are_read_before_the_next_is_written",
    ),
    Mutation(
        "all launches draw from the same counters",
        TICKET_CODE,
        "view.hidden(TICKETS), tickets.set_bytes",
        "view.hidden(TICKETS), 0",
        f"{TICKETS}::test_a_launch_uses_its_own_counters_only",
    ),
    Mutation(
        "all kernels draw from one counter",
        TICKET_CODE,
        "_at(self.counters, self._bound + WORD * kernel)",
        "_at(self.counters, self._bound)",
        f"{FOLDED}::test_each_cta_runs_once[ticket]",
    ),
    Mutation(
        "tickets begin with the first virtual CTA, which a team has already",
        TICKET_CODE,
        'Instruction("add.u32", (ticket, ticket, operand(view.all_teams())), draws)',
        'Instruction("add.u32", (ticket, ticket, operand(0)), draws)',
        f"{FOLDED}::test_each_cta_runs_once[ticket]",
    ),
    Mutation(
        "a team that draws does not wait for its ticket",
        VIRTUAL_CTAS,
        "(*loop.drawn, *barriers.meeting, *loop.step)",
        "(*loop.drawn, *loop.step)",
        f"{FOLDED}::test_each_cta_runs_once[ticket]",
    ),
    Mutation(
        "dynamic arrays begin right after the tickets",
        f"{WEAVING}/shapes/remap.py",
        "(not users or (begins_there and alone))",
        "(not users or begins_there)",
        f"{TICKETS}::test_dynamic_arrays_are_aligned_after_the_tickets",
    ),
    Mutation(
        "a team meets at a barrier that the kernel uses",
        TEAM_BARRIERS,
        "used = {n for ids, loop in zip(own, loops, strict=True) if loop.teams == 1 for n in ids}",
        "used = set[int]()",
        f"{TICKETS}::test_barriers_that_are_not_left[all]",
    ),
    Mutation(
        "streams share counters",
        NUMBERS,
        "id_ = int(must(driver.cuStreamGetId(stream)))",
        "id_ = 0",
        f"{COUNTERS}::test_each_stream_has_its_own",
    ),
    Mutation(
        "a captured launch has the counters of its stream",
        NUMBERS,
        "if int(must(driver.cuStreamIsCapturing(stream))):",
        "if False:",
        f"{COUNTERS}::test_each_captured_launch_has_its_own",
    ),
    Mutation(
        "a node of a graph gets the counters of the latest launch",
        "goptx/device/launches/launch_graph.py",
        "with prepared.starter.passing(prepared.memory, self._number):",
        "if prepared.memory:",
        f"{COUNTERS}::test_nodes_of_graphs_keep_theirs",
    ),
    Mutation(
        "a thread writes the number that another one is launching with",
        NUMBERS,
        "with self._lock:\n            memory.write_last(number)\n            yield",
        "memory.write_last(number)\n        yield",
        f"{COUNTERS}::test_threads_that_launch_at_once",
    ),
)
