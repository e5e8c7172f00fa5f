# mypy: disable-error-code="no-untyped-def,untyped-decorator"
"""The kernels of triton_kernels.ipynb for a GPU that is not there: Triton compiles for a `GPUTarget` on any machine.

python examples/triton_target.py
"""

from __future__ import annotations

import os
from pathlib import Path

FOLDER = Path(__file__).parent / "triton"
ARCH, PTX_VERSION = 90, 87  # of an H100 or H200; left alone, Triton takes a version that ptxas 13.0 does not know
THREADS, SHARED = 128, {"softmax": 16, "noise": 0}  # what the notebook launches them with
POINTER, FLOAT, INTEGER = "*fp32", "fp32", "i32"

os.environ.setdefault("TRITON_DISABLE_LINE_INFO", "1")
os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")  # as up to Triton 3.9, without its warning
try:
    import triton
    import triton.language as tl
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
except ImportError:
    triton = None


def softmax_and_noise() -> tuple[str, str]:
    """The PTX of both kernels, by Triton if it is installed, or else as Triton made it on an H200; prints which."""
    if triton is not None and (made := _compiled()):
        print(f"Triton {triton.__version__} compiled both kernels for sm_{ARCH}.")
        return made
    print("Both kernels are those that Triton compiled on an H200: it is not installed here, or chooses other shapes.")
    recorded = [(FOLDER / f"{name}.ptx").read_text(encoding="utf-8") for name in SHARED]
    return recorded[0], recorded[1]


if triton is not None:

    @triton.jit
    def softmax(out, x, columns, TILE: tl.constexpr):
        at = tl.arange(0, TILE)
        values = tl.load(x + tl.program_id(0) * columns + at, mask=at < columns, other=-float("inf"))
        values = tl.exp(values - tl.max(values, axis=0))
        tl.store(out + tl.program_id(0) * columns + at, values / tl.sum(values, axis=0), mask=at < columns)

    @triton.jit
    def noise(out, seed, n, TILE: tl.constexpr):
        at = tl.program_id(0) * TILE + tl.arange(0, TILE)
        tl.store(out + at, tl.rand(seed, at), mask=at < n)

    def _compiled() -> tuple[str, str] | None:
        """Their PTX; None if this Triton takes other threads or shared memory than the notebook does."""
        types = {"softmax": (POINTER, POINTER, INTEGER), "noise": (POINTER, INTEGER, INTEGER)}
        texts = []
        for kernel in (softmax, noise):
            name = kernel.fn.__name__
            signature = dict(zip(kernel.arg_names, (*types[name], "constexpr"), strict=True))
            aligned = {(i,): [["tt.divisibility", 16]] for i, kind in enumerate(types[name]) if kind == POINTER}
            source = ASTSource(kernel, signature, {"TILE": 1024}, aligned)
            done = triton.compile(source, GPUTarget("cuda", ARCH, 32), {"ptx_version": PTX_VERSION})
            threads, shared = 32 * done.metadata.num_warps, done.metadata.shared
            if (threads, shared) != (THREADS, SHARED[name]):
                return None
            texts.append(done.asm["ptx"])
        return texts[0], texts[1]


if __name__ == "__main__":
    for text in softmax_and_noise():
        print(text)
