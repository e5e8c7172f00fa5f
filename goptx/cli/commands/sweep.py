"""goptx sweep: one kernel of several, timed on this GPU at several register caps."""

from __future__ import annotations

import argparse
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goptx.cli.argument_values import launched, sizes
from goptx.cli.command import NewParser, Outcome, print_result, write_page
from goptx.cli.flags import RESULT, STRATEGIES, WEAVING, add_flags, add_launched, add_report, given
from goptx.cli.output import check_outputs, write
from goptx.errors import CheckFailed, InputError
from goptx.files_read import files_read
from goptx.launch.shape import MOST_REGISTERS

if TYPE_CHECKING:
    from goptx.device.sweep import Sweep
    from goptx.options import Strategy
    from goptx.results.fused_kernel import Woven
    from goptx.tuning.measured import Measured

UNSPECIFIED = {name: flag for name, flag in STRATEGIES.items() if name != "tunable"}  # not in the specification


def add(new: NewParser) -> None:
    parser = new(
        "sweep",
        help="measure a fused kernel at several register caps",
        description="Fuse the kernels of launch specifications, compare what the result writes at each register cap "
        "with what the kernels alone write, and time it on this GPU. One kernel is measured unchanged.",
        epilog="Launch and data come from the specifications, or from NAME.toml beside NAME.ptx or NAME.sm_90.ptx.",
    )
    add_launched(parser)
    parser.add_argument(
        "--caps",
        type=sizes,
        metavar="N,N",
        help="most registers per thread, 256 for no cap (default 32,40,48,64,80,128,256)",
    )
    parser.add_argument("-o", "--output", metavar="OUT", help="write the fastest here: machine code to .cubin, or .ptx")
    parser.add_argument("--html", metavar="OUT.html", help="write a page with table and chart here")
    parser.add_argument("--repeats", type=int, default=20, metavar="N", help="timed launches at each cap (default 20)")
    parser.add_argument("--seed", type=int, default=0, help="of the data (default 0)")
    parser.add_argument("--tolerance", type=float, metavar="X", help="allowed difference of floating-point results")
    parser.add_argument("--quiet", action="store_true", help="print no table")
    parser.add_argument(
        "--strategy", help="weave (default), vertical, horizontal, interleave, separate (default of one kernel) or auto"
    )
    add_report(parser)
    add_flags(parser, "how", WEAVING)
    add_flags(parser, "of single strategies", UNSPECIFIED)
    add_flags(parser, "of the result", RESULT)
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> Outcome | None:
    from goptx.device.sweep import CAPS
    from goptx.tuning.measured import measured
    from goptx.tuning.register_sweep import checked_caps, common_shape

    outputs = [path for path in (options.output, options.html) if path]
    _check_output(options.output, outputs)
    caps, own = checked_caps(options.caps or CAPS, repeats=options.repeats), given(options)
    arch = own.pop("arch", None)
    with files_read() as read:
        subject = measured(**launched(options), arch=arch, seed=options.seed, tolerance=options.tolerance)
        fused = _fused(subject, options.strategy, own)
    check_outputs(outputs, read)
    common_shape(fused, subject)
    fused, found = _swept(options, subject, fused, caps, own, arch is None)
    if not options.quiet:
        print_result(options, found)
    failure = _failure(found)
    if options.html:
        write_page(options.html, f"Register caps of {fused.name}", found)
    if failure is None:
        _write_best(options.output, fused, found)
    facts = {**fused.report.to_dict(), "strategy": fused.strategy, "sweep": found.to_dict()}
    return Outcome(fused.report, facts, failure) if options.report or failure else None


def _check_output(output: str | None, outputs: list[str]) -> None:
    """Raises `InputError`."""
    ending = Path(output or "a.cubin").suffix
    if ending not in (".cubin", ".ptx"):
        raise InputError(f"-o {output}: `{ending}` is not a kind of output; give .cubin or .ptx.")
    check_outputs(outputs)  # before anything is measured


def _fused(subject: Measured, strategy: Strategy | None, own: dict[str, Any]) -> Woven:
    from goptx.strategies.fuse import check_strategy, fuse, options_of

    chosen = strategy or ("weave" if len(subject.kernels) > 1 else "separate")
    what = {**own, "shapes": subject.shapes, "arch": subject.arch}
    check_strategy(chosen, what)
    if "tunable" in options_of(chosen):
        what["tunable"] = subject.tunable
    return fuse(*subject.kernels, strategy=chosen, **what)


def _swept(
    options: argparse.Namespace,
    subject: Measured,
    fused: Woven,
    caps: tuple[int, ...],
    own: dict[str, Any],
    raised: bool,
) -> tuple[Woven, Sweep]:
    """raised: make the kernel for this GPU's architecture, if that of the kernels is lower."""
    from goptx.measuring.bench.bench import Bench
    from goptx.tuning.register_sweep import swept

    with closing(Bench()) as bench:
        there = subject.raised(bench.described().arch) if raised else subject
        if there is not subject:
            fused = _fused(there, options.strategy, own)
        return fused, swept(fused, there, caps, bench, repeats=options.repeats)


def _failure(found: Sweep) -> CheckFailed | None:
    """The failure, if the kernel wrote something else at every cap that could be run."""
    from goptx.tuning.register_sweep import WRONG

    problems = [row.problem for row in found.rows if row.problem]
    if found.to_dict()["best"] is None and any(problem.startswith(WRONG) for problem in problems):
        return CheckFailed(next(problem for problem in problems if problem.startswith(WRONG)))
    return None


def _write_best(output: str | None, fused: Woven, found: Sweep) -> None:
    """Writes the fastest. Raises `InputError` if no cap could be run."""
    cap = found.best.cap
    if output and output.endswith(".ptx"):
        unchanged = cap > MOST_REGISTERS and fused.max_registers is None
        write(output, fused.ptx if unchanged else fused.capped(min(cap, MOST_REGISTERS)).ptx)
    elif output:
        write(output, fused.cubin(cap))
