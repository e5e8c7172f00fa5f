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
from goptx.readable_names import is_called, readable, short

MOST_INLINED = 200_000  # instructions of a kernel once calls are inlined, unless the caller gives another limit


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
    max_inlined: how many instructions it may have once calls are inlined in which threads wait.
    """

    module: Module
    entry: str
    path: Path | None = None
    coarse: Coarse = ALONE
    shape: Shape | None = None
    native: NativeCode | None = field(default=None, repr=False, compare=False)
    max_inlined: int = MOST_INLINED


def choose_entry(module: Module, name: str | None) -> Function:
    """The entry called `name`, in the PTX or in C++ (`axpy<float>`), or the only one. Otherwise raises `InputError`,
    which lists the entries."""
    where = f"{module.source}:{module.entries[0].line if module.entries else 1}"
    if name is None:
        if len(module.entries) == 1:
            return module.entries[0]
        remedy = (
            "name one (entries=, --entry)."
            if module.entries
            else "there is nothing to weave (an `.entry` with a body)."
        )
        raise InputError(f"{where}: the module has {_listed(module.entries)}; {remedy}")
    called = [e for e in module.entries if e.name == name] or [e for e in module.entries if is_called(e.name, name)]
    if len(called) > 1:
        several = ", ".join(f"`{readable(e.name)}`: {e.name}" for e in called)
        raise InputError(
            f"{where}: `{name}` may be one of several entries ({several}); give the types, or its PTX name."
        )
    if not called:
        raise InputError(f"{where}: no entry `{name}`; the module has {_listed(module.entries)}.")
    return called[0]


def _listed(entries: Sequence[Function]) -> str:
    """The entries, each by the shortest name that is its own."""
    for named in (short, readable, str):
        names = [named(e.name) for e in entries]
        if len(set(names)) == len(names):
            break
    return f"the entries {', '.join(f'`{n}`' for n in names)}" if entries else "no entry"
