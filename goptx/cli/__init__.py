"""The command line: `goptx weave A.ptx B.ptx -o AB.ptx` and its siblings, one file each in commands/.

Exit codes: 0 done; 1 the kernels cannot be woven or depend on each other, or a check failed; 2 any other error; 3 a
kernel that is estimated to be slower than separate launches, where a gain is required; 4 a fused kernel is not proved;
130 interrupted.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import sys
import warnings
from collections.abc import Mapping, Sequence

from goptx.cli.argument_parser import command_line
from goptx.cli.command import Outcome
from goptx.cli.terminal import RED, YELLOW, coloured
from goptx.errors import CannotWeave, DependentKernels, GoptxError, NoGain, NotProvedError

INTERRUPTED = 130  # as shells have it
TEXT, JSON = "--report=text", "--report=json"


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code."""
    try:
        code = _run(arguments)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # The reader of our output has stopped: print nothing more, not even the interpreter's message.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 2


def _run(arguments: Sequence[str] | None) -> int:
    given = _joined(sys.argv[1:] if arguments is None else arguments)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", newline="\n")  # the same bytes on every platform
    if not given:
        command_line().print_help()
        return 0
    options: argparse.Namespace | None = None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            options = command_line().parse_args(given)
            outcome: Outcome | None = options.run(options)
        except GoptxError as error:
            code = _exit_code(error)
            if JSON in given:
                _print_json({"error": _facts(error), "exit_code": code}, caught, options)
            else:
                _print_error(error)
                _print_warnings(caught)
            return code
        except KeyboardInterrupt:
            print("interrupted", file=sys.stderr)
            return INTERRUPTED
    failure = outcome.failure if outcome else None
    if outcome and options.report == "json":
        _print_json(outcome.facts, caught, options)
    else:
        if failure:
            _print_error(failure)
        if outcome and options.report and str(outcome.report):
            print(outcome.report, file=sys.stderr)
        _print_warnings(caught)
    return 4 if isinstance(failure, NotProvedError) else 1 if failure else 0


def _joined(words: Sequence[str]) -> list[str]:
    """The words with `--report json` as `--report=json`, and `--report` alone as text: it must not take the next
    argument as its value."""
    found: list[str] = []
    for word in words:
        if found and found[-1] == TEXT and word in ("json", "text"):
            found[-1] = f"--report={word}"
        else:
            found.append(TEXT if word == "--report" else word)
    return found


def _exit_code(error: GoptxError) -> int:
    if isinstance(error, NotProvedError):
        return 4
    if isinstance(error, NoGain):
        return 3
    return 1 if isinstance(error, CannotWeave | DependentKernels) else 2


def _facts(error: GoptxError) -> dict[str, str | None]:
    """An error as plain data; `rule` is that of a refusal."""
    return {"class": type(error).__name__, "message": str(error), "rule": getattr(error, "rule", None)}


def _print_json(
    facts: Mapping[str, object], caught: Sequence[warnings.WarningMessage], options: argparse.Namespace | None
) -> None:
    """Prints one object: on standard output, but on standard error where the kernel stands on standard output, or the
    arguments do not say where it stands."""
    beside_kernel = options is None or (hasattr(options, "makes_kernel") and options.output in (None, "-"))
    content = json.dumps({**facts, "warnings": [str(w.message) for w in caught]})
    print(content, file=sys.stderr if beside_kernel else sys.stdout)


def _print_error(error: GoptxError) -> None:
    print(f"{coloured(f'{type(error).__name__}:', RED, sys.stderr)} {error}", file=sys.stderr)


def _print_warnings(caught: Sequence[warnings.WarningMessage]) -> None:
    for warning in caught:
        print(f"{coloured('warning:', YELLOW, sys.stderr)} {warning.message}", file=sys.stderr)
