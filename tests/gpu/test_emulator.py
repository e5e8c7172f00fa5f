"""The emulator computes what a GPU does: some opcodes of every family, on special and random operands."""

import subprocess
import sys
from pathlib import Path

import pytest

from goptx.device.load import current_device
from goptx.errors import DeviceError

ROOT = Path(__file__).parent.parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))

from families.catalogue import FAMILIES  # noqa: E402

pytestmark = pytest.mark.gpu
PARTS = 4  # tests of some families each, which run side by side


@pytest.mark.parametrize("part", range(PARTS))
def test_families_in_small(part: int) -> None:
    pytest.importorskip("cupy")
    try:
        current_device()
    except DeviceError as error:
        pytest.skip(str(error))
    command = [sys.executable, str(ROOT / "benchmarks" / "emulator_families.py"), "--quick", "--commit", "test"]
    command += [word for name in list(FAMILIES)[part::PARTS] for word in ("--family", name)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=500, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
