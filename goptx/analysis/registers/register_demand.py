"""How many registers the assembler will give a kernel, from the words that are live in its code.

Requires: a flow without regions. What ptxas 13.0 does was found in its machine code for about 900 kernels
(benchmarks/register_estimate.py): it begins loads early as long as a thread has no more than the registers with which
an SM is full; beyond, it saves registers where it can, and gives a few more than are live. It does not move code over
a slow path (`div.rn` contains a branch), which takes registers of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from goptx.analysis.cfg import Flow
from goptx.analysis.registers.issue_order import IssueOrders
from goptx.analysis.registers.machine_operations import Operation, operations
from goptx.analysis.registers.short_branches import live_words, with_short_branches_joined
from goptx.ptx.ir import Registers

FULL = 32  # registers of a thread with which an SM holds all its warps (65,536 for 2,048 threads)
OWN = 7  # besides the live words: the stack pointer, two that the hardware takes, copies
SLOW_PATH = 14  # registers that the code of a slow path takes
BESIDE, SHARE = 3, 1.07  # given beyond FULL: so many times the live words, and so many more
MOST = 255  # registers of a thread
EARLY = FULL - OWN  # words for which loads begin early


@dataclass(frozen=True, slots=True)
class Demand:
    """The most words of 32 bits that are live at one point: at least (`live`), and if loads begin early (`eager`, of
    which only what is below `EARLY` counts); and across a slow path."""

    live: int = 0
    eager: int = 0
    across: int = 0

    def __add__(self, other: Demand) -> Demand:
        return Demand(self.live + other.live, self.eager + other.eager, self.across + other.across)

    @property
    def wanted(self) -> int:
        """The registers per thread that the assembler would give if there were enough."""
        early = min(max(self.eager, self.live) + OWN, FULL)
        saved = round(SHARE * self.live) + BESIDE if self.live >= FULL else 0
        return max(early, saved, self.across + SLOW_PATH if self.across else 0)

    @property
    def registers(self) -> int:
        """The registers per thread that the assembler is expected to give."""
        return min(self.wanted, MOST)

    def spilled(self, most: int = MOST) -> int:
        """The registers that a thread keeps in memory if it may have `most`: what is live, and there is no room for."""
        return max(self.live + 1 - most, 0)


def demand(flow: Flow, declared: Collection[Registers], arch: str = "sm_90") -> Demand:
    """The demand of a flow whose registers are `declared`, if it is assembled for `arch`."""
    found = operations(flow, declared, arch)
    joined = with_short_branches_joined(flow, found)
    before, after = live_words(joined)
    across, orders = 0, []
    for name, own in joined.blocks.items():
        for piece, begin, end in _pieces(own, before[name], after[name]):
            orders.append(IssueOrders(piece, begin, end))
            if piece and piece[0].alone:
                across = max(across, len(end.difference(piece[0].defines)))
    orders.sort(key=lambda each: -each.as_written)  # so that for most pieces no other order needs to be looked at
    live = eager = 0
    for each in orders:
        if each.as_written > live:
            live = max(live, each.thrifty)
    for each in orders:
        if max(live, eager) < EARLY:
            eager = max(eager, each.eager)
    return Demand(live, max(live, eager), across)


def _pieces(
    block: Sequence[Operation], before: frozenset[int], after: frozenset[int]
) -> Iterator[tuple[Sequence[Operation], frozenset[int], frozenset[int]]]:
    """The block, cut before and after each operation that nothing is moved across; the words live before and after
    each piece."""
    cuts = sorted({0, len(block), *(c for i, o in enumerate(block) if o.alone for c in (i, i + 1))})
    end = after
    found = []
    for begin, stop in zip(cuts[-2::-1], cuts[:0:-1], strict=True):
        piece = block[begin:stop]
        start = set(end)
        for operation in reversed(piece):
            start.difference_update(operation.defines)
            start.update(operation.uses)
        found.append((piece, frozenset(start) if begin else before, end))
        end = frozenset(start)
    yield from reversed(found)
