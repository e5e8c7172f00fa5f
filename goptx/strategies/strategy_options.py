"""The options of the strategies by name and type, for functions that take a strategy and pass its options to it.

tests/test_typing.py checks that they are the options that the strategy itself takes. `Own...Options` leave out options
that describe the kernels or what they have in common: a fusion region derives those from the launches.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict

from goptx.options import (
    Binding,
    Choice,
    Fold,
    ParameterNames,
    ParameterPairs,
    Placement,
    Policy,
    Slicing,
    Streams,
    Unproved,
)
from goptx.weaving.weave_options import KernelOptions, ResultOptions


class DependentOptions(TypedDict, total=False):
    """The options of kernels that depend on each other: which dependences and equal parameters they have."""

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
    placement: Placement | None
    presume: bool
    unproved: Unproved


class VerticalOptions(KernelOptions, OwnVerticalOptions, DependentOptions, total=False):
    """The options of vertical()."""


class OwnHorizontalOptions(ResultOptions, total=False):
    placement: Placement | None
    partition: Sequence[int] | None
    tunable: Sequence[bool] | None
    presume: bool
    fold: Fold | None
    ctas: int | None
    role_registers: Sequence[int] | None
    teams: Sequence[int] | None
    parts: Sequence[int] | None
    assist: bool


class HorizontalOptions(KernelOptions, OwnHorizontalOptions, total=False):
    """The options of horizontal()."""


class OwnInterleaveOptions(ResultOptions, total=False):
    placement: Placement | None
    ratio: Sequence[int] | None
    presume: bool
    fold: Fold | None
    ctas: Sequence[int] | None
    binding: Binding | None


class InterleaveOptions(KernelOptions, OwnInterleaveOptions, total=False):
    """The options of interleave()."""

    same: ParameterPairs


class OwnSeparateOptions(ResultOptions, total=False):
    notes: Sequence[str]
    streams: Streams


class SeparateOptions(KernelOptions, OwnSeparateOptions, total=False):
    """The options of separate()."""


class OwnAutoOptions(ResultOptions, total=False):
    policy: Policy
    slicing: Slicing
    divergence: Choice | None
    placement: Placement | None
    max_blocks: int | None
    max_growth: float | None
    presume: bool
    assemble: bool
    decision: Mapping[str, Any] | str | Path | None


class AutoOptions(KernelOptions, OwnAutoOptions, DependentOptions, total=False):
    """The options of auto()."""
