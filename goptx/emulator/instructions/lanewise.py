"""Shared by the families of instructions without effects: arrays of lanes in, arrays of lanes out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

# The dtype of a value of each PTX type. Formats that numpy lacks are represented by their bits.
DTYPES: dict[str, np.dtype[Any]] = {
    name: np.dtype(kind)
    for kind, names in {
        "bool": "pred cc",
        "uint8": "b8 u8 e4m3 e5m2",
        "int8": "s8",
        "uint16": "b16 u16 bf16 e4m3x2 e5m2x2",
        "int16": "s16",
        "float16": "f16",
        "uint32": "b32 u32 tf32 f16x2 bf16x2 u16x2 s16x2 u8x4 s8x4 e4m3x4 e5m2x4",
        "int32": "s32",
        "float32": "f32",
        "uint64": "b64 u64 f32x2",
        "int64": "s64",
        "float64": "f64",
    }.items()
    for name in names.split()
}


@dataclass(frozen=True, slots=True)
class Lanewise:
    """The function of an instruction on each lane's own values.

    sources and results are PTX types (keys of `DTYPES`) in the order of the operands; "cc", last in either, is
    the carry flag, which no operand names. `apply` takes one array of each source's dtype, of one length or
    0-dimensional (an immediate), and returns one array for a single result, else a tuple of them. It neither
    changes its arguments nor lets numpy warn: callers use `np.errstate(all="ignore")`.
    """

    sources: tuple[str, ...]
    results: tuple[str, ...]
    apply: Callable[..., Any]
