"""What a sampled run counts. Reading it needs no numpy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

MOST_WORK = 40_000  # instructions that a group of CTAs may take, where those of warps that run together count once
L1 = 256 << 10  # bytes
SECTOR = 32  # bytes


@dataclass(frozen=True, slots=True)
class Touched:
    """The sectors of an array that a CTA loads or stores, those of them that its neighbours do, one along each axis,
    and those that the array has."""

    own: float
    common: float
    all: float


@dataclass(frozen=True, slots=True)
class SampledRun:
    """The counts of some CTAs.

    issued: how often their warps issued each instruction of a line. steps: of each CTA, the instructions of the warp
    that has most. warps: of a CTA. touched: the mean of the CTAs, for each array what is loaded and what is stored.
    requested: sectors that a CTA asks of the L2; the L1 has what the CTA accessed a short time before. passes: for how
    many wavefronts a CTA occupies the L1. whole: whether all instructions were run.
    """

    issued: Mapping[int, float]
    steps: tuple[int, ...]
    warps: int
    touched: tuple[Touched, ...]
    requested: float
    passes: float
    whole: bool
