"""The values that options of `goptx` take, as types: a misspelt one is an error of a type checker.

Each tuple has the values of the type before it, for what is checked when a program runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

Policy = Literal["latency", "paper", "concat"]  # in which order instructions of merged blocks are emitted
POLICIES: tuple[Policy, ...] = get_args(Policy)

Slicing = Literal["adaptive"] | int | None  # by what latency long blocks are cut, in cycles

Choice = Literal["park", "predicate", "duplicate"]  # what becomes of a divergent branch
CHOICES: tuple[Choice, ...] = get_args(Choice)

Placement = Literal["spread", "front"]  # where the CTAs of a smaller grid lie among those of a larger one
PLACEMENTS: tuple[Placement, ...] = get_args(Placement)

Merging = Literal["safe", "paper"]  # by the rules of goptx, or as published by the GoPTX paper
MERGES: tuple[Merging, ...] = get_args(Merging)

Unproved = Literal["refuse", "memory"]  # what becomes of a temporary that cannot be proved to be one
UNPROVED: tuple[Unproved, ...] = get_args(Unproved)

Axis = Literal["x", "y", "z"]
AXES: tuple[Axis, ...] = get_args(Axis)

MeasuredStrategy = Literal["weave", "vertical", "interleave", "horizontal", "separate"]  # the tuner tries these
MEASURED_STRATEGIES: tuple[MeasuredStrategy, ...] = get_args(MeasuredStrategy)

Strategy = Literal[MeasuredStrategy, "auto"]

ParameterPairs = Sequence[tuple[str, str] | str]  # ("A:2", "B:0"), or as text "A:2=B:0"
ParameterNames = Sequence[str]  # "A:2"
