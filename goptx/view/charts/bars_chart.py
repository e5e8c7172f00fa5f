"""Draws the bar charts of `goptx.view.bars`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goptx.view.bars import LACKING, Bars, Group
from goptx.view.charts.chart_svg import LINE, Tips, add_head, bar_tips, chart_svg, hue_of
from goptx.view.svg.drawing import clean
from goptx.view.svg.text_width import fitted
from goptx.view.svg.theme import LIGHT

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH = 700  # of the chart, pixels
STEP, REST = 15, 130  # pixels from one bar to the next, and above and below all bars
MOST_NAMES = 0.4  # the most of the width that names take
BAR, GAP = 0.76, 0.8  # the width of a bar and the space between groups, in steps


def bars_svg(bars: Bars, width: float = WIDTH) -> str:
    """The chart as an SVG document, at most `width` pixels wide. Raises `InputError` if matplotlib is not installed."""
    steps = len(bars.groups) * (len(bars.series) + GAP)
    size = min(width, WIDTH), REST + STEP * steps
    return chart_svg(bars.title, _described(bars), size, lambda figure: _draw(bars, figure))


def _described(bars: Bars) -> str:
    """A description for readers who cannot see the chart."""
    groups = []
    for group in bars.groups:
        values = ", ".join(f"{name} {number}" for name, number, _ in _rows(bars, group))
        groups.append(", ".join(filter(None, (f"{group.title}: {values}", _mark(bars, group)))))
    return f"{bars.across}. {'; '.join(groups)}."


def _rows(bars: Bars, group: Group) -> list[tuple[str, str, float]]:
    """For each bar the series, the number as text, and the fraction of the scale."""
    return [
        (name, LACKING, 0.0) if value is None else (name, bars.number(value), group.share(value))
        for name, value in zip(bars.series, group.values, strict=True)
    ]


def _draw(bars: Bars, figure: Figure) -> Tips:
    field = figure.add_subplot()
    tips: dict[str, list[str]] = {}
    for k, group in enumerate(bars.groups):
        tips |= _draw_group(bars, group, field, k * (len(bars.series) + GAP))
    _label_axes(bars, field, MOST_NAMES * 72 * figure.get_size_inches()[0])
    add_head(figure, bars.title, _keys(bars))
    return tips


def _draw_group(bars: Bars, group: Group, field: Axes, top: float) -> dict[str, list[str]]:
    rows = _rows(bars, group)
    places = [top + i for i in range(len(rows))]
    field.barh(places, [1.0] * len(rows), BAR, color=LIGHT["track"])
    drawn = field.barh(places, [share for _, _, share in rows], BAR, color=[_colour(bars, i) for i in range(len(rows))])
    for place, (_, number, _) in zip(places, rows, strict=True):
        field.annotate(number, (1, place), (6, 0), textcoords="offset points", va="center", color=LIGHT["faint"])
    if group.mark:
        field.plot([group.share(group.mark[1])] * 2, [top - 0.5, places[-1] + 0.5], **LINE)
    return bar_tips(drawn, [f"{name}: {group.title} {number}" for name, number, _ in rows], f"group at {top}")


def _label_axes(bars: Bars, field: Axes, most: float) -> None:
    """Writes the names of the groups, each at most `most` pixels wide, and the axis."""
    steps = len(bars.series) + GAP
    names = ["\n".join(fitted(line, most) for line in _title(bars, group)) for group in bars.groups]
    field.set_yticks([k * steps + (len(bars.series) - 1) / 2 for k in range(len(names))], list(map(clean, names)))
    field.tick_params(axis="y", labelcolor=LIGHT["ink"])
    field.set_ylim(len(names) * steps - GAP, -0.5 - GAP / 2)
    field.set_xlim(0, 1)
    field.set_xticks(*_ticks(bars))
    field.set_xlabel(clean(bars.across))


def _title(bars: Bars, group: Group) -> list[str]:
    """The title of a group, and its mark if groups have different ones."""
    return [group.title, _mark(bars, group)] if group.mark and _common_mark(bars) is None else [group.title]


def _ticks(bars: Bars) -> tuple[list[float], list[str]]:
    """Positions and texts of the ticks of the axis; no ticks if the groups have different scales."""
    from matplotlib.ticker import MaxNLocator

    scales = {(group.most, group.unit) for group in bars.groups}
    most = bars.groups[0].most if len(scales) == 1 else None
    values = [v for v in MaxNLocator(5, steps=[1, 2, 5, 10]).tick_values(0, most) if v <= most] if most else []
    return [v / (most or 1) for v in values], [f"{v:g}" for v in values]


def _keys(bars: Bars) -> list[Artist]:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    keys: list[Artist] = [Patch(color=_colour(bars, i), label=clean(name)) for i, name in enumerate(bars.series)]
    common = _common_mark(bars)
    marks = [_mark(bars, common)] if common else dict.fromkeys(g.mark[0] for g in bars.groups if g.mark)
    return [*keys, *(Line2D([], [], label=clean(name), **LINE) for name in marks)]


def _common_mark(bars: Bars) -> Group | None:
    """A group with the mark that all groups have; None if their marks differ."""
    same = len({group.mark for group in bars.groups}) == 1 and bars.groups[0].mark
    return bars.groups[0] if same else None


def _mark(bars: Bars, group: Group) -> str:
    return f"{group.mark[0]} {bars.number(group.mark[1])}" if group.mark else ""


def _colour(bars: Bars, series: int) -> str:
    return LIGHT["chosen"] if series >= bars.plain else hue_of(series)
