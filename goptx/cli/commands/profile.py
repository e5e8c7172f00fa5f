"""goptx profile: kernels alone and fused under Nsight Compute."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from goptx.cli.command import NewParser, Outcome, print_result
from goptx.cli.flags import add_report
from goptx.cli.output import check_outputs, write
from goptx.errors import InputError


def add(new: NewParser) -> None:
    parser = new(
        "profile",
        help="profile kernels alone and fused, with Nsight Compute",
        description="Fuse the kernels of launch specifications, run each kernel alone and the fused one under Nsight "
        "Compute, and print a table and a chart of what it counts: utilisation, hit rates, stalls, and I12 beside the "
        "issue slots that the fused kernel uses. Needs a GPU, `ncu`, and the permission to read counters.",
    )
    parser.add_argument("spec", nargs="+", metavar="SPEC.toml", help="launch specifications, with one kernel or more")
    parser.add_argument("--strategy", help="auto (default), weave, vertical, horizontal, interleave or separate")
    parser.add_argument("--best", metavar="BEST.json", help="the result of `goptx tune`, instead of a strategy")
    parser.add_argument("--seed", type=int, default=0, help="of the data (default 0)")
    parser.add_argument("--limit", type=float, metavar="SECONDS", help="for each run of Nsight Compute (default 900)")
    parser.add_argument("-o", "--output", metavar="CHART.svg", help="write the chart here too, light and dark")
    parser.add_argument("--csv", metavar="FILE", help="write the table here too")
    parser.add_argument("--quiet", action="store_true", help="show no progress")
    add_report(parser)
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> Outcome:
    from goptx.tuning.best import replay
    from goptx.tuning.profile import LIMIT, profile
    from goptx.view.bars import text
    from goptx.view.profile_bars import profile_bars

    if options.best and options.strategy:
        raise InputError("--best names a kernel that is made already; leave out --strategy.")
    inputs = [*options.spec, *([options.best] if options.best else [])]
    check_outputs([path for path in (options.output, options.csv) if path], [Path(name) for name in inputs])
    if options.output:
        from goptx.view.charts.chart_svg import check_charts

        check_charts()  # before anything is measured
    done = profile(
        spec=options.spec,
        fused=replay(options.best) if options.best else None,
        strategy=options.strategy or "auto",
        seed=options.seed,
        limit=LIMIT if options.limit is None else options.limit,
        progress=None if options.quiet else _print_progress,
    )
    if options.output:
        write(options.output, profile_bars(done)._repr_svg_())
    if options.csv:
        write(options.csv, done.to_csv())
    print_result(options, f"{done}\n\n{text(profile_bars(done))}")
    return Outcome(done.report, {**done.report.to_dict(), **done.to_dict()})


def _print_progress(what: str) -> None:
    print(what, file=sys.stderr, flush=True)
