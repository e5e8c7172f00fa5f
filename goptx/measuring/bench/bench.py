"""A bench: one device, on which a process of its own judges and times kernels. The process is replaced when it hangs or
when its device can no longer be used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from goptx.device.child_process import Child, Lost
from goptx.errors import DeviceError, InputError
from goptx.launch.shape import Shape
from goptx.measuring.bench.baseline_runs import MoreRuns, no_more
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

START, LIMIT = 300, 20  # seconds: for the data of a workload; for a question, beside the time of its runs
SLOW = 100  # a run may take so many times as long as the kernels alone


@dataclass(frozen=True, slots=True)
class Timed:
    """By key, milliseconds of each run, and microseconds until the host had launched it, where it did; or the problem
    because of which nothing was timed."""

    ms: dict[str, list[float]] = field(default_factory=dict)
    problem: str = ""
    host_us: dict[str, list[float]] = field(default_factory=dict)


class Bench:
    """The bench of the device with that number. Its methods refer to the workload that was opened last. `more`: further
    ways to run the unchanged kernels, which can be timed by their names as those of `baselines.py`.

    replaced: how many processes had to be ended.
    """

    def __init__(self, device: int = 0, more: MoreRuns = no_more) -> None:
        self.replaced = 0
        self._child = Child(serve, device, more)
        self._workload: Workload | None = None
        self._opened: Opened | None = None
        self._held: dict[str, Hold] = {}
        self._moved = False

    def described(self) -> Described:
        """The device. Raises `DeviceError` if there is no device."""
        answer = self._answered(Describe(), START)
        if not isinstance(answer, Described):
            self.close()
            raise DeviceError(answer.problem if isinstance(answer, Failed) else str(answer))
        return answer

    def open(self, workload: Workload) -> Opened:
        """Makes the data of these kernels and runs each alone. Raises `DeviceError` without a device, or if a kernel
        alone hangs or breaks it; `InputError` if the data does not fit or results are not repeatable."""
        self._workload, self._held, self._moved = workload, {}, False
        return self._open()

    def renew(self) -> Opened:
        """Opens the same workload in a new process, with its data in other places of the memory. All kernels have to be
        judged again. Raises as `open`."""
        self._child.end()
        self._held, self._moved = {}, True
        return self._open()

    def judge(self, key: str, woven: Woven, cap: int | None = None, common: Shape | None = None) -> Judged | Failed:
        """Whether the kernel writes what the kernels alone write, on fresh data. If so, it can be timed afterwards. A
        kernel that was not made for given shapes needs the `common` shape."""
        hold = Hold(key, woven, cap, common)
        answer = self._asked(hold, 1)
        assert isinstance(answer, Judged | Failed)
        if isinstance(answer, Judged) and not answer.wrong:
            self._held[key] = replace(hold, judged=True)
        return answer

    def holds(self, key: str) -> bool:
        """Whether the kernel of this key was judged here, and is right."""
        return key in self._held

    def time(self, keys: Sequence[str], repeats: int, warmups: int = 1, launched: bool = False) -> Timed:
        """Times kernels that were judged here: one run of each, then the next run of each; short ones more often than
        `repeats`. If one of them hangs, none is timed.

        By default the times are those of the device: each run is a CUDA graph, for which the device does not wait.
        `launched`: they begin when the host begins to launch, on an idle device.
        """
        answer = self._asked(Time(tuple(keys), repeats, warmups, launched), len(keys) * (repeats + warmups))
        if isinstance(answer, Times):
            return Timed(answer.ms, host_us=answer.host_us)
        assert isinstance(answer, Failed)
        return Timed(problem=answer.problem)

    def close(self) -> None:
        self._child.end()
        self._opened = None

    def _open(self) -> Opened:
        assert self._workload
        answer = self._answered(Open(self._workload, self._moved), START)
        if not isinstance(answer, Opened):
            self.close()
            problem = answer.problem if isinstance(answer, Failed) else str(answer)
            raise (
                InputError(problem)
                if isinstance(answer, Failed) and answer.input
                else DeviceError(f"the unchanged kernels cannot be measured: {problem}")
            )
        self._opened = answer
        return answer

    def _asked(self, question: Hold | Time, runs: int) -> Answer:
        """The answer of a process that has the workload and all kernels of the question."""
        if not self._child.running:
            self._open()
            for hold in self._held.values():
                self._answered(hold, LIMIT)
        assert self._opened
        return self._answered(question, LIMIT + SLOW * runs * self._opened.ms / 1000)

    def _answered(self, question: Question, seconds: float) -> Answer:
        try:
            answer: Answer = self._child.ask(question, seconds)
        except Lost as error:
            answer = Failed(str(error), broken=True)
        if isinstance(answer, Failed) and answer.broken:
            self._child.end()
            self.replaced += 1
        return answer
