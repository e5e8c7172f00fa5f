# mypy: disable-error-code="untyped-decorator"
"""A woven kernel as an operator of PyTorch, in a function that torch.compile takes.

python examples/interop/torch_op.py
"""

import sys

try:
    import torch
except ImportError as error:
    print(f"skipped: {error}; pip install torch")
    sys.exit(77)

import goptx
from goptx.adapters.torch import custom_op

SOURCE = r"""
extern "C" __global__ void scale(float* out, const float* x, float factor, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = factor * x[i];
}
extern "C" __global__ void root(float* out, const float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = sqrtf(fabsf(x[i]));
}
"""
BLOCK = 256


def main() -> int:
    if not torch.cuda.is_available():
        print("skipped: no GPU")
        return 77
    try:
        module = goptx.compile_cuda(SOURCE)
    except goptx.AssemblyError as error:
        print(f"skipped: {error}")
        return 77
    woven = goptx.weave(module, module, entries=["scale", "root"])
    both = custom_op(woven, "example::scale_root", grid=lambda out, *rest: -(-out.numel() // BLOCK), block=BLOCK)

    @torch.compile(fullgraph=True, backend="aot_eager")
    def compiled(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        scaled, roots = torch.empty_like(x), torch.empty_like(y)
        both(scaled, x, 3.0, x.numel(), roots, y, y.numel())
        return scaled + roots

    x, y = torch.randn(100_000, device="cuda"), torch.randn(100_000, device="cuda")
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        found = compiled(x, y)
    side.synchronize()
    equal = torch.equal(found, 3 * x + y.abs().sqrt())
    print(torch.ops.example.scale_root.default._schema)
    print(f"beside torch's own operators: outputs {'are equal' if equal else 'DIFFER'}")
    return 0 if equal else 1


if __name__ == "__main__":
    sys.exit(main())
