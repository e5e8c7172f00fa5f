"""Times launches repeatedly on the same memory: the memory that they write is saved before and restored.

Imports CUDA only inside functions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from goptx.device.load import bindings, current_device, must, stream_handle


class Saved:
    """Copies of pieces of device memory, each from its first byte to the one after its last. Raises `DeviceError` where
    there is not enough memory for them."""

    def __init__(self, stream: Any, pieces: Sequence[tuple[int, int]]) -> None:
        self._driver, self._stream = bindings(), driver_stream(stream)
        self._copies: list[tuple[Any, int, int]] = []  # the copy, the original address, and the size
        try:
            for start, end in pieces:
                copy = must(self._driver.cuMemAlloc(end - start))
                self._copies.append((copy, start, end - start))
                self._copy(copy, self._driver.CUdeviceptr(start), end - start)
        except BaseException:
            self.free()
            raise

    def _copy(self, to: Any, of: Any, size: int) -> None:
        must(self._driver.cuMemcpyDtoDAsync(to, of, size, self._stream))

    def restore(self) -> None:
        """Restores the memory's contents, as an operation on the stream."""
        for copy, start, size in self._copies:
            self._copy(self._driver.CUdeviceptr(start), copy, size)

    def free(self) -> None:
        """Waits for the stream, and frees the copies."""
        self._driver.cuStreamSynchronize(self._stream)
        for copy, *_ in self._copies:
            self._driver.cuMemFree(copy)
        self._copies = []


def timed(stream: Any, start: Callable[[], None]) -> float:
    """Milliseconds on the device for the work that `start` puts on the stream, including the wait for its end."""
    driver, made = bindings(), driver_stream(stream)
    events = [must(driver.cuEventCreate(driver.CUevent_flags.CU_EVENT_DEFAULT)) for _ in range(2)]
    try:
        must(driver.cuEventRecord(events[0], made))
        start()
        must(driver.cuEventRecord(events[1], made))
        must(driver.cuEventSynchronize(events[1]))
        return float(must(driver.cuEventElapsedTime(*events)))
    finally:
        for event in events:
            driver.cuEventDestroy(event)


def is_captured(stream: Any) -> bool:
    """Whether the stream is being captured into a CUDA graph, so that nothing can be timed on it."""
    failed, status = bindings().cuStreamIsCapturing(driver_stream(stream))
    return bool(failed) or bool(int(status))


def driver_stream(stream: Any) -> Any:
    """The driver's object for a stream; None is the default stream."""
    handle = int(current_device().default_stream.handle) if stream is None else stream_handle(stream)
    return bindings().CUstream(handle)
