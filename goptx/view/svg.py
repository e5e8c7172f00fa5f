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
