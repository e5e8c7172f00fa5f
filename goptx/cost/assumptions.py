"""What the cost model assumes of kernels whose code does not say it, and what the caller knows of them.

How often loops run, how many CTAs end at once, how many warps diverge and what caches hold is unknown when kernels are
fused. Each candidate is therefore estimated under a table of assumptions: the middle one, and those in which one thing
is otherwise, for one kernel or for all. Only what a kernel has is varied: one without unknown loops has no row for
them. The table grows linearly with the number of kernels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral
from pathlib import Path
from typing import Any

from goptx.analysis.values.thread_values import Elements
from goptx.errors import InputError
from goptx.launch.parameter_names import letter_of
from goptx.launch.specification import Argument
from goptx.options import Assume, is_whole

MOST_TRIPS = 1 << 40
KEYS = ("trips", "live_ctas", "arguments", "specification")
EXAMPLE = 'assume={"A": {"trips": {40: 48}, "live_ctas": 8192}}, where 40 is the line of a loop\'s head'


@dataclass(frozen=True, slots=True)
class Behaviour:
    """What is assumed of one kernel.

    trips: how often a loop with an unknown trip count runs. live: the share of CTAs that do not end at once, 0 to 1.
    divergent: the share of warps whose lanes go both ways at a branch that depends on the thread, 0 to 1; all other
    warps go one way, half of them either. cached: whether what is loaded and stored is in the L2 cache.
    """

    trips: float = 10.0
    live: float = 1.0
    divergent: float = 0.5
    cached: bool = False


MIDDLE = Behaviour()
# For each field, the values beside the middle one.
OTHERS: Mapping[str, tuple[float, ...]] = {
    "trips": (1.0, 100.0),
    "live": (0.01, 0.5),
    "divergent": (0.0, 1.0),
    "cached": (True,),
}
_TEXTS = {
    "trips": "unknown loops run {:g} times",
    "live": "{:.0%} of the CTAs do not end at once",
    "divergent": "{:.0%} of the warps diverge",
    "cached": "data in the L2 cache",
}


@dataclass(frozen=True, slots=True)
class Assumption:
    """One row of the table: what is assumed of each kernel, and how that differs from the middle one."""

    kernels: tuple[Behaviour, ...]
    name: str = "the middle"


@dataclass(frozen=True, slots=True)
class Unknown:
    """What is unknown of a kernel: the names of fields of `Behaviour`; and its middle behaviour, in which known fields
    have their known values."""

    fields: frozenset[str]
    middle: Behaviour = MIDDLE


def table(kernels: Sequence[Unknown]) -> tuple[Assumption, ...]:
    """The assumptions, the middle one first. With n kernels there are at most 1 + 7 (n + 1)."""
    middle = tuple(kernel.middle for kernel in kernels)
    rows = {middle: Assumption(middle)}
    groups = [(letter_of(k), (k,)) for k in range(len(kernels))] + [("all", tuple(range(len(kernels))))]
    for name, values in OTHERS.items():
        for value in values:
            for who, members in groups:
                varied = tuple(
                    _varied(k.middle, name, value) if i in members and name in k.fields else k.middle
                    for i, k in enumerate(kernels)
                )
                rows.setdefault(varied, Assumption(varied, f"{who}: {_TEXTS[name].format(value)}"))
    return tuple(rows.values())


def _varied(behaviour: Behaviour, name: str, value: Any) -> Behaviour:
    return replace(behaviour, **{name: value})


@dataclass(frozen=True, slots=True)
class Known:
    """What the caller knows of a kernel. trips: how often loops run, by the line of each loop's head in the kernel's
    file. live_ctas: the number of CTAs that do not end at once; None if unknown. arguments: those of integer
    parameters, by position; None if no launch is described. elements: of its integer arrays, the same. described: all
    arguments, as a launch specification describes them; empty if none does. specification: the file that describes
    the launch. beside: the name of the file beside the kernel's from which arguments come."""

    trips: Mapping[int, float] = field(default_factory=dict)
    live_ctas: int | None = None
    arguments: Mapping[int, int] | None = None
    elements: Mapping[int, Elements] = field(default_factory=dict)
    described: tuple[Argument, ...] = ()
    specification: Path | None = None
    beside: str = field(default="", compare=False)


