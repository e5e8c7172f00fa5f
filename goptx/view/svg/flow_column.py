"""A column of a picture of control flow: the blocks of an entry in the order of the text, with arcs at both sides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from pathlib import PurePath

from goptx.analysis.cfg import EXIT
from goptx.anatomy.blocks import Chart, waiting
from goptx.view.svg.arcs import arcs, lanes, lanes_width
from goptx.view.svg.drawing import box, escaped, hatching, label, number
from goptx.view.svg.flow_rows import Row, RowEdge, edges_of, rows_of
from goptx.view.svg.text_width import CODE, NAME, Font, fitted, text_width

KERNEL, WOVEN = 250, 290  # pixels of a block: of a kernel, and of the fused kernel
LINE, BAND, GAP, INDENT = 20, 12, 9, 7  # pixels of a row, of a barrier in it, between rows, for each loop
TOP = 66  # pixels above the rows
BARRIERS = 3  # that are drawn in a row at most
PILL = 52  # pixels of the exit
LEAST_NAME = 40  # pixels for the name of a block at least
MEETS, WAITS = Font(9, mono=True), Font(10)


@dataclass
class Column:
    """A chart and its position: its blocks begin at `left`, and what is above them at `top`."""

    chart: Chart
    kind: str
    width: float
    left: float = 0.0
    top: float = 0.0
    rows: list[Row] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.rows = rows_of(self.chart)

    @cached_property
    def _below(self) -> list[float]:
        """How far below `top` each row begins, and the last one ends."""
        return list(accumulate((height(row) + GAP for row in self.rows), initial=float(TOP)))

    @property
    def tops(self) -> list[float]:
        """Where each row begins."""
        return [self.top + y for y in self._below[:-1]]

    @property
    def end(self) -> float:
        return self.top + (self._below[-1] if self.rows else TOP + 60.0)

    @cached_property
    def forward(self) -> list[RowEdge]:
        return [edge for edge in edges_of(self.rows) if edge.end > edge.begin + 1]

    @cached_property
    def back(self) -> list[RowEdge]:
        return [edge for edge in edges_of(self.rows) if edge.back]

    @cached_property
    def next(self) -> list[RowEdge]:
        return [edge for edge in edges_of(self.rows) if edge.end == edge.begin + 1]

    @cached_property
    def row_of(self) -> Mapping[str, int]:
        return {b.name: i for i, row in enumerate(self.rows) for b in row.blocks}

    @property
    def left_margin(self) -> float:
        return lanes_width(lanes(self.back))

    @property
    def right_margin(self) -> float:
        return lanes_width(lanes(self.forward))

    @property
    def right(self) -> float:
        return self.left + self.width

    def x(self, row: Row) -> float:
        return self.left + INDENT * min(row.depth, 4)


def height(row: Row) -> float:
    return LINE + BAND * min(len(row.barriers), BARRIERS) + (3 if row.barriers else 0)


def drawn(column: Column, hues: Mapping[str, str]) -> Iterator[str]:
    """The column, in the colours of the kernels."""
    chart = column.chart
    name = fitted(f"{chart.letter} {chart.name}" if chart.letter else chart.name, column.width, NAME)
    room = column.width - text_width(name, NAME) - 10
    source = fitted(PurePath(chart.source).name, room, NAME) if column.kind and room > LEAST_NAME else ""
    y = column.top + TOP
    yield label(column.left, y - 24, name, "name", beside=source)
    if chart.trouble:
        yield label(column.left, y - 8, "the flow is unknown", "faint")
        yield box(column.left, y, column.width, 40, "frame", chart.trouble, 4)
        yield label(column.left + 8, y + 24, fitted(chart.trouble, column.width - 16, CODE), "code")
        return
    count = len(chart.blocks) - 1
    yield label(column.left, y - 8, f"{count} block{'s' if count != 1 else ''}", "faint")
    if column.kind:
        yield label(column.right - 98, y - 8, "lines", "faint", "end")
    yield label(column.right - 54, y - 8, "instr.", "faint", "end")
    yield label(column.right - 7, y - 8, "cycles", "faint", "end")
    tops = column.tops
    for row, top in zip(column.rows, tops, strict=True):
        yield from _row(column, row, top, hues)
    for edge in column.next:
        x, y = column.x(column.rows[edge.end]) + 14, tops[edge.end]
        down = f"M{number(x)} {number(y - GAP)}V{number(y - 4)}"
        yield f'<path class="forward" d="{down}"><title>{escaped(edge.title)}</title></path>'
        yield f'<path class="tip forward" d="M{number(x)} {number(y)}l-3 -5h6z"/>'
    spans = [(top, top + height(row)) for row, top in zip(column.rows, tops, strict=True)]
    right = [
        (column.x(row) + PILL if row.name == EXIT else column.right, *span)
        for row, span in zip(column.rows, spans, strict=True)
    ]
    left = [(column.x(row), *span) for row, span in zip(column.rows, spans, strict=True)]
    yield from arcs(column.forward, lanes(column.forward), right, 1, "forward")
    yield from arcs(column.back, lanes(column.back), left, -1, "loop")


def _row(column: Column, row: Row, top: float, hues: Mapping[str, str]) -> Iterator[str]:
    x, high = column.x(row), height(row)
    width = column.right - x
    if row.name == EXIT:
        yield from (box(x, top, PILL, LINE, kind, round_=LINE / 2) for kind in ("under", "frame"))
        yield label(x + PILL / 2, top + 14, EXIT, "faint", "middle")
        return
    yield box(x, top, width, high, "under")
    if column.kind:
        yield box(x, top, width, high, f"soft {column.kind}")
    else:
        yield from _split(row, x, top, width, high, hues)
    yield box(x, top, width, high, "frame", _title(row))
    copies = max((b.copies or 1 for b in row.blocks), default=1)
    waits = waiting(row.waits) if row.waits else f"x{copies}" if copies > 1 else ""
    cycles, end = str(row.cycles), column.right - 7
    yield label(end, top + 14, cycles, "", "end")
    # From the right to the left, each text where the one before it leaves room.
    end -= max(47, text_width(cycles) + 8)
    held = "  ".join(f"{letter} {n}" for letter, n in row.shares.items()) or str(row.instructions)
    held = fitted(held, end - x - LEAST_NAME)
    yield label(end, top + 14, held, "", "end")
    end -= max(44 if column.kind else 0, text_width(held) + 8)
    if column.kind:
        lines = fitted(row.lines, end - x - LEAST_NAME)
        yield label(end, top + 14, lines, "faint", "end")
        end -= text_width(lines) + 8
    waits = fitted(waits, end - x - LEAST_NAME, WAITS)
    name = fitted(row.name, end - x - 7 - (text_width(waits, WAITS) + 7 if waits else 0), CODE)
    yield label(x + 7, top + 14, name, "code")
    if waits:
        yield label(x + 14 + text_width(name, CODE), top + 14, waits, "waits")
    yield from _barriers(row, x, top + LINE, width, bool(column.kind))


def _split(row: Row, x: float, y: float, width: float, high: float, hues: Mapping[str, str]) -> Iterator[str]:
    """The box of a row split in proportion to the kernels' instructions; hatched if other kernels wait."""
    total = sum(row.shares.values())
    at = x
    for letter, n in row.shares.items():
        own = width * n / total
        yield box(at, y, own, high, f"soft {hues[letter]}")
        at += own
        if row.waits:
            yield f'<path class="hatch {hues[letter]}" d="{hatching(x, y, width, LINE, 8)}"/>'


