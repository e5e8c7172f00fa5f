"""What goptx takes as a kernel. Frameworks' objects are told by where their types come from; nothing is imported."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from goptx.errors import InputError
from goptx.ptx.source import Compiled

# The file that knows a package's kernels: its `compiled` gives None for what is none.
FRAMEWORKS = {
    "cuda": "goptx.interop.cuda_core",
    "cupy": "goptx.interop.cupy",
    "numba": "goptx.interop.numba",
    "triton": "goptx.interop.triton",
}


def taken(source: Any) -> Any:
    """The source, a framework's object as `Compiled`. Raises `InputError` for what has no PTX."""
    if isinstance(source, str | bytes | Path) or type(source).__module__.startswith("goptx."):
        return source
    subject = source[0] if isinstance(source, tuple) and len(source) == 2 else source  # of a Numba kernel's signature
    packages = dict.fromkeys(kind.__module__.partition(".")[0] for kind in type(subject).__mro__)
    for package in packages:
        if package in FRAMEWORKS:
            found: Compiled | None = import_module(FRAMEWORKS[package]).compiled(source)
            if found:
                return found
    raise InputError(
        f"a {type(source).__module__}.{type(source).__qualname__} is no kernel; goptx takes PTX text (str, bytes), a "
        "pathlib.Path, a parsed module, a woven kernel, a Triton CompiledKernel, a Numba-CUDA dispatcher or "
        "(dispatcher, signature), a CuPy RawKernel or RawModule, and a cuda.core ObjectCode of PTX."
    )
