#!/usr/bin/env python3
"""Builds sdist and wheel, and tries the wheel where nothing else is installed, outside of the checkout.

The wheel of the sdist has to be that of the checkout, file by file. It is installed for every Python of PYTHONS that
runs here; smoke.py then has to do what it says with what was installed. With mypy in .venv/, a user's program is
checked against the types of the package.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PYTHONS = ("python3.11", "python3.12", "python3.13", "python3.14")
HELD = (
    "goptx/py.typed",
    "goptx/ptx/generated/PtxParser.py",
    "goptx/latency_tables/sm_80.toml",
    "goptx/latency_tables/sm_90.toml",
    "goptx/cmake/goptxConfig.cmake",
)
USER = """import goptx
from pathlib import Path

woven: goptx.Woven = goptx.weave(Path("a.ptx"), Path("b.ptx"))
registers: int = woven.resources(block=256).registers
code: bytes = woven.cubin()
"""


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="goptx-package-") as name:
        folder = Path(name)
        tools = folder / "tools"
        venv.create(tools, with_pip=True)
        call(python(tools), "-m", "pip", "install", "-q", "build", "hatchling>=1.26", "twine")
        build = (python(tools), "-m", "build", "--no-isolation")
        call(*build, "--outdir", folder / "dist", ROOT)  # the sdist, and a wheel of it
        call(*build, "--wheel", "--outdir", folder / "direct", ROOT)
        call(python(tools), "-m", "twine", "check", "--strict", *(folder / "dist").iterdir())
        (wheel,) = (folder / "dist").glob("*.whl")
        (direct,) = (folder / "direct").glob("*.whl")
        check_content(wheel, direct)
        pythons = [found for name in PYTHONS if (found := runs(name))] or [sys.executable]
        places = [try_wheel(found, wheel, folder) for found in pythons]
        check_types(places[0])
        tried = [said(place) for place in places]
        print(f"{wheel.name}: built, installed and tried with Python {', '.join(tried)}")
    return 0


def check_content(wheel: Path, direct: Path) -> None:
    """Both hold the same; all that is needed is there, and no test."""
    with zipfile.ZipFile(wheel) as one, zipfile.ZipFile(direct) as other:
        names = sorted(one.namelist())
        assert names == sorted(other.namelist()), set(names) ^ set(other.namelist())
        assert all(one.read(n) == other.read(n) for n in names if not n.endswith("/RECORD"))
    assert all(held in names for held in HELD), [held for held in HELD if held not in names]
    stray = [n for n in names if not n.startswith(("goptx/", "goptx-"))]
    assert not stray, stray


def runs(name: str) -> str | None:
    """The path of that Python if it runs; a shim may lead nowhere."""
    path = shutil.which(name)
    if path is None or subprocess.run([path, "-c", "import ensurepip"], capture_output=True, check=False).returncode:
        return None
    return path


def try_wheel(interpreter: str, wheel: Path, folder: Path) -> Path:
    """In a folder, which is returned."""
    place = Path(tempfile.mkdtemp(dir=folder))
    call(interpreter, "-m", "venv", place / "empty")
    call(python(place / "empty"), "-m", "pip", "install", "-q", wheel)
    kernels = ROOT / "examples" / "kernels"
    for name in ("harris", "lud"):
        shutil.copy(kernels / f"{name}.sm_90.ptx", place / f"{name}.ptx")
        shutil.copy(kernels / f"{name}.toml", place)
    call(python(place / "empty"), ROOT / ".ci" / "smoke.py", cwd=place)
    return place


def check_types(place: Path) -> None:
    mypy = ROOT / ".venv" / "bin" / "mypy"
    if mypy.exists():
        (place / "user.py").write_text(USER)
        call(mypy, "--strict", "--python-executable", python(place / "empty"), "user.py", cwd=place)


def said(place: Path) -> str:
    """The version of its Python."""
    asked = [str(python(place / "empty")), "-c", "import platform; print(platform.python_version())"]
    return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()


def python(environment: Path) -> Path:
    return environment / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def call(*command: str | Path, cwd: Path | None = None) -> None:
    """Quiet, unless it fails."""
    outside = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        list(map(str, command)), cwd=cwd, env=outside, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: exit status {done.returncode}\n{done.stdout}")


if __name__ == "__main__":
    sys.exit(main())
