"""goptx coarsen: one CTA does the work of several."""

from __future__ import annotations

import argparse
from functools import partial

from goptx.cli.argument_values import shapes, sources
from goptx.cli.command import NewParser, Outcome, made
from goptx.cli.flags import KNOWN, KNOWN_TITLE, WEAVING, Flags, add_flags, add_result, add_weaving, given

_FLAGS: Flags = {
    "factor": {"type": int, "metavar": "N", "help": "CTAs that are merged into one (default 2)"},
    "axis": {"help": "the axis along which they are neighbours: x (default), y or z"},
}


def add(new: NewParser) -> None:
    parser = new(
        "coarsen",
        help="make one CTA do the work of several",
        description="Weave a kernel with copies of itself, so that one CTA does the work of N neighbours.",
    )
    add_weaving(parser, {name: flag for name, flag in WEAVING.items() if name not in ("placement", "merge")}, inputs=1)
    add_flags(parser, KNOWN_TITLE, KNOWN)
    add_result(parser)
    add_flags(parser, "of the copies", _FLAGS)
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> Outcome | None:
    from goptx.strategies.coarsen import coarsen

    (source,), (entry,) = sources(options), options.entry or [None]
    shape = next(iter(shapes(options) or ()), None)
    return made(options, partial(coarsen, source, entry=entry, shape=shape, **given(options)))
