"""What commands have in common: how they come by a parser, what they say, and how they write a kernel."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goptx.cli.write import write
from goptx.errors import GoptxError

if TYPE_CHECKING:
    from goptx.weaving.result import Woven

NewParser = Callable[..., argparse.ArgumentParser]  # by the name of a command, and what argparse is told of it


@dataclass(frozen=True, slots=True)
class Outcome:
    """A report in words and as plain data, and why a check failed."""

    report: object
    facts: Mapping[str, Any]
    failure: GoptxError | None = None


def made(options: argparse.Namespace, woven: Woven, cubin: bool = False) -> Outcome | None:
    """Writes the kernel where `--output` says, and says of it what `--report` asks for."""
    write(options.output, woven.cubin() if cubin else woven.ptx)
    facts = {**woven.report.to_dict(), "strategy": woven.strategy, "symbols": woven.symbols}
    return Outcome(woven.report, facts) if options.report else None
