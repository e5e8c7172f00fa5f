"""Which files were read of those that a caller names, or that lie beside one: what depends on a result has to know.

Files of goptx itself, such as the latency tables that it brings, and of the cache are none of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

_READ: ContextVar[set[Path] | None] = ContextVar("read", default=None)  # of each thread its own


def note_read(path: Path) -> None:
    """To be called wherever such a file is read, also if what is made of it is there already."""
    read = _READ.get()
    if read is not None:
        read.add(path)


@contextmanager
def files_read() -> Iterator[set[Path]]:
    """What was noted since, paths as they were given."""
    read: set[Path] = set()
    before = _READ.set(read)
    try:
        yield read
    finally:
        _READ.reset(before)
