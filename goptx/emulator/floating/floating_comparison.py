"""Comparison of floating-point values, to predicates (`setp`) or to numbers (`set`), and their properties (`testp`).

Requires: the contract of `Lanewise`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from goptx.emulator.floating.elements import Form, as_floats, element_of, flushing, halves, joined
from goptx.emulator.instructions.lanewise import DTYPES, Array, Lanewise

Test = Callable[..., Array]


def _not(test: Test) -> Test:
    return lambda a, b: ~test(a, b)


def _both_numbers(a: Array, b: Array) -> Array:
    return np.equal(a, a) & np.equal(b, b)


def _differ(a: Array, b: Array) -> Array:
    return np.less(a, b) | np.greater(a, b)


# Comparisons of two floats. Those of the second row are true for NaN because their opposite is false.
_COMPARISONS: dict[str, Test] = {
    "eq": np.equal, "ne": _differ, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
    "equ": _not(_differ), "neu": np.not_equal, "ltu": _not(np.greater_equal), "leu": _not(np.greater),
    "gtu": _not(np.less_equal), "geu": _not(np.less), "num": _both_numbers, "nan": _not(_both_numbers),
}  # fmt: skip
_BOOLEAN = {"and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor}
_TRUE = {"u16": 0xFFFF, "s16": -1, "u32": 0xFFFFFFFF, "s32": -1, "f32": 1.0, "f16": 1.0, "bf16": 0x3F80}


def compare_to_predicates(form: Form) -> Lanewise:
    """setp: whether the comparison is true, and whether it is false; for packed types, one result for each element."""
    (source,) = form.types
    compare, combine = _comparing(form, source), _combining(form)
    packed = element_of(source) != source

    def apply(a: Array, b: Array, *given: Array) -> tuple[Array, Array]:
        holds = compare(a, b)
        first, second = (holds[..., 0], holds[..., 1]) if packed else (holds, ~holds)
        return combine(first, *given), combine(second, *given)

    return Lanewise(_sources(form, source), ("pred", "pred"), apply)


def compare_to_value(form: Form) -> Lanewise:
    """set: one (all ones for integers) where the comparison is true, else zero; for packed types, in each half."""
    result, source = form.types
    compare, combine = _comparing(form, source), _combining(form)
    packed = element_of(source) != source
    number = element_of(result) if not packed or result != element_of(result) else "u16"
    dtype, word = DTYPES[number], DTYPES[result]
    true = dtype.type(_TRUE[number])

    def apply(a: Array, b: Array, *given: Array) -> Array:
        holds = combine(compare(a, b), *[predicate[..., None] for predicate in given] if packed else given)
        values: Array = holds.astype(dtype) * true
        return joined(values, word) if packed else values

    return Lanewise(_sources(form, source), (result,), apply)


def property_of(form: Form) -> Lanewise:
    """testp: finite, infinite, number, notanumber, normal (includes zero) or subnormal."""
    (property,), (source,) = form.modifiers, form.types
    return Lanewise((source,), ("pred",), _PROPERTIES[property])


def _is_subnormal(values: Array) -> Array:
    subnormal: Array = (np.abs(values) < np.finfo(values.dtype).smallest_normal) & (values != 0)
    return subnormal


_PROPERTIES: dict[str, Test] = {
    "finite": np.isfinite,
    "infinite": np.isinf,
    "number": lambda values: values == values,
    "notanumber": np.isnan,
    "normal": lambda values: np.isfinite(values) & ~_is_subnormal(values),
    "subnormal": _is_subnormal,
}


def _sources(form: Form, source: str) -> tuple[str, ...]:
    return (source, source, "pred") if form.modifiers & _BOOLEAN.keys() else (source, source)


def _comparing(form: Form, source: str) -> Test:
    """The comparison of two operands; for packed types, its results have a last axis for the elements."""
    (name,) = form.modifiers & _COMPARISONS.keys()
    compare, element = _COMPARISONS[name], element_of(source)
    steps: list[Callable[[Array], Array]] = []
    if source != element:
        steps.append(lambda words: halves(words, DTYPES[element]))
    if element == "bf16":
        steps.append(lambda bits: as_floats(bits, element))
    if form.ftz:
        steps.append(flushing(element, DTYPES[element]))

    def prepared(operand: Array) -> Array:
        for step in steps:
            operand = step(operand)
        return operand

    return (lambda a, b: compare(prepared(a), prepared(b))) if steps else compare


def _combining(form: Form) -> Callable[..., Array]:
    """Combines the comparison with the given predicate by the Boolean operation, if there is one."""
    name = next(iter(form.modifiers & _BOOLEAN.keys()), None)
    return _BOOLEAN[name] if name else lambda holds: holds
