"""The types of options of `goptx`, and checks of numbers. A type checker reports a misspelt value.

Each tuple has the values of the type above it, for the checks when a program runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypedDict, TypeGuard, get_args

Policy = Literal["latency", "paper", "concat"]  # the order of the instructions of merged blocks
POLICIES: tuple[Policy, ...] = get_args(Policy)

Slicing = Literal["adaptive"] | int | None  # the latency by which long blocks are cut, in cycles

Choice = Literal["park", "predicate", "duplicate"]  # the form of divergent code
CHOICES: tuple[Choice, ...] = get_args(Choice)

Placement = Literal["spread", "front"]  # the places of the CTAs of a smaller grid among those of a larger one
PLACEMENTS: tuple[Placement, ...] = get_args(Placement)

Merging = Literal["safe", "paper"]  # by the rules of goptx, or as published by the GoPTX paper
MERGES: tuple[Merging, ...] = get_args(Merging)

Streams = bool | Literal["reversed"]  # whether kernels are launched side by side, and then the last one first
STREAMS: tuple[Streams, ...] = (False, True, "reversed")

Unproved = Literal["refuse", "memory"]  # of a temporary that cannot be proved to be one
UNPROVED: tuple[Unproved, ...] = get_args(Unproved)

Fold = Literal["static", "chunk", "ticket"]  # which of a kernel's CTAs a CTA of folded grids runs
FOLDS: tuple[Fold, ...] = get_args(Fold)

Binding = Literal["sm"]  # what decides which kernel a CTA of an interleaved grid runs, other than its number
BINDINGS: tuple[Binding, ...] = get_args(Binding)

Objective = Literal["device", "launched"]  # the time on the device alone, or with what the host takes to launch
OBJECTIVES: tuple[Objective, ...] = get_args(Objective)

Axis = Literal["x", "y", "z"]
AXES: tuple[Axis, ...] = get_args(Axis)

MeasuredStrategy = Literal["weave", "vertical", "interleave", "horizontal", "separate"]  # the tuner tries these
MEASURED_STRATEGIES: tuple[MeasuredStrategy, ...] = get_args(MeasuredStrategy)

Strategy = Literal[MeasuredStrategy, "auto"]

ParameterPairs = Sequence[tuple[str, str] | str]  # ("A:2", "B:0"), or as text "A:2=B:0"
ParameterNames = Sequence[str]  # "A:2"


class KnownOfKernel(TypedDict, total=False):
    """What the caller knows of a kernel: how often its loops run, by the line of each loop's head in the kernel's file;
    how many CTAs do not end at once; its integer arguments, by position from 0; a launch specification with them."""

    trips: Mapping[int, float]
    live_ctas: int
    arguments: Mapping[int, int]
    specification: str | Path


Assume = Mapping[str, KnownOfKernel]  # by the kernel's letter


def is_whole(value: object) -> TypeGuard[int]:
    """Whether it is a whole number; `True` is not."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_one_for_each(values: Any, kernels: int) -> TypeGuard[Sequence[int]]:
    """Whether it is a sequence of as many whole numbers as there are kernels."""
    return isinstance(values, Sequence) and len(values) == kernels and all(map(is_whole, values))
