"""What depends on the terminal: colours of messages, and completion in its shell."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from typing import IO, Any

from goptx.errors import InputError

RED, YELLOW = "31", "33"
SHELLS = ("bash", "zsh", "tcsh")
FILES = (".ptx", ".toml", ".json", ".html", ".svg", ".csv", ".h", ".d", "FILE", "OUT", "TABLE")  # ends of a metavar


def coloured(text: str, colour: str, stream: IO[str]) -> str:
    """The text in bold and in that colour where the stream is a terminal that has colours; NO_COLOR turns them off."""
    plain = "NO_COLOR" in os.environ or os.environ.get("TERM") == "dumb" or not stream.isatty()
    return text if plain else f"\033[1;{colour}m{text}\033[0m"


class PrintCompletion(argparse.Action):
    """`--print-completion SHELL`: prints the script by which the shell completes commands, options and files."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, shell: Any, option: str | None = None
    ) -> None:
        try:
            import shtab
        except ImportError:
            raise InputError(f"{option} takes the package shtab: `pip install goptx[completion]`.") from None
        for action in _actions(parser):
            if str(action.metavar or "").endswith(FILES):
                action.complete = shtab.FILE  # type: ignore[attr-defined]
        print(shtab.complete(parser, shell))
        parser.exit()


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """Those of the parser and of its commands."""
    for action in parser._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from _actions(command)
