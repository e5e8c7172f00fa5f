"""Rules of branches whose sides are one, and of their proof, as mutations.py has them."""

from __future__ import annotations

from mutations.mutations import Mutation

SIMPLIFY = "goptx/weaving/simplify"
BITS = "tests/weaving/test_meld.py::test_the_files_of_the_pass_compute_the_same_bits"
GOLDENS = "tests/passes/test_passes.py::test_pass"
PROOF = "tests/proof/test_melded.py"

OF_MELDING = (
    Mutation(
        "the operand of the other side is chosen",
        f"{SIMPLIFY}/melded_code.py",
        "first, second = (other, one) if self.guard.negated else (one, other)",
        "first, second = one, other",
        f"{BITS}[reciprocals]",
    ),
    Mutation(
        "a predicate is chosen by one of the sides only",
        f"{SIMPLIFY}/melded_code.py",
        'self._add("or.pred", Name(result), Name(taken), Name(either))',
        'self._add("mov.pred", Name(result), Name(taken))',
        f"{BITS}[predicates]",
    ),
    Mutation(
        "a register is overwritten that is read below",
        f"{SIMPLIFY}/melded_code.py",
        "if made is None or any(register in read(i) for i in self.code[made + 1 :]):",
        "if made is None:",
        f"{BITS}[predicates]",
    ),
    Mutation(
        "constants that are written alike are one choice, whatever their width",
        f"{SIMPLIFY}/melded_code.py",
        "        kind = self.sides.kind(both)\n        if (",
        '        kind = self.sides.kind(both)\n        kind = kind if kind == "pred" else "u32"\n        if (',
        f"{BITS}[widths]",
    ),
    Mutation(
        "operations are one whose operands cannot be chosen",
        f"{SIMPLIFY}/align_sides.py",
        "return (one, other) if one.form == other.form else None",
        "return (one, other) if len(one.sources) == len(other.sources) else None",
        f"{BITS}[different_lengths]",
    ),
    Mutation(
        "values of two sides are one though their operations are not",
        f"{SIMPLIFY}/align_sides.py",
        "return (i, j) in pairs and part == other",
        "return part == other",
        f"{BITS}[different_lengths]",
    ),
    Mutation(
        "sides are melded that do more than to compute",
        f"{SIMPLIFY}/branch_sides.py",
        "if instruction.guard or not instruction.operands or not facts_of(instruction.opcode).only_computes:",
        "if instruction.guard or not instruction.operands:",
        f"{GOLDENS}[meld/lanes_in_a_side]",
    ),
    Mutation(
        "branches that warps take together are melded",
        f"{SIMPLIFY}/meld.py",
        "branches[name] > Uniformity.WARP",
        "branches[name] >= Uniformity.CTA",
        f"{GOLDENS}[meld/uniform_branch]",
    ),
    Mutation(
        "a warp that takes one side may be slower by any amount",
        f"{SIMPLIFY}/meld.py",
        "most = min(OF_BOTH * (sum(costs) + BRANCH), OF_LONGER * (max(costs) + BRANCH))",
        "most = OF_BOTH * (sum(costs) + BRANCH)",
        f"{GOLDENS}[meld/two_expensive_sides]",
    ),
    Mutation(
        "products that are read after a branch become one",
        f"{SIMPLIFY}/align_sides.py",
        "return any((Own(i, part), Own(j, part)) in ends for part in parts)",
        "return False",
        f"{GOLDENS}[meld/product_after_the_branch]",
    ),
    Mutation(
        "a sum reads a product that something else reads now",
        f"{SIMPLIFY}/align_sides.py",
        "return is_summed and not len(alike) == len(readers[0]) == len(readers[1])",
        "return False",
        f"{GOLDENS}[meld/contraction]",
    ),
    Mutation(
        "every quotient is a reciprocal to the checker",
        "goptx/proof/floating_forms.py",
        "return QUOTIENTS.get(opcode) if dividend in _ONE else None",
        "return QUOTIENTS.get(opcode)",
        f"{PROOF}::test_other_quotients_are_not[div.rn.f32-0fBF800000-rcp.rn.f32]",
    ),
    Mutation(
        "a constant has any type to the checker",
        "goptx/proof/floating_forms.py",
        'return facts_of(opcode).number_type == move.removeprefix("mov.")',
        "return True",
        f"{PROOF}::test_a_constant_has_the_type_of_the_operation[add.rn.f64-mov.f32-False]",
    ),
)
