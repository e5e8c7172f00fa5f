"""The process that measures, replaced when it hangs or its device is of no more use."""

from __future__ import annotations

import multiprocessing
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess

from goptx.device.latency.jobs import Answer, Device, Job
from goptx.device.latency.running import serve
from goptx.errors import DeviceError

START, LIMIT, END = 120, 20, 30  # seconds for a new one, for a job, for its end


class Child:
    """Raises DeviceError where no process can be started, or it finds no device.

    replaced: how many had to be ended.
    """

    def __init__(self, pace: bytes) -> None:
        self.replaced = 0
        self._pace = pace
        self._process: BaseProcess | None = None
        self.device = self._begin()

    def answer(self, job: Job) -> Answer:
        """Of a job, or what kept it from an answer."""
        if self._process is None:
            self._begin()
        try:
            self._connection.send(job)
            answer = self._received(LIMIT)
        except OSError:  # it is gone
            answer = Answer(problem="the process that measures ended", broken=True)
        if not isinstance(answer, Answer):
            raise DeviceError(f"the process that measures answers {answer}")
        if answer.broken:
            self.end()
            self.replaced += 1
        return answer

    def end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join(END)
            self._connection.close()
            self._process = None

    def _begin(self) -> Device:
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=serve, args=(theirs, self._pace), daemon=True)
        self._process.start()
        theirs.close()
        described = self._received(START)
        if isinstance(described, Answer):
            self.end()
            raise DeviceError(described.problem)
        return described

    _connection: Connection

    def _received(self, seconds: float) -> Answer | Device:
        if not self._connection.poll(seconds):
            return Answer(problem=f"no answer within {seconds:g} s: it hangs", broken=True)
        try:
            received: Answer | Device = self._connection.recv()
        except (EOFError, OSError):
            return Answer(problem="the process that measures ended without an answer", broken=True)
        return received