def _barriers(row: Row, x: float, y: float, width: float, alone: bool) -> Iterator[str]:
    first = row.barriers if len(row.barriers) <= BARRIERS else row.barriers[: BARRIERS - 1]
    texts = [b.text if alone else f"{b.kernel} {b.text}" for b in first]
    texts += [f"… {len(row.barriers) - len(first)} more barriers"] if len(first) < len(row.barriers) else []
    for i, text in enumerate(texts):
        yield box(x + 4, y + i * BAND, width - 8, BAND - 1.5, "band", round_=2)
        yield label(x + 9, y + i * BAND + 8, fitted(text, width - 18, MEETS), "meets")


def _title(row: Row) -> str:
    """The text of a row under the pointer."""
    lines = [", ".join(b.name for b in row.blocks[:12]) + (", …" if len(row.blocks) > 12 else "")]
    lines.append(f"{row.instructions} instructions, {row.cycles} cycles, in {row.depth} loops")
    for b in row.blocks[:12]:
        lines += [f"{b.name}: lines {b.lines}"] if b.lines else []
        lines += [f"{p.kernel}: {p.instructions} of {' or '.join(p.blocks)}" for p in b.pairs]
        if b.copies and b.copies > 1:
            lines.append(f"{b.name}: {b.copies} copies, in {', '.join(b.stands_in)}")
    return "\n".join(lines[:40])
