# mypy: disable-error-code="no-untyped-def,untyped-decorator"
"""Pairs of Triton kernels in the shapes of language models, compiled for the current GPU. Needs Triton and torch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import torch
import triton
import triton.language as tl

from goptx.launch.shape import Shape
from goptx.tuning.measured import Measured, measured

HALF, WORD = torch.float16, torch.int32
ROWS, COLUMNS = 16384, 4096


@triton.jit
def gemm(a, b, c, m, n, k, TILE_M: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr):
    rows = tl.program_id(0) * TILE_M + tl.arange(0, TILE_M)
    columns = tl.program_id(1) * TILE_N + tl.arange(0, TILE_N)
    inner = tl.arange(0, TILE_K)
    at_a = a + rows[:, None] * k + inner[None, :]
    at_b = b + inner[:, None] * n + columns[None, :]
    total = tl.zeros((TILE_M, TILE_N), dtype=tl.float32)
    for _ in range(tl.cdiv(k, TILE_K)):
        total = tl.dot(tl.load(at_a), tl.load(at_b), total)
        at_a += TILE_K
        at_b += TILE_K * n
    tl.store(c + rows[:, None] * n + columns[None, :], total.to(tl.float16))


@triton.jit
def gather(out, embedding, index, columns, TILE: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, TILE)
    values = tl.load(embedding + tl.load(index + row) * columns + at, mask=at < columns)
    tl.store(out + row * columns + at, values, mask=at < columns)


@triton.jit
def softmax(out, x, columns, TILE: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, TILE)
    values = tl.load(x + row * columns + at, mask=at < columns, other=-float("inf")).to(tl.float32)
    values = tl.exp(values - tl.max(values, axis=0))
    tl.store(out + row * columns + at, (values / tl.sum(values, axis=0)).to(tl.float16), mask=at < columns)


@triton.jit
def dropout(out, x, n, seed, TILE: tl.constexpr):
    at = tl.program_id(0) * TILE + tl.arange(0, TILE)
    chosen = tl.rand(seed, at) > 0.5
    tl.store(out + at, tl.where(chosen, tl.load(x + at, mask=at < n) * 2.0, 0.0), mask=at < n)


Part = tuple[Any, Shape, list[str]]
"""A compiled kernel, its grid, and its arguments as `goptx.tune` takes them."""


def gemm_part(m: int, n: int, k: int) -> Part:
    half = torch.empty(16, dtype=HALF, device="cuda")
    tile = {"TILE_M": 128, "TILE_N": 128, "TILE_K": 64}
    made = gemm.warmup(half, half, half, m, n, k, **tile, num_warps=4, num_stages=3, grid=(1,))
    arrays = [f"f16[{m * k}]", f"f16[{k * n}]", f"f16[{m * n}]:zeros"]
    return made, Shape((m // 128, n // 128)), [*arrays, *(f"i32:{size}" for size in (m, n, k))]


def gather_part() -> Part:
    rows, words = 32768, 50304
    half, index = (torch.empty(16, dtype=kind, device="cuda") for kind in (HALF, WORD))
    made = gather.warmup(half, half, index, COLUMNS, TILE=COLUMNS, num_warps=8, grid=(1,))
    arrays = [f"f16[{rows * COLUMNS}]:zeros", f"f16[{words * COLUMNS}]", f"i32[{rows}]:0..{words}"]
    return made, Shape(rows), [*arrays, f"i32:{COLUMNS}"]


def softmax_part() -> Part:
    half = torch.empty(16, dtype=HALF, device="cuda")
    made = softmax.warmup(half, half, COLUMNS, TILE=COLUMNS, num_warps=8, grid=(1,))
    return made, Shape(ROWS), [f"f16[{ROWS * COLUMNS}]:zeros", f"f16[{ROWS * COLUMNS}]", f"i32:{COLUMNS}"]


def dropout_part() -> Part:
    n, tile = 1 << 26, 1024
    half = torch.empty(16, dtype=HALF, device="cuda")
    made = dropout.warmup(half, half, n, 123, TILE=tile, grid=(1,))
    return made, Shape(n // tile), [f"f16[{n}]:zeros", f"f16[{n}]", f"i32:{n}", "i32:123"]


def pair_of(*parts: Callable[[], Part]) -> Measured:
    made = [part() for part in parts]
    arguments = {f"{letter}:{i}": text for letter, (_, _, own) in zip("AB", made, strict=True)
                 for i, text in enumerate(own)}  # fmt: skip
    return measured([kernel for kernel, _, _ in made], shapes=[shape for _, shape, _ in made], args=arguments)


large, small = partial(gemm_part, 4096, 4096, 4096), partial(gemm_part, 1024, 1024, 4096)
PAIRS: Mapping[str, Callable[[], Measured]] = {
    "gemm + gather": partial(pair_of, large, gather_part),
    "gemm + softmax": partial(pair_of, large, softmax_part),
    "gemm + dropout": partial(pair_of, large, dropout_part),
    "small gemm + dropout": partial(pair_of, small, dropout_part),
    "softmax + dropout": partial(pair_of, softmax_part, dropout_part),
}
