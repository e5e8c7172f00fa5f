"""What the later kernels of benchmarks/unseen should write, in numpy, like references.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from unseen_kernels.wide_arrays import Array, Written, wide

# Triton


def add_norm_quant(residual: Array, x: Array, weight: Array, columns: int, eps: float, **_: Any) -> Written:
    total = (wide(residual) + wide(x)).reshape(-1, columns)
    normal = total / np.sqrt((total**2).mean(axis=1, keepdims=True) + eps) * wide(weight)
    scale = abs(normal).max(axis=1) / 127
    return {"residual": total.ravel(), "scale": scale, "q": np.floor(normal / scale[:, None] + 0.5).ravel()}


def group_norm_silu(x: Array, weight: Array, bias: Array, groups: int, channels_per_group: int, pixels: int,
                    eps: float, **_: Any) -> Written:  # fmt: skip
    value = wide(x).reshape(-1, groups, channels_per_group, pixels)
    mean, variance = value.mean(axis=(2, 3), keepdims=True), value.var(axis=(2, 3), keepdims=True)
    w, b = (wide(one).reshape(groups, -1, 1) for one in (weight, bias))
    value = (value - mean) / np.sqrt(variance + eps) * w + b
    return {"y": (value / (1 + np.exp(-value))).ravel()}


def gated_scan(gate: Array, value: Array, channels: int, **_: Any) -> Written:
    gates = 1 / (1 + np.exp(-wide(gate).reshape(-1, 64, channels)))
    added = wide(value).reshape(gates.shape) * (1 - gates)
    h, state = np.zeros_like(gates), np.zeros_like(gates[:, 0])
    for step in range(64):
        h[:, step] = state = gates[:, step] * state + added[:, step]
    return {"h": h.ravel(), "end_gate": gates.prod(axis=1).ravel(), "end_state": state.ravel()}


# nvcc


def fft1024(batch: int, **given: Any) -> Written:
    points = wide(given["in"]).reshape(batch, 1024, 2)
    result = np.fft.fft(points[..., 0] + 1j * points[..., 1])
    return {"out": np.stack([result.real, result.imag], axis=-1).ravel()}


def segment_argsort(keys: Array, lengths: Array, **_: Any) -> Written:
    order, result = np.full(len(keys), -1), np.full(len(keys), np.inf)
    for first, length in zip(range(0, len(keys), 1024), lengths, strict=True):
        own = np.argsort(keys[first : first + length], kind="stable")
        order[first : first + length], result[first : first + length] = own, keys[first + own]
    return {"order": order, "sorted": result}


def cholesky8(a: Array, count: int, shift: float, **_: Any) -> Written:
    packed, info = a.copy(), np.zeros(count, int)
    lower = np.tril_indices(8)
    for number in range(count):
        matrix = np.zeros((8, 8))
        matrix[lower] = matrix.T[lower] = a[number::count]
        matrix += shift * np.eye(8)
        bad = [size for size in range(1, 9) if np.linalg.det(matrix[:size, :size]) <= 0]
        if bad:
            info[number] = bad[0]
        else:
            packed[number::count] = np.linalg.cholesky(matrix)[lower]
    return {"a": packed, "info": info}


def ray_spheres(spheres: Array, count: int, width: int, height: int, radius: float, **_: Any) -> Written:
    middles, radii = wide(spheres).reshape(count, 4)[:, :3], radius * (1 + wide(spheres)[3::4] / 2)
    light, eye = np.array([1, 2, -1.5]) / np.sqrt(7.25), np.array([0, 0, -3.0])

    def met(start: Array, to: Array) -> Array:
        """The distance of each sphere along the ray, infinite if it is missed."""
        offset = middles - start
        along = offset @ to
        inside = radii**2 - (offset**2).sum(axis=1) + along**2
        distance = along - np.sqrt(np.maximum(inside, 0))
        return np.where((along >= 0) & (inside >= 0) & (distance > 0), distance, np.inf)

    def shade(x: int, y: int) -> float:
        up = 1 - (2 * y + 1) / height
        to = np.array([(2 * x + 1) / width - 1, up, 2])
        to /= np.linalg.norm(to)
        nearest = (distances := met(eye, to)).argmin()
        if distances[nearest] == np.inf:
            return 0.1 + 0.1 * up
        at = eye + distances[nearest] * to
        others = np.delete(met(at, light), nearest)
        lit = float((at - middles[nearest]) / radii[nearest] @ light)
        return 0.2 if (others < np.inf).any() else 0.2 + 0.8 * max(lit, 0)

    return {"image": np.array([shade(x, y) for y in range(height) for x in range(width)])}


def smith_waterman(query: Array, database: Array, lengths: Array, substitution: Array, pitch: int, gap_open: int,
                   gap_extend: int, **_: Any) -> Written:  # fmt: skip
    def score(sequence: Array) -> int:
        best = np.zeros((len(query) + 1, len(sequence) + 1), int)
        right, down = np.full_like(best, -(10**6)), np.full_like(best, -(10**6))
        cost = substitution.astype(int).reshape(24, 24)[query][:, sequence]
        for i, j in np.ndindex(cost.shape):
            right[i + 1, j + 1] = max(best[i + 1, j] - gap_open, right[i + 1, j] - gap_extend)
            down[i + 1, j + 1] = max(best[i, j + 1] - gap_open, down[i, j + 1] - gap_extend)
            best[i + 1, j + 1] = max(0, best[i, j] + cost[i, j], right[i + 1, j + 1], down[i + 1, j + 1])
        return int(best.max())

    return {"scores": np.array([score(database[k * pitch :][:length]) for k, length in enumerate(lengths)])}


def depthwise3x3(x: Array, weight: Array, bias: Array, height: int, width: int, pairs: int, **_: Any) -> Written:
    image = wide(x).reshape(-1, height, width, 2 * pairs)
    padded, weights = np.pad(image, ((0, 0), (1, 1), (1, 1), (0, 0))), wide(weight).reshape(3, 3, -1)
    y = wide(bias) + sum(
        padded[:, i : i + height, j : j + width] * weights[i, j] for i in range(3) for j in range(3)
    )  # fmt: skip
    return {"y": np.clip(y, 0, 6).ravel()}


def asian_option(sums: Array, spot: float, strike: float, barrier: float, drift: float, volatility: float, steps: int,
                 paths: int, seed: int, **_: Any) -> Written:  # fmt: skip
    state = np.uint32(seed) + np.arange(len(sums) * 128, dtype=np.uint32)
    state = (state ^ np.uint32(61) ^ state >> np.uint32(16)) * np.uint32(9)
    state = (state ^ state >> np.uint32(4)) * np.uint32(0x27D4EB2D)
    state = state ^ state >> np.uint32(15) | np.uint32(1)

    def uniform(alive: Array) -> Array:
        """From 0, which is left out, to 1; only those that are alive draw."""
        nonlocal state
        drawn = state ^ state << np.uint32(13)
        drawn ^= drawn >> np.uint32(17)
        drawn ^= drawn << np.uint32(5)
        state = np.where(alive, drawn, state)
        result: Array = ((drawn >> np.uint32(8)) + 1.0) / 2**24
        return result

    payoffs = np.zeros((paths, len(state)))
    for path in range(paths):
        price, total, alive = np.full(len(state), float(spot)), np.zeros(len(state)), np.ones(len(state), bool)
        for _step in range(0, steps, 2):
            radius, angle = np.sqrt(-2 * np.log(uniform(alive))), 2 * np.pi * (uniform(alive) - 0.5)
            for normal in (radius * np.cos(angle), radius * np.sin(angle)):
                price *= np.exp(drift + volatility * normal)
                total += price
            alive &= price >= barrier
        payoffs[path] = np.where(alive, np.maximum(total / steps - strike, 0), 0)
    of_ctas = [power.sum(axis=0).reshape(-1, 128).sum(axis=1) for power in (payoffs, payoffs**2)]
    return {"sums": of_ctas[0], "squares": of_ctas[1]}


def layernorm_grad(dy: Array, x: Array, weight: Array, mean: Array, rstd: Array, rows: int, columns: int,
                   rows_per_cta: int, **_: Any) -> Written:  # fmt: skip
    given, scale = wide(dy).reshape(rows, columns), wide(rstd)[:, None]
    normal = (wide(x).reshape(rows, columns) - mean[:, None]) * scale
    weighted = given * weight
    of_normal = (weighted * normal).mean(axis=1, keepdims=True)
    dx = scale * (weighted - weighted.mean(axis=1, keepdims=True) - normal * of_normal)
    starts = range(0, rows, rows_per_cta)
    return {
        "dx": dx.ravel(),
        "dweight": np.add.reduceat(given * normal, starts).ravel(),
        "dbias": np.add.reduceat(given, starts).ravel(),
    }


def floyd_tile(dist: Array, n: int, pivot: int) -> Written:
    old, tile = dist.reshape(n, n), slice(32 * pivot, 32 * pivot + 32)
    by_pivot = (old[:, tile, None] + old[None, tile]).min(axis=1)
    of_tile = np.arange(n) // 32 == pivot
    return {"dist": np.where(of_tile[:, None] | of_tile, old, np.minimum(old, by_pivot)).ravel()}


def mlp_dp4a(samples: Array, w1: Array, b1: Array, w2: Array, multiplier: int, count: int, **_: Any) -> Written:
    x, first, second = (one.astype(np.int64) for one in (samples, w1, w2))
    sums = x.reshape(count, 64) @ first.reshape(64, 64).T + b1
    hidden = np.clip(sums * 256 * multiplier >> 32, 0, 127)
    logits = np.einsum("sgu,gcu->sc", hidden.reshape(count, 16, 4), second.reshape(16, 16, 4))
    return {"best_class": logits.argmax(axis=1), "best_logit": logits.max(axis=1)}


def tag_filter(keys: Array, buckets: Array, mask: int, limit: int, **_: Any) -> Written:
    def search(key: int) -> tuple[bool, int]:
        """Whether the key's tag is there, and how many buckets were looked at."""
        key = (key ^ key >> 16) * 0x85EBCA6B & 0xFFFFFFFF
        key = (key ^ key >> 13) * 0xC2B2AE35 & 0xFFFFFFFF
        key ^= key >> 16
        for searched in range(limit):
            at = 4 * (key + searched & mask)
            tags = buckets[at : at + 4]
            if (found := 1 + (key >> 28) % 15 in tags) or 0 in tags:
                return found, searched + 1
        return False, limit

    found, searched = zip(*(search(int(key)) for key in keys), strict=True)
    return {"found": np.array(found), "hits": np.array([sum(found)]), "longest": np.array([max(searched)])}


