"""Rules of what saves instructions of single kernels, each to be broken; see run.py."""

from mutations.mutations import Mutation

GUARDS = "goptx/weaving/simplify/quotient_guards.py"
DIVISORS = "goptx/weaving/simplify/constant_divisors.py"
SINK = "goptx/weaving/simplify/sink.py"
PROOF = "goptx/proof/quotients.py"
TESTS = "tests/weaving/test_simplify.py"
ATTACKS = "tests/proof/test_quotients.py"

OF_SIMPLIFYING = (
    Mutation(
        "`>` of a quotient begins at the same limit as `>=`",
        GUARDS,
        "_whole(0 if strict else 1)))",
        "_whole(1)))",
        f"{TESTS}::test_comparisons[first-gt-s32]",
    ),
    Mutation(
        "a divisor is taken to be positive",
        GUARDS,
        'yield Instruction("or.b32", (factor, positive, _whole(1)))',
        'yield Instruction("mov.u32", (factor, _whole(-1)))',
        f"{TESTS}::test_comparisons[first-ge-s32]",
    ),
    Mutation(
        "a multiplied quotient is compared without rounding up",
        GUARDS,
        'if relation in ("ge", "lt"):\n            least',
        "if False:\n            least",
        f"{TESTS}::test_multiplied_quotients[shift-shift-ge]",
    ),
    Mutation(
        "a multiplied quotient may overflow",
        GUARDS,
        "return by is not None and scale < by < 32",
        "return by is not None and scale <= by < 32",
        f"{TESTS}::test_other_comparisons_stay[least]",
    ),
    Mutation(
        "what a division reads may change before the comparison",
        GUARDS,
        "        if registers & written(code):\n            return False\n",
        "",
        f"{TESTS}::test_other_comparisons_stay[top]",
    ),
    Mutation(
        "negative numbers are rounded down",
        DIVISORS,
        'Instruction(f"add.s{bits}", (raised, top, more))',
        'Instruction(f"mov.b{bits}", (raised, top))',
        f"{TESTS}::test_divisions_by_powers_of_two[8-div-s32]",
    ),
    Mutation(
        "what is moved after the end of a block may have effects",
        SINK,
        "if not isinstance(code, Instruction) or code.guard or not is_pure(code):",
        "if not isinstance(code, Instruction):",
        f"{TESTS}::test_only_what_can_wait_is_moved_after_an_early_end[store]",
    ),
    Mutation(
        "what is moved may read what changes",
        SINK,
        "sets(code) & (results | sources):",
        "sets(code) & results:",
        f"{TESTS}::test_only_what_can_wait_is_moved_after_an_early_end[source]",
    ),
    Mutation(
        "the checker takes the sign from any number",
        PROOF,
        'return inverse.parts[0] if sign.head == "shr.s32" and sign.parts[1] == terms.make("31") else None',
        "return inverse.parts[0] if sign.parts else None",
        f"{ATTACKS}::test_wrong_signed_products[logical]",
    ),
    Mutation(
        "the checker does not look whether a multiplied quotient fits",
        PROOF,
        "return (term.parts[0], k) if k < j < 32 else None",
        "return (term.parts[0], k)",
        f"{ATTACKS}::test_multiplied_quotients",
    ),
    Mutation(
        "the checker takes any addend in a comparison with `>`",
        PROOF,
        'if bound.head == "add.u64" and _widened(terms, bound.parts[1]) != bottom:',
        "if False:",
        f"{ATTACKS}::test_wrong_unsigned_products[addend]",
    ),
)
