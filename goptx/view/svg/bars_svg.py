"""Bar charts as SVG that stands by itself."""

from __future__ import annotations

from collections.abc import Iterator

from goptx.view.bars import LACKING, Bars, Group
from goptx.view.svg.drawing import MARGIN, box, document, label, line
from goptx.view.svg.theme import hue

LEFT, LENGTH, RIGHT = 170, 420, 70  # of the names, the longest bar, and the numbers after it; pixels
TOP, BAR, STEP, GAP = 64, 11, 14, 10  # above all groups, of a bar, from one to the next, between groups
KEY = 22  # of a name in the legend, with 7 for each letter


def svg(bars: Bars) -> str:
    """The chart as an SVG document."""
    legend, low = _legend(bars)
    parts = [label(MARGIN, 24, bars.title, "head"), *legend]
    for group in bars.groups:
        drawn, low = _group(bars, group, low + GAP)
        parts += drawn
    return document("bars", bars.title, LEFT + LENGTH + RIGHT, low + GAP, _RULES, parts)


_RULES = """
.KIND .track { fill: var(--track); }
.KIND [class^="hue"] { fill: var(--own); }
.KIND .chosen { fill: var(--chosen); }
.KIND .mark { stroke: var(--ink); stroke-width: 1.5; stroke-dasharray: 3 2; }
"""


def _legend(bars: Bars) -> tuple[list[str], int]:
    """A line of it, or several; and where they end."""
    parts, x, y = [], MARGIN, TOP - 20
    for i, name in enumerate(bars.series):
        width = KEY + 7 * len(name)
        if x + width > LEFT + LENGTH + RIGHT and x > MARGIN:
            x, y = MARGIN, y + STEP + 4
        parts.append(box(x, y - 9, BAR, BAR, _class(bars, i), round_=2))
        parts.append(label(x + BAR + 5, y, name))
        x += width + 8
    return parts, y + 6


def _class(bars: Bars, series: int) -> str:
    return "chosen" if series >= bars.plain else hue(series)


def _group(bars: Bars, group: Group, top: int) -> tuple[list[str], int]:
    """The group, and where it ends."""
    parts = [label(MARGIN, top + BAR - 2, group.title)]
    y = top
    for i in range(len(bars.series)):
        parts += _bar(bars, i, group, y)
        y += STEP
    parts += _mark(bars, group, top, y)
    return parts, y


def _bar(bars: Bars, series: int, group: Group, y: int) -> Iterator[str]:
    kind, name, value = _class(bars, series), bars.series[series], group.values[series]
    length = 0.0 if value is None else LENGTH * group.share(value)
    value_text = LACKING if value is None else bars.number(value)
    yield box(LEFT, y, LENGTH, BAR, "track", round_=2)
    yield box(LEFT, y, length, BAR, kind, f"{name}: {group.title} {value_text}", round_=2)
    yield label(LEFT + LENGTH + 8, y + BAR - 2, value_text, "faint")


def _mark(bars: Bars, group: Group, top: int, low: int) -> Iterator[str]:
    if group.mark:
        name, value = group.mark
        x = LEFT + LENGTH * group.share(value)
        yield line(x, top - 3, x, low, "mark")
        yield label(LEFT - 8, low - STEP + BAR - 2, f"{name} {bars.number(value)}", "faint", "end")
