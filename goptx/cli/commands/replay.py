"""goptx replay: makes the kernel again that tuning has found."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path

from goptx.cli.command import NewParser, Outcome, made
from goptx.cli.flags import add_output, add_report


def add(new: NewParser) -> None:
    parser = new(
        "replay",
        help="make the kernel again that tuning has found",
        description="Make the kernel that `goptx tune -o BEST.json` has found; needs no GPU.",
    )
    parser.add_argument("best", metavar="BEST.json", help="the file that `goptx tune` wrote")
    parser.add_argument(
        "inputs", nargs="*", metavar="A.ptx", help="the kernels, if they are not at the paths that the file names"
    )
    add_output(parser)
    add_report(parser)
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> Outcome | None:
    from goptx.tuning.best import replay

    return made(options, partial(replay, options.best, *map(Path, options.inputs)))
