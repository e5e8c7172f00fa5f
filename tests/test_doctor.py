"""goptx doctor: all parts missing, all parts found, and goptx itself broken."""

import builtins
import json
import re
import sys
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from command_line import run

from goptx.cli import installation
from goptx.cli.installation import Finding, examine
from goptx.device.assemblers import find_assemblers
from goptx.device.assemblers.find_assemblers import find_ptxas
from goptx.device.latency import machine_code
from goptx.measuring.profiling import ncu


def found() -> dict[str, Finding]:
    """The first finding of each part."""
    return {finding.what: finding for finding in reversed(examine().findings)}


@pytest.fixture
def nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No package, no tool, no home."""

    def none(name: str) -> str:
        raise PackageNotFoundError(name)

    load = builtins.__import__

    def without(name: str, *more: Any, **named: Any) -> ModuleType:
        if name.partition(".")[0] in ("cuda", "rich", "distributed"):
            raise ModuleNotFoundError(f"No module named '{name}'")
        return load(name, *more, **named)

    monkeypatch.setattr(installation, "version", none)
    monkeypatch.setattr("goptx.version.version", none)
    monkeypatch.setattr(builtins, "__import__", without)
    monkeypatch.setattr(find_assemblers, "_WHEELS", ())
    monkeypatch.setattr(find_assemblers, "_OTHERS", ())
    monkeypatch.setattr(machine_code, "_WHEEL", "none")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("GOPTX_PTXAS", raising=False)
    for home in ("CUDA_HOME", "CUDA_PATH"):
        monkeypatch.delenv(home, raising=False)
    monkeypatch.setattr(ncu, "TOOLKIT", tmp_path)
    monkeypatch.setattr(ncu, "PACKAGES", tmp_path)
    monkeypatch.setenv("GOPTX_CACHE_SIZE", "1")
    (tmp_path / "file").touch()
    monkeypatch.setenv("GOPTX_CACHE_DIR", str(tmp_path / "file"))
    find_assemblers.nvjitlink_version.cache_clear()


@pytest.mark.usefixtures("nothing")
def test_missing_parts_are_listed_with_their_uses(tmp_path: Path) -> None:
    missing = {finding.what for finding in found().values() if not finding.found}
    always = {"goptx", "Python", "latencies"}
    assert missing == {"parser", "names", "graphs", "numpy", "cache", "ptxas", "nvJitLink", "cuda.core", "driver",
                       "GPU", "disassembler", "ncu", "matplotlib", "rich", "distributed", "nvcc"}  # fmt: skip
    assert {finding.what for finding in found().values() if finding.found} == always
    assert all(finding.needed for finding in found().values() if not finding.found)
    done = run("doctor", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert found()["driver"].detail == "not known without the package cuda-bindings"
    line = r"^missing  ptxas        not on the PATH, .* or with torch\n +needed for machine code .*: pip install goptx"
    assert re.search(line, done.stdout, re.MULTILINE)
    assert done.stdout.endswith("goptx parses, weaves and prints PTX.\n")


def test_installed_parts_are_found() -> None:
    here = found()
    assert {"goptx", "Python", "parser", "graphs", "numpy", "latencies", "cache"} <= {
        f.what for f in here.values() if f.found
    }
    assert here["goptx"].detail.endswith(f" in {Path(installation.__file__).parents[1]}")
    assert here["latencies"].detail.startswith("sm_80, sm_90, sm_100, sm_120 in ")
    if path := find_ptxas():
        assert re.fullmatch(
            rf"[0-9.]+ in {re.escape(path)}, takes PTX up to \d+\.\d, found by .+", here["ptxas"].detail
        )


def test_gpu_and_driver_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def module(name: str, **held: object) -> ModuleType:
        made = ModuleType(name)
        vars(made).update(held)
        return made

    class Device(SimpleNamespace):
        def set_current(self) -> None: ...

        @staticmethod
        def get_all_devices() -> list["Device"]:
            return [Device(name="NVIDIA H200", arch="90"), Device(name="NVIDIA A100", arch="80")]

    driver = module("driver", cuDriverGetVersion=lambda: (0, 13000))
    replaced: Mapping[str, ModuleType] = {
        "cuda": module("cuda", __path__=[]),
        "cuda.core": module("cuda.core", Device=Device),
        "cuda.bindings": module("cuda.bindings", driver=driver),
    }
    for name, made in replaced.items():
        monkeypatch.setitem(sys.modules, name, made)
    assert found()["GPU"].detail == "NVIDIA H200 (sm_90), NVIDIA A100 (sm_80)"
    assert found()["driver"].detail == "for CUDA 13.0"


def test_tools_that_cannot_be_asked_are_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GOPTX_PTXAS", str(tmp_path / "none"))
    monkeypatch.setenv("GOPTX_CACHE_SIZE", "many")
    here = found()
    assert (here["ptxas"].found, here["cache"].found) == (False, False)
    assert here["ptxas"].detail == f"GOPTX_PTXAS names `{tmp_path / 'none'}`, which is not a program that can be run"
    assert here["cache"].detail.startswith("GOPTX_CACHE_SIZE=many is not a number of MiB")


def test_report_is_one_object(tmp_path: Path) -> None:
    done = run("doctor", "--report=json", cwd=tmp_path)
    report = json.loads(done.stdout)
    assert (done.returncode, report["trouble"], report["warnings"]) == (0, "", [])
    assert [set(finding) for finding in report["findings"]] == [
        {"what", "found", "detail", "needed", "remedy"} for _ in report["findings"]
    ]


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (lambda *_: 1 / 0, "ZeroDivisionError: division by zero"),
        (lambda text: SimpleNamespace(items=[object()]), "the printed text is not the text that was read"),
    ],
)
def test_goptx_that_is_broken_is_a_failure(
    broken: object, message: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("goptx.ptx.parse.parse", broken)
    done = run("doctor", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr == f"CheckFailed: goptx is broken here, install it again: {message}\n"
    assert f"broken   {message}\n" in done.stdout
