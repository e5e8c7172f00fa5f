"""What the kernels of benchmarks/unseen and of the second writing of suite A should write, in numpy, in doubles unless
whole numbers have to wrap around. By the file's stem; arguments are those of the launch specification, by name."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from unseen_kernels.later_references import LATER
from unseen_kernels.newest_references import NEWEST
from unseen_kernels.philox import rand
from unseen_kernels.wide_arrays import Array, Written, wide

# Suite A, second writing


def gelu(data: Array, **_: Any) -> Written:
    x = wide(data)
    return {"data": x / (1 + np.exp(-1.702 * x))}


def harris(Ixx: Array, Iyy: Array, Ixy: Array, threshold: int, **_: Any) -> Written:
    a, b, c = (one.astype(np.int64) for one in (Ixx, Iyy, Ixy))
    return {"corner": a * b - c * c - (a + b) ** 2 // 25 > threshold}


def stms(Ixx: Array, Iyy: Array, Ixy: Array, threshold: float, **_: Any) -> Written:
    matrices = wide(np.array([[Ixx, Ixy], [Ixy, Iyy]])).transpose(2, 0, 1)
    return {"corner": np.linalg.eigvalsh(matrices)[:, 0] > threshold}


def lud(A: Array, n: int) -> Written:
    matrix = wide(A).reshape(n, n)
    matrix[16:, 16:] -= matrix[16:, :16] @ matrix[:16, 16:]
    return {"A": matrix.ravel()}


def micnd(out: Array, **_: Any) -> Written:
    """Moro's approximation is good to nine digits: the inverse is that of the distribution itself, by bisection."""
    position = (np.arange(1, len(out) + 1, dtype=np.uint64) * 2654435769 % (1 << 32)).astype(np.float64) + 0.5
    wanted = position / (1 << 32)
    low, high = np.full(len(out), -9.0), np.full(len(out), 9.0)
    for _turn in range(60):
        middle = (low + high) / 2
        below = np.array([math.erfc(-x / math.sqrt(2)) / 2 for x in middle]) < wanted
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return {"out": low}


def sort(values: Array, ranks: Array, starts: Array, **_: Any) -> Written:
    cta = np.arange(len(values)) // 256 % 4
    offset = starts[cta * 256 + ranks % 256] + ranks // 256
    return {"result": values * offset.astype(np.float32)}


def wmma(a: Array, b: Array, c: Array, M: int, N: int, K: int, alpha: float, beta: float, **_: Any) -> Written:
    product = wide(a).reshape(M, K) @ wide(b).reshape(N, K).T
    return {"d": alpha * product.ravel() + beta * wide(c)}


# Triton


def softmax(x: Array, columns: int, **_: Any) -> Written:
    powers = np.exp(wide(x).reshape(-1, columns))
    return {"y": (powers / powers.sum(axis=1, keepdims=True)).ravel()}


def layer_norm(x: Array, weight: Array, bias: Array, columns: int, eps: float, **_: Any) -> Written:
    rows = wide(x).reshape(-1, columns)
    mean, rstd = rows.mean(axis=1), 1 / np.sqrt(rows.var(axis=1) + eps)
    y = (rows - mean[:, None]) * rstd[:, None] * weight + bias
    return {"y": y.ravel(), "mean": mean, "rstd": rstd}


def rms_norm(residual: Array, x: Array, weight: Array, columns: int, eps: float, **_: Any) -> Written:
    total = (wide(residual) + wide(x)).reshape(-1, columns)
    y = total / np.sqrt((total**2).mean(axis=1, keepdims=True) + eps) * wide(weight)
    return {"y": y.ravel(), "residual": total.ravel()}


def rotary(q: Array, cosine: Array, sine: Array, heads: int) -> Written:
    heads_of_tokens = wide(q).reshape(-1, heads, 2, 64)
    a, b = heads_of_tokens[:, :, 0], heads_of_tokens[:, :, 1]
    c, s = (wide(one).reshape(-1, 1, 64) for one in (cosine, sine))
    return {"q": np.stack([a * c - b * s, b * c + a * s], axis=2).ravel()}


def swiglu(x: Array, inner: int, **_: Any) -> Written:
    gate, up = np.split(wide(x).reshape(-1, 2 * inner), 2, axis=1)
    return {"y": (gate / (1 + np.exp(-gate)) * up).ravel()}


