"""Threads that wait for benches, one for each."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager


@contextmanager
def timers(benches: int) -> Iterator[ThreadPoolExecutor]:
    """What was not begun when something is raised is not done any more."""
    with ThreadPoolExecutor(benches) as pool:
        try:
            yield pool
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
