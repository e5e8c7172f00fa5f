"""Bar charts as SVG that stands by itself."""

from __future__ import annotations

from collections.abc import Iterator
from xml.sax.saxutils import escape

from goptx.view.bars import LACKING, Bars, Group
from goptx.view.svg import document
from goptx.view.theme import LIGHT, hue

LEFT, LENGTH, RIGHT = 170, 420, 70  # of the names, the longest bar, and the numbers behind it; pixels
TOP, BAR, STEP, GAP = 64, 11, 14, 10  # above all groups, of a bar, from one to the next, between groups
KEY = 22  # of a name in the legend, with 7 for each letter


def svg(bars: Bars) -> str:
    """The chart as an SVG document."""
    legend, low = _legend(bars)
    parts = [f'<text class="head" x="16" y="24">{escape(bars.title)}</text>', *legend]
    for group in bars.groups:
        drawn, low = _group(bars, group, low + GAP)
        parts += drawn
    return document("bars", bars.title, (LEFT + LENGTH + RIGHT, low + GAP), _RULES, parts)


_RULES = (
    ".bars text { font: 11px system-ui, sans-serif; fill: var(--ink); }",
    ".bars .head { font-size: 14px; font-weight: 600; }",
    ".bars .number { fill: var(--faint); }",
    ".bars .mark { stroke: var(--ink); stroke-width: 1.5; stroke-dasharray: 3 2; }",
    *(f".bars .{name} {{ fill: var(--{name}); }}" for name in LIGHT),
)


def _legend(bars: Bars) -> tuple[list[str], int]:
    """A line of it, or several; and where they end."""
    parts, x, y = [], 16, TOP - 20
    for i, name in enumerate(bars.series):
        width = KEY + 7 * len(name)
        if x + width > LEFT + LENGTH + RIGHT and x > 16:
            x, y = 16, y + STEP + 4
        parts.append(f'<rect class="{_class(bars, i)}" x="{x}" y="{y - 9}" width="{BAR}" height="{BAR}" rx="2"/>')
        parts.append(f'<text x="{x + BAR + 5}" y="{y}">{escape(name)}</text>')
        x += width + 8
    return parts, y + 6


def _class(bars: Bars, series: int) -> str:
    return "chosen" if series >= bars.plain else hue(series)


def _group(bars: Bars, group: Group, top: int) -> tuple[list[str], int]:
    """The group, and where it ends."""
    parts = [f'<text x="16" y="{top + BAR - 2}">{escape(group.title)}</text>']
    y = top
    for i in range(len(bars.series)):
        parts += _bar(bars, i, group, y)
        y += STEP
    parts += _mark(bars, group, top, y)
    return parts, y


def _bar(bars: Bars, series: int, group: Group, y: int) -> Iterator[str]:
    kind, name, value = _class(bars, series), bars.series[series], group.values[series]
    length = 0.0 if value is None else LENGTH * group.share(value)
    said = LACKING if value is None else bars.number(value)
    yield f'<rect class="track" x="{LEFT}" y="{y}" width="{LENGTH}" height="{BAR}" rx="2"/>'
    yield (
        f'<rect class="{kind}" x="{LEFT}" y="{y}" width="{length:.1f}" height="{BAR}" rx="2">'
        f"<title>{escape(f'{name}: {group.title} {said}')}</title></rect>"
    )
    yield f'<text class="number" x="{LEFT + LENGTH + 8}" y="{y + BAR - 2}">{said}</text>'


def _mark(bars: Bars, group: Group, top: int, low: int) -> Iterator[str]:
    if group.mark:
        name, value = group.mark
        x = f"{LEFT + LENGTH * group.share(value):.1f}"
        yield f'<line class="mark" x1="{x}" x2="{x}" y1="{top - 3}" y2="{low}"/>'
        yield f'<text class="number" x="{LEFT - 8}" y="{low - STEP + BAR - 2}" text-anchor="end">' + (
            f"{escape(name)} {bars.number(value)}</text>"
        )
