"""What the newest kernels of benchmarks/unseen should write, in numpy, like references.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from unseen_kernels.philox import rand
from unseen_kernels.wide_arrays import Array, Written, wide

# Triton


def sigmoid(x: Array) -> Array:
    result: Array = 1 / (1 + np.exp(-x))
    return result


def int4_gemv(x: Array, packed: Array, scale: Array, zero: Array, rows: int, half: int, **_: Any) -> Written:
    pairs = packed.reshape(rows, half)
    groups = wide(np.hstack([pairs & 15, pairs >> 4])).reshape(rows, -1, 64)
    weights = (groups - zero.reshape(rows, -1, 1)) * wide(scale).reshape(rows, -1, 1)
    return {"y": weights.reshape(rows, -1) @ wide(x)}


def moe_top2(logits: Array, bias: Array, counts: Array, tokens: int, **_: Any) -> Written:
    value = logits.reshape(tokens, 64).astype(np.float32)
    best = np.argsort(-(value + bias), axis=1, kind="stable")[:, :2]
    powers = np.exp(np.take_along_axis(wide(value), best, axis=1))
    weight = powers / powers.sum(axis=1, keepdims=True)
    number = counts + np.bincount(best.ravel(), minlength=64)
    return {"expert": best.ravel(), "weight": weight.ravel(), "counts": number}


def lstm_cell(c: Array, from_x: Array, from_h: Array, bias: Array, hidden: int, **_: Any) -> Written:
    gates = (wide(from_x) + wide(from_h)).reshape(-1, 4, hidden) + bias.reshape(4, hidden)
    i, f, g, o = gates.transpose(1, 0, 2)
    cell = sigmoid(f) * wide(c).reshape(-1, hidden) + sigmoid(i) * np.tanh(g)
    return {"c": cell.ravel(), "h": (sigmoid(o) * np.tanh(cell)).ravel()}


def gumbel_sample(logits: Array, columns: int, over_temperature: float, seed: int, **_: Any) -> Written:
    noise = -np.log(-np.log(rand(seed, np.arange(len(logits)))))
    score = (wide(logits) * over_temperature + noise).reshape(-1, columns)
    return {"token": score.argmax(axis=1), "score": score.max(axis=1)}


# nvcc


def modexp256(exponents: Array, count: int, **given: Any) -> Written:
    prime, words = 2**256 - 2**32 - 977, range(8)
    limbs = given["in"].reshape(8, count)
    numbers = [sum(int(limbs[k, i]) << 32 * k for k in words) for i in range(count)]
    powers = [pow(number, int(e), prime) for number, e in zip(numbers, exponents, strict=True)]
    return {"out": np.array([power >> 32 * k & 0xFFFFFFFF for k in words for power in powers])}


def lbm_d2q9(fin: Array, kind: Array, width: int, height: int, omega: float, force: float, **_: Any) -> Written:
    cx, cy = np.array([0, 1, 0, -1, 0, 1, -1, -1, 1]), np.array([0, 0, 1, 0, -1, 1, 1, -1, -1])
    opposite, weight = [0, 3, 4, 1, 2, 7, 8, 5, 6], np.repeat([4 / 9, 1 / 9, 1 / 36], [1, 4, 4])
    f, obstacle = wide(fin).reshape(9, height, width), kind.reshape(height, width) == 0
    pulled = np.zeros_like(f)
    for k in range(9):
        wall = np.pad(obstacle, ((1, 1), (0, 0)), constant_values=True)  # above and below, too
        wall = np.roll(wall, (cy[k], cx[k]), axis=(0, 1))[1:-1]
        pulled[k] = np.where(wall, f[opposite[k]], np.roll(f[k], (cy[k], cx[k]), axis=(0, 1)))
    density = pulled.sum(axis=0)
    ux, uy = np.tensordot(cx, pulled, 1) / density + force, np.tensordot(cy, pulled, 1) / density
    along = 3 * (np.multiply.outer(cx, ux) + np.multiply.outer(cy, uy))
    balance = np.multiply.outer(weight, density) * (1 - 1.5 * (ux**2 + uy**2) + along + along**2 / 2)
    return {"fout": np.where(obstacle, f, pulled + omega * (balance - pulled)).ravel()}


def wave3d_order8(previous: Array, u: Array, courant2: Array, nx: int, ny: int, nz: int, **_: Any) -> Written:
    before, now, speed = (wide(one).reshape(nz, ny, nx) for one in (previous, u, courant2))
    laplacian = 3 * -205 / 72 * now
    for far, weight in enumerate((8 / 5, -1 / 5, 8 / 315, -1 / 560), start=1):
        for axis in range(3):
            laplacian += weight * (np.roll(now, far, axis) + np.roll(now, -far, axis))
    inner, after = (slice(4, -4),) * 3, before.copy()
    after[inner] = (2 * now - before + speed * laplacian)[inner]
    return {"previous": after.ravel()}


def lj_forces(atoms: Array, neighbours: Array, counts: Array, count: int, box: float, cut2: float, **_: Any) -> Written:
    depths, sizes2 = np.array([[1, 0.8], [0.8, 0.5]]), np.array([[1, 0.9], [0.9, 0.7744]])
    places, kinds = wide(atoms).reshape(-1, 4)[:, :3], (atoms[3::4] > 0).astype(int)
    force = np.zeros((count, 4))
    for i, number in enumerate(counts):
        others = neighbours[i::count][:number]
        others = others[others != i]
        offset = places[i] - places[others]
        offset -= box * np.round(offset / box)
        square = (offset**2).sum(axis=1)
        depth, size2 = depths[kinds[i], kinds[others]], sizes2[kinds[i], kinds[others]]
        near, square = square < cut2, np.maximum(square, 0.64)
        power, at_cut = (size2 / square) ** 3, (size2 / cut2) ** 3
        pull = 24 * depth * power * (2 * power - 1) / square
        energy = 2 * depth * (power * (power - 1) - at_cut * (at_cut - 1))
        force[i] = *(pull[:, None] * offset)[near].sum(axis=0), energy[near].sum()
    return {"force": force.ravel()}


def gemm_s8(A: Array, B: Array, rows: Array, columns: Array, m: int, n: int, k: int, **_: Any) -> Written:
    product = wide(A).reshape(m, k) @ wide(B).reshape(n, k).T
    return {"C": (product * wide(rows)[:, None] * wide(columns)).ravel()}


def viterbi_k7(symbols: Array, lengths: Array, pitch: int, limit: int, **_: Any) -> Written:
    states = np.arange(64)
    register = states >> 1 << 1 | states & 1
    sign0, sign1 = (
        np.array([(r & code).bit_count() % 2 * 2 - 1 for r in register.tolist()]) for code in (0o171, 0o133)
    )

    def decoded(received: Array) -> tuple[Array, int]:
        """The bits of a frame, a word each, and the metric of the best path."""
        path, turns = np.where(states == 0, 0, -100000), []
        for y0, y1 in received:
            branch = sign0 * y0 + sign1 * y1
            zero, one = path[states >> 1] + branch, path[(states >> 1) + 32] - branch
            turns.append(one > zero)
            path = np.maximum(zero, one)
        state, bits = int(path.argmax()), np.zeros(pitch, np.uint8)
        for k in reversed(range(len(turns))):
            bits[k] = state & 1
            state = state >> 1 | int(turns[k][state]) << 5
        return bits, int(path.max())

    frames = symbols.astype(int).reshape(-1, pitch, 2)
    found = [decoded(frame[: min(length, limit)]) for frame, length in zip(frames, lengths, strict=True)]
    bits, metric = zip(*found, strict=True)
    return {"bits": np.packbits(np.concatenate(bits), bitorder="little").view(np.uint32), "metric": np.array(metric)}


def tridiag_pcr(lower: Array, diagonal: Array, upper: Array, right: Array, n: int, **_: Any) -> Written:
    def solved(a: Array, b: Array, c: Array, d: Array) -> Array:
        return np.linalg.solve(np.diag(a[1:], -1) + np.diag(b) + np.diag(c[:-1], 1), d)

    systems = (one.reshape(-1, n) for one in (lower, diagonal, upper, right))
    return {"x": np.concatenate([solved(*system) for system in zip(*systems, strict=True)])}


def radix_tile_pass(keys: Array, values: Array, count: int, shift: int, **_: Any) -> Written:
    digits, begins, order = keys >> np.uint32(shift) & np.uint32(255), [], []
    for first in range(0, count, 3072):
        own = digits[first : first + 3072]
        order.append(first + np.argsort(own, kind="stable"))
        begins.append(np.searchsorted(np.sort(own), np.arange(256)))
    sorted_by = np.concatenate(order)
    return {"keys_out": keys[sorted_by], "values_out": values[sorted_by], "begins": np.concatenate(begins)}


def block_match_sad(current: Array, reference: Array, width: int, height: int, price: int, **_: Any) -> Written:
    """Beyond the frame, the pixels of its rim are repeated."""
    now, before = (one.reshape(height, width).astype(int) for one in (current, reference))
    now, before = np.pad(now, (0, 16), mode="edge"), np.pad(before, (8, 24), mode="edge")
    best = []
    for y in range(0, height, 16):
        for x in range(0, width, 16):
            block, costs = now[y : y + 16, x : x + 16], []
            for dy, dx in np.ndindex(16, 16):
                differences = abs(block - before[y + dy : y + dy + 16, x + dx : x + dx + 16])
                costs.append((differences.sum() + price * (abs(dx - 8) + abs(dy - 8)), dy - 8, dx - 8))
            best.append(min(costs))
    cost, dy, dx = np.array(best).T
    return {"vectors": np.stack([dx, dy], axis=1).ravel(), "costs": cost}


def lz_decode(lengths: Array, streams: int, pitch: int, capacity: int, **given: Any) -> Written:
    coded = [given["in"][k * pitch :][: min(length, pitch)].tobytes() for k, length in enumerate(lengths)]
    plain = [_plain(stream, capacity) for stream in coded]
    words = np.frombuffer(b"".join(one.ljust(capacity, b"\0") for one in plain), np.uint32).reshape(streams, -1)
    factors = 2 * np.arange(capacity // 4, dtype=np.uint32) + np.uint32(1)
    checksum = ((words ^ words >> np.uint32(15)) * factors).sum(axis=1, dtype=np.uint32)
    return {"out": words.ravel(), "produced": np.array([*map(len, plain)]), "checksum": checksum}


def _plain(coded: bytes, capacity: int) -> bytes:
    """A stream, decoded: literals, and matches with what was decoded before."""
    plain, at = bytearray(), 0
    while at < len(coded) and len(plain) < capacity:
        token, at = coded[at], at + 1
        literals, match = token >> 4, (token & 15) + 4
        if literals == 15 and at < len(coded):
            literals, at = literals + coded[at], at + 1
        literals = min(literals, len(coded) - at, capacity - len(plain))
        plain += coded[at : at + literals]
        at += literals
        if at + 2 > len(coded):
            break
        distance, at = int.from_bytes(coded[at : at + 2], "little"), at + 2
        if match == 19 and at < len(coded):
            match, at = match + coded[at], at + 1
        if plain:
            back = 1 + distance % len(plain)
            for _turn in range(min(match, capacity - len(plain))):
                plain.append(plain[-back])
    return bytes(plain)


# Numba


def advect_midpoint(field: Array, u: Array, v: Array, dt: float, out_rows: int, out_columns: int, **_: Any) -> Written:
    shape = (out_rows, out_columns)
    i, j = np.indices(shape)

    def at(values: Array, x: Array, y: Array) -> Array:
        """Bilinear, at the nearest place within."""
        x, y = np.clip(x, 0, out_columns - 1), np.clip(y, 0, out_rows - 1)
        c, r = np.minimum(x.astype(int), out_columns - 2), np.minimum(y.astype(int), out_rows - 2)
        f, x, y = wide(values).reshape(shape), x - c, y - r
        upper, lower = ((1 - x) * f[row, c] + x * f[row, c + 1] for row in (r, r + 1))
        result: Array = (1 - y) * upper + y * lower
        return result

    half_back = j - dt / 2 * wide(u).reshape(shape), i - dt / 2 * wide(v).reshape(shape)
    return {"out": at(field, j - dt * at(u, *half_back), i - dt * at(v, *half_back)).ravel()}


def biquad_bank(x: Array, forward: Array, back: Array, x_rows: int, x_columns: int, **_: Any) -> Written:
    signal = wide(x).reshape(x_rows, x_columns)
    for b, a in zip(forward.reshape(4, 3), back.reshape(4, 2), strict=True):
        given, found = np.pad(signal, ((2, 0), (0, 0))), np.zeros((x_rows + 2, x_columns))
        for n in range(2, x_rows + 2):
            found[n] = b @ given[n - 2 : n + 1][::-1] - a @ found[n - 2 : n][::-1]
        signal = found[2:]
    return {"y": signal.ravel(), "peak": abs(signal).max(axis=0)}


NEWEST: tuple[Callable[..., Written], ...] = (
    int4_gemv, moe_top2, lstm_cell, gumbel_sample, modexp256, lbm_d2q9, wave3d_order8, lj_forces, gemm_s8, viterbi_k7,
    tridiag_pcr, radix_tile_pass, block_match_sad, lz_decode, advect_midpoint, biquad_bank,
)  # fmt: skip
