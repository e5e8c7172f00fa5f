"""Runs jobs in a child process that is reused, and replaced after a hang or an error of the GPU."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterable, Iterator
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

from pairs.job import Job
from pairs.launching import serve

START, LIMIT = 120, 20  # seconds, for a new child and for a job
TOGETHER = 30  # seconds for a child to end


class Children:
    """`replaced` counts the children that had to be ended."""

    def __init__(self) -> None:
        self.replaced = 0
        self._child: tuple[BaseProcess, Connection] | None = None

    def answers(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, dict[str, Any]]]:
        """Each job with the answer of `launching.compared`, or with a problem: a hang or fault of a `separate` kernel
        too."""
        for job in jobs:
            yield job, ({"refused": job.refused, "problem": job.problem} if not job.parts else self._answer(job))
        self._end()

    def _answer(self, job: Job) -> dict[str, Any]:
        if job.problem:
            return {"problem": job.problem}
        if self._child is None:
            self._child = self._begin()
        _, connection = self._child
        connection.send(job)
        answer = self._received(connection, LIMIT)
        if "alone" in answer:
            answer = self._received(connection, LIMIT)
        elif answer.get("hang") or answer.get("problem", "").startswith("CUDAError"):
            answer["separate"] = True
        if "problem" in answer:
            self._end()
            self.replaced += 1
        return answer

    def _received(self, connection: Connection, seconds: float) -> dict[str, Any]:
        if not connection.poll(seconds):
            return {"problem": f"no answer within {seconds} s: hangs", "hang": True}
        try:
            answer: dict[str, Any] = connection.recv()
        except (EOFError, OSError):
            return {"problem": "the child ended without an answer"}
        return answer

    def _begin(self) -> tuple[BaseProcess, Connection]:
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=serve, args=(theirs,), daemon=True)
        process.start()
        theirs.close()
        answer = self._received(ours, START)
        if "ready" not in answer:
            raise RuntimeError(f"the child does not begin: {answer.get('problem')}")
        return process, ours

    def _end(self) -> None:
        if self._child is None:
            return
        process, connection = self._child
        connection.close()
        process.kill()
        process.join(TOGETHER)
        self._child = None
