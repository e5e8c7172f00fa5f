"""goptx prove: a certificate for a fused kernel."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from goptx.cli.command import NewParser, Outcome
from goptx.cli.output import check_outputs, write
from goptx.errors import InputError
from goptx.files_read import content_of

if TYPE_CHECKING:
    from goptx.proof.certificate import Certificate


def add(new: NewParser) -> None:
    parser = new(
        "prove",
        help="prove that a fused kernel does what its kernels do",
        description="Prove for every input that a fused kernel does what its kernels do, by its text and theirs; needs "
        "no GPU. What cannot be proved is named; the exit code is 4 then.",
    )
    parser.add_argument("fused", metavar="FUSED.ptx", help="what `goptx weave` wrote, with its witness")
    parser.add_argument(
        "--from", dest="kernels", nargs="+", required=True, metavar="A.ptx", help="the kernels, in order"
    )
    parser.add_argument("--certificate", metavar="FILE.json", help="write the certificate here")
    parser.add_argument(
        "--check", metavar="FILE.json", help="make sure that this certificate is of these texts and is true"
    )
    parser.add_argument("--json", action="store_true", help="print the certificate as JSON")
    parser.set_defaults(run=_run, report=None)


def _run(options: argparse.Namespace) -> Outcome | None:
    from goptx.checking.certify import confirm, prove_texts, require
    from goptx.sources.read import read

    inputs = [options.fused, *options.kernels, *([options.check] if options.check else [])]
    check_outputs([options.certificate] if options.certificate else [], [Path(name) for name in inputs])
    stored = _stored(options.check) if options.check else None
    made = prove_texts(_text(options.fused, "a PTX file"), [read(Path(name)) for name in options.kernels])
    if stored is not None:
        confirm(stored, made)
    if options.certificate:
        write(options.certificate, made.to_json())
    names = dict(zip(made.kernels, (Path(name).name for name in options.kernels), strict=True))
    write(None, made.to_json() if options.json else f"{made.described(Path(options.fused).name, names)}\n")
    require(made)
    return None


def _stored(name: str) -> Certificate:
    from goptx.proof.certificate import Certificate

    try:
        return Certificate.from_json(_text(name, "a certificate"))
    except ValueError as error:
        raise InputError(f"{name}: {error}; give a file that `--certificate` wrote.") from None


def _text(name: str, kind: str) -> str:
    try:
        return content_of(Path(name), kind).decode()
    except UnicodeDecodeError:
        raise InputError(f"{name}: cannot be read (it is not text); give the path of {kind}.") from None
