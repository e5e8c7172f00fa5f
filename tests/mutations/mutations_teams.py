"""Rules of teams, folded interleaved grids and CTAs bound to SMs, how each is broken, and the test that notices."""

from mutations.mutations import WEAVING, Mutation

TEAMS, BINDING = "tests/strategies/test_teams.py", "tests/strategies/test_sm_binding.py"
HELPING = "tests/strategies/test_helping.py"
FOLDING, VIEW = f"{WEAVING}/folding", f"{WEAVING}/shapes/thread_view.py"
SM_BINDING = f"{FOLDING}/sm_binding.py"

OF_TEAMS = (
    Mutation(
        "teams of a kernel have their shared memory in common",
        f"{WEAVING}/shapes/remap.py",
        "scalars.multiply_add(view.team(), self.plan.stride(self.position), base)",
        "scalars.multiply_add(view.team(), 0, base)",
        f"{TEAMS}::test_shared_memory_of_each_is_its_own",
    ),
    Mutation(
        "teams of a kernel meet each other at its barriers",
        f"{FOLDING}/team_barriers.py",
        "(_id(loop, first), loop.registers.team, Immediate(str(first)))",
        '(_id(loop, first), Immediate("0"), Immediate(str(first)))',
        f"{TEAMS}::test_barriers_of_each_are_its_own",
    ),
    Mutation(
        "ids of barriers are shared by teams of two kernels",
        f"{FOLDING}/team_barriers.py",
        "used.update(range(first, first + teams))",
        "used.add(first)",
        f"{TEAMS}::test_barriers_of_each_are_its_own",
    ),
    Mutation(
        "all teams of a CTA run the same virtual CTAs",
        VIEW,
        's.multiply_add(s.read("%nctaid.x"), own, s.read("%ctaid.x")) if own',
        's.read("%ctaid.x") if own',
        f"{TEAMS}::test_each_cta_runs_once[static]",
    ),
    Mutation(
        "the threads of all teams are those of one CTA",
        VIEW,
        "return self.scalars.remainder(thread, threads, MOST_THREADS)",
        "return thread",
        f"{TEAMS}::test_shared_memory_of_each_is_its_own",
    ),
    Mutation(
        "the next virtual CTA of a team is another team's",
        VIEW,
        'self.scalars.multiply(self.scalars.read("%nctaid.x"), self.teams)',
        'self.scalars.read("%nctaid.x")',
        f"{TEAMS}::test_each_cta_runs_once[static]",
    ),
    Mutation(
        "teams of a kernel leave their tickets in one place",
        f"{FOLDING}/ticket_code.py",
        "first.multiply_add(own, 2 * WORD, first.read_address(box))",
        "first.multiply_add(own, 0, first.read_address(box))",
        f"{TEAMS}::test_each_cta_runs_once[ticket]",
    ),
    Mutation(
        "registers at entry are those of one team",
        f"{WEAVING}/shapes/folded.py",
        "threads = self.role_threads\n",
        "threads = self.partition\n",
        f"{TEAMS}::test_registers_are_those_of_all_teams",
    ),
    Mutation(
        "SMs of high numbers have counters beyond the last one",
        SM_BINDING,
        "Immediate(str(SMS - 1))",
        'Immediate("-1")',
        f"{BINDING}::test_any_numbers_of_sms[more SMs than there are counters]",
    ),
    Mutation(
        "a CTA whose kernel has none left draws from that again",
        SM_BINDING,
        "*draw(second, Guard(gone))",
        "*draw(wanted, Guard(gone))",
        f"{BINDING}::test_what_is_left_goes_to_any_sm",
    ),
    Mutation(
        "nobody sets the counter of the launch to 0",
        SM_BINDING,
        "every = s.subtract(s.add(*ctas), 1)",
        "every = s.add(*ctas)",
        f"{BINDING}::test_the_counter_is_as_before_when_the_launch_has_ended",
    ),
    Mutation(
        "CTAs that were asked for in vain count as drawn",
        SM_BINDING,
        "s.least(halves[0], ctas[0])",
        "halves[0]",
        f"{BINDING}::test_the_counter_is_as_before_when_the_launch_has_ended",
    ),
    Mutation(
        "threads do not wait for what one of them draws",
        SM_BINDING,
        'meeting = (RECONVERGE, Instruction("barrier.sync", (Immediate("0"),)))',
        "meeting = (RECONVERGE,)",
        f"{BINDING}::test_any_numbers_of_sms[one SM]",
    ),
    Mutation(
        "launches that run at once draw from one counter",
        SM_BINDING,
        "views[0].hidden(TICKETS), tickets.set_bytes",
        "views[0].hidden(TICKETS), 0",
        f"{BINDING}::test_a_launch_uses_its_own_counter_only",
    ),
    Mutation(
        "an SM always begins with the same kernel",
        SM_BINDING,
        'Instruction("shr.u32", (bit, Immediate(str(seconds)), bit))',
        'Instruction("shr.u32", (bit, Immediate(str(seconds)), Immediate("0")))',
        f"{BINDING}::test_each_sm_gets_both[in turn]",
    ),
    Mutation(
        "warps that a kernel lacks run another one in folded grids",
        f"{FOLDING}/cta_loops.py",
        "if view.plan.overlaid and view.more_warps():",
        "if False:",
        f"{BINDING}::test_persistent_ctas_of_each_kernel[static]",
    ),
    Mutation(
        "grids that are smaller at launch have fewer CTAs than their code counts on",
        f"{WEAVING}/shapes/interleaved.py",
        "self.shapes if self.folds else shapes",
        "shapes",
        f"{BINDING}::test_grids_that_turn_out_smaller_than_their_ctas[options1]",
    ),
    Mutation(
        "every row of threads draws",
        f"{FOLDING}/ticket_code.py",
        "if view.places == 1 and not view.plan.overlaid:",
        "if view.places == 1:",
        f"{BINDING}::test_one_thread_of_a_block_of_several_axes_draws",
    ),
    Mutation(
        "more CTAs are launched than a kernel has",
        f"{WEAVING}/shapes/interleaved.py",
        "min(self.ctas[kernel], total)",
        "self.ctas[kernel]",
        f"{BINDING}::test_three_kernels_and_grids_smaller_than_their_ctas",
    ),
    Mutation(
        "tickets of teams that help are not counted",
        f"{FOLDING}/ticket_code.py",
        "operand(s.add(s.subtract(ctas, 1), helpers))",
        "operand(s.subtract(ctas, 1))",
        f"{HELPING}::test_each_cta_runs_once[teams0]",
    ),
    Mutation(
        "a team that helps uses the shared memory of one of the kernel's own",
        f"{FOLDING}/helping.py",
        '"add.u32", (own.team, number, _plain(view.teams))',
        '"add.u32", (own.team, number, _plain(0))',
        f"{HELPING}::test_teams_give_up_the_registers_that_the_other_kernel_does_not_have",
    ),
    Mutation(
        "a team that helps keeps its registers",
        f"{FOLDING}/helping.py",
        'return (Instruction("setmaxnreg.dec.sync.aligned.u32", (_plain(plan.registers[helped]),)),)',
        "return ()",
        f"{HELPING}::test_teams_give_up_the_registers_that_the_other_kernel_does_not_have",
    ),
    Mutation(
        "teams that have no CTA left end",
        f"{FOLDING}/helping.py",
        "return {**blocks, left: replace(blocks[left], end=Jump(joined))}",
        "return blocks",
        f"{HELPING}::test_what_is_left_is_shared_by_all_teams",
    ),
    Mutation(
        "the kernel with fewer registers helps",
        f"{WEAVING}/shapes/folded.py",
        "plan.registers[1] > plan.registers[0]",
        "plan.registers[1] < plan.registers[0]",
        f"{HELPING}::test_teams_give_up_the_registers_that_the_other_kernel_does_not_have",
    ),
)
