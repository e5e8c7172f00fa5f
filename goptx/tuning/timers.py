"""One thread for each bench, which waits for that bench."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager


@contextmanager
def timers(benches: int) -> Iterator[ThreadPoolExecutor]:
    """A pool of `benches` threads. If its body raises, work that has not begun is cancelled."""
    with ThreadPoolExecutor(benches) as pool:
        try:
            yield pool
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
