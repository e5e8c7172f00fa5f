"""Whether work was put on a stream since an earlier check, as far as the driver reports that without waiting.

There is no counter of launches. Two things can be observed: a stream without work has work now, and the position at
which a stream is captured into a CUDA graph has moved. Work that was launched and ended in between is not observed.
"""

from __future__ import annotations

from typing import Any

from goptx.device.cuda_graph import dependencies
from goptx.device.load import bindings, stream_handle
from goptx.device.recorded_streams import DEFAULT, handle_of

IDLE: tuple[int, ...] = (-1,)
Seen = tuple[int, ...]
"""The nodes before the next captured work, or `IDLE`."""


def seen(stream: Any) -> Seen | None:
    """The state of a stream; None where later checks cannot work: it has work already, it is the default one (work of
    other streams may count there), or CUDA is missing."""
    try:
        driver = bindings()
    except Exception:  # without cuda-python: the launch will report it
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
    """Whether work was put on the stream since the state `before`; False if unknown."""
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
