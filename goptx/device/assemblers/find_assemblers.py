"""Finds the assemblers of this machine, and the order in which they are tried for a text.

ptxas is looked for on the PATH, in the wheels nvidia-cuda-nvcc, in CUDA_PATH and CUDA_HOME, and where Triton and torch
keep their own; GOPTX_PTXAS names the only one to use. nvJitLink comes after them, because asking it imports CUDA.
"""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from goptx.device.assemblers.ptx_versions import Version, newest_ptx, oldest_cuda
from goptx.display import brief
from goptx.errors import AssemblyError

FORCED = "GOPTX_PTXAS"
LOOKED = "on the PATH, in a wheel, in CUDA_PATH, with Triton or with torch"  # where ptxas is looked for
INSTALL = f"`pip install goptx[ptxas]`, or name the path of yours in the environment variable {FORCED}"

# Where packages have ptxas, below the folders of Python's path.
_WHEELS = ("nvidia/cu13/bin/ptxas", "nvidia/cuda_nvcc/bin/ptxas", "nvidia/cu1[4-9]/bin/ptxas")
_OTHERS = (
    ("Triton", "triton/backends/nvidia/bin/ptxas*"),
    ("Triton", "triton/third_party/cuda/bin/ptxas"),
    ("torch", "torch/bin/ptxas"),
)


@dataclass(frozen=True, slots=True)
class Assembler:
    """An assembler: `path` is that of ptxas, "" for nvJitLink; `version` is that of CUDA, such as (13, 0, 88); `where`
    says by what it was found. `foreign`: another package brought it for itself."""

    __repr__ = brief

    path: str
    version: tuple[int, ...]
    where: str
    foreign: bool = False

    @property
    def name(self) -> str:
        return f"{'ptxas' if self.path else 'nvJitLink'} {'.'.join(map(str, self.version))}"

    @property
    def newest(self) -> Version | None:
        """The newest `.version` that it takes; None where that is not known."""
        return newest_ptx(self.version)

    def may_take(self, ptx: Version) -> bool:
        """Whether it is not known to be too old for that `.version`."""
        return self.newest is None or self.newest >= ptx

    def __str__(self) -> str:
        newest = f", takes PTX up to {self.newest[0]}.{self.newest[1]}" if self.newest else ""
        return f"{self.name} ({', '.join(filter(None, (self.where, self.path)))}){newest}"


def find_ptxas() -> str | None:
    """Path of the ptxas that `assemble` uses by default: that which GOPTX_PTXAS names, else the first of `every_ptxas`;
    None if there is no ptxas.

    Raises AssemblyError when GOPTX_PTXAS names something that cannot be run.
    """
    return forced_ptxas() or next((one.path for one in every_ptxas()), None)


def forced_ptxas() -> str | None:
    """The path in GOPTX_PTXAS. Raises AssemblyError where that cannot be run."""
    forced = os.environ.get(FORCED)
    if not forced:
        return None
    if found := shutil.which(forced):
        return found
    raise AssemblyError(f"{FORCED} names `{forced}`, which is not a program that can be run")


def every_ptxas() -> list[Assembler]:
    """Each ptxas of this machine that tells its version, in the order in which they are tried: those whose machine code
    the driver loads for sure, those of the user before those of other packages, the lowest version first."""
    return sorted(_answering(), key=_preference)


def ptxas_at(path: str, where: str) -> Assembler:
    """Raises AssemblyError where that program is not ptxas."""
    return Assembler(path, tuple(map(int, ptxas_version(path).split("."))), where)


def remedy(ptx: Version | None, refused: Sequence[Assembler], arch: str = "") -> str:
    """What to do where each of these assemblers is too old for a text of that `.version`, or, if `arch` is given, does
    not know it."""
    lines = [f"tried: {'; '.join(map(str, refused))}"]
    if any(one.where == FORCED for one in refused):
        own = {one.path for one in refused}
        if others := [one for one in every_ptxas() if one.path not in own and (ptx is None or one.may_take(ptx))]:
            return "\n".join([*lines, f"{FORCED} forbids the others; unset it for {others[0]}"])
    if arch:
        wanted = f"name a ptxas that knows {arch} in {FORCED}"
    elif release := oldest_cuda(ptx) if ptx else None:
        least = f"{release[0]}.{release[1]}"
        package = f'"nvidia-cuda-nvcc>={least},<{release[0] + 1}"' if release >= (13, 0) else '"goptx[ptxas]"'
        wanted = f"`pip install {package}`, or name a ptxas of CUDA {least} or later in {FORCED}"
    else:
        wanted = f"name a later ptxas in {FORCED}"
    return "\n".join([*lines, wanted])


