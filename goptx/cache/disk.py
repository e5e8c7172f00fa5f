"""The cache on disk: one file for each key, which any process of the same user may read, replace or remove.

A file is written under another name and renamed, so that no reader sees a part of one, and no process waits for a lock.
It begins with a digest of its key and contents: a file that is cut off, changed or misplaced counts as missing. So does
a file that another user wrote or could have written, since a GPU would run it. Reading sets a file's time; where
files have more bytes than they may have, those read longest ago are removed.

Why files: home folders of clusters are on network file systems, where sqlite3 cannot share a database (its WAL needs
shared memory), and one bad page would destroy all of it. cuda.core's FileStreamProgramCache works in the same manner,
but stores only machine code, and needs CUDA's packages, without which weaving works.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

_OURS = re.compile(r"[0-9a-f]{64}(\.\w+)?", re.ASCII)  # an entry, or one in progress
_ABANDONED = 3600  # seconds after which an unfinished file counts as abandoned
_SHARE = 64  # searches for bytes to remove, for each folder's worth of bytes written
_REMAINING = 7, 8  # the share of the allowed bytes that remains after a removal


class Disk:
    """At most `limit` bytes in `folder`, which is created when needed; for a moment some more."""

    def __init__(self, folder: Path, limit: int) -> None:
        self.folder = folder
        self.limit = limit

    def find(self, key: str) -> bytes | None:
        """The content cached for a key, 64 hexadecimal digits."""
        path = self.folder / key
        try:
            with path.open("rb") as file:
                status = os.fstat(file.fileno())
                if not _private(status) or status.st_size > self.limit:
                    return None
                head, content = file.readline(), file.read()
        except OSError:
            return None
        if head != _head(key, content):
            return None
        with suppress(OSError):  # a read-only folder
            os.utime(path)
        return content

    def keep(self, key: str, content: bytes) -> None:
        """Caches the content. Raises `OSError` where nothing can be written."""
        written = _head(key, content) + content
        if len(written) > self.limit:
            return
        temporary = self._begun(key)
        try:
            temporary.write_bytes(written)
            temporary.replace(self.folder / key)
        except OSError:
            temporary.unlink(missing_ok=True)
            raise
        # A search takes time in proportion to the files, so it does not follow every write. The key serves as a random
        # number, and needs no count that processes would have to share.
        if int(key[:8], 16) * self.limit < (len(written) * _SHARE << 32):
            self.trim()

    def _begun(self, key: str) -> Path:
        """A new file that only its owner can open."""
        from tempfile import mkstemp

        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, name = mkstemp(prefix=f"{key}.", dir=self.folder)
        os.close(handle)
        return Path(name)

    def entries(self) -> list[tuple[int, int, str]]:
        """The time of the last read in ns, the size and the key of each entry."""
        return [(s.st_mtime_ns, s.st_size, name) for name, s in self._files() if "." not in name]

    def trim(self) -> None:
        """Removes abandoned files, and entries read longest ago until enough bytes are free."""
        entries = sorted(self.entries())
        held = sum(size for _, size, _ in entries)
        part, whole = _REMAINING
        aim = self.limit * part // whole if held > self.limit else held
        for _, size, name in entries:
            if held <= aim:
                break
            self._remove(name)
            held -= size
        for name in self._abandoned():
            self._remove(name)

    def clear(self) -> int:
        """Removes all cached files and nothing else that may be in the folder. Returns the number of entries. Raises
        `OSError`."""
        names = [name for _, _, name in self.entries()]
        for name in (*names, *self._abandoned()):
            (self.folder / name).unlink(missing_ok=True)
        return len(names)

    def trouble(self) -> str:
        """The reason why nothing can be cached there; "" if there is none."""
        try:
            probe = self._begun("0" * 64)
            try:
                return "" if _private(probe.stat()) else "files in it belong to others too"
            finally:
                probe.unlink()
        except OSError as error:
            return error.strerror or str(error)

    def _files(self) -> Iterator[tuple[str, os.stat_result]]:
        try:
            found = list(os.scandir(self.folder))
        except OSError:
            return
        for file in found:
            with suppress(OSError):  # another process has removed it
                if _OURS.fullmatch(file.name) and file.is_file(follow_symlinks=False):
                    yield file.name, file.stat(follow_symlinks=False)

    def _abandoned(self) -> list[str]:
        """The files that were begun and never finished."""
        latest = time.time() - _ABANDONED
        return [name for name, status in self._files() if "." in name and status.st_mtime < latest]

    def _remove(self, name: str) -> None:
        with suppress(OSError):  # another process has removed it, or has it open
            (self.folder / name).unlink()


def _head(key: str, content: bytes) -> bytes:
    return b"goptx " + sha256(key.encode() + content).hexdigest().encode() + b"\n"


def _private(status: os.stat_result) -> bool:
    """Whether no other user can have written the file."""
    if not hasattr(os, "geteuid"):  # folders of Windows are private by themselves
        return True
    return status.st_uid == os.geteuid() and not status.st_mode & 0o022
