"""Triton kernels of the programs: embedding bags, matrix products and what stands between them."""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit  # type: ignore[untyped-decorator]
def bag(weight, indices, out, pooled, DIM: tl.constexpr):  # type: ignore[no-untyped-def]
    """out[sample] is the sum of `pooled` rows of the table."""
    sample = tl.program_id(0)
    columns = tl.arange(0, DIM)
    total = tl.zeros((DIM,), tl.float32)
    for i in range(pooled):
        row = tl.load(indices + sample * pooled + i)
        total += tl.load(weight + row * DIM + columns)
    tl.store(out + sample * DIM + columns, total)


@triton.jit  # type: ignore[untyped-decorator]
def norm(x, weight, y, eps, WIDTH: tl.constexpr, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    """The RMS norm of each row."""
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    inside = columns < WIDTH
    value = tl.load(x + row * WIDTH + columns, mask=inside, other=0.0).to(tl.float32)
    scale = tl.rsqrt(tl.sum(value * value) / WIDTH + eps)
    factor = tl.load(weight + columns, mask=inside, other=0.0).to(tl.float32)
    tl.store(y + row * WIDTH + columns, (value * scale * factor).to(tl.bfloat16), mask=inside)


@triton.jit  # type: ignore[untyped-decorator]
def product(a, b, c, M, N: tl.constexpr, K: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):  # type: ignore[no-untyped-def]
    """c = a @ b.T, with b as torch.nn.Linear has its weight."""
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    total = tl.zeros((BM, BN), tl.float32)
    for at in range(0, K, BK):
        left = tl.load(a + m[:, None] * K + at + k[None, :], mask=m[:, None] < M, other=0.0)
        right = tl.load(b + n[None, :] * K + at + k[:, None])
        total = tl.dot(left, right, total)
    tl.store(c + m[:, None] * N + n[None, :], total.to(tl.bfloat16), mask=m[:, None] < M)


@triton.jit  # type: ignore[untyped-decorator]
def gated(gate, up, y, n, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    """silu(gate) * up"""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    g = tl.load(gate + i, mask=inside).to(tl.float32)
    u = tl.load(up + i, mask=inside).to(tl.float32)
    tl.store(y + i, (g / (1 + tl.exp(-g)) * u).to(tl.bfloat16), mask=inside)


@triton.jit  # type: ignore[untyped-decorator]
def added(x, y, z, n, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    one = tl.load(x + i, mask=inside).to(tl.float32)
    tl.store(z + i, (one + tl.load(y + i, mask=inside).to(tl.float32)).to(tl.bfloat16), mask=inside)


@triton.jit  # type: ignore[untyped-decorator]
def rotated(x, cosine, sine, y, WIDTH: tl.constexpr, HEAD: tl.constexpr):  # type: ignore[no-untyped-def]
    """Rotary positions: each half of a head with the other."""
    row, head = tl.program_id(0), tl.program_id(1)
    i = tl.arange(0, HEAD // 2)
    at = row * WIDTH + head * HEAD + i
    one, other = tl.load(x + at).to(tl.float32), tl.load(x + at + HEAD // 2).to(tl.float32)
    c, s = tl.load(cosine + row * (HEAD // 2) + i), tl.load(sine + row * (HEAD // 2) + i)
    tl.store(y + at, (one * c - other * s).to(tl.bfloat16))
    tl.store(y + at + HEAD // 2, (other * c + one * s).to(tl.bfloat16))


@triton.jit  # type: ignore[untyped-decorator]
def adam(p, g, m, v, lr, b1, b2, eps, n, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    gradient = tl.load(g + i, mask=inside).to(tl.float32)
    first = tl.load(m + i, mask=inside) * b1 + gradient * (1 - b1)
    second = tl.load(v + i, mask=inside) * b2 + gradient * gradient * (1 - b2)
    tl.store(m + i, first, mask=inside)
    tl.store(v + i, second, mask=inside)
    tl.store(p + i, tl.load(p + i, mask=inside) - lr * first / (tl.sqrt(second) + eps), mask=inside)
