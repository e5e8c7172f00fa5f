"""The picture of what threads do: a row for each warp, time to the right, coloured by kernel."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from goptx.anatomy.activity import Activity, Row, Segment
from goptx.view.svg.drawing import (
    HIGH,
    MARGIN,
    PAGE,
    WIDE,
    Sample,
    axis,
    box,
    document,
    escaped,
    heading,
    label,
    legend,
    number,
    wrapped,
)
from goptx.view.svg.text_width import Font, text_width
from goptx.view.svg.theme import hue

RIGHT, SPACE = 30, 10  # pixels after the longest row, and between its labels
LANE, BETWEEN, GROUP = 12, 3, 8  # pixels of a row, between rows, and between CTAs
LEAST = 140  # pixels for the labels at least
WARPS = 4  # rows for warps that do the same
LETTER = Font(10, bold=True)  # of the kernel, in a segment with room for it
FINE, MIXED = 3.0, 4.0  # a segment that is narrower is drawn as a part of a column, and the width of such columns
_RULES = """
.KIND .track { fill: var(--track); }
.KIND .initial { font-size: 10px; font-weight: 600; fill: var(--ground); }
.KIND .dark { fill: var(--ink); }
.KIND .other { fill: var(--own); fill-opacity: .55; }
"""


@dataclass(frozen=True, slots=True)
class _Frame:
    """Rows begin at `left`; `scale` are the pixels of a cycle. `few`: there are few rows, so that warps that do the
    same are drawn one by one."""

    left: float
    scale: float
    cycles: float
    hues: dict[str, str]
    few: bool

    @property
    def length(self) -> float:
        return self.cycles * self.scale

    def x(self, cycle: float) -> float:
        return self.left + cycle * self.scale


def activity_svg(found: Activity, page: float = PAGE) -> str:
    """The picture as an SVG document of a width of `page` pixels."""
    few = len({r.ctas for r in found.rows}) <= 3
    ctas = max((text_width(row.cta_label) for row in found.rows), default=0)
    warps = max((text_width(name) for row in found.rows for name, _ in _lanes(row, few)), default=0)
    left = math.ceil(max(MARGIN + ctas + SPACE + warps + SPACE, LEAST))
    hues = {letter: hue(i) for i, (letter, _) in enumerate(found.kernels)}
    frame = _Frame(left, (page - left - RIGHT) / max(found.cycles, 1.0), max(found.cycles, 1.0), hues, few)
    title = f"What threads do: {found.strategy}" + (", side by side" if found.streams else "")
    samples, after = legend(list(_samples(found, frame)), MARGIN, 36, page - 2 * MARGIN)
    y = after + 26
    parts = [heading(title, page), *samples, *axis(left, frame.scale, 0, frame.cycles, y)]
    y += 8
    before: Row | None = None
    for row in found.rows:
        if before and _group_of(before) != _group_of(row):
            y += GROUP
            if before.entry == row.entry and (before.ctas[1] or 0) + 1 < row.ctas[0]:
                more = f"… {row.ctas[0] - (before.ctas[1] or 0) - 1} more CTAs"
                parts.append(label(left - SPACE, y + LANE - 2, more, "faint", "end"))
                y += LANE + GROUP
        new = not before or _group_of(before) != _group_of(row)
        drawn, y = _row(row, y, frame, row.cta_label if new else "")
        parts += drawn
        before = row
    low, y_end = wrapped([*_notes(found)], MARGIN, y + 10, page - 2 * MARGIN)
    return document("activity", title, page, y_end + 10, _RULES, [*parts, *low])


def _group_of(row: Row) -> tuple[str, str, tuple[int, int | None]]:
    return row.entry, row.of, row.ctas


def _notes(found: Activity) -> Iterator[str]:
    yield (
        f"Estimated cycles of one warp on its critical path, latencies {found.latency}; kernels side by side are drawn "
        "as if they began at once."
    )
    yield from (f"{n[:1].upper()}{n[1:]}." for n in found.notes)


def _samples(found: Activity, frame: _Frame) -> Iterator[Sample]:
    hues = frame.hues
    present = {s.kernel for r in found.rows for s in r.segments}
    for (letter, name), copies in zip(found.kernels, found.copies, strict=True):
        if letter in present:
            shapes = box(0, 0, WIDE, HIGH, f"full {hues[letter]}", round_=2)
            if copies > 1:
                shapes += box(WIDE / 2, 0, WIDE / 2, HIGH, "ground") + box(
                    WIDE / 2, 0, WIDE / 2, HIGH, f"other {hues[letter]}"
                )
            many = f", {copies} CTAs alternately dark and light" if copies > 1 else ""
            yield Sample(shapes, f"{letter} {name}{many}")
    if any(_is_fine(s, frame) and _is_fine(z, frame) for r in found.rows for s, z in pairwise(r.segments)):
        kind = next(hues[x] for x in hues if x in present)
        shapes = box(0, 0, WIDE, HIGH, "track", round_=2) + f'<path class="full {kind}" d="M0 8h13v-4h13v8H0z"/>'
        yield Sample(shapes, "by height: share of the time, where kernels alternate too fast to be drawn")
    if any(_idle(r, found) for r in found.rows):
        yield Sample(box(0, 0, WIDE, HIGH, "track", round_=2), "ended, or nothing to do")


def _idle(row: Row, found: Activity) -> bool:
    return not row.segments or row.segments[-1].end < found.cycles * 0.99 or row.segments[0].begin > 0


def _row(row: Row, y: float, frame: _Frame, title: str) -> tuple[list[str], float]:
    """The lanes of a row, and where they end. The first row of a CTA has it as `title`."""
    parts = [label(MARGIN, y + LANE - 2, title)] if title else []
    for name, one in _lanes(row, frame.few):
        parts.append(label(frame.left - SPACE, y + LANE - 2, name, "faint", "end"))
        if one:
            parts += _lane(row, y, frame, name)
        y += LANE + BETWEEN
    return parts, y


def _lanes(row: Row, few: bool) -> Iterator[tuple[str, bool]]:
    """The label of each lane, and whether the lane has a bar."""
    first, last = row.warps
    if last is None:
        yield "every warp", True
    elif first == last:
        yield f"warp {first}", True
    elif not few or not row.segments:
        yield f"warps {first}-{last}", True
    elif last - first < WARPS:
        yield from ((f"warp {w}", True) for w in range(first, last + 1))
    else:
        yield from ((f"warp {w}", True) for w in (first, first + 1))
        yield f"… {last - first - 2} more", False
        yield f"warp {last}", True


def _lane(row: Row, y: float, frame: _Frame, name: str) -> Iterator[str]:
    title = f"{row.cta_label}, {name}: {', '.join(row.kernels) or 'nothing'}"
    yield box(frame.left, y, frame.length, LANE, "track", title, 2)
    for kind, path in _paths(row, y, frame):
        yield f'<path class="{kind}" d="{path}"><title>{escaped(title)}</title></path>'
    for s in row.segments:
        if (s.end - s.begin) * frame.scale >= text_width(s.kernel, LETTER) + 4:
            kind = "initial dark" if s.copy % 2 else "initial"
            yield label(frame.x((s.begin + s.end) / 2), y + LANE - 2.5, s.kernel, kind, "middle")


def _paths(row: Row, y: float, frame: _Frame) -> Sequence[tuple[str, str]]:
    """A path for each kind of segment."""
    found: dict[str, list[str]] = {}
    for fine, run in groupby(row.segments, key=lambda s: _is_fine(s, frame)):
        if fine:
            _mix([*run], y, frame, found)
            continue
        for s in run:
            x, long = frame.x(s.begin), (s.end - s.begin) * frame.scale
            found.setdefault(_kind(s, frame), []).append(f"M{x:.1f} {number(y)}h{long:.1f}v{LANE}h-{long:.1f}z")
    return [(kind, "".join(paths)) for kind, paths in found.items()]


def _is_fine(s: Segment, frame: _Frame) -> bool:
    """Whether the segment is too narrow to be seen as a stripe."""
    return (s.end - s.begin) * frame.scale < FINE


def _kind(s: Segment, frame: _Frame) -> str:
    return f"{'other' if s.copy % 2 else 'full'} {frame.hues[s.kernel]}"


def _mix(run: Sequence[Segment], y: float, frame: _Frame, found: dict[str, list[str]]) -> None:
    """Adds columns in which each kind has the height of its share of the time; the kinds stand in one order."""
    begin, end = run[0].begin, run[-1].end
    count = max(1, round((end - begin) * frame.scale / MIXED))
    span = (end - begin) / count or 1.0
    columns: list[dict[str, float]] = [{} for _ in range(count)]
    for s in run:
        for i in range(int((s.begin - begin) / span), min(count, int((s.end - begin) / span) + 1)):
            own = min(s.end, begin + (i + 1) * span) - max(s.begin, begin + i * span)
            columns[i][_kind(s, frame)] = columns[i].get(_kind(s, frame), 0.0) + max(0.0, own) / span
    kinds = sorted({kind for column in columns for kind in column})
    for i, column in enumerate(columns):
        x, long, top = frame.x(begin + i * span), span * frame.scale, y
        for kind in (k for k in kinds if column.get(k)):
            high = LANE * column[kind]
            found.setdefault(kind, []).append(f"M{x:.1f} {top:.1f}h{long:.1f}v{high:.1f}h-{long:.1f}z")
            top += high
