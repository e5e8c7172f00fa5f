"""goptx doctor: what goptx finds here, what is missing, and what that is needed for."""

from __future__ import annotations

import argparse

from goptx.cli.command import NewParser, Outcome, print_result
from goptx.cli.flags import add_report
from goptx.errors import CheckFailed


def add(new: NewParser) -> None:
    parser = new(
        "doctor",
        help="list what goptx finds here, what is missing, and what that is needed for",
        description="List what goptx may use: GPU, driver, assemblers, packages, cache. The exit status is 0 even if "
        "parts are missing, and 1 if goptx itself is broken.",
    )
    add_report(parser)
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> Outcome:
    from goptx.cli.installation import examine

    health = examine()
    print_result(options, health)
    failure = CheckFailed(f"goptx is broken here, install it again: {health.trouble}") if health.trouble else None
    return Outcome("", health.to_dict(), failure)
