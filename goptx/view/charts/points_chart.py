"""Charts of points, such as times by register caps, or trials in the order in which they were tried."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from goptx.view.charts.chart_svg import GROUND, LINE, Tips, add_head, chart_svg, hue_of
from goptx.view.svg.drawing import clean
from goptx.view.svg.text_width import text_width
from goptx.view.svg.theme import LIGHT

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

SIZE = 708, 300  # width and height of the chart, pixels
STRIP = 18  # height of the strip of points without a value, pixels
TICK, SIDES = 8, 120  # pixels between the names of ticks, and at both sides of the field
MARKERS = "osDv^P"  # series differ in shape as well as in colour
AREA = 42  # of a marker, square pixels
WRONG = "wrong or failed"
NEAR = 0.4  # an axis begins at 0 if the least value is below this fraction of the largest


@dataclass(frozen=True, slots=True)
class Point:
    """A point of a series at `x` and `y`; `y` is None for a point without a value. `title` is its tooltip. Its values
    range from `least` to `most`. A point that is `wrong` has another shape."""

    x: float
    y: float | None
    series: int
    title: str
    least: float | None = None
    most: float | None = None
    chosen: bool = False
    wrong: bool = False


@dataclass(frozen=True, slots=True)
class Points:
    """Points, and the names of the axes with units.

    `ticks` are positions on the horizontal axis with their names; without them it has numbers. `line` is a value to
    compare with and its name. `lacking` is the name of points without a value, `chosen` that of the chosen point.
    """

    title: str
    across: str
    up: str
    series: tuple[str, ...]
    points: tuple[Point, ...]
    ticks: tuple[tuple[float, str], ...] = ()
    line: tuple[str, float] | None = None
    joined: bool = False
    lacking: str = ""
    chosen: str = "chosen"

    def _repr_svg_(self) -> str:
        """Raises `InputError` if matplotlib is not installed."""
        return self.svg()

    def svg(self, width: float = SIZE[0]) -> str:
        """The chart, at most `width` pixels wide. Raises `InputError` if matplotlib is not installed."""
        return chart_svg(self.title, self.described, (min(width, SIZE[0]), SIZE[1]), self._draw)

    @property
    def described(self) -> str:
        """A description for readers who cannot see the chart."""
        values = [p.y for p in self.points if p.y is not None]
        ends = f", from {min(values):.4g} to {max(values):.4g}" if values else ""
        chosen = "".join(f" {self.chosen}: {p.title}." for p in self.points if p.chosen)
        lacking = len(self.points) - len(values)
        without = f" {self.lacking}: {lacking}." if lacking else ""
        return f"{len(values)} points: {self.up}{ends}, over {self.across}.{chosen}{without}"

    def _draw(self, figure: Figure) -> Tips:
        placed = [p for p in self.points if p.y is not None]
        lacking = [p for p in self.points if p.y is None]
        heights = [SIZE[1] - 140, STRIP][: 2 if lacking else 1]
        field, *strips = figure.subplots(len(heights), sharex=True, squeeze=False, height_ratios=heights)[:, 0]
        tips = self._fill(field, placed)
        for strip in strips:
            field.tick_params(bottom=False)
            tips |= self._fill_strip(strip, lacking)
        self._label_across([field, *strips][-1], 72 * figure.get_size_inches()[0])
        add_head(figure, self.title, self._keys())
        return tips

    def _fill(self, field: Axes, placed: Sequence[Point]) -> dict[str, list[str]]:
        field.set_ylabel(clean(self.up))
        field.grid(axis="y")
        if self.joined:
            field.plot([p.x for p in placed], [_value(p) for p in placed], color=LIGHT["line"], zorder=1)
        for p in placed:
            if p.least is not None and p.most is not None:
                field.vlines(p.x, p.least, p.most, hue_of(p.series), linewidth=1.2)
            if p.chosen:
                self._mark_chosen(field, p)
        if self.line:
            field.axhline(self.line[1], zorder=1.5, **LINE)
        tips = _add_points(field, [(p, _value(p)) for p in placed], "point")
        low, high = field.get_ylim()
        if low < NEAR * high:
            field.set_ylim(bottom=0)
        field.locator_params(axis="y", nbins=6)
        return tips

    def _mark_chosen(self, field: Axes, p: Point) -> None:
        field.scatter(p.x, _value(p), 220, facecolors="none", edgecolors=LIGHT["chosen"], linewidths=2, zorder=4)
        places = [q.x for q in self.points]
        right = p.x > min(places) + 0.9 * (max(places) - min(places))  # no room at the right
        field.annotate(
            clean(self.chosen), (p.x, _value(p)), (-11 if right else 11, 7), textcoords="offset points",
            ha="right" if right else "left", color=LIGHT["chosen"], fontweight="bold", bbox=GROUND, zorder=5,
        )  # fmt: skip

    def _fill_strip(self, strip: Axes, lacking: Sequence[Point]) -> dict[str, list[str]]:
        """Marks the points without a value in a strip below the field."""
        strip.set_facecolor(LIGHT["track"])
        strip.set_ylim(-1, 1)
        strip.set_yticks([0], [clean(self.lacking)])
        return _add_points(strip, [(p, 0.0) for p in lacking], "lacking", marker="|", area=STRIP**2)

    def _label_across(self, lowest: Axes, width: float) -> None:
        lowest.set_xlabel(clean(self.across))
        if self.ticks:
            widest = max(text_width(name) for _, name in self.ticks)
            every = math.ceil(len(self.ticks) * (widest + TICK) / (width - SIDES))  # so many share one name
            names = [clean(name) if i % every == 0 else "" for i, (_, name) in enumerate(self.ticks)]
            lowest.set_xticks([place for place, _ in self.ticks], names)
        else:
            lowest.locator_params(axis="x", integer=True, nbins=max(2, int(width / 75)))

    def _keys(self) -> list[Line2D]:
        from matplotlib.lines import Line2D

        drawn = {p.series for p in self.points}
        keys = [
            Line2D([], [], linestyle="", marker=_marker(k), color=hue_of(k), label=clean(name))
            for k, name in enumerate(self.series)
            if k in drawn and len(self.series) > 1
        ]
        if any(p.wrong for p in self.points):
            keys.append(Line2D([], [], linestyle="", marker="x", markeredgewidth=2, color=LIGHT["wrong"], label=WRONG))
        if self.line:
            keys.append(Line2D([], [], label=clean(self.line[0]), **LINE))
        return keys


def _add_points(
    field: Axes, placed: Sequence[tuple[Point, float]], kind: str, marker: str = "", area: float = AREA
) -> dict[str, list[str]]:
    """Draws the points. Returns their tooltips. Wrong points have one shape, whatever their series is."""
    tips: dict[str, list[str]] = {}
    for series in sorted({-1 if p.wrong else p.series for p, _ in placed}):
        those = [(p, y) for p, y in placed if (-1 if p.wrong else p.series) == series]
        name = f"{kind}{series}"
        x, y = [p.x for p, _ in those], [y for _, y in those]
        if series < 0:
            field.scatter(x, y, AREA, color=LIGHT["wrong"], marker="x", linewidths=2, zorder=3, gid=name)
        else:
            field.scatter(x, y, area, color=hue_of(series), marker=marker or _marker(series), zorder=3, gid=name)
        tips[name] = [p.title for p, _ in those]
    return tips


def _marker(series: int) -> str:
    return MARKERS[series % len(MARKERS)]


def _value(p: Point) -> float:
    return p.y or 0.0
