"""The module for CMake: projects that weave and fuse kernels with it."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import run

import goptx
from goptx.device.assemble import find_ptxas

KERNELS = Path(__file__).parents[1] / "examples" / "cmake"
CMAKE = shutil.which("cmake") or shutil.which("cmake", path=str(Path(sys.executable).parent))
pytestmark = pytest.mark.skipif(CMAKE is None or not shutil.which("make"), reason="needs cmake and make")
HEAD = """cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES NONE)
find_package(goptx REQUIRED)
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name in ("saxpy", "mix"):
        shutil.copy(KERNELS / f"{name}.sm_80.ptx", tmp_path / f"{name}.ptx")
    return tmp_path


def configured(project: Path, text: str) -> subprocess.CompletedProcess[str]:
    (project / "CMakeLists.txt").write_text(HEAD + text)
    module = run("--cmakedir", cwd=project).stdout.strip()
    command = [str(CMAKE), "-S", ".", "-B", "build", f"-Dgoptx_DIR={module}", f"-DGOPTX={sys.executable};-m;goptx"]
    return subprocess.run([*command, "-G", "Unix Makefiles"], cwd=project, capture_output=True, text=True, check=False)


def built(project: Path) -> str:
    command = [str(CMAKE), "--build", "build"]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
def test_woven(project: Path) -> None:
    text = """goptx_weave(woven SOURCES saxpy.ptx mix.ptx ENTRIES saxpy mix SHAPES A=8:256 B=4:128 NAME both ARCH sm_90)
file(WRITE ${CMAKE_BINARY_DIR}/names "${woven_PTX} ${woven_HEADER} ${woven_CUBIN} ${woven_KERNELS}")
"""
    done = configured(project, text)
    assert done.returncode == 0, done.stderr
    assert "goptx weave: woven.ptx" in built(project)
    build = project / "build"
    expected = goptx.weave(
        project / "saxpy.ptx",
        project / "mix.ptx",
        name="both",
        arch="sm_90",
        shapes=[goptx.Shape(8, 256), goptx.Shape(4, 128)],
    )
    assert (build / "woven.ptx").read_text() == expected.text()
    assert "both" in (build / "woven.h").read_text()
    kernels = f"{project / 'saxpy.ptx'};{project / 'mix.ptx'}"
    assert (build / "names").read_text() == f"{build / 'woven.ptx'} {build / 'woven.h'}  {kernels}"
    assert "goptx weave:" not in built(project)  # nothing to do
    (project / "mix.ptx").write_text((project / "mix.ptx").read_text() + "\n// changed\n")
    assert "goptx weave: woven.ptx" in built(project)


@pytest.mark.slow
@pytest.mark.skipif(find_ptxas() is None, reason="needs ptxas")
def test_fused_with_machine_code(project: Path) -> None:
    how = "STRATEGY horizontal SHAPES A=8:256 B=4:128 CUBIN OPTIONS --partition 256,128"
    text = f"goptx_fuse(fused SOURCES saxpy.ptx mix.ptx {how})"
    done = configured(project, text)
    assert done.returncode == 0, done.stderr
    built(project)
    assert (project / "build" / "fused.cubin").read_bytes().startswith(b"\x7fELF")
    assert ".entry" in (project / "build" / "fused.ptx").read_text()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("goptx_weave(woven)", "give SOURCES, the kernels as .cu or .ptx"),
        ("goptx_weave(woven SOURCES a.cu)", "takes a CUDA compiler"),
        ("goptx_weave(woven STRATEGY auto SOURCES saxpy.ptx mix.ptx)", "STRATEGY is for goptx_fuse"),
        ("goptx_weave(woven MORE SOURCES saxpy.ptx)", "unknown arguments MORE"),
    ],
)
def test_wrong_calls(project: Path, call: str, message: str) -> None:
    done = configured(project, call)
    assert done.returncode != 0
    assert message in " ".join(done.stderr.split())
