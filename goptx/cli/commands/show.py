"""goptx show: lists the entries of a PTX file; goptx fmt: the file in its canonical form."""

from __future__ import annotations

import argparse

from goptx.cli.argument_values import module
from goptx.cli.command import NewParser, Outcome
from goptx.cli.flags import add_report
from goptx.cli.output import write
from goptx.errors import InputError


def add(new: NewParser) -> None:
    parser = new("show", help="list entries: parameters, memory, registers, barriers, control flow")
    parser.add_argument("input", metavar="FILE", help="a PTX file, `-` for standard input")
    parser.add_argument("--entry", metavar="NAME", help="this entry only")
    parser.add_argument(
        "--cfg", choices=("dot", "svg"), help="print the control-flow graph instead: for Graphviz, or as a picture"
    )
    add_report(parser)
    parser.set_defaults(run=_run)


def add_fmt(new: NewParser) -> None:
    parser = new("fmt", help="print PTX in its canonical form")
    parser.add_argument("input", metavar="FILE", help="a PTX file, `-` for standard input")
    parser.set_defaults(run=lambda options: write(None, str(module(options.input))))


def _run(options: argparse.Namespace) -> Outcome | None:
    from goptx.view.graph import dot
    from goptx.view.listing import facts, listing
    from goptx.view.svg.flow_svg import flow_svg

    if options.report == "json":
        if options.cfg:
            raise InputError(f"--cfg {options.cfg} is a picture of its own; leave out --report=json, or --cfg.")
        return Outcome("", facts(module(options.input), options.entry))
    render = {None: listing, "dot": dot, "svg": flow_svg}[options.cfg]
    write(None, render(module(options.input), options.entry))
    return None
