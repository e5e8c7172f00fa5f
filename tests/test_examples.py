"""The first command of the README works as the README states."""

import subprocess
import sys
from pathlib import Path

import pytest

from goptx.device.assemble import find_ptxas

EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.mark.skipif(find_ptxas() is None, reason="needs ptxas")
def test_first_weave() -> None:
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / "first_weave.py")], capture_output=True, text=True, check=True
    )
    assert "harris.sm_90.ptx + lud.sm_90.ptx -> harris_lud_woven" in done.stdout
    assert "instructions beside another kernel's 97%" in done.stdout
    assert "registers per thread" in done.stdout
    assert "outputs are equal" in done.stdout or "not launched: " in done.stdout
