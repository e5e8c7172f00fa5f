"""The GPUs that measure side by side, each held by a process that is reused for all pairs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from queue import SimpleQueue

from goptx.device.bench import bench as benches
from goptx.device.bench.bench import Bench

LIMIT = 6  # seconds after which a kernel of the suite hangs: they take milliseconds


@contextmanager
def places(devices: Sequence[int]) -> Iterator[SimpleQueue[Bench]]:
    """To be taken and put back."""
    benches.LIMIT = LIMIT
    every = [Bench(number) for number in devices]
    free: SimpleQueue[Bench] = SimpleQueue()
    for bench in every:
        free.put(bench)
    try:
        yield free
    finally:
        for bench in every:
            bench.close()
