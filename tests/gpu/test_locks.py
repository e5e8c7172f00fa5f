"""A lock for each thread, beside a kernel that ends amid it: no lane waits for its warp while it holds the lock."""

import re
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

from goptx.device.load import current_device
from goptx.errors import DeviceError
from goptx.options import Policy

pytestmark = pytest.mark.gpu
RUNNER = Path(__file__).parent / "lock_runner.py"


def test_a_lock_beside_a_kernel_that_ends_amid_it() -> None:
    try:
        current_device()
    except DeviceError as error:
        pytest.skip(str(error))
    try:
        done = subprocess.run([sys.executable, str(RUNNER)], capture_output=True, text=True, timeout=60, check=False)
        output, errors = done.stdout, done.stderr
    except subprocess.TimeoutExpired as expired:
        output, errors = (expired.stdout or b"").decode(), "no answer within the time limit"
    results = re.findall(r"RESULT .*: (\S+)", output)
    assert results == ["right"] * 2 * len(get_args(Policy)), output + errors
