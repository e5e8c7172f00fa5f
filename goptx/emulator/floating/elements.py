"""Shared by the floating-point families: the parts of an opcode, two elements in a word, subnormals and NaN.

Requires `np.errstate(all="ignore")` of the caller; arrays of any one shape, also of no dimension.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from goptx.emulator.floating.formats import CANONICAL_NAN, decode
from goptx.emulator.instructions.lanewise import DTYPES, Array, Lanewise


@dataclass(frozen=True, slots=True)
class Form:
    """A floating-point opcode of the ISA: `fma.rn.ftz.f32` is fma, with rn and ftz, of ("f32",).

    operands: the number of written sources where the opcode does not determine it; None for the fewest.
    """

    base: str
    modifiers: frozenset[str]
    types: tuple[str, ...]
    operands: int | None = None

    @property
    def rounding(self) -> str:
        return next(iter(self.modifiers & {"rz", "rm", "rp"}), "rn")

    @property
    def ftz(self) -> bool:
        return "ftz" in self.modifiers


def element_of(type: str) -> str:
    """The type that an instruction computes with, for example f16 for f16x2."""
    return type.removesuffix("x2")


def elementwise(function: Callable[..., Array], sources: tuple[str, ...], result: str) -> Lanewise:
    """The instruction that applies `function` to elements, or to both elements of each word of a packed type."""
    if isinstance(function, np.ufunc):
        return Lanewise(sources, (result,), function)
    element, word = DTYPES[element_of(result)], DTYPES[result]

    def of_words(*words: Array) -> Array:
        return joined(function(*[halves(each, element) for each in words]), word)

    return Lanewise(sources, (result,), blockwise(function if element == word else of_words, word))


BLOCK = 8192  # lanes whose float64 intermediate results fit into the nearest caches


def blockwise(function: Callable[..., Array], result: np.dtype[Any]) -> Callable[..., Array]:
    """`function`, applied to one block of lanes after another: with many lanes, several times faster."""

    def apply(*operands: Array) -> Array:
        lanes = max([operand.size for operand in operands])
        if lanes <= BLOCK:
            return function(*operands)
        results = np.empty(lanes, result)
        for start in range(0, lanes, BLOCK):
            block = slice(start, start + BLOCK)
            results[block] = function(*[operand[block] if operand.ndim else operand for operand in operands])
        return results

    return apply


def halves(words: Array, dtype: np.dtype[Any]) -> Array:
    """The two elements of each word along a last axis, the low one first."""
    return words[..., None].view(dtype)


def joined(elements: Array, word: np.dtype[Any]) -> Array:
    """The words with the halves `elements`."""
    joined: Array = elements.view(word)[..., 0]
    return joined


_SMALLEST_NORMAL = {"f16": 2.0**-14, "f32": 2.0**-126, "bf16": 2.0**-126}


def flushing(format: str, dtype: np.dtype[Any]) -> Callable[[Array], Array]:
    """A function that replaces the subnormal values of `format`, in floats of `dtype`, by zeros of the same sign."""
    smallest = dtype.type(_SMALLEST_NORMAL[format])

    def flush(values: Array) -> Array:
        flushed: Array = values * (np.abs(values) >= smallest)
        return flushed

    return flush


def reading(format: str, ftz: bool) -> Callable[[Array], Array]:
    """A function from a source in the dtype of `format` to its float64 values."""
    if ftz:
        flush = flushing(format, DTYPES["f64"])
        return lambda values: flush(decode(values, format))
    return (lambda bits: decode(bits, format)) if format == "bf16" else (lambda values: values.astype(np.float64))


def canonical(values: Array, element: str) -> Array:
    """f32 or f16 values with every NaN replaced by the canonical NaN of NVIDIA's instructions."""
    nan = values != values
    return np.where(nan, CANONICAL_NAN[element], values) if np.count_nonzero(nan) else values


def as_floats(values: Array, element: str) -> Array:
    """The same values as floats that numpy can order: bf16 as float32."""
    return decode(values, element).astype(np.float32) if element == "bf16" else values
