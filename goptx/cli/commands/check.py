"""goptx check: fused kernels compared with the kernels alone."""

from __future__ import annotations

import argparse

from goptx.cli.argument_values import arguments, axes, shapes, sources
from goptx.cli.command import NewParser, Outcome, print_result
from goptx.cli.flags import DEPENDENT, DEPENDENT_TITLE, add_flags, add_strategies, add_weaving, given


def add(new: NewParser) -> None:
    parser = new(
        "check",
        help="weave kernels and compare their results with those of the kernels alone",
        description="Weave, emulate the kernels alone and woven on equal data, and compare bit for bit; needs no GPU.",
        epilog="By default, launch and data come from NAME.toml beside NAME.ptx or NAME.sm_90.ptx. Without that file, "
        "data is made up if every pointer is indexed by the thread's number.",
    )
    add_weaving(parser)
    add_strategies(parser)
    add_flags(parser, DEPENDENT_TITLE, DEPENDENT)
    parser.add_argument("--grid", type=axes, metavar="N[xN[xN]]", help="CTAs (default 4)")
    parser.add_argument("--block", type=axes, metavar="N[xN[xN]]", help="threads of a CTA (default 256)")
    parser.add_argument("--shared", type=int, metavar="BYTES", help="dynamic shared memory of a CTA")
    parser.add_argument(
        "--arg",
        action="append",
        default=[],
        metavar="A:0=f32[1024]",
        help="parameter 0 of kernel A: an array, random or as f32[1024]:zeros, i32[1024]:arange, i32[1024]:0..10; "
        "or a scalar such as i32:1024; for A:0 also A:NAME",
    )
    parser.add_argument(
        "--seed", type=int, default=0, help="of the data and of the order in which warps run (default 0)"
    )
    parser.add_argument("--races", action="store_true", help="report data races too")
    parser.add_argument(
        "--max-steps", type=int, metavar="N", help="most instructions of a warp of one kernel (default 1000000)"
    )
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> Outcome:
    from goptx.checking.check import check

    args = arguments(options.arg)
    own = ("strategy", "grid", "block", "shared", "seed", "races", "max_steps")
    launch = {name: getattr(options, name) for name in own}
    done = check(
        *sources(options), args=args, entries=options.entry, shapes=shapes(options), **launch, **given(options)
    )
    if done.passed:
        print_result(options, done)
    return Outcome(done.report, done.to_dict(), done.failure)
