"""The command line: `goptx weave A.ptx B.ptx -o AB.ptx` and its siblings.

Exit codes: 0 done; 1 the kernels cannot be woven, or a check failed; 2 anything else that is wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import tempfile
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from goptx.errors import CannotWeave, GoptxError, InputError

if TYPE_CHECKING:
    from goptx.weaving.report import Report


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            # Alone, `--report` must not take the next argument for its value.
            options = _parser().parse_args(["--report=text" if word == "--report" else word for word in given])
            report = options.run(options)
        except GoptxError as error:
            print(f"{type(error).__name__}: {error}", file=sys.stderr)
            _print_warnings(caught)
            return 1 if isinstance(error, CannotWeave) else 2
        except BrokenPipeError:
            # Whoever read our output has stopped; nothing is left to be said, not even by the interpreter.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 2
    if report is not None and options.report == "json":
        print(json.dumps(report.to_dict() | {"warnings": [str(w.message) for w in caught]}), file=sys.stderr)
    else:
        if report is not None:
            print(report, file=sys.stderr)
        _print_warnings(caught)
    return 0


def _print_warnings(caught: Sequence[warnings.WarningMessage]) -> None:
    for warning in caught:
        print(f"warning: {warning.message}", file=sys.stderr)


class _Parser(argparse.ArgumentParser):
    """Says what is wrong with the arguments as any other error is said."""

    def error(self, message: str) -> NoReturn:
        raise InputError(f"{message}; see `{self.prog} --help`.")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="goptx", description="Weave GPU kernels at PTX level.")
    parser.add_argument("--version", action=_Version, help="print the version and exit")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    weave = commands.add_parser("weave", help="make one kernel of two")
    weave.add_argument("inputs", nargs="+", metavar="A.ptx", help="PTX files, `-` for standard input")
    weave.add_argument("-o", "--output", metavar="OUT.ptx", help="write PTX here instead of to standard output")
    weave.add_argument("--entry", action="append", metavar="NAME", help="entry to take, once per input, in order")
    weave.add_argument("--arch", metavar="sm_NN", help="architecture of the result; the highest of the inputs")
    weave.add_argument("--name", help="name of the woven entry")
    weave.add_argument("--policy", default="latency", help="latency (default), paper or concat")
    weave.add_argument("--slicing", default="adaptive", help="adaptive (default), none, or a number of cycles")
    weave.add_argument("--latency", metavar="TABLE", help="latency table: a name such as sm_90, or a .toml file")
    weave.add_argument("--report", choices=("text", "json"), help="say what was done; `--report` alone is text")
    weave.set_defaults(run=_weave)

    fmt = commands.add_parser("fmt", help="print PTX in its canonical form")
    fmt.add_argument("input", metavar="FILE", help="a PTX file, `-` for standard input")
    fmt.set_defaults(run=_fmt, report=None)
    return parser


class _Version(argparse.Action):
    def __init__(self, option_strings: list[str], dest: str, help: str | None = None) -> None:
        super().__init__(option_strings, dest, nargs=0, help=help)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        print(f"goptx {version('goptx')}")
        parser.exit()


def _weave(options: argparse.Namespace) -> Report | None:
    from goptx.weaving.pipeline import weave

    entries = options.entry
    if entries is not None and len(entries) != len(options.inputs):
        raise InputError(
            f"--entry is given {len(entries)} times for {len(options.inputs)} inputs; give it once per input, in order."
        )
    if options.inputs.count("-") > 1:
        raise InputError("standard input (`-`) can be given once only.")
    woven = weave(
        *[_source(i) for i in options.inputs],
        entries=entries,
        arch=options.arch,
        name=options.name,
        policy=options.policy,
        slicing=_slicing(options.slicing),
        latency=options.latency,
    )
    _write(options.output, woven.ptx)
    return woven.report if options.report else None


def _fmt(options: argparse.Namespace) -> None:
    from goptx.ptx.parse import read

    _write(None, str(read(_source(options.input))))


def _source(name: str) -> Path | bytes:
    return sys.stdin.buffer.read() if name == "-" else Path(name)


def _slicing(text: str) -> str | int | None:
    if text == "none":
        return None
    return int(text) if re.fullmatch("-?[0-9]+", text) else text


def _write(path: str | None, text: str) -> None:
    """To standard output, or whole into a file or not at all."""
    if path is None or path == "-":
        sys.stdout.write(text)
        sys.stdout.flush()
        return
    target = Path(path)
    try:
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror}); give a folder that exists.") from None
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        mask = os.umask(0)
        os.umask(mask)
        Path(temporary).chmod(0o666 & ~mask)  # mkstemp makes files private
        Path(temporary).replace(target)
    except OSError as error:
        Path(temporary).unlink(missing_ok=True)
        raise InputError(f"{path}: cannot be written ({error.strerror}); give the path of a file.") from None


if __name__ == "__main__":
    sys.exit(main())
