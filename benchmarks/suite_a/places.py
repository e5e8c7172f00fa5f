"""The workers of suite A: processes that make kernels, and GPUs that measure side by side, each with a process that is
reused for all pairs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import get_context
from queue import SimpleQueue

from goptx.measuring.bench import bench as benches
from goptx.measuring.bench.bench import Bench

LIMIT = 6  # seconds after which a kernel of the suite hangs: they take milliseconds


@dataclass(slots=True)
class Places:
    """`pool` makes; `threads` are as many as GPUs."""

    pool: ProcessPoolExecutor
    threads: ThreadPoolExecutor
    free: SimpleQueue[Bench] = field(default_factory=SimpleQueue)

    @contextmanager
    def bench(self) -> Iterator[Bench]:
        """One that nobody else has meanwhile."""
        taken = self.free.get()
        try:
            yield taken
        finally:
            self.free.put(taken)


@contextmanager
def places(devices: Sequence[int], workers: int) -> Iterator[Places]:
    """On these devices, with so many processes."""
    benches.LIMIT = LIMIT
    every = [Bench(number) for number in devices]
    try:
        with (
            ProcessPoolExecutor(workers, get_context("spawn")) as pool,
            ThreadPoolExecutor(len(devices)) as threads,
        ):
            there = Places(pool, threads)
            for bench in every:
                there.free.put(bench)
            yield there
    finally:
        for bench in every:
            bench.close()
