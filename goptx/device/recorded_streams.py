"""The streams that fusion regions record: any other launch there would overtake the recorded ones.

Only goptx's own launches and other regions are checked. Other uses of the stream are not: launches and copies of
frameworks, and waiting for it. A region that captures its stream records these in their order. Does not import CUDA.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable
from typing import Any

from goptx.errors import InputError

DEFAULT = (0, 1)  # handles of the default stream of a device, beside None
_LOCK = threading.Lock()
_OPEN: set[Hashable] = set()
_CAPTURED: set[Hashable] = set()  # by regions that record all launches there
_HERE = threading.local()  # `region`, whether this thread is in one


def begin(stream: Any, capture: bool = False) -> Hashable:
    """Records that a region begins to record the stream, and returns the key for `end`. With `capture`, the region also
    records goptx's other launches there. Raises `InputError` within another region, and where the stream is recorded
    already."""
    if getattr(_HERE, "region", False):
        raise InputError("a fusion region cannot stand within a fusion region; end the outer one first, or cancel it.")
    key = _key(stream)
    with _LOCK:
        if key in _OPEN or key in _CAPTURED:
            raise InputError(
                "another thread's fusion region records this stream; give each thread a stream of its own."
            )
        (_CAPTURED if capture else _OPEN).add(key)
    _HERE.region = True
    return key


def end(key: Hashable) -> None:
    _HERE.region = False
    with _LOCK:
        _OPEN.discard(key)
        _CAPTURED.discard(key)


def check_launch(stream: Any) -> None:
    """Raises `InputError` while a region records the stream."""
    if _OPEN and _key(stream) in _OPEN:
        raise InputError(
            "a fusion region records this stream, so nothing else can be launched on it; launch with the region's own "
            "`launch`, after the region, or after its `cancel()`."
        )


def handle_of(stream: Any) -> int | None:
    """The driver's handle; None for an object without `__cuda_stream__`."""
    if stream is None:
        return 0
    found = getattr(stream, "__cuda_stream__", None)
    return None if found is None else int((found() if callable(found) else found)[1])


def _key(stream: Any) -> Hashable:
    """A key that is equal for all objects of one stream."""
    handle = handle_of(stream)
    if handle is None:
        return id(stream)
    if handle not in DEFAULT:
        return handle
    from goptx.device.load import device_in_use

    return "default", device_in_use()


class RecordedStream:
    """A stream while a region records it: any use of it is an error until the region ends."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._recorded = True

    def release(self) -> None:
        self._recorded = False

    def __getattr__(self, name: str) -> Any:
        if self._recorded:
            raise InputError(
                f"`{name}` is asked of a stream that a fusion region records: what is recorded has not begun, so there "
                "is nothing to wait for; end the region first, or cancel it."
            )
        return getattr(self._stream, name)
