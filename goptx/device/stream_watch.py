"""Whether work was put on a stream since it was looked at, as far as the driver shows that without waiting.

There is no counter of launches. What can be seen: that a stream without work has work now, and that the place at which
a stream is captured into a CUDA graph has moved on. What was launched and has ended in between is not seen.
"""

from __future__ import annotations

from typing import Any

from goptx.device.cuda_graph import dependencies
from goptx.device.load import bindings, stream_handle
from goptx.device.recorded_streams import DEFAULT, handle_of

IDLE: tuple[int, ...] = (-1,)
Seen = tuple[int, ...]
"""The nodes before whatever is captured next, or `IDLE`."""


def seen(stream: Any) -> Seen | None:
    """Of a stream; None where nothing can be known later: it has work already, it is the default one (other streams may
    count there), or nothing of CUDA is there."""
    try:
        driver = bindings()
    except Exception:  # no cuda-python: whatever launches says so
        return None
    handle = handle_of(stream)
    if handle is None or handle in DEFAULT:
        return None
    made = driver.CUstream(handle)
    failed, status = driver.cuStreamIsCapturing(made)
    if failed:
        return None
    if int(status):  # a query would invalidate the capture
        found = dependencies(made)
        return None if found is None else tuple(int(node) for node in found[1])
    (failed,) = driver.cuStreamQuery(made)
    return None if failed else IDLE


def has_new_work(stream: Any, before: Seen | None) -> bool:
    """Whether work was put on the stream since it was `before`; False where that is not known."""
    if before is None:
        return False
    if before != IDLE:
        now = seen(stream)
        return now is not None and now not in (before, IDLE)
    driver = bindings()
    made = driver.CUstream(stream_handle(stream))
    failed, status = driver.cuStreamIsCapturing(made)
    if failed or int(status):
        return False
    (answer,) = driver.cuStreamQuery(made)
    return bool(answer == driver.CUresult.CUDA_ERROR_NOT_READY)
