#!/usr/bin/env python3
# mypy: disable-error-code="no-untyped-def"
"""Kernels as Python programs have them, in Numba, which compiles them to PTX without a GPU: NAME.sm_90.ptx.

    ./make.py [--check] [NAME ...]

With --check nothing is written: the exit status is 1 if a committed file differs. Needs numba-cuda, NVVM and NVRTC of
CUDA 13.0.
"""

from __future__ import annotations

import argparse
import math
import re
import sys
from collections.abc import Callable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from numba import cuda, float32, float64, int32, void

FOLDER = Path(__file__).parent
TILE = 16


def pi_samples(inside, samples, seed):
    """How many of the points that a thread draws, by xorshift, lie in the circle; a thread takes several elements."""
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


def kepler_rk4(px, py, vx, vy, taken, mass, dt, steps):
    """Bodies around a mass at the origin, by Runge and Kutta in doubles; one that falls in or escapes stops early."""
    i = cuda.grid(1)
    if i >= px.size:
        return
    x = px[i]
    y = py[i]
    u = vx[i]
    v = vy[i]
    done = 0
    for _ in range(steps):
        r2 = x * x + y * y
        if r2 < 0.04 or r2 > 100.0:
            break
        f = -mass / (r2 * math.sqrt(r2))
        ax1 = f * x
        ay1 = f * y
        h = 0.5 * dt
        x2 = x + h * u
        y2 = y + h * v
        u2 = u + h * ax1
        v2 = v + h * ay1
        r2 = x2 * x2 + y2 * y2
        f = -mass / (r2 * math.sqrt(r2))
        ax2 = f * x2
        ay2 = f * y2
        x3 = x + h * u2
        y3 = y + h * v2
        u3 = u + h * ax2
        v3 = v + h * ay2
        r2 = x3 * x3 + y3 * y3
        f = -mass / (r2 * math.sqrt(r2))
        ax3 = f * x3
        ay3 = f * y3
        x4 = x + dt * u3
        y4 = y + dt * v3
        u4 = u + dt * ax3
        v4 = v + dt * ay3
        r2 = x4 * x4 + y4 * y4
        f = -mass / (r2 * math.sqrt(r2))
        x += dt / 6.0 * (u + 2.0 * u2 + 2.0 * u3 + u4)
        y += dt / 6.0 * (v + 2.0 * v2 + 2.0 * v3 + v4)
        u += dt / 6.0 * (ax1 + 2.0 * ax2 + 2.0 * ax3 + f * x4)
        v += dt / 6.0 * (ay1 + 2.0 * ay2 + 2.0 * ay3 + f * y4)
        done += 1
    px[i] = x
    py[i] = y
    vx[i] = u
    vy[i] = v
    taken[i] = done


def event_bins(counts, latest, longitude, latitude, second, wide, high):
    """Events by cell of a map: how many, and when the last one was. What is not a place is left out."""
    start = cuda.grid(1)
    step = cuda.gridsize(1)
    for i in range(start, longitude.shape[0], step):
        lon = longitude[i]
        lat = latitude[i]
        if abs(lat) > float32(90.0) or abs(lon) > float32(180.0):
            continue
        column = int32((lon + float32(180.0)) * float32(1.0 / 360.0) * wide)
        row = int32((lat + float32(90.0)) * float32(1.0 / 180.0) * high)
        column = min(column, int32(wide - 1))
        row = min(row, int32(high - 1))
        cell = row * wide + column
        cuda.atomic.add(counts, cell, 1)
        cuda.atomic.max(latest, cell, second[i])


def advect_midpoint(out, field, u, v, dt):
    """Semi-Lagrangian advection of a field: back along the flow by the midpoint rule, then bilinear interpolation."""
    j, i = cuda.grid(2)
    rows, columns = field.shape
    if i >= rows or j >= columns:
        return
    half = float32(0.5) * dt
    right = float32(columns - 1)
    bottom = float32(rows - 1)
    x = min(max(float32(j) - half * u[i, j], float32(0.0)), right)
    y = min(max(float32(i) - half * v[i, j], float32(0.0)), bottom)
    c = min(int32(x), columns - 2)
    r = min(int32(y), rows - 2)
    fx = x - float32(c)
    fy = y - float32(r)
    gx = float32(1.0) - fx
    gy = float32(1.0) - fy
    mu = gy * (gx * u[r, c] + fx * u[r, c + 1]) + fy * (gx * u[r + 1, c] + fx * u[r + 1, c + 1])
    mv = gy * (gx * v[r, c] + fx * v[r, c + 1]) + fy * (gx * v[r + 1, c] + fx * v[r + 1, c + 1])
    x = min(max(float32(j) - dt * mu, float32(0.0)), right)
    y = min(max(float32(i) - dt * mv, float32(0.0)), bottom)
    c = min(int32(x), columns - 2)
    r = min(int32(y), rows - 2)
    fx = x - float32(c)
    fy = y - float32(r)
    top = field[r, c] + fx * (field[r, c + 1] - field[r, c])
    low = field[r + 1, c] + fx * (field[r + 1, c + 1] - field[r + 1, c])
    out[i, j] = top + fy * (low - top)


