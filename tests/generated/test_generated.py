"""A sample of what goptx generates has the digests of sha256.txt; digests.py compares and writes all of them."""

import subprocess
import sys
from pathlib import Path

import pytest
from generated.digests import cases, digest, written

EVERY = 25
NAMES = list(cases())


def test_each_case_has_a_digest() -> None:
    assert list(written()) == NAMES


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES[::EVERY])
def test_generated(name: str) -> None:
    assert digest(name) == written()[name]


@pytest.mark.slow
def test_command_compares(tmp_path: Path) -> None:
    program = Path(__file__).with_name("digests.py")
    done = subprocess.run(
        [sys.executable, program, "weave gelu harris", "--jobs", "1"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "0 of 1 cases differ\n")
