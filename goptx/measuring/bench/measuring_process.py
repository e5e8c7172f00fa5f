"""Runs, judges and times kernels on the current device: the process that `bench.py` starts.

Each run gets fresh inputs. The work queued before it on the stream, copies of the inputs or a sweep through the cache,
takes the device longer than the host needs to start the kernels: so the time between two events is the device's. What
was written before is not in the cache any more, so that no run pays for writing it back.
"""

from __future__ import annotations

import time
from collections.abc import Hashable, Sequence
from multiprocessing.connection import Connection

from goptx.device.load import current_device, driver_version
from goptx.errors import GoptxError, InputError
from goptx.launch.shape import Shape
from goptx.measuring.bench.baseline_runs import (
    Graphs,
    MoreRuns,
    Run,
    Runnable,
    Start,
    assembled,
    baseline_runs,
    bound,
    no_more,
)
from goptx.measuring.bench.baselines import SEPARATE
from goptx.measuring.bench.device_buffers import Arrays
from goptx.measuring.bench.device_memory import Buffer, Memory
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

BEFORE = 1 << 30  # bytes to write before a run: a quarter of a millisecond, in which the host queues it
GAP = 7 << 20  # bytes between buffers that are to be in other places
SHORT, OFTEN = 0.1, 8  # runs of fewer milliseconds are repeated more often, up to so many times


def serve(connection: Connection, device: int, more: MoreRuns = no_more) -> None:
    """Answers the questions of the parent until it closes the connection. `more`: further ways to run the unchanged
    kernels."""
    bench: _Bench | None = None
    while True:
        try:
            question = connection.recv()
        except EOFError:
            return
        answer: Answer
        try:
            bench = bench or _Bench(device, more)
            answer = bench.answer(question)
        except GoptxError as error:
            answer = Failed(str(error), isinstance(error, InputError), bench is not None and bench.broken())
        except Exception as error:  # any error is reported by the parent
            answer = Failed(f"{type(error).__name__}: {error}", broken=True)
        connection.send(answer)


class _Bench:
    def __init__(self, number: int, more: MoreRuns) -> None:
        current_device()  # raises an error that names what is missing
        from cuda.bindings import driver
        from cuda.core import Device

        Device(number).set_current()
        self.device, self.driver, self.more = current_device(), driver, more
        self.stream = self.device.create_stream()
        self.memory = Memory(self.stream)
        self.cached: dict[Hashable, Buffer] = {}
        self.size = 2 * int(self.device.properties.l2_cache_size)
        self.swept = self.memory.allocate(self.size)
        self.open: _Opened | None = None

    def answer(self, question: Question) -> Answer:
        match question:
            case Describe():
                return Described(
                    self.device.name, f"sm_{self.device.arch}", driver_version(), str(getattr(self.device, "uuid", ""))
                )
            case Open(workload, moved):
                if self.open:
                    self.open.close()
                self.memory.gap = GAP if moved else 0
                self.open = _Opened(self, workload)
                return Opened(self.open.ms)
            case Hold():
                assert self.open
                return self.open.hold(question)
            case Time(keys, repeats, warmups, launched):
                assert self.open
                return (
                    self.open.launched(keys, repeats, warmups) if launched else self.open.timed(keys, repeats, warmups)
                )

    def sweep(self, amount: int) -> None:
        """Writes `amount` bytes, or somewhat more, through the cache, and reads what takes their place there."""
        for _ in range(0, amount, self.size):
            self.memory.fill(self.swept, 0, self.size)
        self.memory.read_through(self.swept, self.size)

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
        self.graphs = Graphs(bench.stream)
        streams = [bench.stream, *(bench.device.create_stream() for _ in workload.each[1:])]
        own = list(self.arrays.arguments.values())
        self.runs: dict[str, Runnable] = dict(baseline_runs(workload, own, streams, self.graphs))
        self.runs |= dict(bench.more(workload, own, bench.stream))
        separate = self.runs[SEPARATE].launched
        self._expect(True, separate)
        self._check_repeatable(separate)
        self.more = 1
        self.ms = min(self.timed((SEPARATE,), 2, 1).ms[SEPARATE])
        self.more = max(1, min(OFTEN, round(SHORT / self.ms)))

    def hold(self, held: Hold) -> Judged:
        run = self._run(held.woven, held.cap, held.common)
        self.runs[held.key] = Runnable(run, self.graphs.of(run))
        if held.judged:
            return Judged()
        self._once(run)
        found = self.arrays.differences(self.expected[True])
        if not found or self.arrays.within_tolerance(found):
            return Judged()
        if False not in self.expected:
            self._expect(False, self._on(self._assembled(self.workload.separate)))
        self._once(self._on(self._assembled(held.woven, held.cap, held.common)))
        wrong = self.arrays.differences(self.expected[False])
        if not wrong or self.arrays.within_tolerance(wrong):
            return Judged(contracted="; ".join(map(str, found)))
        del self.runs[held.key]
        return Judged(wrong="; ".join(map(str, wrong)))

    def timed(self, keys: Sequence[str], repeats: int, warmups: int) -> Times:
        """Repeats one run of each kernel, one after the other, each time beginning with another. Each repetition starts
        with a run that does not count, so that the device is busy while the timed runs are queued."""
        stream = self.bench.stream
        times: dict[str, list[float]] = {key: [] for key in keys}
        for repetition in range(-warmups, repeats * self.more):
            self.arrays.reset()
            self.runs[keys[0]].on_device()
            marks = []
            for key in _turned(keys, repetition):
                self.bench.sweep(BEFORE - self.arrays.reset())
                begin = stream.record(options={"timing_enabled": True})
                self.runs[key].on_device()
                marks.append((key, begin, stream.record(options={"timing_enabled": True})))
            stream.sync()
            if repetition >= 0:
                for key, begin, end in marks:
                    times[key].append(end - begin)
        return Times(times)

    def launched(self, keys: Sequence[str], repeats: int, warmups: int) -> Times:
        """As `timed`, with launches from the host on a device that waits for them."""
        stream = self.bench.stream
        found = Times({key: [] for key in keys}, {key: [] for key in keys})
        for repetition in range(-warmups, repeats * self.more):
            for key in _turned(keys, repetition):
                self.bench.sweep(BEFORE - self.arrays.reset())
                stream.sync()
                begin = stream.record(options={"timing_enabled": True})
                now = time.perf_counter()
                self.runs[key].launched()
                host = time.perf_counter() - now
                end = stream.record(options={"timing_enabled": True})
                end.sync()
                if repetition >= 0:
                    found.ms[key].append(end - begin)
                    found.host_us[key].append(1e6 * host)
        return found

    def close(self) -> None:
        self.bench.stream.sync()
        self.graphs.close()
        for copies in self.expected.values():
            for copy in copies.values():
                self.bench.memory.free(copy)
        self.arrays.release()

    def _run(self, woven: Woven, cap: int | None, common: Shape | None) -> Run:
        return self._on(bound(woven, cap, list(self.arrays.arguments.values()), common))

    def _assembled(self, woven: Woven, cap: int | None = None, common: Shape | None = None) -> Start:
        """Without contraction."""
        return assembled(woven, cap, False, list(self.arrays.arguments.values()), common)

    def _on(self, start: Start) -> Run:
        return lambda: start(self.bench.stream)

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


def _turned(keys: Sequence[str], repetition: int) -> list[str]:
    """The keys in another order for each repetition, so that none always follows the same one."""
    first = repetition % len(keys)
    return [*keys[first:], *keys[:first]]
