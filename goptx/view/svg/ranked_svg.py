"""Bars of one quantity, a line for each thing that has it, the largest first, as SVG that stands by itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from goptx.view.svg.drawing import MARGIN, box, document, label, line
from goptx.view.svg.theme import hue

LETTER = 6.4  # the width of one in a name, pixels
LENGTH, RIGHT = 360, 76  # of the longest bar, and of the number after it
TOP, BAR, STEP = 58, 12, 17
MOST_NAME = 46  # letters of a name that are rendered


@dataclass(frozen=True, slots=True)
class Bar:
    """`series` gives its colour, and a word that stands in the legend."""

    name: str
    value: float
    series: int
    chosen: bool = False


@dataclass(frozen=True, slots=True)
class Ranked:
    """Bars, and a value to compare with, which stands as a line through all of them."""

    title: str
    series: tuple[str, ...]
    bars: tuple[Bar, ...]
    line: tuple[str, float]

    def _repr_svg_(self) -> str:
        return svg(self)


def svg(ranked: Ranked) -> str:
    """The chart as an SVG document."""
    left = 28 + round(LETTER * max((len(_name(bar)) for bar in ranked.bars), default=0))
    parts = [label(MARGIN, 22, ranked.title, "head"), *_legend(ranked), *_bars(ranked, left)]
    return document("ranked", ranked.title, left + LENGTH + RIGHT, TOP + STEP * len(ranked.bars) + 26, _RULES, parts)


_RULES = """
.KIND .mark { stroke: var(--ink); stroke-width: 1.5; stroke-dasharray: 3 2; }
.KIND [class^="hue"] { fill: var(--own); }
.KIND .chosen { stroke: var(--chosen); stroke-width: 2; }
.KIND .said { fill: var(--chosen); font-weight: 600; }
"""


def _legend(ranked: Ranked) -> Iterator[str]:
    x = MARGIN
    for i, name in enumerate(ranked.series):
        yield box(x, 35, 11, 11, hue(i), round_=2)
        yield label(x + 16, 44, name)
        x += 30 + 7 * len(name)


def _name(bar: Bar) -> str:
    return bar.name if len(bar.name) <= MOST_NAME else f"{bar.name[: MOST_NAME - 1]}…"


def _bars(ranked: Ranked, left: int) -> Iterator[str]:
    name, against = ranked.line
    most = max([against, *(bar.value for bar in ranked.bars)]) or 1.0
    y = TOP
    for bar in ranked.bars:
        length = LENGTH * bar.value / most
        kind, class_ = (f"{hue(bar.series)} chosen", "said") if bar.chosen else (hue(bar.series), "")
        yield label(left - 8, y + 10, _name(bar), class_, "end")
        yield box(left, y, length, BAR, kind, f"{bar.name}: {bar.value:.2f}", round_=2)
        yield label(left + length + 6, y + 10, f"{bar.value:.2f}{' ★' if bar.chosen else ''}", class_)
        y += STEP
    x = left + LENGTH * against / most
    yield line(x, TOP - 4, x, y, "mark")
    yield label(x, y + 12, name, "faint", "middle")
