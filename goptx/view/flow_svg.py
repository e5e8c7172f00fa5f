"""The picture of control flow: blocks in columns as they stand in the text, what was woven between its kernels.

Ways ahead are arcs at the right of a column, those back, loops, at the left; ribbons lead from a block of W to the
blocks of the kernels that it holds code of.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePath

from goptx.analysis.cfg import EXIT
from goptx.anatomy.blocks import Anatomy, Chart
from goptx.view.arcs import arcs, lanes, room
from goptx.view.drawing import HIGH, MARGIN, WIDE, Sample, box, document, hatching, label, legend, number, said, short
from goptx.view.flow_rows import Row, Way, rows_of, ways_of
from goptx.view.theme import hue

KERNEL, WOVEN = 236, 290  # pixels of a block of a kernel, and of W
LINE, BAND, GAP, INDENT = 20, 12, 9, 7  # of a row, of a barrier in it, between rows, for each loop
APART, TOP = 64, 66  # between columns, and of what stands above them
BARRIERS = 3  # that are drawn in a row
PILL = 52  # pixels of the exit
_RULES = """
.KIND .frame { fill: none; stroke: var(--line); }
.KIND .under { fill: var(--ground); }
.KIND .way { stroke: var(--faint); stroke-width: 1; fill: none; }
.KIND .loop { stroke: var(--ink); stroke-width: 1.6; fill: none; }
.KIND .tip.way { fill: var(--faint); stroke: none; }
.KIND .tip.loop { fill: var(--ink); stroke: none; }
.KIND .ribbon { stroke: var(--own); stroke-opacity: .45; fill: none; }
.KIND .unsure { stroke-dasharray: 3 3; }
.KIND .band { fill: var(--ink); }
.KIND .meets { font: 9px ui-monospace, monospace; fill: var(--ground); }
.KIND .hatch { stroke-opacity: .5; }
.KIND .waits { font-size: 10px; font-style: italic; }
.KIND .plain { --own: var(--faint); }
"""


@dataclass
class _Column:
    """A chart with its place: `left` is where its blocks begin."""

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
            y += _height(row) + GAP
        self.end = y if self.rows else TOP + 60.0

    @cached_property
    def ahead(self) -> list[Way]:
        return [w for w in ways_of(self.rows) if w.end > w.begin + 1]

    @cached_property
    def back(self) -> list[Way]:
        return [w for w in ways_of(self.rows) if w.back]

    @cached_property
    def next(self) -> list[Way]:
        return [w for w in ways_of(self.rows) if w.end == w.begin + 1]

    @cached_property
    def row_of(self) -> Mapping[str, int]:
        return {b.name: i for i, row in enumerate(self.rows) for b in row.blocks}

    @property
    def before(self) -> float:
        return room(lanes(self.back))

    @property
    def behind(self) -> float:
        return room(lanes(self.ahead))

    @property
    def right(self) -> float:
        return self.left + self.width

    def x(self, row: Row) -> float:
        return self.left + INDENT * min(row.depth, 4)


def _height(row: Row) -> float:
    return LINE + BAND * min(len(row.barriers), BARRIERS) + (3 if row.barriers else 0)


def anatomy_svg(found: Anatomy) -> str:
    """The picture as an SVG document."""
    hues = {chart.letter: hue(i) for i, chart in enumerate(found.kernels)}
    own = [_Column(chart, hues[chart.letter], KERNEL) for chart in found.kernels]
    made = [_Column(chart, "", WOVEN) for chart in found.woven]
    if len(made) == len(own) and len(made) > 1:
        columns = [c for pair in zip(own, made, strict=True) for c in pair]
    else:
        half = (len(own) + 1) // 2
        columns = [*own[:half], *made, *own[half:]]
    title = " and ".join(c.name for c in found.woven) + f": {found.strategy}"
    return _drawn(title, columns, hues, own, made)


def charts_svg(charts: Sequence[Chart]) -> str:
    """The charts of a module's entries beside each other."""
    columns = [_Column(chart, hue(i), KERNEL) for i, chart in enumerate(charts)]
    title = charts[0].source if charts else "no entry"
    return _drawn(f"Control flow of {PurePath(title).name}", columns, {}, columns, [])


