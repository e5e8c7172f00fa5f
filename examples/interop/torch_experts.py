# mypy: disable-error-code="no-untyped-call,no-untyped-def,untyped-decorator"
"""Experts of a layer, captured by hand: arrays are held so that they do not share memory, and the graph is optimized.

python examples/interop/torch_experts.py [DESCRIPTION]

With the name of a file, the description of the captured graph is written there, for `goptx graph`.
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

TOKENS, WIDTH, HIDDEN, EXPERTS = 32, 1024, 1024, 3


@triton.jit
def product(a, b, c, N: tl.constexpr, K: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """c = a @ b.T of BM rows."""
    m, n, k = tl.arange(0, BM), tl.program_id(0) * BN + tl.arange(0, BN), tl.arange(0, BK)
    total = tl.zeros((BM, BN), tl.float32)
    for at in range(0, K, BK):
        left = tl.load(a + m[:, None] * K + at + k[None, :])
        right = tl.load(b + n[None, :] * K + at + k[:, None])
        total = tl.dot(left, right, total)
    tl.store(c + m[:, None] * N + n[None, :], total.to(tl.bfloat16))


@triton.jit
def squared(x, y, BLOCK: tl.constexpr):
    """max(x, 0) ** 2"""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.maximum(tl.load(x + i).to(tl.float32), 0.0)
    tl.store(y + i, (value * value).to(tl.bfloat16))


def linear(x, weight):
    out = torch.empty(TOKENS, weight.shape[0], device="cuda", dtype=torch.bfloat16)
    grid = (weight.shape[0] // 32,)
    product[grid](x, weight, out, weight.shape[0], weight.shape[1], BM=TOKENS, BN=32, BK=64)
    return out


def activated(x):
    out = torch.empty_like(x)
    squared[(x.numel() // 1024,)](x, out, BLOCK=1024)
    return out


def main() -> int:
    if not torch.cuda.is_available() or not hasattr(torch.cuda.CUDAGraph, "raw_cuda_graph"):
        print("skipped: no GPU, or a torch without CUDAGraph(keep_graph=True)")
        return 77
    weights = [
        [torch.randn(shape, device="cuda", dtype=torch.bfloat16) / 32 for shape in ((HIDDEN, WIDTH), (WIDTH, HIDDEN))]
        for _ in range(EXPERTS)
    ]
    x = torch.randn(TOKENS, WIDTH, device="cuda", dtype=torch.bfloat16)

    def layer():
        """What an expert has computed in between is not needed any more when the next one begins."""
        found = [linear(activated(linear(x, up)), down) for up, down in weights]
        return torch.stack(found).sum(0)

    layer()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph(keep_graph=True)
    with goptx.collect(hold=64) as kernels, torch.cuda.graph(graph):
        y = layer()
    fast = goptx.optimize_graph(graph, kernels, budget="60s")
    print(fast.report)
    if len(sys.argv) > 1:
        goptx.Graph.of(graph, kernels).save(sys.argv[1])

    same = True
    for _ in range(2):
        x.copy_(torch.randn_like(x))  # the graph reads it where it is
        fast.replay()
        same = same and torch.equal(y, layer())
    print(f"outputs are {'equal' if same else 'different'}")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
