"""goptx needs nothing that only Linux has, as far as that can be tested on Linux."""

import ast
import os
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from goptx.errors import DeviceError
from goptx.measuring.profiling.ncu import ended
from goptx.results.given_kernels import kernels_of
from goptx.tuning import best

ROOT = Path(__file__).parents[1]
LUD = ROOT / "examples" / "kernels" / "lud.sm_90.ptx"
POSIX_ONLY = {"fcntl", "grp", "pty", "pwd", "resource", "syslog", "termios", "tty"}


@pytest.mark.slow
def test_no_module_is_imported_that_only_posix_has() -> None:
    for path in (ROOT / "goptx").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            named = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            named += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not {name.partition(".")[0] for name in named} & POSIX_ONLY, path


def test_output_is_utf8_whatever_the_terminal_is(tmp_path: Path) -> None:
    text = '.version 8.0\n.target sm_90\n.address_size 64\n.file 1 "é.cu"\n'
    (tmp_path / "e.ptx").write_bytes(text.encode())
    command = [sys.executable, "-m", "goptx", "fmt", "e.ptx"]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, check=True, timeout=60)
    assert '"é.cu"'.encode() in done.stdout and b"\r" not in done.stdout


def test_a_program_is_ended_without_process_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "killpg")
    begun = time.monotonic()
    with pytest.raises(DeviceError, match=r"did not end within 0\.5 s"):
        ended([sys.executable, "-c", "import time; time.sleep(30)"], {}, 0.5)
    assert time.monotonic() - begun < 20


def test_a_program_ends_itself_without_alarms() -> None:
    program = (
        "import signal, time\nif hasattr(signal, 'alarm'): del signal.alarm\n"
        "from goptx.measuring.profiling.profiled_program import end_after\nend_after(1)\ntime.sleep(30)"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    assert subprocess.run([sys.executable, "-c", program], env=environment, timeout=25, check=False).returncode == 1


def test_a_kernel_on_another_drive_is_named_in_full(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def relpath(path: Path, start: Path) -> str:
        raise ValueError("path is on mount 'D:', start on mount 'C:'")

    (kernel,) = kernels_of([LUD], least=1)
    assert not Path(best._kernel(kernel, tmp_path)["file"]).is_absolute()
    monkeypatch.setattr(best, "relpath", relpath)
    assert best._kernel(kernel, tmp_path)["file"] == LUD.resolve().as_posix()


# Without wheels of CUDA ---------------------------------------------------------------------------------

PLATFORMS = {
    "Linux on x86_64": ({"sys_platform": "linux", "platform_machine": "x86_64"}, True),
    "Linux on aarch64": ({"sys_platform": "linux", "platform_machine": "aarch64"}, True),
    "Windows on AMD64": ({"sys_platform": "win32", "platform_machine": "AMD64"}, True),
    "Windows on ARM64": ({"sys_platform": "win32", "platform_machine": "ARM64"}, False),
    "macOS": ({"sys_platform": "darwin", "platform_machine": "arm64"}, False),
}


@pytest.mark.parametrize("platform", PLATFORMS)
def test_packages_of_nvidia_are_taken_where_there_are_wheels(platform: str) -> None:
    environment, wheels = PLATFORMS[platform]
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    for extra in ("ptxas", "gpu", "measure", "tune", "all"):
        names = packages(extra, extras, environment)
        assert wheels == any(name.startswith(("nvidia-", "cuda-")) for name in names), (extra, names)
    assert not any(name.startswith("nvidia-") for name in packages("notebook", extras, environment))


def packages(extra: str, extras: dict[str, list[str]], environment: dict[str, str]) -> set[str]:
    """What the extra takes in that environment, with the extras of goptx that it names."""
    found: set[str] = set()
    for line in extras[extra]:
        wanted = Requirement(line)
        if wanted.marker is not None and not wanted.marker.evaluate(environment):
            continue
        if wanted.name == "goptx":
            found |= set().union(*(packages(other, extras, environment) for other in wanted.extras))
        else:
            found.add(wanted.name)
    return found


MACOS = """
import sys, platform, urllib.request, warnings
from pathlib import Path
warnings.simplefilter("ignore")
class Nowhere:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("cuda", "cupy", "nvidia", "torch", "triton", "numba"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Nowhere())
sys.platform = "darwin"  # what of the standard library asks for it when imported is imported above
platform.system, platform.machine = lambda: "Darwin", lambda: "arm64"

import goptx
from goptx.device.assemblers import find_assemblers
from goptx.errors import AssemblyError
find_assemblers._WHEELS = find_assemblers._OTHERS = ()
gelu, lud = map(Path, sys.argv[1:])
woven = goptx.weave(gelu, lud)
assert goptx.read(woven.ptx).entries
assert goptx.check(gelu, lud)
shapes = [goptx.Shape(64, 256)] * 2
assert goptx.fuse(gelu, lud, strategy="auto", shapes=shapes).report.decision
assert "<svg" in woven._repr_html_()
try:
    woven.cubin()
except AssemblyError as error:
    print(error)
"""


@pytest.mark.slow
def test_all_but_machine_code_and_launches_works_without_cuda(tmp_path: Path) -> None:
    """As on a Mac, as far as that can be tried here: its name, and neither CUDA's packages nor its programs."""
    environment = {"PYTHONPATH": str(ROOT), "HOME": str(tmp_path), "PATH": str(tmp_path), "TMPDIR": str(tmp_path)}
    gelu = ROOT / "examples" / "kernels" / "gelu.sm_90.ptx"
    command = [sys.executable, "-c", MACOS, str(gelu), str(LUD)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert "goptx[ptxas]" in done.stdout, done.stdout
