"""Charts of one quantity: a bar for each named thing, the largest first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goptx.view.charts.chart_svg import GROUND, LINE, Tips, add_head, bar_tips, chart_svg, hue_of
from goptx.view.svg.drawing import clean
from goptx.view.svg.text_width import NAME, fitted
from goptx.view.svg.theme import LIGHT

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDTH = 760  # of the chart, pixels
STEP, REST = 19, 120  # pixels from one bar to the next, and above and below all bars
MOST_NAMES = 0.45  # the most of the width that names take
TICK = 80  # pixels between the numbers along the axis at least
CHOSEN: dict[str, Any] = {"color": LIGHT["chosen"], "fontweight": "bold"}


@dataclass(frozen=True, slots=True)
class Bar:
    """`series` is the number of its colour and of its name in the legend."""

    name: str
    value: float
    series: int
    chosen: bool = False


@dataclass(frozen=True, slots=True)
class Ranked:
    """Bars of the quantity that `across` names, with its unit; `line` is a value to compare with, by its name, drawn
    through all bars."""

    title: str
    across: str
    series: tuple[str, ...]
    bars: tuple[Bar, ...]
    line: tuple[str, float]

    def _repr_svg_(self) -> str:
        """Raises `InputError` if matplotlib is not installed."""
        return self.svg()

    def svg(self, width: float = WIDTH) -> str:
        """The chart, at most `width` pixels wide. Raises `InputError` if matplotlib is not installed."""
        size = min(width, WIDTH), REST + STEP * len(self.bars)
        return chart_svg(self.title, self.described, size, self._draw)

    @property
    def described(self) -> str:
        """A description for readers who cannot see the chart."""
        bars = "; ".join(f"{bar.name}: {bar.value:.2f}{', chosen' if bar.chosen else ''}" for bar in self.bars)
        return f"{self.across}: {bars}. {self.line[0]}: {self.line[1]:.2f}."

    def _draw(self, figure: Figure) -> Tips:
        from matplotlib.lines import Line2D
        from matplotlib.patches import Patch

        field = figure.add_subplot()
        width = 72 * figure.get_size_inches()[0]
        names = MOST_NAMES * width
        field.locator_params(axis="x", nbins=max(2, int((width - names) / TICK)))
        places = range(len(self.bars))
        drawn = field.barh(places, [bar.value for bar in self.bars], 0.72, color=[hue_of(b.series) for b in self.bars])
        field.axvline(self.line[1], **LINE)
        field.set_yticks(places, [clean(fitted(bar.name, names, NAME)) for bar in self.bars])
        field.margins(y=0.5 / max(len(self.bars), 1))
        field.invert_yaxis()
        field.set_xlim(0, 1.12 * max([self.line[1], *(bar.value for bar in self.bars)]))
        field.set_xlabel(clean(self.across))
        for place, bar in zip(places, self.bars, strict=True):
            field.annotate(
                f"{bar.value:.2f}{' ★' if bar.chosen else ''}", (bar.value, place), (5, 0), textcoords="offset points",
                va="center", bbox=GROUND, **(CHOSEN if bar.chosen else {}),
            )  # fmt: skip
            if bar.chosen:
                field.get_yticklabels()[place].set(**CHOSEN)
                drawn[place].set(edgecolor=LIGHT["chosen"], linewidth=2)
        present = sorted({bar.series for bar in self.bars})
        keys = [Patch(color=hue_of(k), label=clean(self.series[k])) for k in present]
        add_head(figure, self.title, [*keys, Line2D([], [], label=clean(self.line[0]), **LINE)])
        return bar_tips(drawn, [f"{bar.name}: {bar.value:.2f}" for bar in self.bars])
