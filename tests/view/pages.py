"""Reads the displays of results, and checks what every page needs of them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from xml.etree import ElementTree

from goptx.view.svg.theme import DARK, LIGHT

VOID = {"meta", "br", "hr", "img", "input", "link"}
SVG = "{http://www.w3.org/2000/svg}"


@dataclass
class Element:
    tag: str
    attributes: dict[str, str]
    inside: list[Element | str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(part if isinstance(part, str) else part.text for part in self.inside)

    @property
    def classes(self) -> list[str]:
        return self.attributes.get("class", "").split()

    def all(self, tag: str = "", kind: str = "") -> list[Element]:
        """Those within it, in the order of the text."""
        found = []
        for part in self.inside:
            if isinstance(part, Element):
                if tag in ("", part.tag) and (not kind or kind in part.classes):
                    found.append(part)
                found += part.all(tag, kind)
        return found


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open = [Element("", {})]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        made = Element(tag, {name: value or "" for name, value in attrs})
        self.open[-1].inside.append(made)
        if tag not in VOID:
            self.open.append(made)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open[-1].inside.append(Element(tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1].tag == tag, f"</{tag}> closes <{self.open[-1].tag}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.open[-1].inside.append(data)


def read(html: str) -> Element:
    """The elements of the page. Fails if they are not well nested, or the page is not self-contained."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    assert len(reader.open) == 1, f"<{reader.open[-1].tag}> is not closed"
    (whole,) = reader.open
    every = whole.all()
    ids = [e.attributes["id"] for e in every if "id" in e.attributes]
    assert len(ids) == len(set(ids))
    for element in every:
        assert element.tag not in ("script", "link", "img", "iframe", "b8")
        for name, value in element.attributes.items():
            assert not name.startswith("on") and name not in ("href", "src")
            assert name == "xmlns" or "://" not in value or name == "title"
    for style in whole.all("style"):
        assert "url(" not in style.text and "@import" not in style.text
    return whole


def check(svg: str) -> ElementTree.Element:
    """Checks that the picture is self-contained. Returns its root."""
    root = ElementTree.fromstring(svg)
    assert root.tag == f"{SVG}svg" and root.get("role") == "img" and "goptx" in (root.get("class") or "").split()
    assert root[0].tag == f"{SVG}title" and root[0].text
    assert not {e.tag for e in root.iter()} & {f"{SVG}{x}" for x in ("script", "image", "use", "a", "foreignObject")}
    assert not any("id" in e.keys() or any("href" in k for k in e.keys()) for e in root.iter())  # noqa: SIM118
    style, drawing = svg.split("</style>")
    assert "url(" not in svg and "#" not in re.sub(
        r"&#?\w+;", "", re.sub(r"<title>.*?</title>", "", drawing, flags=re.S)
    )
    colours = set(re.findall(r"#[0-9a-f]{6}", style))
    assert colours == {*LIGHT.values(), *DARK.values()}
    kind = (root.get("class") or "").split()[1]
    rules = [
        line for line in style.splitlines() if "{" in line and not line.startswith(("<", ".goptx {", "@media", "["))
    ]
    assert all(line.startswith(f".{kind} ") for line in rules)
    used = {c for e in root.iter() for c in (e.get("class") or "").split()}
    ruled = {c for line in rules for c in re.findall(r"\.([a-z]\w*)", line.split("{")[0])}
    assert used <= {*ruled, "goptx"}
    assert all(f"--{v}" in style for v in re.findall(r"var\(--(\w+)\)", style))
    return root


def texts(root: ElementTree.Element) -> str:
    return "\n".join(e.text or "" for e in root.iter(f"{SVG}text"))
