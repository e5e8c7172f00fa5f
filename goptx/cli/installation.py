"""What goptx finds on this machine, what is missing, and what it is needed for.

A part that is missing or broken is a finding, not an error. Only if PTX cannot be read, woven and printed, goptx itself
is broken.
"""

from __future__ import annotations

import platform
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from goptx.device.assemblers.find_assemblers import Assembler
from goptx.errors import GoptxError
from goptx.version import own_version

_KERNEL = """.version 8.0
.target sm_80
.address_size 64
.visible .entry probe(.param .u64 out)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r1;
    ret;
}
"""


@dataclass(frozen=True, slots=True)
class Finding:
    """One part: `what` was looked for; `detail` is its version and path, or why it was not found; `needed` names its
    uses, and `remedy` how to get it."""

    what: str
    found: bool
    detail: str
    needed: str = ""
    remedy: str = ""

    def __str__(self) -> str:
        head = f"{'found' if self.found else 'missing':8} {self.what:12} {self.detail}"
        if self.found:
            return head.rstrip()
        remedy = f": {self.remedy}" if self.remedy else ""
        return f"{head.rstrip()}\n{'':21} needed for {self.needed}{remedy}"


@dataclass(frozen=True, slots=True)
class Health:
    """All findings; `trouble` is the reason why goptx itself is broken, "" if it is not."""

    findings: tuple[Finding, ...]
    trouble: str

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return {"findings": [asdict(finding) for finding in self.findings], "trouble": self.trouble}

    def __str__(self) -> str:
        last = f"broken   {self.trouble}" if self.trouble else "goptx parses, weaves and prints PTX."
        return "\n".join([*map(str, self.findings), last])


def examine() -> Health:
    """Looks for everything that goptx may use. Starts tools to ask their versions, and asks the driver."""
    return Health(tuple(_findings()), _trouble())


Answer = tuple[bool, str]  # whether it was found, and the detail


def _findings() -> Iterator[Finding]:
    yield Finding("goptx", True, f"{own_version()} in {Path(__file__).parents[1]}")
    yield Finding("Python", True, f"{platform.python_version()} in {sys.executable}, {platform.platform()}")
    for what, look, needed, remedy in _PARTS:
        try:
            found, detail = look()
        except GoptxError as error:
            found, detail = False, str(error).splitlines()[0].partition(": ")[0]  # the remedy is in the table below
        except Exception as error:  # a broken part must not hide the others
            found, detail = False, f"{type(error).__name__}: {error}".splitlines()[0]
        yield Finding(what, found, detail, "" if found else needed, "" if found else remedy)
        if what == "ptxas":
            yield from _other_ptxas()


def _trouble() -> str:
    try:
        from goptx.ptx.parse import parse
        from goptx.weaving.weave import weave

        module = parse(_KERNEL)
        if parse(str(module)).items != module.items:
            return "the printed text is not the text that was read"
        weave(_KERNEL, _KERNEL)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def _package(*names: str) -> Callable[[], Answer]:
    def look() -> Answer:
        versions = []
        for name in names:
            try:
                versions.append(f"{name} {version(name)}")
            except PackageNotFoundError:
                return False, f"no package {name}"
        return True, ", ".join(versions)

    return look


def _latency_tables() -> Answer:
    from goptx.latency.table import brought_tables

    tables = brought_tables()
    return True, f"{', '.join(tables)} in {next(iter(tables.values())).parent}"


def _ptxas() -> Answer:
    from goptx.device.assemblers.find_assemblers import FORCED, LOOKED, every_ptxas, forced_ptxas, ptxas_at

    if forced := forced_ptxas():
        return True, _assembler(ptxas_at(forced, FORCED))
    found = every_ptxas()
    return (True, _assembler(found[0])) if found else (False, f"not {LOOKED}")


