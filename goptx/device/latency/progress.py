"""How far measuring is: a bar on a terminal that has `rich`, else a line now and then, on standard error."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Progress = Callable[[int, int, str], None]
"""(rows done, rows in all, the key of the next) -> nothing."""

_LINES = 10


@contextmanager
def shown(quiet: bool = False) -> Iterator[Progress | None]:
    """What to tell of the progress; nothing where `quiet`."""
    if quiet:
        yield None
        return
    try:
        from rich.console import Console
        from rich.progress import Progress as Bar
    except ImportError:
        yield lines
        return
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lines
        return
    with Bar(console=console, transient=True) as bar:
        task = bar.add_task("measuring", total=None)
        yield lambda done, of, key: bar.update(task, completed=done, total=of, description=f"measuring {key:24}")


def lines(done: int, of: int, key: str) -> None:
    """About ten of them."""
    if done % max(1, of // _LINES) == 0:
        print(f"{done} of {of} measured{f'; next {key}' if key else ''}", file=sys.stderr, flush=True)
