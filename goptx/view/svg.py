"""The frame of a drawing that stands by itself: its colours, its ground, its title."""

from __future__ import annotations

from collections.abc import Iterable
from xml.sax.saxutils import escape

from goptx.view.theme import variables

SPACE = "http://www.w3.org/2000/svg"


def document(kind: str, title: str, size: tuple[int, int], rules: Iterable[str], parts: Iterable[str]) -> str:
    """An SVG document of class `kind`, by which its `rules` are scoped, as wide and as high as `size` says."""
    width, height = size
    style = "\n".join([variables(), *rules])
    return "\n".join(
        [
            f'<svg class="goptx {kind}" xmlns="{SPACE}" viewBox="0 0 {width} {height}" width="{width}" role="img">',
            f"<title>{escape(title)}</title>",
            f"<style>\n{style}\n</style>",
            f'<rect class="ground" width="{width}" height="{height}"/>',
            *parts,
            "</svg>\n",
        ]
    )


def text(x: float, y: float, words: object, kind: str = "", anchor: str = "") -> str:
    """Words whose foot stands there; `anchor` is "middle" or "end" where they do not begin there."""
    said = "".join(f' {name}="{value}"' for name, value in (("class", kind), ("text-anchor", anchor)) if value)
    return f'<text{said} x="{x:.1f}" y="{y:.1f}">{escape(str(words))}</text>'


def rule(kind: str, start: tuple[float, float], end: tuple[float, float], said: str = "") -> str:
    """A line from one place to another."""
    ends = " ".join(f'{name}="{value:.1f}"' for name, value in zip(("x1", "y1", "x2", "y2"), start + end, strict=True))
    return f'<line class="{kind}" {ends}>{f"<title>{escape(said)}</title>" if said else ""}</line>'
