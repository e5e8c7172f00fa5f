"""Numbers in PTX syntax: `0x10U`, `0f3F800000`, `-2.5`, `16*4+2`."""

from __future__ import annotations

import ast
import operator
import re
import struct
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from goptx.emulator.floating.formats import encode
from goptx.emulator.instructions.lanewise import DTYPES, Array
from goptx.ptx.ir import whole_number

_INTEGER = re.compile(r"0[xX][0-9a-fA-F]+U?|0[bB][01]+U?|[0-9]+U?")
_FLOAT_TYPES = {"f16": "f16", "bf16": "bf16", "f32": "f32", "tf32": "tf32", "f64": "f64"}

_BINARY: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.LShift: operator.lshift,
    ast.RShift: operator.rshift, ast.BitAnd: operator.and_, ast.BitOr: operator.or_, ast.BitXor: operator.xor,
    ast.FloorDiv: lambda a, b: abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1),
    ast.Mod: lambda a, b: abs(a) % abs(b) * (-1 if a < 0 else 1),
}  # fmt: skip
_UNARY: dict[type[ast.unaryop], Callable[[int], int]] = {
    ast.UAdd: operator.pos, ast.USub: operator.neg, ast.Invert: operator.invert, ast.Not: lambda a: int(not a),
}  # fmt: skip


@lru_cache(maxsize=4096)
def whole(expression: str) -> int:
    """The value of a constant expression of integers, with C's operators. Raises `ValueError`."""
    try:
        python = _INTEGER.sub(lambda m: str(whole_number(m[0])), expression).replace("/", "//").replace("!", " not ")
        return _value(ast.parse(python.strip(), mode="eval").body)
    except (SyntaxError, ValueError, KeyError, ZeroDivisionError):
        raise ValueError(f"`{expression}` is not a constant expression of integers") from None


def _value(node: ast.expr) -> int:
    match node:
        case ast.Constant(int(number)):
            return number
        case ast.UnaryOp(op, operand):
            return _UNARY[type(op)](_value(operand))
        case ast.BinOp(left, op, right):
            return _BINARY[type(op)](_value(left), _value(right))
    raise KeyError(node)


def literal(text: str, type_: str) -> Array:
    """The number as a 0-dimensional array of the type's dtype. Raises `ValueError`."""
    dtype = DTYPES[type_]
    if hexadecimal := re.fullmatch(r"([+-]?)(0[fF]([0-9a-fA-F]{8})|0[dD]([0-9a-fA-F]{16}))", text):
        sign, _, single, double = hexadecimal.groups()
        number = (
            struct.unpack(">f", bytes.fromhex(single))[0] if single else struct.unpack(">d", bytes.fromhex(double))[0]
        )
        if single and dtype.itemsize == 4:  # the bits themselves, NaN payloads too
            bits = int(single, 16) ^ (0x80000000 if sign == "-" else 0)
            return np.array(bits, np.uint32).view(dtype)
        return _from_float(-number if sign == "-" else number, type_)
    try:
        number = whole(text)
    except ValueError:
        return _from_float(float(text), type_)
    if type_ in _FLOAT_TYPES:
        return _from_float(float(number), type_)
    if dtype == np.bool_:
        return np.array(bool(number))
    return np.array(number % (1 << 8 * dtype.itemsize), f"u{dtype.itemsize}").view(dtype)


def _from_float(number: float, type_: str) -> Array:
    dtype = DTYPES[type_]
    if type_ == "f64" or dtype.itemsize == 8:
        return np.array(number, np.float64).view(dtype)
    format_ = _FLOAT_TYPES.get(type_, {4: "f32", 2: "f16"}.get(dtype.itemsize, ""))
    if not format_:
        raise ValueError(f"{number} does not fit .{type_}")
    with np.errstate(all="ignore"):
        return np.asarray(encode(np.array(number, np.float64), format_)).view(dtype)
