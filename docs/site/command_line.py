"""The reference of the command line, from the parsers themselves."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from goptx.cli.argument_parser import command_line

PATH = "docs/reference/command_line.md"
HEAD = """# Command line

Parameters are written `A:2` or `A:name`; `-` is standard input or output. On failure the first line of standard error
is `CLASS: message`. Exit status 1 stands for `CannotWeave`, `DependentKernels` and a check that failed, 2 for all else
that is wrong, 3 for a kernel that is estimated to be slower where `--require-gain` is given, 4 for one that is not
proved. `--report=json` prints one JSON object on standard output, or on standard error where the kernel stands on
standard output; an error is in it, as `error` with `class`, `message` and `rule`.
"""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    file = File.generated(config, PATH, content="\n\n".join([HEAD, *_commands(command_line(), 2)]))
    file.dest_uri = file.dest_uri.removeprefix("docs/")
    files.append(file)
    return files


def _commands(parser: argparse.ArgumentParser, level: int) -> Iterator[str]:
    """Of each command what it is for, its usage and its options; of one that has commands itself, those behind it."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            purposes = {choice.dest: choice.help for choice in action._choices_actions}
            for name, command in action.choices.items():
                yield f"{'#' * level} `{command.prog}`"
                yield f"{_sentence(purposes.get(name) or '')}"
                yield f"~~~ text\n{command.format_usage().removeprefix('usage: ').rstrip()}\n~~~"
                yield from _groups(command)
                yield from _commands(command, level + 1)


def _groups(parser: argparse.ArgumentParser) -> Iterator[str]:
    for group in parser._action_groups:
        own = [
            a
            for a in group._group_actions
            if a.help != argparse.SUPPRESS and not isinstance(a, (argparse._HelpAction, argparse._SubParsersAction))
        ]
        if own:
            title = "" if group.title in ("positional arguments", "options") else _sentence(group.title or "", ":")
            yield "\n".join([f"{title}\n", "| | |", "|---|---|", *map(_row, own)])


def _row(action: argparse.Action) -> str:
    value = action.metavar or (f"{{{','.join(map(str, action.choices))}}}" if action.choices else action.dest.upper())
    value = " ".join(value) if isinstance(value, tuple) else value
    takes = f" {value}" if action.nargs != 0 else ""
    names = ", ".join(f"`{name}{takes}`" for name in action.option_strings) or f"`{value}`"
    return f"| {names} | {action.help or ''} |".replace("||", "| |")


def _sentence(text: str, end: str = ".") -> str:
    return f"{text[:1].upper()}{text[1:]}{end}" if text else ""
