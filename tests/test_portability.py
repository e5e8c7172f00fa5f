"""goptx needs nothing that only Linux has, as far as that can be tested on Linux."""

import ast
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from goptx.errors import DeviceError
from goptx.measuring.profiling.ncu import ended
from goptx.results.given_kernels import kernels_of
from goptx.tuning import best

ROOT = Path(__file__).parents[1]
LUD = ROOT / "examples" / "kernels" / "lud.sm_90.ptx"
POSIX_ONLY = {"fcntl", "grp", "pty", "pwd", "resource", "syslog", "termios", "tty"}


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
