"""Reads the values of the command line: inputs, shapes, numbers."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goptx.errors import InputError
from goptx.files_read import MOST_BYTES
from goptx.launch.parameter_names import letter_of
from goptx.launch.shape import MOST_REGISTERS

if TYPE_CHECKING:
    from goptx.launch.shape import Shape
    from goptx.ptx.ir import Module


def sources(options: argparse.Namespace) -> list[Path | bytes]:
    """The inputs. Raises `InputError` if entries are given, but not one for each."""
    if options.inputs.count("-") > 1:
        raise InputError("standard input (`-`) can be given once only.")
    if options.entry is not None and len(options.entry) != len(options.inputs):
        raise InputError(
            f"--entry is given {len(options.entry)} times for {len(options.inputs)} inputs; give it once per input, "
            "in order."
        )
    return [_source(name) for name in options.inputs]


def module(name: str) -> Module:
    """The one input of a command."""
    from goptx.sources.read import read

    return read(_source(name))


def _source(name: str) -> Path | bytes:
    return standard_input("PTX") if name == "-" else Path(name)


def standard_input(kind: str) -> bytes:
    """All of it. Raises `InputError` where it has more than a file may have; `kind` names what to give instead."""
    content = sys.stdin.buffer.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise InputError(f"standard input: has more than {MOST_BYTES >> 20} MiB; give {kind}.")
    return content


def letters(options: argparse.Namespace) -> list[str]:
    """The letters of the kernels, one for each input."""
    return [letter_of(i) for i in range(len(options.inputs))]


def shapes(options: argparse.Namespace) -> list[Shape] | None:
    """The shapes, one for each input, or None. Raises `InputError`."""
    from goptx.launch.shape import Shape

    known = letters(options)
    named = [text.partition("=") for text in options.shape]
    if named and sorted(letter for letter, _, _ in named) != known:
        raise InputError(
            f"--shape is given for {', '.join(letter for letter, _, _ in named)}; give it once for each of the kernels "
            f"{', '.join(known)}, for example --shape A=1024:256."
        )
    found = {letter: Shape.parse(text) for letter, _, text in named}
    return [found[letter] for letter in known] if named else None


def launched(options: argparse.Namespace) -> dict[str, Any]:
    """The kernels and their launches, from launch specifications or PTX files: `sources` and other arguments of
    `goptx.tune`. Raises `InputError`."""
    specified = [name.endswith(".toml") for name in options.inputs]
    if any(specified) and not all(specified):
        raise InputError("give launch specifications or PTX files, not both.")
    if all(specified) and (options.shape or options.entry):
        raise InputError("--shape and --entry are for PTX files; a launch specification has both.")
    what: dict[str, Any] = {"entries": options.entry, "args": arguments(options.arg) or None}
    if all(specified):
        return {**what, "sources": [], "spec": options.inputs}
    return {**what, "sources": sources(options), "shapes": shapes(options)}


def arguments(given: Sequence[str]) -> dict[str, object]:
    """The values of `A:0=f32[1024]` and the like, by name. Raises `InputError`."""
    args: dict[str, object] = {}
    for text in given:
        key, _, value = text.partition("=")
        if key in args:
            raise InputError(f"--arg {key} is given twice.")
        args[key] = value
    return args


def tunable(given: Sequence[str], known: Sequence[str]) -> list[bool]:
    """Whether each kernel is tunable, by the given letters. Raises `InputError`."""
    if unknown := [letter for letter in given if letter not in known]:
        raise InputError(f"--tunable {unknown[0]}: there are the kernels {', '.join(known)}.")
    return [letter in given for letter in known]


def assume(given: Sequence[str]) -> dict[str, Any]:
    """What is known of kernels, from `A:trips:40=48`, `A:live_ctas=8192`, `A:arguments:2=4096` and
    `A:specification=gemm.toml`. Raises `InputError`."""
    found: dict[str, Any] = {}
    for text in given:
        trips = re.fullmatch(r"([A-Z]):trips:([0-9]+)=([0-9]+(?:\.[0-9]+)?)", text)
        live = re.fullmatch(r"([A-Z]):live_ctas=([0-9]+)", text)
        argument = re.fullmatch(r"([A-Z]):arguments:([0-9]+)=(-?[0-9]+)", text)
        path = re.fullmatch(r"([A-Z]):specification=(.+)", text)
        if twice := [other for other in given if other.partition("=")[0] == text.partition("=")[0] and other != text]:
            raise InputError(f"--assume {text} contradicts --assume {twice[0]}; give one of them.")
        if trips:
            found.setdefault(trips[1], {}).setdefault("trips", {})[int(trips[2])] = float(trips[3])
        elif live:
            found.setdefault(live[1], {})["live_ctas"] = int(live[2])
        elif argument:
            found.setdefault(argument[1], {}).setdefault("arguments", {})[int(argument[2])] = int(argument[3])
        elif path:
            found.setdefault(path[1], {})["specification"] = path[2]
        else:
            raise InputError(
                f"--assume {text}: write A:trips:40=48, for a loop of kernel A whose head is in line 40 and that runs "
                "48 times, A:live_ctas=8192, for so many of its CTAs that do not end at once, A:arguments:2=4096, for "
                "its integer argument at position 2, or A:specification=FILE.toml, for its launch."
            )
    return found


def slicing(text: str) -> str | int | None:
    return None if text.lower() == "none" else int(text) if re.fullmatch("-?[0-9]+", text) else text


def numbers(text: str) -> tuple[int, ...]:
    """The numbers of `128,256` or `1:3`. argparse reports errors."""
    if not re.fullmatch(r"[0-9]+([,:][0-9]+)*", text):
        raise argparse.ArgumentTypeError(
            f"`{text}` has no numbers; write a number for each kernel, such as 128,256 or 1:3"
        )
    return tuple(map(int, re.split("[,:]", text)))


def ctas(text: str) -> int | tuple[int, ...]:
    """The number of `264`, or those of `132,264`. argparse reports errors."""
    found = numbers(text)
    return found if len(found) > 1 else found[0]


def sizes(text: str) -> tuple[int, ...]:
    """The sizes of `512,768`. argparse reports errors."""
    if not re.fullmatch(r"[0-9]+(,[0-9]+)*", text):
        raise argparse.ArgumentTypeError(f"`{text}` has no sizes; give one number or several, such as 768 or 512,768")
    return tuple(map(int, text.split(",")))


def registers(text: str) -> int:
    """The registers of a thread. argparse reports errors."""
    if not re.fullmatch(r"[0-9]+", text) or not 1 <= int(text) <= MOST_REGISTERS:
        raise argparse.ArgumentTypeError(f"`{text}` is not a register cap; give 1 to {MOST_REGISTERS}")
    return int(text)


def axes(text: str) -> tuple[int, ...]:
    """The sizes of `33x7`. argparse reports errors."""
    if not re.fullmatch(r"[1-9][0-9]*(x[1-9][0-9]*){0,2}", text):
        raise argparse.ArgumentTypeError(
            f"`{text}` is not a size; write one to three numbers above 0, such as 4 or 33x7"
        )
    return tuple(map(int, text.split("x")))
