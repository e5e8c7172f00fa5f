"""Benchmarks start as their pages say: from the root of a checkout, where only the suite's own package is found."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = sorted(path.parent.name for path in (ROOT / "benchmarks").glob("*/__main__.py"))


@pytest.mark.slow
@pytest.mark.parametrize("name", PACKAGES)
def test_each_suite_starts(name: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", f"benchmarks.{name}", "--help"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "usage" in done.stdout
