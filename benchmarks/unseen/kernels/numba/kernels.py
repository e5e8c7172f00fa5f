# mypy: disable-error-code="no-untyped-def"
"""Kernels as Python programs have them, with the types for which Numba compiles them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from numba import cuda, float32, float64, int32, void

TILE = 16


def pi_samples(inside, samples, seed):
    """How many of the points that a thread draws, by xorshift, lie in the circle; a thread takes one element in turn."""
    start = cuda.grid(1)
    step = cuda.gridsize(1)
    for i in range(start, inside.shape[0], step):
        state = (seed ^ (i * 747796405 + 1)) & 0x7FFFFFFF
        if state == 0:
            state = 1
        count = 0
        for _ in range(samples):
            state ^= (state << 13) & 0x7FFFFFFF
            state ^= state >> 17
            state ^= (state << 5) & 0x7FFFFFFF
            x = (state & 0x7FFF) / 32768.0
            y = (state >> 15) / 65536.0
            if x * x + y * y < 1.0:
                count += 1
        inside[i] = count


def tiled_product(c, a, b):
    """C = A B, tile by tile in shared memory; the sizes need not be multiples of a tile."""
    left = cuda.shared.array((TILE, TILE), float32)
    right = cuda.shared.array((TILE, TILE), float32)
    column, row = cuda.grid(2)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    total = float32(0.0)
    for tile in range((a.shape[1] + TILE - 1) // TILE):
        left[y, x] = 0
        right[y, x] = 0
        if row < a.shape[0] and x + tile * TILE < a.shape[1]:
            left[y, x] = a[row, x + tile * TILE]
        if column < b.shape[1] and y + tile * TILE < b.shape[0]:
            right[y, x] = b[y + tile * TILE, column]
        cuda.syncthreads()
        for k in range(TILE):
            total += left[y, k] * right[k, x]
        cuda.syncthreads()
    if row < c.shape[0] and column < c.shape[1]:
        c[row, column] = total


def haversine(distance, longitude, latitude, from_longitude, from_latitude):
    """Distances on the earth in kilometres; what is not a place gives -1."""
    i = cuda.grid(1)
    if i >= distance.size:
        return
    if abs(latitude[i]) > 90.0:
        distance[i] = -1.0
        return
    radian = math.pi / 180.0
    d_longitude = (longitude[i] - from_longitude) * radian
    d_latitude = (latitude[i] - from_latitude) * radian
    a = math.sin(d_latitude / 2.0) ** 2
    a += math.cos(from_latitude * radian) * math.cos(latitude[i] * radian) * math.sin(d_longitude / 2.0) ** 2
    distance[i] = 6371.0 * 2.0 * math.asin(min(1.0, math.sqrt(a)))


KERNELS: Mapping[str, tuple[Callable[..., None], Any]] = {
    "pi_samples": (pi_samples, void(int32[::1], int32, int32)),
    "tiled_product": (tiled_product, void(float32[:, ::1], float32[:, ::1], float32[:, ::1])),
    "haversine": (haversine, void(float32[::1], float32[::1], float32[::1], float64, float64)),
}
