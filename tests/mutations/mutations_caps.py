"""Rules of register caps and of the order of interleaved kernels, how each is broken, and the test that notices."""

from mutations.mutations import Mutation

CAPS, COST = "tests/strategies/test_caps_of_interleaved.py", "tests/strategies/test_cost.py"
ESTIMATE, GAIN = "goptx/cost/estimate.py", "goptx/strategies/estimates/estimated_gain.py"
LAUNCHES = "goptx/strategies/estimates/launches.py"
ROOM = f"{CAPS}::test_a_cap_leaves_room_for_the_ctas_of_the_other"
AMONG = "tests/strategies/test_among_each_other.py"
STEPS = f"{COST}::test_more_ctas_of_any_kernel_are_worth_a_cap"
WAITING = f"{CAPS}::test_kernels_that_wait_for_memory_spill_nothing"

OF_CAPS = (
    Mutation(
        "interleaved kernels that need few registers each have no cap",
        LAUNCHES,
        "return [FULL, None]",
        "return [None]",
        f"{CAPS}::test_kernels_keep_the_registers_that_each_has_alone",
    ),
    Mutation(
        "no cap is preferred to an equal one",
        LAUNCHES,
        "[FULL, None]",
        "[None, FULL]",
        f"{CAPS}::test_kernels_keep_the_registers_that_each_has_alone",
    ),
    Mutation(
        "all kernels spill as those that need most",
        LAUNCHES,
        "self._needed(kernel).spilled(cap - ASIDE)",
        "self._all.needed.value.spilled(cap - ASIDE)",
        ROOM,
    ),
    Mutation(
        "coarsened kernels are capped",
        LAUNCHES,
        "if max(self.factors) > 1:",
        "if False:",
        f"{CAPS}::test_what_is_not_foreseen_has_no_cap",
    ),
    Mutation(
        "half of what is live may be spilled",
        LAUNCHES,
        "MOST_SPILLED * own.live for own in each",
        "own.live for own in each",
        f"{CAPS}::test_at_most_a_third_of_what_is_live_is_spilled",
    ),
    Mutation(
        "kernels with wgmma spill as others do",
        LAUNCHES,
        "0 if own.sums else MOST_SPILLED",
        "MOST_SPILLED",
        f"{CAPS}::test_kernels_with_wgmma_spill_nothing",
    ),
    Mutation(
        "what spills moves no memory",
        ESTIMATE,
        '(*SPILL.items(), ("memory", moved))',
        "SPILL.items()",
        f"{COST}::test_a_register_that_spills_is_moved_in_every_pass",
    ),
    Mutation(
        "only CTAs of the first kernel count",
        ESTIMATE,
        "for own in threads]",
        "for own in threads[:1]]",
        STEPS,
    ),
    Mutation(
        "kernels that may have the registers of a full SM are capped",
        ESTIMATE,
        "if pressure.registers >= STEP else ()",
        "",
        STEPS,
    ),
    Mutation(
        "what several CTAs share never takes more than estimated",
        "goptx/cost/register_estimate.py",
        "if several and NEARLY <= self.registers <= FULL:",
        "if False:",
        f"{COST}::test_what_several_ctas_share_may_take_more_registers_than_an_sm_is_full_with",
    ),
    Mutation(
        "kernels of which little is known spill",
        GAIN,
        "and not judge.is_known):",
        "and False):",
        f"{CAPS}::test_kernels_of_which_little_is_known_spill_nothing",
    ),
    Mutation(
        "CTAs of few are spread over the whole grid",
        "goptx/weaving/shapes/interleaved.py",
        "Fraction(EARLY * ctas",
        "Fraction(1.0 * ctas",
        f"{AMONG}::test_ctas_of_few_are_among_the_first[0-ctas0]",
    ),
    Mutation(
        "what runs beside each other is estimated as what runs in turn",
        GAIN,
        "candidate = candidate.having(ratio=woven.plan.ratio)",
        "pass",
        f"{AMONG}::test_a_given_order_is_estimated",
    ),
    Mutation(
        "what is woven is compared with kernels that come in turn only",
        GAIN,
        "for form in (plain, judge.among_each_other(plain)) if form",
        "for form in (plain,)",
        f"{AMONG}::test_what_is_woven_is_compared_with_few_ctas_among_others",
    ),
    Mutation(
        "few CTAs that are long come among others",
        GAIN,
        "if expected > comparison.middle.cycles * AMONG:",
        "if False:",
        f"{AMONG}::test_few_long_ctas_come_first",
    ),
    Mutation(
        "coarsened kernels run beside each other",
        "goptx/strategies/estimates/judge.py",
        "not self.is_known or not candidate.default",
        "not self.is_known",
        f"{AMONG}::test_what_is_not_known_stays_in_turn",
    ),
    Mutation(
        "the last CTA of few has no time of its own",
        LAUNCHES,
        "max(cycles, begun * cycles + lasting(",
        "max(cycles, 0.0 * lasting(",
        f"{AMONG}::test_ctas_that_last_long_come_first",
    ),
    Mutation(
        "auto lets kernels run beside each other for little",
        "goptx/strategies/estimates/prospects.py",
        "return BESIDE if",
        "return 1.0 if",
        f"{AMONG}::test_auto_lets_kernels_run_beside_each_other_only_for_much",
    ),
)
