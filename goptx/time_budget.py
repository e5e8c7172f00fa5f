"""How long a run may take."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import TIMEOUT_MAX

from goptx.errors import InputError

TRYING = 0.8  # the share of the time in which new candidates are tried; the rest is for comparing the best
_UNITS = {"s": 1, "m": 60, "min": 60, "h": 3600}


@dataclass(slots=True)
class Budget:
    """`seconds` from now on, None for no limit; `clock` returns the time in seconds."""

    seconds: float | None = None
    clock: Callable[[], float] = time.monotonic
    begin: float = field(init=False)

    def __post_init__(self) -> None:
        self.start()

    @classmethod
    def of(cls, given: Budget | str | float | None) -> Budget:
        """From what `seconds_of` takes. Raises `InputError`."""
        return given if isinstance(given, Budget) else cls(seconds_of(given))

    def start(self) -> None:
        self.begin = self.clock()

    @property
    def spent(self) -> float:
        """Seconds."""
        return self.clock() - self.begin

    def left(self, reserved: bool = False) -> float:
        """Seconds left for trying new candidates, not below 0; `reserved` adds those for comparing."""
        if self.seconds is None:
            return TIMEOUT_MAX
        return max(0.0, self.seconds * (1 if reserved else TRYING) - self.spent)


def seconds_of(text: str | float | None) -> float | None:
    """The seconds of a text such as "90s", "5m" or "5min", "1h", or of a number of seconds. Raises `InputError`."""
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*(s|m|min|h|)", str(text))
    if text is None:
        return None
    if not found or not float(found[1]):
        raise InputError(f"budget={text!r} is not a time above 0; write seconds or, for example, 90s, 5m, 1h.")
    return float(found[1]) * _UNITS[found[2] or "s"]
