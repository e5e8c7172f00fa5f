"""The elements of which displays in notebooks and on pages are made.

Ensures: elements are well nested; text that is not `Markup` is escaped; a display is self-contained: its rules apply
only within it, and it refers to nothing outside.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from html import escape

from goptx.errors import GoptxError
from goptx.view.html.html_style import STYLE, VOID_OF_PAGE
from goptx.view.svg.drawing import NARROW, PAGE

BEST = "★"


class Markup(str):
    """HTML. Any other value in an element is text, and is escaped."""

    __slots__ = ()


def markup(*parts: object) -> Markup:
    """The parts one after the other."""
    return Markup("".join(part if isinstance(part, Markup) else escape(str(part)) for part in parts))


def element(tag: str, *parts: object, **attributes: object) -> Markup:
    """An element; `kind` is its class, attributes that are None or "" are left out, `_` in their names is `-`."""
    given = {"class": attributes.pop("kind", None), **attributes}
    words = [f' {name.replace("_", "-")}="{escape(str(v))}"' for name, v in given.items() if v not in (None, "")]
    return Markup(f"<{tag}{''.join(words)}>{markup(*parts)}</{tag}>")


def display(*parts: object) -> str:
    """The display of a result in a notebook."""
    return element("div", element("style", Markup(f"\n{STYLE}\n")), *parts, kind="goptx result")


HEAD = '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'


def page(title: str, rendered: str) -> str:
    """A document of its own around a display."""
    head = markup(Markup(HEAD), element("title", title), element("style", Markup(VOID_OF_PAGE)))
    body = element("body", Markup(rendered), kind="goptx")
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head>{body}</html>\n'


def heading(title: object, *more: object) -> Markup:
    """The title of a display, with more words in faint letters."""
    return element(
        "div", element("strong", title), *(element("span", f" {words}", kind="faint") for words in more), kind="head"
    )


def headline(sentence: object) -> Markup:
    """The most important sentence of a display, which stands at its top."""
    return element("div", sentence, kind="verdict")


def line(*parts: object, kind: str = "") -> Markup:
    return element("p", *parts, kind=kind)


def code(text: object) -> Markup:
    return element("code", text)


def folded(title: object, *parts: object, unfolded: bool = False) -> Markup:
    """A section that the reader opens; nothing if its parts are empty."""
    within = markup(*parts)
    if not within:
        return within
    section = element("details", element("summary", title), within)
    return Markup(section.replace("<details", "<details open", 1)) if unfolded else section


def box(*parts: object) -> Markup:
    """A box of limited height, in which the reader scrolls."""
    return element("div", *parts, kind="box")


def table(
    head: Sequence[object],
    rows: Iterable[Sequence[object]],
    *,
    words: Sequence[int] = (0,),
    best: int | None = None,
    caption: str = "",
) -> Markup:
    """A table. The columns `words` hold text, the others numbers; the row `best` is marked. None is an empty cell; a
    column of empty cells is left out."""
    filled = [["" if cell is None else cell for cell in cells] for cells in rows]
    columns = [i for i in range(len(head)) if not filled or any(cells[i] != "" for cells in filled)]

    def row(tag: str, cells: Sequence[object], kind: str = "") -> Markup:
        made = [element(tag, cells[i], kind="word" if i in words else "") for i in columns]
        return element("tr", *made, kind=kind)

    if best is not None:
        filled[best][0] = markup(f"{BEST} ", filled[best][0])
    body = [row("td", cells, "best" if i == best else "") for i, cells in enumerate(filled)]
    return element(
        "div",
        element(
            "table",
            element("caption", caption) if caption else "",
            element("thead", row("th", head)) if any(head) else "",
            element("tbody", *body),
            kind="rows",
        ),
        kind="wide",
    )


LEAST_SCALE = 0.7  # of a picture on a narrow page; on a still narrower one the reader scrolls


def picture(draw: Callable[[float], str], instead: object = "") -> Markup:
    """A drawing for wide pages and one for narrow pages, of which CSS shows one; `draw` gets the width in pixels that
    it may have. If it cannot be made, the reason and `instead`."""
    try:
        wide, narrow = draw(PAGE), draw(NARROW)
    except GoptxError as error:
        return markup(line(error, kind="faint"), element("div", instead, kind="text plain") if instead else "")
    if wide == narrow:
        return _drawing(wide, "wide")
    return markup(_drawing(wide, "wide large"), _drawing(narrow, "wide small"))


def _drawing(svg: str, kind: str) -> Markup:
    svg = svg[svg.index("<svg") :].strip()
    width = float(re.findall(r'^<svg[^>]* width="([\d.]+)"', svg)[0])
    style = f'style="max-width:{width:.0f}px;min-width:{LEAST_SCALE * width:.0f}px" '
    return element("div", Markup(svg.replace("<svg ", f"<svg {style}", 1)), kind=kind)
