"""Comparison of integers and of bits (`setp`, `set`), and selection between values of any type (`selp`, `slct`).

Requires: the contract of `Lanewise`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from goptx.emulator.instructions.lanewise import DTYPES, Array, Lanewise

_EQUALITY = {"eq": np.equal, "ne": np.not_equal}
_ORDER = {"lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal}
_UNSIGNED = {"lo": np.less, "ls": np.less_equal, "hi": np.greater, "hs": np.greater_equal}
_COMPARISONS = {
    "b": _EQUALITY,
    "s": _EQUALITY | _ORDER,
    "u": _EQUALITY | _ORDER | _UNSIGNED,
}
_BOOLEAN = {"and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor}
# The bits that `set` gives for true: all ones, or 1.0.
_TRUE = {"u32": 0xFFFFFFFF, "s32": 0xFFFFFFFF, "f32": 0x3F800000, "f16": 0x3C00, "bf16": 0x3F80}
_SELECTABLE = ("b16", "b32", "b64", "u16", "u32", "u64", "s16", "s32", "s64", "f32", "f64")
_SMALLEST_NORMAL = np.finfo(np.float32).tiny

Test = Callable[..., Array]


def _setp(compare: Test) -> Callable[[Array, Array], tuple[Array, Array]]:
    def both(a: Array, b: Array) -> tuple[Array, Array]:
        holds = compare(a, b)
        return holds, ~holds

    return both


def _setp_with(compare: Test, combine: Test) -> Callable[[Array, Array, Array], tuple[Array, Array]]:
    def both(a: Array, b: Array, c: Array) -> tuple[Array, Array]:
        holds = compare(a, b)
        return combine(holds, c), combine(~holds, c)

    return both


def _combined(compare: Test, combine: Test) -> Test:
    return lambda a, b, c: combine(compare(a, b), c)


def _set(test: Test, t: str) -> Callable[..., Array]:
    """The result of `test` as a number of type `t`."""
    dtype = DTYPES[t]
    bits = np.dtype(f"u{dtype.itemsize}")
    true = bits.type(_TRUE[t])
    return lambda *operands: (test(*operands).astype(bits) * true).view(dtype)


def _compared() -> Iterator[tuple[str, Lanewise]]:
    for t in ("b16", "b32", "b64", "u16", "u32", "u64", "s16", "s32", "s64"):
        for name, compare in _COMPARISONS[t[0]].items():
            yield f"setp.{name}.{t}", Lanewise((t, t), ("pred", "pred"), _setp(compare))
            for number in _TRUE:
                yield f"set.{name}.{number}.{t}", Lanewise((t, t), (number,), _set(compare, number))
            for word, combine in _BOOLEAN.items():
                sources = (t, t, "pred")
                yield f"setp.{name}.{word}.{t}", Lanewise(sources, ("pred", "pred"), _setp_with(compare, combine))
                for number in _TRUE:
                    test = _combined(compare, combine)
                    yield f"set.{name}.{word}.{number}.{t}", Lanewise(sources, (number,), _set(test, number))


def _selected() -> Iterator[tuple[str, Lanewise]]:
    for t in _SELECTABLE:
        yield f"selp.{t}", Lanewise((t, t, "pred"), (t,), lambda a, b, c: np.where(c, a, b))
        for kind in ("s32", "f32"):
            yield f"slct.{t}.{kind}", Lanewise((t, t, kind), (t,), lambda a, b, c: np.where(c >= 0, a, b))
        # With .ftz subnormal numbers count as zero, so negative ones too choose the first operand.
        yield f"slct.ftz.{t}.f32", Lanewise((t, t, "f32"), (t,), lambda a, b, c: np.where(c > -_SMALLEST_NORMAL, a, b))


COMPARISONS: dict[str, Lanewise] = {**dict(_compared()), **dict(_selected())}
