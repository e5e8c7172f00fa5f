"""Times tiles for the matrix products of graph_programs.py: what tile_of() of captured/product_tiles.py chooses, beside
others, each alone.

    python benchmarks/product_tiles.py [--rows N ...]

Microseconds of a replay of a CUDA graph of products that follow one another, each with weights of its own, so that none
is in the L2 cache. Triton compiles some 180 kernels for all rows, in a few minutes. Needs a GPU, torch and Triton.
"""

from __future__ import annotations

import argparse
import sys
from functools import partial
from itertools import product as every
from statistics import median
from typing import Any

from captured.product_tiles import Tile, tile_of

ROWS = (8, 32, 128, 512)
SHAPES = ((4096, 4096), (1024, 4096), (14336, 4096), (4096, 14336), (3584, 4096))  # columns, depth
SHAPES_OF_MANY = ((4096, 4096),)  # from 512 rows on
BYTES = 400 << 20  # of weights in a graph
ROUNDS, WARMUPS = 15, 3
MOST_SHARED = 227 << 10  # bytes of a CTA


def tiles(rows: int) -> list[Tile]:
    """That which is chosen, and others."""
    chosen = tile_of(rows)
    if rows >= 512:
        sizes, depths, stages = [(64, 128), (128, 128), (128, 256), (64, 256)], (64, 128), (3, 4)
        others = [Tile(*size, depth, warps, n) for size, depth, n, warps in every(sizes, depths, stages, (4, 8))]
    else:
        others = [Tile(chosen.rows, c, d, 4, n) for c, d, n in every((16, 32, 64), (128, 256), (3, 4))]
    return [chosen, *(t for t in others if t != chosen and _shared(t) <= MOST_SHARED)]


def _shared(tile: Tile) -> int:
    return 2 * tile.stages * tile.depth * (tile.rows + tile.columns)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=ROWS, help=f"of the products; {ROWS} by default")
    options = parser.parse_args()
    import torch

    print("| rows x columns x depth | chosen | us | fastest | us |\n|---|---|---|---|---|")
    for rows in options.rows:
        for columns, depth in SHAPES_OF_MANY if rows >= 512 else SHAPES:
            replays, count = {}, max(1, BYTES // (2 * columns * depth))
            x = torch.randn(rows, depth, device="cuda", dtype=torch.bfloat16)
            weights = [torch.randn(columns, depth, device="cuda", dtype=torch.bfloat16) for _ in range(count)]
            for tile in tiles(rows):
                if columns % tile.columns == 0 == depth % tile.depth:
                    replays[tile] = captured(x, weights, tile)
            times = timed({tile: replay for tile, replay in replays.items() if replay})
            chosen, fastest = tile_of(rows), min(times, key=lambda tile: times[tile])
            row = f"| {rows} x {columns} x {depth} | {chosen} | {times[chosen] / count:.2f} | {fastest} |"
            print(f"{row} {times[fastest] / count:.2f} |", flush=True)
    return 0


def captured(x: Any, weights: list[Any], tile: Tile) -> Any:
    """What replays the products; None if the tile is too large."""
    import torch
    from captured.torch_programs import linear
    from triton.runtime.errors import OutOfResources

    try:
        linear(x, weights[0], tile)
    except OutOfResources:
        return None
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for weight in weights:
            linear(x, weight, tile)
    return graph.replay


def timed(replays: dict[Tile, Any]) -> dict[Tile, float]:
    """Microseconds of each, in turn."""
    from graph_programs import timer

    run, found = timer(), {tile: list[float]() for tile in replays}
    for _ in range(WARMUPS + ROUNDS):
        for tile, replay in replays.items():
            found[tile].append(run(partial(replay)))
    return {tile: median(times[WARMUPS:]) for tile, times in found.items()}


if __name__ == "__main__":
    sys.exit(main())
