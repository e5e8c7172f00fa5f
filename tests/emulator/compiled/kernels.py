# mypy: ignore-errors
"""Kernels for Triton and Numba, compiled by build.py."""

import triton.language as tl
from numba import cuda, float32


def softmax(x, out, n, stride, B: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, B)
    v = tl.load(x + row * stride + i, mask=i < n, other=-float("inf"))
    e = tl.exp(v - tl.max(v, 0))
    tl.store(out + row * stride + i, e / tl.sum(e, 0), mask=i < n)


def product(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    from_a, from_b = a + m[:, None] * K + k[None, :], b + k[:, None] * N + n[None, :]
    sums = tl.zeros((BM, BN), tl.float32)
    for _ in range(0, K, BK):
        sums = tl.dot(tl.load(from_a), tl.load(from_b), sums)
        from_a += BK
        from_b += BK * N
    tl.store(c + m[:, None] * N + n[None, :], sums.to(tl.float16))


def histogram(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.atomic_add(out + tl.load(x + i, mask=i < n, other=0), 1, mask=i < n)


def division(x, y, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] // y[i] * 1000 + x[i] % y[i]


def tiles(a, b, c):
    left, right = cuda.shared.array((16, 16), float32), cuda.shared.array((16, 16), float32)
    x, y = cuda.grid(2)
    i, j = cuda.threadIdx.x, cuda.threadIdx.y
    total = float32(0)
    for k in range(a.shape[1] // 16):
        left[i, j], right[i, j] = a[x, j + k * 16], b[i + k * 16, y]
        cuda.syncthreads()
        for step in range(16):
            total += left[i, step] * right[step, j]
        cuda.syncthreads()
    c[x, y] = total
