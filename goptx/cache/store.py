"""Finds cached results by key: in the memory of this process, else on the disk, which processes share.

Errors of the disk are harmless here: a file that cannot be read is missing, one that cannot be written is skipped.
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
    """Whether anything is cached. Raises `InputError` for an invalid environment."""
    return settings.limit() > 0


def disk() -> Disk | None:
    """The cache on disk; None where nothing is cached on a disk."""
    folder, limit = settings.folder(), settings.limit()
    return Disk(folder, limit) if folder and limit else None


def find(key: str, read: Callable[[bytes], V]) -> V | None:
    """`read` of the bytes cached for the key; None if there are none or `read` fails."""
    content = MEMORY.find(key)
    if content is None and (there := disk()) and (content := there.find(key)) is not None:
        MEMORY.keep(key, content)
    try:
        return None if content is None else read(content)
    except Exception:  # whatever the content, despite its correct digest
        return None


def keep(key: str, content: bytes) -> None:
    MEMORY.keep(key, content)
    if there := disk():
        with suppress(OSError):
            there.keep(key, content)
