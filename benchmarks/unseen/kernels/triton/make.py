#!/usr/bin/env python3
# mypy: disable-error-code="no-untyped-def,untyped-decorator"
"""Kernels in the shapes of language models, in Triton, which compiles them to PTX without a GPU: NAME.sm_90a.ptx.

    ./make.py [--check] [NAME ...]

With --check nothing is written: the exit status is 1 if a committed file differs. Needs Triton. Beside each file it
prints what a launch needs to know: the threads, the bytes of dynamic shared memory, and those of scratch memory.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ["TRITON_DISABLE_LINE_INFO"] = "1"  # lines name the folder of the sources
os.environ["TRITON_ALWAYS_COMPILE"] = "1"
os.environ["TRITON_DEFAULT_FP_FUSION"] = "1"

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

FOLDER = Path(__file__).parent
VERSION = 86  # of PTX: that of CUDA 12.7, which newer assemblers take, too


@triton.jit
def softmax(y, x, stride, columns, TILE: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, TILE)
    inside = at < columns
    values = tl.load(x + row * stride + at, mask=inside, other=-float("inf")).to(tl.float32)
    values -= tl.max(values, axis=0)
    powers = tl.exp(values)
    tl.store(y + row * stride + at, (powers / tl.sum(powers, axis=0)).to(y.dtype.element_ty), mask=inside)


@triton.jit
def layer_norm(y, x, weight, bias, mean_out, rstd_out, stride, columns, eps, TILE: tl.constexpr):
    row = tl.program_id(0)
    x += row * stride
    y += row * stride
    total = tl.zeros([TILE], dtype=tl.float32)
    for start in range(0, columns, TILE):
        at = start + tl.arange(0, TILE)
        total += tl.load(x + at, mask=at < columns, other=0.0).to(tl.float32)
    mean = tl.sum(total, axis=0) / columns
    squares = tl.zeros([TILE], dtype=tl.float32)
    for start in range(0, columns, TILE):
        at = start + tl.arange(0, TILE)
        value = tl.load(x + at, mask=at < columns, other=0.0).to(tl.float32)
        distance = tl.where(at < columns, value - mean, 0.0)
        squares += distance * distance
    rstd = 1 / tl.sqrt(tl.sum(squares, axis=0) / columns + eps)
    tl.store(mean_out + row, mean)
    tl.store(rstd_out + row, rstd)
    for start in range(0, columns, TILE):
        at = start + tl.arange(0, TILE)
        inside = at < columns
        w = tl.load(weight + at, mask=inside)
        b = tl.load(bias + at, mask=inside)
        value = tl.load(x + at, mask=inside, other=0.0).to(tl.float32)
        tl.store(y + at, (value - mean) * rstd * w + b, mask=inside)


@triton.jit
def rms_norm(y, residual, x, weight, columns, eps, TILE: tl.constexpr):
    """Adds x to the residual, keeps the sum there, and gives it normalised."""
    first = tl.program_id(0) * columns
    at = tl.arange(0, TILE)
    inside = at < columns
    value = tl.load(residual + first + at, mask=inside, other=0.0).to(tl.float32)
    value += tl.load(x + first + at, mask=inside, other=0.0).to(tl.float32)
    tl.store(residual + first + at, value.to(tl.float16), mask=inside)
    scale = tl.rsqrt(tl.sum(value * value, axis=0) / columns + eps)
    w = tl.load(weight + at, mask=inside, other=0.0).to(tl.float32)
    tl.store(y + first + at, (value * scale * w).to(tl.float16), mask=inside)


@triton.jit
def rotary(q, cosine, sine, heads, HALF: tl.constexpr, HEADS: tl.constexpr):
    """Turns, in place, all heads of a token; the halves of a head are the two coordinates."""
    token = tl.program_id(0)
    head = tl.arange(0, HEADS)[:, None]
    at = tl.arange(0, HALF)[None, :]
    c = tl.load(cosine + token * HALF + at)
    s = tl.load(sine + token * HALF + at)
    left = q + token * heads * (2 * HALF) + head * (2 * HALF) + at
    inside = head < heads
    a = tl.load(left, mask=inside, other=0.0).to(tl.float32)
    b = tl.load(left + HALF, mask=inside, other=0.0).to(tl.float32)
    tl.store(left, (a * c - b * s).to(tl.float16), mask=inside)
    tl.store(left + HALF, (b * c + a * s).to(tl.float16), mask=inside)


@triton.jit
def swiglu(y, x, inner, TILE: tl.constexpr):
    """x has two halves in a row: the gate, and what passes it."""
    row = tl.program_id(0)
    at = tl.program_id(1) * TILE + tl.arange(0, TILE)
    inside = at < inner
    gate = tl.load(x + row * inner * 2 + at, mask=inside, other=0.0).to(tl.float32)
    up = tl.load(x + row * inner * 2 + inner + at, mask=inside, other=0.0).to(tl.float32)
    tl.store(y + row * inner + at, (gate * tl.sigmoid(gate) * up).to(tl.float16), mask=inside)


@triton.jit
def adam(p, g, m, v, n, rate, beta1, beta2, eps, decay, unbias1, unbias2, TILE: tl.constexpr):
    at = tl.program_id(0) * TILE + tl.arange(0, TILE)
    inside = at < n
    gradient = tl.load(g + at, mask=inside)
    value = tl.load(p + at, mask=inside)
    first = tl.load(m + at, mask=inside)
    second = tl.load(v + at, mask=inside)
    first = beta1 * first + (1 - beta1) * gradient
    second = beta2 * second + (1 - beta2) * gradient * gradient
    step = (first * unbias1) / (tl.sqrt(second * unbias2) + eps)
    tl.store(p + at, value * (1 - rate * decay) - rate * step, mask=inside)
    tl.store(m + at, first, mask=inside)
    tl.store(v + at, second, mask=inside)


@triton.jit
def dropout(y, x, residual, n, probability, seed, TILE: tl.constexpr):
    at = tl.program_id(0) * TILE + tl.arange(0, TILE)
    inside = at < n
    value = tl.load(x + at, mask=inside, other=0.0).to(tl.float32)
    keep = tl.rand(seed, at) > probability
    value = tl.where(keep, value / (1 - probability), 0.0)
    value += tl.load(residual + at, mask=inside, other=0.0).to(tl.float32)
    tl.store(y + at, value.to(tl.float16), mask=inside)


@triton.jit
def gather(y, table, index, rows, columns, ROWS: tl.constexpr, TILE: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    at = tl.program_id(1) * TILE + tl.arange(0, TILE)
    chosen = tl.load(index + row, mask=row < rows, other=0)
    inside = (row[:, None] < rows) & (at[None, :] < columns)
    values = tl.load(table + chosen[:, None] * columns + at[None, :], mask=inside)
    tl.store(y + row[:, None] * columns + at[None, :], values, mask=inside)


@triton.jit
def embedding_bag(y, table, index, length, most, rows, DIM: tl.constexpr):
    """The mean of the rows of a bag, of which there are `length[bag]`, at most `most`; an index is hashed to a row."""
    bag = tl.program_id(0)
    at = tl.arange(0, DIM)
    count = tl.load(length + bag)
    total = tl.zeros([DIM], dtype=tl.float32)
    for i in range(count):
        row = (tl.load(index + bag * most + i) % rows).to(tl.int64)
        total += tl.load(table + row * DIM + at)
    tl.store(y + bag * DIM + at, total / tl.maximum(count, 1).to(tl.float32))


@triton.jit
def cross_entropy(loss, logits, target, columns, TILE: tl.constexpr):
    """Leaves the gradient in place of the logits. Rows with a negative target do not count."""
    row = tl.program_id(0).to(tl.int64)
    logits += row * columns
    label = tl.load(target + row)
    if label < 0:
        for start in range(0, columns, TILE):
            at = start + tl.arange(0, TILE)
            tl.store(logits + at, tl.zeros([TILE], dtype=tl.float16), mask=at < columns)
        tl.store(loss + row, 0.0)
        return
    picked = tl.load(logits + label).to(tl.float32)
    most = -float("inf")
    total = 0.0
    for start in range(0, columns, TILE):
        at = start + tl.arange(0, TILE)
        value = tl.load(logits + at, mask=at < columns, other=-float("inf")).to(tl.float32)
        higher = tl.maximum(most, tl.max(value, axis=0))
        total = total * tl.exp(most - higher) + tl.sum(tl.exp(value - higher), axis=0)
        most = higher
    for start in range(0, columns, TILE):
        at = start + tl.arange(0, TILE)
        value = tl.load(logits + at, mask=at < columns, other=-float("inf")).to(tl.float32)
        gradient = tl.exp(value - most) / total - tl.where(at == label, 1.0, 0.0)
        tl.store(logits + at, gradient.to(tl.float16), mask=at < columns)
    tl.store(loss + row, most + tl.log(total) - picked)


@triton.jit
def matmul(c, a, b, m, n, k, TILE_M: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr, GROUP: tl.constexpr):
    number = tl.program_id(0)
    down, across = tl.cdiv(m, TILE_M), tl.cdiv(n, TILE_N)
    group = number // (GROUP * across)
    high = min(down - group * GROUP, GROUP)
    tile_m = group * GROUP + (number % (GROUP * across)) % high
    tile_n = (number % (GROUP * across)) // high
    row = (tile_m * TILE_M + tl.arange(0, TILE_M)) % m
    column = (tile_n * TILE_N + tl.arange(0, TILE_N)) % n
    inner = tl.arange(0, TILE_K)
    at_a = a + row[:, None] * k + inner[None, :]
    at_b = b + inner[:, None] * n + column[None, :]
    total = tl.zeros((TILE_M, TILE_N), dtype=tl.float32)
    for step in range(tl.cdiv(k, TILE_K)):
        left = tl.load(at_a, mask=inner[None, :] < k - step * TILE_K, other=0.0)
        right = tl.load(at_b, mask=inner[:, None] < k - step * TILE_K, other=0.0)
        total = tl.dot(left, right, total)
        at_a += TILE_K
        at_b += TILE_K * n
    row = tile_m * TILE_M + tl.arange(0, TILE_M)
    column = tile_n * TILE_N + tl.arange(0, TILE_N)
    inside = (row[:, None] < m) & (column[None, :] < n)
    tl.store(c + row[:, None] * n + column[None, :], total.to(tl.float16), mask=inside)


@triton.jit
def flash_attention(y, q, k, v, tokens, scale, TILE_M: tl.constexpr, TILE_N: tl.constexpr, DIM: tl.constexpr):
    """Causal attention of one head for TILE_M queries."""
    tile = tl.program_id(0)
    base = tl.program_id(1).to(tl.int64) * tokens * DIM
    query = tile * TILE_M + tl.arange(0, TILE_M)
    dim = tl.arange(0, DIM)
    of_query = query[:, None] * DIM + dim[None, :]
    queries = tl.load(q + base + of_query, mask=query[:, None] < tokens, other=0.0)
    most = tl.full([TILE_M], -float("inf"), dtype=tl.float32)
    weight = tl.zeros([TILE_M], dtype=tl.float32)
    total = tl.zeros([TILE_M, DIM], dtype=tl.float32)
    for start in range(0, (tile + 1) * TILE_M, TILE_N):
        key = start + tl.arange(0, TILE_N)
        there = key[None, :] < tokens
        keys = tl.load(k + base + dim[:, None] + key[None, :] * DIM, mask=there, other=0.0)
        score = tl.dot(queries, keys) * (scale * 1.4426950408889634)
        score = tl.where((query[:, None] >= key[None, :]) & there, score, -float("inf"))
        higher = tl.maximum(most, tl.max(score, axis=1))
        power = tl.exp2(score - higher[:, None])
        shrink = tl.exp2(most - higher)
        weight = weight * shrink + tl.sum(power, axis=1)
        values = tl.load(v + base + key[:, None] * DIM + dim[None, :], mask=key[:, None] < tokens, other=0.0)
        total = tl.dot(power.to(tl.float16), values, total * shrink[:, None])
        most = higher
    tl.store(y + base + of_query, (total / weight[:, None]).to(tl.float16), mask=query[:, None] < tokens)


@triton.jit
def decode_attention(y, q, k, v, lengths, heads, tokens, scale, TILE: tl.constexpr, DIM: tl.constexpr):
    """One new query of each head of each sequence, of which `lengths[sequence]` keys are there."""
    batch = tl.program_id(0)
    number = batch * heads + tl.program_id(1)
    length = tl.load(lengths + batch)
    dim = tl.arange(0, DIM)
    query = tl.load(q + number * DIM + dim).to(tl.float32) * scale
    most = -float("inf")
    weight = 0.0
    total = tl.zeros([DIM], dtype=tl.float32)
    k += number.to(tl.int64) * tokens * DIM
    v += number.to(tl.int64) * tokens * DIM
    for start in range(0, length, TILE):
        key = start + tl.arange(0, TILE)
        inside = key[:, None] < length
        at = key[:, None] * DIM + dim[None, :]
        score = tl.sum(tl.load(k + at, mask=inside, other=0.0).to(tl.float32) * query[None, :], axis=1)
        score = tl.where(key < length, score, -float("inf"))
        higher = tl.maximum(most, tl.max(score, axis=0))
        power = tl.exp(score - higher)
        shrink = tl.exp(most - higher)
        weight = weight * shrink + tl.sum(power, axis=0)
        values = tl.load(v + at, mask=inside, other=0.0).to(tl.float32)
        total = total * shrink + tl.sum(values * power[:, None], axis=0)
        most = higher
    tl.store(y + number * DIM + dim, (total / weight).to(tl.float16))


@triton.jit
def gemv(y, w, x, rows, columns, ROWS: tl.constexpr, TILE: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    total = tl.zeros([ROWS, TILE], dtype=tl.float32)
    for start in range(0, columns, TILE):
        at = start + tl.arange(0, TILE)
        inside = (row[:, None] < rows) & (at[None, :] < columns)
        weights = tl.load(w + row[:, None].to(tl.int64) * columns + at[None, :], mask=inside, other=0.0)
        total += weights.to(tl.float32) * tl.load(x + at, mask=at < columns, other=0.0).to(tl.float32)[None, :]
    tl.store(y + row, tl.sum(total, axis=1).to(tl.float16), mask=row < rows)


@triton.jit
def add_norm_quant(q, scale, residual, x, weight, columns, eps, TILE: tl.constexpr):
    """Adds x to the residual; gives its RMS norm in bytes, of which the greatest of a row is 127, and their scale."""
    row = tl.program_id(0)
    at = tl.arange(0, TILE)
    inside = at < columns
    start = row.to(tl.int64) * columns
    value = tl.load(x + start + at, mask=inside, other=0.0).to(tl.float32)
    value += tl.load(residual + start + at, mask=inside, other=0.0).to(tl.float32)
    tl.store(residual + start + at, value.to(tl.float16), mask=inside)
    rstd = tl.rsqrt(tl.sum(value * value, axis=0) / columns + eps)
    normal = value * rstd * tl.load(weight + at, mask=inside, other=0.0).to(tl.float32)
    most = tl.maximum(tl.max(tl.abs(normal), axis=0), 1e-8)
    steps = normal * (127.0 / most)
    whole = tl.floor(steps + 0.5).to(tl.int8)
    tl.store(q + start + at, whole, mask=inside)
    tl.store(scale + row, most / 127.0)


@triton.jit
def group_norm_silu(y, x, weight, bias, groups, channels_per_group, pixels, eps, TILE: tl.constexpr):
    """Each program takes a group of an image: first its sums, then the result, channel by channel."""
    program = tl.program_id(0)
    group = program % groups
    size = channels_per_group * pixels
    x += program.to(tl.int64) * size
    y += program.to(tl.int64) * size
    total = tl.zeros([TILE], dtype=tl.float32)
    square = tl.zeros([TILE], dtype=tl.float32)
    for start in range(0, size, TILE):
        at = start + tl.arange(0, TILE)
        value = tl.load(x + at, mask=at < size, other=0.0).to(tl.float32)
        total += value
        square += value * value
    mean = tl.sum(total, axis=0) / size
    rstd = 1.0 / tl.sqrt(tl.sum(square, axis=0) / size - mean * mean + eps)
    for channel in range(channels_per_group):
        w = tl.load(weight + group * channels_per_group + channel) * rstd
        b = tl.load(bias + group * channels_per_group + channel)
        for start in range(0, pixels, TILE):
            at = start + tl.arange(0, TILE)
            inside = at < pixels
            value = tl.load(x + channel * pixels + at, mask=inside, other=0.0).to(tl.float32)
            value = (value - mean) * w + b
            value = value / (1.0 + tl.exp(-value))
            tl.store(y + channel * pixels + at, value.to(tl.float16), mask=inside)


@triton.jit
def _after(a0, b0, a1, b1):
    """The step s -> a0 s + b0, then the step s -> a1 s + b1."""
    return a0 * a1, b0 * a1 + b1


@triton.jit
def gated_scan(h, end_gate, end_state, gate, value, channels, TIME: tl.constexpr, WIDE: tl.constexpr):
    """h[t] = g[t] h[t - 1] + (1 - g[t]) v[t] in chunks of TIME steps; g is the sigmoid of the gate. The last h of a
    chunk and the product of its g are for the next one."""
    chunk = tl.program_id(0)
    channel = tl.program_id(1) * WIDE + tl.arange(0, WIDE)
    batch = tl.program_id(2)
    chunks = tl.num_programs(0)
    number = batch * chunks + chunk
    time = number.to(tl.int64) * TIME + tl.arange(0, TIME)
    at = time[:, None] * channels + channel[None, :]
    inside = (channel < channels)[None, :]
    g = tl.load(gate + at, mask=inside, other=0.0)
    g = 1.0 / (1.0 + tl.exp(-g))
    v = tl.load(value + at, mask=inside, other=0.0) * (1.0 - g)
    product, state = tl.associative_scan((g, v), 0, _after)
    tl.store(h + at, state, mask=inside)
    last = (tl.arange(0, TIME) == TIME - 1)[:, None]
    out = number * channels + channel
    tl.store(end_gate + out, tl.sum(tl.where(last, product, 0.0), axis=0), mask=channel < channels)
    tl.store(end_state + out, tl.sum(tl.where(last, state, 0.0), axis=0), mask=channel < channels)


@triton.jit
def int4_gemv(y, x, packed, scale, zero, rows, half, ROWS: tl.constexpr, TILE: tl.constexpr, GROUP: tl.constexpr):
    """y = W x, where W has 4 bits an element, with a scale and a zero for each GROUP of a row. Low nibbles are the left
    half of a row, high ones the right half."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    valid = (row < rows)[:, None]
    line = row.to(tl.int64)[:, None]
    groups = 2 * half // GROUP
    total = tl.zeros([ROWS, TILE], dtype=tl.float32)
    for start in range(0, half, TILE):
        at = start + tl.arange(0, TILE)
        inside = (at < half)[None, :] & valid
        byte = tl.load(packed + line * half + at[None, :], mask=inside, other=0)
        left = line * groups + (at // GROUP)[None, :]
        right = left + half // GROUP
        s0 = tl.load(scale + left, mask=inside, other=0.0).to(tl.float32)
        s1 = tl.load(scale + right, mask=inside, other=0.0).to(tl.float32)
        z0 = tl.load(zero + left, mask=inside, other=0)
        z1 = tl.load(zero + right, mask=inside, other=0)
        x0 = tl.load(x + at, mask=at < half, other=0.0).to(tl.float32)[None, :]
        x1 = tl.load(x + half + at, mask=at < half, other=0.0).to(tl.float32)[None, :]
        w0 = (byte & 15).to(tl.float32) - z0.to(tl.float32)
        w1 = (byte >> 4).to(tl.float32) - z1.to(tl.float32)
        total += w0 * s0 * x0 + w1 * s1 * x1
    tl.store(y + row, tl.sum(total, axis=1).to(tl.float16), mask=row < rows)


@triton.jit
def moe_top2(expert, weight, counts, logits, bias, tokens, TOKENS: tl.constexpr, EXPERTS: tl.constexpr):
    """A router: the two best experts of each token by biased logits, their shares of the softmax, which sum to 1, and
    how many tokens each expert has."""
    token = tl.program_id(0) * TOKENS + tl.arange(0, TOKENS)
    number = tl.arange(0, EXPERTS)
    valid = token < tokens
    at = token.to(tl.int64)[:, None] * EXPERTS + number[None, :]
    value = tl.load(logits + at, mask=valid[:, None], other=0.0).to(tl.float32)
    chosen = value + tl.load(bias + number)[None, :]
    _, first = tl.max(chosen, axis=1, return_indices=True)
    is_first = number[None, :] == first[:, None]
    _, second = tl.max(tl.where(is_first, -float("inf"), chosen), axis=1, return_indices=True)
    is_second = number[None, :] == second[:, None]
    top = tl.max(value, axis=1)
    e = tl.exp(value - top[:, None])
    whole = tl.sum(e, axis=1)
    p0 = tl.sum(tl.where(is_first, e, 0.0), axis=1) / whole
    p1 = tl.sum(tl.where(is_second, e, 0.0), axis=1) / whole
    both = p0 + p1 + 1e-20
    tl.store(expert + 2 * token, first.to(tl.int32), mask=valid)
    tl.store(expert + 2 * token + 1, second.to(tl.int32), mask=valid)
    tl.store(weight + 2 * token, p0 / both, mask=valid)
    tl.store(weight + 2 * token + 1, p1 / both, mask=valid)
    here = tl.sum(((is_first | is_second) & valid[:, None]).to(tl.int32), axis=0)
    tl.atomic_add(counts + number, here)


@triton.jit
def _tanh(v):
    return 2.0 / (1.0 + tl.exp(-2.0 * v)) - 1.0


@triton.jit
def lstm_cell(h, c, from_x, from_h, bias, hidden, TILE: tl.constexpr):
    """A step of an LSTM after its two products: the gates i, f, g, o lie side by side; c is written in place."""
    row = tl.program_id(0)
    unit = tl.program_id(1) * TILE + tl.arange(0, TILE)
    inside = unit < hidden
    start = row.to(tl.int64) * 4 * hidden
    at = row.to(tl.int64) * hidden + unit
    i = tl.load(from_x + start + unit, mask=inside).to(tl.float32)
    i += tl.load(from_h + start + unit, mask=inside).to(tl.float32)
    start += hidden
    f = tl.load(from_x + start + unit, mask=inside).to(tl.float32)
    f += tl.load(from_h + start + unit, mask=inside).to(tl.float32)
    start += hidden
    g = tl.load(from_x + start + unit, mask=inside).to(tl.float32)
    g += tl.load(from_h + start + unit, mask=inside).to(tl.float32)
    start += hidden
    o = tl.load(from_x + start + unit, mask=inside).to(tl.float32)
    o += tl.load(from_h + start + unit, mask=inside).to(tl.float32)
    i += tl.load(bias + unit, mask=inside)
    f += tl.load(bias + hidden + unit, mask=inside)
    g += tl.load(bias + 2 * hidden + unit, mask=inside)
    o += tl.load(bias + 3 * hidden + unit, mask=inside)
    cell = tl.sigmoid(f) * tl.load(c + at, mask=inside) + tl.sigmoid(i) * _tanh(g)
    tl.store(c + at, cell, mask=inside)
    tl.store(h + at, (tl.sigmoid(o) * _tanh(cell)).to(tl.float16), mask=inside)


@triton.jit
def gumbel_sample(token, score, logits, columns, over_temperature, seed, TILE: tl.constexpr):
    """A token of each row, the one with the highest logit / temperature + Gumbel noise (by Philox), and its score."""
    row = tl.program_id(0)
    start = row.to(tl.int64) * columns
    best = tl.full([TILE], -float("inf"), tl.float32)
    where = tl.zeros([TILE], dtype=tl.int32)
    for first in range(0, columns, TILE):
        at = first + tl.arange(0, TILE)
        inside = at < columns
        value = tl.load(logits + start + at, mask=inside, other=-float("inf")).to(tl.float32)
        noise = -tl.log(-tl.log(tl.rand(seed, row * columns + at)))
        value = tl.where(inside, value * over_temperature + noise, -float("inf"))
        better = value > best
        best = tl.where(better, value, best)
        where = tl.where(better, at, where)
    most, lane = tl.max(best, axis=0, return_indices=True)
    tl.store(score + row, most)
    tl.store(token + row, tl.sum(tl.where(tl.arange(0, TILE) == lane, where, 0), axis=0))


@dataclass(frozen=True, slots=True)
class Compiled:
    """How a kernel is compiled: the types of its parameters in order, its constants, warps and pipeline stages. A
    number that Triton may take to be a multiple of 16 has the type "i32:16"."""

    kernel: Any
    types: str
    constants: Mapping[str, int]
    warps: int = 4
    stages: int = 3


KERNELS: Mapping[str, Compiled] = {
    "softmax": Compiled(softmax, "*fp16 *fp16 i32:16 i32:16", {"TILE": 4096}, 8),
    "layer_norm": Compiled(layer_norm, "*fp16 *fp16 *fp32 *fp32 *fp32 *fp32 i32:16 i32:16 fp32", {"TILE": 2048}, 8),
    "rms_norm": Compiled(rms_norm, "*fp16 *fp16 *fp16 *fp16 i32:16 fp32", {"TILE": 4096}, 16),
    "rotary": Compiled(rotary, "*fp16 *fp32 *fp32 i32", {"HALF": 64, "HEADS": 32}),
    "swiglu": Compiled(swiglu, "*fp16 *fp16 i32:16", {"TILE": 1024}),
    "adam": Compiled(adam, "*fp32 *fp32 *fp32 *fp32 i32:16" + " fp32" * 7, {"TILE": 1024}),
    "dropout": Compiled(dropout, "*fp16 *fp16 *fp16 i32:16 fp32 i32", {"TILE": 1024}),
    "gather": Compiled(gather, "*fp32 *fp32 *i64 i32 i32:16", {"ROWS": 4, "TILE": 512}),
    "embedding_bag": Compiled(embedding_bag, "*fp32 *fp32 *i32 *i32 i32 i32", {"DIM": 128}, 1),
    "cross_entropy": Compiled(cross_entropy, "*fp32 *fp16 *i32 i32", {"TILE": 4096}, 8),
    "matmul": Compiled(matmul, "*fp16 *fp16 *fp16 i32:16 i32:16 i32:16",
                       {"TILE_M": 128, "TILE_N": 256, "TILE_K": 64, "GROUP": 8}, 8),
    "flash_attention": Compiled(flash_attention, "*fp16 *fp16 *fp16 *fp16 i32:16 fp32",
                                {"TILE_M": 128, "TILE_N": 64, "DIM": 64}, 4),
    "decode_attention": Compiled(decode_attention, "*fp16 *fp16 *fp16 *fp16 *i32 i32 i32:16 fp32",
                                 {"TILE": 64, "DIM": 128}),
    "gemv": Compiled(gemv, "*fp16 *fp16 *fp16 i32 i32:16", {"ROWS": 4, "TILE": 1024}),
    "add_norm_quant": Compiled(add_norm_quant, "*i8 *fp32 *fp16 *fp16 *fp16 i32:16 fp32", {"TILE": 8192}, 8),
    "group_norm_silu": Compiled(group_norm_silu, "*fp16 *fp16 *fp32 *fp32 i32 i32 i32:16 fp32", {"TILE": 2048}),
    "gated_scan": Compiled(gated_scan, "*fp32 *fp32 *fp32 *fp32 *fp32 i32:16", {"TIME": 64, "WIDE": 32}),
    "int4_gemv": Compiled(int4_gemv, "*fp16 *fp16 *u8 *fp16 *u8 i32 i32:16", {"ROWS": 4, "TILE": 512, "GROUP": 64}),
    "moe_top2": Compiled(moe_top2, "*i32 *fp32 *i32 *fp16 *fp32 i32", {"TOKENS": 128, "EXPERTS": 64}, 8),
    "lstm_cell": Compiled(lstm_cell, "*fp16 *fp32 *fp16 *fp16 *fp32 i32:16", {"TILE": 512}, 2),
    "gumbel_sample": Compiled(gumbel_sample, "*i32 *fp32 *fp16 i32:16 fp32 i32", {"TILE": 1024}),
}  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare the committed PTX, write nothing")
    parser.add_argument("names", nargs="*", help="only these kernels")
    options = parser.parse_args()
    stale = 0
    for name, compiled in KERNELS.items():
        if options.names and name not in options.names:
            continue
        text, about = made(compiled)
        facts = f"{32 * about.num_warps} threads, {about.shared} bytes shared"
        for kind in ("global_scratch_size", "profile_scratch_size"):
            facts += f", {kind} {getattr(about, kind, 0)}"
        stale += is_stale(FOLDER / f"{name}.sm_90a.ptx", text, options.check, facts)
    return 1 if stale else 0


def is_stale(path: Path, text: str, check: bool, facts: str = "") -> bool:
    """Whether the file has another text after it was written, or only compared for a `check`; prints that."""
    if not check:
        path.write_text(text)
    equal = path.is_file() and path.read_text() == text
    print(", ".join(filter(None, (path.name, facts, "" if equal else "DIFFERS"))))
    return not equal


def made(compiled: Compiled, architecture: int = 90) -> tuple[str, Any]:
    """The PTX, and what Triton says of the kernel."""
    names = [name for name in compiled.kernel.arg_names if name not in compiled.constants]
    types = compiled.types.split()
    signature = {name: one.split(":")[0] for name, one in zip(names, types, strict=True)}
    signature |= dict.fromkeys(compiled.constants, "constexpr")
    aligned = {(i,): [["tt.divisibility", 16]] for i, one in enumerate(types) if one[0] == "*" or ":16" in one}
    source = ASTSource(compiled.kernel, signature, constexprs=dict(compiled.constants), attrs=aligned)
    settings = {"num_warps": compiled.warps, "num_stages": compiled.stages, "ptx_version": VERSION}
    found = triton.compile(source, target=GPUTarget("cuda", architecture, 32), options=settings)
    about = found.metadata
    head = f"// Triton {triton.__version__}, num_warps={about.num_warps}, num_stages={about.num_stages}\n"
    return head + re.sub(r"\s+\n", "\n", found.asm["ptx"]).lstrip(), about


if __name__ == "__main__":
    sys.exit(main())
