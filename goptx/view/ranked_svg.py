"""Bars of one quantity, a line for each thing that has it, the largest first, as SVG that stands by itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from xml.sax.saxutils import escape

from goptx.view.svg import document, rule, text
from goptx.view.theme import HUES, hue

LETTER = 6.4  # the width of one in a name, pixels
LENGTH, RIGHT = 360, 76  # of the longest bar, and of the number behind it
TOP, BAR, STEP = 58, 12, 17
MOST_NAME = 46  # letters of a name that are shown


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
    parts = [text(16, 22, ranked.title, "head"), *_legend(ranked), *_bars(ranked, left)]
    size = left + LENGTH + RIGHT, TOP + STEP * len(ranked.bars) + 26
    return document("ranked", ranked.title, size, _RULES, parts)


_RULES = (
    ".ranked text { font: 11px system-ui, sans-serif; fill: var(--ink); }",
    ".ranked .head { font-size: 14px; font-weight: 600; }",
    ".ranked .faint { fill: var(--faint); }",
    ".ranked .ground { fill: var(--ground); }",
    ".ranked .mark { stroke: var(--ink); stroke-width: 1.5; stroke-dasharray: 3 2; }",
    ".ranked .said { fill: var(--chosen); font-weight: 600; }",
    ".ranked .chosen { stroke: var(--chosen); stroke-width: 2; }",
    *(f".ranked .{hue(k)} {{ fill: var(--{hue(k)}); }}" for k in range(HUES)),
)


def _legend(ranked: Ranked) -> Iterator[str]:
    x = 16
    for i, name in enumerate(ranked.series):
        yield f'<rect class="{hue(i)}" x="{x}" y="35" width="11" height="11" rx="2"/>'
        yield text(x + 16, 44, name)
        x += 30 + 7 * len(name)


def _name(bar: Bar) -> str:
    return bar.name if len(bar.name) <= MOST_NAME else f"{bar.name[: MOST_NAME - 1]}…"


def _bars(ranked: Ranked, left: int) -> Iterator[str]:
    name, against = ranked.line
    most = max([against, *(bar.value for bar in ranked.bars)]) or 1.0
    y = TOP
    for bar in ranked.bars:
        length = LENGTH * bar.value / most
        kind, said = (f"{hue(bar.series)} chosen", "said") if bar.chosen else (hue(bar.series), "")
        yield text(left - 8, y + 10, _name(bar), said, "end")
        yield (
            f'<rect class="{kind}" x="{left}" y="{y}" width="{length:.1f}" height="{BAR}" rx="2">'
            f"<title>{escape(f'{bar.name}: {bar.value:.2f}')}</title></rect>"
        )
        yield text(left + length + 6, y + 10, f"{bar.value:.2f}{' ★' if bar.chosen else ''}", said)
        y += STEP
    x = left + LENGTH * against / most
    yield rule("mark", (x, TOP - 4), (x, y))
    yield text(x, y + 12, name, "faint", "middle")
