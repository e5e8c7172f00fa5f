"""Normal forms of terms of floating-point operations. There are two rules.

*A constant has the type of the operation.* Where all numbers that an operation reads have one type, a constant among
them has that type. So it is what `mov` of that type gives for it, and the term has the constant in both cases.

*1 / x is the reciprocal of x.* `div.rn.f32 d, 1.0, x` and `rcp.rn.f32 d, x` give the same bits for every x, and so do
both with `.ftz`. By the PTX manual both are rounded to the nearest even number as IEEE 754 demands: where x is a
number, both give the rounded quotient 1 / x, an infinity or zero with the sign of x. NaNs of `.f32` are canonical
(0x7fffffff). With `.ftz`, subnormal operands count as zeros of their sign, and subnormal results become such zeros.
It does not matter whether a result is found to be subnormal before or after it is rounded: no quotient 1 / x lies so
close below 2^-126 that it is rounded to that. The next one is that of x = 2^126 (1 + 2^-23), which is rounded to
2^-126 (1 - 2^-23), a subnormal number.

Of 64 bits the manual leaves open what NaNs carry, so no such identity is used.
"""

from __future__ import annotations

from goptx.ptx.opcodes import facts_of

QUOTIENTS = {  # opcodes of quotients, and of the reciprocals
    "div.rn.f32": "rcp.rn.f32",
    "div.rn.ftz.f32": "rcp.rn.ftz.f32",
}
MOVES = ("mov.f32", "mov.f64")
_ONE = frozenset(("0f3F800000", "0f3f800000", "0F3F800000", "0F3f800000"))


def takes_moved(opcode: str, move: str) -> bool:
    """Whether an operation makes of a constant what that move makes of it."""
    return facts_of(opcode).number_type == move.removeprefix("mov.")


def is_constant(head: str) -> bool:
    """Whether a term is a floating-point constant that is written as its bits."""
    return head[:2] in ("0f", "0F", "0d", "0D")


def reciprocal(opcode: str, dividend: str) -> str | None:
    """The opcode of the reciprocal that is equal to a quotient with this dividend; None if there is none."""
    return QUOTIENTS.get(opcode) if dividend in _ONE else None
