"""A caller's own measure: the number by which candidates are compared in place of the median of their times."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from math import isfinite
from numbers import Real
from statistics import median

from goptx.errors import InputError


@dataclass(frozen=True, slots=True)
class Timing:
    """What was measured of a candidate, or of the unchanged kernels in one way.

    name: of the candidate, or of the way. ms: milliseconds of each run. registers, spill_bytes: per thread; occupancy:
    the share of an SM's warps, 0 to 1; None where they are not known, as of the unchanged kernels.
    """

    name: str
    ms: tuple[float, ...]
    registers: int | None = None
    spill_bytes: int | None = None
    occupancy: float | None = None


Metric = Callable[[Timing], float]
"""The number by which candidates are compared, above 0; the least is the best."""


@dataclass(frozen=True, slots=True)
class Measure:
    """The caller's metric; None: the median of the times, in milliseconds."""

    metric: Metric | None = None

    def __call__(self, timing: Timing) -> float:
        """The number of a timing. Raises `InputError` if the metric gives anything but a number above 0, and what the
        metric raises."""
        if self.metric is None:
            return median(timing.ms)
        value = self.metric(timing)
        if not isinstance(value, Real) or not isfinite(value) or value <= 0:
            raise InputError(f"metric= gives {value!r} for {timing.name}; it has to give a number above 0.")
        return float(value)

    def of_unchanged(self, name: str, ms: Sequence[float]) -> float:
        """The number of the unchanged kernels in the way of that name."""
        return self(Timing(name, tuple(ms)))

    @property
    def identity(self) -> str | None:
        """Its name and a digest of its code, since records of another metric cannot be continued."""
        if self.metric is None:
            return None
        name = getattr(self.metric, "__qualname__", type(self.metric).__qualname__)
        code = getattr(self.metric, "__code__", None)
        return name if code is None else f"{name} {sha256(_fixed(code)).hexdigest()[:16]}"


def _fixed(code: object) -> bytes:
    """The bytes of a function's code and constants; functions inside it count with theirs."""
    constants = [
        _fixed(c).hex() if hasattr(c, "co_code") else repr(sorted(c, key=repr) if isinstance(c, frozenset) else c)
        for c in getattr(code, "co_consts", ())
    ]
    return getattr(code, "co_code", b"") + repr((getattr(code, "co_names", ()), constants)).encode()
