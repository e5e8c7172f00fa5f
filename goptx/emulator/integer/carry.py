"""Integer arithmetic of extended precision: `add.cc`, `addc`, `sub.cc`, `subc`, `mad.cc` and `madc`.

Requires: the contract of `Lanewise`. The sign matters only to upper halves of products, so operands are unsigned.
Subtraction adds the complement, and its flag is set if nothing was borrowed. Along a chain of `sub.cc` and `subc` that
equals the ISA's borrow; where `addc` follows `sub.cc`, NVIDIA's hardware has the flag so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from goptx.emulator.instructions.lanewise import DTYPES, Array, Lanewise
from goptx.emulator.matrices.matrix_product import high_product

Addends = Callable[..., tuple[Array, Array]]


def _addends(t: str) -> dict[str, Addends]:
    """The two numbers that an instruction adds, without the carry; `{}` is the operand c of instructions that have
    it."""
    own, unsigned, high = DTYPES[t], DTYPES[f"u{t[1:]}"], high_product(t)
    return {
        "add{}": lambda a, b: (a, b),
        "sub{}": lambda a, b: (a, ~b),
        "mad{}.lo": lambda a, b, c: (a * b, c),
        "mad{}.hi": lambda a, b, c: (high(a.view(own), b.view(own)).view(unsigned), c),
    }


def _sum(a: Array, b: Array, carry: Any) -> tuple[Array, Array]:
    """The sum, and whether it wrapped around."""
    part = a + b
    total = part + carry
    return total, (part < a) | (total < part)


def _first(addends: Addends, carry: Any) -> Addends:
    return lambda *operands: _sum(*addends(*operands), carry)


def _middle(addends: Addends, dtype: np.dtype[Any]) -> Addends:
    return lambda *operands: _sum(*addends(*operands[:-1]), operands[-1].astype(dtype))


def _last(addends: Addends, dtype: np.dtype[Any]) -> Callable[..., Array]:
    return lambda *operands: np.add(*addends(*operands[:-1])) + operands[-1].astype(dtype)


def _carrying() -> Iterator[tuple[str, Lanewise]]:
    for t in ("u32", "s32", "u64", "s64"):
        result = f"u{t[1:]}"
        dtype = DTYPES[result]
        for name, addends in _addends(t).items():
            operands = (result,) * (3 if name.startswith("mad") else 2)
            carry = dtype.type(name.startswith("sub"))
            yield f"{name.format('')}.cc.{t}", Lanewise(operands, (result, "cc"), _first(addends, carry))
            operands = (*operands, "cc")
            yield f"{name.format('c')}.cc.{t}", Lanewise(operands, (result, "cc"), _middle(addends, dtype))
            yield f"{name.format('c')}.{t}", Lanewise(operands, (result,), _last(addends, dtype))


CARRY: dict[str, Lanewise] = dict(_carrying())
