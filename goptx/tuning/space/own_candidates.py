"""A caller's own candidates: a strategy with options of `goptx.fuse`, coarsening factors and a register cap."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from goptx.errors import InputError
from goptx.options import MEASURED_STRATEGIES
from goptx.strategies.candidate import Candidate
from goptx.strategies.fuse import options_of
from goptx.tuning.space.space import ALONE
from goptx.weaving.weave_options import CoarsenOptions

OWN = ("strategy", "factors", "cap")  # the keys that are not options of a strategy
NOT_TUNED = {  # options that describe the kernels, or are given by the tuner
    "arch", "assume", "assume_local", "assume_private", "depends", "entries", "latency", "local", "name", "no_barriers",
    "noalias", "notes", "presume", "private", "same", "shapes", "tunable", "unproved",
}  # fmt: skip
PLAIN = (bool, int, float, str, type(None))
EXAMPLE = '{"strategy": "weave", "factors": (2, 1), "slicing": 300}'


def own_candidates(extra: Sequence[Mapping[str, Any]] | None, kernels: int) -> list[Candidate]:
    """The candidates that such tables describe, for so many kernels. Raises `InputError`."""
    if isinstance(extra, Mapping | str):
        raise InputError(f"extra= takes a list of candidates, for example extra=[{EXAMPLE}].")
    return [_candidate(number, each, kernels) for number, each in enumerate(extra or ())]


def _candidate(number: int, given: Mapping[str, Any], kernels: int) -> Candidate:
    at = f"extra[{number}]"
    if not isinstance(given, Mapping):
        raise InputError(f"{at} is not a table; give for example {EXAMPLE}.")
    strategy = given.get("strategy")
    strategies = MEASURED_STRATEGIES if kernels > 1 else (ALONE,)
    if strategy not in strategies:
        raise InputError(f"{at}: strategy {strategy!r} cannot be tuned here; expected {', '.join(strategies)}.")
    known = _options(strategy)
    options = {name: value for name, value in given.items() if name not in OWN}
    if unknown := [name for name in options if name not in known]:
        raise InputError(f"{at}: {strategy} has no option `{unknown[0]}` to tune; it has {', '.join(known)}.")
    for name, value in options.items():
        items = value if isinstance(value, list | tuple) else [value]
        if not all(isinstance(item, PLAIN) for item in items):
            raise InputError(f"{at}: `{name}` is not a number, a text or a list of these, so it cannot be recorded.")
    held = {
        "strategy": strategy, "factors": given.get("factors", (1,) * kernels), "cap": given.get("cap"),
        "options": options,
    }  # fmt: skip
    try:
        candidate = Candidate.from_dict(held)
    except ValueError as error:
        raise InputError(f"{at}: {error}; give for example {EXAMPLE}.") from None
    if len(candidate.factors) != kernels:
        raise InputError(f"{at}: {len(candidate.factors)} factors for {kernels} kernels; give one for each kernel.")
    return candidate


def _options(strategy: Any) -> list[str]:
    names = CoarsenOptions.__annotations__ if strategy == ALONE else options_of(strategy)
    return sorted(set(names) - NOT_TUNED)
