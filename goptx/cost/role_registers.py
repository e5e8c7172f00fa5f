"""How the registers of an SM are shared out between two kernels of folded grids, each one role of the fused kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from goptx.weaving.shapes.folded import (
    FEWEST_REGISTERS,
    MOST_AT_ENTRY,
    MOST_REGISTERS,
    REGISTER_STEP,
    SM_REGISTERS,
)

Registers = tuple[int, int]


@dataclass(frozen=True, slots=True)
class RoleDemand:
    """Registers of a thread, multiples of 8.

    free: without a cap. least: the fewest with which no more is spilled than without a cap, and `wgmma` is not
    serialized. tolerable: as `least`, but a few bytes of a thread may be spilled.
    shared_bytes: the static shared memory of a CTA.
    """

    free: int
    least: int
    tolerable: int
    shared_bytes: int = 0


def rounded_up(registers: int) -> int:
    """The next multiple of 8 that a role may have."""
    return max(-(-registers // REGISTER_STEP) * REGISTER_STEP, FEWEST_REGISTERS)


def divisions(threads: Registers, first: RoleDemand, second: RoleDemand, most: int) -> Sequence[Registers | None]:
    """Ways to share out an SM's registers between two roles of so many threads in a CTA, with as many CTAs on the SM as
    possible, at most `most`: from the fewest that the first can do with to the fewest that the second can. None: each
    thread may have as many as the hungrier role takes."""
    for ctas in range(most, 0, -1):
        entry = min(SM_REGISTERS // (ctas * sum(threads)), MOST_AT_ENTRY) // REGISTER_STEP * REGISTER_STEP
        if max(first.free, second.free) <= entry:
            return [None]
        if found := _of_entry(threads, first, second, entry):
            return found
    return []


def _of_entry(threads: Registers, first: RoleDemand, second: RoleDemand, entry: int) -> list[Registers]:
    """The same, where each thread begins with `entry` registers."""
    own, other = threads
    every = entry * (own + other)

    def left(registers: int) -> int:
        """To a thread of the second role if one of the first has so many."""
        rest = (every - registers * own) // other // REGISTER_STEP * REGISTER_STEP
        return min(rest, MOST_REGISTERS)

    most = min((every - second.least * other) // own // REGISTER_STEP * REGISTER_STEP, max(first.free, entry))
    if first.least <= most:
        middle = (first.least + most) // (2 * REGISTER_STEP) * REGISTER_STEP
        found = [(n, left(n)) for n in dict.fromkeys((middle, first.least, most))]
    else:  # one of the two spills a little
        found = [(first.least, left(first.least))] if left(first.least) >= second.tolerable else []
        found += [(most, left(most))] if most >= first.tolerable else []
    return found
