"""The flags that several commands have in common, and what is given of them.

A flag of a table is an argument of the function that the command calls, under the same name. What is not given is left
to that function.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from goptx.cli import argument_values
from goptx.options import UNPROVED

Flags = Mapping[str, Mapping[str, Any]]  # by name, what argparse is told of each
WRITTEN = "write here instead of to standard output: PTX, or machine code to .cubin"

WEAVING: Flags = {
    "merge": {"help": "safe (default), or paper: as published, which does not keep convergence (it may hang)"},
    "policy": {"help": "latency (default), paper (default of --merge paper) or concat"},
    "slicing": {"type": argument_values.slicing, "help": "adaptive (default), none, or a number of cycles"},
    "divergence": {
        "metavar": "CHOICE",
        "help": "park, predicate or duplicate wherever lanes part; by cost if left out",
    },
    "placement": {"help": "CTAs of a smaller grid: spread (default) or front"},
    "max_blocks": {"type": int, "metavar": "N", "help": "most blocks of the result; 4 for each of the inputs"},
    "max_growth": {"type": float, "metavar": "X", "help": "most instructions, in times those of the inputs; 3"},
    "presume": {
        "action": argparse.BooleanOptionalAction,
        "help": "loaded data that decides about barriers counts as the same for all threads of a CTA (default)",
    },
    "latency": {"metavar": "TABLE", "help": "latency table: a name such as sm_90, or a .toml file"},
}
STRATEGIES: Flags = {
    "partition": {
        "type": argument_values.numbers,
        "metavar": "D1,D2",
        "help": "horizontal: threads of each kernel, multiples of 32",
    },
    "tunable": {
        "action": "append",
        "metavar": "A",
        "help": "horizontal: kernel A is right with any multiple of 32 threads; by default what its specification says",
    },
    "ratio": {
        "type": argument_values.numbers,
        "metavar": "P:Q",
        "help": "interleave: CTAs of each kernel that follow each other in turn",
    },
    "streams": {"action": "store_true", "help": "separate: launch the kernels side by side"},
}
HANDING_ON = "of kernels that depend on each other (vertical, auto)"
DEPENDENT: Flags = {
    "depends": {"action": "store_true", "help": "kernels may depend on those before them"},
    "assume_local": {"action": "store_true", "help": "what they hand on stays within a CTA"},
    "assume_private": {
        "action": "store_true",
        "help": "what a thread loads from a private buffer is what it has stored last itself to that element",
    },
    "unproved": {
        "choices": UNPROVED,
        "help": "what becomes of a private or local buffer that cannot be proved to be one: the kernels are refused "
        "(vertical, by default), or it stays in memory",
    },
    "no_barriers": {"action": "store_true", "help": "what they hand on within a CTA needs no barrier"},
    "same": {
        "action": "append",
        "metavar": "A:2=B:0",
        "help": "parameters that are one: a buffer, or a number (weave and interleave too); may be given again",
    },
    "private": {
        "action": "append",
        "metavar": "A:2=B:0",
        "help": "a buffer that each thread only hands on to itself: keep it in registers",
    },
    "local": {
        "action": "append",
        "metavar": "A:2=B:0",
        "help": "a buffer that is only handed on within a CTA: keep it in shared memory",
    },
    "noalias": {
        "action": "append",
        "metavar": "A:1",
        "help": "a buffer that has no memory in common with others but those that it is named with",
    },
}
COMMON = "of kernels with inputs in common"
SAME: Flags = {
    "same": {**DEPENDENT["same"], "help": "parameters that are one: a buffer that no kernel writes, or a number"}
}
RESULT: Flags = {
    "arch": {"metavar": "sm_NN", "help": "architecture of the result; the highest of the inputs"},
    "name": {"help": "name of the woven entry"},
}


def add_flags(parser: argparse.ArgumentParser, title: str, flags: Flags) -> None:
    """A group of them, for `given`."""
    group = parser.add_argument_group(title, argument_default=argparse.SUPPRESS)
    for name, said in flags.items():
        group.add_argument(f"--{name.replace('_', '-')}", **said)
    parser.set_defaults(flags=(*(parser.get_default("flags") or ()), *flags))


def given(options: argparse.Namespace) -> dict[str, Any]:
    """The flags that are given, as arguments. Raises `InputError`."""
    found = {name: getattr(options, name) for name in options.flags if hasattr(options, name)}
    if "tunable" in found:
        found["tunable"] = argument_values.tunable(found["tunable"], argument_values.letters(options))
    return found


def add_inputs(parser: argparse.ArgumentParser, inputs: int | str = "+") -> None:
    """PTX files and their entries, for `argument_values.sources`."""
    files = "a PTX file" if inputs == 1 else "PTX files"
    entries = "" if inputs == 1 else ", once per input, in order"
    parser.add_argument("inputs", nargs=inputs, metavar="A.ptx", help=f"{files}, `-` for standard input")
    parser.add_argument("--entry", action="append", metavar="NAME", help=f"entry to take{entries}")


def add_shapes(parser: argparse.ArgumentParser) -> None:
    """For `argument_values.shapes`."""
    parser.add_argument(
        "--shape",
        action="append",
        default=[],
        metavar="A=GRID:BLOCK[:SHARED]",
        help="the shape in which kernel A is launched alone, once for each kernel: CTAs and threads of one as 33x7, "
        "bytes of dynamic shared memory; `?` for what is known at launch only",
    )


def add_launched(parser: argparse.ArgumentParser) -> None:
    """For `argument_values.launched`."""
    parser.add_argument("inputs", nargs="+", metavar="SPEC.toml", help="launch specifications, or PTX files")
    parser.add_argument("--entry", action="append", metavar="NAME", help="entry to take, once per PTX file, in order")
    add_shapes(parser)
    parser.add_argument(
        "--arg", action="append", default=[], metavar="A:0=f32[1024]", help="an argument, as of `goptx check`"
    )


def add_report(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--report", choices=("text", "json"), help="say what was done; `--report` alone is text")


def add_weaving(parser: argparse.ArgumentParser, flags: Flags = WEAVING, inputs: int | str = "+") -> None:
    """Inputs, and how they are woven."""
    add_inputs(parser, inputs)
    add_shapes(parser)
    add_report(parser)
    add_flags(parser, "how", flags)


def add_strategies(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--strategy", default="weave", help="weave (default), vertical, horizontal, interleave, separate or auto"
    )
    add_flags(parser, "of single strategies", STRATEGIES)


def add_output(parser: argparse.ArgumentParser) -> None:
    """For `command.made`."""
    parser.add_argument("-o", "--output", metavar="OUT", help=WRITTEN)
    parser.add_argument("--depfile", metavar="OUT.d", help="write here, as a rule for Make, which files were read")
    parser.add_argument(
        "--html", metavar="OUT.html", help="write here a page of the result; no output that --depfile speaks of"
    )
    parser.add_argument("--header", metavar="OUT.h", help="write here, for C and C++, how to launch the result")
    parser.add_argument(
        "--max-registers",
        type=argument_values.registers,
        metavar="N",
        help="most registers of a thread, in PTX as `.maxnreg`",
    )


def add_result(parser: argparse.ArgumentParser) -> None:
    add_output(parser)
    add_flags(parser, "of the result", RESULT)
