"""Runs microbenchmarks on the current device: the process that `children.py` starts.

Before each one the SM is busy for some milliseconds, which raises its clock to the usual rate and measures it.
"""

from __future__ import annotations

from functools import lru_cache
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from goptx.device.latency.jobs import Answer, Device, Job, Launch, Timed
from goptx.device.latency.row import Ring
from goptx.device.load import current_device, driver_version, launch, load, must

ROUNDS = 12  # rounds of a launch
_SKIPPED = 2  # first rounds, while instructions are fetched
_LAUNCHES = 5  # that count, after one that does not count
_BUSY = 20  # how often the SM is made busy in the beginning
_ROOM = 1 << 16  # bytes of the output and of the operands

PACE = """\
.version 8.0
.target {arch}
.address_size 64
.visible .entry pace(.param .u64 to)
{{
    .reg .b64 %to, %c0, %c1, %g0, %g1;
    .reg .pred %again;
    ld.param.u64 %to, [to];
    mov.u64 %g0, %globaltimer;
    mov.u64 %c0, %clock64;
AGAIN:
    mov.u64 %c1, %clock64;
    sub.s64 %c1, %c1, %c0;
    setp.lt.s64 %again, %c1, 8000000;
    @%again bra AGAIN;
    mov.u64 %g1, %globaltimer;
    sub.s64 %g1, %g1, %g0;
    st.global.u64 [%to], %c1;
    st.global.u64 [%to+8], %g1;
    ret;
}}
"""


def serve(connection: Connection, pace: bytes) -> None:
    """Answers each job, after a `Device` or an `Answer` with a problem."""
    try:
        bench = _Bench(pace)
        connection.send(bench.described())
    except Exception as error:  # the parent reports whatever is missing
        connection.send(Answer(problem=str(error), broken=True))
        return
    while True:
        try:
            job = connection.recv()
        except EOFError:
            return
        try:
            answer = bench.run(job)
        except Exception as error:
            answer = Answer(problem=str(error), broken=bench.broken())
        connection.send(answer)
        if answer.broken:
            return


class _Bench:
    def __init__(self, pace: bytes) -> None:
        from cuda.bindings import driver

        self.device = current_device()
        self.driver = driver
        self.output, self.operands = self._room(_ROOM), self._room(_ROOM)
        self.buffer, self.size = 0, 0
        self.content: Ring | None = None
        self.cache = int(self.device.properties.l2_cache_size)
        self.flushed = self._room(2 * self.cache)
        self.pace = load(pace, "pace")
        for _ in range(_BUSY):
            self.megahertz()

    def described(self) -> Device:
        of = self.device.properties
        return Device(
            name=self.device.name,
            arch=f"sm_{self.device.arch}",
            driver=driver_version(),
            cuda="{}.{}".format(*divmod(must(self.driver.cuDriverGetVersion()) // 10, 100)),
            sm_megahertz=of.clock_rate // 1000,
            memory_megahertz=of.memory_clock_rate // 1000,
        )

    def run(self, job: Job) -> Answer:
        megahertz = self.megahertz()
        if job.ring:
            self._fill(job.ring)
        return Answer(tuple(self._timed(job, one) for one in job.launches), megahertz)

    def megahertz(self) -> float:
        """The SM's clock, after it was busy for 8 million cycles."""
        launch(self.pace, None, [np.uint64(self.output)], grid=1, block=1)
        cycles, nanoseconds = self._read(self.output, 16).view(np.int64)
        return float(cycles / nanoseconds * 1000)

    def broken(self) -> bool:
        """Whether launches have become impossible, as after an access out of bounds."""
        (failed,) = self.driver.cuCtxSynchronize()
        return bool(failed)

    def _timed(self, job: Job, one: Launch) -> Timed:
        kernel = load(job.cubin, one.entry)
        self._write(self.operands, np.frombuffer(one.operands, np.uint8))
        addresses = [np.uint64(address) for address in (self.output, self.operands, self.buffer)]
        rounds: list[tuple[int, int]] = []
        size = 16 * ROUNDS + 8 * one.results
        for n in range(_LAUNCHES + 1):
            if job.ring and job.ring.cold:
                must(self.driver.cuMemsetD8(self.flushed, n, 2 * self.cache))
            launch(kernel, None, [*addresses, np.uint32(ROUNDS), np.void(bytes(64))], grid=1, block=job.threads)
            answer = self._read(self.output, size)
            pairs = answer[: 16 * ROUNDS].view(np.int64).reshape(ROUNDS, 2)[_SKIPPED:]
            if n:
                rounds += [(int(short), int(long)) for short, long in pairs]
        return Timed(one.kind, tuple(rounds), answer[16 * ROUNDS :].tobytes())

    def _fill(self, ring: Ring) -> None:
        if ring == self.content and not ring.span <= _ROOM:  # small ones may have been overwritten
            return
        if ring.span > self.size:
            if self.buffer:
                must(self.driver.cuMemFree(self.buffer))
            self.buffer, self.size = self._room(ring.span), ring.span
        self._write(self.buffer, pointers(ring, self.buffer))
        self.content = ring

    def _room(self, size: int) -> int:
        return int(must(self.driver.cuMemAlloc(size)))

    def _write(self, address: int, values: np.ndarray[Any, Any]) -> None:
        must(self.driver.cuMemcpyHtoD(address, values.ctypes.data, values.nbytes))

    def _read(self, address: int, size: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
        values = np.empty(size, np.uint8)
        must(self.driver.cuCtxSynchronize())
        must(self.driver.cuMemcpyDtoH(values.ctypes.data, address, size))
        return values


@lru_cache(maxsize=2)
def pointers(ring: Ring, base: int) -> np.ndarray[Any, Any]:
    """The contents of a ring at address `base`."""
    nodes = ring.span // ring.stride
    order = np.random.default_rng(0).permutation(nodes)
    following = np.empty(nodes, np.uint64)
    following[order] = np.roll(order, -1).astype(np.uint64) * np.uint64(ring.stride)
    if ring.fill:
        memory = np.zeros((nodes, ring.stride // 4), np.uint32)
        memory[:, : ring.fill // 4] = following[:, None].astype(np.uint32)
        return memory
    pointers = np.zeros((nodes, ring.stride // 8), np.uint64)
    pointers[:, 0] = following + np.uint64(base)
    return pointers
