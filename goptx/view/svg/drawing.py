"""The parts that all pictures of kernels use: the document around them, text, hatching, and the legend.

A picture is self-contained: it has no script, no identifiers, and refers to nothing outside. Colours are variables of
theme.py; `.hue0` and so on set `--own`, the colour of a kernel.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

from goptx.view.svg.text_width import HEAD, fitted, lines_of, text_width
from goptx.view.svg.theme import HUES, variables

SPACE = "http://www.w3.org/2000/svg"
MARGIN = 16
PAGE, NARROW = 1180, 460  # width of a picture at most, pixels: for a page of 1280, and for a narrow page
TICKS = 90  # pixels between the numbers along an axis, at least
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

# The rules of all pictures; `KIND` is the class of the picture beside `goptx`.
_RULES = """
.KIND text { font: 11px system-ui, sans-serif; fill: var(--ink); }
.KIND .title { font-size: 14px; font-weight: 600; }
.KIND .faint { fill: var(--faint); }
.KIND .beside { fill: var(--faint); font-weight: normal; }
.KIND .code { font-family: ui-monospace, monospace; }
.KIND .ground { fill: var(--ground); }
.KIND .axis { stroke: var(--line); fill: none; }
.KIND .full { fill: var(--own); }
.KIND .soft { fill: var(--own); fill-opacity: .3; }
.KIND .edge { stroke: var(--own); fill: none; }
.KIND .hatch { stroke: var(--own); stroke-width: 1; fill: none; }
"""


def document(kind: str, title: str, width: float, height: float, rules: str, parts: Iterable[str]) -> str:
    """The picture as a document. `rules` are CSS rules for its `kind`, with `KIND` for the class."""
    hues = "\n".join(f".KIND .hue{i} {{ --own: var(--hue{i}); }}" for i in range(HUES))
    style = f"{variables()}\n{(_RULES + hues + rules).replace('KIND', kind).strip()}"
    w, h = number(width), number(height)
    head = f'<svg class="goptx {kind}" xmlns="{SPACE}" viewBox="0 0 {w} {h}" width="{w}" height="{h}" role="img">'
    ground = f'<rect class="ground" width="{w}" height="{h}"/>'
    return "\n".join(
        [head, f"<title>{escaped(title)}</title>", f"<style>\n{style}\n</style>", ground, *parts, "</svg>\n"]
    )


def number(value: float) -> str:
    """The number with at most one digit after the point."""
    return f"{value:.1f}".removesuffix(".0")


def nice(step: float) -> float:
    """The least of ..., 0.5, 1, 2, 5, 10, 20, ... that is not below `step`, for the numbers along an axis."""
    scale = 10.0 ** math.floor(math.log10(step))
    return next(digit * scale for digit in (1, 2, 5, 10) if digit * scale >= step)


def counted(value: float, step: float) -> str:
    """The number, a multiple of `step`, for an axis: in thousands of millions, in millions, or as it is."""
    for unit, name in ((1e9, "G"), (1e6, "M")):
        if step >= unit:
            return f"{value / unit:g}{name}" if value else "0"
    return f"{value:.10g}"


def escaped(text: object) -> str:
    """The text escaped for XML; characters that XML cannot hold become the replacement character."""
    return escape(clean(text), {'"': "&quot;"})


def clean(text: object) -> str:
    """The text with the replacement character for each character that XML cannot hold."""
    return _NO_XML.sub("\ufffd", str(text))


def label(x: float, y: float, text: str, kind: str = "", anchor: str = "", beside: str = "") -> str:
    """A text; `beside` follows it in a fainter colour."""
    classes = f' class="{kind}"' if kind else ""
    anchored = f' text-anchor="{anchor}"' if anchor else ""
    after = f'<tspan class="beside" dx="10">{escaped(beside)}</tspan>' if beside else ""
    return f'<text{classes} x="{number(x)}" y="{number(y)}"{anchored}>{escaped(text)}{after}</text>'


def box(x: float, y: float, width: float, height: float, kind: str, title: str = "", round_: float = 0) -> str:
    shape = f'<rect class="{kind}" x="{number(x)}" y="{number(y)}" width="{number(width)}" height="{number(height)}"'
    shape += f' rx="{number(round_)}"' if round_ else ""
    return f"{shape}><title>{escaped(title)}</title></rect>" if title else f"{shape}/>"


def hatching(x: float, y: float, width: float, height: float, step: float = 6) -> str:
    """The path of lines from the lower left to the upper right that fill a box."""
    lines = []
    at = step / 2
    while at < width + height:
        low, high = max(0.0, at - height), min(at, width)  # along the box; lines have a slope of 1
        lines.append(f"M{number(x + low)} {number(y + at - low)}L{number(x + high)} {number(y + at - high)}")
        at += step
    return "".join(lines)


@dataclass(frozen=True, slots=True)
class Sample:
    """An entry of the legend: a drawing in a box of `WIDE` x `HIGH` with its corner at 0, 0, and its meaning."""

    shapes: str
    means: str


WIDE, HIGH = 26, 12
BESIDE = 6  # pixels between a drawing of the legend and its meaning


def legend(samples: Sequence[Sample], x: float, y: float, width: float) -> tuple[list[str], float]:
    """The legend in lines of at most this width, and where they end."""
    parts, at = [], x
    for sample in samples:
        means = fitted(sample.means, width - WIDE - BESIDE)
        long = WIDE + BESIDE + text_width(means)
        if at + long > x + width and at > x:
            at, y = x, y + 18
        parts.append(f'<g transform="translate({number(at)} {number(y)})">{sample.shapes}</g>')
        parts.append(label(at + WIDE + BESIDE, y + HIGH - 2, means))
        at += long + 18
    return parts, y + HIGH + 6


def heading(title: str, width: float) -> str:
    """The title of a picture of this width."""
    return label(MARGIN, 24, fitted(title, width - 2 * MARGIN, HEAD), "title")


def wrapped(texts: Iterable[str], x: float, y: float, width: float) -> tuple[list[str], float]:
    """Notes in lines of at most this width, each text on its own line, and where they end."""
    lines = [line for text in texts for line in lines_of(text, width)]
    return [label(x, y + 10 + 15 * i, line, "faint") for i, line in enumerate(lines)], y + 15 * len(lines)


def axis(left: float, scale: float, begin: float, until: float, y: float) -> Iterator[str]:
    """An axis of cycles from `begin` at `left`, with `scale` pixels for a cycle; its numbers are above it."""
    step = nice(max(1.0, TICKS / scale))
    yield label(MARGIN, y - 7, "cycles", "faint")
    for i in range(math.ceil(begin / step), math.floor(until / step) + 1):
        x = left + (i * step - begin) * scale
        yield f'<line class="axis" x1="{number(x)}" x2="{number(x)}" y1="{number(y - 4)}" y2="{number(y)}"/>'
        yield label(x, y - 7, counted(i * step, step), "faint", "middle")
    yield f'<path class="axis" d="M{number(left)} {number(y)}H{number(left + (until - begin) * scale)}"/>'
