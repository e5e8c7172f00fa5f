"""goptx batch: one launch for a loop of launches."""

from __future__ import annotations

import argparse
from functools import partial

from goptx.cli.argument_values import sources
from goptx.cli.command import NewParser, Outcome, made
from goptx.cli.flags import Flags, add_flags, add_inputs, add_report, add_result, given

_FLAGS: Flags = {
    "axis": {"help": "the new axis: x, y (default) or z"},
    "start": {"type": int, "metavar": "N", "help": "the parameter in the first launch (default 0)"},
    "step": {"type": int, "metavar": "N", "help": "the step from one launch to the next (default 1)"},
    "independent": {"action": "store_true", "help": "the launches are independent: do not check it"},
}


def add(new: NewParser) -> None:
    parser = new(
        "batch",
        help="make one launch for a loop of launches",
        description="Make a scalar parameter the number of the CTA along one more axis of the grid. Right only if the "
        "launches do not depend on each other.",
    )
    add_inputs(parser, inputs=1)
    add_report(parser)
    add_result(parser)
    parser.add_argument("--over", required=True, metavar="A:2", help="the parameter that changes, or A:NAME")
    add_flags(parser, "of the launches", _FLAGS)
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> Outcome | None:
    from goptx.strategies.batch import batch

    (source,), (entry,) = sources(options), options.entry or [None]
    return made(options, partial(batch, source, options.over, entry=entry, **given(options)))
