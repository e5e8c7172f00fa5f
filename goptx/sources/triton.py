"""Triton's compiled kernels: the results of a launch, or of `kernel.warmup(*arguments, grid=(1,))`.

Their PTX has a parameter for each argument except constants (`tl.constexpr`, and numbers that are 1), then pointers to
scratch memory, which Triton's launcher passes: null where the kernel needs none. Valid for Triton 3.0 to 3.8.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from goptx.errors import InputError
from goptx.launch.native_code import NativeCode
from goptx.launch.shape import Shape
from goptx.sources.kernel_text import Compiled

WARP = 32
SCRATCH = ("global_scratch_size", "profile_scratch_size")  # bytes for a CTA; their pointers are the last parameters


def compiled(kernel: Any) -> Compiled | None:
    """A compiled kernel, with its entry, block and shared memory; None for anything else. Raises `InputError` for a
    function that is not compiled, and for kernels that goptx cannot launch."""
    if type(kernel).__name__ != "CompiledKernel":
        if hasattr(kernel, "warmup"):
            raise InputError(
                f"the Triton function `{kernel.__name__}` is not compiled: what its PTX is depends on the arguments. "
                "Give what a launch of it returns, or what .warmup(*arguments, grid=(1,)) does."
            )
        return None
    about = kernel.metadata
    if "ptx" not in kernel.asm:
        raise InputError(f"Triton's `{about.name}` has no PTX, but {', '.join(kernel.asm)}; compile it for CUDA.")
    _check(about)
    sizes = [getattr(about, name) for name in SCRATCH if hasattr(about, name)]
    return Compiled(
        f"{about.name} (Triton)",
        kernel.asm["ptx"],
        about.name,
        Shape(None, WARP * about.num_warps, about.shared),
        tuple(position for position, size in enumerate(sizes, -len(sizes)) if not size),
        _native(kernel, sizes),
    )


def _native(kernel: Any, scratch: Sequence[int]) -> NativeCode | None:
    """What Triton's own assembler made. None without a cubin, and for a kernel that needs scratch memory of the last
    kind only: a null pointer then stands before one of its arguments."""
    cubin = kernel.asm.get("cubin")
    needed = [bool(size) for size in scratch]
    if not cubin or needed != sorted(needed, reverse=True):
        return None
    return NativeCode(bytes(cubin), kernel.metadata.name, needed.count(False))


def _check(about: Any) -> None:
    if about.num_ctas > 1:
        raise InputError(
            f"Triton's `{about.name}` runs in clusters of {about.num_ctas} CTAs, of which its PTX says nothing that "
            "goptx could keep; compile it with num_ctas=1."
        )
    if getattr(about, "launch_cooperative_grid", False):
        raise InputError(
            f"Triton's `{about.name}` is launched as a cooperative grid: its CTAs wait for each other, which a woven "
            "kernel cannot promise. Use separate launches."
        )
