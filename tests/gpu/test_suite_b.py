"""Batch-norm statistics and a histogram, fused by every candidate of suite B on a GPU, are right."""

import subprocess
import sys
from pathlib import Path

import pytest

from goptx.device.load import current_device
from goptx.errors import DeviceError

pytestmark = pytest.mark.gpu
ROOT = Path(__file__).parent.parent.parent


def test_suite_b_in_small() -> None:
    """In the sizes of the `[check]` tables, in a child process."""
    pytest.importorskip("cupy")
    try:
        current_device()
    except DeviceError as error:
        pytest.skip(str(error))
    command = [sys.executable, "-m", "benchmarks.suite_b", "--small", "--commit", "test"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("horizontal") >= 2 * 7  # in messages, and in the table