NOTHING = Known()


def known_of(assume: Assume | None, kernels: int) -> list[Known]:
    """What `assume=` says of each of so many kernels. Raises `InputError`; whether a line is a loop's head is not
    checked here."""
    if assume is None:
        return [NOTHING] * kernels
    letters = [letter_of(k) for k in range(kernels)]
    if not isinstance(assume, Mapping):
        raise InputError(f"assume= takes a dictionary, such as {EXAMPLE}; it is {assume!r}.")
    for letter in assume:
        if letter not in letters:
            raise InputError(f"assume= names kernel `{letter}`; there are the kernels {', '.join(letters)}.")
    return [_known(letter, assume[letter]) if letter in assume else NOTHING for letter in letters]


def _known(letter: str, given: Any) -> Known:
    if not isinstance(given, Mapping):
        raise InputError(f"assume= of kernel {letter} takes a dictionary, such as {EXAMPLE}; it is {given!r}.")
    for key in given:
        if key not in KEYS:
            raise InputError(f"assume= of kernel {letter} has no `{key}`; it takes {', '.join(KEYS)}: {EXAMPLE}.")
    trips, live = given.get("trips", {}), given.get("live_ctas")
    if not isinstance(trips, Mapping):
        raise InputError(f"assume= of kernel {letter}: trips are given by lines, as in {EXAMPLE}; it is {trips!r}.")
    for line, times in trips.items():
        if not is_whole(line):
            raise InputError(f"assume= of kernel {letter}: {line!r} is not a line; give a number from 1, as {EXAMPLE}.")
        if isinstance(times, bool) or not isinstance(times, int | float) or not 0 <= times <= MOST_TRIPS:
            raise InputError(f"assume= of kernel {letter}: the loop in line {line} cannot run {times!r} times.")
    if live is not None and (not is_whole(live) or live < 0):
        raise InputError(f"assume= of kernel {letter}: live_ctas={live!r} is not a number of CTAs.")
    trips = {line: float(times) for line, times in trips.items()}
    arguments, path = _arguments(letter, given.get("arguments")), _specification(letter, given)
    return Known(trips, live, arguments, specification=path)


def _arguments(letter: str, given: Any) -> dict[int, int] | None:
    if given is None:
        return None
    if not isinstance(given, Mapping):
        raise InputError(f"assume= of kernel {letter}: arguments are given by position, as {{2: 4096}}; got {given!r}.")
    for position, value in given.items():
        for number in (position, value):
            if not is_whole(number):
                raise InputError(
                    f"assume= of kernel {letter}: arguments={{{position!r}: {value!r}}} is not the position of an "
                    "integer parameter, from 0, and its value; leave other parameters out."
                )
    return dict(given)


def _specification(letter: str, given: Mapping[str, Any]) -> Path | None:
    path = given.get("specification")
    if path is None:
        return None
    if not isinstance(path, str | Path):
        raise InputError(f"assume= of kernel {letter}: specification={path!r} is not the path of a TOML file.")
    if "arguments" in given:
        raise InputError(f"assume= of kernel {letter}: a specification has the arguments; leave one of the two out.")
    return Path(path)


def with_arguments(known: Known, arguments: Sequence[object]) -> Known:
    """With what the arguments of a launch say."""
    described = tuple(a for a in arguments if isinstance(a, Argument))
    own = described if len(described) == len(arguments) else ()
    return replace(known, arguments=integers(arguments), elements=_elements(arguments), described=own)


def _elements(arguments: Sequence[object]) -> dict[int, Elements]:
    """Of the integer arrays among the arguments, by position, as far as a launch specification describes them."""
    described = ((i, a) for i, a in enumerate(arguments) if isinstance(a, Argument) and a.generator == "integers")
    return {i: Elements(int(a.low), int(a.high)) for i, a in described if a.high > a.low}


def integers(arguments: Sequence[object]) -> dict[int, int]:
    """The integers among the arguments of a kernel, by position: numbers, and scalars of a launch specification."""
    values = ((i, getattr(argument, "value", argument)) for i, argument in enumerate(arguments))
    return {i: int(v) for i, v in values if isinstance(v, Integral) and not isinstance(v, bool)}
