"""Numbers in PTX syntax: `0x10U`, `0f3F800000`, `-2.5`, `16*4+2`."""

from __future__ import annotations

import re
import struct

import numpy as np

from goptx.emulator.floating.formats import encode
from goptx.emulator.instructions.constant_expression import whole
from goptx.emulator.instructions.lanewise import DTYPES, Array

_FLOAT_TYPES = {"f16": "f16", "bf16": "bf16", "f32": "f32", "tf32": "tf32", "f64": "f64"}


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
