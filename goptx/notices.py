"""What parsing and weaving warn of and log, which can be listened to: with a result that is kept it is said again."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from goptx import errors

LEVELS = ("INFO", "WARNING")


@dataclass(slots=True)
class Heard:
    """What was said since somebody listens, each by its kind, a level of logging or the name of a warning of errors.py,
    and its text; nobody else hears of it unless that is `aloud`."""

    aloud: bool = True
    said: list[tuple[str, str]] = field(default_factory=list)


_LISTENING: ContextVar[Heard | None] = ContextVar("listening", default=None)  # of each thread its own


def warn(text: str, category: type[Warning], stacklevel: int = 2) -> None:
    """As `warnings.warn`. The category is one of errors.py."""
    if _is_heard(category.__name__, text):
        warnings.warn(text, category, stacklevel=stacklevel + 1)


def log(level: str, text: str) -> None:
    """To the logger of goptx."""
    if _is_heard(level, text):
        import logging

        from goptx.log import LOG

        LOG.log(getattr(logging, level), "%s", text)


def say_again(kind: str, text: str) -> None:
    if kind in LEVELS:
        log(kind, text)
    else:
        warn(text, _category(kind), stacklevel=3)


def check_kind(kind: str) -> None:
    """Raises `TypeError` for what nothing is said by, and `AttributeError`."""
    if kind not in LEVELS:
        _category(kind)


def _category(name: str) -> type[Warning]:
    found: type = getattr(errors, name)
    if not issubclass(found, Warning):
        raise TypeError(f"{name} is no warning")
    return found


def _is_heard(kind: str, text: str) -> bool:
    """Notes it, and says whether to say it aloud."""
    heard = _LISTENING.get()
    if heard:
        heard.said.append((kind, text))
    return heard is None or heard.aloud


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
