"""The arrays that torch's allocator has handed out, while a graph was captured and now.

Torch is asked only if the program has imported it. Imports nothing of CUDA.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any

Span = tuple[int, int]  # the first address, and that after the last
GRAIN = 512  # bytes: the sizes of arrays are rounded up to a multiple
HANDED_OUT = ("alloc", "free_requested", "free_completed")  # entries of the allocator's history that name an array


def record() -> bool:
    """Lets the allocator record its history, without stacks; False where it is recorded already, or there is none."""
    torch = _torch()
    if torch is None:
        return False
    try:
        if any(torch.cuda.memory._snapshot()["device_traces"]):
            return False
        torch.cuda.memory._record_memory_history("all", context=None)
    except (AttributeError, KeyError, TypeError, RuntimeError):  # another version of torch
        return False
    return True


def recorded(stop: bool) -> list[Span]:
    """The arrays in the allocator's history. `stop`: it is not recorded any more."""
    torch = _torch()
    if torch is None:
        return []
    try:
        traces = torch.cuda.memory._snapshot()["device_traces"]
        if stop:
            torch.cuda.memory._record_memory_history(None)
    except (AttributeError, KeyError, TypeError, RuntimeError):
        return []
    found = {(e["addr"], e["addr"] + _rounded(e["size"])) for t in traces for e in t if e["action"] in HANDED_OUT}
    return sorted(span for span in found if span[1] > span[0])


def arrays(past: Iterable[Span] = ()) -> Sequence[Span]:
    """The arrays of torch's allocator. In a pool of its own, as captures have, memory may have been used again since
    the capture, in pieces of other sizes. `past` are the arrays of the time of the capture: there, an array of now and
    those of then that overlap are extents; without them, only the whole segment is one."""
    torch = _torch()
    if torch is None:
        return []
    before = sorted(past)
    found: list[Span] = []
    for segment in torch.cuda.memory_snapshot():
        start, size = segment["address"], segment["total_size"]
        blocks, at = [], start
        for block in segment["blocks"]:
            if block["state"] == "active_allocated":
                blocks.append((at, at + block["size"]))
            at += block["size"]
        if tuple(segment.get("segment_pool_id", (0, 0))) == (0, 0):
            found += blocks
        elif own := [span for span in before if start <= span[0] and span[1] <= start + size]:
            found += [*blocks, *own]
        else:
            found.append((start, start + size))
    return found


def _torch() -> Any:
    torch = sys.modules.get("torch")
    return torch if torch is not None and torch.cuda.is_initialized() else None


def _rounded(size: int) -> int:
    return -(-size // GRAIN) * GRAIN
