"""Warnings of parsing and weaving, which can be listened to: those of a result that is kept are given again with it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from goptx import errors


@dataclass(slots=True)
class Heard:
    """What was warned of since somebody listens; nobody else hears of it unless that is `aloud`."""

    aloud: bool = True
    warnings: list[tuple[str, type[Warning]]] = field(default_factory=list)


_LISTENING: ContextVar[Heard | None] = ContextVar("listening", default=None)  # of each thread its own


def warn(text: str, category: type[Warning], stacklevel: int = 2) -> None:
    """As `warnings.warn`. The category is one of errors.py."""
    heard = _LISTENING.get()
    if heard:
        heard.warnings.append((text, category))
    if heard is None or heard.aloud:
        warnings.warn(text, category, stacklevel=stacklevel + 1)


def named(category: str) -> type[Warning]:
    """A category of errors.py by its name. Raises `TypeError`."""
    found: type = getattr(errors, category)
    if not issubclass(found, Warning):
        raise TypeError(f"{category} is no warning")
    return found


def listening() -> bool:
    return _LISTENING.get() is not None


@contextmanager
def listen(aloud: bool = True) -> Iterator[Heard]:
    heard = Heard(aloud)
    before = _LISTENING.set(heard)
    try:
        yield heard
    finally:
        _LISTENING.reset(before)
