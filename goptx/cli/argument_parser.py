"""The parser of the command line, to which every command adds its own parser."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, NoReturn

from goptx.cli.commands import COMMANDS
from goptx.cli.terminal import SHELLS, PrintCompletion
from goptx.errors import InputError

EXIT_CODES = (
    "Exit codes: 0 done; 1 the kernels cannot be woven or depend on each other, or a check failed; 2 another error; "
    "3 no gain, with --require-gain; 4 not proved; 130 interrupted. `goptx COMMAND --help` has the options."
)


def command_line() -> argparse.ArgumentParser:
    """The parser. Its options have in `run` the function that runs the command."""
    parser = _Parser(prog="goptx", description="Weave GPU kernels at PTX level.", epilog=EXIT_CODES)
    parser.add_argument("--version", action=_Version, help="print the version and exit")
    parser.add_argument("--cmakedir", action=_CmakeFolder, help="print the folder with the module for CMake and exit")
    parser.add_argument(
        "--print-completion",
        action=PrintCompletion,
        choices=SHELLS,
        metavar="SHELL",
        help=f"print the script for completion in {', '.join(SHELLS[:-1])} or {SHELLS[-1]}, and exit",
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for command in COMMANDS:
        command(commands.add_parser)
    return parser


class _Parser(argparse.ArgumentParser):
    """Raises errors in the arguments as `InputError`, like any other error. Options may stand between files."""

    _anywhere = False

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As the base does; lists of files may be divided by options, for which the base parses twice."""
        if self._anywhere or not any(a.nargs in ("+", "*") for a in self._get_positional_actions()):
            return super().parse_known_args(args, namespace)
        self._anywhere = True
        try:
            return self.parse_known_intermixed_args(args, namespace)
        finally:
            self._anywhere = False

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As the base does, but what a command does not know leads to the help of that command."""
        found, unknown = self.parse_known_args(args, namespace)
        if unknown:
            words = [self.prog, *(w for w in (found.command, getattr(found, "action", None)) if w)]
            raise InputError(f"unrecognized arguments: {' '.join(unknown)}; see `{' '.join(words)} --help`.")
        return found

    def error(self, message: str) -> NoReturn:
        raise InputError(f"{message}; see `{self.prog} --help`.")


class _Version(argparse.Action):
    def __init__(self, option_strings: list[str], dest: str, help: str | None = None) -> None:
        super().__init__(option_strings, dest, nargs=0, help=help)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from goptx.version import own_version

        print(f"goptx {own_version()}")
        parser.exit()


class _CmakeFolder(argparse.Action):
    def __init__(self, option_strings: list[str], dest: str, help: str | None = None) -> None:
        super().__init__(option_strings, dest, nargs=0, help=help)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        print(Path(__file__).parents[1] / "cmake")
        parser.exit()
