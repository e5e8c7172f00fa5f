"""Instructions that multiply matrices: their shapes, and the types of their elements."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from goptx.analysis.values.thread_values import number
from goptx.ptx.ir import Immediate, Instruction
from goptx.ptx.opcodes import Facts, facts_of

BITS = {
    "f16": 16, "bf16": 16, "f32": 32, "tf32": 32, "f64": 64, "e4m3": 8, "e5m2": 8, "e3m2": 8, "e2m3": 8,
    "s32": 32, "s8": 8, "u8": 8, "s4": 4, "u4": 4, "b1": 1,
}  # fmt: skip
"""The bits of one element in a register; those of six bits have two more above them, which do not count."""

WARPS_TOGETHER = 4
"""Warps that execute one `wgmma`: a warpgroup."""

SHAPE = re.compile(r"m(\d+)n(\d+)k(\d+)")
"""How opcodes name m, n and k."""


class Product(NamedTuple):
    """An m x n matrix, to which the product of an m x k and a k x n matrix is added, whose elements have one type."""

    m: int
    n: int
    k: int
    element: str
    sparse: bool


def shape_of(facts: Facts) -> tuple[int, int, int] | None:
    """m, n and k as an opcode names them."""
    found = next(filter(None, map(SHAPE.fullmatch, facts.modifiers)), None)
    return (int(found[1]), int(found[2]), int(found[3])) if found else None


@lru_cache(maxsize=1024)
def product_of(opcode: str) -> Product | None:
    """The product that an instruction computes, if it does. Of `wgmma` it is that of a warpgroup, else of a warp."""
    facts = facts_of(opcode)
    if not facts.multiplies_matrices:
        return None
    shape = shape_of(facts)
    element = "f16" if len(facts.types) == 2 else facts.types[1]  # `wmma` of halves names only the types of the sums
    if shape is None or element not in BITS:
        return None
    return Product(*shape, element, "sp" in facts.modifiers)


def begins_sums(instruction: Instruction) -> bool:
    """Whether it is a `wgmma` that only writes its sums: its scale-d, the operand after both matrices and, of a sparse
    product, the metadata, is the number 0 (PTX ISA, wgmma.mma_async)."""
    facts = facts_of(instruction.opcode)
    if not facts.multiplies_later:
        return False
    scale = instruction.operands[5 if "sp" in facts.modifiers else 3]
    return isinstance(scale, Immediate) and number(scale) == 0
