"""Which streams a fusion region records: whatever else is launched there meanwhile would overtake what is recorded.

Seen are goptx's own launches, and other regions. Not seen is what a program does with the stream by other means:
launches and copies of frameworks, and waiting for it; a region that captures its stream takes these in their order.
Imports nothing of CUDA.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable
from typing import Any

from goptx.errors import InputError

DEFAULT = (0, 1)  # handles by which the default stream of a device goes, beside None
_LOCK = threading.Lock()
_OPEN: set[Hashable] = set()
_CAPTURED: set[Hashable] = set()  # by regions that take whatever is launched there
_HERE = threading.local()  # `region`, whether this thread is in one


def begin(stream: Any, capture: bool = False) -> Hashable:
    """Says that a region begins to record the stream, which is known to `end` as what this gives; one that captures the
    stream takes goptx's other launches there too. Raises `InputError` within another region, and where the stream is
    recorded already."""
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
    """The driver's handle; None of an object without `__cuda_stream__`."""
    if stream is None:
        return 0
    found = getattr(stream, "__cuda_stream__", None)
    return None if found is None else int((found() if callable(found) else found)[1])


def _key(stream: Any) -> Hashable:
    """What two objects for one stream have in common."""
    handle = handle_of(stream)
    if handle is None:
        return id(stream)
    if handle not in DEFAULT:
        return handle
    from goptx.device.load import device_in_use

    return "default", device_in_use()


class RecordedStream:
    """A stream while a region records it: whatever is asked of it is an error until the region ends."""

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