def _drawn(
    title: str, columns: Sequence[_Column], hues: Mapping[str, str], own: Sequence[_Column], made: Sequence[_Column]
) -> str:
    x = float(MARGIN)
    for column in columns:
        column.left = x + column.before
        x = column.right + column.behind + APART
    width = max(x - APART + MARGIN, 460)
    ribbons, unsure = _ribbons(made, {c.chart.letter: c for c in own}) if made else ([], False)
    bodies = [part for column in columns for part in _column(column, hues)]
    samples, low = legend(list(_samples(columns, hues, bool(ribbons), unsure)), MARGIN, 34, width - 2 * MARGIN)
    shift = low - 34
    moved = [f'<g transform="translate(0 {number(shift)})">', *ribbons, *bodies, "</g>"]
    height = max((c.end for c in columns), default=TOP) + shift + 8
    return document("flow", title, width, height, _RULES, [label(MARGIN, 22, title, "head"), *samples, *moved])


def _samples(columns: Sequence[_Column], hues: Mapping[str, str], ribbons: bool, unsure: bool) -> Iterator[Sample]:
    rows = [row for c in columns for row in c.rows]
    for letter, kind in hues.items():
        yield Sample(box(0, 0, WIDE, HIGH, f"soft {kind}", round_=2), f"code of {letter}")
    if any(row.waits for row in rows):
        kind = next(hues[x] for row in rows if row.waits for x in row.shares)
        yield Sample(
            box(0, 0, WIDE, HIGH, f"soft {kind}") + f'<path class="hatch {kind}" d="{hatching(0, 0, WIDE, HIGH)}"/>',
            "another kernel waits",
        )
    if any(row.barriers for row in rows):
        yield Sample(box(0, 1, WIDE, HIGH - 2, "band", round_=2), "barrier")
    if any(c.back for c in columns):
        yield Sample(f'<path class="loop" d="M{WIDE} 1H6q-3 0 -3 3V8q0 3 3 3H{WIDE}"/>', "loop")
    if any(c.ahead for c in columns):
        yield Sample(f'<path class="way" d="M0 1H{WIDE - 6}q3 0 3 3V8q0 3 -3 3H0"/>', "way ahead")
    if ribbons:
        kind = next(iter(hues.values()))
        yield Sample(f'<path class="ribbon {kind}" stroke-width="3" d="M0 2C13 2 13 10 {WIDE} 10"/>', "holds code of")
    if unsure:
        kind = next(iter(hues.values()))
        yield Sample(
            f'<path class="ribbon unsure {kind}" stroke-width="2" d="M0 2C13 2 13 10 {WIDE} 10"/>', "of one of these"
        )
    if any(len(row.blocks) > 1 for row in rows):
        yield Sample(label(4, 9, "…"), "several blocks that are alike")


def _column(column: _Column, hues: Mapping[str, str]) -> Iterator[str]:
    chart = column.chart
    name = f"{chart.letter} {chart.name}" if chart.letter else chart.name
    where = f"  {PurePath(chart.source).name}" if column.kind else ""
    name = short(name, int(column.width / 6.5))
    yield label(column.left, TOP - 24, name + short(where, max(4, int(column.width / 6.2) - len(name))), "name")
    if chart.trouble:
        yield label(column.left, TOP - 8, "the flow cannot be told", "faint")
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
    for way in column.next:
        x, y = column.x(column.rows[way.end]) + 14, column.tops[way.end]
        down = f"M{number(x)} {number(y - GAP)}V{number(y - 4)}"
        yield f'<path class="way" d="{down}"><title>{said(way.said)}</title></path>'
        yield f'<path class="tip way" d="M{number(x)} {number(y)}l-3 -5h6z"/>'
    spans = [(top, top + _height(row)) for row, top in zip(column.rows, column.tops, strict=True)]
    right = [
        (column.x(row) + PILL if row.name == EXIT else column.right, *span)
        for row, span in zip(column.rows, spans, strict=True)
    ]
    left = [(column.x(row), *span) for row, span in zip(column.rows, spans, strict=True)]
    yield from arcs(column.ahead, lanes(column.ahead), right, 1, "way")
    yield from arcs(column.back, lanes(column.back), left, -1, "loop")


def _row(column: _Column, row: Row, top: float, hues: Mapping[str, str]) -> Iterator[str]:
    x, high = column.x(row), _height(row)
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
    waits = f"{' '.join(row.waits)} waits" if row.waits else ""
    held = "  ".join(f"{k} {n}" for k, n in row.shares.items()) if not column.kind else str(row.instructions)
    room = int((width - 66 - 6 * len(held)) / 6.8)
    name = short(row.name, max(6, room - len(waits)))
    yield label(x + 7, top + 14, name, "code")
    if waits:
        yield label(x + 14 + 6.8 * len(name), top + 14, waits, "waits")
    if column.kind:
        yield label(column.right - 92, top + 14, row.lines, "faint", "end")
    yield label(column.right - 52, top + 14, held, "", "end")
    yield label(column.right - 7, top + 14, str(row.cycles), "", "end")
    yield from _barriers(row, x, top + LINE, width, bool(column.kind))


