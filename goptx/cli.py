"""The command line: `goptx weave A.ptx B.ptx -o AB.ptx` and its siblings.

Exit codes: 0 done; 1 the kernels cannot be woven or depend on each other, or a check failed; 2 anything else that is
wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from goptx.errors import CannotWeave, DependentKernels, GoptxError, InputError

if TYPE_CHECKING:
    from goptx.ptx.ir import Module
    from goptx.shape import Shape
    from goptx.weaving.result import Woven


PTX_HERE = "write PTX here instead of to standard output"


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What a command says beside its output: a report in words and as plain data, and why a check failed."""

    report: object
    facts: Mapping[str, Any]
    failure: GoptxError | None = None


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            # Alone, `--report` must not take the next argument for its value.
            options = _parser().parse_args(["--report=text" if word == "--report" else word for word in given])
            outcome: _Outcome | None = options.run(options)
        except GoptxError as error:
            _print_error(error)
            _print_warnings(caught)
            return 1 if isinstance(error, CannotWeave | DependentKernels) else 2
        except BrokenPipeError:
            # Whoever read our output has stopped; nothing is left to be said, not even by the interpreter.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 2
    failure = outcome.failure if outcome else None
    if outcome and options.report == "json":
        print(json.dumps({**outcome.facts, "warnings": [str(w.message) for w in caught]}), file=sys.stderr)
    else:
        if failure:
            _print_error(failure)
        if outcome and options.report:
            print(outcome.report, file=sys.stderr)
        _print_warnings(caught)
    return 1 if failure else 0


def _print_error(error: GoptxError) -> None:
    print(f"{type(error).__name__}: {error}", file=sys.stderr)


def _print_warnings(caught: Sequence[warnings.WarningMessage]) -> None:
    for warning in caught:
        print(f"warning: {warning.message}", file=sys.stderr)


class _Parser(argparse.ArgumentParser):
    """Says what is wrong with the arguments as any other error is said."""

    def error(self, message: str) -> NoReturn:
        raise InputError(f"{message}; see `{self.prog} --help`.")