def _answering() -> Iterator[Assembler]:
    for path, where, foreign in _paths():
        try:
            yield replace(ptxas_at(path, where), foreign=foreign)
        except AssemblyError:
            continue


def _paths() -> Iterator[tuple[str, str, bool]]:
    """Path, by what it was found, and whether another package brought it; each program once."""
    seen: set[Path] = set()
    for path, where, foreign in _candidates():
        found = shutil.which(str(path))
        if found and (real := Path(found).resolve()) not in seen:
            seen.add(real)
            yield found, where, foreign


def _candidates() -> Iterator[tuple[Path, str, bool]]:
    for on_path in filter(None, os.environ.get("PATH", "").split(os.pathsep)):
        yield Path(on_path, "ptxas"), "PATH", False
    folders = [Path(folder) for folder in dict.fromkeys(sys.path) if folder]
    for folder in folders:
        for pattern in _WHEELS:
            yield from ((path, "nvidia-cuda-nvcc", False) for path in _below(folder, pattern))
    for variable in ("CUDA_PATH", "CUDA_HOME"):
        if named := os.environ.get(variable):
            yield Path(named, "bin", "ptxas"), variable, False
    for folder in folders:
        for package, pattern in _OTHERS:
            yield from ((path, package, True) for path in _below(folder, pattern))


def _below(folder: Path, pattern: str) -> list[Path]:
    """The files of that form, or where the file itself would be: Windows adds `.exe`."""
    first, _, rest = pattern.partition("/")
    try:
        if not (folder / first).is_dir():
            return []
    except OSError:  # a folder that may not be searched
        return []
    return sorted(folder.glob(pattern)) or ([] if "*" in rest or "[" in rest else [folder / pattern])


def _preference(assembler: Assembler) -> tuple[int, bool, tuple[int, ...]]:
    driver = driver_version()
    beyond = 0
    if driver is not None:  # code of a later CUDA may not load, of a later major version it does not
        beyond = (assembler.version[:2] > driver) + (assembler.version[0] > driver[0])
    return beyond, assembler.foreign, assembler.version


@lru_cache
def driver_version() -> Version | None:
    """The CUDA version of the driver of this machine; None without one."""
    try:
        library = ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
        number = ctypes.c_int()
        failed = library.cuDriverGetVersion(ctypes.byref(number))
    except (OSError, AttributeError):
        return None
    return None if failed or not number.value else (number.value // 1000, number.value % 1000 // 10)


@lru_cache
def ptxas_version(path: str) -> str:
    """Such as 13.0.88. Raises AssemblyError where the program is not ptxas."""
    try:
        done = subprocess.run([path, "--version"], capture_output=True, text=True, errors="replace", check=False)
    except OSError as error:
        raise AssemblyError(f"`{path}` cannot be run: {error}") from error
    version = re.search(r"\bV(\d+(?:\.\d+)+)", done.stdout)
    if version is None:
        raise AssemblyError(f"`{path}` is not ptxas: `--version` printed {done.stdout.strip()[:200]!r}")
    return version[1]


@lru_cache
def nvjitlink_version() -> str | None:
    """Version of nvJitLink, None when it cannot be loaded."""
    try:
        from cuda.bindings import nvjitlink

        major, minor = nvjitlink.version()
    except Exception:  # ImportError without cuda-python, several others without the library itself
        return None
    return f"{major}.{minor}"


def nvjitlink_found() -> Assembler | None:
    version = nvjitlink_version()
    return Assembler("", tuple(map(int, version.split("."))), "cuda-python") if version else None
