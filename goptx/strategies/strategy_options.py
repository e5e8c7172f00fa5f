"""The options of the strategies by name and type, for functions that take a strategy and hand its options on.

They are those that the strategy itself takes, which a test compares (tests/test_typing.py). `Own...Options` are about
neither the kernels nor what they have in common: a fusion region finds that out from the launches.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from goptx.options import Choice, ParameterNames, ParameterPairs, Placement, Policy, Slicing, Unproved
from goptx.weaving.weave_options import KernelOptions, ResultOptions


class DependentOptions(TypedDict, total=False):
    """What kernels have in common that depend on each other."""

    depends: bool
    assume_local: bool
    no_barriers: bool
    same: ParameterPairs
    private: ParameterPairs
    local: ParameterPairs
    noalias: ParameterNames
    assume_private: bool


class OwnVerticalOptions(ResultOptions, total=False):
    divergence: Choice | None
    placement: Placement
    presume: bool
    unproved: Unproved


class VerticalOptions(KernelOptions, OwnVerticalOptions, DependentOptions, total=False):
    """Those of vertical()."""


class OwnHorizontalOptions(ResultOptions, total=False):
    placement: Placement
    partition: Sequence[int] | None
    tunable: Sequence[bool] | None
    presume: bool


class HorizontalOptions(KernelOptions, OwnHorizontalOptions, total=False):
    """Those of horizontal()."""


class OwnInterleaveOptions(ResultOptions, total=False):
    placement: Placement
    ratio: Sequence[int] | None
    presume: bool


class InterleaveOptions(KernelOptions, OwnInterleaveOptions, total=False):
    """Those of interleave()."""

    same: ParameterPairs


class OwnSeparateOptions(ResultOptions, total=False):
    notes: Sequence[str]
    streams: bool


class SeparateOptions(KernelOptions, OwnSeparateOptions, total=False):
    """Those of separate()."""


class OwnAutoOptions(ResultOptions, total=False):
    policy: Policy
    slicing: Slicing
    divergence: Choice | None
    placement: Placement
    max_blocks: int | None
    max_growth: float | None
    presume: bool


class AutoOptions(KernelOptions, OwnAutoOptions, DependentOptions, total=False):
    """Those of auto()."""
