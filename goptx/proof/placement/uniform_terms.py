"""Which terms have one value for all threads of a warp, wherever these are: what comes from launch shapes, parameters,
the CTA's number, and the warp's number in it.

Unlike the analysis of the text (sync/varying.py), this knows numbers: a comparison of the thread's number with a
multiple of 32 is one for the whole warp.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from goptx.proof.code.kernel_code import OfWarp, Program
from goptx.proof.formulas import FALSE, TRUE
from goptx.proof.placement.placement import Placements
from goptx.proof.placement.sizes import LaunchSizes
from goptx.proof.polynomials import less
from goptx.proof.sync.varying import is_same_everywhere
from goptx.proof.terms import Terms
from goptx.ptx.opcodes import facts_of


@dataclass(frozen=True, slots=True)
class UniformTerms:
    """Asks for terms and formulas; `known` has what was found out."""

    terms: Terms
    placements: Placements
    known: dict[int, bool] = field(default_factory=dict)

    def formula(self, formula: int) -> bool:
        """Whether a formula holds for all threads of a warp or for none."""
        return all(map(self._variable, self.terms.formulas.support(formula)))

    def term(self, number: int) -> bool:
        """Whether a term has one value for all threads of a warp."""
        if number not in self.known:
            self.known[number] = self._form(number) or self._term(number)
        return self.known[number]

    def _form(self, number: int) -> bool:
        sizes = self.placements.sizes
        form = sizes.integers.known(number) if sizes else None
        return sizes is not None and form is not None and sizes.is_of_warp(form)

    def _variable(self, variable: int) -> bool:
        sizes, made = self.placements.sizes, self.terms[variable]
        if sizes and variable in sizes.integers.comparisons:
            return sizes.is_uniform(sizes.integers.comparisons[variable])
        if sizes and made.head.startswith("setp.") and len(made.parts) == 2:
            forms = sizes.integers.deciding(made.head, *made.parts)
            if forms is not None and all(map(sizes.is_uniform, forms)):
                return True
        return self.term(variable)

    def _term(self, number: int) -> bool:
        """Whether it is computed from such terms."""
        made = self.terms[number]
        if made.formula not in (FALSE, TRUE) and made.formula >= 0 and not self.formula(made.formula):
            return False
        if made.head in ("choice", "predicate"):
            return self._all(made.parts)
        if not made.parts:
            return is_same_everywhere(made.head) or made.head.removeprefix("-")[:1].isdigit()
        if made.head.startswith("ld.param."):  # by name
            return True
        facts = facts_of(made.head)
        return facts.known and not (facts.row.access or facts.row.scope or facts.row.ends) and self._all(made.parts)

    def _all(self, numbers: Iterable[int]) -> bool:
        return all(map(self.term, numbers))


def note_warp_numbers(
    program: Program, terms: Terms, placements: Placements, computed: Mapping[int, Sequence[int]]
) -> None:
    """Notes the steps that only compute whose values are one for a warp, or the lane's number and a multiple of 32;
    `computed` has the values."""
    known = UniformTerms(terms, placements)
    for number, values in computed.items():
        pairs = [*zip(program.steps[number].writes, values, strict=False)]
        if all(known.formula(v) if program.is_predicate(w) else known.term(v) for w, v in pairs):
            program.of_warp.uniform.add(number)
        if placements.sizes and len(pairs) == 1 and not program.is_predicate(pairs[0][0]):
            _note_form(program.of_warp, number, placements.sizes, pairs[0][1])


def _note_form(found: OfWarp, number: int, sizes: LaunchSizes, value: int) -> None:
    form = sizes.integers.known(value)
    if form is None:
        return
    if sizes.counts_warps(form):
        found.multiples.add(number)
    if sizes.counts_warps(less(form, sizes.integers.form(sizes.thread))):
        found.lanes.add(number)
