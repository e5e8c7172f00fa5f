"""The flags that several commands have, and the values given for them.

A flag of a table is an argument, of the same name, of the function that the command calls. A flag that is not given is
not passed to that function.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from goptx.cli import argument_values
from goptx.options import UNPROVED

Flags = Mapping[str, Mapping[str, Any]]  # by name, the arguments of argparse for each
WRITTEN = "write here instead of to standard output: PTX, or machine code to .cubin"

WEAVING: Flags = {
    "merge": {"help": "safe (default), or paper: as published, which does not preserve convergence (it may hang)"},
    "policy": {"help": "latency (default), paper (default of --merge paper) or concat"},
    "slicing": {"type": argument_values.slicing, "help": "adaptive (default), none, or a number of cycles"},
    "divergence": {
        "metavar": "CHOICE",
        "help": "park, predicate or duplicate wherever lanes diverge; by default chosen by cost",
    },
    "placement": {"help": "CTAs of a smaller grid: spread, or front (default where they are few)"},
    "max_blocks": {
        "type": int,
        "metavar": "N",
        "help": "most blocks of the result (default 4 times the inputs' blocks)",
    },
    "max_growth": {
        "type": float,
        "metavar": "X",
        "help": "most instructions of the result, as a multiple of the inputs' (default 3)",
    },
    "presume": {
        "action": argparse.BooleanOptionalAction,
        "help": "presume that loaded data on which barriers depend is the same for all threads of a CTA (default)",
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
        "help": "horizontal: kernel A is right with any multiple of 32 threads; by default as its specification states",
    },
    "fold": {
        "help": "horizontal, interleave: launch few CTAs; each runs several of a kernel's, one after the other: static "
        "(every n-th), chunk (a contiguous piece), or ticket (the next one that is left)"
    },
    "ctas": {
        "type": argument_values.ctas,
        "metavar": "N",
        "help": "of folded grids: how many CTAs are launched (default: one wave); interleave: N1,N2 for each kernel",
    },
    "role_registers": {
        "type": argument_values.numbers,
        "metavar": "R1,R2",
        "help": "horizontal folded grids: registers of a thread of each kernel, moved between their warps (sm_90a, "
        "sm_100a)",
    },
    "teams": {
        "type": argument_values.numbers,
        "metavar": "N1,N2",
        "help": "horizontal folded grids: how many CTAs of each kernel run side by side in each CTA (default: one)",
    },
    "parts": {
        "type": argument_values.numbers,
        "metavar": "N1,N2",
        "help": "horizontal folded grids: into how many parts each kernel's CTAs are divided, which teams run "
        "(default: one)",
    },
    "assist": {
        "action": "store_true",
        "help": "horizontal, --fold ticket: warps of the kernel with more registers run what is left of the other one",
    },
    "binding": {
        "metavar": "sm",
        "help": "interleave: the SM on which a CTA begins decides which of two kernels it runs, in turn",
    },
    "ratio": {
        "type": argument_values.numbers,
        "metavar": "P:Q",
        "help": "interleave: numbers of CTAs of each kernel that alternate",
    },
    "streams": {"action": "store_true", "help": "separate: launch the kernels side by side"},
    "assemble": {
        "action": "store_true",
        "help": "auto: assemble the best candidates, and drop those that spill or take more registers than estimated",
    },
    "decision": {
        "metavar": "FILE",
        "help": "auto: make what an earlier decision chose; the file is a report of --report=json",
    },
}
DEPENDENT_TITLE = "of kernels that depend on each other (vertical, auto)"
DEPENDENT: Flags = {
    "depends": {"action": "store_true", "help": "kernels may depend on those before them"},
    "assume_local": {"action": "store_true", "help": "assume that all dependences are within a CTA"},
    "assume_private": {
        "action": "store_true",
        "help": "assume that a thread loads from a private buffer only what it stored there last itself",
    },
    "unproved": {
        "choices": UNPROVED,
        "help": "a private or local buffer that cannot be proved to be one: refuse the kernels (default of vertical), "
        "or leave it in memory",
    },
    "no_barriers": {"action": "store_true", "help": "dependences within a CTA need no barrier"},
    "same": {
        "action": "append",
        "metavar": "A:2=B:0",
        "help": "parameters that are the same buffer or number (weave and interleave too); may be given again",
    },
    "private": {
        "action": "append",
        "metavar": "A:2=B:0",
        "help": "a buffer of which each thread reads only what it wrote itself: keep it in registers",
    },
    "local": {
        "action": "append",
        "metavar": "A:2=B:0",
        "help": "a buffer of which each CTA reads only what it wrote itself: keep it in shared memory",
    },
    "noalias": {
        "action": "append",
        "metavar": "A:1",
        "help": "a buffer that shares no memory with any other, except those that it is named with",
    },
}
COMMON = "of kernels with inputs in common"
SAME: Flags = {
    "same": {
        **DEPENDENT["same"],
        "help": "parameters that are the same number, or the same buffer, which no kernel writes",
    }
}
KNOWN: Flags = {
    "assume": {
        "action": "append",
        "metavar": "A:trips:40=48",
        "help": "what is known of kernel A: the loop whose head is in line 40 runs 48 times, A:live_ctas=8192 CTAs do "
        "not end at once, A:arguments:2=4096 is its third argument, or A:specification=FILE.toml describes its launch; "
        "for the estimate in the report, and the choice of auto; may be given again",
    }
}
KNOWN_TITLE = "of what kernels do"
RESULT: Flags = {
    "arch": {"metavar": "sm_NN", "help": "architecture of the result (default the highest of the inputs)"},
    "name": {"help": "name of the woven entry"},
    "max_inlined": {
        "type": int,
        "metavar": "N",
        "help": "most instructions of a kernel once calls are inlined in which threads wait (default 200000)",
    },
}


def add_flags(parser: argparse.ArgumentParser, title: str, flags: Flags) -> None:
    """Adds the flags as a group, for `given`."""
    group = parser.add_argument_group(title, argument_default=argparse.SUPPRESS)
    for name, facts in flags.items():
        group.add_argument(f"--{name.replace('_', '-')}", **facts)
    parser.set_defaults(flags=(*(parser.get_default("flags") or ()), *flags))


def given(options: argparse.Namespace) -> dict[str, Any]:
    """The given flags, as arguments of the function. Raises `InputError`."""
    found = {name: getattr(options, name) for name in options.flags if hasattr(options, name)}
    if "tunable" in found:
        found["tunable"] = argument_values.tunable(found["tunable"], argument_values.letters(options))
    if "assume" in found:
        found["assume"] = argument_values.assume(found["assume"])
    return found


def add_inputs(parser: argparse.ArgumentParser, inputs: int | str = "+") -> None:
    """Adds PTX files and their entries, for `argument_values.sources`."""
    files = "a PTX file" if inputs == 1 else "PTX files"
    entries = "" if inputs == 1 else ", once per input, in order"
    parser.add_argument("inputs", nargs=inputs, metavar="A.ptx", help=f"{files}, `-` for standard input")
    parser.add_argument("--entry", action="append", metavar="NAME", help=f"entry to take{entries}")


def add_shapes(parser: argparse.ArgumentParser) -> None:
    """Adds shapes, for `argument_values.shapes`."""
    parser.add_argument(
        "--shape",
        action="append",
        default=[],
        metavar="A=GRID:BLOCK[:SHARED]",
        help="the shape in which kernel A is launched alone, once for each kernel: CTAs and threads per CTA as 33x7, "
        "bytes of dynamic shared memory; `?` for a size that is known only at launch",
    )


def add_launched(parser: argparse.ArgumentParser) -> None:
    """Adds kernels and launches, for `argument_values.launched`."""
    parser.add_argument("inputs", nargs="+", metavar="SPEC.toml", help="launch specifications, or PTX files")
    parser.add_argument("--entry", action="append", metavar="NAME", help="entry to take, once per PTX file, in order")
    add_shapes(parser)
    parser.add_argument(
        "--arg", action="append", default=[], metavar="A:0=f32[1024]", help="an argument, as for `goptx check`"
    )


def add_report(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--report",
        choices=("text", "json"),
        help="report what was done; `--report` without a value is text. A report as JSON is one object on standard "
        "output, or on standard error where the kernel stands on standard output; errors are in it",
    )


def add_weaving(parser: argparse.ArgumentParser, flags: Flags = WEAVING, inputs: int | str = "+") -> None:
    """Adds inputs, and the flags of weaving."""
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
    """Adds output files, for `command.made`."""
    parser.set_defaults(makes_kernel=True)
    parser.add_argument("-o", "--output", metavar="OUT", help=WRITTEN)
    parser.add_argument("--no-witness", action="store_true", help="leave out the comments that `goptx prove` reads")
    parser.add_argument(
        "--prove", action="store_true", help="prove the result, and write nothing if that fails (exit code 4)"
    )
    parser.add_argument("--certificate", metavar="OUT.json", help="prove the result, and write the certificate here")
    parser.add_argument("--depfile", metavar="OUT.d", help="write the files that were read here, as a rule for Make")
    parser.add_argument(
        "--html", metavar="OUT.html", help="write a page of the result here; --depfile does not list it"
    )
    parser.add_argument("--header", metavar="OUT.h", help="write a C and C++ header for launching the result here")
    parser.add_argument(
        "--max-registers",
        type=argument_values.registers,
        metavar="N",
        help="most registers per thread, in PTX as `.maxnreg`",
    )


def add_result(parser: argparse.ArgumentParser) -> None:
    add_output(parser)
    parser.add_argument(
        "--require-gain",
        action="store_true",
        help="write nothing if the result is estimated to be slower than separate launches (exit code 3)",
    )
    add_flags(parser, "of the result", RESULT)
