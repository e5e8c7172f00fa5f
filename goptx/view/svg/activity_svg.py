"""The picture of what threads do: a row for each warp, time to the right, coloured by kernel."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from goptx.anatomy.activity import Activity, Row
from goptx.view.svg.drawing import (
    HIGH,
    MARGIN,
    WIDE,
    Sample,
    box,
    document,
    escaped,
    label,
    legend,
    nice,
    number,
    wrapped,
)
from goptx.view.svg.theme import hue

LEFT, LENGTH, RIGHT = 190, 640, 24  # pixels for the labels, the longest row, and after it
LANE, BETWEEN, GROUP = 12, 3, 8  # pixels of a row, between rows, and between CTAs
WARPS = 4  # rows for warps that do the same
LETTER = 14  # a segment's least width to hold the letter of its kernel
_RULES = """
.KIND .track { fill: var(--track); }
.KIND .letter { font-size: 10px; font-weight: 600; fill: var(--ground); }
.KIND .dark { fill: var(--ink); }
.KIND .other { fill: var(--own); fill-opacity: .55; }
"""


def activity_svg(found: Activity) -> str:
    """The picture as an SVG document."""
    hues = {letter: hue(i) for i, (letter, _) in enumerate(found.kernels)}
    scale = LENGTH / found.cycles if found.cycles else 1.0
    title = f"What threads do: {found.strategy}" + (", side by side" if found.streams else "")
    parts = [label(MARGIN, 24, title, "head")]
    samples, after = legend(list(_samples(found, hues)), MARGIN, 36, LEFT + LENGTH - MARGIN)
    parts += samples
    y = after + 26
    parts += _scale(found.cycles, y)
    y += 8
    few = len({r.ctas for r in found.rows}) <= 3
    before: Row | None = None
    for row in found.rows:
        if before and _group_of(before) != _group_of(row):
            y += GROUP
            if before.entry == row.entry and (before.ctas[1] or 0) + 1 < row.ctas[0]:
                parts.append(
                    label(
                        LEFT - 10,
                        y + LANE - 2,
                        f"… {row.ctas[0] - (before.ctas[1] or 0) - 1} more CTAs",
                        "faint",
                        "end",
                    )
                )
                y += LANE + GROUP
        new = not before or _group_of(before) != _group_of(row)
        drawn, y = _row(row, y, scale, hues, row.cta_label if new else "", few)
        parts += drawn
        before = row
    low, y_end = wrapped([*_notes(found)], MARGIN, y + 10, 130)
    return document("activity", title, LEFT + LENGTH + RIGHT, y_end + 10, _RULES, [*parts, *low])


def _group_of(row: Row) -> tuple[str, str, tuple[int, int | None]]:
    return row.entry, row.of, row.ctas


def _notes(found: Activity) -> Iterator[str]:
    yield (
        f"Estimated cycles of one warp on its critical path, latencies {found.latency}; kernels side by side are drawn "
        "as if they began at once."
    )
    yield from (f"{n[:1].upper()}{n[1:]}." for n in found.notes)


def _samples(found: Activity, hues: dict[str, str]) -> Iterator[Sample]:
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
    if any(_idle(r, found) for r in found.rows):
        yield Sample(box(0, 0, WIDE, HIGH, "track", round_=2), "ended, or nothing to do")


def _idle(row: Row, found: Activity) -> bool:
    return not row.segments or row.segments[-1].end < found.cycles * 0.99 or row.segments[0].begin > 0


def _scale(cycles: float, y: float) -> Iterator[str]:
    step = nice(max(1.0, cycles / 6))
    for i in range(int(cycles / step) + 1):
        x = LEFT + (LENGTH * i * step / cycles if cycles else 0)
        yield f'<line class="axis" x1="{number(x)}" x2="{number(x)}" y1="{number(y - 4)}" y2="{number(y)}"/>'
        yield label(x, y - 7, f"{i * step:g}" + (" cycles" if i == 0 else ""), "faint", "middle" if i else "")
    yield f'<line class="axis" x1="{LEFT}" x2="{LEFT + LENGTH}" y1="{number(y)}" y2="{number(y)}"/>'


def _row(row: Row, y: float, scale: float, hues: dict[str, str], title: str, few: bool) -> tuple[list[str], float]:
    """The lanes of a row, and where they end. The first row of a CTA has it as `title`."""
    parts = [label(MARGIN, y + LANE - 2, title)] if title else []
    for name, one in _lanes(row, few):
        parts.append(label(LEFT - 10, y + LANE - 2, name, "faint", "end"))
        if one:
            parts += _lane(row, y, scale, hues, name)
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


def _lane(row: Row, y: float, scale: float, hues: dict[str, str], name: str) -> Iterator[str]:
    title = f"{row.cta_label}, {name}: {', '.join(row.kernels) or 'nothing'}"
    yield box(LEFT, y, LENGTH, LANE, "track", title, 2)
    for kind, path in _paths(row, y, scale, hues):
        yield f'<path class="{kind}" d="{path}"><title>{escaped(title)}</title></path>'
    for s in row.segments:
        if (s.end - s.begin) * scale >= LETTER:
            kind = "letter dark" if s.copy % 2 else "letter"
            yield label(LEFT + (s.begin + s.end) / 2 * scale, y + LANE - 2.5, s.kernel, kind, "middle")


def _paths(row: Row, y: float, scale: float, hues: dict[str, str]) -> Sequence[tuple[str, str]]:
    """A path for each kind of segment."""
    found: dict[str, list[str]] = {}
    for s in row.segments:
        kind = f"{'other' if s.copy % 2 else 'full'} {hues[s.kernel]}"
        x, long = LEFT + s.begin * scale, (s.end - s.begin) * scale
        found.setdefault(kind, []).append(f"M{x:.1f} {number(y)}h{long:.1f}v{LANE}h-{long:.1f}z")
    return [(kind, "".join(paths)) for kind, paths in found.items()]
