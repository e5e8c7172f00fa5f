"""Kernels in an order that needs few registers, where interleaved they would spill or leave an SM half empty.

Interleaved, a thread has the values of all kernels at once. Where the kernels stand block after block within merged
blocks, it has the temporary values of one kernel only; where they stand one after the other, it also has the values
that a loop carries, such as sums, of one kernel only. The numbers of registers are estimates.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from operator import add

from goptx.analysis.cfg import Flow
from goptx.analysis.registers.register_demand import MOST, Demand, demand
from goptx.device.occupancy import occupancy
from goptx.ptx.ir import Registers, whole_number
from goptx.weaving.link.launch_bounds import launch_bounds
from goptx.weaving.merging.merge_input import MergeInput
from goptx.weaving.merging.merged_blocks import Merged, merged_blocks
from goptx.weaving.model import Choices, Converged, Linked
from goptx.weaving.schedule.pressure import threads
from goptx.weaving.schedule.schedule import schedule

HALF = 2  # times as many CTAs must fit on an SM for the kernels alone before interleaving is given up
SURE = 0.9  # of the estimated registers, which are rarely fewer by more
UNIT = 8  # registers of a thread, the unit in which they are allocated


@dataclass(frozen=True, slots=True)
class Draft:
    """Merged kernels and the order of their code. `note`: why it is not the first choice. `needed`: the registers that
    it needs, where they were counted."""

    whole: MergeInput
    merged: Merged
    flow: Flow
    choices: Choices
    note: str = ""
    needed: Demand | None = None


@dataclass(frozen=True)
class Room:
    """What limits the registers of a thread: the bounds of the fused kernel, and the CTAs that fit on an SM with the
    kernels alone. `registers`: all that the fused kernel declares."""

    linked: Linked
    threads: int
    most: int
    registers: Sequence[Registers]

    @staticmethod
    def of(linked: Linked, converged: Sequence[Converged]) -> Room:
        bounds, _ = launch_bounds(linked.given, linked.plan)
        count, arch = threads(bounds), linked.target[0]
        least = max((whole_number(d.values[0]) for d in bounds if d.name == ".minnctapersm"), default=1)
        possible = range(UNIT, MOST + 1)  # with more registers never more CTAs fit
        fitting = bisect_right(possible, -least, key=lambda registers: -_ctas(arch, registers, count))
        most = possible[fitting - 1] if fitting else MOST
        registers = (*(r for k in linked.kernels for r in k.registers), *(r for c in converged for r in c.registers))
        return Room(linked, count, most, registers)

    @property
    def arch(self) -> str:
        return self.linked.target[0]

    @cached_property
    def ctas(self) -> int:
        """The CTAs that fit on an SM with each kernel alone."""
        return min(_ctas(self.arch, min(own.registers, self.most), self.threads) for own in _alone(self.linked))

    def needed(self, flow: Flow) -> Demand:
        return demand(flow, self.registers, self.arch)

    def problem(self, needed: Demand) -> str:
        """What is wrong with so many registers; "" if nothing."""
        if spilled := needed.spilled(self.most):
            return f"a thread would need about {needed.live} registers of {self.most}, so that about {spilled} spill"
        fit = _ctas(self.arch, min(int(SURE * needed.registers), self.most), self.threads)
        if fit * HALF <= _ctas(self.arch, UNIT, self.threads) and fit * HALF <= self.ctas:  # at most so many
            return (
                f"a thread would need about {needed.registers} registers, with which {fit} CTAs of {self.threads} "
                f"threads fit on an SM, and {self.ctas} with each kernel alone"
            )
        return ""


def _ctas(arch: str, registers: int, count: int) -> int:
    return occupancy(arch, registers, 0, count).ctas_per_sm


def _alone(linked: Linked) -> Iterator[Demand]:
    """The demand of each kernel with all its copies."""
    for given in linked.given:
        own = [k for k in linked.kernels if k.letter == given.letter]
        yield reduce(add, (demand(k.flow, k.registers, linked.target[0]) for k in own))


def drafted(linked: Linked, converged: Sequence[Converged], whole: MergeInput, choices: Choices) -> Draft:
    """The merged kernels with their code in order."""
    merged = merged_blocks(whole, join=choices.policy == "latency")  # published policies order each pair by itself
    return Draft(whole, merged, schedule(linked, converged, merged, choices), choices)


def with_few_registers(
    linked: Linked, converged: Sequence[Converged], first: Draft, in_sequence: Callable[[], MergeInput] | None
) -> Draft:
    """The first draft, if a thread has room for its registers; else the kernels block after block, if that helps; else
    `in_sequence`. Of several that have no room the one that needs the fewest."""
    if len(linked.given) < 2:
        return first
    room = Room.of(linked, converged)
    least = room.needed(first.flow)
    best = replace(first, needed=least)
    problem = room.problem(least)
    if not problem:
        return best
    for how, whole in (("block after block", lambda: first.whole), ("one after the other", in_sequence)):
        if whole is None:
            continue
        tried = drafted(linked, converged, whole(), replace(first.choices, policy="concat"))
        needed = room.needed(tried.flow)
        if needed.live + UNIT <= least.live:
            note = f"the kernels stand {how}: interleaved, {problem}"
            best, least = replace(tried, note=note, needed=needed), needed
        if not room.problem(least):
            break
    return best