def adam(p: Array, g: Array, m: Array, v: Array, rate: float, beta1: float, beta2: float, eps: float, decay: float,
         unbias1: float, unbias2: float, **_: Any) -> Written:  # fmt: skip
    value, gradient = wide(p), wide(g)
    first = beta1 * wide(m) + (1 - beta1) * gradient
    second = beta2 * wide(v) + (1 - beta2) * gradient**2
    step = first * unbias1 / (np.sqrt(second * unbias2) + eps)
    return {"p": value * (1 - rate * decay) - rate * step, "m": first, "v": second}


def dropout(x: Array, residual: Array, n: int, probability: float, seed: int, **_: Any) -> Written:
    keep = rand(seed, np.arange(n)) > probability
    return {"y": np.where(keep, wide(x) / (1 - probability), 0) + wide(residual)}


def gather(table: Array, index: Array, columns: int, **_: Any) -> Written:
    return {"y": table.reshape(-1, columns)[index].ravel()}


def embedding_bag(table: Array, index: Array, length: Array, most: int, rows: int, **_: Any) -> Written:
    chosen = wide(table).reshape(rows, -1)[index.reshape(-1, most) % rows]
    inside = np.arange(most) < length[:, None]
    return {"y": ((chosen * inside[:, :, None]).sum(axis=1) / np.maximum(length, 1)[:, None]).ravel()}


def cross_entropy(logits: Array, target: Array, columns: int, **_: Any) -> Written:
    rows, counted = wide(logits).reshape(-1, columns), target >= 0
    label, number = np.maximum(target, 0), np.arange(len(target))
    powers = np.exp(rows)
    loss = np.log(powers.sum(axis=1)) - rows[number, label]
    gradient = powers / powers.sum(axis=1, keepdims=True)
    gradient[number, label] -= 1
    return {"loss": loss * counted, "logits": (gradient * counted[:, None]).ravel()}


def matmul(a: Array, b: Array, m: int, n: int, k: int, **_: Any) -> Written:
    return {"c": (wide(a).reshape(m, k) @ wide(b).reshape(k, n)).ravel()}


def attention(q: Array, k: Array, v: Array, scale: float, inside: Array) -> Array:
    score = np.where(inside, q @ k.swapaxes(-1, -2) * scale, -np.inf)
    powers = np.exp(score)
    result: Array = powers / powers.sum(axis=-1, keepdims=True) @ v
    return result


def flash_attention(q: Array, k: Array, v: Array, tokens: int, scale: float, **_: Any) -> Written:
    queries, keys, values = (wide(one).reshape(-1, tokens, 64) for one in (q, k, v))
    causal = np.tri(tokens, dtype=bool)
    return {"y": attention(queries, keys, values, scale, causal).ravel()}


def decode_attention(
    q: Array, k: Array, v: Array, lengths: Array, heads: int, tokens: int, scale: float, **_: Any
) -> Written:
    keys, values = (wide(one).reshape(-1, heads, tokens, 128) for one in (k, v))
    inside = np.arange(tokens) < lengths[:, None, None, None]
    return {"y": attention(wide(q).reshape(-1, heads, 1, 128), keys, values, scale, inside).ravel()}


def gemv(w: Array, x: Array, columns: int, **_: Any) -> Written:
    return {"y": wide(w).reshape(-1, columns) @ wide(x)}


# nvcc


def black_scholes(price: Array, strike: Array, years: Array, rate: float, volatility: float, **_: Any) -> Written:
    S, X, T = map(wide, (price, strike, years))
    d1 = (np.log(S / X) + (rate + volatility**2 / 2) * T) / (volatility * np.sqrt(T))
    n1, n2 = (np.array([math.erfc(-x / math.sqrt(2)) / 2 for x in d]) for d in (d1, d1 - volatility * np.sqrt(T)))
    discounted = X * np.exp(-rate * T)
    return {"call": S * n1 - discounted * n2, "put": discounted * (1 - n2) - S * (1 - n1)}


def spmv_ell(x: Array, lengths: Array, columns: Array, values: Array, rows: int, pitch: int, **_: Any) -> Written:
    y = np.zeros(rows)
    for row, length in enumerate(lengths):
        for at in range(row, row + length * pitch, pitch):
            if columns[at] < 0:
                break
            y[row] += float(values[at]) * float(x[columns[at]])
    return {"y": y}


