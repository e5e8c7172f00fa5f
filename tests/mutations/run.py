"""Breaks one rule of the merger at a time, and shows that the test named for it fails.

    python tests/mutations/run.py [-o benchmarks/results] [PATTERN ...]

Patterns such as `'*barrier*'` choose mutations by rule, file or test. The sources are copied to a temporary folder;
there each named test has to pass as long as nothing is broken, and to fail with its mutation: by an assertion, a fault
that the emulator reports, a refusal that comes or does not come, or without an end. A mutation after which the program
does not run as such (a missing name, a wrong type) shows nothing and counts as survived. Exit code 1 if any survives.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import date
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
if __name__ == "__main__":
    sys.path[0] = str(ROOT / "tests")  # as for pytest

from mutations.every import MUTATIONS  # noqa: E402 - found by the line above
from mutations.mutations import Mutation  # noqa: E402

COPIED = ("goptx", "grammar", "latency_tables", "tests", "examples", "benchmarks", "docs", "pyproject.toml")
NOT_COPIED = shutil.ignore_patterns("__pycache__", ".*", "*.egg-info", "more", "20*-*")  # results bear a date
LIMIT = 30.0  # seconds; no named test takes more than a few
MOST = 120  # characters of a failure in the table
PROGRAM_ERRORS = "Syntax|Indentation|Import|ModuleNotFound|Name|UnboundLocal|Attribute|Type|Key|Index"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("patterns", nargs="*", metavar="PATTERN")
    parser.add_argument("-o", "--output", type=Path, help="folder for the table, for example benchmarks/results")
    options = parser.parse_args(arguments)
    chosen = [m for m in MUTATIONS if _is_chosen(m, options.patterns)]
    results = judge(chosen)
    text = table(chosen, results)
    print(text, end="")
    if options.output is not None:
        options.output.mkdir(parents=True, exist_ok=True)
        (options.output / f"{date.today().isoformat()}-cpu-mutations.md").write_text(text)
    return 0 if chosen and all(map(is_caught, results)) else 1


def _is_chosen(mutation: Mutation, patterns: Sequence[str]) -> bool:
    return not patterns or any(fnmatch(t, p) for t in (mutation.rule, mutation.file, mutation.test) for p in patterns)


def judge(mutations: Sequence[Mutation]) -> list[str]:
    """What became of each mutation: "caught: ..." or why it is not."""
    with tempfile.TemporaryDirectory(prefix="goptx-mutations-") as temporary:
        copy = Copy(Path(temporary).resolve())
        return [_with_time(copy, m) for m in mutations]


def _with_time(copy: Copy, mutation: Mutation) -> str:
    begin = time.monotonic()
    result = copy.judge(mutation)
    if sys.stderr.isatty() or not is_caught(result):
        print(f"{time.monotonic() - begin:5.1f} s  {mutation.rule}: {result}", file=sys.stderr, flush=True)
    return result


def is_caught(result: str) -> bool:
    return result.startswith("caught")


class Copy:
    """The sources in a folder of their own, where one file at a time is broken."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.unbroken: dict[str, str] = {}  # test: how it ends as long as nothing is broken
        for name in COPIED:
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, folder / name, ignore=NOT_COPIED)
            else:
                shutil.copy2(ROOT / name, folder / name)
        where = self._run("-c", "import goptx; print(goptx.__file__)").stdout.strip()
        if not Path(where).is_relative_to(folder):
            raise SystemExit(f"tests would import {where}, not the copy in {folder}")

    def judge(self, mutation: Mutation) -> str:
        path = self.folder / mutation.file
        text = path.read_text()
        if text.count(mutation.before) != 1:
            return f"NOT APPLIED: the text stands {text.count(mutation.before)} times in the file"
        if mutation.test not in self.unbroken:
            self.unbroken[mutation.test] = self._outcome(mutation.test)
        if self.unbroken[mutation.test] != "passed":
            return f"NOT JUDGED: without the mutation, the test {self.unbroken[mutation.test]}"
        before = path.stat()
        try:
            path.write_text(text.replace(mutation.before, mutation.after))
            # Compiled files are distinguished by whole seconds and sizes.
            os.utime(path, (before.st_atime, before.st_mtime + 2))
            outcome = self._outcome(mutation.test, "-B")
        finally:
            path.write_text(text)
            os.utime(path, (before.st_atime, before.st_mtime))
        if outcome == "passed" or re.match(rf"failed: ({PROGRAM_ERRORS})\w*Error\b", outcome):
            return f"SURVIVED: the test {outcome}"
        return outcome.replace("failed", "caught", 1) if outcome.startswith("failed") else f"NOT JUDGED: {outcome}"

    def _outcome(self, test: str, *python: str) -> str:
        """ "passed", "failed: ..." with the first line of the failure, or what else came of it."""
        try:
            done = self._run(*python, "-m", "pytest", "-rf", "--all-cases", "--tb=no", "--no-header", "-m", "",
                             "-p", "no:cacheprovider", f"--basetemp={self.folder / 'tmp'}", test)  # fmt: skip
        except subprocess.TimeoutExpired:
            return f"failed: no end after {LIMIT:.0f} s"
        failure = re.search(r"^FAILED .*? - (.*)", done.stdout, re.MULTILINE)
        if done.returncode == 1 and failure:
            return f"failed: {self._without_folder(failure[1])}"
        if done.returncode == 0 and re.search(r"^1 passed|\[100%\]", done.stdout, re.MULTILINE):
            return "passed"
        return f"did not run (exit code {done.returncode}): {self._without_folder(done.stdout.strip()[-200:])}"

    def _without_folder(self, text: str) -> str:
        return text.replace(f"{self.folder}/", "")

    def _run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Runs Python in the copy and on it. Raises `TimeoutExpired` after `LIMIT` seconds, the process killed."""
        environment = os.environ | {"PYTHONPATH": str(self.folder), "COLUMNS": "1000"}
        environment.pop("PYTEST_ADDOPTS", None)
        environment["GOPTX_CHECK_PASSES"] = "0"  # the test has to notice it, not a law of a pass
        command = [sys.executable, *arguments]
        return subprocess.run(
            command, cwd=self.folder, env=environment, stdout=subprocess.PIPE, text=True, timeout=LIMIT
        )


def table(mutations: Sequence[Mutation], results: Sequence[str]) -> str:
    caught = sum(map(is_caught, results))
    rows = [
        f"| {_cell(m.rule)} | {m.file.removeprefix('goptx/')} | {_cell(m.test.removeprefix('tests/'))} | {_cell(r)} |"
        for m, r in zip(mutations, results, strict=True)
    ]
    return "\n".join(
        [
            "# Breaking the merger, one rule at a time",
            "",
            f"`python tests/mutations/run.py`: {caught} of {len(mutations)} mutations are caught by the test named.",
            "",
            "| what is broken | in goptx/ | test in tests/ | result |",
            "|---|---|---|---|",
            *rows,
            "",
        ]
    )


def _cell(text: str) -> str:
    text = " ".join(text.split()).replace("|", "\\|")
    return text if len(text) <= MOST else f"{text[:MOST]} ..."


if __name__ == "__main__":
    sys.exit(main())
