"""A fused kernel as a module of CuPy."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import cupy

    from goptx.results.fused_kernel import Woven


def raw_module(woven: Woven, max_registers: int | None = None) -> cupy.RawModule:
    """The woven kernel as a CuPy module, loaded on the current device.

        kernel = goptx.adapters.cupy_module.raw_module(woven).get_function(woven.name)
        kernel(grid, block, tuple(woven.arguments(args_a, args_b)), shared_mem=bytes)

    Grid, block and bytes are those of `woven.launched(...)`. Raises `AssemblyError`.
    """
    import cupy

    with TemporaryDirectory() as folder:  # CuPy takes machine code from a file only
        path = Path(folder, f"{woven.name}.cubin")
        path.write_bytes(woven.cubin(max_registers))
        module = cupy.RawModule(path=str(path))
        module.compile()
    return module
