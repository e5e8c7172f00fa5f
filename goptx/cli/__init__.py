"""The command line: `goptx weave A.ptx B.ptx -o AB.ptx` and its siblings, one file each in commands/.

Exit codes: 0 done; 1 the kernels cannot be woven or depend on each other, or a check failed; 2 any other error; 3 a
kernel that is estimated to be slower than separate launches, where a gain is required; 4 a
fused kernel is not proved.
"""

from __future__ import annotations

import io
import json
import os
import sys
import warnings
from collections.abc import Sequence

from goptx.cli.argument_parser import command_line
from goptx.cli.command import Outcome
from goptx.errors import CannotWeave, DependentKernels, GoptxError, NoGain, NotProvedError


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", newline="\n")  # the same bytes on every platform
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            # `--report` without a value must not take the next argument as its value.
            options = command_line().parse_args(["--report=text" if word == "--report" else word for word in given])
            outcome: Outcome | None = options.run(options)
        except GoptxError as error:
            _print_error(error)
            _print_warnings(caught)
            if isinstance(error, NotProvedError):
                return 4
            if isinstance(error, NoGain):
                return 3
            return 1 if isinstance(error, CannotWeave | DependentKernels) else 2
        except BrokenPipeError:
            # The reader of our output has stopped: print nothing more, not even the interpreter's message.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 2
    failure = outcome.failure if outcome else None
    if outcome and options.report == "json":
        print(json.dumps({**outcome.facts, "warnings": [str(w.message) for w in caught]}), file=sys.stderr)
    else:
        if failure:
            _print_error(failure)
        if outcome and options.report:
            print(outcome.report, file=sys.stderr)
        _print_warnings(caught)
    return 4 if isinstance(failure, NotProvedError) else 1 if failure else 0


def _print_error(error: GoptxError) -> None:
    print(f"{type(error).__name__}: {error}", file=sys.stderr)


def _print_warnings(caught: Sequence[warnings.WarningMessage]) -> None:
    for warning in caught:
        print(f"warning: {warning.message}", file=sys.stderr)
