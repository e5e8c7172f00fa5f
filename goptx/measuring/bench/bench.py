"""A place where kernels are judged and timed: one device, held by a process that is replaced when it hangs or its
device is of no more use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from goptx.device.child_process import Child, Lost
from goptx.errors import DeviceError, InputError
from goptx.launch.shape import Shape
from goptx.measuring.bench.measuring_process import serve
from goptx.measuring.bench.questions import (
    Answer,
    Describe,
    Described,
    Failed,
    Hold,
    Judged,
    Open,
    Opened,
    Question,
    Time,
    Times,
)
from goptx.measuring.bench.workload import Workload
from goptx.results.fused_kernel import Woven

START, LIMIT = 300, 20  # seconds for the data of a workload; for a question, beside what its runs should take
SLOW = 100  # times as long as the kernels alone a run may take


@dataclass(frozen=True, slots=True)
class Timed:
    """Milliseconds of single runs, by key; or why there are none."""

    ms: dict[str, list[float]] = field(default_factory=dict)
    problem: str = ""


class Bench:
    """The device of that number. Everything is about the workload that was opened last.

    replaced: how many processes had to be ended.
    """

    def __init__(self, device: int = 0) -> None:
        self.replaced = 0
        self._child = Child(serve, device)
        self._workload: Workload | None = None
        self._opened: Opened | None = None
        self._held: dict[str, Hold] = {}

    def described(self) -> Described:
        """What is measured on. Raises `DeviceError` where there is nothing."""
        answer = self._answered(Describe(), START)
        if not isinstance(answer, Described):
            self.close()
            raise DeviceError(answer.problem if isinstance(answer, Failed) else str(answer))
        return answer

    def open(self, workload: Workload) -> Opened:
        """Data for these kernels, which are run alone. Raises `DeviceError` without a device, or where a kernel alone
        hangs or breaks it, `InputError` where the data does not fit or results are not repeatable."""
        self._workload, self._held = workload, {}
        return self._open()

    def judge(self, key: str, woven: Woven, cap: int | None = None, common: Shape | None = None) -> Judged | Failed:
        """Whether the kernel does what the kernels alone do, on fresh data; from now on it can be timed. A kernel that
        was not made for shapes needs the `common` one."""
        hold = Hold(key, woven, cap, common)
        answer = self._asked(hold, 1)
        assert isinstance(answer, Judged | Failed)
        if isinstance(answer, Judged) and not answer.wrong:
            self._held[key] = replace(hold, judged=True)
        return answer

    def holds(self, key: str) -> bool:
        """Whether it was judged here, and is right."""
        return key in self._held

    def time(self, keys: Sequence[str], repeats: int, warmups: int = 1) -> Timed:
        """Kernels that were judged here, one run of each after the other. One of them that hangs ends the run for
        all."""
        answer = self._asked(Time(tuple(keys), repeats, warmups), len(keys) * (repeats + warmups))
        if isinstance(answer, Times):
            return Timed(answer.ms)
        assert isinstance(answer, Failed)
        return Timed(problem=answer.problem)

    def close(self) -> None:
        self._child.end()
        self._opened = None

    def _open(self) -> Opened:
        assert self._workload
        answer = self._answered(Open(self._workload), START)
        if not isinstance(answer, Opened):
            self.close()
            said = answer.problem if isinstance(answer, Failed) else str(answer)
            raise (
                InputError(said)
                if isinstance(answer, Failed) and answer.input
                else DeviceError(f"the unchanged kernels cannot be measured: {said}")
            )
        self._opened = answer
        return answer

    def _asked(self, question: Hold | Time, runs: int) -> Answer:
        """Of a process that has the workload and all kernels that the question is about."""
        if not self._child.running:
            self._open()
            for hold in self._held.values():
                self._answered(hold, LIMIT)
        assert self._opened
        return self._answered(question, LIMIT + SLOW * runs * self._opened.ms / 1000)

    def _answered(self, question: Question, seconds: float) -> Answer:
        try:
            answer: Answer = self._child.ask(question, seconds)
        except Lost as why:
            answer = Failed(str(why), broken=True)
        if isinstance(answer, Failed) and answer.broken:
            self._child.end()
            self.replaced += 1
        return answer
