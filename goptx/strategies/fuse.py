"""fuse(): one kernel of several, by a strategy."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import cache
from inspect import Parameter, signature
from typing import Any

from goptx.errors import InputError
from goptx.strategies.auto import auto
from goptx.strategies.horizontal import horizontal
from goptx.strategies.interleave import interleave
from goptx.strategies.separate import separate
from goptx.strategies.vertical import vertical
from goptx.weaving.pipeline import weave
from goptx.weaving.result import Woven
from goptx.weaving.sources import Source

STRATEGIES: Mapping[str, Callable[..., Woven]] = {
    "weave": weave,
    "vertical": vertical,
    "horizontal": horizontal,
    "interleave": interleave,
    "separate": separate,
    "auto": auto,
}


def fuse(*sources: Source, strategy: str = "weave", **options: Any) -> Woven:
    """One kernel that does what all kernels do, by one of these strategies:

    "weave": every thread runs a thread of each kernel, their instructions interleaved; see `goptx.weave`.
    "vertical": every thread runs a thread of each kernel, one kernel after the other.
    "horizontal": the CTA's warps are shared out among the kernels; see `goptx.strategies.horizontal`.
    "interleave": the grid's CTAs are shared out among the kernels; see `goptx.strategies.interleave`.
    "separate": none; kernels are launched one after the other; see `goptx.strategies.separate`.
    "auto": the first that takes the kernels of weave, vertical and separate; see `goptx.strategies.auto`.

    Options are those of the strategy. Raises what `weave` raises.
    """
    check_strategy(strategy, options)
    return STRATEGIES[strategy](*sources, **options)


def check_strategy(strategy: str, options: Collection[str] = ()) -> None:
    """Raises `InputError` where there is no such strategy, or it has no such option."""
    if strategy not in STRATEGIES:
        raise InputError(f"strategy `{strategy}` is unknown; expected one of {', '.join(STRATEGIES)}.")
    own = options_of(strategy)
    for option in options:
        if option not in own:
            others = [s for s in STRATEGIES if option in options_of(s)]
            whose = f"it is one of {', '.join(others)}" if others else f"it takes {', '.join(own)}"
            raise InputError(f"strategy {strategy} has no option `{option}`; {whose}.")


@cache
def options_of(strategy: str) -> tuple[str, ...]:
    """The names of what a strategy takes beside the kernels."""
    found = signature(STRATEGIES[strategy]).parameters.values()
    return tuple(p.name for p in found if p.kind is Parameter.KEYWORD_ONLY)
