"""What all commands use: the type of a new parser, the outcome, and how a kernel is written."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goptx.cli.depfile import rule
from goptx.cli.output import check_outputs, write
from goptx.errors import GoptxError, InputError, NoGain
from goptx.files_read import files_read

if TYPE_CHECKING:
    from goptx.results.fused_kernel import Woven

NewParser = Callable[..., argparse.ArgumentParser]  # takes a command's name and the arguments of argparse


@dataclass(frozen=True, slots=True)
class Outcome:
    """A report as text and as plain data, and the error if a check failed."""

    report: object
    facts: Mapping[str, Any]
    failure: GoptxError | None = None


def print_result(options: argparse.Namespace, text: object) -> None:
    """Prints a result as text, unless it is asked for as JSON, which then stands on standard output alone."""
    if options.report != "json":
        write(None, f"{text}\n")


def write_page(path: str, title: str, result: Any) -> None:
    """Writes an HTML page of something that has pictures."""
    from goptx.view.html.elements_html import page

    write(path, page(title, result._repr_html_()))


def made(options: argparse.Namespace, make: Callable[[], Woven]) -> Outcome | None:
    """Makes a kernel, writes it to `--output` (machine code to `.cubin`) with the files that belong to it, and gives
    the outcome that `--report` asks for. The kernel is written last: if it is there, so are all other files."""
    from goptx.results.expected_gain import unreplaced

    output, cap = options.output, options.max_registers
    _check_output(options)
    proves = options.prove or options.certificate
    with files_read() as read, unreplaced() if proves else nullcontext():
        woven = make()
    check_outputs(_outputs(options), read)
    expected = woven.report.expected
    if vars(options).get("require_gain") and expected is not None and expected.is_slower:
        raise NoGain(f"{expected} Nothing is written, because --require-gain is given.")
    is_text = Path(output or "").suffix != ".cubin"
    if is_text and cap is not None:
        woven = woven.capped(cap)
    if proves:
        _prove(woven, options.certificate)
    content = woven.text(witness=not options.no_witness) if is_text else woven.cubin(cap)
    if options.header:
        from goptx.view.c_header import c_header

        write(options.header, c_header(woven))
    if options.html:
        write_page(options.html, woven.name, woven)
    if options.depfile:
        write(options.depfile, rule(output, read))
    write(output, content)
    facts = {**woven.report.to_dict(), "strategy": woven.strategy, "symbols": woven.symbols}
    return Outcome(woven.report, facts) if options.report else None


def _prove(woven: Woven, output: str | None) -> None:
    """Writes the certificate. Raises `NotProvedError`."""
    from goptx.checking.certify import prove, require

    made = prove(woven)
    require(made)
    if output:
        write(output, made.to_json())


def _check_output(options: argparse.Namespace) -> None:
    """Raises `InputError` if `--output` is neither PTX nor machine code, `--depfile` is given without it, or a
    certificate cannot be checked later."""
    ending = Path(options.output or "").suffix
    if ending not in ("", ".ptx", ".cubin"):
        raise InputError(f"-o {options.output}: `{ending}` is not a kind of output; give .ptx or .cubin.")
    if options.depfile and options.output in (None, "-"):
        raise InputError("--depfile lists the dependencies of a file; name that file with -o.")
    if options.certificate and options.no_witness:
        raise InputError("--certificate is of the text with its witness; leave out --no-witness.")
    check_outputs(_outputs(options))


def _outputs(options: argparse.Namespace) -> list[str]:
    also = options.certificate, options.depfile, options.header, options.html
    return [options.output or "-", *filter(None, also)]
