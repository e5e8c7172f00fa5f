"""The programs of torch_programs.py in torch's own operations, for torch.compile: the same sizes, made-up weights.

Each function makes the weights and returns a callable and its inputs.
"""

from __future__ import annotations

import torch
from torch.nn import functional

from captured.torch_programs import HEAD, HIDDEN, PAIRS, POOLED, ROWS, WIDTH, Program, by_name, weights_of


def tower(samples: int = 512) -> Program:
    torch.manual_seed(0)
    tables = [torch.randn(ROWS, 128, device="cuda") for _ in POOLED]
    indices = tuple(torch.randint(ROWS, (samples, p), device="cuda", dtype=torch.int32) for p in POOLED)

    def run(*given: torch.Tensor) -> list[torch.Tensor]:
        return [functional.embedding_bag(i, table, mode="sum") for i, table in zip(given, tables, strict=True)]

    return run, indices


def norm(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    value = x.float()
    return (value * torch.rsqrt(value.square().mean(-1, keepdim=True) + 1e-5) * weight.float()).to(x.dtype)


def rotated(x: torch.Tensor, cosine: torch.Tensor, sine: torch.Tensor) -> torch.Tensor:
    one, other = x.view(x.shape[0], -1, 2, HEAD // 2).float().unbind(2)
    c, s = cosine[:, None], sine[:, None]
    return torch.stack((one * c - other * s, other * c + one * s), 2).to(x.dtype).view(x.shape)


def layer(tokens: int = 32, experts: int = 0) -> Program:
    torch.manual_seed(0)
    query, out = weights_of(WIDTH, WIDTH), weights_of(WIDTH, WIDTH)
    key, value = weights_of(PAIRS * HEAD, WIDTH), weights_of(PAIRS * HEAD, WIDTH)
    width = HIDDEN if not experts else HIDDEN // 4
    parts = [(weights_of(width, WIDTH), weights_of(width, WIDTH), weights_of(WIDTH, width)) for _ in range(experts + 1)]
    before, after = torch.ones(2, WIDTH, device="cuda", dtype=torch.bfloat16)
    cosine, sine = torch.rand(2, tokens, HEAD // 2, device="cuda")
    linear = functional.linear

    def run(x: torch.Tensor) -> torch.Tensor:
        y = norm(x, before)
        q, k, v = linear(y, query), linear(y, key), linear(y, value)
        q, k = rotated(q, cosine, sine), rotated(k, cosine, sine)
        heads = [t.view(tokens, -1, HEAD).transpose(0, 1)[None] for t in (q, k, v)]
        found = functional.scaled_dot_product_attention(*heads, is_causal=True, enable_gqa=True)
        x = x + linear(found[0].transpose(0, 1).reshape(tokens, WIDTH), out)
        y = norm(x, after)
        for gate, up, down in parts:
            x = x + linear(functional.silu(linear(y, gate)) * linear(y, up), down)
        return x

    return run, (torch.randn(tokens, WIDTH, device="cuda", dtype=torch.bfloat16),)


def training(tokens: int = 512) -> Program:
    torch.manual_seed(0)
    weights = [weights_of(WIDTH, WIDTH) for _ in range(4)]
    p, m, v = (torch.rand(WIDTH * WIDTH, device="cuda") for _ in range(3))
    gradient = torch.randn(WIDTH * WIDTH, device="cuda", dtype=torch.bfloat16)

    def run(x: torch.Tensor) -> list[torch.Tensor]:
        g = gradient.float()
        m.mul_(0.9).add_(g * (1 - 0.9))
        v.mul_(0.999).add_(g * g * (1 - 0.999))
        p.sub_(1e-3 * m / (v.sqrt() + 1e-8))
        return [functional.linear(x, weight) for weight in weights]

    return run, (torch.randn(tokens, WIDTH, device="cuda", dtype=torch.bfloat16),)


PLAIN = by_name(tower, layer, training)
