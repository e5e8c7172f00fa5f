"""The witness in a fused kernel's text: the kernels that it was made of, their names in it, and for each instruction
the kernel that it comes from. It stands in comments, so assemblers do not see it.

Whatever it claims is checked: a wrong claim, or one that is missing, can only make a proof fail.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from goptx.ptx.ir import Instruction, Module, indent, lines_of

MARK = "// goptx witness 1 "
_CLAIM = re.compile(r"([A-Z])(?:\.([0-9]+))?:([0-9]+)")


@dataclass(frozen=True, slots=True)
class Claim:
    """That an instruction comes from a line of a kernel. `copy` counts the copies of a coarsened kernel."""

    kernel: str
    line: int
    copy: int = 0

    def __str__(self) -> str:
        copy = f".{self.copy}" if self.copy else ""
        return f"{self.kernel}{copy}:{self.line}"


@dataclass(frozen=True, slots=True)
class Named:
    """A kernel of the fused one. `parameters` are what its parameters are called there, in order; `symbols` what its
    variables and functions are called, by their names; `prefix` begins the names of what its body declares."""

    letter: str
    entry: str
    digest: str
    prefix: str
    parameters: tuple[str, ...]
    symbols: Mapping[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """For the header, in which everything is text."""
        return {
            "entry": self.entry, "sha256": self.digest, "prefix": self.prefix,
            "parameters": list(self.parameters), "symbols": dict(self.symbols),
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Witness:
    """`claims` are those of each line of the text, or, before there is one, of each instruction of the entry.

    depends: whether kernels may depend on those before them.
    named: parameters that are one buffer with those of their name and with no other. One that the fused kernel does not
        have is a temporary.
    """

    strategy: str
    entry: str
    shapes: str
    kernels: tuple[Named, ...]
    claims: Mapping[int, tuple[Claim, ...]] = field(default_factory=dict)
    depends: bool = False
    named: tuple[str, ...] = ()

    def header(self) -> str:
        """The comment that stands above everything else."""
        kernels = {k.letter: k.to_dict() for k in self.kernels}
        promised = {"depends": self.depends, "named": list(self.named)}
        held = {"strategy": self.strategy, "entry": self.entry, "shapes": self.shapes, "kernels": kernels, **promised}
        return MARK + json.dumps(held)

    def written(self, module: Module) -> str:
        """The text of the module with this witness."""
        entry = next(e for e in module.entries if e.name == self.entry)
        body = indent(entry.body or ())
        lines = []
        number = 0
        for line, statement in lines_of(entry.body or ()):
            if isinstance(statement, Instruction):
                its = self.claims.get(number, ())
                line, number = f"{line} // {' '.join(map(str, its))}" if its else line, number + 1
            lines.append(f"{line}\n")
        return f"{self.header()}\n{str(module).replace(body, ''.join(lines), 1)}"


def read_witness(text: str) -> Witness | None:
    """The witness in a text, None where there is no header, or one that cannot be read."""
    lines = text.splitlines()
    header = next((line for line in lines if line.startswith(MARK)), None)
    if header is None:
        return None
    try:
        held = json.loads(header.removeprefix(MARK))
        kernels = tuple(
            Named(letter, k["entry"], k["sha256"], k["prefix"], tuple(k["parameters"]), dict(k["symbols"]))
            for letter, k in held["kernels"].items()
        )
        claims = {number: its for number, line in enumerate(lines, 1) if (its := _claims(line))}
        promised = bool(held["depends"]), tuple(held["named"])
        return Witness(held["strategy"], held["entry"], held["shapes"], kernels, claims, *promised)
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def _claims(line: str) -> tuple[Claim, ...]:
    code, comment, words = line.rpartition("// ")
    if not comment or not code.strip():
        return ()
    found = [_CLAIM.fullmatch(word) for word in words.split()]
    return tuple(Claim(m[1], int(m[3]), int(m[2] or 0)) for m in found if m) if all(found) else ()
