"""Matrices between memory and the registers of a warp: wmma.load, wmma.store, ldmatrix, stmatrix.

The caller accesses memory: this file computes only addresses, and which data go into which register.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from goptx.analysis.matrix_products import BITS
from goptx.emulator.instructions.lanewise import DTYPES, Array
from goptx.emulator.matrices.tiles import (
    ACCUMULATORS,
    WARP,
    WMMA_SHAPES,
    register_vector,
    wmma_layouts,
    words_of,
)

OPERANDS = {"wmma.load.a": 0, "wmma.load.b": 1, "wmma.load.c": 2, "wmma.store.d": 2}  # places among A, B, C
SPACES = frozenset(("global", "shared", "shared::cta"))


@dataclass(frozen=True, slots=True, eq=False)
class Fragment:
    """The elements of one lane, of a matrix that wmma.load reads or wmma.store writes.

    type, registers: of the register vector, a key of `DTYPES` and a number.
    element_bytes, elements: the size and number of what a lane moves; elements of less than a byte move in fours of
        bytes. A lane of an f16 fragment of A or B may hold an element more than once, and several lanes may hold the
        same.
    stride: between rows (in a column-major matrix, columns), in elements, where the instruction names none.
    bits: of an element of the matrix. lines, along: (32, elements), the row of each element, and its position there;
        in a column-major matrix, the column.
    """

    type: str
    registers: int
    element_bytes: int
    elements: int
    stride: int
    bits: int
    lines: Array
    along: Array

    def offsets(self, stride: Array | int) -> Array:
        """Bytes from the base address to each element, in the shape of `stride` with (.., elements) appended.

        stride: in elements, for each lane (.., 32), or one number for all, which gives (32, elements).
        """
        strides = np.asarray(stride, np.int64)
        return (strides[..., None] * self.lines + self.along) * self.bits >> 3

    def pack(self, elements: Array) -> Array:
        """Raw bits (.., elements), unsigned of element_bytes, to registers (.., registers)."""
        return np.ascontiguousarray(elements).view(DTYPES[self.type])

    def unpack(self, registers: Array) -> Array:
        """The inverse of `pack`."""
        return np.ascontiguousarray(registers).view(f"u{self.element_bytes}")


@lru_cache
def fragment(opcode: str) -> Fragment | None:
    """The fragment that `wmma.load.{a,b,c}` or `wmma.store.d` moves; None if the ISA lacks the opcode."""
    family = next((f for f in OPERANDS if opcode.startswith(f"{f}.")), None)
    words = words_of(opcode, family) if family else None
    if family is None or words is None or (len(words.types), len(words.layouts)) != (1, 1):
        return None
    if len(words.others) > 1 or not words.others <= SPACES:
        return None
    (element,), (order,), index = words.types, words.layouts, OPERANDS[family]
    bits = BITS[element]
    users = [
        t
        for t, shapes in WMMA_SHAPES.items()
        if words.shape in shapes and element in ((t,), (t,), ACCUMULATORS[t])[index]
    ]
    if not users or (bits < 8 and order != ("row", "col")[index]):
        return None
    layout = wmma_layouts(words.shape, users[0])[index]
    rows, columns = np.divmod(layout.places, layout.columns)
    lines, along = (rows, columns) if order == "row" else (columns, rows)
    step = 32 // bits if bits < 8 else 1
    type, registers = register_vector(element, layout)
    return Fragment(
        type=type,
        registers=registers,
        element_bytes=bits * step // 8,
        elements=lines.shape[1] // step,
        stride=layout.columns if order == "row" else layout.rows,
        bits=bits,
        lines=lines[:, ::step],
        along=along[:, ::step],
    )


@lru_cache
def in_pairs(opcode: str) -> Fragment | None:
    """What `wmma.load.{a,b,c}` moves, as pairs of elements that follow each other in memory, and each pair once; None
    where they do not, or a pair has more than the 4 bytes of a bank."""
    found = fragment(opcode)
    if found is None or found.elements % 2 or found.element_bytes > 2:
        return None
    places = np.stack([found.lines, found.along])
    half = found.elements // 2
    if half % 2 == 0 and np.array_equal(places[..., :half], places[..., half:]):
        places = places[..., :half]
    first, second = places[..., ::2], places[..., 1::2]
    if found.bits < 8 or not np.array_equal(first + np.array([0, 1])[:, None, None], second):
        return None
    lines, along = first
    return replace(found, element_bytes=2 * found.element_bytes, elements=first.shape[-1], lines=lines, along=along)


@dataclass(frozen=True, slots=True)
class MatrixAccess:
    """The data that `ldmatrix` or `stmatrix` moves: `matrices` of 8 x 8 elements of 16 bits, each row 16 bytes of
    memory.

    Lane 8 i + r has the address of row r of matrix i; a register of the vector holds a part of one matrix.
    """

    matrices: int
    transposed: bool

    def row_addresses(self, addresses: Array) -> Array:
        """(warps, 32) to (warps, matrices, 8)."""
        return addresses[:, : 8 * self.matrices].reshape(-1, self.matrices, 8)

    def registers(self, rows: Array) -> Array:
        """uint8 (warps, matrices, 8, 16) as ldmatrix reads them, to uint32 (warps, 32, matrices)."""
        return self._turned(rows.view(np.uint16)).view(np.uint32).reshape(-1, self.matrices, WARP).swapaxes(1, 2)

    def rows(self, registers: Array) -> Array:
        """uint32 (warps, 32, matrices) to uint8 (warps, matrices, 8, 16) as stmatrix writes them."""
        halves = np.ascontiguousarray(registers.swapaxes(1, 2)).view(np.uint16)
        return self._turned(halves.reshape(-1, self.matrices, 8, 8)).view(np.uint8)

    def _turned(self, halves: Array) -> Array:
        return np.ascontiguousarray(halves.swapaxes(-1, -2) if self.transposed else halves)


@lru_cache
def matrix_access(opcode: str) -> MatrixAccess | None:
    """The access of `ldmatrix` or `stmatrix`; None for other opcodes, and for the forms of sm_100 with 8-bit
    elements."""
    family, *words = opcode.split(".")
    numbers = [word for word in words if re.fullmatch("x[124]", word)]
    spaces = [word for word in words if word in ("shared", "shared::cta")]
    rest = set(words) - {*numbers, *spaces, "trans"}
    if family not in ("ldmatrix", "stmatrix") or len(set(words)) < len(words):
        return None
    if len(numbers) != 1 or len(spaces) > 1 or rest != {"sync", "aligned", "m8n8", "b16"}:
        return None
    return MatrixAccess(int(numbers[0][1]), "trans" in words)
