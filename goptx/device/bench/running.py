"""Runs, judges and times kernels on the current device: the process that `bench.py` starts.

Each run gets fresh inputs. What precedes it on the stream, copies of these or a sweep through the cache, takes the
device longer than the host needs to start the kernels: the time between two events is the device's.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from multiprocessing.connection import Connection
from typing import Any

from goptx.device.bench.arrays import Arrays
from goptx.device.bench.memory import Buffer, Memory
from goptx.device.bench.questions import (
    STREAMS,
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
from goptx.device.bench.workload import Workload
from goptx.device.launch import current_device, driver_version
from goptx.errors import GoptxError, InputError
from goptx.weaving.result import Woven

Run = Callable[[], None]


def serve(connection: Connection, device: int) -> None:
    """Answers each question that comes."""
    bench: _Bench | None = None
    while True:
        try:
            question = connection.recv()
        except EOFError:
            return
        answer: Answer
        try:
            bench = bench or _Bench(device)
            answer = bench.answer(question)
        except GoptxError as error:
            answer = Failed(str(error), isinstance(error, InputError), bench is not None and bench.broken())
        except Exception as error:  # whatever it is, the parent is to say it
            answer = Failed(f"{type(error).__name__}: {error}", broken=True)
        connection.send(answer)


class _Bench:
    def __init__(self, number: int) -> None:
        from cuda.bindings import driver
        from cuda.core import Device

        current_device()  # says what is missing
        Device(number).set_current()
        self.device, self.driver = current_device(), driver
        self.stream = self.device.create_stream()
        self.memory = Memory(self.stream)
        self.kept: dict[Hashable, Buffer] = {}
        self.sweep = 2 * int(self.device.properties.l2_cache_size)
        self.swept = self.memory.room(self.sweep)
        self.open: _Opened | None = None

    def answer(self, question: Question) -> Answer:
        match question:
            case Describe():
                return Described(self.device.name, f"sm_{self.device.arch}", driver_version())
            case Open(workload):
                if self.open:
                    self.open.close()
                self.open = _Opened(self, workload)
                return Opened(self.open.ms)
            case Hold(key, woven, cap, judged):
                assert self.open
                return self.open.hold(key, woven, cap, judged)
            case Time(keys, repeats, warmups):
                assert self.open
                return Times(self.open.timed(keys, repeats, warmups))

    def broken(self) -> bool:
        """Whether no more can be launched, as after an access out of bounds."""
        (failed,) = self.driver.cuCtxSynchronize()
        return bool(failed)


class _Opened:
    """A workload, and the kernels that it may be run by."""

    def __init__(self, bench: _Bench, workload: Workload) -> None:
        self.bench, self.workload = bench, workload
        self.arrays = Arrays(bench.memory, workload, bench.kept)
        self.expected: dict[bool, dict[int, int]] = {}  # copies of outputs, by whether there was contraction
        self.streams = [bench.stream, *(bench.device.create_stream() for _ in workload.each[1:])]
        self.runs: dict[str, Run] = {STREAMS: self._side_by_side()}
        separate = self._run(workload.separate, None)
        self._expect(True, separate)
        self._check_repeatable(separate)
        self.runs["separate"] = separate
        self.ms = min(self.timed(("separate",), 2, 1)["separate"])

    def hold(self, key: str, woven: Woven, cap: int | None, judged: bool) -> Judged:
        self.runs[key] = run = self._run(woven, cap)
        if judged:
            return Judged()
        self._once(run)
        found = self.arrays.differences(self.expected[True])
        if not found or self.arrays.within_tolerance(found):
            return Judged()
        if False not in self.expected:
            self._expect(False, self._run(self.workload.separate, None, fmad=False))
        self._once(self._run(woven, cap, fmad=False))
        wrong = self.arrays.differences(self.expected[False])
        if not wrong or self.arrays.within_tolerance(wrong):
            return Judged(contracted="; ".join(map(str, found)))
        del self.runs[key]
        return Judged(wrong="; ".join(map(str, wrong)))

    def timed(self, keys: tuple[str, ...], repeats: int, warmups: int) -> dict[str, list[float]]:
        """One run of each after the other, again and again."""
        stream = self.bench.stream
        times: dict[str, list[float]] = {key: [] for key in keys}
        for turn in range(warmups + repeats):
            marks = []
            for key in keys:
                if self.arrays.reset() < self.bench.sweep:
                    self.bench.memory.fill(self.bench.swept, turn, self.bench.sweep)
                begin = stream.record(options={"timing_enabled": True})
                self.runs[key]()
                marks.append((key, begin, stream.record(options={"timing_enabled": True})))
            stream.sync()
            if turn >= warmups:
                for key, begin, end in marks:
                    times[key].append(end - begin)
        return times

    def close(self) -> None:
        self.bench.stream.sync()
        for copies in self.expected.values():
            for copy in copies.values():
                self.bench.memory.free(copy)
        self.arrays.release()

    def _run(self, woven: Woven, cap: int | None, fmad: bool = True) -> Run:
        launch = started(woven, cap, fmad, list(self.arrays.arguments.values()))
        return lambda: launch(self.bench.stream)

    def _side_by_side(self) -> Run:
        own = zip(self.workload.each, self.arrays.arguments.values(), self.streams, strict=True)
        launches = [(started(kernel, None, True, [arguments]), stream) for kernel, arguments, stream in own]
        first, others = self.bench.stream, self.streams[1:]

        def run() -> None:
            for other in others:
                other.wait(first)
            for launch, stream in launches:
                launch(stream)
            for other in others:
                first.wait(other)

        return run

    def _once(self, run: Run) -> None:
        self.arrays.reset()
        run()
        self.bench.stream.sync()

    def _expect(self, fmad: bool, separate: Run) -> None:
        self._once(separate)
        self.expected[fmad] = self.arrays.outputs()

    def _check_repeatable(self, separate: Run) -> None:
        self._once(separate)
        found = self.arrays.differences(self.expected[True])
        if found and not self.arrays.within_tolerance(found):
            raise InputError(
                f"run twice on equal data, the kernels alone give two results: {'; '.join(map(str, found))}. Nothing "
                "can be compared with them; look for a race (goptx check --races), or, where the order of atomic "
                "additions is at work, give the difference that is no error (tolerance=, --tolerance)."
            )


def started(woven: Woven, cap: int | None, fmad: bool, arguments: list[list[object]]) -> Callable[[Any], None]:
    """What starts a kernel on a stream, one that was made for known shapes."""
    if fmad:
        woven.load(cap)
        return lambda stream: woven.launch(stream, *arguments, max_registers=cap, independent=True)
    from goptx.device.launch import launch, load_all

    kernels = load_all(woven.cubin(cap, fmad=False), woven.entries)
    starts = woven.starts(None, None)
    packed: list[Any] = woven.arguments(*arguments)
    each = packed if woven.strategy == "separate" else [packed]

    def start(stream: Any) -> None:
        for kernel, one, own in zip(kernels, starts, each, strict=True):
            launch(
                kernel, stream, own, grid=one.shape.sizes("grid"), block=one.shape.sizes("block"),
                shared=one.shape.shared or 0,
            )  # fmt: skip

    return start