def biquad_bank(y, x, forward, back, peak):
    """Four biquad sections in a row, in doubles, a channel a thread; samples lie time by time. Its peak is the loudest
    output of a channel."""
    taps = cuda.shared.array(20, float64)
    t = cuda.threadIdx.x
    if t < 12:
        taps[t] = forward[t]
    elif t < 20:
        taps[t] = back[t - 12]
    cuda.syncthreads()
    channel = cuda.grid(1)
    if channel >= x.shape[1]:
        return
    s00 = 0.0
    s01 = 0.0
    s10 = 0.0
    s11 = 0.0
    s20 = 0.0
    s21 = 0.0
    s30 = 0.0
    s31 = 0.0
    loud = 0.0
    for n in range(x.shape[0]):
        p = float64(x[n, channel])
        q = taps[0] * p + s00
        s00 = taps[1] * p - taps[12] * q + s01
        s01 = taps[2] * p - taps[13] * q
        p = taps[3] * q + s10
        s10 = taps[4] * q - taps[14] * p + s11
        s11 = taps[5] * q - taps[15] * p
        q = taps[6] * p + s20
        s20 = taps[7] * p - taps[16] * q + s21
        s21 = taps[8] * p - taps[17] * q
        p = taps[9] * q + s30
        s30 = taps[10] * q - taps[18] * p + s31
        s31 = taps[11] * q - taps[19] * p
        y[n, channel] = float32(p)
        loud = max(loud, abs(p))
    peak[channel] = loud


KERNELS: Mapping[str, tuple[Callable[..., None], Any]] = {
    "pi_samples": (pi_samples, void(int32[::1], int32, int32)),
    "tiled_product": (tiled_product, void(float32[:, ::1], float32[:, ::1], float32[:, ::1])),
    "haversine": (haversine, void(float32[::1], float32[::1], float32[::1], float64, float64)),
    "kepler_rk4": (kepler_rk4, void(*[float64[::1]] * 4, int32[::1], float64, float64, int32)),
    "event_bins": (event_bins, void(int32[::1], int32[::1], float32[::1], float32[::1], int32[::1], int32, int32)),
    "advect_midpoint": (advect_midpoint, void(*[float32[:, ::1]] * 4, float32)),
    "biquad_bank": (biquad_bank, void(float32[:, ::1], float32[:, ::1], float64[::1], float64[::1], float32[::1])),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare the committed PTX, write nothing")
    parser.add_argument("names", nargs="*", help="only these kernels")
    options = parser.parse_args()
    stale = 0
    for name, (function, signature) in KERNELS.items():
        # All are compiled, whatever the names: Numba counts compilations, and the text has the number.
        text, _ = cuda.compile(function, signature, device=False, abi="numba", cc=(9, 0), output="ptx")
        if options.names and name not in options.names:
            continue
        text = named(text, name)
        path = FOLDER / f"{name}.sm_90.ptx"
        if not options.check:
            path.write_text(text)
        equal = path.is_file() and path.read_text() == text
        stale += not equal
        print(f"{path.name}{'' if equal else ' DIFFERS'}")
    return 1 if stale else 0


def named(text: str, name: str) -> str:
    """With the entry called as the function; Numba's name of it has the number of the process's compilations."""
    found = re.search(r"\.entry (\w+)\(", text)
    assert found
    body = text.replace(found[1], name)
    code = [line for line in body.splitlines() if not line.startswith("//")]
    return f"// numba-cuda {version('numba-cuda')}\n" + "\n".join(code).strip() + "\n"


if __name__ == "__main__":
    sys.exit(main())
