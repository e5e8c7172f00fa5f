"""Activity: what the threads of a launch do, and when: rows of warps, stripes of kernels.

Cycles are those of the cost model, for one warp on its critical path (latency/cost.py), as if all warps began at once.
Plain data, with text for a terminal; working.py derives it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from goptx.display import as_svg, as_text, brief

WIDTH = 64  # characters of the longest row


@dataclass(frozen=True, slots=True)
class Segment:
    """A kernel at work from cycle `begin` to `end`; `copy` is the number of its CTA within a coarsened CTA, from 0."""

    __repr__ = brief

    kernel: str
    copy: int
    begin: float
    end: float


@dataclass(frozen=True, slots=True)
class Row:
    """Warps of CTAs that do the same: the numbers of the first and the last, the last None if it is known only at
    launch. `entry` is the launched entry; `of` is the letter of the kernel that has these CTAs, "" if all kernels share
    them."""

    __repr__ = brief

    entry: str
    ctas: tuple[int, int | None]
    warps: tuple[int, int | None]
    segments: tuple[Segment, ...]
    of: str = ""

    @property
    def kernels(self) -> tuple[str, ...]:
        """The letters of the kernels that run in it, in order."""
        return tuple(dict.fromkeys(s.kernel for s in self.segments))

    @property
    def cta_label(self) -> str:
        """The CTAs as text, such as "CTA 0 of B"."""
        return _range("CTA", self.ctas) + (f" of {self.of}" if self.of else "")

    @property
    def label(self) -> str:
        """The CTAs and warps as text, such as "CTA 0 of B, warps 0-3"."""
        return f"{self.cta_label}, {_range('warp', self.warps)}"


@dataclass(frozen=True, slots=True)
class Activity:
    """`rows` are in the order of launches, CTAs and warps; of many CTAs there are some at the beginning and at the end.
    `kernels` are the letters with names, `copies` the coarsening factors, `cycles` the length of all rows, `notes` what
    is not in the rows."""

    __repr__ = brief

    strategy: str
    latency: str
    kernels: tuple[tuple[str, str], ...]
    copies: tuple[int, ...]
    cycles: float
    rows: tuple[Row, ...]
    streams: bool
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        head = f"strategy {self.strategy}, {self.cycles:.0f} estimated cycles of a warp, latencies {self.latency}"
        return "\n".join([head, *_rows(self), *(f"note: {n}" for n in self.notes)])

    _repr_pretty_ = as_text

    _repr_svg_ = as_svg


def _rows(found: Activity) -> Iterator[str]:
    width = max((len(row.label) for row in found.rows), default=0)
    before = None
    for row in found.rows:
        if before and before.entry == row.entry and (before.ctas[1] or 0) + 1 < row.ctas[0]:
            yield "..."
        before = row
        yield f"{row.label:{width}}  {_line(row, found.cycles)}"


def _line(row: Row, cycles: float) -> str:
    """A letter for each piece of time: the kernel at work in its middle; every second copy is a small letter."""
    line = []
    for i in range(WIDTH):
        now = (i + 0.5) * cycles / WIDTH
        at = next((s for s in row.segments if s.begin <= now < s.end), None)
        line.append(" " if at is None else at.kernel.lower() if at.copy % 2 else at.kernel)
    return "".join(line).rstrip()


def _range(what: str, numbers: tuple[int, int | None]) -> str:
    first, last = numbers
    if last is None:
        return f"every {what}"
    return f"{what} {first}" if first == last else f"{what}s {first}-{last}"
