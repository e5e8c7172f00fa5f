"""The one identity between terms of floating-point operations: 1 / x is the reciprocal of x.

`div.rn.f32 d, 1.0, x` and `rcp.rn.f32 d, x` give the same bits for every x, and so do both with `.ftz`. By the PTX
manual both are rounded to the nearest even number as IEEE 754 demands, so a number is the rounded quotient 1 / x in both
cases, infinities and zeros with the sign of x. NaNs of `.f32` are canonical (0x7fffffff). With `.ftz`, subnormal operands
are zeros of their sign and so are subnormal results; that does not depend on whether these are found before or after
they are rounded: no quotient 1 / x lies so close below 2^-126 that it is rounded to it (the next one is 2^-126 (1 - 2^-23),
which is a subnormal number itself).

Of 64 bits the manual leaves open what NaNs carry, so no such identity is used.
"""

from __future__ import annotations

QUOTIENTS = {  # opcodes of quotients, and of the reciprocals
    "div.rn.f32": "rcp.rn.f32",
    "div.rn.ftz.f32": "rcp.rn.ftz.f32",
}
_ONE = frozenset(("0f3F800000", "0f3f800000", "0F3F800000", "0F3f800000"))


def reciprocal(opcode: str, dividend: str) -> str | None:
    """The opcode of the reciprocal that is equal to a quotient with this dividend; None if there is none."""
    return QUOTIENTS.get(opcode) if dividend in _ONE else None
