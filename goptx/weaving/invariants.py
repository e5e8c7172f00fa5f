"""The switch by which the laws of every pass (laws/) are checked after it has run.

It is off by default, and costs nothing then. GOPTX_CHECK_PASSES=1 in the environment turns it on, and so does

    with checked_passes():
        goptx.weave(first, second)
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")

VARIABLE = "GOPTX_CHECK_PASSES"
_checking = os.environ.get(VARIABLE, "0") not in ("", "0")


class BrokenInvariant(AssertionError):
    """A pass has made a value that breaks one of its laws: a fault of goptx itself."""


@contextmanager
def checked_passes(on: bool = True) -> Iterator[None]:
    """Turns the check of laws after each pass on, or off."""
    global _checking
    before, _checking = _checking, on
    try:
        yield
    finally:
        _checking = before


def ensured(name: str, value: T, *context: object) -> T:
    """The value that the pass of that name makes; its laws are checked where that is turned on. The laws compare it
    with `context`, such as the input of the pass. Raises `BrokenInvariant`."""
    if _checking:
        check(name, value, *context)
    return value


def check(name: str, value: object, *context: object) -> None:
    """Raises `BrokenInvariant` for the first law of the pass that the value breaks."""
    from goptx.weaving.laws.laws_of_passes import LAWS

    for law in LAWS[name]:
        for problem in law(value, *context):
            place = "".join(
                f" {word} {what}," for word, what in (("kernel", problem.kernel), ("block", problem.block)) if what
            )
            rule = " ".join((law.__doc__ or "").split()).partition(". ")[0].rstrip(".")
            raise BrokenInvariant(f"after the pass {name},{place} this does not hold: {rule}. Found: {problem.found}.")
