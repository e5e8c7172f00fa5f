"""The witness in a fused kernel's text: the kernels that it was made of, their names in it, and for each instruction
the kernel that it comes from. It stands in comments, so assemblers do not see it.

Whatever it claims is checked: a wrong claim, or one that is missing, can only make a proof fail.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

from goptx.ptx.ir import Instruction, Module, indent, lines_of

MARK = "// goptx witness 1 "
Sizes = tuple[int | None, ...]  # along x, y and z; None where it is known at launch only
_CLAIM = re.compile(r"([A-Z])(?:\.([0-9]{1,9}))?:([0-9]{1,9})")


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
class OwnLaunch:
    """The shape in which a kernel is launched alone, None for sizes that are known at launch only; and where that is in
    the fused kernel: `first` is the thread that is its thread 0, `factor` CTAs along the axis (0 is x) are in one.
    `stride`: from a CTA to the next one it is so far among those that carry the kernel; 0: they are in order."""

    grid: Sizes
    block: Sizes
    shared: int | None = 0
    first: int = 0
    factor: int = 1
    axis: int = 0
    stride: int = 0

    def __str__(self) -> str:
        """As in `goptx weave --shape`."""
        shared = "" if self.shared == 0 else f":{'?' if self.shared is None else self.shared}"
        return f"{_extent(self.grid)}:{_extent(self.block)}{shared}"


@dataclass(frozen=True, slots=True)
class FusedLaunch:
    """How the fused kernel is launched. `common`: all kernels have one grid and block. `interleaved`: each CTA is one
    of a single kernel; `ratio` CTAs of each follow each other, or else `placement` says how they are distributed.
    `clusters`: whether there are any. `hidden` has the parameters that hold sizes, by their roles."""

    grid: Sizes
    block: Sizes
    placement: str
    ratio: tuple[int, ...] = ()
    common: bool = False
    interleaved: bool = False
    clusters: bool = False
    hidden: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        how = f"{':'.join(map(str, self.ratio))} CTAs at a time" if self.ratio else self.placement
        return f"{_extent(self.grid)}:{_extent(self.block)}, {'side by side, ' * self.interleaved}{how}"


@dataclass(frozen=True, slots=True)
class Named:
    """A kernel of the fused one. `parameters` are what its parameters are called there, in order; `symbols` what its
    variables and functions are called, by their names; `prefixes` begin the names of what its body declares, one for
    each copy of a coarsened kernel. `pooled` has, for each, at which byte of the dynamic array `pool` its shared arrays
    begin."""

    letter: str
    entry: str
    digest: str
    prefixes: tuple[str, ...]
    parameters: tuple[str, ...]
    symbols: Mapping[str, str] = field(default_factory=dict)
    launch: OwnLaunch | None = None
    pool: str = ""
    pooled: tuple[Mapping[str, int], ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """For the header, in which everything is text."""
        return {
            "entry": self.entry, "sha256": self.digest, "prefixes": list(self.prefixes),
            "parameters": list(self.parameters), "symbols": dict(self.symbols),
            "launch": self.launch and asdict(self.launch), "pool": self.pool, "pooled": list(map(dict, self.pooled)),
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
    kernels: tuple[Named, ...]
    claims: Mapping[int, tuple[Claim, ...]] = field(default_factory=dict)
    launch: FusedLaunch | None = None
    depends: bool = False
    named: tuple[str, ...] = ()

    @property
    def launches(self) -> str:
        """For which launches of the kernels the fused kernel is made, and how it is launched itself."""
        if self.launch is None:
            return "every launch with one grid and block for all"
        shapes = ", ".join(f"{k.letter}={k.launch}" for k in self.kernels)
        common = " with one grid and block for all" if self.launch.common and len(self.kernels) > 1 else ""
        return f"every launch of {shapes}{common}, as {self.launch}"

    def header(self) -> str:
        """The comment that stands above everything else."""
        kernels = {k.letter: k.to_dict() for k in self.kernels}
        held = {
            "strategy": self.strategy, "entry": self.entry, "kernels": kernels,
            "launch": self.launch and asdict(self.launch), "depends": self.depends, "named": list(self.named),
        }  # fmt: skip
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


_Launch = TypeVar("_Launch", OwnLaunch, FusedLaunch)
_Plain = TypeVar("_Plain")


def read_witness(text: str) -> Witness | None:
    """The witness in a text, None where there is no header, or one that cannot be read."""
    lines = text.splitlines()
    header = next((line for line in lines if line.startswith(MARK)), None)
    if header is None:
        return None
    try:
        held = json.loads(header.removeprefix(MARK))
        kernels = tuple(
            Named(
                letter, _is(str, k["entry"]), _is(str, k["sha256"]), _all(str, k["prefixes"]),
                _all(str, k["parameters"]), _map(str, k["symbols"]), _launch(OwnLaunch, k["launch"]),
                _is(str, k["pool"]), tuple(_map(int, one) for one in k["pooled"]),
            )
            for letter, k in held["kernels"].items()
        )  # fmt: skip
        launch = _launch(FusedLaunch, held["launch"])
        promised = _is(bool, held["depends"]), _all(str, held["named"])
        found = Witness(_is(str, held["strategy"]), _is(str, held["entry"]), kernels, {}, launch, *promised)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    claims = {number: its for number, line in enumerate(lines, 1) if (its := _claims(line))}
    return replace(found, claims=claims)


def _extent(sizes: Sizes) -> str:
    last = max([i for i, n in enumerate(sizes) if n != 1], default=0)
    return "x".join("?" if n is None else str(n) for n in sizes[: last + 1])


def _launch(kind: type[_Launch], held: Mapping[str, Any] | None) -> _Launch | None:
    if held is None:
        return None
    return kind(**{name: _FIELDS[name](value) for name, value in held.items()})


def _is(kind: type[_Plain], value: object) -> _Plain:
    """Raises `TypeError` for what is of another kind."""
    if type(value) is not kind:
        raise TypeError
    return value


def _all(kind: type[_Plain], values: object) -> tuple[_Plain, ...]:
    return tuple(_is(kind, v) for v in _is(list, values))


def _map(kind: type[_Plain], values: object) -> dict[str, _Plain]:
    return {name: _is(kind, v) for name, v in _is(dict, values).items()}


def _sizes(values: object) -> Sizes:
    return tuple(None if v is None else _is(int, v) for v in _is(list, values))


_FIELDS: Mapping[str, Callable[[object], Any]] = {
    **dict.fromkeys(("grid", "block"), _sizes),
    **dict.fromkeys(("first", "factor", "axis", "stride"), partial(_is, int)),
    **dict.fromkeys(("common", "interleaved", "clusters"), partial(_is, bool)), "placement": partial(_is, str),
    "shared": lambda value: None if value is None else _is(int, value), "ratio": partial(_all, int),
    "hidden": partial(_map, str),
}  # fmt: skip


def _claims(line: str) -> tuple[Claim, ...]:
    code, comment, words = line.rpartition("// ")
    if not comment or not code.strip():
        return ()
    found = [_CLAIM.fullmatch(word) for word in words.split()]
    return tuple(Claim(m[1], int(m[3]), int(m[2] or 0)) for m in found if m) if all(found) else ()
