# mypy: disable-error-code="no-untyped-call,no-untyped-def,untyped-decorator"
"""A function of torch with Triton kernels, captured as a CUDA graph whose independent kernels are fused.

python examples/interop/torch_graph.py
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

TABLES, ROWS, DIM, SAMPLES = 8, 10000, 128, 256


@triton.jit
def bag(weight, indices, out, pooled, DIM: tl.constexpr):
    sample = tl.program_id(0)
    columns = tl.arange(0, DIM)
    total = tl.zeros((DIM,), tl.float32)
    for i in range(pooled):
        row = tl.load(indices + sample * pooled + i)
        total += tl.load(weight + row * DIM + columns)
    tl.store(out + sample * DIM + columns, total)


def main() -> int:
    if not torch.cuda.is_available() or not hasattr(torch.cuda.CUDAGraph, "raw_cuda_graph"):
        print("skipped: no GPU, or a torch without CUDAGraph(keep_graph=True)")
        return 77
    weights = [torch.randn(ROWS, DIM, device="cuda") for _ in range(TABLES)]
    indices = [torch.randint(ROWS, (SAMPLES, 2 + i), device="cuda", dtype=torch.int32) for i in range(TABLES)]

    def tower(*indices):
        outs = [torch.empty(SAMPLES, DIM, device="cuda") for _ in weights]
        for weight, index, out in zip(weights, indices, outs, strict=True):
            bag[(SAMPLES,)](weight, index, out, index.shape[1], DIM=DIM)
        return outs

    fast = goptx.torch.optimize(tower, *indices)  # run, captured, compared, measured
    print(fast.report or fast.reason)
    other = [torch.randint_like(index, ROWS) for index in indices]
    expected = tower(*other)
    same = all(torch.equal(a, b) for a, b in zip(fast(*other), expected, strict=True))
    print(f"outputs are {'equal' if same else 'different'}")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