def mandelbrot(width: int, height: int, left: float, top: float, pixel: float, limit: int, **_: Any) -> Written:
    py, px = np.divmod(np.arange(width * height), width)
    c = left + px * float(pixel) + 1j * (top - py * float(pixel))
    z, steps, inside = np.zeros_like(c), np.zeros(len(c), int), np.ones(len(c), bool)
    for _turn in range(limit):
        inside &= abs(z) <= 2
        z = np.where(inside, z * z + c, z)
        steps += inside
    return {"steps": steps}


def nbody(bodies: Array, softening: float, **_: Any) -> Written:
    position, mass = wide(bodies).reshape(-1, 4)[:, :3], wide(bodies).reshape(-1, 4)[:, 3]
    offset = position[None] - position[:, None]
    pull = mass[None] / ((offset**2).sum(axis=2) + softening) ** 1.5
    sums = (offset * pull[:, :, None]).sum(axis=1)
    return {"out": np.pad(sums, ((0, 0), (0, 1))).ravel()}


def laplace3d(nx: int, ny: int, nz: int, **given: Any) -> Written:
    u = wide(given["in"]).reshape(nz, ny, nx)
    out, inner = u.copy(), slice(1, -1)
    around = u[:-2, inner, inner] + u[2:, inner, inner] + u[inner, :-2, inner] + u[inner, 2:, inner]
    out[inner, inner, inner] = (around + u[inner, inner, :-2] + u[inner, inner, 2:]) / 6
    return {"out": out.ravel()}


def vm_switch(state: Array, code: Array, programs: int, length: int) -> Written:
    return {"state": np.array([_run(int(state[i]), i, code[i::programs], length) for i in range(programs)], np.uint32)}


def _run(a: int, number: int, code: Array, length: int) -> int:
    low, b, pc = 0xFFFFFFFF, number * 2654435761 & 0xFFFFFFFF, 0
    while pc < length:
        operation, operand = int(code[pc]) & 7, int(code[pc]) >> 3
        if operation == 0:
            a += b + operand
        elif operation == 1:
            a *= 2 * operand + 3
        elif operation == 2:
            a ^= b << (operand & 15)
        elif operation == 3:
            b = (b >> 3) + a
        elif operation == 4:
            a = a << operand | a >> (32 - operand)
        elif operation == 5:
            a, b = b ^ operand, a
        elif operation == 6:
            pc += a & 1
        elif operand == 0:
            return a
        else:
            b += 0x9E3779B9
        a, b, pc = a & low, b & low, pc + 1
    return a ^ b


def row_norms(matrix: Array, columns: int, pitch: int, **_: Any) -> Written:
    return {"norms": np.linalg.norm(wide(matrix).reshape(-1, pitch)[:, :columns], axis=1)}


def byte_counts(words: Array, n_bytes: int, **_: Any) -> Written:
    return {"total": np.bincount(words.view(np.uint8)[:n_bytes], minlength=256)}


def kmeans_assign(points: Array, centroids: Array, n: int, clusters: int, **_: Any) -> Written:
    offset = wide(points).reshape(8, 1, n) - wide(centroids).reshape(clusters, 8).T[:, :, None]
    distance = (offset**2).sum(axis=0)
    return {"nearest": distance.argmin(axis=0), "distance": distance.min(axis=0)}


def bilateral(width: int, height: int, space: float, tone: float, **given: Any) -> Written:
    image = wide(given["in"]).reshape(height, width)
    padded, total, weights = np.pad(image, 2, mode="edge"), np.zeros_like(image), np.zeros_like(image)
    for dy in range(-2, 3):
        for dx in range(-2, 3):
            other = padded[2 + dy : 2 + dy + height, 2 + dx : 2 + dx + width]
            weight = np.exp(-(dx * dx + dy * dy) * float(space) - (other - image) ** 2 * float(tone))
            total, weights = total + weight * other, weights + weight
    return {"out": (total / weights).ravel()}


# Numba


def pi_samples(inside_items: int, samples: int, seed: int, **_: Any) -> Written:
    mask = 0x7FFFFFFF
    state = (int(seed) ^ (np.arange(inside_items) * 747796405 + 1)) & mask
    state, count = np.where(state == 0, 1, state), np.zeros(inside_items, int)
    for _turn in range(samples):
        state = state ^ (state << 13) & mask
        state = state ^ state >> 17
        state = state ^ (state << 5) & mask
        count += ((state & 0x7FFF) / 32768) ** 2 + ((state >> 15) / 65536) ** 2 < 1
    return {"inside": count}


