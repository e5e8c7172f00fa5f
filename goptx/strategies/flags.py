"""The command line's flags for kernels that depend on each other (M20)."""

from __future__ import annotations

import argparse
from typing import Any

from goptx.strategies.buffers import KINDS

_HELP = {
    "same": "parameters that are one: a buffer, or a number; may be given again",
    "private": "a buffer that each thread only hands on to itself: keep it in registers",
    "local": "a buffer that is only handed on within a CTA: keep it in shared memory",
}


def add_flags(parser: argparse.ArgumentParser) -> None:
    """--depends, --assume-local, --same, --private and --local; what is not given is left to the strategy."""
    parser.add_argument("--depends", action="store_true", help="kernels may depend on those before them (vertical)")
    parser.add_argument("--assume-local", action="store_true", help="what they hand on stays within a CTA")
    for kind in KINDS:
        parser.add_argument(f"--{kind}", action="append", default=[], metavar="A:2=B:0", help=_HELP[kind])


def given(options: argparse.Namespace) -> dict[str, Any]:
    """As arguments of `vertical`, of those that are given."""
    return {name: value for name in ("depends", "assume_local", *KINDS) if (value := getattr(options, name))}
