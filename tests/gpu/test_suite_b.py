"""Pairs of suite B, fused in all its ways on a GPU, are right."""

import subprocess
import sys
from pathlib import Path

import pytest

from goptx.device.load import current_device
from goptx.errors import DeviceError

pytestmark = pytest.mark.gpu
ROOT = Path(__file__).parent.parent.parent


def test_suite_b_in_small(tmp_path: Path) -> None:
    """In the sizes of the `[check]` tables, in other processes; the second time nothing is left to do for the pairs."""
    pytest.importorskip("cupy")
    try:
        current_device()
    except DeviceError as error:
        pytest.skip(str(error))
    pairs = "hist+maxpool,batchnorm+upsample"
    command = [sys.executable, "-m", "benchmarks.suite_b", "--small", "--pairs", pairs, "--commit", "test"]
    done = [
        subprocess.run([*command, "--runs", str(tmp_path)], capture_output=True, text=True, timeout=240, cwd=ROOT)
        for _ in range(2)
    ]
    for one in done:
        assert one.returncode == 0, one.stdout + one.stderr
        assert one.stdout.count("horizontal") >= 2 * 9
        assert "hist: right" in one.stdout and "upsample: right" in one.stdout
    assert len(list(tmp_path.rglob("small-*.json"))) == 2
