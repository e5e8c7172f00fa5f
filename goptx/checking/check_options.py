"""The keyword arguments of check() by name and type for each strategy, for type checkers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypedDict

from goptx.strategies.strategy_options import (
    AutoOptions,
    HorizontalOptions,
    InterleaveOptions,
    SeparateOptions,
    VerticalOptions,
)
from goptx.weaving.weave_options import WeaveOptions


class OwnCheckOptions(TypedDict, total=False):
    """The options of every check."""

    grid: int | Sequence[int] | None
    block: int | Sequence[int] | None
    shared: int | None
    args: Mapping[str, object] | None
    seed: int
    races: bool
    max_steps: int | None


class CheckWeave(OwnCheckOptions, WeaveOptions, total=False): ...


class CheckVertical(OwnCheckOptions, VerticalOptions, total=False): ...


class CheckHorizontal(OwnCheckOptions, HorizontalOptions, total=False): ...


class CheckInterleave(OwnCheckOptions, InterleaveOptions, total=False): ...


class CheckSeparate(OwnCheckOptions, SeparateOptions, total=False): ...


class CheckAuto(OwnCheckOptions, AutoOptions, total=False): ...
