"""goptx tune: the fastest candidate for running kernels on this GPU."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from goptx.cli.argument_values import launched, sizes
from goptx.cli.command import NewParser, Outcome, print_result, write_page
from goptx.cli.flags import KNOWN, KNOWN_TITLE, add_flags, add_launched, add_report, given
from goptx.cli.output import check_outputs, write
from goptx.errors import DeviceError, InputError
from goptx.options import OBJECTIVES

SCHEDULER = 30  # seconds for a scheduler to answer


def add(new: NewParser) -> None:
    parser = new(
        "tune",
        help="measure which candidate runs the kernels fastest",
        description="Make, check and time many candidates for running kernels on this GPU. The result is never slower "
        "than separate launches.",
        epilog="Launch and data come from the specifications, or from NAME.toml beside NAME.ptx or NAME.sm_90.ptx. "
        "`goptx replay BEST.json` makes the found kernel again.",
    )
    add_launched(parser)
    parser.add_argument("-o", "--output", metavar="BEST.json", help="write the result here, for `goptx replay`")
    parser.add_argument("--table", metavar="OUT.csv", help="write all trials here, as .csv or .json")
    parser.add_argument("--html", metavar="OUT.html", help="write a page with table and charts here")
    parser.add_argument("--records", metavar="FILE", help="append each result here, and resume from the results there")
    parser.add_argument("--budget", metavar="TIME", help="such as 90s, 5m or 1h; default until nothing better is found")
    parser.add_argument(
        "--objective",
        choices=OBJECTIVES,
        default="device",
        help="compare times on the device alone, or from the host's first launch on an idle device (default device)",
    )
    parser.add_argument(
        "--strategies", metavar="S,S", help="weave, vertical, interleave, horizontal, separate (default all)"
    )
    parser.add_argument(
        "--d0",
        type=sizes,
        metavar="N,N",
        help="horizontal: threads of a CTA that tunable kernels share (default the sum of their blocks, and 1024)",
    )
    parser.add_argument(
        "--all",
        action="store_true",
        help="tune each pair of the specifications; -o and --records are folders, --table and --html are of all pairs",
    )
    parser.add_argument(
        "--scheduler",
        metavar="tcp://HOST:PORT",
        help="make and measure on the workers of this Dask scheduler; those with a GPU announce it as GPU=1",
    )
    parser.add_argument("--devices", default="0", metavar="N,N", help="GPUs that measure side by side (default 0)")
    parser.add_argument(
        "--workers", type=int, metavar="N", help="processes that make kernels (default one for each processor)"
    )
    parser.add_argument("--arch", metavar="sm_NN", help="architecture to make kernels for (default that of the GPU)")
    parser.add_argument("--seed", type=int, default=0, help="of the data (default 0)")
    parser.add_argument("--tolerance", type=float, metavar="X", help="allowed difference of floating-point results")
    parser.add_argument("--quiet", action="store_true", help="print neither progress nor the table")
    add_flags(parser, KNOWN_TITLE, KNOWN)
    add_report(parser)
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> Outcome | None:
    from goptx.tuning.tune import tune

    ending = Path(options.table or "t.csv").suffix
    if ending not in (".csv", ".json"):
        raise InputError(f"--table {options.table}: `{ending}` is not a kind of table; give .csv or .json.")
    if options.all:
        return _all(options, ending)
    outputs = [path for path in (options.output, options.table, options.html, options.records) if path]
    check_outputs(outputs, [Path(name) for name in options.inputs])  # before hours of measuring
    what = launched(options)
    numbers = _numbers(options.devices)
    with _client(options) as client:
        best = tune(
            *what.pop("sources"),
            **what,
            **_how(options),
            devices=numbers,
            records=options.records,
            progress=not options.quiet,
            client=client,
        )
    if options.output:
        best.save(options.output)
    if options.table:
        write(options.table, best.table.to_json() if ending == ".json" else best.table.to_csv())
    if options.html:
        write_page(options.html, str(best.candidate), best)
    if not options.quiet:
        print_result(options, best)
    return Outcome(best, {**best.to_dict(), "trials": list(best.table.rows())}) if options.report else None


def _all(options: argparse.Namespace, ending: str) -> Outcome | None:
    from goptx.tuning.cluster.all_pairs import tune_all

    if wrong := [name for name in options.inputs if not name.endswith(".toml")]:
        raise InputError(f"{wrong[0]}: --all takes launch specifications (.toml); `goptx spec` writes one.")
    if options.arg or options.shape or options.entry or "assume" in given(options):
        raise InputError("--arg, --shape, --entry and --assume are of one pair; leave them out with --all.")
    files = [path for path in (options.table, options.html) if path]
    check_outputs(files, [Path(name) for name in options.inputs])
    numbers = _numbers(options.devices)
    with _client(options) as client:
        table = tune_all(
            options.inputs,
            client,
            numbers,
            options.records,
            options.output,
            not options.quiet,
            **_how(options),
        )
    if options.table:
        write(options.table, table.to_json() if ending == ".json" else table.to_csv())
    if options.html:
        write_page(options.html, "All pairs", table)
    if not options.quiet:
        print_result(options, table)
    return Outcome(table, {"pairs": list(table.rows)}) if options.report else None


def _how(options: argparse.Namespace) -> dict[str, Any]:
    """The arguments of `tune` that pairs have in common."""
    return {
        **given(options),
        "strategies": None if options.strategies is None else options.strategies.split(","),
        "d0": options.d0,
        "budget": options.budget,
        "objective": options.objective,
        "workers": options.workers,
        "arch": options.arch,
        "seed": options.seed,
        "tolerance": options.tolerance,
    }


@contextmanager
def _client(options: argparse.Namespace) -> Iterator[Any]:
    """The client of the scheduler, None if none is given."""
    if not options.scheduler:
        yield None
        return
    try:
        from distributed import Client
    except ImportError:
        raise InputError("--scheduler needs Dask; install it with `pip install distributed`.") from None
    try:
        client = Client(options.scheduler, timeout=SCHEDULER)
    except (OSError, ValueError) as error:
        raise DeviceError(
            f"--scheduler {options.scheduler} does not answer ({error}); start `dask scheduler`."
        ) from None
    with client:
        yield client


def _numbers(text: str) -> list[int]:
    if not all(word.isdecimal() for word in text.split(",")):
        raise InputError(f"--devices {text}: give numbers of GPUs, for example 0,1.")
    return [int(word) for word in text.split(",")]
