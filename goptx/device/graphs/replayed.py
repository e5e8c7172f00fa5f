"""Runs graphs again and again on the same memory: what they leave in it, and how long they take on the device.

The memory that they may write is saved before, restored before each run, and restored at the end. Imports CUDA only
inside functions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any, Self

import numpy as np

from goptx.device.assemble import assemble
from goptx.device.launches.parameter_memory import ParameterMemory
from goptx.device.load import Launcher, architecture, bindings, load, must
from goptx.device.repeating import Saved, driver_stream, timed

Piece = tuple[int, int]  # the first address, and that after the last
Bytes = np.ndarray[Any, np.dtype[np.uint8]]
WAIT = 100_000  # nanoseconds that the device waits at least, so that the host has launched before it is timed
WAIT_FOR_NODE = 1_000  # nanoseconds for each node of the graph
_WAIT = """.version 7.0
.target sm_70
.address_size 64
.visible .entry wait(.param .u64 nanoseconds)
{
    .reg .pred %p;
    .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [nanoseconds];
    mov.u64 %rd2, %globaltimer;
AGAIN:
    mov.u64 %rd3, %globaltimer;
    sub.s64 %rd4, %rd3, %rd2;
    setp.lt.u64 %p, %rd4, %rd1;
    @%p bra AGAIN;
    ret;
}
"""


class Replayed:
    """Runs graphs on the stream, on memory of which these pieces are saved. Raises `DeviceError` where there is not
    enough memory for that."""

    def __init__(self, stream: Any, pieces: Sequence[Piece], nodes: int) -> None:
        self._stream, self.pieces = stream, pieces
        self._wait = _wait(WAIT + nodes * WAIT_FOR_NODE)
        must(bindings().cuCtxSynchronize())  # work on other streams may still write it
        self._saved = Saved(stream, pieces)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._saved.restore()
        finally:
            self._saved.free()

    def left(self, launch: Callable[[], None]) -> list[Bytes]:
        """What a graph leaves in each piece. Raises `DeviceError` where it fails."""
        self._saved.restore()
        launch()
        driver = bindings()
        must(driver.cuStreamSynchronize(driver_stream(self._stream)))
        found = []
        for start, end in self.pieces:
            content = np.empty(end - start, np.uint8)
            must(driver.cuMemcpyDtoH(content.ctypes.data, driver.CUdeviceptr(start), end - start))
            found.append(content)
        return found

    def milliseconds(self, launch: Callable[[], None]) -> float:
        """The time of one launch among many: on the device, or of the host where that takes longer. A graph with many
        branches may run quickly and be launched slowly."""
        self._saved.restore()
        self._wait(self._stream)
        host: list[float] = []

        def start() -> None:
            begin = perf_counter()
            launch()
            host.append((perf_counter() - begin) * 1000)

        return max(timed(self._stream, start), *host)


def _wait(nanoseconds: int) -> Callable[[Any], None]:
    """What lets the stream wait for that long."""
    launcher = Launcher(kernel := load(assemble(_WAIT, entry="wait", arch=architecture()).cubin, "wait"), 1, 1, 0, (8,))
    memory = ParameterMemory([((8,), ())])
    memory.fill([nanoseconds.to_bytes(8, "little")])

    def start(stream: Any) -> None:
        assert kernel is not None  # held as long as this function
        launcher.start(driver_stream(stream), memory.tables[0])

    return start
