"""Progress reports: a bar on a terminal with `rich`, else a line now and then, on standard error."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Progress = Callable[[int, int, str], None]
"""(done, total, more text) -> None; the total is 0 if unknown."""

_LINES = 10


@contextmanager
def progress_of(what: str, quiet: bool = False) -> Iterator[Progress | None]:
    """A function that reports the progress of `what`, such as "measured"; None if `quiet`."""
    if quiet:
        yield None
        return
    try:
        from rich.console import Console
        from rich.progress import Progress as Bar
    except ImportError:
        yield lines(what)
        return
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lines(what)
        return
    with Bar(console=console, transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, of, more: bar.update(
            task, completed=done, total=of or None, description=f"{done} {what}; {more:32}"
        )


def lines(what: str) -> Progress:
    """About ten lines in all, or one for each ten steps if the total is unknown."""

    def tell(done: int, of: int, more: str) -> None:
        if done % max(1, of // _LINES if of else _LINES) == 0:
            counted = f"{done} of {of}" if of else f"{done}"
            print(f"{counted} {what}{f'; {more}' if more else ''}", file=sys.stderr, flush=True)

    return tell
