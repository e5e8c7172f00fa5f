"""The PTX of a module line by line, each instruction marked with the kernel that it comes from.

Requires: origins, if there are any, of all instructions of all entries, in the order of the text. Ensures: the lines
are those of the module's text; without Pygments their syntax is not coloured.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from goptx.ptx.ir import Declaration, Function, Instruction, Item, Module, Registers, Statement, Variable, lines_of
from goptx.results.fused_kernel import Origin
from goptx.view.html.elements_html import Markup, box, element, folded, markup
from goptx.view.svg.theme import hue

CHUNK = 200  # lines that a browser lays out together, when they become visible
HEIGHT = 18  # of a line, pixels: html_style.py
COLOURED = {"kd": "kd", "kt": "kt", "na": "na", "nf": "nf", "nl": "nl", "vm": "vm", "s": "s"}
COLOURED |= dict.fromkeys(("mf", "mi", "mh", "mb"), "m") | dict.fromkeys(("c1", "cm", "cp"), "c")


@dataclass(frozen=True, slots=True)
class Line:
    """`part` is the section under which the line is folded, "" for a visible line; instructions have an `origin`."""

    text: str
    part: str
    origin: Origin | None = None


def ptx_html(module: Module, origins: Sequence[Origin | None] = (), kernels: Mapping[str, str] | None = None) -> Markup:
    """The lines of the module in a box; `kernels` are the names of the kernels by their letters."""
    lines = list(ptx_lines(module, origins))
    texts = coloured("\n".join(line.text for line in lines))
    numbers = {letter: k for k, letter in enumerate(kernels or {})}
    rows = (_row(line, text, numbers, kernels or {}) for line, text in zip(lines, texts, strict=True))
    parts, first = [], 0
    for part, run in groupby(zip(lines, rows, strict=True), key=lambda pair: pair[0].part):
        made = [row for _, row in run]
        chunks = [_chunk(made[k : k + CHUNK], first + k) for k in range(0, len(made), CHUNK)]
        counted = f"{part}, {len(made)} line{'s' if len(made) > 1 else ''}"
        parts.append(folded(counted, *chunks) if part else markup(*chunks))
        first += len(made)
    return box(element("div", *parts, kind="ptx"))


def ptx_lines(module: Module, origins: Sequence[Origin | None] = ()) -> Iterator[Line]:
    """The lines of `str(module)`. Raises `ValueError` if there are more or fewer instructions than origins."""
    of_each = iter(origins)
    for text in str(replace(module, items=())).rstrip("\n").split("\n"):
        yield Line(text, "head")
    part = "head"
    for item in module.items:
        yield Line("", part)
        if isinstance(item, Function) and item.is_entry and item.body is not None:
            part = ""
            yield from _entry(item, of_each if origins else None)
            continue
        part = _part(item)
        for text in (f"{item};" if isinstance(item, Variable) else str(item)).split("\n"):
            yield Line(text, part)
    if next(of_each, of_each) is not of_each:
        raise ValueError("there are more origins than instructions")


def _part(item: Item) -> str:
    if isinstance(item, Function):
        return f"function {item.name}" if item.body is not None else "declared functions"
    return "variables" if isinstance(item, Variable) else "files and sections"


def _entry(entry: Function, origins: Iterator[Origin | None] | None) -> Iterator[Line]:
    part = f"declarations of {entry.name}"
    for text in [*str(replace(entry, body=None)).removesuffix(";").split("\n"), "{"]:
        yield Line(text, part)
    for text, statement in lines_of(entry.body or ()):
        if not isinstance(statement, Registers | Declaration):
            part = ""  # all lines from the first statement on are visible
        yield Line(text, part, _origin(statement, origins))
    yield Line("}", "")


def _origin(statement: Statement | None, origins: Iterator[Origin | None] | None) -> Origin | None:
    if origins is None or not isinstance(statement, Instruction):
        return None
    try:
        return next(origins)
    except StopIteration:
        raise ValueError("there are more instructions than origins") from None


def _row(line: Line, text: Markup, numbers: Mapping[str, int], kernels: Mapping[str, str]) -> Markup:
    """A row as HTML, without `element` because there are thousands of rows."""
    if line.origin is None:
        return Markup(f"<div><i></i>{text}</div>")
    letter, at = line.origin.kernel, line.origin.line
    title = markup(f"{letter} {kernels.get(letter, '')}, {f'line {at}' if at else 'added by goptx'}")
    return Markup(f'<div class="{hue(numbers.get(letter, 0))}" title="{title}"><i>{markup(letter)}</i>{text}</div>')


def _chunk(rows: Sequence[Markup], before: int) -> Markup:
    counted = Markup(rows[0].replace("<div", f'<div style="counter-set:line {before + 1}"', 1))
    size = f"contain-intrinsic-size:auto {HEIGHT * len(rows)}px"
    return element("div", counted, *rows[1:], kind="lines", style=size)


def coloured(text: str) -> list[Markup]:
    """The lines of the text, with Pygments' short names of its tokens as classes, if Pygments is installed."""
    try:
        from pygments.token import STANDARD_TYPES

        from goptx.view.ptx_lexer import PtxLexer
    except ImportError:
        return [markup(one) for one in text.split("\n")]
    made = []
    for _, kind, value in PtxLexer().get_tokens_unprocessed(text):
        name = COLOURED.get(STANDARD_TYPES[kind])
        escaped = markup(value)
        made.append(f'<span class="{name}">{escaped}</span>' if name and "\n" not in value else escaped)
    return [Markup(one) for one in "".join(made).split("\n")]
