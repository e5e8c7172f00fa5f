"""goptx spec: a launch specification to complete."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from goptx.cli.argument_values import module
from goptx.cli.command import NewParser
from goptx.cli.output import check_outputs, write


def add(new: NewParser) -> None:
    parser = new(
        "spec",
        help="write a launch specification to complete",
        description="Write how the kernels are launched, and on which data, as far as the PTX tells it; complete what "
        "has the comment `fill in`. Saved as NAME.toml beside NAME.ptx, `goptx check` and `goptx tune` find it.",
    )
    parser.add_argument("inputs", nargs="+", metavar="A.ptx", help="PTX files")
    parser.add_argument("--entry", metavar="NAME", help="this entry only (default all)")
    parser.add_argument("-o", "--output", metavar="A.toml", help="write here instead of to standard output")
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> None:
    from goptx.checking.new_specification import new_specification

    check_outputs([options.output] if options.output else [], [Path(name) for name in options.inputs])
    kernels = [(module(name), _from(options.output, Path(name))) for name in options.inputs]
    write(options.output, new_specification(kernels, options.entry))


def _from(output: str | None, file: Path) -> Path:
    """The path to write for a file: relative to the specification, which without `output` will lie beside it."""
    return Path(file.name) if output in (None, "-") else Path(os.path.relpath(file, Path(str(output)).parent))
