"""Floating-point instructions without memory effects: from the opcode's spelling to its function on lanes.

Accepts the forms of PTX ISA 9.0, sections 9.7.3 to 9.7.7, without `fma.oob`.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from goptx.emulator.floating.approximate import approximate
from goptx.emulator.floating.elements import Form
from goptx.emulator.floating.floating_comparison import compare_to_predicates, compare_to_value, property_of
from goptx.emulator.floating.rounded import rounded
from goptx.emulator.floating.unrounded import extremum, sign_bit
from goptx.emulator.instructions.lanewise import Lanewise

_CLASSES = {
    "rnd": "rn|rz|rm|rp",
    "cmp": "eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan",
    "bool": "and|or|xor",
    "property": "finite|infinite|number|notanumber|normal|subnormal",
}

# The forms of the ISA: words in brackets are optional, modifiers are in one order.
SYNTAX: dict[Callable[[Form], Lanewise | None], str] = {
    rounded: """
        add|sub|mul [rnd] [ftz] [sat] f32
        add|sub|mul [rnd] [ftz] f32x2
        add|sub|mul [rnd] f64
        add|sub|mul [rn] [ftz] [sat] f16|f16x2
        add|sub|mul [rn] bf16|bf16x2
        add|sub [rnd] [sat] f32 f16|bf16
        fma|mad rnd [ftz] [sat] f32
        fma rnd [ftz] f32x2
        fma|mad rnd f64
        fma rn [ftz] [sat|relu] f16|f16x2
        fma rn [relu] bf16|bf16x2
        fma rnd [sat] f32 f16|bf16
        div|rcp|sqrt rnd [ftz] f32
        div|rcp|sqrt rnd f64""",
    approximate: """
        div approx|full [ftz] f32
        rcp|sqrt|rsqrt|sin|cos|lg2|ex2 approx [ftz] f32
        rcp|rsqrt approx ftz f64
        rsqrt approx f64
        tanh approx f32|f16|f16x2|bf16|bf16x2
        ex2 approx f16|f16x2
        ex2 approx ftz bf16|bf16x2""",
    sign_bit: """
        abs|neg [ftz] f32|f16|f16x2
        abs|neg f64|bf16|bf16x2
        copysign f32|f64""",
    extremum: """
        min|max [ftz] [NaN] [xorsign.abs] f32|f16|f16x2
        min|max [ftz] [NaN] abs f32
        min|max [NaN] [xorsign.abs] bf16|bf16x2
        min|max f64""",
    property_of: """
        testp property f32|f64""",
    compare_to_predicates: """
        setp cmp [bool] [ftz] f32|f16|f16x2
        setp cmp [bool] f64|bf16|bf16x2""",
    compare_to_value: """
        set cmp [bool] [ftz] u32|s32|f32|f16 f32
        set cmp [bool] u32|s32|f32|f16|bf16 f64
        set cmp [bool] bf16 f32|f16|bf16
        set cmp [bool] [ftz] f16|u16|s16|u32|s32 f16
        set cmp [bool] u16|s16|u32|s32 bf16
        set cmp [bool] [ftz] f16x2|u32|s32 f16x2
        set cmp [bool] bf16x2|u32|s32 bf16x2""",
}

_ORDER = f"{'|'.join(_CLASSES.values())}|approx|full|ftz|NaN|xorsign|abs|relu|sat".split("|")
_TYPES = frozenset("u16 s16 u32 s32 f16 bf16 f32 f64 f16x2 bf16x2 f32x2".split())


def _pattern(lines: str) -> re.Pattern[str]:
    """A pattern for the spellings that `lines` of `SYNTAX` allow."""
    spellings = []
    for line in lines.split("\n")[1:]:
        base, *words = line.split()
        spelling = f"(?:{base})"
        for word in words:
            name = word.strip("[]")
            choice = rf"(?:\.(?:{_CLASSES.get(name, name)}))"
            spelling += f"{choice}?" if word != name else choice
        spellings.append(spelling)
    return re.compile("|".join(spellings))


_PATTERNS = [(build, _pattern(lines)) for build, lines in SYNTAX.items()]


def floating(opcode: str, operands: int | None = None) -> Lanewise | None:
    """The function of `opcode`, or None if it is not a known floating-point instruction of this family.

    operands: the number of sources as written. It distinguishes the three-operand `min.f32` and `max.f32` from the
        others; without it, the others are meant. Modifiers may have any order, as for ptxas; types may not.
    """
    base, *words = opcode.split(".")
    types = tuple(word for word in words if word in _TYPES)
    modifiers = [word for word in words if word not in _TYPES]
    if not all(word in _ORDER for word in modifiers):
        return None
    spelling = ".".join([base, *sorted(modifiers, key=_ORDER.index), *types])
    form = Form(base, frozenset(modifiers), types, operands)
    return next((build(form) for build, pattern in _PATTERNS if pattern.fullmatch(spelling)), None)
