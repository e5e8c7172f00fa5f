"""The README's test command is the one that .ci/run calls."""

import os
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_ci_calls_the_test_command_of_the_readme() -> None:
    called = re.findall(r'^bash -c "(.*)"$', (ROOT / ".ci" / "run").read_text(), re.MULTILINE)
    assert len(called) == 1
    assert called[0] in (ROOT / "README.md").read_text().splitlines()


def test_ci_can_be_run() -> None:
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