def _split(row: Row, x: float, y: float, width: float, high: float, hues: Mapping[str, str]) -> Iterator[str]:
    """In proportion to instructions; hatched where others wait."""
    total = sum(row.shares.values())
    at = x
    for letter, n in row.shares.items():
        own = width * n / total
        yield box(at, y, own, high, f"soft {hues[letter]}")
        at += own
        if row.waits:
            yield f'<path class="hatch {hues[letter]}" d="{hatching(x, y, width, LINE, 8)}"/>'


def _barriers(row: Row, x: float, y: float, width: float, alone: bool) -> Iterator[str]:
    shown = row.barriers if len(row.barriers) <= BARRIERS else row.barriers[: BARRIERS - 1]
    texts = [b.text if alone else f"{b.kernel} {b.text}" for b in shown]
    texts += [f"… {len(row.barriers) - len(shown)} more barriers"] if len(shown) < len(row.barriers) else []
    for i, text in enumerate(texts):
        yield box(x + 4, y + i * BAND, width - 8, BAND - 1.5, "band", round_=2)
        yield label(x + 9, y + i * BAND + 8, short(text, int((width - 20) / 5.5)), "meets")


def _title(row: Row) -> str:
    """What is said of a row that one points at."""
    lines = [", ".join(b.name for b in row.blocks[:12]) + (", …" if len(row.blocks) > 12 else "")]
    lines.append(f"{row.instructions} instructions, {row.cycles} cycles, in {row.depth} loops")
    for b in row.blocks[:12]:
        lines += [f"{b.name}: lines {b.lines}"] if b.lines else []
        lines += [f"{p.kernel}: {p.instructions} of {' or '.join(p.blocks)}" for p in b.pairs]
        if b.copies and b.copies > 1:
            lines.append(f"{b.name}: {b.copies} copies, in {', '.join(b.stands_in)}")
    return "\n".join(lines[:40])


def _ribbons(made: Sequence[_Column], own: Mapping[str, _Column]) -> tuple[list[str], bool]:
    """From rows of W to those of kernels, and whether any of them is unsure."""
    found: dict[tuple[int, int, str, int, bool], int] = {}
    for w, column in enumerate(made):
        for i, row in enumerate(column.rows):
            for pair in (p for b in row.blocks for p in b.pairs):
                targets = {own[pair.kernel].row_of[name] for name in pair.blocks}
                for target in sorted(targets):
                    key = (w, i, pair.kernel, target, len(targets) > 1)
                    found[key] = found.get(key, 0) + pair.instructions
    ends: dict[tuple[str, int, int], list[int]] = {}
    keys = list(found)
    for n, (w, i, letter, target, _) in enumerate(keys):
        side = "W left" if own[letter].left < made[w].left else "W right"
        ends.setdefault((side, w, i), []).append(n)
        ends.setdefault((letter, -1, target), []).append(n)
    place = {(end, n): (j + 1) / (len(several) + 1) for end, several in ends.items() for j, n in enumerate(several)}
    parts = []
    for n, (w, i, letter, target, several) in enumerate(keys):
        column, kernel = made[w], own[letter]
        left = kernel.left < column.left
        y1 = column.tops[i] + _height(column.rows[i]) * place[("W left" if left else "W right", w, i), n]
        y2 = kernel.tops[target] + _height(kernel.rows[target]) * place[(letter, -1, target), n]
        x1 = column.x(column.rows[i]) if left else column.right
        x2 = kernel.right if left else kernel.x(kernel.rows[target])
        middle, count = number((x1 + x2) / 2), found[keys[n]]
        path = f"M{number(x1)} {number(y1)}C{middle} {number(y1)} {middle} {number(y2)} {number(x2)} {number(y2)}"
        drawn = f'class="ribbon {kernel.kind}{" unsure" if several else ""}" d="{path}"'
        wide = number(min(5.0, 1 + count**0.5 / 2))
        parts.append(f'<path {drawn} stroke-width="{wide}"><title>{count} instructions of {letter}</title></path>')
    return parts, any(key[-1] for key in keys)
