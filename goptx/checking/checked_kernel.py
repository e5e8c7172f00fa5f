"""A kernel under check: its entry, its file, and its launch specification."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from goptx.errors import InputError
from goptx.launch.shape import Shape
from goptx.launch.specification import Launch, find_specification, specification_beside
from goptx.ptx.ir import Function, Module
from goptx.ptx.opcodes import facts_of
from goptx.ptx.walk import instructions_of
from goptx.readable_names import short, short_parameter


@dataclass(frozen=True)
class Subject:
    """`path` is the file from which the kernel was read, None if it was not a file; `shape` the shape for which it was
    compiled, if known."""

    letter: str
    module: Module
    entry: Function
    path: Path | None
    shape: Shape | None = None

    @cached_property
    def launch(self) -> Launch | None:
        """The launch in the sizes for checks, None without a specification. Raises `InputError` if it does not fit."""
        return self.specified.small() if self.specified else None

    @cached_property
    def specified(self) -> Launch | None:
        """The launch in the sizes of the specification, None without one. Raises `InputError` if it does not fit."""
        found = find_specification(self.path, self.entry.name) if self.path else None
        return self.fitting(found, self.specification) if found else None

    def fitting(self, launch: Launch, path: Path | None) -> Launch:
        """The launch that `path` describes. Raises `InputError` if it is the launch of another kernel."""
        if len(launch.arguments) != len(self.entry.parameters):
            raise InputError(
                f"{path}: {len(launch.arguments)} arguments for `{self.entry.name}`, which has "
                f"{len(self.entry.parameters)} parameters ({self.at(self.entry.line)})."
            )
        return launch

    @property
    def specification(self) -> Path | None:
        """The path where its specification is looked for."""
        return specification_beside(self.path) if self.path else None

    @property
    def float_updates(self) -> list[str]:
        """Where its module adds floating-point numbers in memory, in an order that is not fixed."""
        code = (i for function in self.module.functions for i in instructions_of(function))
        return [self.at(i.line) for i in code if facts_of(i.opcode).is_float_update]

    def at(self, line: int) -> str:
        return f"{self.module.source}:{line}"

    def called(self, position: int) -> str:
        """The name of a parameter in messages: `A:2 (n)`."""
        return f"{self.letter}:{position} ({short_parameter(self.entry.parameters[position].name, self.entry.name)})"

    def __str__(self) -> str:
        return f"kernel {self.letter} (`{short(self.entry.name)}`)"
