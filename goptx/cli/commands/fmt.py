"""goptx fmt: PTX in its canonical form."""

from __future__ import annotations

import argparse

from goptx.cli.argument_values import module
from goptx.cli.command import NewParser
from goptx.cli.output import write


def add(new: NewParser) -> None:
    parser = new("fmt", help="print PTX in its canonical form")
    parser.add_argument("input", metavar="FILE", help="a PTX file, `-` for standard input")
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> None:
    write(None, str(module(options.input)))
