"""Which lane and register of a warp holds which element of a matrix, and the words of the opcodes that determine it.

Every layout is built once; to use one is one numpy call.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from goptx.analysis.matrix_products import BITS, SHAPE
from goptx.emulator.instructions.lanewise import DTYPES, Array

WARP = 32  # lanes
F8F6 = ("e4m3", "e5m2", "e3m2", "e2m3")
"""The types of A and B that `mma` with `.kind::f8f6f4` allows, each with each. It also has e2m1, which is unknown here:
the manual does not say which bits of a byte hold it."""

ACCUMULATORS = {
    "f16": ("f16", "f32"),
    **dict.fromkeys(("bf16", "tf32"), ("f32",)),
    **dict.fromkeys(F8F6, ("f16", "f32")),
    **dict.fromkeys(("s8", "u8", "s4", "u4", "b1"), ("s32",)),
    "f64": ("f64",),
}
"""The types of C and D, by the type of A and B."""

PARTNERS = {a: pair for pair in (("s8", "u8"), ("s4", "u4"), ("e4m3", "e5m2")) for a in pair}
"""The types of B that `mma` allows, by the type of A, where that is not only A's type."""

MMA_SHAPES = {
    **dict.fromkeys(("f16", "bf16"), ((16, 8, 8), (16, 8, 16))),
    "tf32": ((16, 8, 4), (16, 8, 8)),
    **dict.fromkeys(("e4m3", "e5m2"), ((16, 8, 16), (16, 8, 32))),
    **dict.fromkeys(("s8", "u8"), ((8, 8, 16), (16, 8, 16), (16, 8, 32))),
    **dict.fromkeys(("s4", "u4"), ((8, 8, 32), (16, 8, 32), (16, 8, 64))),
    "b1": ((8, 8, 128), (16, 8, 128), (16, 8, 256)),
    "f64": ((8, 8, 4), (16, 8, 4), (16, 8, 8), (16, 8, 16)),
}
"""(m, n, k) by the type of A and B; f16 also has (8, 8, 4), of another kind."""

WMMA_SHAPES = {
    **dict.fromkeys(("f16", "bf16", "s8", "u8"), ((16, 16, 16), (32, 8, 16), (8, 32, 16))),
    "tf32": ((16, 16, 8),),
    "f64": ((8, 8, 4),),
    **dict.fromkeys(("s4", "u4"), ((8, 8, 32),)),
    "b1": ((8, 8, 128),),
}


@dataclass(frozen=True, slots=True)
class Words:
    """The words of an opcode: ptxas accepts them in any order, except that layouts and types have a fixed order.

    shape is (m, n, k); others are the words that are neither shape, layout, type, `.sync` nor `.aligned`.
    """

    shape: tuple[int, int, int]
    layouts: tuple[str, ...]
    types: tuple[str, ...]
    others: frozenset[str]


def words_of(opcode: str, family: str) -> Words | None:
    """The words after `family`; None unless the opcode begins so, is `.sync.aligned`, has one shape and no repeated
    word."""
    if not opcode.startswith(f"{family}."):
        return None
    words = opcode.removeprefix(f"{family}.").split(".")
    shapes = [found for word in words if (found := SHAPE.fullmatch(word))]
    layouts = tuple(word for word in words if word in ("row", "col"))
    types = tuple(word for word in words if word in BITS)
    others = [word for word in words if word not in ("row", "col", *BITS)]
    if len(shapes) != 1 or len(set(others)) < len(others) or not {"sync", "aligned"} <= set(others):
        return None
    m, n, k = map(int, shapes[0].groups())
    return Words((m, n, k), layouts, types, frozenset(others) - {"sync", "aligned", shapes[0].group()})


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """How a warp holds a matrix of rows x columns, or several.

    places: (32, elements of a lane), the positions of a lane's elements in the matrices, one matrix after the other and
        each in row-major order. Every position is held by some lane; several lanes, or a lane twice, may hold it.
    holders: for each position, the flat index in (32, elements) of its first copy.
    """

    rows: int
    columns: int
    places: Array
    holders: Array = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "holders", np.unique(self.places, return_index=True)[1])

    def gather(self, elements: Array) -> Array:
        """(warps, 32, elements), in any shape with the first axis and as many elements, to (matrices, rows,
        columns)."""
        flat = elements.reshape(-1, self.places.size)
        return flat.take(self.holders, axis=1).reshape(-1, self.rows, self.columns)

    def scatter(self, matrices: Array) -> Array:
        """(matrices, rows, columns) to (warps, 32, elements), a copy for every holder."""
        return matrices.reshape(-1, self.holders.size).take(self.places, axis=1)


