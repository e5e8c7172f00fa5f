"""Compares what a GPU left in memory with what the emulator did: bit by bit, NaN with NaN, or within a bound.

Requires arrays of unsigned words. Packed floats are compared one by one where they have a bound, else by the word.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from families.entry import Case, Result

from goptx.emulator.floating.formats import decode
from goptx.emulator.instructions.lanewise import DTYPES, Array

# How to find NaN: bits of the element, of its sign, and its infinity (of e4m3: what is one less than NaN).
FLOATS: dict[str, tuple[int, int, int]] = {
    name: row
    for names, row in {
        "f16 f16x2": (16, 0x8000, 0x7C00),
        "bf16 bf16x2": (16, 0x8000, 0x7F80),
        "f32 tf32": (32, 1 << 31, 0x7F800000),
        "f64": (64, 1 << 63, 0x7FF << 52),
        "e4m3x2": (8, 0x80, 0x7E),
        "e5m2x2": (8, 0x80, 0x7C),
    }.items()
    for name in names.split()
}
INFINITY = {"f16": 2.0**16, "f64": float(np.finfo(np.float64).max)}  # in its place; of the others 2**128
EXAMPLES = 3


@dataclass(slots=True)
class Verdict:
    """How many values are equal, are NaN of other bits, within their bound, have none (open), or are neither.

    worst: the largest error of those with a bound, relative to it. examples: of values that differ.
    """

    values: int = 0
    equal: int = 0
    payload: int = 0
    within: int = 0
    open: int = 0
    wrong: int = 0
    worst: float = 0.0
    examples: list[str] = field(default_factory=list)


def element_of(type_: str) -> int:
    """Bytes of a value."""
    return DTYPES[type_].itemsize


def numbers(words: Array, format: str) -> Array:
    """The values as float64; of packed ones, one after the other."""
    element = format.removesuffix("x2")
    return words.view(np.float64) if element == "f64" else decode(words.view(DTYPES[element]), element)


def compare(case: Case, gpu: list[Array], emulated: list[Array]) -> Verdict:
    """Both in the order of the case's results."""
    verdict = Verdict()
    with np.errstate(all="ignore"):
        for number, (result, theirs, ours) in enumerate(zip(case.results, gpu, emulated, strict=True)):
            _compare(case, number, result, theirs, ours, verdict)
    return verdict


def _compare(case: Case, number: int, result: Result, theirs: Array, ours: Array, verdict: Verdict) -> None:
    if result.groups is not None:
        theirs, ours = (v[np.lexsort((v, result.groups))] for v in (theirs, ours))
    if result.allowed is not None:
        element = np.dtype(f"u{FLOATS[result.format][0] // 8}")
        theirs, ours = theirs.view(element), ours.view(element)
    equal = theirs == ours
    payload = ~equal & _same_but_nan(theirs, ours, result.format)
    rest = ~(equal | payload)
    within, unbounded = np.zeros_like(rest), np.zeros_like(rest)
    if result.allowed is not None:
        right, other = numbers(ours, result.format), numbers(theirs, result.format)
        beyond = INFINITY.get(result.format.removesuffix("x2"), 2.0**128)
        right, other = (np.where(np.isinf(v), np.copysign(beyond, v), v) for v in (right, other))
        allowed = result.allowed(right)
        ratio = np.where(equal | payload, 0, np.abs(other - right) / allowed)
        unbounded = rest & np.isnan(allowed)
        within = rest & (ratio <= 1)
        verdict.worst = max(verdict.worst, float(np.max(ratio, where=within | (rest & np.isfinite(ratio)), initial=0)))
    wrong = rest & ~within & ~unbounded
    verdict.values += len(equal)
    for name, found in (
        ("equal", equal),
        ("payload", payload),
        ("within", within),
        ("open", unbounded),
        ("wrong", wrong),
    ):
        setattr(verdict, name, getattr(verdict, name) + int(np.count_nonzero(found)))
    for place in np.flatnonzero(wrong)[: EXAMPLES - len(verdict.examples)]:
        verdict.examples.append(_example(case, number, int(place), theirs, ours, result))


def _example(case: Case, number: int, place: int, theirs: Array, ours: Array, result: Result) -> str:
    """`0x3f800000 0x1: GPU 0x2, emulator 0x3 (result 1, thread 12)`"""
    per_thread = max(1, len(ours) // case.threads)  # values of one word, where they are compared one by one
    given = []
    if result.groups is None and len(ours) // per_thread == case.threads:
        given = [f"{int(case.arrays[i][place // per_thread]):#x}" for i in case.operands]
    where = f"result {number}, value {place}"
    return f"{' '.join(given) or 'memory'}: GPU {int(theirs[place]):#x}, emulator {int(ours[place]):#x} ({where})"


def _same_but_nan(theirs: Array, ours: Array, format: str) -> Array:
    """Whether words agree but for the bits of their NaNs."""
    if format not in FLOATS:
        return np.zeros(theirs.shape, np.bool_)
    bits, sign, infinity = FLOATS[format]
    element = np.dtype(f"u{bits // 8}")
    shape = (*theirs.shape, theirs.itemsize // element.itemsize)
    first, second = (np.ascontiguousarray(v).view(element).reshape(shape) for v in (theirs, ours))
    nan = [(v & element.type(sign - 1)) > element.type(infinity) for v in (first, second)]
    return np.asarray(((first == second) | (nan[0] & nan[1])).all(axis=-1))
