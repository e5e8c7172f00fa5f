"""The measuring process, replaced when it hangs or its device is unusable."""

from __future__ import annotations

from goptx.device import child_process
from goptx.device.latency.jobs import Answer, Device, Job
from goptx.device.latency.microbenchmark_process import serve
from goptx.errors import DeviceError

START, LIMIT = 120, 20  # seconds for a new process, for a job


class Child:
    """Raises DeviceError where no process can be started, or it finds no device.

    replaced: how many processes had to be ended.
    """

    def __init__(self, pace: bytes) -> None:
        self.replaced = 0
        self._process = child_process.Child(serve, pace)
        self.device = self._begin()

    def answer(self, job: Job) -> Answer:
        """The answer to a job, or the reason why there is no result."""
        if not self._process.running:
            self._begin()
        try:
            answer = self._process.ask(job, LIMIT)
        except child_process.Lost as why:
            answer = Answer(problem=str(why), broken=True)
        if not isinstance(answer, Answer):
            raise DeviceError(f"the process that measures answers {answer}")
        if answer.broken:
            self.end()
            self.replaced += 1
        return answer

    def end(self) -> None:
        self._process.end()

    def _begin(self) -> Device:
        self._process.begin()
        try:
            described = self._process.heard(START)
        except child_process.Lost as why:
            raise DeviceError(str(why)) from None
        if not isinstance(described, Device):
            self.end()
            raise DeviceError(described.problem)
        return described
