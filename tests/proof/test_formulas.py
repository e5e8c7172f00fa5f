"""Formulas are compared by their numbers: each operation is held against truth tables."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from itertools import product
from pathlib import Path

import pytest

import goptx
from goptx.proof import formulas
from goptx.proof.formulas import FALSE, TRUE, Formulas

KERNELS = Path(__file__).parents[2] / "examples" / "kernels"
VARIABLES = range(4)
Truth = Callable[[Mapping[int, bool]], bool]


def drawn(store: Formulas, rng: random.Random, depth: int) -> tuple[int, Truth]:
    """A random formula, and the same as a function of its variables."""
    if not depth:
        variable = rng.choice(VARIABLES)
        return store.variable(variable), lambda at: at[variable]
    (test, t), (then, a), (other, b) = (drawn(store, rng, depth - 1) for _ in range(3))
    match rng.randrange(5):
        case 0:
            return store.ite(test, then, other), lambda at: a(at) if t(at) else b(at)
        case 1:
            return store.both(test, then), lambda at: t(at) and a(at)
        case 2:
            return store.either(test, then), lambda at: t(at) or a(at)
        case 3:
            return store.same(test, then), lambda at: t(at) == a(at)
    return store.negation(test), lambda at: not t(at)


def values(truth: Truth) -> tuple[bool, ...]:
    return tuple(truth(dict(enumerate(bits))) for bits in product((False, True), repeat=len(VARIABLES)))


def test_equal_formulas_are_equal_numbers() -> None:
    store, rng = Formulas(), random.Random(1)
    found: dict[tuple[bool, ...], int] = {}
    for _ in range(500):
        formula, truth = drawn(store, rng, rng.randrange(4))
        assert found.setdefault(values(truth), formula) == formula
    assert len(set(found.values())) == len(found) > 50
    assert found[(False,) * 16] == FALSE and found[(True,) * 16] == TRUE


def test_quantifying_and_replacing() -> None:
    store, rng = Formulas(), random.Random(2)
    for _ in range(200):
        formula, truth = drawn(store, rng, 3)
        for variable in VARIABLES:
            low, high = (store.replaced(formula, {variable: value}) for value in (FALSE, TRUE))
            assert store.without(formula, {variable}) == store.either(low, high)
            assert (low == high) == (variable not in store.support(formula))
            assert store.replaced(formula, {variable: store.variable(variable)}) == formula
        other, also = drawn(store, rng, 2)
        implied = all(b for a, b in zip(values(truth), values(also), strict=True) if a)
        never = not any(b for a, b in zip(values(truth), values(also), strict=True) if a)
        assert store.under(other, formula) == (TRUE if implied else FALSE if never else None)


def test_too_many_formulas_end_the_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formulas, "MOST_NODES", 20)
    made = goptx.prove(goptx.weave(KERNELS / "harris.sm_90.ptx", KERNELS / "sort.sm_90.ptx"))
    assert [gap.rule for gap in made.gaps] == ["projection"]
    assert "the conditions of this kernel are too many to follow" in str(made)