def _parser() -> argparse.ArgumentParser:
    from goptx.strategies.flags import add_flags

    parser = _Parser(prog="goptx", description="Weave GPU kernels at PTX level.")
    parser.add_argument("--version", action=_Version, help="print the version and exit")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    weave = commands.add_parser("weave", help="make one kernel of several")
    _add_weaving(weave)
    _add_result(weave, "OUT.ptx", PTX_HERE)
    weave.set_defaults(run=_weave)

    fuse = commands.add_parser("fuse", help="make one kernel of several, by any strategy")
    _add_weaving(fuse)
    _add_strategies(fuse)
    add_flags(fuse)
    _add_result(fuse, "OUT", "write here instead of to standard output: PTX to .ptx, machine code to .cubin")
    fuse.set_defaults(run=_fuse)

    coarsen = commands.add_parser(
        "coarsen",
        help="make one CTA do the work of several",
        description="Weave a kernel with copies of itself, so that one CTA does the work of N neighbours.",
    )
    _add_weaving(coarsen, inputs=1)
    _add_result(coarsen, "OUT.ptx", PTX_HERE)
    coarsen.add_argument("--factor", type=int, default=2, metavar="N", help="CTAs that are made one; 2")
    coarsen.add_argument("--axis", default="x", help="along which they are neighbours: x (default), y or z")
    coarsen.set_defaults(run=_coarsen)

    batch = commands.add_parser(
        "batch",
        help="make one launch of a loop of launches",
        description="Make a scalar parameter the number of the CTA along one more axis of the grid. Right only where "
        "the launches do not depend on each other.",
    )
    batch.add_argument("inputs", nargs=1, metavar="A.ptx", help="a PTX file, `-` for standard input")
    batch.add_argument("--entry", action="append", metavar="NAME", help="entry to take")
    _add_result(batch, "OUT.ptx", PTX_HERE)
    batch.add_argument("--over", required=True, metavar="A:2", help="the parameter that changes, or A:NAME")
    batch.add_argument("--axis", default="y", help="the new axis: x, y (default) or z")
    batch.add_argument("--start", type=int, default=0, metavar="N", help="the parameter in the first launch; 0")
    batch.add_argument("--step", type=int, default=1, metavar="N", help="from one launch to the next; 1")
    batch.add_argument("--independent", action="store_true", help="the launches are, whatever is found")
    batch.add_argument("--report", choices=("text", "json"), help="say what was done; `--report` alone is text")
    batch.set_defaults(run=_batch)

    check = commands.add_parser(
        "check",
        help="weave kernels and compare with what they do alone",
        description="Weave, emulate the kernels alone and woven on equal data, and compare bit for bit; needs no GPU.",
        epilog="Launch and data come from NAME.toml beside NAME.ptx or NAME.sm_90.ptx where nothing else is said. "
        "Without it, data is made up where every pointer is indexed by the thread's number.",
    )
    _add_weaving(check)
    _add_strategies(check)
    check.add_argument("--grid", type=_axes, metavar="N[xN[xN]]", help="CTAs; 4")
    check.add_argument("--block", type=_axes, metavar="N[xN[xN]]", help="threads of a CTA; 256")
    check.add_argument("--shared", type=int, metavar="BYTES", help="dynamic shared memory of a CTA")
    check.add_argument(
        "--arg",
        action="append",
        default=[],
        metavar="A:0=f32[1024]",
        help="parameter 0 of kernel A: an array, random or as f32[1024]:zeros, i32[1024]:arange, i32[1024]:0..10; "
        "or a scalar such as i32:1024; for A:0 also A:NAME",
    )
    check.add_argument("--seed", type=int, default=0, help="of the data and of the order in which warps run; 0")
    check.add_argument("--races", action="store_true", help="report data races too")
    check.add_argument("--max-steps", type=int, metavar="N", help="instructions of a warp of one kernel; 1000000")
    check.set_defaults(run=_check)

    show = commands.add_parser("show", help="list entries: parameters, memory, registers, barriers, control flow")
    show.add_argument("input", metavar="FILE", help="a PTX file, `-` for standard input")
    show.add_argument("--entry", metavar="NAME", help="this entry only")
    show.add_argument("--cfg", choices=("dot",), help="print the control-flow graph for Graphviz instead")
    show.set_defaults(run=_show, report=None)

    fmt = commands.add_parser("fmt", help="print PTX in its canonical form")
    fmt.add_argument("input", metavar="FILE", help="a PTX file, `-` for standard input")
    fmt.set_defaults(run=_fmt, report=None)
    return parser


def _add_weaving(parser: argparse.ArgumentParser, inputs: int | str = "+") -> None:
    """What is not given is left to the strategy."""
    parser.add_argument("inputs", nargs=inputs, metavar="A.ptx", help="PTX files, `-` for standard input")
    parser.add_argument("--entry", action="append", metavar="NAME", help="entry to take, once per input, in order")
    parser.add_argument(
        "--shape",
        action="append",
        default=[],
        metavar="A=GRID:BLOCK[:SHARED]",
        help="the shape in which kernel A is launched alone, once for each kernel: CTAs and threads of one as 33x7, "
        "bytes of dynamic shared memory; `?` for what is known at launch only",
    )
    parser.add_argument("--report", choices=("text", "json"), help="say what was done; `--report` alone is text")
    own = parser.add_argument_group("how", argument_default=argparse.SUPPRESS)
    own.add_argument("--policy", help="latency (default), paper or concat")
    own.add_argument("--slicing", type=_slicing, help="adaptive (default), none, or a number of cycles")
    own.add_argument(
        "--divergence", metavar="CHOICE", help="park, predicate or duplicate wherever lanes part; by cost if left out"
    )
    if inputs != 1:
        own.add_argument("--placement", help="CTAs of a smaller grid: spread (default) or front")
    own.add_argument("--max-blocks", type=int, metavar="N", help="most blocks of the result; 4 for each of the inputs")
    own.add_argument("--max-growth", type=float, metavar="X", help="most instructions, in times those of the inputs; 3")
    own.add_argument("--latency", metavar="TABLE", help="latency table: a name such as sm_90, or a .toml file")


