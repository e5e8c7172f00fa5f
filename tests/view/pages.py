"""Reads the displays of results, and checks what every page needs of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "br", "hr", "img", "input", "link"}
NAMED_SPACE = "http://www.w3.org/2000/svg"


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
