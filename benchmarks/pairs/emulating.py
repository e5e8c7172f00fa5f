"""Runs random cases of several ways on the emulator in several processes, each on seeds of its own."""

from __future__ import annotations

import multiprocessing
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from multiprocessing.pool import AsyncResult

from random_kernels.case import Case
from random_kernels.search import search

EACH = 50  # cases of one seed
MOST_DRAWN = 12  # times as many as are to be compared: few are declined, but for kernels that depend on each other


@dataclass(frozen=True, slots=True)
class Done:
    """What came of one seed; see `random_kernels.search`. compared: those that were not declined."""

    way: str
    seed: int
    drawn: int
    compared: int
    refused: Counter[str]
    census: Counter[str]
    failing: Case | None
    failure: str
    seconds: float


@dataclass(slots=True)
class _Progress:
    """Of one way, in seeds and in cases."""

    seed: int
    submitted: int = 0
    finished: int = 0
    drawn: int = 0
    compared: int = 0

    def wants(self, cases: int, each: int) -> bool:
        """Whether those on their way are likely to be too few."""
        pending = (self.submitted - self.finished) * each
        share = (self.compared + 1) / (self.drawn + 1)
        return self.compared + share * pending < cases and self.drawn + pending < MOST_DRAWN * cases


def emulated(
    first: Mapping[str, int], cases: int, workers: int, shrink: bool, end: float, generator: str
) -> Iterator[Done]:
    """Of each way the seeds from `first` on, until so many cases have been compared, or too many drawn, or the clock
    shows `end`; a seed ends at the first case that fails, which minutes are spent on shrinking if `shrink`."""
    progress = {way: _Progress(seed) for way, seed in first.items()}
    each = min(EACH, cases)
    with multiprocessing.get_context("fork").Pool(workers, maxtasksperchild=20) as pool:
        pending: list[AsyncResult[Done]] = []
        while True:
            for way, one in progress.items():
                while len(pending) < 2 * workers and one.wants(cases, each):
                    pending.append(pool.apply_async(_one, (way, one.seed + one.submitted, each, shrink, generator)))
                    one.submitted += 1
            if not pending or time.monotonic() > end:
                return
            ready = next((p for p in pending if p.ready()), None)
            if ready is None:
                time.sleep(0.02)
                continue
            pending.remove(ready)
            done = ready.get()
            one = progress[done.way]
            one.finished += 1
            one.drawn += done.drawn
            one.compared += done.compared
            yield done


def _one(way: str, seed: int, cases: int, shrink: bool, generator: str) -> Done:
    begin = time.process_time()
    found = search(seed, cases, shrink, way=way, generator=generator)
    compared = found.pairs - found.refused.total()
    return Done(
        way, seed, found.pairs + (found.failing is not None), compared, found.refused, found.census, found.failing,
        found.failure, time.process_time() - begin,
    )  # fmt: skip
