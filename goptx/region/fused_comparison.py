"""How long the fused kernel of a region takes beside the launches one after the other, on the region's own arguments.

Ensures: memory holds afterwards what it held before: what the launches may write is saved, and put back before each
repeat and at the end. Where it is not known what they write, nothing is timed.
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
from goptx.region.completion import RegionOptions, in_turn, start
from goptx.region.recorded import Recorded
from goptx.results.fused_kernel import Woven

WARMUPS, REPEATS = 2, 10
Piece = tuple[int, int]  # the first byte, and the one after the last


@dataclass(frozen=True, slots=True)
class Comparison:
    """fused, separate: milliseconds on the device of the fused kernel, and of the launches one after the other, medians
    of `repeats`; None where they were not compared, and `reason` says why."""

    __repr__ = brief

    fused: float | None
    separate: float | None
    repeats: int = 0
    reason: str = ""

    @property
    def speedup(self) -> float | None:
        """How often the fused kernel runs in the time of the separate launches."""
        return self.separate / self.fused if self.separate and self.fused else None

    def __str__(self) -> str:
        if self.speedup is None:
            return f"not compared: {self.reason}"
        return f"{self.fused:.3g} ms fused, {self.separate:.3g} ms separate, {self.speedup:.2f} times as fast"


def compared(fused: Woven, launches: Sequence[Recorded], stream: Any, how: RegionOptions) -> Comparison:
    """Waits for the stream. Raises `DeviceError` where a launch fails."""
    from goptx.device import repeating

    if fused.strategy == "separate":
        return _none("the launches are not fused")
    reason = _unknown(launches)
    if reason or repeating.is_captured(stream):
        return _none(reason or "the stream is being captured into a CUDA graph")
    try:
        saved = repeating.Saved(stream, pieces(launches))
    except DeviceError as error:
        return _none(f"no copy of what they write could be made ({error})")
    ways = [fused, in_turn(launches, how, "").fused]
    times: list[list[float]] = [[], []]
    try:
        for _ in range(WARMUPS + REPEATS):
            for way, found in zip(ways, times, strict=True):
                saved.restore()
                found.append(repeating.timed(stream, partial(start, way, stream, launches, how)))
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
    """Why it is not known what the launches write; "" where it is."""
    for launch in launches:
        entry, reach = launch.known.chosen.entry, launch.known.reach
        if reach.beyond:
            return f"`{entry}` may write where its parameters do not lead"
        if reach.writes_variables:
            return f"`{entry}` writes variables of its module, which each of the kernels has its own of"
        for param, extent in zip(launch.known.params, launch.extents, strict=True):
            if param.access in ("none", "read"):
                continue
            raw = extent is None or (extent[0] != 0 and extent[1] == extent[2] != 0)
            if raw or passed_by_value(param):
                return f"`{entry}` writes by `{param.original}`, a pointer to memory of unknown size; pass an array"
    return ""


def _none(reason: str) -> Comparison:
    return Comparison(None, None, reason=reason)
