"""goptx latency: tables of the latencies of instructions."""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

from goptx.cli.command import NewParser, Outcome, print_result
from goptx.cli.flags import add_report
from goptx.cli.output import check_outputs, write


def add(new: NewParser) -> None:
    parser = new("latency", help="measure how long instructions take on this GPU; compare such tables")
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    measure = actions.add_parser(
        "measure",
        help="write the latency table of this GPU",
        description="Time every kind of instruction on the current GPU and write a latency table, for --latency or "
        "latency_tables/. Takes about a minute. An instruction that cannot be measured has its number from the table "
        "that goptx brings, and is named in a warning.",
    )
    measure.add_argument(
        "-o", "--output", metavar="OUT.toml", help="write the table here instead of to standard output"
    )
    measure.add_argument(
        "--raw", metavar="FILE", help="write every sample here too, a row for each reading of the clock: .csv or .json"
    )
    measure.add_argument("--quiet", action="store_true", help="show no progress")
    measure.set_defaults(run=_measure)
    compare = actions.add_parser(
        "compare",
        help="two latency tables side by side",
        description="Print two latency tables side by side, row by row, with the source of each number and the ratio "
        "of B to A.",
    )
    compare.add_argument("left", metavar="A", help="a table of goptx, such as sm_90, or a .toml file")
    compare.add_argument("right", metavar="B", help="the same")
    add_report(compare)
    compare.set_defaults(run=_compare)


def _compare(options: argparse.Namespace) -> Outcome:
    from goptx.latency.compare import compare
    from goptx.latency.table import load_table

    compared = compare(load_table(options.left), load_table(options.right))
    print_result(options, compared)
    return Outcome("", compared.to_dict())


def _measure(options: argparse.Namespace) -> None:
    from goptx.device.latency.measure import NotMeasured, measure
    from goptx.device.latency.raw_samples import check_ending, samples_text
    from goptx.device.latency.table_text import table_text
    from goptx.latency.table import load_table
    from goptx.progress import progress_of

    if options.raw:
        check_ending(options.raw)
    check_outputs([path for path in (options.output, options.raw) if path])  # before minutes of measuring
    with progress_of("measured", options.quiet) as progress:
        measurement = measure(progress=progress)
    if options.raw:
        write(options.raw, samples_text(measurement, Path(options.raw).suffix))
    write(options.output, table_text(measurement, load_table(None, measurement.device.arch)))
    for key, reason in measurement.problems.items():
        warnings.warn(f"{key}: {reason}", NotMeasured, stacklevel=2)
