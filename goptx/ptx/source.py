"""PTX text with what is known of it: a file that was read, and a kernel that somebody compiled."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from goptx.shape import Shape

TEXT = "<ptx>"  # what text is called that comes from no file


@dataclass(frozen=True, slots=True)
class PtxFile:
    """`content` is what the file at `path` held: it stays what it was, whatever becomes of the file."""

    path: Path
    content: bytes


@dataclass(frozen=True, slots=True)
class Compiled:
    """A kernel of a framework (goptx/interop). `name` is what messages call its PTX, `content`.

    entry: its name, None where the text has one only.
    shape: how it has to be launched, None for what the framework does not know. It has no clusters.
    nulls: those parameters, counted from the end of the entry's (-1 is the last), that the framework's own launches
        fill with null pointers. Nobody else passes them.
    """

    name: str
    content: str | bytes
    entry: str | None = None
    shape: Shape | None = None
    nulls: tuple[int, ...] = ()
