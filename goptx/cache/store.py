"""What was made is found again by its key: in the memory of this process, else on the disk, which processes share.

Nothing here fails for want of a disk: what cannot be read is missing, what cannot be written is forgotten.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from goptx.cache import settings
from goptx.cache.disk import Disk
from goptx.cache.in_memory import Memory

V = TypeVar("V")

MEMORY = Memory(64 * settings.MIB)


def switched_on() -> bool:
    """Whether anything is kept. Raises `InputError` where the environment makes no sense."""
    return settings.limit() > 0


def disk() -> Disk | None:
    """None where nothing is kept on a disk."""
    folder, limit = settings.folder(), settings.limit()
    return Disk(folder, limit) if folder and limit else None


def find(key: str, read: Callable[[bytes], V]) -> V | None:
    """What `read` makes of the bytes kept for the key; what it cannot read is missing."""
    content = MEMORY.find(key)
    if content is None and (there := disk()) and (content := there.find(key)) is not None:
        MEMORY.keep(key, content)
    try:
        return None if content is None else read(content)
    except Exception:  # whatever lies there under a right digest
        return None


def keep(key: str, content: bytes) -> None:
    MEMORY.keep(key, content)
    if there := disk():
        with suppress(OSError):
            there.keep(key, content)
