"""Every floating-point opcode that the emulator computes, by what the ISA promises of its result.

EXACT: to the last bit, but for the payload of NaN (and its sign). APPROXIMATE: within bounds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product

ROUNDINGS = ("rn", "rz", "rm", "rp")
COMPARISONS = "eq ne lt le gt ge equ neu ltu leu gtu geu num nan".split()
BOOLEANS = ("", "and", "or", "xor")


def spelled(*parts: str) -> tuple[str, ...]:
    """All spellings with one word of each part, where `-` is no word: `spelled("add sub", "- ftz", "f32")`."""
    return tuple(
        ".".join(word for word in words if word != "-") for words in product(*(part.split() for part in parts))
    )


def _arithmetic() -> tuple[str, ...]:
    rnd, any_rnd = "rn rz rm rp", "- rn rz rm rp"
    return (
        *spelled("add sub mul", any_rnd, "- ftz", "- sat", "f32"),
        *spelled("add sub mul", any_rnd, "f64"),
        *spelled("add sub mul", "- rn", "- ftz", "- sat", "f16 f16x2"),
        *spelled("add sub mul", "- rn", "bf16 bf16x2"),
        *spelled("fma mad", rnd, "- ftz", "- sat", "f32"),
        *spelled("fma mad", rnd, "f64"),
        *spelled("fma.rn", "- ftz", "- sat relu", "f16 f16x2"),
        *spelled("fma.rn", "- relu", "bf16 bf16x2"),
        *spelled("div rcp sqrt", rnd, "- ftz", "f32"),
        *spelled("div rcp sqrt", rnd, "f64"),
    )


def _arithmetic_of_sm_100() -> tuple[str, ...]:
    rnd, any_rnd = "rn rz rm rp", "- rn rz rm rp"
    return (
        *spelled("add sub mul", any_rnd, "- ftz", "f32x2"),
        *spelled("fma", rnd, "- ftz", "f32x2"),
        *spelled("add sub", any_rnd, "- sat", "f32", "f16 bf16"),
        *spelled("fma", rnd, "- sat", "f32", "f16 bf16"),
    )


def _unrounded() -> tuple[str, ...]:
    return (
        *spelled("neg abs", "- ftz", "f32 f16 f16x2"),
        *spelled("neg abs", "f64 bf16 bf16x2"),
        *spelled("copysign", "f32 f64"),
        *spelled("min max", "- ftz", "- NaN", "- xorsign.abs", "f32 f16 f16x2"),
        *spelled("min max", "- NaN", "- xorsign.abs", "bf16 bf16x2"),
        *spelled("min max", "f64"),
    )


def _comparisons() -> tuple[str, ...]:
    compare, boolean = " ".join(COMPARISONS), "- and or xor"
    return (
        *spelled("testp", "finite infinite number notanumber normal subnormal", "f32 f64"),
        *spelled("setp", compare, boolean, "- ftz", "f32 f16 f16x2"),
        *spelled("setp", compare, boolean, "f64 bf16 bf16x2"),
        *spelled("set", compare, boolean, "- ftz", "u32 s32 f32 f16", "f32"),
        *spelled("set", compare, boolean, "u32 s32 f32 f16 bf16", "f64"),
        *spelled("set", compare, boolean, "bf16", "f32 f16 bf16"),
        *spelled("set", compare, boolean, "- ftz", "u16 s16 u32 s32 f16", "f16"),
        *spelled("set", compare, boolean, "u16 s16 u32 s32", "bf16"),
        *spelled("set", compare, boolean, "- ftz", "f16x2 u32 s32", "f16x2"),
        *spelled("set", compare, boolean, "bf16x2 u32 s32", "bf16x2"),
    )


# What only sm_100 and later execute; min and max of f32, xorsign aside, also take three operands there.
THREE_OPERANDS = spelled("min max", "- ftz", "- NaN", "- abs", "f32")
NEEDS_SM_100 = (*_arithmetic_of_sm_100(), *spelled("min max", "- ftz", "- NaN", "abs", "f32"))

ARITHMETIC = (*_arithmetic(), *_arithmetic_of_sm_100())
UNROUNDED = (*_unrounded(), *spelled("min max", "- ftz", "- NaN", "abs", "f32"))
COMPARING = _comparisons()
EXACT = (*ARITHMETIC, *UNROUNDED, *COMPARING)


@dataclass(frozen=True)
class Bound:
    """How far a result may be from the exact one, where the operand (the divisor) is of magnitude lowest to highest.

    kind: "abs" for the difference, "rel" for that relative to the exact result, "ulp" in units of the last place of the
        correctly rounded result. Besides, a subnormal result is a whole number of the smallest, or zero with `.ftz`.
    """

    kind: str
    value: float
    lowest: float = 0.0
    highest: float = math.inf


def _bounds() -> dict[str, tuple[Bound, ...]]:
    pi = math.pi
    circular = (Bound("abs", 2**-20.5, 0, 2 * pi), Bound("abs", 2**-14.7, 2 * pi, 100 * pi))
    logarithm = (Bound("abs", 2**-22, 0.5, 2), Bound("rel", 2**-22, 0, 0.5), Bound("rel", 2**-22, 2))
    of_f32 = {
        "div.approx": (Bound("ulp", 2, 2.0**-126, 2.0**126),),
        "div.full": (Bound("ulp", 2),),
        "rcp.approx": (Bound("ulp", 1),),
        "sqrt.approx": (Bound("rel", 2**-23),),
        "rsqrt.approx": (Bound("rel", 2**-22.9),),
        "sin.approx": circular,
        "cos.approx": circular,
        "lg2.approx": logarithm,
        "ex2.approx": (Bound("ulp", 2),),
    }
    return {
        **{f"{name}{ftz}.f32": bounds for name, bounds in of_f32.items() for ftz in ("", ".ftz")},
        "tanh.approx.f32": (Bound("rel", 2**-11),),
        **dict.fromkeys(("tanh.approx.f16", "tanh.approx.f16x2"), (Bound("abs", 2**-10.987),)),
        **dict.fromkeys(("tanh.approx.bf16", "tanh.approx.bf16x2"), (Bound("abs", 2**-8),)),
        **dict.fromkeys(("ex2.approx.f16", "ex2.approx.f16x2"), (Bound("rel", 2**-9.9),)),
        **dict.fromkeys(("ex2.approx.ftz.bf16", "ex2.approx.ftz.bf16x2"), (Bound("rel", 2**-7),)),
        # For these the ISA names no bound: the first two keep 20 bits of mantissa, the last keeps all.
        **dict.fromkeys(("rcp.approx.ftz.f64", "rsqrt.approx.ftz.f64"), (Bound("rel", 2**-19),)),
        "rsqrt.approx.f64": (Bound("ulp", 2),),
    }


APPROXIMATE = _bounds()