# Numba


def kepler_rk4(px: Array, py: Array, vx: Array, vy: Array, mass: float, dt: float, steps: int, **_: Any) -> Written:
    def change(state: Array) -> Array:
        pull = -mass / (state[0] ** 2 + state[1] ** 2) ** 1.5
        return np.stack([state[2], state[3], pull * state[0], pull * state[1]])

    state, taken, inside = np.stack([px, py, vx, vy]), np.zeros(len(px), int), np.ones(len(px), bool)
    for _step in range(steps):
        square = state[0] ** 2 + state[1] ** 2
        inside &= (square >= 0.04) & (square <= 100)
        k1 = change(state)
        k2 = change(state + dt / 2 * k1)
        k3 = change(state + dt / 2 * k2)
        k4 = change(state + dt * k3)
        state = np.where(inside, state + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4), state)
        taken += inside
    return {**dict(zip(("px", "py", "vx", "vy"), state, strict=True)), "taken": taken}


def event_bins(counts: Array, latest: Array, longitude: Array, latitude: Array, second: Array, wide: int, high: int,
               **_: Any) -> Written:  # fmt: skip
    inside = (abs(latitude) <= 90) & (abs(longitude) <= 180)
    column = ((longitude + np.float32(180)) * np.float32(1 / 360)).astype(np.float64) * wide
    row = ((latitude + np.float32(90)) * np.float32(1 / 180)).astype(np.float64) * high
    cell = np.minimum(row.astype(int), high - 1) * wide + np.minimum(column.astype(int), wide - 1)
    number, last = counts.copy(), latest.copy()
    np.add.at(number, cell[inside], 1)
    np.maximum.at(last, cell[inside], second[inside])
    return {"counts": number, "latest": last}


LATER: tuple[Callable[..., Written], ...] = (
    add_norm_quant, group_norm_silu, gated_scan, fft1024, segment_argsort, cholesky8, ray_spheres, smith_waterman,
    depthwise3x3, asian_option, layernorm_grad, floyd_tile, mlp_dp4a, tag_filter, kepler_rk4, event_bins,
)  # fmt: skip
