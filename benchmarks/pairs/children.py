"""Runs jobs in child processes side by side; each is reused, and replaced after a hang or an error of the GPU.

All is done by one thread, which waits for whichever child answers first: a child that hangs holds up no other, and is
ended when its time is over.
"""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any

from pairs.job import Job
from pairs.launching import serve

START, LIMIT = 120, 8  # seconds, for a new child and for a job, which takes far less than one
TOGETHER = 30  # seconds for a child to end
Answer = dict[str, Any]
Serve = Callable[[Connection, str], None]


@dataclass(slots=True, eq=False)
class Child:
    """A process for a device. job: what it is busy with, which it gets when it is `ready`. alone: whether the kernels
    have run alone. deadline: when it has to have answered."""

    process: BaseProcess
    connection: Connection
    device: str
    deadline: float
    job: Job | None = None
    ready: bool = False
    alone: bool = False

    def give(self, job: Job) -> None:
        """Raises OSError where the child has ended."""
        self.job, self.alone = job, False
        if self.ready:
            self.deadline = time.monotonic() + LIMIT
            self.connection.send(job)


class Children:
    """`count` of them, on the devices in turn (as `CUDA_VISIBLE_DEVICES` names them). `replaced` counts those that had
    to be ended."""

    def __init__(self, count: int = 1, devices: Sequence[str] = ("0",), serving: Serve = serve) -> None:
        self.replaced = 0
        self._serving = serving
        self._free = [devices[i % len(devices)] for i in reversed(range(count))]  # of children that are to be begun
        self._idle: list[Child] = []
        self._busy: list[Child] = []

    def answers(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, Answer]]:
        """Each job with the answer of `launching.compared`, or with a problem: a hang or fault of a `separate` kernel
        too. Jobs that come first need not be answered first."""
        try:
            for job in jobs:
                if job.problem or not job.parts:
                    yield job, {"refused": job.refused, "problem": job.problem}
                    continue
                while not (self._idle or self._free):
                    yield from self._answered()
                yield from self._begin(job)
                yield from self._answered(0)
            while self._busy:
                yield from self._answered()
        finally:
            for child in (*self._idle, *self._busy):
                self._end(child)

    def _begin(self, job: Job) -> Iterator[tuple[Job, Answer]]:
        child = self._idle.pop() if self._idle else self._new(self._free.pop())
        self._busy.append(child)
        try:
            child.give(job)
        except OSError:
            yield self._finished(child, {"problem": "the child ended before the job"})

    def _answered(self, seconds: float | None = None) -> Iterator[tuple[Job, Answer]]:
        """Of the children that have answered, or should have; waits for one of them at most so long."""
        if seconds is None:
            seconds = max(min(child.deadline for child in self._busy) - time.monotonic(), 0)
        answering = wait([child.connection for child in self._busy], seconds)
        now = time.monotonic()
        for child in list(self._busy):
            answer: Answer | None = None
            if child.connection in answering:
                answer = self._received(child)
            elif child.deadline <= now:
                limit = LIMIT if child.ready else START
                answer = {"problem": f"no answer within {limit} s: hangs", "hang": child.ready}
            if answer is not None:
                yield self._finished(child, answer)

    def _received(self, child: Child) -> Answer | None:
        """The answer to the job; None where the child says that it is ready, or that the kernels have run alone."""
        try:
            answer: Answer = child.connection.recv()
            if "ready" in answer and child.job is not None:
                child.ready = True
                child.give(child.job)
                return None
        except (EOFError, OSError):
            return {"problem": "the child ended without an answer"}
        if "alone" in answer:
            child.alone, child.deadline = True, time.monotonic() + LIMIT
            return None
        return answer

    def _finished(self, child: Child, answer: Answer) -> tuple[Job, Answer]:
        job = child.job
        assert job is not None
        if not child.ready:
            raise RuntimeError(f"a child does not begin: {answer.get('problem')}")
        if not child.alone and (answer.get("hang") or answer.get("problem", "").startswith("CUDAError")):
            answer["separate"] = True
        child.job = None
        self._busy.remove(child)
        if "problem" in answer:
            self._end(child)
            self._free.append(child.device)
            self.replaced += 1
        else:
            self._idle.append(child)
        return job, answer

    def _new(self, device: str) -> Child:
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=self._serving, args=(theirs, device), daemon=True)
        process.start()
        theirs.close()
        return Child(process, ours, device, time.monotonic() + START)

    def _end(self, child: Child) -> None:
        child.connection.close()
        child.process.kill()
        child.process.join(TOGETHER)
