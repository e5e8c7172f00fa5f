"""Kernels of different launch shapes, woven, give on a GPU what separate launches give, bit for bit."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from goptx.device.load import current_device
from goptx.errors import DeviceError

pytestmark = pytest.mark.gpu
RUNNER = Path(__file__).parent / "shape_runner.py"
PARTS = 6  # tests of some pairs each, which run side by side


@pytest.mark.parametrize("part", range(PARTS))
def test_every_pair_in_every_mix(part: int) -> None:
    try:
        current_device()
    except DeviceError as error:
        pytest.skip(str(error))
    try:
        command = [sys.executable, str(RUNNER), str(part), str(PARTS)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        output, errors = done.stdout, done.stderr
    except subprocess.TimeoutExpired as expired:
        output, errors = (expired.stdout or b"").decode(), "no answer within the time limit"
    started, results = re.findall(r"START (\S+)", output), dict(re.findall(r"RESULT (\S+) (.*)", output))
    hung = [pair for pair in started if pair not in results]
    assert not hung, f"{hung[0]} hangs"
    assert len(started) > 100 // PARTS, errors
    assert {p: r for p, r in results.items() if r != "right" and not r.startswith("REFUSED")} == {}
