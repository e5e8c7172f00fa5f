"""The commands and examples of the README and the documents run."""

import os
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def test_ci_calls_the_test_command_of_the_readme() -> None:
    called = re.findall(r'^bash -c "(.*)"$', (ROOT / ".ci" / "run").read_text(), re.MULTILINE)
    assert len(called) == 1
    assert called[0] in (ROOT / "README.md").read_text().splitlines()


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= 200


def test_ci_runs_the_pages_for_beginners() -> None:
    (documents,) = re.findall(r"^DOCUMENTS = (.*)$", (ROOT / ".ci" / "readme.py").read_text(), re.MULTILINE)
    assert {"docs/first_hour.md", "docs/guide.md"} <= set(re.findall(r'"(.*?)"', documents))
    hidden = re.findall(r"^<!-- (.*) -->$", (ROOT / "docs" / "first_hour.md").read_text(), re.MULTILINE)
    assert set(hidden) == {"gpu"}, "a command that runs nowhere"


def test_ci_can_be_run() -> None:
    assert os.access(ROOT / ".ci" / "run", os.X_OK)


def test_the_documents_examples_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    (code,) = re.findall(
        r"^```python\n(.*?)^```", (ROOT / "docs" / "emulator.md").read_text(), re.MULTILINE | re.DOTALL
    )
    exec(compile(code, "docs/emulator.md", "exec"), {})
