"""CuPy's raw kernels and modules, as sources and as what a woven kernel becomes."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from goptx.errors import InputError
from goptx.sources.kernel_text import Compiled

if TYPE_CHECKING:
    import cupy

    from goptx.results.fused_kernel import Woven

OPTIONS = ("-ftz=true",)  # that CuPy adds to those given


def compiled(raw: Any) -> Compiled | None:
    """Of a RawKernel; of a RawModule, whose kernel `entries=` names. CuPy keeps no PTX, so the text is compiled as CuPy
    does it. Raises `InputError` where it came from another compiler, `AssemblyError`."""
    if type(raw).__name__ not in ("RawKernel", "RawModule"):
        return None
    entry = getattr(raw, "name", None)
    name = f"{entry or 'RawModule'} (CuPy)"
    if raw.file_path is not None:
        path = Path(raw.file_path)
        if path.suffix != ".ptx":
            raise InputError(f"{name} was made from {path}, which is no PTX; give the PTX that it was assembled from.")
        return Compiled(str(path), path.read_bytes(), entry)
    if raw.backend != "nvrtc":
        raise InputError(f"{name} is compiled by {raw.backend}, not NVRTC; compile its text to PTX, and give that.")
    from goptx.sources.nvrtc import ptx_of

    instances = getattr(raw, "name_expressions", None) or ()
    return Compiled(name, ptx_of(raw.code, None, (*raw.options, *OPTIONS), instances, name), entry)


def raw_module(woven: Woven, max_registers: int | None = None) -> cupy.RawModule:
    """The woven kernel as a CuPy module, loaded on the current device.

        kernel = goptx.sources.cupy.raw_module(woven).get_function(woven.name)
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
