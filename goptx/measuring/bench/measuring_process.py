"""Runs, judges and times kernels on the current device: the process that `bench.py` starts.

Each run gets fresh inputs. The work queued before it on the stream, copies of the inputs or a sweep through the cache,
takes the device longer than the host needs to start the kernels: so the time between two events is the device's.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import partial
from multiprocessing.connection import Connection
from typing import Any

from goptx.device.load import current_device, driver_version, launch, load_all, must
from goptx.errors import GoptxError, InputError
from goptx.launch.shape import Shape
from goptx.measuring.bench.device_buffers import Arrays
from goptx.measuring.bench.device_memory import Buffer, Memory
from goptx.measuring.bench.questions import (
    GRAPH,
    SEPARATE,
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
from goptx.measuring.bench.workload import Workload
from goptx.results.fused_kernel import Woven

Run = Callable[[], None]
BEFORE = 1 << 30  # bytes to write before a run: a quarter of a millisecond, in which the host queues it


def serve(connection: Connection, device: int) -> None:
    """Answers the questions of the parent until it closes the connection."""
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
        except Exception as error:  # any error is reported by the parent
            answer = Failed(f"{type(error).__name__}: {error}", broken=True)
        connection.send(answer)


class _Bench:
    def __init__(self, number: int) -> None:
        current_device()  # raises an error that names what is missing
        from cuda.bindings import driver
        from cuda.core import Device

        Device(number).set_current()
        self.device, self.driver = current_device(), driver
        self.stream = self.device.create_stream()
        self.memory = Memory(self.stream)
        self.cached: dict[Hashable, Buffer] = {}
        self.size = 2 * int(self.device.properties.l2_cache_size)
        self.swept = self.memory.allocate(self.size)
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
            case Hold():
                assert self.open
                return self.open.hold(question)
            case Time(keys, repeats, warmups):
                assert self.open
                return Times(self.open.timed(keys, repeats, warmups))

    def sweep(self, amount: int) -> None:
        """Writes `amount` bytes, or somewhat more, through the cache."""
        for _ in range(0, amount, self.size):
            self.memory.fill(self.swept, 0, self.size)

    def broken(self) -> bool:
        """Whether the device can launch nothing more, as after an access out of bounds."""
        (failed,) = self.driver.cuCtxSynchronize()
        return bool(failed)


class _Opened:
    """A workload, and the kernels that may run it."""

    def __init__(self, bench: _Bench, workload: Workload) -> None:
        self.bench, self.workload = bench, workload
        self.arrays = Arrays(bench.memory, workload, bench.cached)
        self.expected: dict[bool, dict[int, int]] = {}  # copies of outputs, by whether there was contraction
        self.streams = [bench.stream, *(bench.device.create_stream() for _ in workload.each[1:])]
        separate, streams = self._run(workload.separate), self._side_by_side()
        self._expect(True, separate)
        self._check_repeatable(separate)
        self.runs: dict[str, Run] = {SEPARATE: separate, STREAMS: streams, GRAPH: self._graph(streams)}
        self.ms = min(self.timed((SEPARATE,), 2, 1)[SEPARATE])

    def hold(self, held: Hold) -> Judged:
        self.runs[held.key] = run = self._run(held.woven, held.cap, held.common)
        if held.judged:
            return Judged()
        self._once(run)
        found = self.arrays.differences(self.expected[True])
        if not found or self.arrays.within_tolerance(found):
            return Judged()
        if False not in self.expected:
            self._expect(False, self._run(self.workload.separate, fmad=False))
        self._once(self._run(held.woven, held.cap, held.common, fmad=False))
        wrong = self.arrays.differences(self.expected[False])
        if not wrong or self.arrays.within_tolerance(wrong):
            return Judged(contracted="; ".join(map(str, found)))
        del self.runs[held.key]
        return Judged(wrong="; ".join(map(str, wrong)))

    def timed(self, keys: tuple[str, ...], repeats: int, warmups: int) -> dict[str, list[float]]:
        """Repeats one run of each kernel, one after the other. Each repetition starts with a run that does not count,
        so that the device is busy while the timed runs are queued."""
        stream = self.bench.stream
        times: dict[str, list[float]] = {key: [] for key in keys}
        for repetition in range(warmups + repeats):
            self.arrays.reset()
            self.runs[keys[0]]()
            marks = []
            for key in keys:
                self.bench.sweep(BEFORE - self.arrays.reset())
                begin = stream.record(options={"timing_enabled": True})
                self.runs[key]()
                marks.append((key, begin, stream.record(options={"timing_enabled": True})))
            stream.sync()
            if repetition >= warmups:
                for key, begin, end in marks:
                    times[key].append(end - begin)
        return times

    def close(self) -> None:
        self.bench.stream.sync()
        for copies in self.expected.values():
            for copy in copies.values():
                self.bench.memory.free(copy)
        self.arrays.release()

    def _run(self, woven: Woven, cap: int | None = None, common: Shape | None = None, fmad: bool = True) -> Run:
        start = started(woven, cap, fmad, list(self.arrays.arguments.values()), common)
        return lambda: start(self.bench.stream)

    def _side_by_side(self) -> Run:
        own = zip(self.workload.each, self.arrays.arguments.values(), self.streams, strict=True)
        starts = [(started(kernel, None, True, [arguments]), stream) for kernel, arguments, stream in own]
        first, others = self.bench.stream, self.streams[1:]

        def run() -> None:
            for other in others:
                other.wait(first)
            for start, stream in starts:
                start(stream)
            for other in others:
                first.wait(other)

        return run

    def _graph(self, streams: Run) -> Run:
        """The runs on streams as a CUDA graph, with a branch for each stream."""
        driver = self.bench.driver
        stream = driver.CUstream(int(self.bench.stream.handle))
        mode = driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
        must(driver.cuStreamBeginCapture(stream, mode))
        streams()
        graph = must(driver.cuGraphInstantiate(must(driver.cuStreamEndCapture(stream)), 0))
        return lambda: must(driver.cuGraphLaunch(graph, stream))

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
                "can be compared with them; look for a race (goptx check --races), or, if they add atomically in any "
                "order, give the allowed difference (tolerance=, --tolerance)."
            )


def started(
    woven: Woven, cap: int | None, fmad: bool, arguments: list[list[object]], common: Shape | None = None
) -> Callable[[Any], None]:
    """A function that starts the kernel on a stream. The kernel was made for known shapes, or is launched in the
    `common` shape."""
    shape: dict[str, Any] = {"grid": None, "block": None}
    if common:
        shape = {"grid": common.sizes("grid"), "block": common.sizes("block"), "shared": common.shared}
    if fmad:
        woven.load(cap)
        return lambda stream: woven.launch(stream, *arguments, **shape, max_registers=cap, independent=True)
    kernels = load_all(woven.cubin(cap, fmad=False), woven.entries)
    packed: list[Any] = woven.arguments(*arguments)
    each = packed if woven.is_separate else [packed]
    starts = [
        partial(
            launch, kernel, args=own, grid=one.shape.sizes("grid"), block=one.shape.sizes("block"),
            shared=one.shape.shared or 0,
        )
        for kernel, one, own in zip(kernels, woven.starts(**shape), each, strict=True)
    ]  # fmt: skip

    def start(stream: Any) -> None:
        for one in starts:
            one(stream=stream)

    return start
