"""Programs of torch with Triton kernels: a tower of embedding bags, a layer, experts, a training step.

Each function makes the weights and returns a callable and its inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
import triton

from captured import triton_kernels as kernels
from captured.product_tiles import Tile, tile_of

Program = tuple[Callable[..., Any], tuple[torch.Tensor, ...]]
POOLED = (3, 2, 1, 2, 6, 1, 1, 1, 1, 7, 3, 8, 1, 6, 9, 5, 1, 1, 1, 12, 100, 27, 10, 3, 1, 1)
"""Rows that each table of MLPerf's DLRM-DCNv2 looks up for a sample (multi-hot sizes of its reference code)."""
ROWS = 1_000_000  # of a table at most
WIDTH, HIDDEN, HEADS, PAIRS, HEAD = 4096, 14336, 32, 8, 128


def tower(samples: int = 512, rows: int = ROWS, dim: int = 128, tables: int = 26) -> Program:
    """Embedding bags, each with an output of its own."""
    torch.manual_seed(0)
    weights = [torch.randn(rows, dim, device="cuda") for _ in range(tables)]
    pooled = [POOLED[i % len(POOLED)] for i in range(tables)]
    indices = tuple(torch.randint(rows, (samples, p), device="cuda", dtype=torch.int32) for p in pooled)

    def run(*given: torch.Tensor) -> list[torch.Tensor]:
        outs = [torch.empty(samples, dim, device="cuda") for _ in weights]
        for weight, index, out, count in zip(weights, given, outs, pooled, strict=True):
            kernels.bag[(samples,)](weight, index, out, count, DIM=dim)
        return outs

    return run, indices


def linear(x: torch.Tensor, weight: torch.Tensor, tile: Tile | None = None) -> torch.Tensor:
    """x @ weight.T by a Triton kernel."""
    tokens, depth = x.shape
    own = tile or tile_of(tokens)
    out = torch.empty(tokens, weight.shape[0], device="cuda", dtype=torch.bfloat16)
    grid = triton.cdiv(tokens, own.rows), weight.shape[0] // own.columns
    kernels.product[grid](
        x, weight, out, tokens, weight.shape[0], depth, BM=own.rows, BN=own.columns, BK=own.depth,
        num_warps=own.warps, num_stages=own.stages,
    )  # fmt: skip
    return out


def flat(kernel: Any, *tensors: torch.Tensor) -> torch.Tensor:
    """An elementwise kernel of tensors, in a new one."""
    out = torch.empty_like(tensors[0])
    kernel[(triton.cdiv(out.numel(), 1024),)](*tensors, out, out.numel(), BLOCK=1024)
    return out


def weights_of(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, device="cuda", dtype=torch.bfloat16) / shape[-1] ** 0.5


def normed(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    kernels.norm[(x.shape[0],)](x, weight, out, 1e-5, WIDTH=x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
    return out


def turned(x: torch.Tensor, cosine: torch.Tensor, sine: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    kernels.rotated[(x.shape[0], x.shape[1] // HEAD)](x, cosine, sine, out, WIDTH=x.shape[1], HEAD=HEAD)
    return out


def layer(tokens: int = 32, experts: int = 0) -> Program:
    """A Llama-like layer of 4096 / 14336 with grouped-query attention, its matrix products by Triton. With `experts`,
    each of a width of 3584, and a shared one, in place of the one of 14336."""
    torch.manual_seed(0)
    query, out = weights_of(WIDTH, WIDTH), weights_of(WIDTH, WIDTH)
    key, value = weights_of(PAIRS * HEAD, WIDTH), weights_of(PAIRS * HEAD, WIDTH)
    width = HIDDEN if not experts else HIDDEN // 4
    parts = [(weights_of(width, WIDTH), weights_of(width, WIDTH), weights_of(WIDTH, width)) for _ in range(experts + 1)]
    before, after = torch.ones(2, WIDTH, device="cuda", dtype=torch.bfloat16)
    cosine, sine = torch.rand(2, tokens, HEAD // 2, device="cuda")

    def run(x: torch.Tensor) -> torch.Tensor:
        y = normed(x, before)
        q, k, v = linear(y, query), linear(y, key), linear(y, value)
        q, k = turned(q, cosine, sine), turned(k, cosine, sine)
        heads = [t.view(tokens, -1, HEAD).transpose(0, 1)[None] for t in (q, k, v)]
        found = torch.nn.functional.scaled_dot_product_attention(*heads, is_causal=True, enable_gqa=True)
        x = flat(kernels.added, x, linear(found[0].transpose(0, 1).reshape(tokens, WIDTH), out))
        y = normed(x, after)
        for gate, up, down in parts:
            x = flat(kernels.added, x, linear(flat(kernels.gated, linear(y, gate), linear(y, up)), down))
        return x

    return run, (torch.randn(tokens, WIDTH, device="cuda", dtype=torch.bfloat16),)


def training(tokens: int = 512) -> Program:
    """Matrix products of the backward pass of one layer beside the optimizer's step of another one."""
    torch.manual_seed(0)
    weights = [weights_of(WIDTH, WIDTH) for _ in range(4)]
    state: Sequence[torch.Tensor] = [torch.rand(WIDTH * WIDTH, device="cuda") for _ in range(3)]
    gradient = torch.randn(WIDTH * WIDTH, device="cuda", dtype=torch.bfloat16)

    def run(x: torch.Tensor) -> list[torch.Tensor]:
        p, m, v = state
        kernels.adam[(triton.cdiv(p.numel(), 1024),)](p, gradient, m, v, 1e-3, 0.9, 0.999, 1e-8, p.numel(), BLOCK=1024)
        return [linear(x, weight) for weight in weights]

    return run, (torch.randn(tokens, WIDTH, device="cuda", dtype=torch.bfloat16),)


def by_name(
    tower: Callable[..., Program], layer: Callable[..., Program], training: Callable[..., Program]
) -> dict[str, Callable[[], Program]]:
    """The programs in their sizes, by the names of the table."""
    return {
        "tower of 26 embedding bags, 512 samples": tower,
        "tower of 26 embedding bags, 2048 samples": partial(tower, 2048),
        **{f"layer, {n} tokens": partial(layer, n) for n in (1, 8, 32, 128)},
        "layer with two experts and a shared one, 32 tokens": partial(layer, 32, 2),
        "products of a backward pass and Adam": training,
    }


PROGRAMS = by_name(tower, layer, training)
