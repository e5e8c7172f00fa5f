"""Processes that make kernels side by side. One that hangs is ended after a time, and replaced."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from multiprocessing.connection import Connection
from queue import SimpleQueue
from typing import Any

from goptx.device.child_process import Child

LIMIT = 120  # seconds for a kernel


class Makers:
    """So many processes; `limit` in seconds for each call."""

    def __init__(self, workers: int, limit: float = LIMIT) -> None:
        self._threads = ThreadPoolExecutor(workers)
        self._limit = limit
        self._children = [Child(serve) for _ in range(workers)]
        self._free: SimpleQueue[Child] = SimpleQueue()
        for child in self._children:
            self._free.put(child)

    def submit(self, function: Callable[..., Any], *arguments: object) -> Future[Any]:
        """The result of the function, which is of a module, in one of the processes. It raises `Lost` if there is no
        result in time, and `RuntimeError` for an error of the function."""
        return self._threads.submit(self._called, function, arguments)

    def close(self) -> None:
        """Ends the processes; what has not begun is left out."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        for child in self._children:
            child.end()

    def _called(self, function: Callable[..., Any], arguments: tuple[object, ...]) -> Any:
        child = self._free.get()
        try:
            right, answer = child.ask((function, arguments), self._limit)
        finally:
            self._free.put(child)
        if not right:
            raise RuntimeError(answer)
        return answer


@contextmanager
def makers(workers: int, limit: float = LIMIT) -> Iterator[Makers]:
    """They end with the block."""
    there = Makers(workers, limit)
    try:
        yield there
    finally:
        there.close()


def serve(connection: Connection) -> None:
    """What each process does: calls a function, and answers (whether it returned, its result or error)."""
    while True:
        try:
            function, arguments = connection.recv()
        except EOFError:
            return
        try:
            answer = True, function(*arguments)
        except Exception as error:  # reported by the parent
            answer = False, f"{type(error).__name__}: {error}"
        connection.send(answer)
