"""The keyword arguments of fusion() by name and type for each strategy, for type checkers."""

from __future__ import annotations

from typing import TypedDict

from goptx.strategies.strategy_options import (
    OwnAutoOptions,
    OwnHorizontalOptions,
    OwnInterleaveOptions,
    OwnSeparateOptions,
    OwnVerticalOptions,
)
from goptx.weaving.weave_options import OwnWeaveOptions


class OwnFusionOptions(TypedDict, total=False):
    """The options of every region."""

    capture: bool
    compare: bool
    assume_local: bool
    no_barriers: bool
    independent: bool
    max_registers: int | None
    assume_private: bool


class FusionAuto(OwnFusionOptions, OwnAutoOptions, total=False): ...


class FusionWeave(OwnFusionOptions, OwnWeaveOptions, total=False): ...


class FusionVertical(OwnFusionOptions, OwnVerticalOptions, total=False): ...


class FusionHorizontal(OwnFusionOptions, OwnHorizontalOptions, total=False): ...


class FusionInterleave(OwnFusionOptions, OwnInterleaveOptions, total=False): ...


class FusionSeparate(OwnFusionOptions, OwnSeparateOptions, total=False): ...
