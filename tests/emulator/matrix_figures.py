"""The fragments of `mma` as the PTX ISA's section on them states them, and what moves matrices into them and out.

One matrix and one element at a time, in Python's integers: what the emulator's tables are tested against.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from goptx.emulator.instructions.lanewise import DTYPES, Array

Place = Callable[[int, int, int], tuple[int, int]]
"""Row and column of the i-th element of the lane with this groupID and threadID_in_group."""

Codes = list[list[int]]
"""The bits of a matrix's elements, by row and column."""

BITS = {
    "f16": 16, "bf16": 16, "tf32": 32, "f32": 32, "f64": 64, "e4m3": 8, "e5m2": 8, "e3m2": 8, "e2m3": 8,
    "s32": 32, "s8": 8, "u8": 8, "s4": 4, "u4": 4, "b1": 1,
}  # fmt: skip

# Shape and bits of an element of A and B: the places of a_i and b_i.
FIGURES: dict[tuple[str, int], tuple[Place, Place]] = {
    ("m8n8k4", 64): (lambda g, t, i: (g, t), lambda g, t, i: (t, g)),
    ("m16n8k4", 64): (lambda g, t, i: (g if i == 0 else g + 8, t), lambda g, t, i: (t, g)),
    ("m16n8k4", 32): (lambda g, t, i: (g if i == 0 else g + 8, t), lambda g, t, i: (t, g)),
    ("m16n8k8", 64): (
        lambda g, t, i: (g if i in (0, 2) else g + 8, t if i in (0, 1) else t + 4),
        lambda g, t, i: (t if i == 0 else t + 4, g),
    ),
    ("m16n8k8", 32): (
        lambda g, t, i: (g if i in (0, 2) else g + 8, t if i in (0, 1) else t + 4),
        lambda g, t, i: (t if i == 0 else t + 4, g),
    ),
    ("m16n8k8", 16): (lambda g, t, i: (g if i < 2 else g + 8, t * 2 + (i & 1)), lambda g, t, i: (t * 2 + i, g)),
    ("m16n8k16", 64): (
        lambda g, t, i: (g, i * 2 + t) if i % 2 == 0 else (g + 8, i * 2 - 2 + t),
        lambda g, t, i: (t + i * 4, g),
    ),
    ("m16n8k16", 16): (
        lambda g, t, i: (g if i < 2 or 4 <= i < 6 else g + 8, t * 2 + (i & 1) + (0 if i < 4 else 8)),
        lambda g, t, i: (t * 2 + (i & 1) + (0 if i < 2 else 8), g),
    ),
    ("m16n8k16", 8): (lambda g, t, i: (g if i < 4 else g + 8, t * 4 + (i & 3)), lambda g, t, i: (t * 4 + i, g)),
    ("m8n8k16", 8): (lambda g, t, i: (g, t * 4 + i), lambda g, t, i: (t * 4 + i, g)),
    ("m16n8k32", 8): (
        lambda g, t, i: (g if i < 4 or 8 <= i < 12 else g + 8, t * 4 + (i & 3) + (0 if i < 8 else 16)),
        lambda g, t, i: (t * 4 + (i & 3) + (0 if i < 4 else 16), g),
    ),
    ("m8n8k32", 4): (lambda g, t, i: (g, t * 8 + i), lambda g, t, i: (t * 8 + i, g)),
    ("m16n8k32", 4): (lambda g, t, i: (g if i < 8 else g + 8, t * 8 + (i & 7)), lambda g, t, i: (t * 8 + i, g)),
    ("m16n8k64", 4): (
        lambda g, t, i: (g if i < 8 or 16 <= i < 24 else g + 8, t * 8 + (i & 7) + (0 if i < 16 else 32)),
        lambda g, t, i: (t * 8 + (i & 7) + (0 if i < 8 else 32), g),
    ),
    ("m8n8k128", 1): (lambda g, t, i: (g, t * 32 + i), lambda g, t, i: (t * 32 + i, g)),
    ("m16n8k128", 1): (lambda g, t, i: (g if i < 32 else g + 8, t * 32 + (i & 31)), lambda g, t, i: (t * 32 + i, g)),
    ("m16n8k256", 1): (
        lambda g, t, i: (g if i < 32 or 64 <= i < 96 else g + 8, t * 32 + (i & 31) + (0 if i < 64 else 128)),
        lambda g, t, i: (t * 32 + (i & 31) + (0 if i < 32 else 128), g),
    ),
}


def accumulator(g: int, t: int, i: int) -> tuple[int, int]:
    """The place of c_i and d_i, of all shapes."""
    return (g if i < 2 else g + 8), t * 2 + (i & 1)


def spread(matrix: Codes, place: Place, element: str, vector: tuple[str, int]) -> Array:
    """(1, 32, registers): the matrix as a warp holds it."""
    type, registers = vector
    width, bits = 8 * DTYPES[type].itemsize, BITS[element]
    words = [[0] * registers for _ in range(32)]
    for lane in range(32):
        for i in range(registers * width // bits):
            row, column = place(lane >> 2, lane % 4, i)
            words[lane][i * bits // width] |= matrix[row][column] << i * bits % width
    return np.array([words], f"u{width // 8}").view(DTYPES[type])


def collected(registers: Array, place: Place, element: str, rows: int, columns: int) -> Codes:
    """The matrix that (32, registers) hold: the inverse of `spread`."""
    width, bits = 8 * registers.dtype.itemsize, BITS[element]
    words = np.ascontiguousarray(registers).view(f"u{width // 8}").tolist()
    matrix = [[0] * columns for _ in range(rows)]
    for lane in range(32):
        for i in range(len(words[lane]) * width // bits):
            row, column = place(lane >> 2, lane % 4, i)
            matrix[row][column] = words[lane][i * bits // width] >> i * bits % width & ((1 << bits) - 1)
    return matrix
