"""goptx suggest: which of many kernels to fuse."""

from __future__ import annotations

import argparse
from pathlib import Path

from goptx.cli.command import NewParser
from goptx.cli.output import check_outputs, write


def add(new: NewParser) -> None:
    parser = new(
        "suggest",
        help="rank pairs and small groups of kernels by the estimated gain of fusing them",
        description="Estimate which of many kernels to fuse, and why. Nothing is woven or measured; it needs no GPU.",
    )
    parser.add_argument("inputs", nargs="+", metavar="A.ptx", help="PTX files, and launch specifications (.toml)")
    parser.add_argument("--arch", metavar="sm_NN", help="the GPU whose times are estimated (default: highest target)")
    parser.add_argument("--latency", metavar="TABLE", help="latency table: a name such as sm_90, or a .toml file")
    parser.add_argument(
        "--largest", type=int, default=2, metavar="N", help="kernels of the largest groups, 2 to 4 (default 2)"
    )
    parser.add_argument("--most", type=int, default=20, metavar="N", help="how many groups to list (default 20)")
    parser.add_argument("--json", action="store_true", help="the same as JSON")
    parser.add_argument("-o", "--output", metavar="FILE", help="write here instead of to standard output")
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> None:
    from goptx.strategies.estimates.suggest import suggest

    paths = [Path(name) for name in options.inputs]
    check_outputs([options.output] if options.output else [], paths)
    found = suggest(
        paths, arch=options.arch, latency=options.latency, largest=options.largest, most=options.most, every_entry=True
    )
    write(options.output, found.to_json() if options.json else f"{found}\n")