def register_vector(element: str, layout: Layout) -> tuple[str, int]:
    """The PTX type and number of the registers in which a lane holds its elements."""
    type = element if element in ("f32", "s32", "f64") else "b32"
    return type, layout.places.shape[1] * BITS[element] // 8 // DTYPES[type].itemsize


def _tiled(rows: int, columns: int, run: int, group: int, *, down: bool = False, elements: int = 0) -> Layout:
    """A matrix as tiles of 8 rows of 4 runs: lane 4 g + t holds run t of neighbours in row g of each tile.

    Registers have the tiles in this order: through `group` tiles down, then to the right, then to the next group of
    rows. down: all of this with rows and columns exchanged, so that runs go down. If a lane would have fewer than
    `elements` elements, they are repeated.
    """
    outer, inner = (columns, rows) if down else (rows, columns)
    starts = [
        (row, column)
        for first in range(0, outer, 8 * group)
        for column in range(0, inner, 4 * run)
        for row in range(first, min(first + 8 * group, outer), 8)
    ]
    lane = np.arange(WARP)[:, None, None]
    row, column = np.array(starts).T[:, None, :, None]
    row, column = np.broadcast_arrays(row + lane // 4, column + lane % 4 * run + np.arange(run))
    places = (column * columns + row if down else row * columns + column).reshape(WARP, -1)
    return Layout(rows, columns, np.tile(places, max(elements // places.shape[1], 1)))


@lru_cache
def mma_layouts(shape: tuple[int, int, int], multiplicand: str) -> tuple[Layout, Layout, Layout]:
    """The layouts of A, B and C for `mma` in PTX ISA 9.0, 9.7.14.5; m8n8k4 with f16 is `quad_layouts`."""
    m, n, k = shape
    run = max(32 // BITS[multiplicand], 1)  # along k, in a register of A or B
    return _tiled(m, k, run, 2), _tiled(k, n, run, 1, down=True), _tiled(m, n, 2, 2)


@lru_cache
def wmma_layouts(shape: tuple[int, int, int], multiplicand: str) -> tuple[Layout, Layout, Layout]:
    """The layouts of A, B and C for `wmma`.

    The ISA does not specify them; these are those of an H200. They do not depend on how the matrices lie in memory.
    m8n32k16 is m32n8k16 with everything transposed, and f16 always has 16 elements of A and B in a lane.
    """
    m, n, k = shape
    run = max(32 // BITS[multiplicand], 1)  # along k, in a register of A or B
    elements = 16 if multiplicand == "f16" else 0
    wide = n > m
    return (
        _tiled(m, k, run, 1 if wide else 2, elements=elements),
        _tiled(k, n, run, 2 if wide else 1, down=True, elements=elements),
        _tiled(m, n, 2, 2, down=wide),
    )


@lru_cache
def quad_layouts(a_layout: str, b_layout: str, accumulator: str) -> tuple[Layout, Layout, Layout]:
    """The layouts of A, B and C for `mma.m8n8k4` with f16 and accumulators of one type: four products by a warp.

    Product q is that of the lanes 4q to 4q + 3 and those 16 above.
    """
    lane = np.arange(WARP)[:, None]
    quad, mine, high = lane % 16 // 4, lane % 4, lane // 16 * 4
    four, eight = np.arange(4), np.arange(8)
    a = (mine + high) * 4 + four if a_layout == "row" else (four + high) * 4 + mine
    b = mine * 8 + four + high if b_layout == "row" else four * 8 + mine + high
    c = (mine + high) * 8 + eight
    if accumulator == "f32":
        c = (mine % 2 + (eight & 2) + high) * 8 + (eight & 4) + (mine & 2) + (eight & 1)
    return Layout(8, 4, quad * 32 + a), Layout(4, 8, quad * 32 + b), Layout(8, 8, quad * 64 + c)
