"""goptx prove: a certificate for a fused kernel."""

from __future__ import annotations

import argparse
from pathlib import Path

from goptx.cli.command import NewParser, Outcome
from goptx.cli.output import write
from goptx.errors import InputError, NotProvedError


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
    parser.add_argument("--json", action="store_true", help="print the certificate as JSON")
    parser.set_defaults(run=_run, report=None)


def _run(options: argparse.Namespace) -> Outcome | None:
    from goptx.proof.prove import prove_text
    from goptx.sources.read import read

    made = prove_text(_text(options.fused), [read(Path(name)) for name in options.kernels])
    if options.certificate:
        write(options.certificate, made.to_json())
    write(None, made.to_json() if options.json else f"{made}\n")
    return None if made else Outcome("", {}, NotProvedError(f"`{made.entry}` is not proved: {made.gaps[0]}."))


def _text(name: str) -> str:
    try:
        return Path(name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise InputError(f"{name}: cannot be read ({reason}); give the path of a PTX file.") from None
