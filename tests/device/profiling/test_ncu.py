"""How Nsight Compute is found, run, and the messages when it fails."""

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from goptx.errors import DeviceError
from goptx.measuring.profiling import ncu as module
from goptx.measuring.profiling.metrics import COUNTERS
from goptx.measuring.profiling.ncu import NotPermitted, Profiler, counted, ended, find_ncu

DENIED = (
    "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters on the "
    "target device 0. For instructions on enabling permissions and to get more information see "
    "https://developer.nvidia.com/ERR_NVGPUCTRPERM\n"
)
Runs = Callable[[], list[list[str]]]
PROGRAM = ["python", "-P", "-m", "program", "question", "answer"]


def put(folder: Path, version: str) -> None:
    folder.mkdir(parents=True)
    (folder / "ncu").write_text(f"#!/bin/sh\necho Nsight Compute\necho Version {version}\n")
    (folder / "ncu").chmod(0o755)


def test_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home, toolkit, packages, path = (tmp_path / name for name in ("home", "cuda", "packages", "path"))
    monkeypatch.setenv("PATH", str(path))
    monkeypatch.setenv("CUDA_HOME", str(home))
    monkeypatch.delenv("CUDA_PATH", raising=False)
    monkeypatch.setattr(module, "TOOLKIT", toolkit)
    monkeypatch.setattr(module, "PACKAGES", packages)
    with pytest.raises(
        DeviceError, match=r"no Nsight Compute \(`ncu`\) on the PATH, .* install the package nsight-com"
    ):
        find_ncu()
    for version in ("2025.3.1", "2025.10.0", "2024.1.1"):
        put(packages / version, version)
    assert find_ncu() == Profiler(str(packages / "2025.10.0" / "ncu"), "2025.10.0")  # the newest, by numbers
    for folder, version in ((toolkit / "bin", "3.1"), (home / "bin", "3.2"), (path, "3.3")):
        put(folder, version)
        assert find_ncu() == Profiler(str(folder / "ncu"), version)


def test_something_else_of_that_name(ncu: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_VERSION", "npm-check-updates 17.1")
    with pytest.raises(DeviceError, match=r"ncu` is not Nsight Compute: `--version` printed 'npm-check-updates 17\.1'"):
        find_ncu()


def test_command(ncu: Runs) -> None:
    found = counted(find_ncu(), PROGRAM, COUNTERS, 60)
    assert [one.kernel for one in found] == ["gelu", "wmma", "gelu_wmma_woven"]
    (arguments,) = ncu()
    assert arguments[-len(PROGRAM) :] == PROGRAM
    assert arguments[arguments.index("--metrics") + 1] == ",".join(COUNTERS)
    for option, value in (
        ("--profile-from-start", "off"), ("--print-units", "base"), ("--page", "raw"), ("--clock-control", "none"),
        ("--print-kernel-base", "mangled"),
    ):  # fmt: skip
        assert arguments[arguments.index(option) + 1] == value
    assert "--csv" in arguments


def test_counters_that_the_device_lacks(ncu: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_NCU", "lacking")
    found = counted(find_ncu(), PROGRAM, COUNTERS, 60)
    lacking = {c for c in COUNTERS if found[0].values[c] is None}
    assert lacking == {
        "lts__t_sector_hit_rate.pct", "l1tex__t_sector_hit_rate.pct",
        "dram__throughput.avg.pct_of_peak_sustained_elapsed", "smsp__warp_issue_stalled_membar_per_warp_active.pct",
    }  # fmt: skip
    assert [len(a[a.index("--metrics") + 1].split(",")) for a in ncu()] == [23, 22, 20]


def test_launches_that_fail_under_the_profiler_are_tried_again(ncu: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_NCU", "busy")
    assert len(counted(find_ncu(), PROGRAM, COUNTERS, 60)) == 3
    assert len(ncu()) == 2
    monkeypatch.setenv("FAKE_NCU", "==ERROR== LaunchFailed\n")
    with pytest.raises(DeviceError, match=r"ended with status 1: ==ERROR== LaunchFailed"):
        counted(find_ncu(), PROGRAM, COUNTERS, 60)
    assert len(ncu()) == 4


def test_all_are_lacking(ncu: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_NCU", "==ERROR== Failed to find metric a__b.sum\n")
    with pytest.raises(
        DeviceError, match=r"Nsight Compute 2025\.3\.1\.0 ended with status 1: ==ERROR== Failed to find"
    ):
        counted(find_ncu(), PROGRAM, ["a__b.sum"], 60)


def test_no_permission(ncu: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_NCU", DENIED)
    message = (
        "only administrators read the GPU's counters .* --cap-add=SYS_ADMIN, .* NVreg_RestrictProfilingToAdminUsers=0"
    )
    with pytest.raises(NotPermitted, match=message):
        counted(find_ncu(), PROGRAM, COUNTERS, 60)


@pytest.mark.parametrize(
    ("printed", "message"),
    [
        (
            "==PROF== Connected\n==ERROR== LibraryNotLoaded\n==ERROR== Two\n",
            "==ERROR== LibraryNotLoaded; ==ERROR== Two$",
        ),
        ("one\n\ntwo\n", "one; two$"),
        ("", "it printed nothing$"),
    ],
)
def test_failure(printed: str, message: str, ncu: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_NCU", printed or "\n")
    with pytest.raises(DeviceError, match=r"Nsight Compute 2025\.3\.1\.0 ended with status 1: " + message):
        counted(find_ncu(), PROGRAM, COUNTERS, 60)


def test_time_limit_ends_the_program_too(ncu: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_NCU", "hangs")
    began = time.monotonic()
    with pytest.raises(
        DeviceError, match=r"ncu` did not end within 1 s: a kernel hangs, or more time is needed \(limit="
    ):
        counted(find_ncu(), PROGRAM, COUNTERS, 1)
    assert time.monotonic() - began < 60


def test_what_cannot_be_run(tmp_path: Path) -> None:
    with pytest.raises(DeviceError, match="none` cannot be run: No such file"):
        ended([str(tmp_path / "none")], {}, 1)
    command = [sys.executable, "-c", "import os; print(os.environ['PATH'], os.environ['GIVEN'])"]
    assert ended(command, {"GIVEN": "x"}, 60) == (0, f"{os.environ['PATH']} x\n")
