"""goptx fuse: one kernel of several, by any strategy."""

from __future__ import annotations

import argparse
from functools import partial

from goptx.cli.argument_values import shapes, sources
from goptx.cli.command import NewParser, Outcome, made
from goptx.cli.flags import (
    DEPENDENT,
    DEPENDENT_TITLE,
    KNOWN,
    KNOWN_TITLE,
    add_flags,
    add_result,
    add_strategies,
    add_weaving,
    given,
)


def add(new: NewParser) -> None:
    parser = new("fuse", help="make one kernel of several, by any strategy")
    add_weaving(parser)
    add_strategies(parser)
    add_flags(parser, DEPENDENT_TITLE, DEPENDENT)
    add_flags(parser, KNOWN_TITLE, KNOWN)
    add_result(parser)
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> Outcome | None:
    from goptx.strategies.fuse import fuse

    make = partial(
        fuse,
        *sources(options),
        strategy=options.strategy,
        entries=options.entry,
        shapes=shapes(options),
        **given(options),
    )
    return made(options, make)
