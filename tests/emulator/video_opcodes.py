"""Video instructions with selectors: all operations, types and modifiers, each with some of the selectors."""

from __future__ import annotations

import random
from itertools import product

TYPES = ("u32", "s32")
COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
PARTS = ("", "b0", "b1", "b2", "b3", "h0", "h1")
SECOND = ("", ".add", ".min", ".max")

Selectors = tuple[str, str, str, str]
"""Of the destination and of a, b and c, with the sign of a negated operand."""


def _scalar(source: random.Random, opcode: str) -> list[tuple[str, Selectors]]:
    """The opcode alone, into a part of c, and with each second operation."""
    found = []
    for second in (*SECOND, "merge"):
        place = source.choice(PARTS[1:]) if second == "merge" else ""
        spelled = opcode + (second if second != "merge" else "")
        found.append((spelled, (place, source.choice(PARTS), source.choice(PARTS), "")))
    return found


def _scalars(source: random.Random) -> list[tuple[str, Selectors]]:
    found = []
    for types in product(TYPES, repeat=3):
        for name, sat in product(("vadd", "vsub", "vabsdiff", "vmin", "vmax"), ("", ".sat")):
            found += _scalar(source, ".".join((name, *types)) + sat)
    for d, a in product(TYPES, repeat=2):
        for name, sat, mode in product(("vshl", "vshr"), ("", ".sat"), ("clamp", "wrap")):
            found += _scalar(source, f"{name}.{d}.{a}.u32{sat}.{mode}")
        for comparison in COMPARISONS:
            found += _scalar(source, f"vset.{d}.{a}.{comparison}")
    return found


def _products(source: random.Random) -> list[tuple[str, Selectors]]:
    found = []
    for types, sat, scale in product(product(TYPES, repeat=3), ("", ".sat"), ("", ".shr7", ".shr15")):
        parts = source.choice(PARTS), source.choice(PARTS)
        opcode = ".".join(("vmad", *types))
        negated = source.choice((("", "", ""), ("-", "", ""), ("", "-", ""), ("", "", "-"), ("-", "-", "")))
        selectors = [sign + part for sign, part in zip(negated, (*parts, ""), strict=True)]
        found.append((f"{opcode}{sat}{scale}", ("", *selectors)))
        found.append((f"{opcode}.po{sat}{scale}", ("", *parts, "")))
    return found  # type: ignore[return-value]


def _vectors(source: random.Random) -> list[tuple[str, Selectors]]:
    found: list[tuple[str, Selectors]] = []
    for count, letter, masks in ((2, "h", ("", "0", "1", "10")), (4, "b", ("", "0", "3", "20", "321", "3210"))):
        opcodes = [
            f"{name}{count}.{'.'.join(types)}{after}"
            for name in ("vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax")
            for types in product(TYPES, repeat=3)
            for after in ("", ".sat", ".add")
        ]
        opcodes += [
            f"vset{count}.{a}.{b}.{comparison}{after}"
            for a, b, comparison, after in product(TYPES, TYPES, COMPARISONS, ("", ".add"))
        ]
        for opcode in opcodes:
            chosen = ["".join(str(source.randrange(2 * count)) for _ in range(count)) for _ in range(2)]
            digits = [source.choice(masks), *(source.choice(("", each)) for each in chosen)]
            place, a, b = (letter + each if each else "" for each in digits)
            found.append((opcode, (place, a, b, "")))
    return found


def _all() -> list[tuple[str, Selectors]]:
    source = random.Random("video")
    return [*_scalars(source), *_products(source), *_vectors(source)]


INSTRUCTIONS: list[tuple[str, Selectors]] = _all()


def spelled(register: str, selector: str) -> str:
    """The operand as PTX has it."""
    sign, part = ("-", selector[1:]) if selector.startswith("-") else ("", selector)
    return sign + register + (f".{part}" if part else "")
