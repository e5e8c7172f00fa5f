"""The kernels of launch_cases.py as Triton has them; by case."""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit  # type: ignore[untyped-decorator]
def scale(x, y, a, n, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n) * a, mask=i < n)


@triton.jit  # type: ignore[untyped-decorator]
def step(p, g, m, v, lr, b1, b2, eps, n, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    gradient = tl.load(g + i, mask=inside)
    first = tl.load(m + i, mask=inside) * b1 + gradient
    second = tl.load(v + i, mask=inside) * b2 + gradient
    tl.store(m + i, first, mask=inside)
    tl.store(v + i, second, mask=inside)
    tl.store(p + i, tl.load(p + i, mask=inside) + first * lr + second * eps, mask=inside)


KERNELS = {"scale": scale, "optimizer": step}
