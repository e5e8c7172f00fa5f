"""Random pairs woven on a GPU give what separate launches give, bit for bit, and hang nowhere."""

import subprocess
import sys
from pathlib import Path

import pytest

from goptx.device.load import current_device
from goptx.errors import DeviceError

pytestmark = pytest.mark.gpu
ROOT = Path(__file__).parent.parent.parent


@pytest.mark.parametrize(
    "options", [("--pairs", "150"), ("--pairs", "4", "--strategy", "all", "--regressions")], ids=" ".join
)
def test_random_pairs_in_small(options: tuple[str, ...]) -> None:
    pytest.importorskip("cupy")
    try:
        current_device()
    except DeviceError as error:
        pytest.skip(str(error))
    runner = str(ROOT / "benchmarks" / "random_pairs.py")
    command = [sys.executable, runner, "--gpu", *options, "--commit", "test"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=500, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
