"""What IPython shows of results in a terminal, and keeps as text beside what they draw in a notebook."""

from __future__ import annotations

from typing import Any


class Shown:
    """Shows what `str()` says, not what would make it again."""

    __slots__ = ()

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))
