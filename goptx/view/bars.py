"""Bar charts, as values and as text: a group of bars for each quantity, with a bar for each series."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

WIDTH = 40  # of the longest bar, in characters
EIGHTHS = " ▏▎▍▌▋▊▉"
FULL, MARKED = "█", "░"
LACKING = "n/a"


@dataclass(frozen=True, slots=True)
class Group:
    """The value of one quantity for each series, None if it is not known. `most` is the end of the scale (None: the
    largest value). `mark` names another value to compare with."""

    name: str
    unit: str
    values: tuple[float | None, ...]
    most: float | None = None
    mark: tuple[str, float] | None = None

    def share(self, value: float) -> float:
        """The value as a share of the scale, 0 to 1."""
        most = self.most or max((v for v in self.values if v is not None), default=0.0)
        return min(1.0, max(0.0, value / most)) if most > 0 else 0.0

    @property
    def title(self) -> str:
        return f"{self.name}, {self.unit}" if self.unit else self.name


@dataclass(frozen=True, slots=True)
class Bars:
    """Named series and groups. The first `plain` series are drawn plainly; the others are the subject of the chart.
    Numbers below 1000 have `digits` digits after the point. `across` names what the bars measure, with its unit."""

    title: str
    series: tuple[str, ...]
    plain: int
    groups: tuple[Group, ...]
    across: str
    digits: int = 1

    def _repr_svg_(self) -> str:
        """Raises `InputError` if matplotlib is not installed."""
        return self.svg()

    def svg(self, width: float = math.inf) -> str:
        """The chart, at most `width` pixels wide. Raises `InputError` if matplotlib is not installed."""
        from goptx.view.charts.bars_chart import bars_svg

        return bars_svg(self, width)

    def number(self, value: float) -> str:
        return f"{value:.0f}" if value >= 1000 else f"{value:.{self.digits}f}"


def text(bars: Bars) -> str:
    """The chart for a terminal, a line for each bar."""
    marks = [group.mark[0] for group in bars.groups if group.mark]
    names = max(map(len, (*bars.series, *marks)))
    titles = max(len(group.title) for group in bars.groups)
    lines = [bars.title]
    for group in bars.groups:
        head = group.title
        for name, bar in _rows(bars, group):
            lines.append(f"{head:{titles}}  {name:{names}}  {bar}".rstrip())
            head = ""
    return "\n".join(lines)


def _rows(bars: Bars, group: Group) -> Iterator[tuple[str, str]]:
    for name, value in zip(bars.series, group.values, strict=True):
        yield name, LACKING if value is None else f"{_bar(group.share(value))} {bars.number(value)}".lstrip()
    if group.mark:
        name, value = group.mark
        yield name, f"{MARKED * round(WIDTH * group.share(value))} {bars.number(value)}".lstrip()


def _bar(share: float) -> str:
    whole, rest = divmod(round(8 * WIDTH * share), 8)
    return FULL * whole + (EIGHTHS[rest] if rest else "")
