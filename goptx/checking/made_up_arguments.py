"""Made-up arguments for a kernel without a specification, if its accesses are simple enough.

Requires: a launch of known shape. Made up are only pointers that are indexed by the thread's number, scalars that bound
it, floating-point scalars, and parameters that the kernel does not use; `request` asks for the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from goptx.analysis.build_cfg import flow_as_written
from goptx.analysis.values.accessed_bytes import Accesses, accesses
from goptx.analysis.values.ranges import Extent
from goptx.checking.checked_kernel import Subject
from goptx.errors import InputError
from goptx.launch.specification import DTYPES, MOST, Argument
from goptx.ptx.ir import TYPE_BYTES, Instruction
from goptx.ptx.opcodes import facts_of

SHORT = 24  # threads that a made-up bound excludes, so that some threads fail the bounds check
FLOATING = 1.5  # every made-up floating-point scalar


@dataclass(frozen=True, slots=True)
class Missing:
    """A parameter for which no data can be made up: the place and the reason, and an argument that would do."""

    subject: Subject
    position: int
    reason: str
    example: str


class MissingArguments(Exception):
    """Parameters of one kernel that have to be given. Callers ask for those of all kernels at once (`request`)."""

    def __init__(self, missing: Sequence[Missing]) -> None:
        super().__init__(missing)
        self.missing = missing


def made_up(subject: Subject, given: Mapping[int, object], grid: Extent, block: Extent) -> dict[int, Argument]:
    """An argument for each parameter that is not `given`, by position.

    Raises `MissingArguments`, which names all that have to be given.
    """
    made, found = guessed(subject, given, grid, block)
    if missing := [i for i, argument in made.items() if argument is None]:
        raise MissingArguments([_missing(subject, i, found, prod(grid) * prod(block)) for i in missing])
    return {i: argument for i, argument in made.items() if argument is not None}


def guessed(
    subject: Subject, given: Mapping[int, object], grid: Extent, block: Extent
) -> tuple[dict[int, Argument | None], Accesses]:
    """An argument for each parameter that is not `given`, by position, None where none can be made up; and what the
    kernel accesses.

    First come scalars that bound the thread's number: they are somewhat less than the number of threads. With these,
    every pointer gets as many bytes as the kernel can access.
    """
    parameters = subject.entry.parameters
    integers = [p for p in parameters if not p.dims and p.type[0] in "usb"]
    pointers = {p.name for p in integers if p.size == 8}
    scalars = {p.name for p in integers if p.size < 8}
    known = {parameters[i].name: n for i, value in given.items() if (n := _whole(value)) is not None}
    flow = flow_as_written(subject.entry.body, subject.module.source)
    bounds = accesses(flow, pointers, scalars, known, grid, block).bounds
    most = {p.name: (1 << 8 * p.size - 1) - 1 for p in integers}
    threads = prod(grid) * prod(block)
    known = {n: min(max(1, (numbers or threads) - SHORT), most[n]) for n, numbers in bounds.items()} | known
    found = accesses(flow, pointers, scalars, known, grid, block)
    return {i: _argument(subject, i, found, known) for i in range(len(parameters)) if i not in given}, found


def _argument(subject: Subject, position: int, found: Accesses, known: Mapping[str, int]) -> Argument | None:
    parameter, called = subject.entry.parameters[position], subject.called(position)
    name = parameter.name
    if name in found.arrays and name not in found.unclear:
        end, type_ = found.arrays[name]
        dtype = _dtype(type_)
        length = -(-end // np.dtype(dtype).itemsize)
        if dtype.startswith("f"):
            return Argument(called, dtype, None, length, "uniform", 0, 1, position, "inout")
        return Argument(called, dtype, None, length, "integers", 0, MOST, position, "inout")
    if name in known:
        return Argument(called, _dtype(parameter.type), known[name])
    if parameter.dims:
        return None
    if name not in found.mentioned:
        return Argument(called, _dtype(parameter.type), 0)
    return Argument(called, _dtype(parameter.type), FLOATING) if parameter.type in ("f16", "f32", "f64") else None


def _dtype(type_: str) -> str:
    """The numpy name for a PTX type; a type that numpy lacks becomes unsigned integers."""
    word = {"s": "i", "f": "f"}.get(type_[0], "u") + type_[1:]
    return DTYPES.get(word, f"uint{8 * min(8, TYPE_BYTES[type_])}")


def _whole(value: object) -> int | None:
    """The value of a scalar argument, if that is an integer."""
    value = value.value if isinstance(value, Argument) else value
    return int(value) if isinstance(value, int | np.integer) else None


def _missing(subject: Subject, position: int, found: Accesses, threads: int) -> Missing:
    parameter = subject.entry.parameters[position]
    where, reason = subject.at(parameter.line or subject.entry.line), "does not bound the thread's number"
    if instruction := found.unclear.get(parameter.name):
        where = f"{subject.at(instruction.line)}: `{instruction}`"
        reason = "is not indexed by the thread's number alone"
    elif parameter.dims:
        reason = f"is a structure of {parameter.size} bytes"
    example = _example(subject, position, found.unclear.get(parameter.name), threads)
    return Missing(subject, position, f"{where}: parameter {subject.called(position)} {reason}", example)


def request(missing: Sequence[Missing]) -> InputError:
    """The error that asks for missing parameters of all kernels, with an example for each."""
    examples = " ".join(m.example for m in missing)
    files = {m.subject.path: m.subject.specification for m in missing if m.subject.path}
    commands = " and ".join(f"`goptx spec {path} -o {there}`" for path, there in files.items())
    beside = f", or describe the launch in a file that {commands} begins" if files else ""
    if len(missing) == 1:
        return InputError(
            f"{missing[0].reason}, so no data can be made up for it. Give what the kernel needs, for example "
            f"{examples}{beside}."
        )
    return InputError(
        f"no data can be made up for {len(missing)} parameters; give all of them, for example {examples}{beside}.\n  "
        + "\n  ".join(m.reason for m in missing)
    )


def _example(subject: Subject, position: int, access: Instruction | None, threads: int) -> str:
    parameter = subject.entry.parameters[position]
    key = f"{subject.letter}:{position}"
    if parameter.dims:
        return f'args={{"{key}": bytes({parameter.size})}} (from Python)'
    if access or ".ptr" in parameter.qualifiers:
        word = next((t for t in facts_of(access.opcode).types[-1:] if t in DTYPES), "f32") if access else "f32"
        return f"--arg {key}={word}[{threads}]"
    return f"--arg {key}=i{8 * parameter.size}:{threads}"
