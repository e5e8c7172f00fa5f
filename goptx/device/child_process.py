"""A process that answers one message at a time and may end at any time: the code that it runs may hang, or break the
device for every process that uses it."""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from threading import RLock
from types import ModuleType
from typing import Any

END = 30  # seconds for a killed process to end
_STARTING = RLock()  # threads that remove the caller's script at the same time would restore the wrong one


class Lost(Exception):
    """The process has no answer, and has ended; the message is the reason."""


class Child:
    """`serve(connection, *args)` runs in a process of its own, which starts with the first question. It answers each
    message that it receives with one message."""

    def __init__(self, serve: Callable[..., None], *args: Any) -> None:
        self._serve, self._args = serve, args
        self._running: tuple[BaseProcess, Connection] | None = None

    @property
    def running(self) -> bool:
        return self._running is not None

    def begin(self) -> None:
        """Starts the process, unless it runs."""
        if self._running is None:
            context = multiprocessing.get_context("spawn")
            ours, theirs = context.Pipe()
            process = context.Process(target=self._serve, args=(theirs, *self._args), daemon=True)
            with without_main(), _may_have_children():
                process.start()
            theirs.close()
            self._running = process, ours

    def ask(self, message: object, seconds: float) -> Any:
        """The answer. Raises `Lost` without an answer within `seconds`; the next question starts another process."""
        self.begin()
        assert self._running
        try:
            self._running[1].send(message)
        except OSError:
            self.end()
            raise Lost("the process ended") from None
        return self.heard(seconds)

    def heard(self, seconds: float) -> Any:
        """The next message of the process; raises as `ask`."""
        assert self._running
        connection = self._running[1]
        try:
            if connection.poll(seconds):
                return connection.recv()
        except (EOFError, OSError):
            self.end()
            raise Lost("the process ended without an answer") from None
        self.end()
        raise Lost(f"no answer within {seconds:g} s: it hangs")

    def end(self) -> None:
        if self._running:
            process, connection = self._running
            self._running = None
            process.kill()
            process.join(END)
            connection.close()


@contextmanager
def without_main() -> Iterator[None]:
    """Processes that start meanwhile do not run the caller's script, which they normally do to find in it the code to
    execute. So a script needs no `if __name__ == "__main__"` for them. Their code is in other modules."""
    with _STARTING:
        main = sys.modules["__main__"]
        sys.modules["__main__"] = ModuleType("__main__")
        try:
            yield
        finally:
            sys.modules["__main__"] = main


@contextmanager
def _may_have_children() -> Iterator[None]:
    """Lets this process start another even if it is a daemon of multiprocessing, as the workers of a Dask cluster are.
    Such a process is killed without ending its children; ours end when the pipe to their parent closes."""
    config = getattr(multiprocessing.current_process(), "_config", {})
    daemon = config.get("daemon", False)
    config["daemon"] = False
    try:
        yield
    finally:
        config["daemon"] = daemon
