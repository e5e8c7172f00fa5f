"""Records the files that were read, of those that a caller names or that lie beside them: a result depends on them.

Files of goptx itself, such as its latency tables, and those of the cache do not count.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from goptx.errors import InputError

_READ: ContextVar[set[Path] | None] = ContextVar("read", default=None)  # separate for each thread


def note_read(path: Path) -> None:
    """To be called wherever such a file is read, also if its contents are cached already."""
    read = _READ.get()
    if read is not None:
        read.add(path)


MOST_BYTES = 1 << 26  # of a file; PTX takes up to a hundred times as much memory


def content_of(path: Path, kind: str, own: bool = False) -> bytes:
    """The content of such a file, which is noted if it is not goptx's `own`. `kind` names what to give instead in
    messages. Raises `InputError` where it cannot be read or has more than `MOST_BYTES`, as a device does that never
    ends."""
    if not own:
        note_read(path)
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:  # ValueError: a zero in the path
        reason = error.strerror if isinstance(error, OSError) else error
        raise InputError(f"{path}: cannot be read ({reason}); give the path of {kind}.") from None
    if len(content) > MOST_BYTES:
        raise InputError(f"{path}: has more than {MOST_BYTES >> 20} MiB; give the path of {kind}.")
    return content


@contextmanager
def files_read() -> Iterator[set[Path]]:
    """The files noted within the context, as paths in the given form."""
    read: set[Path] = set()
    before = _READ.set(read)
    try:
        yield read
    finally:
        _READ.reset(before)