def _other_ptxas() -> Iterator[Finding]:
    """Those that are there beside the first, in the order in which they are tried."""
    from goptx.device.assemblers.find_assemblers import every_ptxas, forced_ptxas

    try:
        forced = forced_ptxas()
    except GoptxError:
        forced = ""
    others = every_ptxas()[1:] if forced is None else [one for one in every_ptxas() if one.path != forced]
    for one in others:
        yield Finding("ptxas", True, f"{_assembler(one)}{'' if forced is None else ' (GOPTX_PTXAS forbids it)'}")


def _nvjitlink() -> Answer:
    from goptx.device.assemblers.find_assemblers import nvjitlink_found

    found = nvjitlink_found()
    return (True, _assembler(found)) if found else (False, "not installed")


def _assembler(one: Assembler) -> str:
    version = ".".join(map(str, one.version))
    place = f" in {one.path}" if one.path else ""
    newest = f", takes PTX up to {one.newest[0]}.{one.newest[1]}" if one.newest else ""
    return f"{version}{place}{newest}, found by {one.where}"


def _driver() -> Answer:
    try:
        from cuda.bindings import driver
    except ImportError:
        return False, "not known without the package cuda-bindings"
    failed, number = driver.cuDriverGetVersion()
    if failed:
        return False, "no CUDA driver"
    return True, f"for CUDA {number // 1000}.{number % 1000 // 10}"


def _gpu() -> Answer:
    from goptx.device.load import current_device

    current_device()
    from cuda.core import Device

    return True, ", ".join(f"{one.name} (sm_{one.arch})" for one in Device.get_all_devices())


def _disassembler() -> Answer:
    from goptx.device.latency.machine_code import find_disassembler

    return True, find_disassembler()


def _ncu() -> Answer:
    from goptx.measuring.profiling.ncu import find_ncu

    found = find_ncu()
    return True, f"{found.version} in {found.path}"


def _nvcc() -> Answer:
    path = shutil.which("nvcc")
    return (True, path) if path else (False, "not on the PATH")


def _cache() -> Answer:
    from goptx.cache.store import disk

    found = disk()
    if found is None:
        return True, "switched off"
    trouble = found.trouble()
    return not trouble, f"{found.folder}{f': {trouble}' if trouble else f', {len(found.entries())} entries'}"


_CODE, _GPU = "machine code (.cubin), and registers and occupancy of a kernel", "launching, tuning and measuring"
_PARTS: tuple[tuple[str, Callable[[], Answer], str, str], ...] = (
    ("parser", _package("antlr4-python3-runtime"), "everything", "pip install goptx"),
    ("graphs", _package("networkx"), "everything but parsing", "pip install goptx"),
    ("numpy", _package("numpy"), "goptx check, goptx emulate and launches", "pip install goptx"),
    ("names", _package("itanium-demangler"), "readable names of C++ and Numba kernels", "pip install goptx"),
    ("latencies", _latency_tables, "weaving", "install goptx again"),
    ("cache", _cache, "fast second runs", "name another folder in GOPTX_CACHE_DIR"),
    ("ptxas", _ptxas, f"{_CODE}; nvJitLink does too", "pip install goptx[ptxas], or name it in GOPTX_PTXAS"),
    ("nvJitLink", _nvjitlink, f"{_CODE}; ptxas does too", "pip install goptx[gpu]"),
    ("cuda.core", _package("cuda-core", "cuda-bindings"), _GPU, "pip install goptx[gpu]"),
    ("driver", _driver, _GPU, "install NVIDIA's driver, for CUDA 12 or later"),
    ("GPU", _gpu, _GPU, ""),
    ("disassembler", _disassembler, "goptx latency measure", "pip install goptx[measure]"),
    ("ncu", _ncu, "goptx profile", "install Nsight Compute"),
    ("matplotlib", _package("matplotlib"), "charts of sweeps, tuning and profiles", "pip install goptx[charts]"),
    ("rich", _package("rich"), "a progress bar for tuning and measuring", "pip install goptx[tune]"),
    ("distributed", _package("distributed"), "making kernels for tuning on other machines", "pip install distributed"),
    ("nvcc", _nvcc, "making PTX of CUDA C++ outside goptx", "install the CUDA toolkit"),
)