def tiled_product(a: Array, b: Array, a_rows: int, a_columns: int, b_columns: int, **_: Any) -> Written:
    return {"c": (wide(a).reshape(a_rows, a_columns) @ wide(b).reshape(a_columns, b_columns)).ravel()}


def haversine(longitude: Array, latitude: Array, from_longitude: float, from_latitude: float, **_: Any) -> Written:
    x, y = np.radians(wide(longitude)), np.radians(wide(latitude))
    x0, y0 = np.radians(from_longitude), np.radians(from_latitude)
    a = np.sin((y - y0) / 2) ** 2 + np.cos(y0) * np.cos(y) * np.sin((x - x0) / 2) ** 2
    return {"distance": np.where(abs(latitude) > 90, -1, 2 * 6371 * np.arcsin(np.sqrt(np.clip(a, 0, 1))))}


# clang


def lower_bound(keys: Array, table: Array, **_: Any) -> Written:
    return {"position": np.searchsorted(table, keys)}


def sobel(image: Array, width: int, height: int, weak: int, strong: int, **_: Any) -> Written:
    p = np.pad(image.reshape(height, width).astype(int), 1, mode="edge")
    gx = sum(w * (p[k : k + height, 2:] - p[k : k + height, :-2]) for k, w in enumerate((1, 2, 1)))
    gy = sum(w * (p[2:, k : k + width] - p[:-2, k : k + width]) for k, w in enumerate((1, 2, 1)))
    strength = abs(gx) + abs(gy)
    return {"edges": np.where(strength >= strong, 255, np.where(strength >= weak, 128, 0)).ravel()}


def block_sum(sums: Array, **given: Any) -> Written:
    squares = np.pad(wide(given["in"]) ** 2, (0, 1024 * len(sums) - len(given["in"])))
    return {"sums": squares.reshape(-1, 1024).sum(axis=1)}


Reference = Callable[..., Written]
SECOND: tuple[Reference, ...] = (gelu, harris, stms, lud, micnd, sort, wmma)
UNSEEN: tuple[Reference, ...] = (
    softmax, layer_norm, rms_norm, rotary, swiglu, adam, dropout, gather, embedding_bag, cross_entropy, matmul,
    flash_attention, decode_attention, gemv, black_scholes, spmv_ell, mandelbrot, nbody, laplace3d, vm_switch,
    row_norms, byte_counts, kmeans_assign, bilateral, pi_samples, tiled_product, haversine, lower_bound, sobel,
    block_sum, *LATER, *NEWEST,
)  # fmt: skip
HALF: Mapping[str, Any] = {"rtol": 1.5e-3, "atol": 2e-4}  # a rounding to 11 bits, of values of about 1
FLOAT: Mapping[str, Any] = {"rtol": 2e-5, "atol": 2e-6}  # several roundings to 24 bits, and approximations of functions
DOUBLE: Mapping[str, Any] = {"rtol": 1e-11, "atol": 1e-12}  # many roundings to 53 bits
ROUNDED: Mapping[str, Mapping[str, Any]] = {
    "wmma": {"rtol": 2e-5, "atol": 2e-5},  # sums of 384 products, in the order of the tensor cores
    "micnd": {"rtol": 0, "atol": 2e-5},  # Moro's approximation in floats
    "black_scholes": {"rtol": 0, "atol": 3e-5},  # of prices of about 100
    "nbody": {"rtol": 1e-3, "atol": 1e-2},  # rsqrt, cubed, of bodies that are near
    "kmeans_assign": FLOAT,
    "haversine": {"rtol": 1e-6},
    "add_norm_quant.q": {"rtol": 0, "atol": 1},  # a half is rounded to either side
    "fft1024": {"rtol": 0, "atol": 1e-4},  # sums of 1,024 values, up to about 100
    "ray_spheres": {"rtol": 0, "atol": 1e-3},  # roots of differences of squares
    "depthwise3x3": {"rtol": 0, "atol": 1e-2},  # sums of ten, of halves
    "lj_forces": {"rtol": 2e-4, "atol": 2e-3},  # sums of forces of up to hundreds
    "gumbel_sample.score": {"rtol": 0, "atol": 2e-3},  # logarithms of what is near to 1
}
"""By kernel, or by kernel and argument, what is not the type's."""
