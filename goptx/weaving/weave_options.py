"""The options of weave() by name and type, for functions that hand options on: a misspelt one is an error of a type
checker.

They are those that the function itself takes, which a test compares (tests/test_typing.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict

from goptx.latency.table import LatencyTable
from goptx.launch.shape import Shape
from goptx.options import Choice, Merging, ParameterPairs, Placement, Policy, Slicing


class KernelOptions(TypedDict, total=False):
    """About the kernels."""

    entries: Sequence[str | None] | None
    shapes: Sequence[Shape] | None


class ResultOptions(TypedDict, total=False):
    """About the result, whatever the strategy."""

    arch: str | None
    name: str | None
    latency: str | Path | LatencyTable | None


class CoarsenOptions(ResultOptions, total=False):
    """How copies of one kernel are woven."""

    policy: Policy | None
    slicing: Slicing
    divergence: Choice | None
    max_blocks: int | None
    max_growth: float | None
    presume: bool


class OwnWeaveOptions(CoarsenOptions, total=False):
    """Those of weave() that are about neither the kernels nor what they have in common."""

    merge: Merging
    placement: Placement


class WeaveOptions(KernelOptions, OwnWeaveOptions, total=False):
    """Those of weave()."""

    same: ParameterPairs
