"""Values as terms: equal terms have equal numbers, so two instructions that compute one thing are found out by number.

A predicate is a formula, whose variables are the numbers of the terms that are compared. A term is opaque where nothing
is known of its value but which instruction made it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

from goptx.proof.floating_forms import MOVES, QUOTIENTS, is_constant, reciprocal, takes_moved
from goptx.proof.formulas import FALSE, TRUE, Formulas

NO_FORMULA = -1


@dataclass(frozen=True, slots=True)
class Term:
    """`formula` is the condition of a choice between two terms, or a predicate among the operands."""

    head: str
    parts: tuple[int, ...] = ()
    formula: int = NO_FORMULA


class Numbers(Protocol):
    """Normal forms of what instructions compute from terms, None for what has none."""

    def value(self, opcode: str, *operands: int) -> int | None: ...

    def comparison(self, opcode: str, first: int, second: int) -> int | None: ...


class Terms:
    """A store of terms, with the formulas over them. `numbers` knows more of some of them."""

    def __init__(self) -> None:
        self.formulas = Formulas()
        self.numbers: Numbers | None = None
        self.presumed: dict[str, None] = {}  # what normal forms rest on, once it has counted
        self._terms: list[Term] = []
        self._numbers: dict[Term, int] = {}
        self._chooses: list[bool] = []  # whether a term has a choice in it
        self._moved: dict[int, int] = {}  # floating-point constants that were moved to a register, to what they are
        self._resolved: dict[int, dict[int, int]] = {}
        self._unders: dict[tuple[int, int], int] = {}
        self._made_in: dict[int, int] = {}  # of opaque terms, the block of the fused kernel that made them
        self._blocks: dict[int, frozenset[int]] = {}
        self._atoms: dict[int, frozenset[int]] = {}

    def __getitem__(self, number: int) -> Term:
        return self._terms[number]

    def make(self, head: str, *parts: int, formula: int = NO_FORMULA) -> int:
        term = Term(head, parts, formula)
        if term not in self._numbers:
            if (normal := self._normal(head, parts)) is not None:
                return normal
            self._numbers[term] = len(self._terms)
            self._terms.append(term)
            if head in MOVES and is_constant(self._terms[parts[0]].head):
                self._moved[self._numbers[term]] = parts[0]
            inside = formula not in (NO_FORMULA, FALSE, TRUE)
            self._chooses.append(inside or any(self._chooses[p] for p in parts))
        return self._numbers[term]

    def _normal(self, head: str, parts: tuple[int, ...]) -> int | None:
        """The normal form of a term of floating-point numbers (floating_forms.py); None if it is one."""
        if any(p in self._moved and takes_moved(head, self._terms[p].head) for p in parts):
            inside = (self._moved.get(p, p) if takes_moved(head, self._terms[p].head) else p for p in parts)
            return self.make(head, *inside)
        if head in QUOTIENTS and (opcode := reciprocal(head, self._terms[parts[0]].head)):
            return self.make(opcode, *parts[1:])
        return None

    def atom(self, head: str, *parts: int, formula: int = NO_FORMULA) -> int:
        """The formula that a term holds, such as a comparison."""
        return self.formulas.variable(self.make(head, *parts, formula=formula))

    def opaque(self, head: str, block: int, formula: int = NO_FORMULA) -> int:
        """A value of which nothing is known but the block that made it."""
        number = self.make(head, formula=formula)
        self._made_in[number] = block
        return number

    def blocks(self, number: int) -> frozenset[int]:
        """The blocks that made the opaque terms in a term."""
        if number not in self._blocks:
            own = {self._made_in[number]} if number in self._made_in else set()
            self._blocks[number] = self._gathered(number, self.blocks).union(own)
        return self._blocks[number]

    def atoms(self, number: int) -> frozenset[int]:
        """The variables of the formulas in a term."""
        if number not in self._atoms:
            formula = self._terms[number].formula
            own = self.formulas.support(formula) if formula != NO_FORMULA else frozenset()
            self._atoms[number] = self._gathered(number, self.atoms) | own
        return self._atoms[number]

    def _gathered(self, number: int, of: Callable[[int], frozenset[int]]) -> frozenset[int]:
        term = self._terms[number]
        inside = self.formulas.support(term.formula) if term.formula != NO_FORMULA else ()
        return frozenset().union(*(of(p) for p in (*term.parts, *inside)))

    def blocks_of_formula(self, formula: int) -> frozenset[int]:
        """The blocks that made the opaque terms in a formula."""
        return frozenset().union(*(self.blocks(v) for v in self.formulas.support(formula)))

    def choice(self, test: int, then: int, other: int) -> int:
        if test == TRUE or then == other:
            return then
        return other if test == FALSE else self.make("choice", then, other, formula=test)

    def resolved(self, number: int, given: int) -> int:
        """The term where the formula `given` holds: choices that it decides are made."""
        if given == TRUE or not self._chooses[number]:
            return number
        done = self._resolved.setdefault(given, {})
        stack = [number]
        while stack:
            top = stack[-1]
            if top in done:
                stack.pop()
                continue
            term = self._terms[top]
            test = term.formula
            if test != NO_FORMULA:
                test = self.formula_under(test, given)
            wanted = term.parts
            if term.head == "choice" and test in (FALSE, TRUE):
                wanted = term.parts[:1] if test == TRUE else term.parts[1:]
            missing = [p for p in wanted if self._chooses[p] and p not in done]
            if missing:
                stack += missing
                continue
            parts = [done.get(p, p) for p in wanted]
            if term.head == "choice":
                done[top] = parts[0] if len(parts) == 1 else self.choice(test, *parts)
            else:
                found = self.numbers.value(term.head, *parts) if self.numbers and (*parts,) != term.parts else None
                done[top] = self.make(term.head, *parts, formula=test) if found is None else found
            stack.pop()
        return done[number]

    def _comparison_under(self, variable: int, given: int) -> int:
        """The formula that a variable is where `given` holds."""
        known = self.formulas.under(self.formulas.variable(variable), given)
        instead = self.resolved(variable, given) if known is None else variable
        term = self._terms[instead]
        if self.numbers and instead != variable and term.head.startswith("setp."):
            known = self.numbers.comparison(term.head, *term.parts)
        return self.formulas.variable(instead) if known is None else known

    def formula_under(self, formula: int, given: int) -> int:
        """The formula where `given` holds: a constant if that decides it, with its comparisons resolved."""
        if formula in (FALSE, TRUE) or given == TRUE:
            return formula
        key = formula, given
        if key not in self._unders:
            self._unders[key] = self._formula_under(formula, given)
        return self._unders[key]

    def _formula_under(self, formula: int, given: int) -> int:
        decided = self.formulas.under(formula, given)
        if decided is not None:
            return decided
        by = {v: self._comparison_under(v, given) for v in self.formulas.support(formula) if self._chooses[v]}
        if not by:
            return formula
        found = self.formulas.replaced(formula, by)
        decided = self.formulas.under(found, given)
        return found if decided is None else decided

    def outcomes(self, number: int, given: int, most: int = 64) -> Iterator[tuple[int, int]]:
        """The term in each of the cases that its choices distinguish, with the formula of the case."""
        waiting = [given]
        while waiting:
            given = waiting.pop()
            found = self.resolved(number, given)
            test = self.undecided(found) if most else None
            parts = [] if test is None else self.formulas.halves(given, test)
            if len(parts) < 2:
                yield found, given
            else:
                waiting += parts
                most -= 1

    def are_equal(self, first: int, second: int, given: int, splits: int = 64) -> bool:
        """Whether two terms have one value wherever the formula holds, as far as `splits` cases show it."""
        waiting = [given]
        while waiting and splits:
            splits -= 1
            given = waiting.pop()
            a, b = self.resolved(first, given), self.resolved(second, given)
            if a == b:
                continue
            test = next((t for t in map(self.undecided, (b, a)) if t is not None), None)
            parts = [] if test is None else self.formulas.halves(given, test)
            if len(parts) < 2:
                return False
            waiting += parts
        return not waiting

    def truths_are_equal(self, first: int, second: int, given: int) -> bool:
        """Whether two formulas have one value wherever `given` holds."""
        a, b = self.formula_under(first, given), self.formula_under(second, given)
        return a == b or self.formulas.both(given, self.formulas.negation(self.formulas.same(a, b))) == FALSE

    def undecided(self, number: int) -> int | None:
        """The condition of a choice inside the term, if there is one."""
        stack, seen = [number], set[int]()
        while stack:
            top = stack.pop()
            if top in seen or not self._chooses[top]:
                continue
            seen.add(top)
            term = self._terms[top]
            if term.head == "choice":
                return term.formula
            if term.formula not in (NO_FORMULA, FALSE, TRUE):
                for variable in self.formulas.support(term.formula):
                    found = self.undecided(variable)
                    if found is not None:
                        return found
                return term.formula
            stack += term.parts
        return None
