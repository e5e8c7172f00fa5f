"""Where the texts and boxes of a picture are, and what is wrong with that.

Texts are as wide as in DejaVu, which matplotlib brings; the fonts of most readers are narrower.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import matplotlib
from fontTools.ttLib import TTFont  # type: ignore[import-untyped]
from view.pages import SVG

ROOMS = {"frame", "band", "node", "memory", "ground"}  # boxes that hold texts
SLACK = 0.6  # pixels: positions are rounded to a tenth
ASCENT, DESCENT = 0.74, 0.21  # of letters, above and below their line, in sizes


@dataclass(frozen=True)
class Box:
    left: float
    top: float
    right: float
    bottom: float
    text: str = ""
    kinds: frozenset[str] = frozenset()

    def holds(self, x: float, y: float) -> bool:
        return self.left <= x <= self.right and self.top <= y <= self.bottom

    def crosses(self, other: Box) -> bool:
        wide = min(self.right, other.right) - max(self.left, other.left)
        high = min(self.bottom, other.bottom) - max(self.top, other.top)
        return wide > SLACK and high > SLACK

    @property
    def centre(self) -> tuple[float, float]:
        return (self.left + self.right) / 2, (self.top + self.bottom) / 2

    @property
    def area(self) -> float:
        return (self.right - self.left) * (self.bottom - self.top)


@dataclass(frozen=True)
class Layout:
    """Texts and boxes in a picture of `width` x `height` pixels."""

    width: float
    height: float
    texts: tuple[Box, ...]
    boxes: tuple[Box, ...]


def problems(layout: Layout) -> Iterator[str]:
    """What is outside of the picture, which texts leave their boxes, and which overlap."""
    for one in (*layout.texts, *layout.boxes):
        if one.left < -SLACK or one.top < -SLACK:
            yield f"before the picture: {one}"
        if one.right > layout.width + SLACK or one.bottom > layout.height + SLACK:
            yield f"beyond {layout.width:g} x {layout.height:g}: {one}"
    framed = any("frame" in b.kinds for b in layout.boxes)  # if not, a soft box stands for itself
    rooms = [b for b in layout.boxes if b.kinds & ROOMS or ("soft" in b.kinds and not framed)]
    for text in layout.texts:
        around = min((b for b in rooms if b.holds(*text.centre)), key=lambda b: b.area, default=None)
        if around and (text.left < around.left - SLACK or text.right > around.right + SLACK):
            yield f"leaves its box: {text}, {around}"
    placed = sorted(layout.texts, key=lambda text: text.top)
    for i, one in enumerate(placed):
        for other in placed[i + 1 :]:
            if other.top > one.bottom:
                break
            if one.crosses(other):
                yield f"overlap: {one}, {other}"


def layout_of(svg: str) -> Layout:
    """Where the texts of an SVG picture of this package are, if fonts are as wide as DejaVu."""
    root = ElementTree.fromstring(svg)
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    rules = list(_rules("".join(root.find(f"{SVG}style").itertext())))  # type: ignore[union-attr]
    texts: list[Box] = []
    boxes: list[Box] = []
    _walk(root, 0.0, 0.0, rules, texts, boxes)
    return Layout(width, height, tuple(texts), tuple(boxes))


def _rules(style: str) -> Iterator[tuple[str, dict[str, str]]]:
    """The class, or `text`, and what its rule says about fonts."""
    for selector, body in re.findall(r"^\.\w+ \.?(\w+) \{(.*)\}$", style, re.M):
        yield selector, _declared(body)


def _declared(body: str) -> dict[str, str]:
    found = dict(re.findall(r"([\w-]+): ([^;]+)", body))
    if "font" in found:
        found |= {"font-size": "", "font-weight": "", "font-family": ""} | _font(found["font"])
    return found


def _font(font: str) -> dict[str, str]:
    size = re.findall(r"([\d.]+px)", font)[0]
    weight = "700" if re.search(r"\b(bold|[6-9]00)\b", font) else ""
    return {"font-size": size, "font-weight": weight, "font-family": font}


def _walk(
    parent: ElementTree.Element, x: float, y: float, rules: list[tuple[str, dict[str, str]]], texts: list[Box],
    boxes: list[Box],
) -> None:  # fmt: skip
    for e in parent:
        moved = re.findall(r"translate\(([-\d.]+)[ ,]+([-\d.]+)\)", e.get("transform", ""))
        at = (x + float(moved[0][0]), y + float(moved[0][1])) if moved else (x, y)
        kinds = frozenset((e.get("class") or "").split())
        if e.tag == f"{SVG}rect":
            left, top = at[0] + float(e.get("x", 0)), at[1] + float(e.get("y", 0))
            right, bottom = left + float(e.attrib["width"]), top + float(e.attrib["height"])
            boxes.append(Box(left, top, right, bottom, "", kinds))
        elif e.tag == f"{SVG}text":
            texts.append(_text(e, at, kinds, rules))
        _walk(e, *at, rules, texts, boxes)


def _text(
    e: ElementTree.Element, at: tuple[float, float], kinds: frozenset[str], rules: list[tuple[str, dict[str, str]]]
) -> Box:
    style: dict[str, str] = {}
    for selector, rule in rules:
        if selector == "text" or selector in kinds:
            style |= rule
    style |= _declared(e.get("style", ""))
    text = "".join(part for child in (e, *e.findall(f"{SVG}tspan")) for part in [child.text or ""])
    size = float(style["font-size"].removesuffix("px"))
    width = advance(text, style, size) + sum(float(t.get("dx", 0)) for t in e.findall(f"{SVG}tspan"))
    anchor = e.get("text-anchor") or style.get("text-anchor", "start")
    before = {"start": 0.0, "middle": width / 2, "end": width}[anchor]
    x, y = at[0] + float(e.get("x", 0)), at[1] + float(e.get("y", 0))
    made = Box(x - before, y - ASCENT * size, x - before + width, y + DESCENT * size, text, kinds)
    if "rotate(-90" in e.get("transform", ""):
        left, right, bottom = x - ASCENT * size, x + DESCENT * size, y + before
        return replace(made, left=left, right=right, top=bottom - width, bottom=bottom)
    return made


def advance(text: str, style: dict[str, str], size: float) -> float:
    """The width of the text in DejaVu."""
    mono = "monospace" in style.get("font-family", "")
    bold = style.get("font-weight", "") in ("600", "700", "bold")
    widths = _widths("DejaVuSansMono" if mono else "DejaVuSans-Bold" if bold else "DejaVuSans")
    return sum(widths.get(ord(letter), 1.0) for letter in text) * size


@cache
def _widths(name: str) -> dict[int, float]:
    font = TTFont(Path(matplotlib.get_data_path()) / "fonts" / "ttf" / f"{name}.ttf")
    metrics, size = font["hmtx"], font["head"].unitsPerEm
    return {code: metrics[glyph][0] / size for code, glyph in font.getBestCmap().items()}
