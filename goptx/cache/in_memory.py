"""The cache in memory: contents are bytes, so that they cannot be changed."""

from __future__ import annotations

from threading import Lock


class Memory:
    """At most `limit` bytes; the entry used longest ago is removed first. Threads may share one."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.held = 0
        self._contents: dict[str, bytes] = {}  # in the order of their last use
        self._lock = Lock()

    def find(self, key: str) -> bytes | None:
        with self._lock:
            content = self._contents.pop(key, None)
            if content is not None:
                self._contents[key] = content
            return content

    def keep(self, key: str, content: bytes) -> None:
        with self._lock:
            self.held += len(content) - len(self._contents.pop(key, b""))
            self._contents[key] = content
            while self.held > self.limit:
                self.held -= len(self._contents.pop(next(iter(self._contents))))

    def clear(self) -> None:
        with self._lock:
            self._contents.clear()
            self.held = 0
