"""Counting, finding and permuting bits and bytes: `popc`, `clz`, `bfind`, `fns`, `brev`, `prmt`.

Requires: the contract of `Lanewise`, and a little-endian machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache, reduce
from typing import Any

import numpy as np

from goptx.emulator.instructions.lanewise import DTYPES, Array, Lanewise

_ONE, _THREE, _SEVEN, _TOP, _ONES = (np.uint32(n) for n in (1, 3, 7, 31, 0xFFFFFFFF))
_SIGNS = np.uint32(0x8888)
_NIBBLES = np.array([0, 4, 8, 12], np.uint32)

# The modes of `prmt`: for the lowest two bits of its third operand, the selector of the generic form.
_SELECTORS = {
    "f4e": (0x3210, 0x4321, 0x5432, 0x6543),
    "b4e": (0x5670, 0x6701, 0x7012, 0x0123),
    "rc8": (0x0000, 0x1111, 0x2222, 0x3333),
    "ecl": (0x3210, 0x3211, 0x3222, 0x3333),
    "ecr": (0x0000, 0x1110, 0x2210, 0x3210),
    "rc16": (0x1010, 0x3232, 0x1010, 0x3232),
}


def _groups(dtype: np.dtype[Any]) -> list[tuple[Any, Any]]:
    """1, 2 and 4, each with the mask of every other group of so many bits, beginning with the lowest."""
    return [
        (dtype.type(n), dtype.type(int(byte * dtype.itemsize, 16))) for n, byte in ((1, "55"), (2, "33"), (4, "0f"))
    ]


def _population(t: str) -> Callable[[Array], Array]:
    dtype = DTYPES[t]
    groups, bytes_, top = _groups(dtype), dtype.type(int("01" * dtype.itemsize, 16)), dtype.type(8 * dtype.itemsize - 8)

    def count(a: Array) -> Array:
        for n, mask in groups:
            a = (a & mask) + ((a >> n) & mask)
        total: Array = (a * bytes_) >> top
        return total.astype(np.uint32)

    return count


def _reversed(t: str) -> Callable[[Array], Array]:
    groups = _groups(DTYPES[t])

    def reverse(a: Array) -> Array:
        for n, mask in groups:
            a = ((a & mask) << n) | ((a >> n) & mask)
        return a.byteswap()

    return reverse


def _length(a: Array) -> Array:
    """The number of bits that unsigned numbers need, 0 for 0. Each first clears the bit below its highest bit, so that
    float64 does not round it up."""
    sparse = a & ~(a >> a.dtype.type(1))
    length: Array = np.frexp(sparse.astype(np.float64))[1]
    return length.astype(np.uint32)


def _leading_zeros(t: str) -> Callable[[Array], Array]:
    width = np.uint32(8 * DTYPES[t].itemsize)
    return lambda a: width - _length(a)


def _find(t: str) -> Callable[[Array], Array]:
    """The position of the first bit that differs from the sign."""
    dtype, unsigned = DTYPES[t], DTYPES[f"u{t[1:]}"]
    if dtype == unsigned:
        return lambda a: _length(a) - _ONE
    top = dtype.type(8 * dtype.itemsize - 1)
    return lambda a: _length((a ^ (a >> top)).view(unsigned)) - _ONE


def _find_shift(t: str) -> Callable[[Array], Array]:
    """The distance of that bit from the top."""
    find, top = _find(t), np.uint32(8 * DTYPES[t].itemsize - 1)

    def distance(a: Array) -> Array:
        position = find(a)
        return np.where(position == _ONES, _ONES, top - position)

    return distance


_reverse_word = _reversed("b32")


def _find_nth(mask: Array, base: Array, offset: Array) -> Array:
    """Searches upwards, or in the mirrored mask if the offset is negative, from `base` on; only there if it is 0."""
    down = offset < 0
    searched = np.where(down, _reverse_word(mask) & (_ONES << (_TOP - base)), mask & (_ONES << base))
    searched = np.where(offset == 0, mask & (_ONE << base), searched)
    rank = np.maximum(np.abs(offset).view(np.uint32), _ONE)
    found = np.cumsum(
        np.unpackbits(searched[..., None].view(np.uint8), axis=-1, bitorder="little"), axis=-1, dtype=np.uint32
    )
    position = (found < rank[..., None]).sum(axis=-1, dtype=np.uint32)
    return np.where(position > _TOP, _ONES, np.where(down, _TOP - position, position))


@lru_cache(maxsize=256)
def _moves(selector: int) -> list[tuple[bool, Any, Any, Any]]:
    """The moves of bytes for a selector: from b or a, the shift and its amount, the mask of the destination.

    Bytes of one register that move by the same distance move together.
    """
    masks: dict[tuple[bool, int], int] = {}
    for place in range(4):
        byte = selector >> 4 * place & 7
        move = byte > 3, place - byte % 4
        masks[move] = masks.get(move, 0) | 255 << 8 * place
    return [
        (of_b, np.left_shift if distance > 0 else np.right_shift, np.uint32(8 * abs(distance)), np.uint32(mask))
        for (of_b, distance), mask in masks.items()
    ]


def _permute(a: Array, b: Array, selector: Array) -> Array:
    """Each of the lowest four nibbles selects a byte of {b, a}, or, with its top bit set, the sign of that byte."""
    if selector.ndim == 0 and not selector & _SIGNS:
        moved = (shift(b if of_b else a, n) & mask for of_b, shift, n, mask in _moves(int(selector) & 0x7777))
        return reduce(np.bitwise_or, moved)
    source = a.astype(np.uint64) | (b.astype(np.uint64) << np.uint64(32))
    nibbles = selector[..., None] >> _NIBBLES
    chosen = (source[..., None] >> ((nibbles & _SEVEN) << _THREE).astype(np.uint64)).astype(np.int8)
    replicated = chosen >> (((nibbles >> _THREE) & _ONE) * _SEVEN).astype(np.int8)
    return replicated.view(np.uint32)[..., 0]


def _permute_as(mode: str) -> Callable[[Array, Array, Array], Array]:
    selectors = np.array(_SELECTORS[mode], np.uint32)
    return lambda a, b, c: _permute(a, b, selectors[c & _THREE])


def _bits() -> Iterator[tuple[str, Lanewise]]:
    for t in ("b32", "b64"):
        yield f"popc.{t}", Lanewise((t,), ("u32",), _population(t))
        yield f"clz.{t}", Lanewise((t,), ("u32",), _leading_zeros(t))
        yield f"brev.{t}", Lanewise((t,), (t,), _reversed(t))
    for t in ("u32", "s32", "u64", "s64"):
        yield f"bfind.{t}", Lanewise((t,), ("u32",), _find(t))
        yield f"bfind.shiftamt.{t}", Lanewise((t,), ("u32",), _find_shift(t))
    yield "fns.b32", Lanewise(("b32", "u32", "s32"), ("b32",), _find_nth)
    yield "prmt.b32", Lanewise(("b32", "b32", "b32"), ("b32",), _permute)
    for mode in _SELECTORS:
        yield f"prmt.{mode}.b32", Lanewise(("b32", "b32", "b32"), ("b32",), _permute_as(mode))


BITS: dict[str, Lanewise] = dict(_bits())
