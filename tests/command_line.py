"""Runs the command line within the process of the tests: starting Python takes longer than most commands."""

import io
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from subprocess import CompletedProcess
from unittest.mock import patch

from goptx.cli import main


def run(*arguments: str, cwd: Path, stdin: bytes = b"") -> CompletedProcess[str]:
    """Runs `goptx ARGUMENTS` in that folder."""
    out, error = io.StringIO(), io.StringIO()
    given = patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
    with chdir(cwd), given, redirect_stdout(out), redirect_stderr(error):
        try:
            code = main(arguments)
        except SystemExit as end:  # of --help and --version
            code = int(end.code or 0)
    return CompletedProcess(arguments, code, out.getvalue(), error.getvalue())
