"""A fake `ncu` on the PATH."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

FAKE = Path(__file__).with_name("fake_ncu.py")
Runs = Callable[[], list[list[str]]]


@pytest.fixture
def ncu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Runs:
    """It is on the PATH, and runs in a folder of its own; gives the arguments of each of its runs until now."""
    program = tmp_path / "bin" / "ncu"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} {FAKE} "$@"\n')
    program.chmod(0o755)
    runs = tmp_path / "arguments.jsonl"
    monkeypatch.setenv("PATH", str(program.parent), prepend=":")
    monkeypatch.setenv("FAKE_ARGUMENTS", str(runs))
    monkeypatch.chdir(tmp_path)
    return lambda: [json.loads(line) for line in runs.read_text().splitlines()]
