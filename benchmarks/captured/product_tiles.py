"""Tiles of the matrix products of torch_programs.py, as a careful user chooses them by the number of rows."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Tile:
    """rows, columns: of the result that a CTA computes. depth: of a step of its loop. stages: steps that are in flight,
    with that which is computed."""

    rows: int
    columns: int
    depth: int
    warps: int = 4
    stages: int = 4

    def __str__(self) -> str:
        return f"{self.rows}x{self.columns}x{self.depth}, {self.warps} warps, {self.stages} stages"


def tile_of(rows: int) -> Tile:
    """For a product of so many rows.

    From 512 rows on, tensor cores are the limit: tiles of 128 x 128, of which two fit on an SM, as in suite C. For
    fewer rows it is memory: all rows in one tile, or 64 for `wgmma`, and long steps. 4,096 columns are 64 CTAs then, on
    132 SMs. Tiles of 32 columns would be 128 CTAs with the same bytes in flight, 24 KiB of weights instead of 48 in
    each, and would read the rows twice as often (benchmarks/product_tiles.py times both).
    """
    if rows >= 512:
        return Tile(128, 128, 64, stages=3)
    return Tile(16 if rows <= 16 else 32 if rows <= 32 else 64, 64, 128)
