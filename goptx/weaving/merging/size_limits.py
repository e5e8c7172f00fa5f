"""How large a woven kernel may become.

Merging copies code: there is a copy of a block for each block of the other kernel that it may run beside, and
multiple-entry loops are copied until each is single-entry. Only measured times say whether copies are worth it; this
file limits their number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf

from goptx.analysis.cfg import EXIT, Flow, loops
from goptx.errors import InputError
from goptx.options import is_whole
from goptx.weaving.model import Linked

BLOCKS = 4  # merged blocks for each block of the kernels, by default
GROWTH = 3.0  # times the instructions of the kernels, by default


class TooLarge(Exception):
    """The merge has exceeded a limit, so a smaller one has to be tried."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The most blocks and instructions that a flow may have, counted as in reports."""

    blocks: int
    instructions: int

    def allow(self, flow: Flow) -> bool:
        return block_count(flow) <= self.blocks and instruction_count(flow) <= self.instructions


def limits(flows: Sequence[Flow], max_blocks: int | None, max_growth: float | None, share: float = 1.0) -> Limits:
    """The limits for weaving kernels with these flows. `share` is their share of the growth, so that some is left for
    kernels that are merged later: 0.5 for the square root."""
    blocks = BLOCKS**share * sum(map(block_count, flows)) if max_blocks is None else max_blocks
    return Limits(int(blocks), int((max_growth or GROWTH) ** share * sum(map(instruction_count, flows))))


@dataclass(frozen=True, slots=True)
class MergeLimits:
    """The limits for merging some of the linked kernels, so that all of them together stay within `max_blocks` and
    `max_growth`. `skipped`: the numbers of the kernels that warps may skip, so that the others also stand without them;
    by default they may stand so once more, if at most one kernel has loops and none is coarsened."""

    linked: Linked
    max_blocks: int | None = None
    max_growth: float | None = None
    skipped: frozenset[int] = frozenset()

    def of(self, numbers: Sequence[int]) -> Limits:
        """The limits for kernels, by their numbers."""
        kernels = self.linked.kernels
        share = (len(numbers) - 1) / max(len(kernels) - 1, 1)
        if any(k.copy for k in kernels):  # they are merged first; each kernel has its share of the growth
            share = len({kernels[n].letter for n in numbers}) / len(self.linked.given)
        flows = [kernels[n].flow for n in numbers]
        found = limits(flows, self.max_blocks, self.max_growth, share)
        if self.max_growth is not None or self.skipped.isdisjoint(numbers) or any(kernels[n].copy for n in numbers):
            return found
        if sum(bool(loops(flow)) for flow in flows) > 1:  # merged freely, each stands beside all places of the other's
            return found
        return replace(found, instructions=found.instructions + sum(map(instruction_count, flows)))

    @property
    def all(self) -> Limits:
        """The limits for all kernels together."""
        return self.of(range(len(self.linked.kernels)))

    def named(self, numbers: Sequence[int]) -> str:
        """Names the kernels in messages."""
        kernels = (self.linked.kernels[n] for n in numbers)
        return " and ".join(k.at(k.entry.line) for k in kernels)


def block_count(flow: Flow) -> int:
    return sum(1 for name, block in flow.blocks.items() if name != EXIT or block.code)


def instruction_count(flow: Flow) -> int:
    """The number of instructions, including branches at the ends of blocks and one `ret`."""
    return sum(block.size for block in flow.blocks.values()) + 1


def check_limits(max_blocks: int | None, max_growth: float | None) -> None:
    """Raises `InputError` for a value that is not a limit."""
    if max_blocks is not None and not (is_whole(max_blocks) and max_blocks > 0):
        raise InputError(f"max_blocks `{max_blocks}` is not a number of blocks; give one above 0, or None.")
    number = isinstance(max_growth, float) or is_whole(max_growth)
    if max_growth is not None and not (number and 0 < max_growth < inf):
        raise InputError(
            f"max_growth `{max_growth}` is not a factor; give a number above 0, such as {GROWTH}, or None."
        )
