# mypy: disable-error-code="no-untyped-def,untyped-decorator,no-untyped-call"
"""The kernels of triton_kernels.ipynb and tensor_beside_memory.ipynb for a GPU that is not there: Triton compiles for a
`GPUTarget` on any machine.

python examples/triton_target.py
"""

from __future__ import annotations

import os
from pathlib import Path

FOLDER = Path(__file__).parent / "triton"
ARCH, PTX_VERSION = 90, 87  # of an H100 or H200; left alone, Triton takes a version that ptxas 13.0 does not know
THREADS, SHARED = 128, {"softmax": 16, "noise": 0}  # what the notebook launches them with
POINTER, FLOAT, INTEGER = "*fp32", "fp32", "i32"
OLDER = 80  # an architecture whose tensor instructions the emulator knows: it lacks `wgmma` of sm_90a
PRODUCT = {"DOWN": 128, "ACROSS": 128, "INNER": 64, "BAND": 8}  # constants

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


def product_and_step() -> tuple[str, str]:
    """The PTX of a product of matrices and of a step of Adam for sm_80, as `softmax_and_noise`; prints which."""
    if triton is not None:
        print(f"Triton {triton.__version__} compiled both kernels for sm_{OLDER}.")
        return _product_and_step()
    print("Both kernels are those that Triton 3.9 compiled for sm_80: it is not installed here.")
    recorded = [(FOLDER / f"{name}.sm_80.ptx").read_text(encoding="utf-8") for name in ("product", "adam_step")]
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

    @triton.jit
    def product(c, a, b, m, n, k, DOWN: tl.constexpr, ACROSS: tl.constexpr, INNER: tl.constexpr, BAND: tl.constexpr):
        tile = tl.program_id(0)  # in bands of BAND tiles from top to bottom
        columns = n // ACROSS
        inside = tile % (BAND * columns)
        row = (tile // (BAND * columns) * BAND + inside % BAND) * DOWN + tl.arange(0, DOWN)
        column = inside // BAND * ACROSS + tl.arange(0, ACROSS)
        along = tl.arange(0, INNER)
        left = a + row[:, None] * k + along[None, :]
        right = b + along[:, None] * n + column[None, :]
        total = tl.zeros((DOWN, ACROSS), dtype=tl.float32)
        for _ in range(0, k, INNER):
            total = tl.dot(tl.load(left), tl.load(right), total)
            left += INNER
            right += INNER * n
        tl.store(c + row[:, None] * n + column[None, :], total.to(tl.float16))

    @triton.jit
    def adam_step(p, g, m, v, n, rate, beta1, beta2, eps, TILE: tl.constexpr):
        at = tl.program_id(0) * TILE + tl.arange(0, TILE)
        there = at < n
        slope = tl.load(g + at, mask=there)
        first = tl.load(m + at, mask=there)
        first += (1 - beta1) * (slope - first)
        second = tl.load(v + at, mask=there)
        second += (1 - beta2) * (slope * slope - second)
        tl.store(m + at, first, mask=there)
        tl.store(v + at, second, mask=there)
        tl.store(p + at, tl.load(p + at, mask=there) - rate * first / (tl.sqrt(second) + eps), mask=there)

    def _product_and_step() -> tuple[str, str]:
        half, floats = ("*fp16",) * 3 + (f"{INTEGER}:16",) * 3, (POINTER,) * 4 + (f"{INTEGER}:16",) + (FLOAT,) * 4
        made = _made(product, half, PRODUCT, OLDER), _made(adam_step, floats, {"TILE": 1024}, OLDER)
        return made[0].asm["ptx"], made[1].asm["ptx"]

    def _made(kernel, types, constants, architecture):
        """Compiled for an architecture. Pointers, and numbers of the type "i32:16", are multiples of 16."""
        kinds = (*(kind.split(":")[0] for kind in types), *["constexpr"] * len(constants))
        aligned = {(i,): [["tt.divisibility", 16]] for i, kind in enumerate(types) if kind[0] == "*" or ":" in kind}
        source = ASTSource(kernel, dict(zip(kernel.arg_names, kinds, strict=True)), constants, aligned)
        return triton.compile(source, GPUTarget("cuda", architecture, 32), {"ptx_version": PTX_VERSION})

    def _compiled() -> tuple[str, str] | None:
        """Their PTX; None if this Triton takes other threads or shared memory than the notebook does."""
        types = {"softmax": (POINTER, POINTER, INTEGER), "noise": (POINTER, INTEGER, INTEGER)}
        texts = []
        for kernel in (softmax, noise):
            name = kernel.fn.__name__
            done = _made(kernel, types[name], {"TILE": 1024}, ARCH)
            threads, shared = 32 * done.metadata.num_warps, done.metadata.shared
            if (threads, shared) != (THREADS, SHARED[name]):
                return None
            texts.append(done.asm["ptx"])
        return texts[0], texts[1]


if __name__ == "__main__":
    for text in (*softmax_and_noise(), *product_and_step()):
        print(text)
