"""PTX text to cubin, with ptxas or nvJitLink, and the costs of the kernel that the assembler reports.

Needs no GPU and no driver. Imports CUDA only when nvJitLink is used. Assembled code is cached (goptx/cache).
"""

import json
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from goptx.cache import keys, store
from goptx.device.assembler_log import constant_bytes, quote_diagnostics, read_usage, read_warnings
from goptx.device.assemblers import find_assemblers
from goptx.device.assemblers.find_assemblers import INSTALL, LOOKED, Assembler, find_ptxas
from goptx.device.assemblers.ptx_versions import Version
from goptx.display import brief
from goptx.errors import AssemblyError, InputError

_TARGET = re.compile(r"^\s*\.target\s+(\w+)", re.MULTILINE)
_VERSION = re.compile(r"^\s*\.version\s+(\d+)\.(\d+)", re.MULTILINE)
_TOO_NEW = re.compile(r"[Uu]nsupported \.version")
_UNKNOWN_ARCH = re.compile(r"is not defined for option 'gpu-name'")
_ELF = b"\x7fELF"  # a cubin begins with it

__all__ = ["Assembly", "RegisterCapWarning", "assemble", "assemble_all", "assembler_name", "find_ptxas", "most_of"]


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

    `arch` (such as "sm_90a") defaults to the text's `.target`. `assembler` is "ptxas", "nvjitlink" or the path of a
    ptxas. None takes the path in GOPTX_PTXAS; without it the lowest ptxas of this machine that takes the text's
    `.version` and `arch` (`find_assemblers`), else nvJitLink: the machine code of an older assembler loads on older
    drivers too. "ptxas" does the same without nvJitLink.

    `fmad=False` forbids contracting `mul` and `add` to `fma`. `max_registers` is only compared with the register
    count: the cap itself is a `.maxnreg` in the text, because `-maxrregcount` is silently ignored beside `.maxntid`
    and `.reqntid`. A count above it is one of `Assembly.warnings`. `capped` returns the text with the cap, while
    `ptx` lacks it, and is called only if that text was not assembled before.

    Raises AssemblyError when there is no assembler or it refuses the text (with its own lines, the PTX lines they name,
    and what to install where each is too old), InputError when the text has no `.target` or no entry of that name.
    """
    if arch is None:
        target = _TARGET.search(ptx)
        if target is None:
            raise InputError('the PTX has no `.target`: pass arch, for example arch="sm_90"')
        arch = target[1]

    def made(chosen: Assembler) -> tuple[bytes, str]:
        asked = ptx, repr((arch, fmad, chosen.name, None if capped is None else max_registers))
        return _cached(asked, lambda: _run(chosen, ptx if capped is None else capped(), str(arch), fmad))

    name, (cubin, log) = _first_that_takes(_version(ptx), arch, assembler, made)
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


def assembler_name() -> str:
    """Name and version of the assembler that is used by default. Raises `AssemblyError` where there is none."""
    return next(_candidates(None, None)).name


def _first_that_takes(
    version: Version | None, arch: str, assembler: str | None, run: Callable[[Assembler], tuple[bytes, str]]
) -> tuple[str, tuple[bytes, str]]:
    """Name and result of the first assembler that is neither too old for `version` nor ignorant of `arch`. Where each
    of them is, raises the last refusal, with what to do."""
    refused: list[Assembler] = []
    for chosen in _candidates(assembler, version):
        try:
            return chosen.name, run(chosen)
        except AssemblyError as error:
            refused.append(chosen)
            refusal, text = error, str(error)
            if not (_TOO_NEW.search(text) or _UNKNOWN_ARCH.search(text)):
                raise
    unknown = arch if _UNKNOWN_ARCH.search(text) else ""
    raise AssemblyError(f"{text}\n{find_assemblers.remedy(version, refused, unknown)}") from refusal


def _candidates(assembler: str | None, version: Version | None) -> Iterator[Assembler]:
    """The assemblers to try in turn for a text of that `.version`; one at least. Raises AssemblyError without any."""
    if assembler not in (None, "ptxas", "nvjitlink"):
        path = shutil.which(str(assembler))
        if path is None:
            raise AssemblyError(f"the assembler `{assembler}` is not a program that can be run: {INSTALL}")
        yield find_assemblers.ptxas_at(path, "named")
        return
    tried = False
    if assembler != "nvjitlink":
        if forced := find_assemblers.forced_ptxas():
            yield find_assemblers.ptxas_at(forced, find_assemblers.FORCED)
            return
        found = find_assemblers.every_ptxas()
        for one in (one for one in found if version is None or one.may_take(version)):
            tried = True
            yield one
        if assembler == "ptxas" and not found:
            raise AssemblyError(f"no ptxas {LOOKED}: {INSTALL}")
    linker = None if assembler == "ptxas" else find_assemblers.nvjitlink_found()
    if linker and (assembler == "nvjitlink" or version is None or linker.may_take(version)):
        yield linker
    elif assembler == "nvjitlink":
        raise AssemblyError("nvJitLink is not installed: `pip install goptx[gpu]`")
    elif not tried:
        last = max(found, key=lambda one: one.version, default=linker)
        if last is None:
            raise AssemblyError(f"no assembler found, neither ptxas nor nvJitLink: {INSTALL}")
        yield last  # for its refusal


def _version(ptx: str) -> Version | None:
    found = _VERSION.search(ptx)
    return (int(found[1]), int(found[2])) if found else None


def _run(chosen: Assembler, ptx: str, arch: str, fmad: bool) -> tuple[bytes, str]:
    """The cubin and the verbose log."""
    if chosen.path:
        return _run_ptxas(chosen.name, chosen.path, ptx, arch, fmad)
    return _run_nvjitlink(chosen.name, ptx, arch, fmad)


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
