"""What is kept in a folder: one file for each key, which any process of the same user may read, replace or remove.

A file is written under another name and renamed, so that no reader ever sees half of one, and nobody waits for a lock.
It begins with a digest of its key and contents: what was cut off, changed, or belongs elsewhere is as good as missing,
and so is what another user wrote or could have written, since a GPU would run it. Reading sets a file's time; where
files have more bytes than they may have, those read longest ago are removed.

Why files: home folders of clusters lie on network file systems, where sqlite3 cannot share a database (its WAL needs
memory in common), and one bad page would spoil all that it holds. cuda.core's FileStreamProgramCache works as this
does, but keeps only machine code, and needs CUDA's packages, which weaving does without.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

_OURS = re.compile(r"[0-9a-f]{64}(\.\w+)?", re.ASCII)  # an entry, or one that is being written
_ABANDONED = 3600  # seconds after which nobody goes on writing it
_SHARE = 64  # as many writes of a whole folder's bytes as it is looked through for bytes to remove
_KEPT = 7, 8  # of the bytes allowed, when some are removed


class Disk:
    """At most `limit` bytes in `folder`, which is made when something is kept; for a moment some more."""

    def __init__(self, folder: Path, limit: int) -> None:
        self.folder = folder
        self.limit = limit

    def find(self, key: str) -> bytes | None:
        """What is kept for a key, 64 hexadecimal digits."""
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
        with suppress(OSError):  # a folder that can only be read
            os.utime(path)
        return content

    def keep(self, key: str, content: bytes) -> None:
        """Raises `OSError` where nothing can be written."""
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
        # A look costs time in proportion to the files, so not every write is followed by one; the key is as good as a
        # die, and needs no count that processes would have to share.
        if int(key[:8], 16) * self.limit < (len(written) * _SHARE << 32):
            self.trim()

    def _begun(self, key: str) -> Path:
        """A new file, which only its owner can open."""
        from tempfile import mkstemp

        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, name = mkstemp(prefix=f"{key}.", dir=self.folder)
        os.close(handle)
        return Path(name)

    def entries(self) -> list[tuple[int, int, str]]:
        """When each was read last, in ns, its bytes, and its key."""
        return [(s.st_mtime_ns, s.st_size, name) for name, s in self._files() if "." not in name]

    def trim(self) -> None:
        """Removes what was read longest ago until there is room again, and what was never written to its end."""
        entries = sorted(self.entries())
        held = sum(size for _, size, _ in entries)
        part, whole = _KEPT
        aim = self.limit * part // whole if held > self.limit else held
        for _, size, name in entries:
            if held <= aim:
                break
            self._remove(name)
            held -= size
        for name in self._abandoned():
            self._remove(name)

    def clear(self) -> int:
        """Removes all that was kept, and nothing else that may lie there. Returns how many entries that were. Raises
        `OSError`."""
        names = [name for _, _, name in self.entries()]
        for name in (*names, *self._abandoned()):
            (self.folder / name).unlink(missing_ok=True)
        return len(names)

    def trouble(self) -> str:
        """Why nothing can be kept there; "" where all is well."""
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
        """What was begun, and never written to its end."""
        latest = time.time() - _ABANDONED
        return [name for name, status in self._files() if "." in name and status.st_mtime < latest]

    def _remove(self, name: str) -> None:
        with suppress(OSError):  # another process has, or holds it open
            (self.folder / name).unlink()


def _head(key: str, content: bytes) -> bytes:
    return b"goptx " + sha256(key.encode() + content).hexdigest().encode() + b"\n"


def _private(status: os.stat_result) -> bool:
    """Whether nobody else can have written the file."""
    if not hasattr(os, "geteuid"):  # folders of Windows are private by themselves
        return True
    return status.st_uid == os.geteuid() and not status.st_mode & 0o022
