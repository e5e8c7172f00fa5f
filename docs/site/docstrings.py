"""How the reference reads the docstrings of goptx, which are plain text.

A list of `name: text` lines at the head of a paragraph is one of parameters, or of a class's attributes; a line that
begins with a word in quotes and a colon is an item; and what stands in backticks and is a public name of goptx is a
link to it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Any

from griffe import Class, Extension, Function, GriffeLoader, Object

NAME = re.compile(r"(\w+)((?:, \w+)*): (.*)", re.DOTALL)
QUOTED = re.compile(r'^("\w+"): ', re.MULTILINE)
TICKED = re.compile(r"`(?:goptx\.)?(\w+)(\(\))?`")


class Docstrings(Extension):
    """Rewrites them as Google's style has it, which mkdocstrings lays out."""

    def on_object(self, *, obj: Object, loader: GriffeLoader, **kwargs: Any) -> None:
        if obj.docstring is None:
            return
        names: Collection[str] = ()
        if isinstance(obj, Function):
            names, head = [p.name for p in obj.parameters], "Args"
        elif isinstance(obj, Class):
            names, head = list(obj.members), "Attributes"
        public = loader.modules_collection["goptx"].exports or ()
        text = "\n\n".join(_paragraph(p, names, head) if names else p for p in obj.docstring.value.split("\n\n"))
        text = QUOTED.sub(r"* \1: ", text)
        obj.docstring.value = TICKED.sub(lambda m: _linked(m, obj.name, set(map(str, public))), text)


def _paragraph(text: str, names: Collection[str], head: str) -> str:
    """A paragraph, or lists of it, as a section of its own; lines that are indented belong to the one before."""
    lists, rest = [], []
    for item in re.split(r"\n(?! )", text):
        found = NAME.fullmatch(item)
        if found and found[1] in names:
            lists += list(_items(found, names))
        else:
            rest.append(item)
    if not lists:
        return text
    return "\n".join([*rest, *([""] if rest else []), f"{head}:", *lists])


def _items(found: re.Match[str], names: Collection[str]) -> Iterator[str]:
    """`a, b: text` stands for both; a sentence that begins with another name and a colon is that one's."""
    said = found[3]
    for more in re.finditer(r"(?<=[.;] )(\w+): ", said):
        if more[1] in names:
            following = NAME.fullmatch(said[more.start() :])
            yield from _item(found[1], found[2], said[: more.start()])
            if following:
                yield from _items(following, names)
            return
    yield from _item(found[1], found[2], said)


def _item(name: str, others: str, said: str) -> Iterator[str]:
    text = " ".join(said.split())
    for one in [name, *others.split(", ")[1:]]:
        yield f"    {one}: {text}"


def _linked(found: re.Match[str], own: str, public: Collection[str]) -> str:
    name = found[1]
    return f"[{found[0]}][goptx.{name}]" if name in public and name != own else found[0]
