"""Boolean formulas over numbered variables, as ordered binary decision diagrams: equal formulas are equal numbers.

After R. Bryant, "Graph-Based Algorithms for Boolean Function Manipulation" (1986). Formulas 0 and 1 are false and true.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

FALSE, TRUE = 0, 1
LAST = 1 << 60  # the variable of the constants, after all others
MOST_NODES, MOST_STEPS = 1 << 18, 1 << 21  # some seconds


class TooManyFormulas(Exception):
    """The formulas take too long: diagrams may be exponentially large."""


class Formulas:
    """A store of formulas. A formula is the number of a node: a variable, and the formulas where it is 0 and 1."""

    def __init__(self) -> None:
        self._nodes: list[tuple[int, int, int]] = [(LAST, 0, 0), (LAST, 1, 1)]
        self._numbers: dict[tuple[int, int, int], int] = {}
        self._ites: dict[tuple[int, int, int], int] = {}
        self._supports: dict[int, frozenset[int]] = {FALSE: frozenset(), TRUE: frozenset()}

    def variable(self, number: int) -> int:
        return self._node(number, FALSE, TRUE)

    def _node(self, variable: int, low: int, high: int) -> int:
        if low == high:
            return low
        key = (variable, low, high)
        if key not in self._numbers:
            if len(self._nodes) > MOST_NODES:
                raise TooManyFormulas
            self._numbers[key] = len(self._nodes)
            self._nodes.append(key)
        return self._numbers[key]

    def ite(self, test: int, then: int, other: int) -> int:
        """`then` where `test` holds, else `other`."""
        if test == TRUE or then == other:
            return then
        if test == FALSE:
            return other
        if then == TRUE and other == FALSE:
            return test
        key = (test, then, other)
        if key not in self._ites:
            a, b, c = self._nodes[test], self._nodes[then], self._nodes[other]
            top = min(a[0], b[0], c[0])
            test0, test1 = a[1:] if a[0] == top else (test, test)
            then0, then1 = b[1:] if b[0] == top else (then, then)
            other0, other1 = c[1:] if c[0] == top else (other, other)
            if len(self._ites) > MOST_STEPS:
                raise TooManyFormulas
            low = self.ite(test0, then0, other0)  # calls one by one: a deep stack of generators takes ten times as long
            self._ites[key] = self._node(top, low, self.ite(test1, then1, other1))
        return self._ites[key]

    def negation(self, formula: int) -> int:
        return self.ite(formula, FALSE, TRUE)

    def both(self, first: int, second: int) -> int:
        return self.ite(first, second, FALSE)

    def either(self, first: int, second: int) -> int:
        return self.ite(first, TRUE, second)

    def same(self, first: int, second: int) -> int:
        return self.ite(first, second, self.negation(second))

    def implies(self, first: int, second: int) -> int:
        return self.ite(first, second, TRUE)

    def under(self, formula: int, given: int) -> int | None:
        """Whether the formula is `TRUE` or `FALSE` wherever `given` holds; None where it may be either."""
        if given != FALSE and formula > TRUE and self.support(given).isdisjoint(self.support(formula)):
            return None
        if self.both(given, self.negation(formula)) == FALSE:
            return TRUE
        return FALSE if self.both(given, formula) == FALSE else None

    def halves(self, given: int, test: int) -> list[int]:
        """The formula where `test` holds and where it does not, without what is never so."""
        return [f for f in (self.both(given, test), self.both(given, self.negation(test))) if f != FALSE]

    def support(self, formula: int) -> frozenset[int]:
        """The variables that it depends on."""
        if formula not in self._supports:
            variable, low, high = self._nodes[formula]
            self._supports[formula] = self.support(low) | self.support(high) | {variable}
        return self._supports[formula]

    def without(self, formula: int, variables: Collection[int]) -> int:
        """Whether the formula holds for any values of these variables."""
        return self._mapped(
            formula,
            lambda v, low, high: self.either(low, high) if v in variables else self.ite(self.variable(v), high, low),
            {},
        )

    def replaced(self, formula: int, by: Mapping[int, int]) -> int:
        """With formulas in place of variables."""
        return self._mapped(
            formula, lambda v, low, high: self.ite(by[v] if v in by else self.variable(v), high, low), {}
        )

    def _mapped(self, formula: int, make: Callable[[int, int, int], int], done: dict[int, int]) -> int:
        if formula in (FALSE, TRUE):
            return formula
        if formula not in done:
            variable, low, high = self._nodes[formula]
            done[formula] = make(variable, self._mapped(low, make, done), self._mapped(high, make, done))
        return done[formula]
