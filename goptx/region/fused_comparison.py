"""Times the fused kernel of a region and the launches one after the other, on the region's own arguments.

Ensures: memory has the same content afterwards as before: the memory that the launches may write is saved, and restored
before each repeat and at the end. If it is not known what they write, nothing is timed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Any

from goptx.display import brief
from goptx.errors import DeviceError
from goptx.launch.arguments import passed_by_value
from goptx.region.completion import RegionOptions, in_sequence, start
from goptx.region.recorded import Recorded
from goptx.results.fused_kernel import Woven

WARMUPS, REPEATS = 2, 10
Piece = tuple[int, int]  # the first byte, and the one after the last


@dataclass(frozen=True, slots=True)
class Comparison:
    """fused, separate: milliseconds on the device of the fused kernel, and of the launches one after the other, medians
    of `repeats`; None if they were not compared. `reason`: why not."""

    __repr__ = brief

    fused: float | None
    separate: float | None
    repeats: int = 0
    reason: str = ""

    @property
    def speedup(self) -> float | None:
        """The time of the separate launches divided by that of the fused kernel."""
        return self.separate / self.fused if self.separate and self.fused else None

    def __str__(self) -> str:
        if self.speedup is None:
            return f"not compared: {self.reason}"
        return f"{self.fused:.3g} ms fused, {self.separate:.3g} ms separate, {self.speedup:.2f} times as fast"


def compared(fused: Woven, launches: Sequence[Recorded], stream: Any, how: RegionOptions) -> Comparison:
    """The comparison. Waits for the stream. Raises `DeviceError` if a launch fails."""
    from goptx.device import repeating

    if fused.strategy == "separate":
        return _not_compared("the launches are not fused")
    reason = _unknown(launches)
    if reason or repeating.is_captured(stream):
        return _not_compared(reason or "the stream is being captured into a CUDA graph")
    try:
        saved = repeating.Saved(stream, pieces(launches))
    except DeviceError as error:
        return _not_compared(f"the memory that they write could not be copied ({error})")
    kernels = [fused, in_sequence(launches, how, "").fused]
    times: list[list[float]] = [[], []]
    try:
        for _ in range(WARMUPS + REPEATS):
            for kernel, found in zip(kernels, times, strict=True):
                saved.restore()
                found.append(repeating.timed(stream, partial(start, kernel, stream, launches, how)))
    finally:
        try:
            saved.restore()
        finally:
            saved.free()
    in_one, one_by_one = (median(found[WARMUPS:]) for found in times)
    return Comparison(in_one, one_by_one, REPEATS)


def pieces(launches: Sequence[Recorded]) -> list[Piece]:
    """The memory that launches may write, as few pieces as possible."""
    found: list[Piece] = []
    for begin, end in sorted(set(_written(launches))):
        if found and begin <= found[-1][1]:
            found[-1] = found[-1][0], max(end, found[-1][1])
        elif end > begin:
            found.append((begin, end))
    return found


def _written(launches: Sequence[Recorded]) -> Iterator[Piece]:
    for launch in launches:
        for param, extent in zip(launch.known.params, launch.extents, strict=True):
            if extent is not None and param.access not in ("none", "read"):
                yield extent[1], extent[2]


def _unknown(launches: Sequence[Recorded]) -> str:
    """Why it is not known what the launches write; "" if it is known."""
    for launch in launches:
        entry, reach = launch.known.chosen.entry, launch.known.reach
        if reach.beyond:
            return f"`{entry}` may write memory that its parameters do not point to"
        if reach.writes_variables:
            return f"`{entry}` writes variables of its module, of which each kernel has its own"
        for param, extent in zip(launch.known.params, launch.extents, strict=True):
            if param.access in ("none", "read"):
                continue
            raw = extent is None or (extent[0] != 0 and extent[1] == extent[2] != 0)
            if raw or passed_by_value(param):
                return f"`{entry}` writes by `{param.original}`, a pointer to memory of unknown size; pass an array"
    return ""


def _not_compared(reason: str) -> Comparison:
    return Comparison(None, None, reason=reason)
