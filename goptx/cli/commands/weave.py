"""goptx weave: one kernel of several."""

from __future__ import annotations

import argparse
from functools import partial

from goptx.cli.argument_values import shapes, sources
from goptx.cli.command import NewParser, Outcome, made
from goptx.cli.flags import COMMON, KNOWN, KNOWN_TITLE, SAME, add_flags, add_result, add_weaving, given


def add(new: NewParser) -> None:
    parser = new("weave", help="make one kernel of several")
    add_weaving(parser)
    add_flags(parser, COMMON, SAME)
    add_flags(parser, KNOWN_TITLE, KNOWN)
    add_result(parser)
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> Outcome | None:
    from goptx.weaving.weave import weave

    inputs, own = sources(options), given(options)
    return made(options, partial(weave, *inputs, entries=options.entry, shapes=shapes(options), **own))
