"""Makes candidates in other processes; a process pool of this machine is replaced when one of its processes dies."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from threading import Lock

from goptx.device.child_process import without_main
from goptx.strategies.candidate import Candidate
from goptx.tuning.making import Job, Made, make
from goptx.tuning.measured import Measured


class Makers:
    """`executor` makes candidates; by default a pool of `workers` processes. Threads may share a `Makers`."""

    def __init__(self, subject: Measured, executor: Executor | None, workers: int | None) -> None:
        self._subject, self._workers = subject, workers
        self._executor, self._own = executor or self._processes(), executor is None
        self._lock = Lock()

    def submit(self, candidate: Candidate) -> Future[Made]:
        """Makes the candidate without its cap. An error of the executor is raised by the future."""
        subject = self._subject
        job = Job(subject.kernels, subject.shapes, subject.tunable, candidate.uncapped, subject.arch)
        with self._lock, without_main():
            try:
                try:
                    return self._executor.submit(make, job)
                except BrokenExecutor:
                    if not self._own:
                        raise
                    self._executor = self._processes()
                    return self._executor.submit(make, job)
            except Exception as problem:
                failed: Future[Made] = Future()
                failed.set_exception(problem)
                return failed

    def close(self) -> None:
        if self._own:
            self._executor.shutdown(wait=False, cancel_futures=True)

    def _processes(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(self._workers or os.cpu_count(), get_context("spawn"))


@contextmanager
def makers(subject: Measured, executor: Executor | None, workers: int | None) -> Iterator[Makers]:
    made = Makers(subject, executor, workers)
    try:
        yield made
    finally:
        made.close()
