# mypy: disable-error-code="no-untyped-def,untyped-decorator"
"""Two Triton kernels, a softmax and a GELU, woven and launched on torch tensors.

python examples/interop/triton_torch.py
"""

import sys

try:
    import torch
    import triton
    import triton.language as tl
except ImportError as error:
    print(f"skipped: {error}; pip install torch triton")
    sys.exit(77)

import goptx

ROWS, COLUMNS, TILE = 4096, 1000, 1024


@triton.jit
def softmax(out, x, columns, TILE: tl.constexpr):
    at = tl.arange(0, TILE)
    values = tl.load(x + tl.program_id(0) * columns + at, mask=at < columns, other=-float("inf"))
    values = tl.exp(values - tl.max(values, axis=0))
    tl.store(out + tl.program_id(0) * columns + at, values / tl.sum(values, axis=0), mask=at < columns)


@triton.jit
def gelu(out, x, n, TILE: tl.constexpr):
    at = tl.program_id(0) * TILE + tl.arange(0, TILE)
    value = tl.load(x + at, mask=at < n)
    tl.store(out + at, value * 0.5 * (1 + tl.erf(value * 0.7071067811865476)), mask=at < n)


def main() -> int:
    if not torch.cuda.is_available():
        print("skipped: no GPU")
        return 77
    x = torch.randn(ROWS, COLUMNS, device="cuda")
    y = torch.randn(2_000_000, device="cuda")
    x_out, y_out = torch.empty_like(x), torch.empty_like(y)
    y_grid = triton.cdiv(y.numel(), TILE)

    # Compile both, weave them once, launch them as one.
    a = softmax.warmup(x_out, x, COLUMNS, TILE=TILE, grid=(1,))
    b = gelu.warmup(y_out, y, y.numel(), TILE=TILE, grid=(1,))
    woven = goptx.weave(a, b, shapes=[goptx.Shape(ROWS), goptx.Shape(y_grid)])
    woven.launch(torch.cuda.current_stream(), [x_out, x, COLUMNS], [y_out, y, y.numel()])

    print(woven.report)
    x_alone, y_alone = torch.empty_like(x), torch.empty_like(y)
    softmax[(ROWS,)](x_alone, x, COLUMNS, TILE=TILE)
    gelu[(y_grid,)](y_alone, y, y.numel(), TILE=TILE)
    equal = torch.equal(x_out, x_alone) and torch.equal(y_out, y_alone)
    print(f"beside Triton's own launches: outputs {'are equal' if equal else 'DIFFER'}")
    return 0 if equal else 1


if __name__ == "__main__":
    sys.exit(main())
