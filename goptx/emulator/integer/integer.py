"""Arithmetic on integers, and `integer(opcode)`, which finds every instruction on integers, bits and predicates.

Requires: the contract of `Lanewise`. Operands and constants are first brought to one dtype, since numpy 1 and numpy 2
widen by different rules. On overflow integers wrap around in both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from goptx.emulator.instructions.lanewise import DTYPES, Array, Lanewise
from goptx.emulator.integer.bit_fields import BITS
from goptx.emulator.integer.carry import CARRY
from goptx.emulator.integer.comparison import COMPARISONS
from goptx.emulator.integer.logic import LOGIC
from goptx.emulator.integer.shift import SHIFTS
from goptx.emulator.integer.video import video
from goptx.emulator.matrices.matrix_product import INTEGERS, PRODUCTS, saturate
from goptx.ptx.opcodes import TYPES

Binary = Callable[[Array, Array], Array]


def integer(opcode: str) -> Lanewise | None:
    """The function of `opcode`, for example `mad.lo.s32`; None unless PTX has it, in this spelling, for these types.

    Types may come before other modifiers, as in `prmt.b32.f4e` and `min.s16x2.relu`.
    """
    return INSTRUCTIONS.get(".".join(sorted(opcode.split("."), key=TYPES.__contains__))) or video(opcode)


def _saturated(operation: Binary) -> Binary:
    return lambda a, b: saturate(operation(a.astype(np.int64), b.astype(np.int64)))


def _relu(operation: Binary, t: str) -> Binary:
    zero = DTYPES[t].type(0)
    return lambda a, b: np.maximum(operation(a, b), zero)


def _halves(operation: Binary, t: str) -> Binary:
    """`operation` on two values of the 16-bit type `t`, applied to both halves of 32-bit registers."""
    half = DTYPES[t]
    return lambda a, b: operation(a[..., None].view(half), b[..., None].view(half)).view(np.uint32)[..., 0]


def _divided(operation: Binary, t: str) -> Binary:
    """Quotient (`np.floor_divide`) or remainder (`np.remainder`), rounded towards zero, unlike numpy's.

    The ISA does not specify the result of division by zero; code emitted by ptxas gives all ones for both.
    """
    dtype, unsigned = DTYPES[t], DTYPES[f"u{t[1:]}"]
    ones = ~dtype.type(0)
    if dtype == unsigned:
        return lambda a, b: np.where(b == 0, ones, operation(a, b))
    sign_bit = dtype.type(8 * dtype.itemsize - 1)

    def divide(a: Array, b: Array) -> Array:
        magnitude = operation(np.abs(a).view(unsigned), np.abs(b).view(unsigned)).view(dtype)
        sign = (a if operation is np.remainder else a ^ b) >> sign_bit  # 0 or all ones
        signed: Array = (magnitude ^ sign) - sign
        return np.where(b == 0, ones, signed)

    return divide


_SUMS: dict[str, Any] = {"add": np.add, "sub": np.subtract}
_EXTREMES: dict[str, Any] = {"min": np.minimum, "max": np.maximum}
_DIVISIONS: dict[str, Any] = {"div": np.floor_divide, "rem": np.remainder}


def _arithmetic() -> Iterator[tuple[str, Lanewise]]:
    for t in INTEGERS:
        for name, operation in (_SUMS | _EXTREMES).items():
            yield f"{name}.{t}", Lanewise((t, t), (t,), operation)
        for name, operation in _DIVISIONS.items():
            yield f"{name}.{t}", Lanewise((t, t), (t,), _divided(operation, t))
        yield f"sad.{t}", Lanewise((t, t, t), (t,), lambda a, b, c: np.maximum(a, b) - np.minimum(a, b) + c)
    for t in ("s16", "s32", "s64"):
        yield f"abs.{t}", Lanewise((t,), (t,), np.abs)
        yield f"neg.{t}", Lanewise((t,), (t,), np.negative)
    for name, operation in _SUMS.items():
        yield f"{name}.sat.s32", Lanewise(("s32", "s32"), ("s32",), _saturated(operation))
    for t in ("u16", "s16"):
        for name, operation in ({"add": np.add} | _EXTREMES).items():
            yield f"{name}.{t}x2", Lanewise((f"{t}x2", f"{t}x2"), (f"{t}x2",), _halves(operation, t))
    for name, operation in _EXTREMES.items():
        yield f"{name}.relu.s32", Lanewise(("s32", "s32"), ("s32",), _relu(operation, "s32"))
        relu = _halves(_relu(operation, "s16"), "s16")
        yield f"{name}.relu.s16x2", Lanewise(("s16x2", "s16x2"), ("s16x2",), relu)


INSTRUCTIONS: dict[str, Lanewise] = dict(_arithmetic()) | PRODUCTS | CARRY | LOGIC | SHIFTS | BITS | COMPARISONS
