"""Video instructions: arithmetic on selected bytes or halves of words, with a second operation (PTX ISA 9.7.18).

Requires: the contract of `Lanewise`. Ensures: what the ISA's formulas give, in integers of any size. For some forms
ptxas 13.0 emits code for sm_90 that gives something else: a sum of u32 under `.sat` wraps around, `vmad` multiplies
words of u32 as signed ones, and `.min` and `.max` take a sum that is not `.sat` as signed.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from goptx.emulator.instructions.lanewise import Array, Lanewise
from goptx.ptx.ir import Expression, Name, Operand

_WORD = 0xFFFFFFFF
_PART = re.compile(r"([^.]+)\.([bh]\d+)")
_BITS = {"b": 8, "h": 16, "": 32}
_COMPARISONS: dict[str, Callable[..., Any]] = {
    name: getattr(operator, name) for name in ("eq", "ne", "lt", "le", "gt", "ge")
}
_SECOND: dict[str, Callable[..., Any]] = {"add": np.add, "min": np.minimum, "max": np.maximum}


def _average(a: Array, b: Array) -> Array:
    """Rounded to nearest, a half away from zero."""
    total: Array = a + b
    return (total + (total >= 0)) >> 1


_OPERATIONS: dict[str, Callable[[Array, Array], Array]] = {
    "vadd": np.add, "vsub": np.subtract, "vabsdiff": lambda a, b: np.abs(a - b), "vmin": np.minimum,
    "vmax": np.maximum, "vavrg": _average,
}  # fmt: skip


def separated(operands: Sequence[Operand]) -> tuple[tuple[Operand, ...], tuple[str, ...]]:
    """The operands without their selectors, and the selectors: of `-%r1.b0` the name `%r1` and `-b0`; none if no
    operand has one."""
    for operand in operands:
        if type(operand) is Expression or (type(operand) is Name and "." in operand.text):
            break
    else:  # as in nearly all instructions
        return tuple(operands), ()
    pairs = [_separated(operand) for operand in operands]
    selectors = tuple(selector for _, selector in pairs)
    return tuple(operand for operand, _ in pairs), selectors if any(selectors) else ()


def _separated(operand: Operand) -> tuple[Operand, str]:
    match operand:
        case Expression(("-", Name() as name)):
            inner, selector = _separated(name)
            return inner, f"-{selector}"
        case Name(text) if found := _PART.fullmatch(text):
            return Name(found[1]), found[2]
    return operand, ""


@lru_cache(maxsize=512)
def video(opcode: str, selectors: tuple[str, ...] = ("", "", "", "")) -> Lanewise | None:
    """The function of a video instruction with these selectors of its operands, the destination's first; "" selects
    the word, or of a vector instruction its parts in their places. None unless PTX has it."""
    base, *words = opcode.split(".")
    name, parts = base.rstrip("24"), base[len(base.rstrip("24")) :]
    types = tuple(word for word in words if word in ("u32", "s32"))
    modifiers = [word for word in words if word not in types]
    compares = name == "vset"
    if name not in (*_OPERATIONS, "vset", "vshl", "vshr", "vmad") or len(types) != 3 - compares:
        return None
    if len(set(modifiers)) < len(modifiers) or (name == "vavrg" and not parts):
        return None
    signed = tuple(t == "s32" for t in (("u32", *types) if compares else types))
    comparison = next((word for word in modifiers if word in _COMPARISONS), "")
    if (comparison != "") != compares:
        return None
    rest = frozenset(modifiers) - {comparison}
    given = (*selectors, "", "", "", "")[:4]
    operation = _compared(comparison) if compares else _OPERATIONS.get(name)
    if parts:
        return _of_vectors(int(parts), operation, signed, rest, given, compares) if operation else None
    if name == "vmad":
        return _multiply_add(signed, rest, given)
    if name in ("vshl", "vshr"):
        if len(rest & {"clamp", "wrap"}) != 1 or signed[2]:
            return None
        operation, rest = _shift(name == "vshl", "clamp" in rest), rest - {"clamp", "wrap"}
    return _of_words(operation, signed, rest, given, compares) if operation else None


def _compared(comparison: str) -> Callable[[Array, Array], Array]:
    compare = _COMPARISONS[comparison]
    return lambda a, b: compare(a, b).astype(np.int64)


def _shift(to_left: bool, clamps: bool) -> Callable[[Array, Array], Array]:
    """Shifts of integers of any size: up to 65 bits result."""

    def shift(a: Array, b: Array) -> Array:
        count, value = np.asarray(np.minimum(b, 32) if clamps else b & 31, object), np.asarray(a, object)
        shifted: Array = value << count if to_left else value >> count
        return shifted

    return shift


# One value in a word ------------------------------------------------------------------------------------


def _of_words(
    operation: Callable[[Array, Array], Array],
    signed: tuple[bool, ...],
    modifiers: frozenset[str],
    selectors: tuple[str, ...],
    compares: bool,
) -> Lanewise | None:
    """First the operation on the selected parts, clamped under `.sat`; then a second operation with c, or the result
    takes the place of a part of c."""
    place, of_a, of_b, of_c = selectors
    second = modifiers & _SECOND.keys()
    if not modifiers <= {"sat", *_SECOND} or len(second) > 1 or (compares and "sat" in modifiers):
        return None
    if of_c or (place and second) or not all(map(_is_part, (place, of_a, of_b))):
        return None
    read_a, read_b = _reading(of_a, signed[1]), _reading(of_b, signed[2])
    clamp = _clamping(_BITS[place[:1]], signed[0]) if "sat" in modifiers else _as_it_is
    if not second and not place:
        return Lanewise(("u32",) * 2, ("u32",), lambda a, b: _word(clamp(operation(read_a(a), read_b(b)))))
    read_c = _reading("", signed[0])
    finish = _SECOND[next(iter(second))] if second else _merging(place)

    def apply(a: Array, b: Array, c: Array) -> Array:
        return _word(finish(clamp(operation(read_a(a), read_b(b))), read_c(c)))

    return Lanewise(("u32",) * 3, ("u32",), apply)


def _is_part(selector: str) -> bool:
    return selector in ("", "b0", "b1", "b2", "b3", "h0", "h1")


def _as_it_is(values: Array) -> Array:
    return values


def _word(values: Array) -> Array:
    return np.asarray(values & _WORD).astype(np.uint32)


def _reading(selector: str, signed: bool) -> Callable[[Array], Array]:
    """The selected part of a word, extended by its sign if `signed`."""
    bits = _BITS[selector[:1]]
    first = bits * int(selector[1:] or 0)
    dtype = np.dtype(f"{'i' if signed else 'u'}{bits // 8}")
    return lambda word: (word >> np.uint32(first)).astype(f"u{bits // 8}").view(dtype).astype(np.int64)


def _clamping(bits: int, signed: bool) -> Callable[[Array], Array]:
    least, most = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    return lambda values: np.minimum(np.maximum(values, least), most)


def _merging(place: str) -> Callable[[Array, Array], Array]:
    bits = _BITS[place[0]]
    first, ones = bits * int(place[1]), (1 << bits) - 1
    return lambda value, c: (value & ones) << first | c & (_WORD ^ ones << first)


def _multiply_add(signed: tuple[bool, ...], modifiers: frozenset[str], selectors: tuple[str, ...]) -> Lanewise | None:
    """vmad: a * b + c, the product or c negated, or one more under `.po`; shifted to the right, then clamped."""
    place, *given = selectors
    negates_product = (given[0][:1] == "-") != (given[1][:1] == "-")
    negates_addend = given[2] == "-"
    of_a, of_b = (selector.removeprefix("-") for selector in given[:2])
    scale = modifiers & {"shr7", "shr15"}
    negates = "-" in {selector[:1] for selector in given}
    if not modifiers <= {"po", "sat", "shr7", "shr15"} or len(scale) > 1 or ("po" in modifiers and negates):
        return None
    if place or given[2] not in ("", "-") or not _is_part(of_a) or not _is_part(of_b):
        return None
    if negates_product and negates_addend:
        return None
    final = signed[1] or signed[2] or negates_product or negates_addend
    read_a, read_b, read_c = _reading(of_a, signed[1]), _reading(of_b, signed[2]), _reading("", final)
    one = int("po" in modifiers or negates_product or negates_addend)
    distance = int(next(iter(scale), "shr0")[3:])
    clamp = _clamping(32, final) if "sat" in modifiers else _as_it_is

    def apply(a: Array, b: Array, c: Array) -> Array:
        product = np.asarray(read_a(a), object) * np.asarray(read_b(b), object)
        addend = np.asarray(read_c(~c if negates_addend else c), object)
        total = (~product if negates_product else product) + addend + one
        return _word(clamp(total >> distance))

    return Lanewise(("u32",) * 3, ("u32",), apply)


# Several values in a word -------------------------------------------------------------------------------


def _of_vectors(
    count: int,
    operation: Callable[[Array, Array], Array],
    signed: tuple[bool, ...],
    modifiers: frozenset[str],
    selectors: tuple[str, ...],
    compares: bool,
) -> Lanewise | None:
    """The operation on `count` parts of a word, each chosen from those of a and b. The results take the places of c's
    parts, as far as the destination names them; or under `.add` they are added to c."""
    if modifiers not in ({"sat"}, {"add"}, set()) or (compares and "sat" in modifiers) or selectors[3]:
        return None
    letter, bits = ("h", 16) if count == 2 else ("b", 8)
    own = "".join(map(str, reversed(range(count))))
    other = "".join(map(str, reversed(range(count, 2 * count))))
    place, of_a, of_b = (s or letter + d for s, d in zip(selectors[:3], (own, own, other), strict=True))
    for selector, most in ((place, count), (of_a, 2 * count), (of_b, 2 * count)):
        if selector[0] != letter or any(int(digit) >= most for digit in selector[1:]):
            return None
    written = [int(digit) for digit in reversed(place[1:])]
    if len(of_a) != count + 1 or len(of_b) != count + 1 or written != sorted(set(written)):
        return None
    chosen = [np.array([int(digit) for digit in reversed(s[1:])]) for s in (of_a, of_b)]
    unsigned = np.dtype(f"u{bits // 8}")
    clamp = _clamping(bits, signed[0]) if "sat" in modifiers else _as_it_is

    def apply(a: Array, b: Array, c: Array) -> Array:
        a, b, c = (each.copy() for each in np.broadcast_arrays(a, b, c))
        parts = np.concatenate([each[..., None].view(unsigned) for each in (a, b)], axis=-1)
        left, right = (
            parts[..., places].view(f"i{bits // 8}" if extends else unsigned).astype(np.int64)
            for places, extends in zip(chosen, signed[1:], strict=True)
        )
        found = clamp(operation(left, right))
        if "add" in modifiers:
            return _word(found[..., written].sum(axis=-1) + c)
        result = c[..., None].view(unsigned).copy()
        result[..., written] = found[..., written].astype(unsigned)
        return result.view(np.uint32)[..., 0]

    return Lanewise(("u32",) * 3, ("u32",), apply)
