"""The options of weave() by name and type, for functions that pass options to it.

A type checker reports a misspelt option. tests/test_typing.py checks that they are the options that the function itself
takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict

from goptx.latency.table import LatencyTable
from goptx.launch.shape import Shape
from goptx.options import Assume, Choice, Merging, ParameterPairs, Placement, Policy, Slicing


class KernelOptions(TypedDict, total=False):
    """The options that describe the kernels."""

    entries: Sequence[str | None] | None
    shapes: Sequence[Shape] | None
    assume: Assume | None


class ResultOptions(TypedDict, total=False):
    """The options for the result of any strategy."""

    arch: str | None
    name: str | None
    latency: str | Path | LatencyTable | None
    max_inlined: int | None


class CoarsenOptions(ResultOptions, total=False):
    """The options for weaving copies of one kernel."""

    policy: Policy | None
    slicing: Slicing
    divergence: Choice | None
    max_blocks: int | None
    max_growth: float | None
    presume: bool


class OwnWeaveOptions(CoarsenOptions, total=False):
    """The options of weave() that do not describe the kernels or what they have in common."""

    merge: Merging
    placement: Placement | None


class WeaveOptions(KernelOptions, OwnWeaveOptions, total=False):
    """The options of weave()."""

    same: ParameterPairs
