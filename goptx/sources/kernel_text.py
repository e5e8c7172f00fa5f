"""PTX with facts about it: a compiled kernel of a framework, and a kernel that was chosen to be woven."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from goptx.errors import InputError
from goptx.launch.coarsening import ALONE, Coarse
from goptx.launch.native_code import NativeCode
from goptx.launch.shape import Shape
from goptx.ptx.ir import Function, Module


@dataclass(frozen=True, slots=True)
class Compiled:
    """A kernel of a framework (goptx/sources). Messages call its PTX, `content`, by `name`.

    entry: its name, None where the text has only one.
    shape: its launch shape, None for sizes that the framework does not know. It has no clusters.
    scratch: the positions of scratch parameters, counted from the end of the entry's (-1 is the last): only the
        framework's own launches pass them, as null pointers.
    native: the machine code that the framework launches, if it has any.
    """

    name: str
    content: str | bytes
    entry: str | None = None
    shape: Shape | None = None
    scratch: tuple[int, ...] = ()
    native: NativeCode | None = None


@dataclass(frozen=True, slots=True)
class Chosen:
    """A kernel to be woven: its module, the name of its entry, its file if it was read from one, how many of its CTAs
    become one, and the shape for which it was compiled, if known: a block and bytes of dynamic shared memory.

    native: its machine code as its framework made it, which separate launches use.
    """

    module: Module
    entry: str
    path: Path | None = None
    coarse: Coarse = ALONE
    shape: Shape | None = None
    native: NativeCode | None = field(default=None, repr=False, compare=False)


def choose_entry(module: Module, name: str | None) -> Function:
    """The entry called `name`, or the only one. Otherwise raises `InputError`, which lists the entries."""
    names = [e.name for e in module.entries]
    if name is not None:
        for entry in module.entries:
            if entry.name == name:
                return entry
        raise InputError(f"{module.source}:{_line(module)}: no entry `{name}`; the module has {_listed(names)}.")
    if len(names) != 1:
        raise InputError(
            f"{module.source}:{_line(module)}: the module has {_listed(names)}; "
            + ("name one (entries=, --entry)." if names else "there is nothing to weave (an `.entry` with a body).")
        )
    return module.entries[0]


def _line(module: Module) -> int:
    return module.entries[0].line if module.entries else 1


def _listed(names: Sequence[str]) -> str:
    return f"the entries {', '.join(f'`{n}`' for n in names)}" if names else "no entry"
