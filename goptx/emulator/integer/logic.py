"""Logic on bits and predicates: `and`, `or`, `xor`, `not`, `cnot`, `lop3`.

Requires: the contract of `Lanewise`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

import numpy as np

from goptx.emulator.instructions.lanewise import DTYPES, Array, Lanewise

# The functions of two bits by their truth tables: bit 2b + c of the index is f(b, c). Each makes a new array.
_OF_TWO: tuple[Callable[[Array, Array], Array], ...] = (
    lambda b, c: b ^ b,
    lambda b, c: ~(b | c),
    lambda b, c: ~b & c,
    lambda b, c: ~b,
    lambda b, c: b & ~c,
    lambda b, c: ~c,
    lambda b, c: b ^ c,
    lambda b, c: ~(b & c),
    lambda b, c: b & c,
    lambda b, c: ~(b ^ c),
    lambda b, c: +c,
    lambda b, c: ~b | c,
    lambda b, c: +b,
    lambda b, c: b | ~c,
    lambda b, c: b | c,
    lambda b, c: b | ~b,
)


@lru_cache(maxsize=256)
def _of_three(table: int) -> Callable[[Array, Array, Array], Array]:
    """The function with the given truth table: bit 4a + 2b + c of it is f(a, b, c)."""
    low, high = table & 15, table >> 4  # the tables of f(0, b, c) and of f(1, b, c)
    unset, set_, change = _OF_TWO[low], _OF_TWO[high], _OF_TWO[low ^ high]
    if low == high:
        return lambda a, b, c: unset(b, c)
    if low == 0:
        return lambda a, b, c: a & set_(b, c)
    if high == 15:
        return lambda a, b, c: a | unset(b, c)
    if low ^ high == 15:
        return lambda a, b, c: a ^ unset(b, c)
    return lambda a, b, c: unset(b, c) ^ (a & change(b, c))


def _lop3(a: Array, b: Array, c: Array, table: Array) -> Array:
    return _of_three(int(table) & 255)(a, b, c)


def _lop3_test(combine: Any) -> Callable[[Array, Array, Array, Array, Array], tuple[Array, Array]]:
    def apply(a: Array, b: Array, c: Array, table: Array, q: Array) -> tuple[Array, Array]:
        result = _lop3(a, b, c, table)
        return result, combine(result != 0, q)

    return apply


def _cnot(t: str) -> Callable[[Array], Array]:
    dtype = DTYPES[t]
    return lambda a: (a == 0).astype(dtype)


def _logic() -> Iterator[tuple[str, Lanewise]]:
    operations = (("and", np.bitwise_and), ("or", np.bitwise_or), ("xor", np.bitwise_xor))
    for t in ("pred", "b16", "b32", "b64"):
        for name, operation in operations:
            yield f"{name}.{t}", Lanewise((t, t), (t,), operation)
        yield f"not.{t}", Lanewise((t,), (t,), np.invert)
    for t in ("b16", "b32", "b64"):
        yield f"cnot.{t}", Lanewise((t,), (t,), _cnot(t))
    sources = ("b32", "b32", "b32", "b32")
    yield "lop3.b32", Lanewise(sources, ("b32",), _lop3)
    for name, operation in operations[:2]:
        yield f"lop3.{name}.b32", Lanewise((*sources, "pred"), ("b32", "pred"), _lop3_test(operation))


LOGIC: dict[str, Lanewise] = dict(_logic())
