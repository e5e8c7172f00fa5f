"""Sums of products with coefficients, which are whole numbers."""

from __future__ import annotations

Product = tuple[int, ...]  # the terms of its atoms, in order
Form = tuple[tuple[Product, int], ...]  # products with their coefficients, in order; () is the product of none


def total(*forms: Form) -> Form:
    """The sum of forms."""
    found: dict[Product, int] = {}
    for form in forms:
        for product, n in form:
            found[product] = found.get(product, 0) + n
    return tuple(sorted((p, n) for p, n in found.items() if n))


def times(first: Form, second: Form) -> Form:
    """The product of two forms."""
    return total(*(((tuple(sorted(p + q)), m * n),) for p, m in first for q, n in second))


def whole(n: int) -> Form:
    """The form of a number."""
    return (((), n),) if n else ()


def less(first: Form, second: Form) -> Form:
    """The difference of two forms."""
    return total(first, times(whole(-1), second))


def divided(product: Product, by: Product) -> Product | None:
    """The product without the atoms of another, None where it lacks one of them."""
    left = list(product)
    for atom in by:
        if atom not in left:
            return None
        left.remove(atom)
    return tuple(left)
