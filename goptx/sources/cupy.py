"""CuPy's raw kernels and modules."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from goptx.errors import InputError
from goptx.sources.kernel_text import Compiled

OPTIONS = ("-ftz=true",)  # added by CuPy to the given ones


def compiled(raw: Any) -> Compiled | None:
    """The kernel of a RawKernel, or of a RawModule, in which `entries=` names one. CuPy does not store PTX, so the text
    is compiled as CuPy does. Raises `InputError` where it came from another compiler, `AssemblyError`."""
    if type(raw).__name__ not in ("RawKernel", "RawModule"):
        return None
    entry = getattr(raw, "name", None)
    name = f"{entry or 'RawModule'} (CuPy)"
    if raw.file_path is not None:
        path = Path(raw.file_path)
        if path.suffix != ".ptx":
            raise InputError(f"{name} was made from {path}, which is not PTX; give the PTX that it was assembled from.")
        return Compiled(str(path), path.read_bytes(), entry)
    if raw.backend != "nvrtc":
        raise InputError(f"{name} is compiled by {raw.backend}, not NVRTC; compile its text to PTX, and give that.")
    from goptx.sources.nvrtc import NoArchitecture, ptx_of

    instances = getattr(raw, "name_expressions", None) or ()
    try:
        return Compiled(name, ptx_of(raw.code, None, (*raw.options, *OPTIONS), instances, name), entry)
    except NoArchitecture:
        own = "" if instances == () else f", instances={list(instances)}"
        raise InputError(
            f"{name}: there is no GPU for which CuPy would compile it; give the module that "
            f'`goptx.compile_cuda(kernel.code, arch="sm_90", options={[*raw.options, *OPTIONS]}{own})` makes of it.'
        ) from None
