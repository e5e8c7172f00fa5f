"""Suite B, of which one pair is here: batch-norm statistics and a histogram, and the ways to fuse them to compare.

The search is that of HFUSE (CGO 2022): both kernels are right with any block of whole warps, so each partition of
the CTA's threads is tried, without a register cap and with the one that keeps the kernels' occupancy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import goptx
from goptx.device.register_bound import register_bound
from goptx.launch.specification import Launch, read_specification
from goptx.options import Strategy

FOLDER = Path(__file__).parent
PAIR = ("batchnorm", "hist")
TOTAL, STEP = 1024, 128  # threads of a horizontal CTA, and from one partition to the next
HFUSE = 1.158  # over streams, this pair on a V100


@dataclass(frozen=True, slots=True)
class Candidate:
    """A strategy; of horizontal, how many threads each kernel has; the order of the kernels in the pair; the strategy's
    option `max_growth`; whether registers are bounded."""

    strategy: Strategy
    partition: tuple[int, ...] = ()
    order: tuple[int, ...] = (0, 1)
    max_growth: int | None = None
    bounded: bool = False

    def __str__(self) -> str:
        first = "" if self.order == (0, 1) else f"{PAIR[self.order[0]]} first"
        growth = f"max_growth {self.max_growth}" if self.max_growth else ""
        partition = "+".join(map(str, self.partition))
        return " ".join(filter(None, [self.strategy, partition, first, growth, "bounded" if self.bounded else ""]))


TURNED = (1, 0)
PEERS = (
    Candidate("vertical"),
    Candidate("weave"),
    Candidate("weave", order=TURNED),
    Candidate("weave", order=TURNED, max_growth=8),
    Candidate("interleave"),
)
PARTITIONS = tuple((d, TOTAL - d) for d in range(STEP, TOTAL, STEP))
WAYS = (*PEERS, *(Candidate("horizontal", p, bounded=bounded) for p in PARTITIONS for bounded in (False, True)))
EVEN = Candidate("horizontal", (TOTAL // 2, TOTAL // 2))  # what one would take without a search


def launches(small: bool = False, arch: str = "sm_90") -> list[Launch]:
    """Of both kernels, in the sizes of `[check]` if they are to be small."""
    found = [read_specification(FOLDER / f"{name}.toml")[0] for name in PAIR]
    found = [replace(one, file=FOLDER / f"{one.entry}.{arch}.ptx") for one in found]
    return [one.small() for one in found] if small else found


def fused(way: Candidate, launched: Sequence[Launch]) -> goptx.Woven:
    """The pair as one kernel, with the kernels in the way's order."""
    ordered = [launched[k] for k in way.order]
    shapes = [goptx.Shape(one.grid, one.block, one.shared) for one in ordered]
    options: dict[str, Any] = {"partition": way.partition, "max_growth": way.max_growth}
    given = {name: value for name, value in options.items() if value}
    return goptx.fuse(*[one.file for one in ordered], strategy=way.strategy, shapes=shapes, **given)


def bound_of(way: Candidate, woven: goptx.Woven, registers: Sequence[int]) -> int | None:
    """HFUSE's cap of registers for a horizontal kernel; `registers`: of a thread of each kernel alone."""
    if not way.partition or woven.shape is None:
        return None
    shared = woven.resources().shared_bytes + (woven.shape.shared or 0)
    return register_bound(way.partition, registers, woven.module.target[0], shared)
