"""Finds Nsight Compute and runs a program under it, in a process of its own that ends within a time limit."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType

from goptx.errors import DeviceError
from goptx.measuring.profiling.counters import Reading, readings

TOOLKIT = Path("/usr/local/cuda")
PACKAGES = Path("/opt/nvidia/nsight-compute")  # a folder for each version, such as 2025.3.1
OPTIONS = (
    "--config-file", "off",
    "--target-processes", "application-only",
    "--profile-from-start", "off",  # the program switches counting on: cuProfilerStart
    "--replay-mode", "kernel",
    "--cache-control", "all",  # caches are empty before each pass
    "--clock-control", "none",  # clocks stay as they are; not every user may set them
    "--print-kernel-base", "mangled",  # names as PTX has them
    "--print-units", "base",
    "--csv", "--page", "raw",
)  # fmt: skip
PERMISSION = "ERR_NVGPUCTRPERM"
BUSY = "==ERROR== LaunchFailed"
QUOTED = 5  # lines of its output that an error quotes


class NotPermitted(DeviceError):
    """The driver does not let this process read counters."""


@dataclass(frozen=True, slots=True)
class Profiler:
    """Nsight Compute: the path of `ncu`, and its version."""

    path: str
    version: str

    def __str__(self) -> str:
        return f"Nsight Compute {self.version}"


def find_ncu() -> Profiler:
    """Nsight Compute from the PATH, the CUDA toolkit, or the newest of its own packages. Raises `DeviceError` if it is
    not installed."""
    for folder in _folders():
        if path := shutil.which("ncu", path=folder):
            return Profiler(path, _version(path))
    raise DeviceError(
        "no Nsight Compute (`ncu`) on the PATH, in CUDA_HOME, /usr/local/cuda or /opt/nvidia/nsight-compute: install "
        "the package nsight-compute or the CUDA toolkit, or put the folder of `ncu` on the PATH."
    )


def _folders() -> Iterator[str | None]:
    yield None  # the PATH
    for home in ("CUDA_HOME", "CUDA_PATH"):
        if folder := os.environ.get(home):
            yield str(Path(folder, "bin"))
    yield str(TOOLKIT / "bin")
    numbered = ((tuple(map(int, re.findall(r"\d+", folder.name))), str(folder)) for folder in PACKAGES.glob("*"))
    yield from (folder for _, folder in sorted(numbered, reverse=True))


def _version(path: str) -> str:
    """The version of `ncu`. Raises `DeviceError` if the program is not Nsight Compute."""
    code, output = ended([path, "--version"], {}, 60)
    version = re.search(r"^Version (\d+(?:\.\d+)+)", output, re.MULTILINE)
    if code or "Nsight Compute" not in output or version is None:
        raise DeviceError(f"`{path}` is not Nsight Compute: `--version` printed {output.strip()[:200]!r}")
    return version[1]


def counted(
    ncu: Profiler,
    program: Sequence[str],
    counters: Sequence[str],
    limit: float,
    environment: Mapping[str, str] = MappingProxyType({}),
) -> list[Reading]:
    """The counters of each launch of the program, in order, while the program has counting switched on. If the device
    lacks a counter, the program runs again without it, and its value is None. It also runs again, once, where launches
    failed under the profiler, as they do when another program is profiled at the same moment.

    limit: seconds for each run. environment: variables for the program, added to those of this process. Raises a
    `DeviceError` that names what is missing.
    """
    asked, tries = list(counters), 2
    while tries:
        with TemporaryDirectory(prefix="goptx-ncu-") as folder:
            log = Path(folder, "log")
            command = [ncu.path, *OPTIONS, "--log-file", str(log), "--metrics", ",".join(asked), *program]
            code, output = ended(command, {**environment, "LC_ALL": "C"}, limit)  # C has numbers as 1,234.5
            printed = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
        output = f"{printed}\n{output}"
        if PERMISSION in output:
            raise NotPermitted(
                f"the driver lets only administrators read the GPU's counters ({PERMISSION}): run as root, in a "
                "container with --cap-add=SYS_ADMIN, or load the module nvidia with "
                f"NVreg_RestrictProfilingToAdminUsers=0; see https://developer.nvidia.com/{PERMISSION}."
            )
        if BUSY in output:
            tries -= 1
            continue
        lacking = _lacking(output, asked)
        if not lacking or lacking == asked:
            break
        asked = [counter for counter in asked if counter not in lacking]
    if code or "==ERROR==" in output:
        raise DeviceError(f"{ncu} ended with status {code}: {_essence(output)}")
    found = readings(printed, asked)
    return [Reading(one.kernel, {c: one.values.get(c) for c in counters}) for one in found]


def _lacking(output: str, asked: Sequence[str]) -> list[str]:
    """Counters that it reports as not found or not readable; it may name one by a pattern, without its suffix."""
    complaints = [
        line.replace("\\", "") for line in output.splitlines() if re.search(r"Failed to (find|access)\b", line)
    ]
    names = {counter: re.compile(rf"(?<!\w){re.escape(counter.partition('.')[0])}(?!\w)") for counter in asked}
    return [counter for counter, name in names.items() if any(map(name.search, complaints))]


def _essence(output: str) -> str:
    """The errors of Nsight Compute, else the last lines of the output."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("==ERROR==")]
    return "; ".join(errors[:QUOTED] or lines[-QUOTED:]) or "it printed nothing"


def ended(command: Sequence[str], environment: Mapping[str, str], limit: float) -> tuple[int, str]:
    """Exit status and output of a command; all processes that it started end with it. Raises `DeviceError` if it cannot
    be run or takes longer than `limit` seconds."""
    try:
        process = subprocess.Popen(
            command,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
    except OSError as error:
        raise DeviceError(f"`{command[0]}` cannot be run: {error.strerror}") from error
    with process:
        try:
            output, _ = process.communicate(timeout=limit)
        except BaseException as error:
            if hasattr(os, "killpg"):
                os.killpg(process.pid, signal.SIGKILL)  # itself and the program that it runs
            else:
                process.kill()  # the program ends by itself
            if isinstance(error, subprocess.TimeoutExpired):
                raise DeviceError(
                    f"`{command[0]}` did not end within {limit:g} s: a kernel hangs, or more time is needed (limit=)"
                ) from None
            raise
    return process.returncode, output
