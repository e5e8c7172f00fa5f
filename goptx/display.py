"""What IPython shows of results in a terminal, and keeps as text beside what they draw in a notebook."""

from __future__ import annotations

from typing import Any


def as_text(result: object, printer: Any, cycle: bool) -> None:
    """For a class to have as its `_repr_pretty_`: what `str()` says, not what would make the result again. IPython
    takes no base class's, where a class has its own `repr`."""
    printer.text(str(result))