def _add_strategies(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--strategy", default="weave", help="weave (default), vertical, horizontal or interleave")
    own = parser.add_argument_group("of single strategies", argument_default=argparse.SUPPRESS)
    own.add_argument(
        "--partition", type=_numbers, metavar="D1,D2", help="horizontal: threads of each kernel, multiples of 32"
    )
    own.add_argument(
        "--tunable",
        action="append",
        metavar="A",
        help="horizontal: kernel A is right with any multiple of 32 threads; by default what its specification says",
    )
    own.add_argument(
        "--ratio", type=_numbers, metavar="P:Q", help="interleave: CTAs of each kernel that follow each other in turn"
    )


def _add_result(parser: argparse.ArgumentParser, output: str, said: str) -> None:
    parser.add_argument("-o", "--output", metavar=output, help=said)
    own = parser.add_argument_group("of the result", argument_default=argparse.SUPPRESS)
    own.add_argument("--arch", metavar="sm_NN", help="architecture of the result; the highest of the inputs")
    own.add_argument("--name", help="name of the woven entry")


class _Version(argparse.Action):
    def __init__(self, option_strings: list[str], dest: str, help: str | None = None) -> None:
        super().__init__(option_strings, dest, nargs=0, help=help)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        print(f"goptx {version('goptx')}")
        parser.exit()


def _weave(options: argparse.Namespace) -> _Outcome | None:
    from goptx.weaving.pipeline import weave

    return _made(options, weave(*_sources(options), **_weaving(options)))


def _fuse(options: argparse.Namespace) -> _Outcome | None:
    from goptx.strategies.flags import given
    from goptx.strategies.fuse import fuse

    ending = Path(options.output or "").suffix
    if ending not in ("", ".ptx", ".cubin"):
        raise InputError(f"-o {options.output}: `{ending}` is no kind of output; give .ptx or .cubin.")
    return _made(options, fuse(*_sources(options), strategy=options.strategy, **_weaving(options), **given(options)))


def _coarsen(options: argparse.Namespace) -> _Outcome | None:
    from goptx.strategies.coarsen import coarsen

    weaving = _weaving(options)
    (entry,), (shape,) = (weaving.pop(name) or [None] for name in ("entries", "shapes"))
    (source,) = _sources(options)
    return _made(options, coarsen(source, options.factor, options.axis, entry=entry, shape=shape, **weaving))


def _batch(options: argparse.Namespace) -> _Outcome | None:
    from goptx.strategies.batch import batch

    (source,) = _sources(options)
    given = {name: getattr(options, name) for name in ("axis", "start", "step", "independent")}
    return _made(
        options, batch(source, options.over, entry=(options.entry or [None])[0], **given, **_given(options, _RESULT))
    )


def _made(options: argparse.Namespace, woven: Woven) -> _Outcome | None:
    cubin = (options.output or "").endswith(".cubin") and options.command == "fuse"
    _write(options.output, woven.cubin() if cubin else woven.ptx)
    facts = {**woven.report.to_dict(), "strategy": woven.strategy, "symbols": woven.symbols}
    return _Outcome(woven.report, facts) if options.report else None


def _check(options: argparse.Namespace) -> _Outcome:
    from goptx.emulator.check import check

    args: dict[str, object] = {}
    for text in options.arg:
        key, _, value = text.partition("=")
        if key in args:
            raise InputError(f"--arg {key} is given twice.")
        args[key] = value
    launch = {name: getattr(options, name) for name in ("strategy", "grid", "block", "shared", "seed", "races")}
    done = check(*_sources(options), args=args, max_steps=options.max_steps, **launch, **_weaving(options))
    if done.passed:
        _write(None, f"{done}\n")
    return _Outcome(done.report, done.to_dict(), done.failure)


def _sources(options: argparse.Namespace) -> list[Path | bytes]:
    if options.inputs.count("-") > 1:
        raise InputError("standard input (`-`) can be given once only.")
    if options.entry is not None and len(options.entry) != len(options.inputs):
        raise InputError(
            f"--entry is given {len(options.entry)} times for {len(options.inputs)} inputs; give it once per input, "
            "in order."
        )
    return [sys.stdin.buffer.read() if name == "-" else Path(name) for name in options.inputs]


_RESULT = ("arch", "name")
_PLAIN = (
    "policy", "slicing", "divergence", "placement", "max_blocks", "max_growth", "latency", "partition", "ratio",
    *_RESULT,
)  # fmt: skip


def _weaving(options: argparse.Namespace) -> dict[str, Any]:
    """What strategies take, as far as it is given."""
    found = _given(options, _PLAIN)
    if hasattr(options, "tunable"):
        letters = _letters(options)
        if unknown := [letter for letter in options.tunable if letter not in letters]:
            raise InputError(f"--tunable {unknown[0]}: there are the kernels {', '.join(letters)}.")
        found["tunable"] = [letter in options.tunable for letter in letters]
    shapes = _shapes(options.shape, _letters(options))
    return {"entries": options.entry, "shapes": shapes, **found}


def _given(options: argparse.Namespace, names: Sequence[str]) -> dict[str, Any]:
    return {name: getattr(options, name) for name in names if hasattr(options, name)}


def _letters(options: argparse.Namespace) -> list[str]:
    return [chr(ord("A") + i) for i in range(len(options.inputs))]


def _slicing(text: str) -> str | int | None:
    return None if text == "none" else int(text) if re.fullmatch("-?[0-9]+", text) else text


def _numbers(text: str) -> tuple[int, ...]:
    """Of `128,256` or `1:3`."""
    if not re.fullmatch(r"[0-9]+([,:][0-9]+)*", text):
        raise argparse.ArgumentTypeError(f"`{text}` is none; write a number for each kernel, such as 128,256 or 1:3")
    return tuple(map(int, re.split("[,:]", text)))


def _shapes(given: Sequence[str], letters: Sequence[str]) -> list[Shape] | None:
    """One for each kernel, or none."""
    from goptx.shape import Shape

    named = [text.partition("=") for text in given]
    if named and sorted(letter for letter, _, _ in named) != letters:
        raise InputError(
            f"--shape is given for {', '.join(letter for letter, _, _ in named)}; give it once for each of the kernels "
            f"{', '.join(letters)}, for example --shape A=1024:256."
        )
    shapes = {letter: Shape.parse(text) for letter, _, text in named}
    return [shapes[letter] for letter in letters] if named else None


def _axes(text: str) -> tuple[int, ...]:
    """Of `33x7`. Whatever is wrong with it, argparse says."""
    if not re.fullmatch(r"[1-9][0-9]*(x[1-9][0-9]*){0,2}", text):
        raise argparse.ArgumentTypeError(f"`{text}` is none; write one to three numbers above 0, such as 4 or 33x7")
    return tuple(map(int, text.split("x")))


def _show(options: argparse.Namespace) -> None:
    from goptx.view.graph import dot
    from goptx.view.listing import listing

    _write(None, (dot if options.cfg else listing)(_module(options.input), options.entry))


def _fmt(options: argparse.Namespace) -> None:
    _write(None, str(_module(options.input)))


def _module(name: str) -> Module:
    from goptx.ptx.parse import read

    return read(sys.stdin.buffer.read() if name == "-" else Path(name))


def _write(path: str | None, content: str | bytes) -> None:
    """To standard output, or whole into a file or not at all."""
    data = content.encode() if isinstance(content, str) else content
    if path is None or path == "-":
        sys.stdout.write(data.decode())
        sys.stdout.flush()
        return
    target = Path(path)
    try:
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror}); give a folder that exists.") from None
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        mask = os.umask(0)
        os.umask(mask)
        Path(temporary).chmod(0o666 & ~mask)  # mkstemp makes files private
        Path(temporary).replace(target)
    except OSError as error:
        Path(temporary).unlink(missing_ok=True)
        raise InputError(f"{path}: cannot be written ({error.strerror}); give the path of a file.") from None


if __name__ == "__main__":
    sys.exit(main())
