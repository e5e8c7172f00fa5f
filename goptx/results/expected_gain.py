"""How many times as fast as separate launches a result is estimated to be, in one sentence.

Whoever makes a kernel by a public function gets a result whose report has that sentence. A function that makes kernels
for another one, such as those that `auto` compares, is called by it under `unjudged()`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass
from functools import wraps
from importlib import import_module
from typing import TYPE_CHECKING, Any, ParamSpec

from goptx.display import brief
from goptx.garbage import uncollected

if TYPE_CHECKING:
    from goptx.results.fused_kernel import Woven

SLOWER = 0.95  # times as fast as separate launches: below, the result is called slower
EQUAL = 1.05  # up to here it is called about as fast
P = ParamSpec("P")
_JUDGES = ContextVar("judges", default=True)
_REPLACES = ContextVar("replaces", default=True)


@dataclass(frozen=True, slots=True)
class ExpectedGain:
    """What the cost model expects of a result, compared with the best of separate launches of the kernels as they are,
    one after the other or side by side.

    gain: how many times as fast, under the middle assumption. least, most: under any assumption of the table.
    least_if: the assumption with the least gain.
    reasons: what changes, such as "registers 32 -> 210".
    advice: what `auto` would do instead; "" where the gain is not below 0.95.
    against: what it is compared with.
    """

    __repr__ = brief

    gain: float
    least: float
    most: float
    least_if: str
    reasons: tuple[str, ...] = ()
    advice: str = ""
    against: str = "separate launches"

    @property
    def is_slower(self) -> bool:
        """Whether it is estimated to be slower by more than 5 %."""
        return self.gain < SLOWER

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self) | {"reasons": list(self.reasons), "sentence": str(self)}

    def __str__(self) -> str:
        if self.is_slower:
            head = f"Estimated {1 / self.gain:.3g} times *slower* than {self.against}"
        elif self.gain < EQUAL:
            head = f"Estimated about as fast as {self.against} ({self.gain:.2f} times)"
        else:
            head = f"Estimated {self.gain:.3g} times as fast as {self.against}"
        if self.most - self.least > 0.005:
            head += f", {self.least:.2f} to {self.most:.2f} times as kernels behave"
        head += f"; {self.advice}" if self.advice else ""
        return f"{head}: {', '.join(self.reasons)}." if self.reasons else f"{head}."


def unjudged() -> AbstractContextManager[None]:
    """Results that are made within have no estimate."""
    return _off(_JUDGES)


def unreplaced() -> AbstractContextManager[None]:
    """What `weave` makes within is woven, or one kernel for each CTA, though another form is estimated to be faster:
    the checker of proofs has no rules for that."""
    return _off(_REPLACES)


@contextmanager
def _off(flag: ContextVar[bool]) -> Iterator[None]:
    before = flag.set(False)
    try:
        yield
    finally:
        flag.reset(before)


def may_replace() -> bool:
    return _REPLACES.get()


def judged(make: Callable[P, Woven]) -> Callable[P, Woven]:
    """The function, whose results have an estimate in their report; it takes `assume` and `latency`. A
    `ProbablySlower` warning is given where the result is estimated to be slower."""

    @wraps(make)
    def made(*args: P.args, **options: P.kwargs) -> Woven:
        with uncollected():
            if not _JUDGES.get():
                return make(*args, **options)
            with unjudged():
                woven = make(*args, **options)
            # The cost model analyses kernels as they are woven, so it is loaded after what weaves them.
            with_gain: Callable[..., Woven] = import_module("goptx.strategies.estimates.estimated_gain").with_gain
            return with_gain(woven, options.get("assume"), options.get("latency"))

    return made
