"""A column of a picture of control flow: the blocks of an entry in the order of the text, with arcs at both sides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePath

from goptx.analysis.cfg import EXIT
from goptx.anatomy.blocks import Chart, waiting
from goptx.view.svg.arcs import arcs, lanes, lanes_width
from goptx.view.svg.drawing import box, escaped, hatching, label, number, short
from goptx.view.svg.flow_rows import Row, RowEdge, edges_of, rows_of

KERNEL, WOVEN = 250, 290  # pixels of a block: of a kernel, and of the fused kernel
LINE, BAND, GAP, INDENT = 20, 12, 9, 7  # pixels of a row, of a barrier in it, between rows, for each loop
TOP = 66  # pixels above the rows
BARRIERS = 3  # that are drawn in a row at most
PILL = 52  # pixels of the exit


@dataclass
class Column:
    """A chart and its position: its blocks begin at `left`."""

    chart: Chart
    kind: str
    width: float
    left: float = 0.0
    rows: list[Row] = field(default_factory=list)
    tops: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.rows = rows_of(self.chart)
        y = float(TOP)
        for row in self.rows:
            self.tops.append(y)
            y += height(row) + GAP
        self.end = y if self.rows else TOP + 60.0

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
    name = f"{chart.letter} {chart.name}" if chart.letter else chart.name
    name = short(name, int(column.width / 7))
    letters = int(column.width / 6.6) - len(name) - 2
    source = short(PurePath(chart.source).name, letters) if column.kind and letters > 8 else ""
    yield label(column.left, TOP - 24, name, "name", beside=source)
    if chart.trouble:
        yield label(column.left, TOP - 8, "the flow is unknown", "faint")
        yield box(column.left, TOP, column.width, 40, "frame", chart.trouble, 4)
        yield label(column.left + 8, TOP + 24, short(chart.trouble, 34), "code")
        return
    count = len(chart.blocks) - 1
    yield label(column.left, TOP - 8, f"{count} block{'s' if count != 1 else ''}", "faint")
    if column.kind:
        yield label(column.right - 92, TOP - 8, "lines", "faint", "end")
    yield label(column.right - 52, TOP - 8, "instr.", "faint", "end")
    yield label(column.right - 7, TOP - 8, "cycles", "faint", "end")
    for row, top in zip(column.rows, column.tops, strict=True):
        yield from _row(column, row, top, hues)
    for edge in column.next:
        x, y = column.x(column.rows[edge.end]) + 14, column.tops[edge.end]
        down = f"M{number(x)} {number(y - GAP)}V{number(y - 4)}"
        yield f'<path class="forward" d="{down}"><title>{escaped(edge.title)}</title></path>'
        yield f'<path class="tip forward" d="M{number(x)} {number(y)}l-3 -5h6z"/>'
    spans = [(top, top + height(row)) for row, top in zip(column.rows, column.tops, strict=True)]
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
    held = "  ".join(f"{letter} {n}" for letter, n in row.shares.items()) or str(row.instructions)
    space = int((width - (104 + 6.4 * len(row.lines) if column.kind else 66 + 6 * len(held))) / 6.8)
    name = short(row.name, max(6, space - len(waits)))
    yield label(x + 7, top + 14, name, "code")
    if waits:
        yield label(x + 14 + 6.8 * len(name), top + 14, waits, "waits")
    if column.kind:
        yield label(column.right - 92, top + 14, row.lines, "faint", "end")
    yield label(column.right - 52, top + 14, held, "", "end")
    yield label(column.right - 7, top + 14, str(row.cycles), "", "end")
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
        yield label(x + 9, y + i * BAND + 8, short(text, int((width - 20) / 5.5)), "meets")


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
