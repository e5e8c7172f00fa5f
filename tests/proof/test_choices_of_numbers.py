"""Numbers that are chosen among others: normal forms are looked for in few cases, and not where there are none."""

from __future__ import annotations

import pytest

from goptx.proof.formulas import TRUE
from goptx.proof.placement.integers import MOST_CHOICES, Integers
from goptx.proof.terms import Terms

SORTED = 40  # numbers, each of which is compared with the greatest so far


def chosen(terms: Terms, values: list[int]) -> int:
    """The greatest of several values."""
    (found, *rest) = values
    for value in rest:
        found = terms.choice(terms.atom("setp.gt.s32", found, value), found, value)
    return found


@pytest.mark.parametrize("kind", ["data", "numbers"])
def test_what_is_sorted_has_no_normal_form(kind: str) -> None:
    """The cases are as many as two to the power of the choices."""
    terms = Terms()
    integers = Integers(terms)
    terms.numbers = integers
    values = [terms.make(f"result {i}.0") for i in range(SORTED)]
    if kind == "numbers":
        values = [integers.atom(v, 0, 1 << 20) for v in values]
    greatest = chosen(terms, values)
    assert integers.comparison("setp.gt.s32", greatest, values[0]) is None
    assert integers.value("add.u32", greatest, values[0]) is None
    assert terms.formulas.both(TRUE, terms.atom("last")) < 1 << 16  # formulas are numbered as they are made


def test_a_few_choices_are_made() -> None:
    terms = Terms()
    integers = Integers(terms)
    values = [integers.atom(terms.make(f"%r{i}"), 0, 1 << 20) for i in range(MOST_CHOICES)]
    found = integers.value("add.u32", chosen(terms, values), integers.number(3))
    assert found is not None
    sums = {integers.value("add.u32", v, integers.number(3)) for v in values}
    assert {term for term, _ in terms.outcomes(found, TRUE, 1 << 10)} == sums
