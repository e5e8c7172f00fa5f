"""A kernel under check: its entry, where it comes from, and what its launch specification says of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from goptx.errors import InputError
from goptx.launch.shape import Shape
from goptx.launch.specification import Launch, find_specification, specification_beside
from goptx.ptx.ir import Function, Module


@dataclass(frozen=True)
class Subject:
    """`path` is the file that it was read from, None where it was none; `shape` what it was compiled for, if that was
    said."""

    letter: str
    module: Module
    entry: Function
    path: Path | None
    shape: Shape | None = None

    @cached_property
    def launch(self) -> Launch | None:
        """In the sizes for checks; None without a specification. Raises `InputError` where that does not fit."""
        return self.specified.small() if self.specified else None

    @cached_property
    def specified(self) -> Launch | None:
        """In the sizes of the specification, as `launch`."""
        found = find_specification(self.path, self.entry.name) if self.path else None
        return self.fitting(found, self.specification) if found else None

    def fitting(self, launch: Launch, path: Path | None) -> Launch:
        """The launch, which `path` describes. Raises `InputError` where it is one of another kernel."""
        if len(launch.arguments) != len(self.entry.parameters):
            raise InputError(
                f"{path}: {len(launch.arguments)} arguments for `{self.entry.name}`, which has "
                f"{len(self.entry.parameters)} parameters ({self.at(self.entry.line)})."
            )
        return launch

    @property
    def specification(self) -> Path | None:
        """The file where its specification is looked for."""
        return specification_beside(self.path) if self.path else None

    def at(self, line: int) -> str:
        return f"{self.module.source}:{line}"

    def called(self, position: int) -> str:
        """A parameter as messages have it: `A:2 (n)`."""
        return f"{self.letter}:{position} ({self.entry.parameters[position].name})"

    def __str__(self) -> str:
        return f"kernel {self.letter} (`{self.entry.name}`)"
