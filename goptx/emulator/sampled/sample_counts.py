"""What a sampled run counts. Reading it needs no numpy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

MOST_WORK = 40_000  # instructions that a group of CTAs may take, where those of warps that run together count once
L1 = 256 << 10  # bytes
SECTOR = 32  # bytes
LINE = 128  # bytes that the L1 looks up at once
LOADS, STORES, UPDATES = range(3)  # kinds of accesses; atomic operations update


@dataclass(frozen=True, slots=True)
class Touched:
    """The sectors of an array that a CTA loads, stores, or updates, those of them that its neighbours do, one along
    each axis, and those that the array has. kind: of the accesses. alone: the lines of LINE bytes that are
    beside no others of the CTA, and of which its neighbours access nothing; with_them: the sectors in these. asked: the
    loads of sectors that a CTA does not find in the L1."""

    own: float
    common: float
    all: float
    kind: int = LOADS
    alone: float = 0.0
    with_them: float = 0.0
    asked: float = 0.0


@dataclass(frozen=True, slots=True)
class SampledRun:
    """The counts of some CTAs.

    issued: how often their warps issued each instruction of a line. steps: of each CTA, the instructions of the warp
    that has most. warps: of a CTA. touched: the mean of the CTAs, for each array by the kind of access.
    requested: sectors that a CTA asks of the L2, by the kind of access; the L1 has what the CTA loaded a short time
    before. missed: for the loads of a line the share of them for which a warp does not find the elements of an array,
    by its number in `touched`, in the L1. passes: for how many wavefronts a CTA occupies the L1. whole: whether all
    instructions were run.
    """

    issued: Mapping[int, float]
    steps: tuple[int, ...]
    warps: int
    touched: tuple[Touched, ...]
    requested: tuple[float, ...]
    passes: float
    whole: bool
    missed: Mapping[int, Mapping[int, float]] = field(default_factory=dict)
