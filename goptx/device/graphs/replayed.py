"""Runs graphs again and again on the same memory: what they leave in it, and how long they take on the device.

The memory that they may write is saved before, restored before each run, and restored at the end. Imports CUDA only
inside functions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np

from goptx.device.load import bindings, must
from goptx.device.repeating import Saved, driver_stream, timed

Interval = tuple[int, int]  # the first address, and that after the last
Bytes = np.ndarray[Any, np.dtype[np.uint8]]
REPLAYS = 8  # that are timed together


class Replayed:
    """Runs graphs on the stream, on memory of which these pieces are saved. Raises `DeviceError` where there is not
    enough memory for that."""

    def __init__(self, stream: Any, pieces: Sequence[Interval]) -> None:
        self._stream, self.pieces = stream, pieces
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
        """The time of one launch among several in a row, as programs replay graphs: a graph with many branches may run
        quickly, and yet take long to be launched by the host and by the device."""
        self._saved.restore()

        def several() -> None:
            for _ in range(REPLAYS):
                launch()

        return timed(self._stream, several) / REPLAYS
