"""How results are displayed: for each kind of result, `goptx/view/displays.py` registers functions here.

A class of results uses `as_html`, `as_svg` or `as_text` as the method that IPython calls. The functions are loaded
when the first result is displayed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence, Sized
from dataclasses import fields, is_dataclass
from functools import singledispatch
from importlib import import_module
from typing import Any

MOST = 200  # characters of a repr
PART = 40  # characters of one field in it


@singledispatch
def html(result: object) -> str:
    """The result as HTML for a notebook."""
    raise TypeError(f"goptx has no display for a {type(result).__name__}")


@singledispatch
def svg(result: object) -> str:
    """The result as a picture."""
    raise TypeError(f"goptx has no picture of a {type(result).__name__}")


@singledispatch
def text(result: object) -> str:
    """The result as text for a terminal: its `str()`, unless something else is registered."""
    return str(result)


def columns(rows: Sequence[Sequence[str]], right: Collection[int] = ()) -> Iterator[str]:
    """Rows of equally many cells as lines of text, with two spaces between columns; those numbered in `right`, from 0
    on, are aligned to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = enumerate(zip(row, widths, strict=True))
        yield "  ".join(c.rjust(w) if i in right else c.ljust(w) for i, (c, w) in cells).rstrip()


def as_html(result: object) -> str:
    """The `_repr_html_` of a class."""
    _register()
    return html(result)


def as_svg(result: object) -> str:
    """The `_repr_svg_` of a class."""
    _register()
    return svg(result)


def as_text(result: object, printer: Any, cycle: bool) -> None:
    """The `_repr_pretty_` of a class: text for a reader, not text that recreates the result. IPython does not use the
    method of a base class where a class has its own `repr`."""
    printer.text(str(result))


def as_listing(result: object, printer: Any, cycle: bool) -> None:
    """The `_repr_pretty_` of a class whose text for a terminal is not its `str()`."""
    _register()
    printer.text(text(result))


def brief(result: Any) -> str:
    """The `__repr__` of a dataclass: one line of at most `MOST` characters with its fields, and for a long field the
    number of its parts."""
    parts = ", ".join(f"{f.name}={_part(getattr(result, f.name))}" for f in fields(result) if f.repr)
    whole = f"{type(result).__name__}({parts})"
    return whole if len(whole) <= MOST else f"{whole[: MOST - 4]}...)"


def _part(value: object) -> str:
    if is_dataclass(value) or (isinstance(value, Sized) and not isinstance(value, str) and len(value) > PART):
        return _size(value)
    whole = repr(value)
    return whole if len(whole) <= PART and "\n" not in whole else _size(value)


def _size(value: object) -> str:
    """A short text in place of a long value."""
    if isinstance(value, str):
        return repr(value[: PART - 5] + "...")
    kind = "dict" if isinstance(value, Mapping) else type(value).__name__
    return f"<{kind} of {len(value)}>" if isinstance(value, Sized) else f"<{kind}>"


def _register() -> None:
    import_module("goptx.view.displays")
