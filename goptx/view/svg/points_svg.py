"""Points over an axis, such as times by register caps, or trials in turn, as SVG that stands by itself."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from goptx.view.svg.drawing import MARGIN, box, document, escaped, label, line, nice
from goptx.view.svg.theme import hue

LEFT, WIDTH, RIGHT = 84, 600, 24  # of the numbers, the field, and what is beside it; pixels
TOP, HEIGHT, LOW = 74, 180, 40  # of title and legend, the field, and the numbers below
STRIP = 16  # the height of that for points without a value
TICKS = 5  # about so many along an axis
WRONG = "wrong or failed"
KEY = 22  # of a name in the legend, with 7 for each letter


@dataclass(frozen=True, slots=True)
class Point:
    """At `x` and `y`, or without a value (None), of one of the series; `said` when pointed at. `least` to `most` is how
    far it scatters; one that went wrong has a shape of its own."""

    x: float
    y: float | None
    series: int
    said: str
    least: float | None = None
    most: float | None = None
    chosen: bool = False
    wrong: bool = False


@dataclass(frozen=True, slots=True)
class Points:
    """Points, and what the axes are called; `ticks` are places along the lower one with their names, otherwise it has
    numbers. `line` is a value to compare with, `lacking` what a point without a value is called, `chosen` what one
    is that is chosen."""

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
        return svg(self)


def svg(points: Points) -> str:
    """The chart as an SVG document."""
    field = _Field(points)
    parts = [label(MARGIN, 22, points.title, "head"), *_legend(points), *field.drawn()]
    return document("points", points.title, LEFT + WIDTH + RIGHT, field.bottom + LOW, _RULES, parts)


_RULES = """
.KIND .track { fill: var(--track); }
.KIND .mark { stroke: var(--ink); stroke-width: 1.5; stroke-dasharray: 3 2; }
.KIND [class^="hue"] { fill: var(--own); stroke: var(--own); }
.KIND .tick { stroke: none; }
.KIND .wrong { stroke: var(--wrong); stroke-width: 2; }
.KIND .chosen { fill: none; stroke: var(--chosen); stroke-width: 2; }
.KIND .said { fill: var(--chosen); font-weight: 600; }
"""
# series have shapes of their own as well as colours
_CROSS = "M-4 -4L4 4M-4 4L4 -4"
_SHAPES = ("M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0", "M-3.5 -3.5h7v7h-7z", "M0 -4.5L4.5 3.5H-4.5z", "M0 -5L5 0L0 5L-5 0z",
           "M0 4.5L4.5 -3.5H-4.5z", "M-4 -1.2h2.8v-2.8h2.4v2.8h2.8v2.4h-2.8v2.8h-2.4v-2.8h-2.8z")  # fmt: skip


def _legend(points: Points) -> Iterator[str]:
    x = MARGIN
    if len(points.series) > 1:
        for i, name in enumerate(points.series):
            yield _shape(hue(i), _SHAPES[i % len(_SHAPES)], x + 5, 40)
            yield label(x + 15, 44, name)
            x += KEY + 8 + 7 * len(name)
    if any(p.wrong for p in points.points):
        yield _shape("wrong", _CROSS, x + 5, 40)
        yield label(x + 15, 44, WRONG)


def _point(p: Point, x: float, y: float) -> str:
    kind, shape = ("wrong", _CROSS) if p.wrong else (hue(p.series), _SHAPES[p.series % len(_SHAPES)])
    return _shape(kind, shape, x, y, p.said)


def _shape(kind: str, shape: str, x: float, y: float, title: str = "") -> str:
    path = f'<path class="{kind}" transform="translate({x:.1f} {y:.1f})" d="{shape}"'
    return f"{path}><title>{escaped(title)}</title></path>" if title else f"{path}/>"


class _Field:
    """Where values lie, and what is drawn there."""

    def __init__(self, points: Points) -> None:
        self.points = points
        ends = [v for p in points.points if p.y is not None for v in (p.y, p.least, p.most) if v is not None]
        self.up = steps(*_ends(ends + ([points.line[1]] if points.line else [])))
        places = [p.x for p in points.points] or [0.0]
        self.low, self.high = min(places), max(places)
        self.bottom = TOP + HEIGHT + (STRIP + 6 if any(p.y is None for p in points.points) else 0)

    def x(self, value: float) -> float:
        return LEFT + 12 + (WIDTH - 24) * (value - self.low) / ((self.high - self.low) or 1)

    def y(self, value: float) -> float:
        return TOP + HEIGHT * (1 - (value - self.up[0]) / (self.up[-1] - self.up[0]))

    def drawn(self) -> Iterator[str]:
        yield from self._axes()
        placed = [(p, self.x(p.x), self.y(p.y)) for p in self.points.points if p.y is not None]
        if self.points.joined:
            yield f'<polyline class="axis" points="{" ".join(f"{x:.1f},{y:.1f}" for _, x, y in placed)}"/>'
        for p, x, y in placed:
            if p.least is not None and p.most is not None:
                yield line(x, self.y(p.least), x, self.y(p.most), hue(p.series))
            yield _point(p, x, y)
        for _, x, y in ((p, x, y) for p, x, y in placed if p.chosen):
            yield f'<circle class="chosen" cx="{x:.1f}" cy="{y:.1f}" r="8"/>'
            right = x > LEFT + WIDTH - 60  # no room there
            yield label(x - 11 if right else x + 11, y - 6, self.points.chosen, "said", "end" if right else "")
        yield from self._without()

    def _without(self) -> Iterator[str]:
        """A tick in a strip of its own for each point that has no value."""
        without = [p for p in self.points.points if p.y is None]
        if not without:
            return
        top = TOP + HEIGHT + 6
        yield box(LEFT, top, WIDTH, STRIP, "track")
        yield label(LEFT - 6, top + 12, self.points.lacking, "faint", "end")
        for p in without:
            if p.wrong:
                yield _point(p, self.x(p.x), top + STRIP / 2)
            else:
                yield box(self.x(p.x) - 1, top, 2, STRIP, f"{hue(p.series)} tick", p.said)

    def _axes(self) -> Iterator[str]:
        for value in self.up:
            yield line(LEFT, self.y(value), LEFT + WIDTH, self.y(value), "axis")
            yield label(LEFT - 6, self.y(value) + 4, number(value, self.up), "faint", "end")
        yield label(LEFT, TOP - 6, self.points.up, "faint")
        for place, name in self.points.ticks or self._numbers():
            yield label(self.x(place), self.bottom + 16, name, "faint", "middle")
        yield label(LEFT + WIDTH, self.bottom + 32, self.points.across, "faint", "end")
        if self.points.line:
            name, value = self.points.line
            yield line(LEFT, self.y(value), LEFT + WIDTH, self.y(value), "mark", name)

    def _numbers(self) -> Iterator[tuple[float, str]]:
        """Whole ones along the lower axis."""
        if self.high > self.low:
            found = [v for v in steps(self.low, self.high) if self.low <= v <= self.high and v == int(v)]
            yield from ((v, f"{v:.0f}") for v in found)


def _ends(values: Sequence[float]) -> tuple[float, float]:
    """Of an axis on which these stand apart; one that begins at nothing where that is not far."""
    low, high = min(values, default=0.0), max(values, default=1.0)
    return (0.0 if low < 0.4 * high else low), high if high > low else low + 1.0


def steps(low: float, high: float) -> list[float]:
    """Round numbers, from at most `low` to at least `high`."""
    step = nice((high - low) / TICKS * 0.999)  # what is round but for its last bits stays so
    return [k * step for k in range(math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9) + 1)]


def number(value: float, among: Sequence[float]) -> str:
    """With as many digits as tell it from its neighbours."""
    digits = max(0, -math.floor(math.log10(among[1] - among[0]) + 1e-9))
    return f"{value:.{digits}f}"
