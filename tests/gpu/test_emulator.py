"""The emulator computes what a GPU does: some opcodes of every family, on special and random operands."""

import subprocess
import sys
from pathlib import Path

import pytest

from goptx.device.load import current_device
from goptx.errors import DeviceError

pytestmark = pytest.mark.gpu
ROOT = Path(__file__).parent.parent.parent


def test_families_in_small() -> None:
    pytest.importorskip("cupy")
    try:
        current_device()
    except DeviceError as error:
        pytest.skip(str(error))
    command = [sys.executable, str(ROOT / "benchmarks" / "emulator_families.py"), "--quick", "--commit", "test"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=500, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
