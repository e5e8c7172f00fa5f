"""Branches of which both sides compute much the same with other operands, as weaving melds them (simplify/meld.py).

Lanes of a warp take either side. A side has what both have in common, mostly with an operation that takes long, and
here and there something of its own; a branch of the same kind may stand in it. Constants may be moved to registers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import Protocol

from random_kernels.arithmetic import ROWS, filled

NUMBERS = 8  # for the operands of a row
LONG = tuple(
    row
    for rows in ROWS.values()
    for row in rows
    if row.startswith(("div.", "rem.", "sqrt.rn", "rcp.rn", "rsqrt.", "ex2.", "lg2."))
)
OTHERS = tuple(row for family in ("integer", "64 bits", "float", "double", "half", "predicate") for row in ROWS[family])
RECIPROCALS = ("rcp.rn.f32 F, F", "div.rn.f32 F, F, F", "div.rn.f32 F, 0f3F800000, F")
CONSTANTS = ("0f3F800000", "0f40400000", "0f80000000", "0f7F800000", "0f00000001")
COMPARISONS = ("lt", "ge", "eq")


class Lines(Protocol):
    """What of a writer is needed."""

    def line(self, *lines: str) -> None: ...
    def mark(self, label: str) -> None: ...
    def label(self, stem: str) -> str: ...
    def word(self) -> str: ...
    def wide(self) -> str: ...
    def predicate(self) -> str: ...


def alike(w: Lines, numbers: Sequence[int]) -> None:
    """A branch whose sides are alike."""
    _branch(w, Random(repr(tuple(numbers))), 1)


def _branch(w: Lines, rng: Random, depth: int) -> None:
    common = [_row(rng) for _ in range(rng.randint(1, 5))]
    if rng.random() < 0.8:
        common.insert(rng.randrange(len(common) + 1), "reciprocal" if rng.random() < 0.25 else rng.choice(LONG))
    operands = [[rng.randrange(16) for _ in range(NUMBERS)] for _ in common]
    other, join, p = w.label("ALIKE"), w.label("JOIN"), w.predicate()
    if rng.random() < 0.3:
        p = f"%q{rng.randrange(4)}"
    else:
        w.line(f"setp.{rng.choice(COMPARISONS)}.s32 {p}, %v{rng.randrange(8)}, %v{rng.randrange(8)};")
    w.line(f"@{rng.choice(('', '!'))}{p} bra {other};")
    for label in (other, join):
        inner = depth > 0 and rng.random() < 0.2
        for text in _side(w, rng, common, operands):
            w.line(text)
        if inner:
            _branch(w, rng, depth - 1)
        w.line(*([f"bra {join};"] if label == other else []))
        w.mark(label)


def _side(w: Lines, rng: Random, common: Sequence[str], operands: Sequence[Sequence[int]]) -> Iterator[str]:
    """What both sides have in common, with operands that differ now and then, and something of its own."""

    def divisor(register: str, word: str) -> str:
        t, type_ = (w.word(), "b32") if word == "Z" else (w.wide(), "b64")
        w.line(f"and.{type_} {t}, {register}, 65535;", f"or.{type_} {t}, {t}, 1;")
        return t

    for row, numbers in zip(common, operands, strict=True):
        if rng.random() < 0.2:
            yield from filled(_row(rng), tuple(rng.randrange(16) for _ in range(NUMBERS)), divisor)
        if rng.random() < 0.2:
            yield f"mov.f32 %f{rng.randrange(4)}, {rng.choice(CONSTANTS)};"
        own = tuple(n if rng.random() < 0.7 else rng.randrange(16) for n in numbers)
        yield from filled(rng.choice(RECIPROCALS) if row == "reciprocal" else row, own, divisor)


def _row(rng: Random) -> str:
    return rng.choice(OTHERS)
