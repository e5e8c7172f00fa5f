"""PTX text to cubin, with ptxas or nvJitLink, and the costs of the kernel that the assembler reports.

Needs no GPU and no driver. Imports CUDA only when nvJitLink is used. Assembled code is cached (goptx/cache).
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory

from goptx.cache import keys, store
from goptx.device.assembler_log import constant_bytes, quote_diagnostics, read_usage, read_warnings
from goptx.display import brief
from goptx.errors import AssemblyError, InputError

_TARGET = re.compile(r"^\s*\.target\s+(\w+)", re.MULTILINE)
_TOO_NEW = re.compile(r"[Uu]nsupported \.version")
_ELF = b"\x7fELF"  # a cubin begins with it
_WHEEL_FOLDERS = ("nvidia/cu13/bin", "nvidia/cuda_nvcc/bin")
_INSTALL = "`pip install goptx[ptxas]`, or name the path of yours in the environment variable GOPTX_PTXAS"


class RegisterCapWarning(UserWarning):
    """The assembler gave a kernel more registers per thread than the requested cap."""


@dataclass(frozen=True, slots=True)
class Assembly:
    """One assembled module and the costs of one of its entries.

    `registers` are per thread, `barriers` per CTA; `spill_store_bytes`, `spill_load_bytes` and `stack_bytes`
    per thread (spills are static counts of bytes in the code, not traffic); `shared_bytes` is static shared
    memory per CTA without what the driver reserves; `constant_bytes` the constant banks that the entry sees,
    parameters included. `assembler` is name and version, `log` all of its output, `warnings` its own
    warnings and, last, a register cap that was exceeded.
    """

    __repr__ = brief

    cubin: bytes
    registers: int
    spill_store_bytes: int
    spill_load_bytes: int
    stack_bytes: int
    shared_bytes: int
    constant_bytes: int
    barriers: int
    assembler: str
    arch: str
    log: str
    warnings: tuple[str, ...]


def assemble(
    ptx: str,
    *,
    entry: str,
    arch: str | None = None,
    max_registers: int | None = None,
    fmad: bool = True,
    assembler: str | None = None,
) -> Assembly:
    """Assembles the module `ptx` and reports the costs of its entry `entry`; arguments and errors are those of
    `assemble_all`."""
    (made,) = assemble_all(ptx, entries=[entry], arch=arch, max_registers=max_registers, fmad=fmad, assembler=assembler)
    return made


def assemble_all(
    ptx: str,
    *,
    entries: Sequence[str],
    arch: str | None = None,
    max_registers: int | None = None,
    capped: Callable[[], str] | None = None,
    fmad: bool = True,
    assembler: str | None = None,
) -> list[Assembly]:
    """Assembles the module `ptx` once and reports the costs of each of these entries.

    `arch` (such as "sm_90a") defaults to the text's `.target`. `assembler` is "ptxas", "nvjitlink" or the
    path of a ptxas; None takes the first of: the path in GOPTX_PTXAS, ptxas on the PATH, ptxas of the wheel
    nvidia-cuda-nvcc, nvJitLink. Where ptxas is too old for the text's `.version`, nvJitLink assembles it: an older
    assembler comes first, because its machine code loads on older drivers too.

    `fmad=False` forbids contracting `mul` and `add` to `fma`. `max_registers` is only compared with the register
    count: the cap itself is a `.maxnreg` in the text, because `-maxrregcount` is silently ignored beside `.maxntid`
    and `.reqntid`. A count above it is one of `Assembly.warnings`. `capped` returns the text with the cap, while
    `ptx` lacks it, and is called only if that text was not assembled before.

    Raises AssemblyError when there is no assembler or it refuses the text (with its own lines and the PTX
    lines they name), InputError when the text has no `.target` or no entry of that name.
    """
    if arch is None:
        target = _TARGET.search(ptx)
        if target is None:
            raise InputError('the PTX has no `.target`: pass arch, for example arch="sm_90"')
        arch = target[1]
    name, run = _choose(assembler)

    def made(name: str, run: _Run) -> tuple[bytes, str]:
        asked = ptx, repr((arch, fmad, name, None if capped is None else max_registers))
        return _cached(asked, lambda: run(ptx if capped is None else capped(), arch, fmad))

    try:
        cubin, log = made(name, run)
    except AssemblyError as error:
        newer = _newer(name) if assembler is None and _TOO_NEW.search(str(error)) else None
        if newer is None:
            raise
        name, run = newer
        cubin, log = made(name, run)
    usage = read_usage(log, arch)
    if missing := [entry for entry in entries if entry not in usage]:
        raise InputError(f"no entry `{missing[0]}` in the PTX; it has: {', '.join(sorted(usage)) or 'none'}")
    warnings = {entry: list(read_warnings(log)) for entry in entries}
    for entry in entries:
        if max_registers is not None and usage[entry].registers > max_registers:
            warnings[entry].append(
                f"{name} gave `{entry}` {usage[entry].registers} registers per thread for {arch}, above the cap of "
                f"{max_registers}: the text needs `.maxnreg {max_registers}`, and some targets have a minimum"
            )
    return [
        Assembly(
            cubin=cubin,
            registers=cost.registers,
            spill_store_bytes=cost.spill_store_bytes,
            spill_load_bytes=cost.spill_load_bytes,
            stack_bytes=cost.stack_bytes,
            shared_bytes=cost.shared_bytes,
            constant_bytes=constant_bytes(cubin, entry),
            barriers=cost.barriers,
            assembler=name,
            arch=arch,
            log=log,
            warnings=tuple(warnings[entry]),
        )
        for entry, cost in ((entry, usage[entry]) for entry in entries)
    ]


def most_of(made: Sequence[Assembly]) -> Assembly:
    """The largest of each cost among entries that were assembled together."""
    if len(made) == 1:
        return made[0]
    costs = (
        "registers", "spill_store_bytes", "spill_load_bytes", "stack_bytes", "shared_bytes", "constant_bytes",
        "barriers",
    )  # fmt: skip
    warnings = tuple(dict.fromkeys(warning for one in made for warning in one.warnings))
    return replace(made[0], **{cost: max(getattr(one, cost) for one in made) for cost in costs}, warnings=warnings)


def _cached(asked: Sequence[str], run: Callable[[], tuple[bytes, str]]) -> tuple[bytes, str]:
    """The cubin and the log from `run`, or from the cache."""
    code = keys.code() if store.switched_on() else ""
    key = keys.digest("assembly", code, *asked)
    found = store.find(key, _read) if code else None
    if found is None:
        found = cubin, log = run()
        if code:
            store.keep(key, json.dumps(log).encode() + b"\n" + cubin)
    return found


def _read(content: bytes) -> tuple[bytes, str]:
    log, _, cubin = content.partition(b"\n")
    if not cubin.startswith(_ELF):
        raise ValueError("no cubin")
    return cubin, str(json.loads(log))


def find_ptxas() -> str | None:
    """Path of the ptxas that `assemble` uses by default: GOPTX_PTXAS, the PATH, the wheel; None if there is no ptxas.

    Raises AssemblyError when GOPTX_PTXAS names something that cannot be run.
    """
    forced = os.environ.get("GOPTX_PTXAS")
    if forced:
        if found := shutil.which(forced):
            return found
        raise AssemblyError(f"GOPTX_PTXAS names `{forced}`, which is not a program that can be run")
    if found := shutil.which("ptxas"):
        return found
    for folder in map(Path, sys.path):
        for binaries in _WHEEL_FOLDERS:
            if found := shutil.which("ptxas", path=str(folder / binaries)):
                return found
    return None


_Run = Callable[[str, str, bool], tuple[bytes, str]]
"""(ptx, arch, fmad) -> (cubin, verbose log)."""


def assembler_name() -> str:
    """Name and version of the assembler that is used by default. Raises `AssemblyError` where there is none."""
    return _choose(None)[0]


def _choose(assembler: str | None) -> tuple[str, _Run]:
    """Name with version of the assembler to use, and the function that runs it."""
    if assembler in (None, "ptxas"):
        if path := find_ptxas():
            return _ptxas(path)
        if assembler == "ptxas":
            raise AssemblyError(f"no ptxas on the PATH or in the wheel nvidia-cuda-nvcc: {_INSTALL}")
    elif assembler != "nvjitlink":
        if path := shutil.which(str(assembler)):
            return _ptxas(path)
        raise AssemblyError(f"the assembler `{assembler}` is not a program that can be run: {_INSTALL}")
    version = nvjitlink_version()
    if version is None:
        if assembler == "nvjitlink":
            raise AssemblyError("nvJitLink is not installed: `pip install goptx[gpu]`")
        raise AssemblyError(f"no assembler found, neither ptxas nor nvJitLink: {_INSTALL}")
    name = f"nvJitLink {version}"
    return name, lambda ptx, arch, fmad: _run_nvjitlink(name, ptx, arch, fmad)


def _newer(name: str) -> tuple[str, _Run] | None:
    """The assembler to try after that one, which is too old for a text; None where GOPTX_PTXAS demands it, and without
    nvJitLink of a later version."""
    version = nvjitlink_version()
    if os.environ.get("GOPTX_PTXAS") or version is None or not name.startswith("ptxas "):
        return None
    own = [int(part) for part in name.split()[1].split(".")[:2]]
    return _choose("nvjitlink") if [int(part) for part in version.split(".")[:2]] > own else None


def _ptxas(path: str) -> tuple[str, _Run]:
    name = f"ptxas {ptxas_version(path)}"
    return name, lambda ptx, arch, fmad: _run_ptxas(name, path, ptx, arch, fmad)


@lru_cache
def ptxas_version(path: str) -> str:
    try:
        done = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
    except OSError as error:
        raise AssemblyError(f"`{path}` cannot be run: {error}") from error
    version = re.search(r"\bV(\d+(?:\.\d+)+)", done.stdout)
    if version is None:
        raise AssemblyError(f"`{path}` is not ptxas: `--version` printed {done.stdout.strip()[:200]!r}")
    return version[1]


def _run_ptxas(name: str, path: str, ptx: str, arch: str, fmad: bool) -> tuple[bytes, str]:
    with TemporaryDirectory(prefix="goptx-") as folder:
        Path(folder, "kernel.ptx").write_text(ptx, encoding="utf-8")
        options = ["-v", "-O3", f"-arch={arch}", f"-fmad={'true' if fmad else 'false'}"]
        done = subprocess.run(
            [str(Path(path).absolute()), *options, "-o", "kernel.cubin", "kernel.ptx"],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
        )
        cubin = Path(folder, "kernel.cubin")
        if done.returncode != 0 or not cubin.exists():
            raise _refusal(name, arch, done.stdout or f"exit status {done.returncode}", ptx)
        return cubin.read_bytes(), done.stdout


def _refusal(name: str, arch: str, log: str, ptx: str) -> AssemblyError:
    return AssemblyError(f"{name} refuses the PTX for {arch}:\n{quote_diagnostics(log, ptx)}")


@lru_cache
def nvjitlink_version() -> str | None:
    """Version of nvJitLink, None when it cannot be loaded."""
    try:
        from cuda.bindings import nvjitlink

        major, minor = nvjitlink.version()
    except Exception:  # ImportError without cuda-python, several others without the library itself
        return None
    return f"{major}.{minor}"


def _run_nvjitlink(name: str, ptx: str, arch: str, fmad: bool) -> tuple[bytes, str]:
    from cuda.bindings import nvjitlink

    def text(size: Callable[[int], int], read: Callable[[int, bytearray], None]) -> str:
        log = bytearray(size(handle))
        if log:
            read(handle, log)
        return log.decode(errors="replace").replace("\0", "")

    source = ptx.encode()
    # Its own -fma is silently ignored for PTX input (13.5: the machine code is the same); ptxas's is not.
    contract = "true" if fmad else "false"
    options = ["-verbose", "-O3", f"-arch={arch}", f"-Xptxas=-fmad={contract}"]
    try:
        handle = nvjitlink.create(len(options), options)
    except nvjitlink.nvJitLinkError as error:
        raise AssemblyError(f"{name} refuses the options {' '.join(options)}: {error}") from error
    try:
        try:
            nvjitlink.add_data(handle, nvjitlink.InputType.PTX, source, len(source), "kernel.ptx")
            nvjitlink.complete(handle)
        except nvjitlink.nvJitLinkError as error:
            log = text(nvjitlink.get_error_log_size, nvjitlink.get_error_log)
            raise _refusal(name, arch, log or str(error), ptx) from error
        log = text(nvjitlink.get_info_log_size, nvjitlink.get_info_log)
        cubin = bytearray(nvjitlink.get_linked_cubin_size(handle))
        nvjitlink.get_linked_cubin(handle, cubin)
        return bytes(cubin), log
    finally:
        nvjitlink.destroy(handle)
