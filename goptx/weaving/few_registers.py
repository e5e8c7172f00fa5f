"""Kernels one after the other, where interleaving them costs room on an SM or has nothing to gain.

Interleaved, a thread has the values of all kernels at once; one after the other, those of one kernel only. Fewer
registers let more CTAs onto an SM, and these hide more latency than interleaving does (measured on an H200). If one
kernel has many more CTAs than the others, most CTAs have nothing to interleave, but all have the registers, and the few
that run several kernels last longest. The numbers of registers are estimates.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from math import prod
from operator import add

from goptx.analysis.cfg import Flow
from goptx.analysis.registers.register_demand import Demand, demand
from goptx.analysis.registers.register_limit import MOST, UNIT
from goptx.device.occupancy import occupancy
from goptx.errors import CannotWeave
from goptx.launch.launch_plan import Plan
from goptx.ptx.ir import Registers, whole_number
from goptx.weaving.link.launch_bounds import launch_bounds
from goptx.weaving.merging.merge_input import MergeInput
from goptx.weaving.merging.merged_blocks import Merged, merged_blocks
from goptx.weaving.model import Choices, Converged, Linked
from goptx.weaving.schedule.pressure import threads
from goptx.weaving.schedule.schedule import schedule

SURE = 0.9  # of the estimated registers, which are rarely fewer by more
RARE = 8  # of so many CTAs at most one runs several kernels: so few have nothing to gain from interleaving


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
        fitting = bisect_right(possible, -least, key=lambda r: -occupancy(arch, r, 0, count).ctas_per_sm)
        most = possible[fitting - 1] if fitting else MOST
        registers = (*(r for k in linked.kernels for r in k.registers), *(r for c in converged for r in c.registers))
        return Room(linked, count, most, registers)

    @property
    def arch(self) -> str:
        return self.linked.target[0]

    @cached_property
    def ctas(self) -> int:
        """The CTAs that fit on an SM with the registers of each kernel alone, and the shared memory of all."""
        return min(map(self.fitting, self.alone))

    @cached_property
    def alone(self) -> Sequence[Demand]:
        """The demand of each kernel with all its copies."""
        return [*_alone(self.linked)]

    def fitting(self, needed: Demand) -> int:
        """The CTAs that surely fit on an SM."""
        registers, plan = min(int(SURE * needed.firm), self.most), self.linked.plan
        shared = plan.shape.shared or 0 if plan else 0
        return occupancy(self.arch, registers, shared, self.threads).ctas_per_sm

    def needed(self, flow: Flow) -> Demand:
        return demand(flow, self.registers, self.arch)

    def merit(self, needed: Demand) -> tuple[int, int]:
        """Few spilled registers come first, then many CTAs on an SM."""
        return -needed.spilled(self.most), self.fitting(needed)

    def problem(self, needed: Demand) -> str:
        """What is wrong with so many registers; "" if nothing."""
        if spilled := needed.spilled(self.most):
            return f"a thread would need about {needed.live} registers of {self.most}, so that about {spilled} spill"
        if (fit := self.fitting(needed)) < self.fitting(Demand()) and fit < self.ctas:
            return (
                f"a thread would need about {needed.firm} registers, with which {fit} CTAs of {self.threads} "
                f"threads fit on an SM, and {self.ctas} with each kernel alone"
            )
        return ""


def _alone(linked: Linked) -> Iterator[Demand]:
    for given in linked.given:
        own = [k for k in linked.kernels if k.letter == given.letter]
        yield reduce(add, (demand(k.flow, k.registers, linked.target[0]) for k in own))


def drafted(linked: Linked, converged: Sequence[Converged], whole: MergeInput, choices: Choices) -> Draft:
    """The merged kernels with their code in order."""
    merged = merged_blocks(whole, join=choices.policy == "latency")  # published policies order each pair by itself
    return Draft(whole, merged, schedule(linked, converged, merged, choices), choices)


def with_few_registers(
    room: Room, converged: Sequence[Converged], first: Draft, in_sequence: Callable[[], MergeInput] | None
) -> Draft:
    """The first draft, if as many CTAs fit on an SM as with each kernel alone and many of them run several kernels;
    else the kernels `in_sequence` (block after block, where they cannot be), if that helps."""
    linked = room.linked
    if len(linked.given) < 2:
        return first
    own = room.needed(first.flow)
    problem, rare = room.problem(own), rarely_together(linked.plan) if in_sequence else ""
    if problem or rare:
        try:
            how, whole = ("one after the other", in_sequence()) if in_sequence else ("block after block", first.whole)
        except CannotWeave:  # in sequence they have more blocks or instructions than the caller allows
            return replace(first, needed=own)
        tried = drafted(linked, converged, whole, replace(first.choices, policy="concat"))
        needed = room.needed(tried.flow)
        better = room.merit(needed) > room.merit(own)
        if better or (rare and room.merit(needed) == room.merit(own)):
            note = f"the kernels stand {how}: " + (f"interleaved, {problem}" if better else rare)
            return replace(tried, note=note, needed=needed)
    return replace(first, needed=own)


def rarely_together(plan: Plan | None) -> str:
    """Why interleaving has nothing to gain, if few CTAs run several kernels; "" otherwise."""
    if plan is None or plan.same_shape:
        return ""
    known = [prod(c for c in axes if c) for axes in plan.carried("grid", plan.shapes) if None not in axes]
    *_, second, most = sorted(known) if len(known) == len(plan.shapes) else (1, 1)
    if second * RARE > most:
        return ""
    return f"of {most} CTAs, {second} run several kernels"
