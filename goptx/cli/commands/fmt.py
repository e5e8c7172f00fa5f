"""goptx fmt: PTX in its canonical form."""

from __future__ import annotations

import argparse

from goptx.cli.command import NewParser
from goptx.cli.read import module
from goptx.cli.write import write


def add(new: NewParser) -> None:
    parser = new("fmt", help="print PTX in its canonical form")
    parser.add_argument("input", metavar="FILE", help="a PTX file, `-` for standard input")
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> None:
    write(None, str(module(options.input)))
