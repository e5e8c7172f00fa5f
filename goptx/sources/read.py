"""What goptx accepts as a kernel. A framework's object is recognised by its type's module; nothing is imported."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from typing import Any

from goptx.errors import InputError
from goptx.files_read import content_of
from goptx.ptx.ir import Module
from goptx.ptx.parse import parse
from goptx.sources.kernel_text import Compiled

# The file for each package's kernels: its `compiled` returns None for other objects.
FRAMEWORKS = {
    "cuda": "goptx.sources.cuda_core",
    "cupy": "goptx.sources.cupy",
    "numba": "goptx.sources.numba",
    "triton": "goptx.sources.triton",
}
CUDA = (".cu", ".cuh")  # the endings of CUDA C++
NAME = re.compile(r"[\w.:/\\~-]{1,255}")  # of a file, or of anything else: PTX has more than one word


def taken(source: Any) -> Any:
    """The source, with a framework's object as `Compiled`. Raises `InputError` for an object without PTX."""
    if isinstance(source, str | bytes | Path | Compiled | Module):
        return source
    subject = source[0] if isinstance(source, tuple) and len(source) == 2 else source  # (Numba kernel, signature)
    packages = dict.fromkeys(kind.__module__.partition(".")[0] for kind in type(subject).__mro__)
    for package in packages:
        if package in FRAMEWORKS:
            found: Compiled | None = import_module(FRAMEWORKS[package]).compiled(source)
            if found:
                return found
    kind = type(source)
    name = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
    raise InputError(
        f"an object of type {name} is not a kernel; goptx takes PTX text (str, bytes), a pathlib.Path, a parsed "
        "module, a woven kernel, a Triton CompiledKernel, a Numba-CUDA dispatcher or (dispatcher, signature), a CuPy "
        "RawKernel or RawModule, and a cuda.core ObjectCode of PTX."
    )


def read(source: str | bytes | Path | Compiled | Module | Any) -> Module:
    """The module of a path, of PTX text or its bytes, or of a framework's kernel; a module is returned unchanged.

    Of a fused kernel it is the fused module. A `str` is text, never a path. Raises `InputError` where a file cannot be
    read, for a string that is a path, for CUDA C++, and for objects without PTX; `PtxSyntaxError` where the text is not
    PTX.
    """
    if isinstance(module := getattr(source, "module", source), Module):
        return module
    source = taken(source)
    path = _path(source)
    if path is not None and path.suffix in CUDA:
        raise InputError(
            f"{path}: CUDA C++, not PTX; compile it first, `nvcc -ptx -arch=sm_90 {path} -o {path.with_suffix('.ptx')}`"
            f", or let NVRTC do it: goptx.compile_cuda(pathlib.Path({str(path)!r}).read_text())."
        )
    if isinstance(source, str) and path is not None:
        raise InputError(f"{source!r} is a string, and strings are PTX text; give pathlib.Path({source.strip()!r}).")
    if isinstance(source, Path):
        return parse(content_of(source, "a PTX file"), str(source))
    return parse(source.content, source.name) if isinstance(source, Compiled) else parse(source)


def _path(source: Path | str | bytes | Compiled) -> Path | None:
    """The path that was given; also that of a string of one line that names a file, has the ending of one, or is
    one word, which PTX never is."""
    if isinstance(source, Path) or not isinstance(source, str):
        return source if isinstance(source, Path) else None
    line = source.strip()
    if not line or "\n" in line or line.startswith(".version"):
        return None
    try:
        is_path = NAME.fullmatch(line) or Path(line).suffix in (".ptx", *CUDA) or Path(line).is_file()
        return Path(line) if is_path else None
    except (OSError, ValueError):  # too long for a path, or with zeros in it
        return None
