"""fuse(): one kernel of several, by a strategy."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import cache
from importlib import import_module
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any, Literal, overload

from goptx.errors import InputError
from goptx.results.expected_gain import judged
from goptx.results.fused_kernel import Woven

if TYPE_CHECKING:
    from typing import Unpack

    from goptx.options import Strategy
    from goptx.results.given_kernels import Source
    from goptx.strategies.strategy_options import (
        AutoOptions,
        HorizontalOptions,
        InterleaveOptions,
        SeparateOptions,
        VerticalOptions,
    )
    from goptx.weaving.weave_options import WeaveOptions

STRATEGIES: Mapping[Strategy, str] = {  # the module with the function of that name; loaded when first used
    "weave": "goptx.weaving.weave",
    "vertical": "goptx.strategies.vertical",
    "horizontal": "goptx.strategies.horizontal",
    "interleave": "goptx.strategies.interleave",
    "separate": "goptx.strategies.separate",
    "auto": "goptx.strategies.auto",
}


@overload
def fuse(*sources: Source, strategy: Literal["weave"] = "weave", **options: Unpack[WeaveOptions]) -> Woven: ...
@overload
def fuse(*sources: Source, strategy: Literal["vertical"], **options: Unpack[VerticalOptions]) -> Woven: ...
@overload
def fuse(*sources: Source, strategy: Literal["horizontal"], **options: Unpack[HorizontalOptions]) -> Woven: ...
@overload
def fuse(*sources: Source, strategy: Literal["interleave"], **options: Unpack[InterleaveOptions]) -> Woven: ...
@overload
def fuse(*sources: Source, strategy: Literal["separate"], **options: Unpack[SeparateOptions]) -> Woven: ...
@overload
def fuse(*sources: Source, strategy: Literal["auto"], **options: Unpack[AutoOptions]) -> Woven: ...
@judged
def fuse(*sources: Source, strategy: Strategy = "weave", **options: Any) -> Woven:
    """One kernel that does what all kernels do, by one of these strategies:

    "weave": every thread runs a thread of each kernel, their instructions interleaved; see `goptx.weave`.
    "vertical": every thread runs a thread of each kernel, one kernel after the other.
    "horizontal": the CTA's warps are shared out among the kernels; see `goptx.strategies.horizontal`.
    "interleave": the grid's CTAs are shared out among the kernels; see `goptx.strategies.interleave`.
    "separate": nothing is fused; kernels are launched one after the other; see `goptx.strategies.separate`.
    "auto": what is estimated to be fastest, with coarsening if it helps; see `goptx.strategies.auto`.

    Options are those of the strategy. Raises what `weave` raises.
    """
    check_strategy(strategy, options)
    return _function_of(strategy)(*sources, **options)


def _function_of(strategy: Strategy) -> Callable[..., Woven]:
    function: Callable[..., Woven] = getattr(import_module(STRATEGIES[strategy]), strategy)
    return function


def check_strategy(strategy: Strategy, options: Collection[str] = ()) -> None:
    """Raises `InputError` where there is no such strategy, or it has no such option."""
    if not isinstance(strategy, str) or strategy not in STRATEGIES:
        raise InputError(f"strategy `{strategy}` is unknown; expected one of {', '.join(STRATEGIES)}.")
    own = options_of(strategy)
    for option in options:
        if option not in own:
            others = [s for s in STRATEGIES if option in options_of(s)]
            whose = f"it is one of {', '.join(others)}" if others else f"it takes {', '.join(own)}"
            raise InputError(f"strategy {strategy} has no option `{option}`; {whose}.")


@cache
def options_of(strategy: Strategy) -> tuple[str, ...]:
    """The names of the options that a strategy takes."""
    found = signature(_function_of(strategy)).parameters.values()
    return tuple(p.name for p in found if p.kind is Parameter.KEYWORD_ONLY)
