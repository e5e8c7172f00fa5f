"""Runs random pairs on the emulator in several processes, each on seeds of its own."""

from __future__ import annotations

import multiprocessing
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing.pool import AsyncResult
from typing import Any

from random_kernels.case import Case
from random_kernels.search import search

EACH = 100  # pairs of one seed


@dataclass(frozen=True, slots=True)
class Done:
    """What came of one seed; see `random_kernels.search`."""

    seed: int
    pairs: int
    refused: Counter[str]
    census: Counter[str]
    failing: Case | None
    failure: str
    seconds: float


def emulated(pairs: int, seed: int, workers: int, shrink: bool, strategy: str) -> Iterator[Done]:
    """The seeds from `seed` on, until so many pairs have been run; a seed ends at the first pair that fails, which
    minutes are spent on shrinking if `shrink`."""
    with multiprocessing.get_context("fork").Pool(workers, maxtasksperchild=20) as pool:
        count, submitted = 0, 0
        pending: list[AsyncResult[Done]] = []
        while count < pairs:
            while count + EACH * len(pending) < pairs and len(pending) < 2 * workers:
                pending.append(pool.apply_async(_one, (seed + submitted, shrink, strategy)))
                submitted += 1
            ready = next((p for p in pending if p.ready()), None)
            if ready is None:
                time.sleep(0.05)
                continue
            pending.remove(ready)
            done = ready.get()
            count += done.pairs
            yield done


def _one(seed: int, shrink: bool, strategy: str) -> Done:
    begin = time.monotonic()
    found = search(seed, EACH, shrink, strategy=strategy)
    return Done(
        seed, found.pairs, found.refused, found.census, found.failing, found.failure, time.monotonic() - begin
    )  # fmt: skip


def row(done: Done) -> dict[str, Any]:
    return {"seed": done.seed, "pairs": done.pairs, "seconds": round(done.seconds, 1), "failure": done.failure}
