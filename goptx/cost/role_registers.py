"""How the registers of an SM are shared out between two kernels of folded grids, each one role of the fused kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from goptx.weaving.shapes.folded import (
    FEWEST_REGISTERS,
    MOST_REGISTERS,
    REGISTER_STEP,
    most_at_entry,
)

Registers = tuple[int, int]
LOOP = 6  # registers of the loop over virtual CTAs: the number, the end, the step, and what is computed from them


@dataclass(frozen=True, slots=True)
class RoleDemand:
    """Registers of a thread, multiples of 8.

    free: without a cap. least: the fewest with which no more is spilled than without a cap, and `wgmma` is not
    serialized. tolerable: as `least`, but a few bytes of a thread may be spilled.
    shared_bytes: the static shared memory of a CTA.
    entry: the fewest when the fused kernel begins, whatever the role has afterwards: as many as one instruction takes.
    """

    free: int
    least: int
    tolerable: int
    shared_bytes: int = 0
    entry: int = FEWEST_REGISTERS


def rounded_up(registers: int) -> int:
    """The next multiple of 8 that a role may have."""
    return max(-(-registers // REGISTER_STEP) * REGISTER_STEP, FEWEST_REGISTERS)


def is_short(registers: Registers, demands: Sequence[RoleDemand | None]) -> bool:
    """Whether a role spills with so many registers."""
    return any(demand and own < demand.least for own, demand in zip(registers, demands, strict=True))


def divisions(threads: Registers, first: RoleDemand, second: RoleDemand, most: int) -> list[Registers | None]:
    """Ways to share out an SM's registers between two roles of so many threads in a CTA, with as many CTAs on the SM as
    possible, at most `most`: from the fewest that the first can do with to the fewest that the second can. None: each
    thread may have as many as the hungrier role takes. Where with another CTA one role is a little short of registers,
    or both are, that comes after them: more warps, or more virtual CTAs that are woven, may hide more than what is
    spilled costs."""
    short: list[Registers | None] = []
    for ctas in range(most, 0, -1):
        entry = most_at_entry(ctas * sum(threads))
        if entry < max(first.entry, second.entry):
            continue
        if max(first.free, second.free) <= entry:
            return [None, *short]
        if found := _of_entry(threads, first, second, entry):
            return [*found, *short]
        short = short or list(_short(threads, first, second, entry))
    return short


def _of_entry(threads: Registers, first: RoleDemand, second: RoleDemand, entry: int) -> list[Registers]:
    """The same, where each thread begins with `entry` registers, and no role is short of them."""
    most = min(_left(threads[::-1], entry, second.least), max(first.free, entry))
    if first.least > most:
        return []
    middle = (first.least + most) // (2 * REGISTER_STEP) * REGISTER_STEP
    return [(n, _left(threads, entry, n)) for n in dict.fromkeys((middle, first.least, most))]


def _short(threads: Registers, first: RoleDemand, second: RoleDemand, entry: int) -> list[Registers]:
    """Where at least one is: one of the two, or else both."""
    most = min(_left(threads[::-1], entry, second.least), max(first.free, entry))
    one = [(n, _left(threads, entry, n)) for n in (first.least, most)]
    both = [(first.tolerable, _left(threads, entry, first.tolerable))]
    return _tolerable(one, first, second) or _tolerable(both, first, second)


def _tolerable(found: Sequence[Registers], first: RoleDemand, second: RoleDemand) -> list[Registers]:
    return [(own, other) for own, other in found if own >= first.tolerable and other >= second.tolerable]


def _left(threads: Registers, entry: int, registers: int) -> int:
    """To a thread of the other role if one of the first of these has so many, and each begins with `entry`."""
    own, other = threads
    rest = (entry * (own + other) - registers * own) // other // REGISTER_STEP * REGISTER_STEP
    return min(rest, MOST_REGISTERS)
