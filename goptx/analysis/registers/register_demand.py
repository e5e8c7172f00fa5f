"""How many registers the assembler will give a kernel, from the words that are live in its code.

Requires: a flow without regions. What ptxas 13.0 does was found in its machine code for about 900 kernels
(benchmarks/register_estimate.py): it begins loads early, also those of several iterations of a short loop, as long as a
thread has no more than the registers with which an SM is full; beyond, it saves registers where it can, and gives a few
more than are live. Many loads under a predicate it begins early. It does not move code over a slow path
(`div.rn` contains a branch), which takes registers of its own. The sums that `wgmma` accumulates stand above the
registers of the calling convention. It never gives more than the launch bounds allow, and spills what is beyond.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import chain
from operator import add

from goptx.analysis.cfg import Flow
from goptx.analysis.dataflow import written
from goptx.analysis.registers.declared_registers import widths
from goptx.analysis.registers.issue_order import IssueOrders, is_load, unrolled
from goptx.analysis.registers.machine_operations import SLOW_PATH, Operation, operations
from goptx.analysis.registers.register_limit import MOST, RegisterLimit, without_loss
from goptx.analysis.registers.short_branches import Joined, live_words, with_short_branches_joined
from goptx.memo import Deferred, computed
from goptx.ptx.ir import Directive, Registers
from goptx.ptx.opcodes import facts_of

FULL = 32  # registers of a thread with which an SM holds all its warps (65,536 for 2,048 threads)
OWN = 6  # besides the live words: the stack pointer, two that the hardware takes, copies
ROOM = 24  # live words up to which loads begin early
EAGER, HASTY = 0.2, 48  # the share given of what an eager order would take more, which counts up to HASTY words
CLOSE = 29  # live words up to which it keeps to FULL: so do 113 of 122 kernels with 28 or 29
ABOVE = 1.5  # registers beyond FULL for each word above CLOSE: some kernels have FULL, others the next step, 40
# Slow paths are called, and the words across stand above the registers of what is called. At each of several calls they
# are others, so that their places do not fit together: one register more for each further call, for so many.
CALLS = 4
BESIDE, SHARE = 2, 1.13  # given beyond FULL: so many times the live words, but for sums of `wgmma`, and so many more
BELOW_SUMS = 26  # registers besides those of the sums of `wgmma`: 24 are below them
ITERATIONS, SHORT = 2, 70  # iterations of a loop of at most SHORT operations that begin early
# If the threads of a CTA are known, the assembler takes more registers if they cost no CTA of an SM, up to FILLED times
# those that are needed, where so many words are live. Which CTAs fit depends on the live words and TAKEN more.
FILLED, FILLING, TAKEN = 1.2, range(50, 125), 4

NONE = computed(0)


@dataclass(frozen=True, slots=True)
class Demand:
    """The most words of 32 bits that are live at one point: at least (`live`), in the order of the code (`written`), if
    loads begin early (`early`), and if everything does that can (`eager`); across a slow path, of which there are
    `calls`, whose code takes `called` registers; and those of the sums of one `wgmma`. `most`: the registers that the
    launch bounds allow; `threads`: those of a CTA by the bounds, 0 if they do not say. How loads begin decides nothing
    beyond the registers with which an SM is full, so it is found when it is asked for."""

    live: int = 0
    across: int = 0
    sums: int = 0
    written: int = 0
    early: Deferred[int] = field(default=NONE, compare=False, repr=False)
    eager: Deferred[int] = field(default=NONE, compare=False, repr=False)
    calls: int = 0
    called: int = SLOW_PATH
    most: int = MOST
    threads: int = 0

    def __add__(self, other: Demand) -> Demand:
        return Demand(
            self.live + other.live,
            self.across + other.across,
            self.sums + other.sums,
            self.written + other.written,
            Deferred(lambda: self.early.value + other.early.value),
            Deferred(lambda: self.eager.value + other.eager.value),
            self.calls + other.calls,
            max(self.called, other.called),
            min(self.most, other.most),
            max(self.threads, other.threads),
        )

    def __or__(self, other: Demand) -> Demand:
        """The demand of code that is either the one or the other."""
        return Demand(
            max(self.live, other.live),
            max(self.across, other.across),
            max(self.sums, other.sums),
            max(self.written, other.written),
            Deferred(lambda: max(self.early.value, other.early.value)),
            Deferred(lambda: max(self.eager.value, other.eager.value)),
            max(self.calls, other.calls),
            max(self.called, other.called),
            min(self.most, other.most),
            max(self.threads, other.threads),
        )

    def times(self, copies: int) -> Demand:
        """The demand of so many copies of the code at once."""
        return reduce(add, [self] * copies)

    @property
    def registers(self) -> int:
        """The registers per thread that the assembler is expected to give."""
        called = self._beside_calls + min(max(self.calls - 1, 0), CALLS) if self.across else 0
        return min(max(self.firm, called, self._filled, min(self._hasty + OWN, FULL)), self.most)

    @property
    def _filled(self) -> int:
        """The registers that it gives because there is room for them."""
        if not self.threads or self.sums or self.live not in FILLING:
            return 0
        return min(without_loss(self.live + TAKEN, self.threads), int(FILLED * self.firm))

    @property
    def firm(self) -> int:
        """The registers that it surely gives if there are enough: if no load begins early, and the words across a slow
        path fit between those of its code. Beyond the registers with which an SM is full, loads decide nothing."""
        if self.live >= FULL:
            found = round(SHARE * (self.live - self.sums)) + self.sums + BESIDE
        else:
            found = min(self.live + OWN, FULL) + round(ABOVE * max(self.live - CLOSE, 0))
        found = max(found, self._beside_calls, self.sums + BELOW_SUMS if self.sums else 0)
        return min(found, self.most)

    @property
    def _beside_calls(self) -> int:
        """The words across slow paths, and the registers of these."""
        return self.across + self.called if self.across else 0

    @property
    def _hasty(self) -> int:
        """The words that are live if loads begin early, where there is room for them."""
        if self.live >= CLOSE:
            return self.live
        early = max(self.live, min(self.early.value, ROOM))
        return round(early + EAGER * max(min(self.eager.value, HASTY) - early, 0))

    def spilled(self, most: int = MOST) -> int:
        """The registers that a thread keeps in memory if it may have `most`: what is live, also across slow paths, and
        there is no room for."""
        return max(self.live + 1 - most, self._beside_calls - most, 0)


def demand(
    flow: Flow, declared: Collection[Registers], arch: str = "sm_90", bounds: Iterable[Directive] = ()
) -> Demand:
    """The demand of a flow whose registers are `declared`, if it is assembled for `arch` with these launch bounds."""
    found = operations(flow, declared, arch)
    joined = with_short_branches_joined(flow, found)
    before, after = live_words(joined)
    across, called, calls, orders = 0, 0, 0, []
    for name, block in joined.blocks.items():
        for piece, begin, end in _pieces(block, before[name], after[name]):
            orders.append(IssueOrders(piece, begin, end))
            if piece and piece[0].called:
                own = len(end.difference(piece[0].defines)), piece[0].called
                across, called = max((across, called), own, key=sum)
                calls += 1
    orders.sort(key=lambda each: -each.as_written)  # so that for most pieces no other order needs to be looked at
    live = 0
    for each in orders:
        if each.as_written > live or each.has_guarded_loads:
            live = max(live, each.thrifty)
    loops = [(own, before[name], after[name]) for name, own in joined.blocks.items() if _is_short_loop(joined, name)]

    def early() -> int:
        return _most(
            live, chain((unrolled(*loop, ITERATIONS) for loop in loops), (each.loads_first for each in orders))
        )

    eager = Deferred(lambda: _most(live, (each.eager for each in orders), HASTY))
    limit = RegisterLimit.of(bounds)
    in_order = orders[0].as_written if orders else 0
    return Demand(
        live,
        across,
        sums_of_wgmma(flow, declared),
        in_order,
        Deferred(early),
        eager,
        calls,
        called,
        limit.most,
        limit.threads,
    )


def _most(live: int, each: Iterable[int], room: int = ROOM) -> int:
    """The most of all, as far as there is room."""
    most = live
    for number in each:
        most = max(most, number)
        if most >= room:
            break
    return most


def _is_short_loop(joined: Joined, name: str) -> bool:
    """Whether the block is a loop of its own, of which the assembler may begin several iterations together."""
    own = joined.blocks[name]
    alone = name in joined.successors[name] and len(joined.successors[name]) == 2 and len(own) <= SHORT
    return alone and any(map(is_load, own)) and not any(o.alone or o.access == "f" for o in own)


def sums_of_wgmma(flow: Flow, declared: Collection[Registers]) -> int:
    """The most registers that one `wgmma` accumulates into."""
    found = [i for i in flow.instructions() if facts_of(i.opcode).multiplies_later]
    size = widths(declared) if found else {}
    return max((sum(size.get(register, 0) for register in written(i)) for i in found), default=0)


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
