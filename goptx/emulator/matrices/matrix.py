"""Products of matrices that a warp holds, `mma` and `wmma.mma`; and `movmatrix`, which transposes a matrix.

Requires `np.errstate(all="ignore")` of the caller, and whole warps: arrays are (warps, 32, registers).

The ISA does not specify the precision and order in which products of f16, bf16, tf32, e4m3 and e5m2 are summed. Here
every product is exact, they are summed in float64, then C is added, and the sum is rounded once to D's type, to nearest
even. Where the sum does not fit into float64's 53 bits, its last bit depends on the order of numpy's matrix product.
Products of f64 are fused multiply-adds in the order of k, bit by bit as on an H200, except for payloads of NaN.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np

from goptx.analysis.matrix_products import BITS
from goptx.emulator.floating.floating import floating
from goptx.emulator.floating.formats import decode, encode
from goptx.emulator.instructions.lanewise import DTYPES, Array
from goptx.emulator.matrices.tiles import (
    ACCUMULATORS,
    F8F6,
    MMA_SHAPES,
    PARTNERS,
    WARP,
    WMMA_SHAPES,
    Layout,
    Words,
    mma_layouts,
    quad_layouts,
    register_vector,
    wmma_layouts,
    words_of,
)

KIND = "kind::f8f6f4"
AT_ONCE = 64  # warps, so that intermediate results stay in the processor's cache

Sum = Callable[[Array, Array, Array], Array]
"""D from A (.., m, k), B (.., k, n) and C (.., m, n): integers of A and B as float32, of C as int32, else float64."""


@dataclass(frozen=True, slots=True)
class Product:
    """The function of an instruction on the matrices that a warp holds.

    sources are the register vectors of A, B and C: the PTX type and number of the registers; result is that of D.
    For movmatrix, the one source and the result are single registers instead of vectors.
    `apply` takes an array (warps, 32, registers) for each source, in its type's dtype or as bits of its width, and
    returns one for the result, in its dtype. It does not change its arguments.
    """

    sources: tuple[tuple[str, int], ...]
    result: tuple[str, int]
    apply: Callable[..., Array]


@lru_cache
def product(opcode: str) -> Product | None:
    """The product of `opcode`; None if it is not a product, or has an unknown word, shape, layout or type.

    Sparse and block-scaled products, and those of floating-point elements of 4 bits, are unknown.
    """
    if opcode == "movmatrix.sync.aligned.m8n8.trans.b16":
        return Product((("b32", 1),), ("b32", 1), _transposed)
    for family, operation in (("mma", _mma), ("wmma.mma", _wmma)):
        words = words_of(opcode, family)
        if words is not None and len(words.layouts) == 2:
            return operation(words)
    return None


def _mma(words: Words) -> Product | None:
    if len(words.types) != 4:
        return None
    d, a, b, c = words.types
    if KIND in words.others:
        return _mma_of_bytes(words)
    add = _sum(a, d, words.others)
    if add is None or b not in PARTNERS.get(a, (a,)) or not {c, d} <= set(ACCUMULATORS[a]):
        return None
    if a == "f16" and words.shape == (8, 8, 4) and (c, d) != ("f32", "f16"):
        sums = quad_layouts(*words.layouts, d)[2]
        return _product((a, b, c, d), (*quad_layouts(*words.layouts, c), sums), add)
    if words.shape not in MMA_SHAPES.get(a, ()) or words.layouts != ("row", "col") or c != d:
        return None
    layouts = mma_layouts(words.shape, a)
    return _product((a, b, c, d), (*layouts, layouts[2]), add)


def _mma_of_bytes(words: Words) -> Product | None:
    """`mma` of floats of eight and six bits, each in a byte."""
    d, a, b, c = words.types
    shape, layouts, others = words.shape, words.layouts, words.others
    add = _sum(a, d, others - {KIND})
    if add is None or not {a, b} <= set(F8F6) or c != d or shape != (16, 8, 32) or layouts != ("row", "col"):
        return None
    tiles = mma_layouts(shape, a)
    return _product((a, b, c, d), (*tiles, tiles[2]), add)


def _wmma(words: Words) -> Product | None:
    types = words.types
    if len(types) == 2:  # D and C; A and B are f16
        types = (types[0], "f16", "f16", types[1])
    elif len(types) != 4 or types[1] == "f16":
        return None
    d, a, b, c = types
    add = _sum(a, d, words.others)
    if add is None or a != b or words.shape not in WMMA_SHAPES.get(a, ()) or not {c, d} <= set(ACCUMULATORS[a]):
        return None
    if BITS[a] < 8 and words.layouts != ("row", "col"):
        return None
    layouts = wmma_layouts(words.shape, a)
    return _product((a, b, c, d), (*layouts, layouts[2]), add)


def _product(types: tuple[str, str, str, str], layouts: tuple[Layout, Layout, Layout, Layout], add: Sum) -> Product:
    """The product for the types and layouts of A, B, C and D."""
    vectors = [register_vector(element, layout) for element, layout in zip(types, layouts, strict=True)]
    type, count = vectors[3]
    operands = tuple(zip(types[:3], layouts[:3], strict=True))

    def apply(*registers: Array) -> Array:
        results = np.empty((len(registers[0]), WARP, count), DTYPES[type])
        for first in range(0, len(results), AT_ONCE):
            some = slice(first, first + AT_ONCE)
            a, b, c = (_matrix(r[some], *operand) for r, operand in zip(registers, operands, strict=True))
            results[some] = layouts[3].scatter(add(a, b, c)).view(DTYPES[type])
        return results

    return Product(tuple(vectors[:3]), vectors[3], apply)


def _matrix(registers: Array, element: str, layout: Layout) -> Array:
    """The numbers in the registers, in the form that `Sum` takes."""
    words = np.ascontiguousarray(registers)
    if element == "b1":
        words = np.unpackbits(words.view(np.uint8), axis=-1, bitorder="little")
    elif element in ("s4", "u4"):
        pairs = words.view(np.int8 if element == "s4" else np.uint8)
        words = np.stack([pairs << 4 >> 4, pairs >> 4], axis=-1)
    else:
        words = words.view(DTYPES.get(element, np.uint8))
    matrix = layout.gather(words)
    if element in ("s32", "f64"):
        return matrix
    return matrix.astype(np.float32) if "s32" in ACCUMULATORS.get(element, ()) else decode(matrix, element)


def _sum(multiplicand: str, result: str, options: frozenset[str]) -> Sum | None:
    """The sum for products of this type; None if there are no such products, or not with these options."""
    if multiplicand == "f64":
        fma = floating(f"fma.{ROUNDINGS[options]}.f64") if options in ROUNDINGS else None
        return partial(_chain, fma.apply) if fma else None
    if multiplicand == "b1":
        return BIT_SUMS.get(options)
    if ACCUMULATORS.get(multiplicand) == ("s32",):
        return INTEGER_SUMS.get(options)
    return partial(_rounded_sum, result) if multiplicand in ACCUMULATORS and not options else None


def _rounded_sum(result: str, a: Array, b: Array, c: Array) -> Array:
    return encode(a @ b + c, result)


def _chain(fma: Callable[..., Array], a: Array, b: Array, c: Array) -> Array:
    for k in range(a.shape[-1]):
        c = fma(*np.broadcast_arrays(a[..., k, None], b[..., k, None, :]), c)
    return c


def _wrapping_sum(a: Array, b: Array, c: Array) -> Array:
    return (a @ b).astype(np.int32) + c  # exact in float32: at most 32 * 255**2 < 2**24


def _saturating_sum(a: Array, b: Array, c: Array) -> Array:
    limits = np.iinfo(np.int32)
    sums: Array = ((a @ b).astype(np.int64) + c).clip(limits.min, limits.max).astype(np.int32)
    return sums


def _differing_bits(a: Array, b: Array, c: Array) -> Array:
    """1 - 2 a times 1 - 2 b is -1 where the bits differ, else 1: k less twice the number that is wanted."""
    differing: Array = (a.shape[-1] - (1 - 2 * a) @ (1 - 2 * b)) / 2
    return differing.astype(np.int32) + c


# By the words of an opcode that determine the sum.
ROUNDINGS = {frozenset[str](): "rn"} | {frozenset({rounding}): rounding for rounding in ("rn", "rz", "rm", "rp")}
INTEGER_SUMS: dict[frozenset[str], Sum] = {frozenset(): _wrapping_sum, frozenset({"satfinite"}): _saturating_sum}
BIT_SUMS: dict[frozenset[str], Sum] = {
    frozenset({"and", "popc"}): _wrapping_sum,
    frozenset({"xor", "popc"}): _differing_bits,
}


def _transposed(registers: Array) -> Array:
    halves = np.ascontiguousarray(registers).view(np.uint16).reshape(-1, 8, 8)
    return np.ascontiguousarray(halves.swapaxes(1, 2)).view(np.uint32).reshape(-1, WARP, 1)
