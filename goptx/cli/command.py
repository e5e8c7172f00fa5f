"""What commands have in common: how they come by a parser, what they say, and how they write a kernel."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goptx.cli.write import write
from goptx.errors import GoptxError, InputError

if TYPE_CHECKING:
    from goptx.weaving.result import Woven

NewParser = Callable[..., argparse.ArgumentParser]  # by the name of a command, and what argparse is told of it


@dataclass(frozen=True, slots=True)
class Outcome:
    """A report in words and as plain data, and why a check failed."""

    report: object
    facts: Mapping[str, Any]
    failure: GoptxError | None = None


def check_output(options: argparse.Namespace) -> None:
    """Raises `InputError` where `--output` is neither PTX nor machine code."""
    ending = Path(options.output or "").suffix
    if ending not in ("", ".ptx", ".cubin"):
        raise InputError(f"-o {options.output}: `{ending}` is no kind of output; give .ptx or .cubin.")


def made(options: argparse.Namespace, woven: Woven) -> Outcome | None:
    """Writes the kernel where `--output` says, machine code to `.cubin`, and says of it what `--report` asks for."""
    cubin = Path(options.output or "").suffix == ".cubin"
    write(options.output, woven.cubin() if cubin else woven.ptx)
    facts = {**woven.report.to_dict(), "strategy": woven.strategy, "symbols": woven.symbols}
    return Outcome(woven.report, facts) if options.report else None
