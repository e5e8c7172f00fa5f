"""Records the files that were read, of those that a caller names or that lie beside them: a result depends on them.

Files of goptx itself, such as its latency tables, and those of the cache do not count.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

_READ: ContextVar[set[Path] | None] = ContextVar("read", default=None)  # separate for each thread


def note_read(path: Path) -> None:
    """To be called wherever such a file is read, also if its contents are cached already."""
    read = _READ.get()
    if read is not None:
        read.add(path)


@contextmanager
def files_read() -> Iterator[set[Path]]:
    """The files noted within the context, as paths in the given form."""
    read: set[Path] = set()
    before = _READ.set(read)
    try:
        yield read
    finally:
        _READ.reset(before)
