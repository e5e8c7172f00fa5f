"""What a sampled run (emulator/sampled/sampled_run.py) says of a kernel: how often its blocks are run, and for how long
a warp occupies the caches and the memory.

Requires: the flow of the kernel as it is written, with the lines that were run. Ensures: means of the warps of CTAs
that do not end at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property

from goptx.analysis.cfg import Flow, loops
from goptx.cost.branches import Fork, most_taken
from goptx.cost.hardware import EACH, IN_L2, LEAST, QUARTERS, Machine
from goptx.emulator.sampled.sample_counts import L1, LOADS, SECTOR, SampledRun, Touched
from goptx.latency.table import LatencyTable

FEW = 1 / 8  # of the CTAs, the least share that does not end at once
HIT = "ld.local"  # a load that hits the L1: the latency of any other is the same there
NEAR = "ld.global L2"  # a load from there, in tables that have it; in others it takes half as long as one from DRAM
LINGERS = 2  # instructions per block, and at the end, that a CTA that ends at once may take besides those of its code


@dataclass(frozen=True, eq=False)
class SampledKernel:
    """often: how often a warp runs each block. sides: the share of the warps at a branch that run each of its sides.
    live: the share of the CTAs that do not end at once. occupied: the cycles for which a warp of these occupies the
    memory and the L1; none where that is unknown."""

    flow: Flow
    often: Mapping[str, float]
    sides: Mapping[Fork, Sequence[float]]
    live: float
    occupied: Mapping[str, float]

    @cached_property
    def passes(self) -> Mapping[str, float]:
        """How often a warp that goes everywhere executes each block."""
        found = dict(self.often)
        for side, (share, before) in most_taken(self.sides).items():
            for name in side:
                found[name] = found[name] / share if share else max(found[name], self.often[before])
        return found

    @cached_property
    def trips(self) -> Mapping[str, float]:
        """How often each loop runs whenever it is entered, by the name of its head."""
        before = {head: self.flow.dominators()[head] for head in loops(self.flow)}
        entered = {head: self.passes[name] if name else 1.0 for head, name in before.items()}
        return {head: self.passes[head] / times if times else 0.0 for head, times in entered.items()}


def sampled_kernel(
    flow: Flow, forks: Sequence[Fork], early: Set[str] | None, run: SampledRun, ctas: int, machine: Machine
) -> SampledKernel | None:
    """Of a kernel that is launched with so many CTAs. None if nearly all CTAs that were run end at once: a few of them
    tell little."""
    ended = LINGERS + sum(len(flow.blocks[name].instructions()) + LINGERS for name in early or ())
    live = sum(steps > ended for steps in run.steps) if early else len(run.steps)
    if live < FEW * len(run.steps):
        return None
    often = _often(flow, run, live * run.warps)
    often |= {name: often[name] * live / len(run.steps) for name in early or ()}
    sides = {fork: tuple(_shares(flow, fork, often)) for fork in forks}
    occupied = {}
    if run.whole:
        memory = _memory_time(run, ctas, machine) * SECTOR * machine.sms * QUARTERS / machine.memory
        of_cta = {"memory": memory, "shared": run.passes * machine.cycles("shared")}
        occupied = {unit: cycles * len(run.steps) / (live * run.warps) for unit, cycles in of_cta.items()}
    return SampledKernel(flow, often, sides, live / len(run.steps), occupied)


def _often(flow: Flow, run: SampledRun, warps: int) -> dict[str, float]:
    """How often each of so many warps runs the blocks. A block without instructions is run as often as the one above
    it."""
    copies = Counter(i.line for i in flow.instructions())  # of functions that are called at several places
    dominators = flow.dominators()
    found = dict.fromkeys(flow.blocks, 0.0)
    for name in flow.reverse_postorder():
        each = [run.issued.get(i.line, 0.0) / (copies[i.line] * warps) for i in flow.blocks[name].instructions()]
        above = dominators[name]
        found[name] = max(each) if each else found[above] if above and above != name else 1.0
    return found


def _shares(flow: Flow, fork: Fork, often: Mapping[str, float]) -> Iterator[float]:
    for successor in flow.blocks[fork.block].end.successors():
        yield min(often[successor] / often[fork.block], 1.0) if often[fork.block] else 1.0 / len(fork.sides)


def _memory_time(run: SampledRun, ctas: int, machine: Machine) -> float:
    """How many sectors the memory would stream in the time that it takes for a CTA. Of what neighbours have in common
    nothing is asked of the L2 if it is little: it is in the L1."""
    time, near = 0.0, [*run.requested]
    for each in run.touched:
        far = _far(each, ctas, machine.l2 / SECTOR)
        near[each.kind] -= far
        time += far * _streamed(each) / each.own
    common = sum(min(each.common, each.own) for each in run.touched if each.kind == LOADS)
    near[LOADS] -= common if common * SECTOR <= L1 / 2 else 0.0
    return time + sum(max(n, 0.0) * own for n, own in zip(near, IN_L2, strict=True))


def _streamed(touched: Touched) -> float:
    """How many sectors the memory would stream in the time of those of an array: lines far from all others are slow."""
    each, least = EACH[touched.kind], LEAST[touched.kind]
    return touched.own * each + max(touched.alone * least - touched.with_them * each, 0.0)


def waits_of_loads(run: SampledRun, ctas: int, machine: Machine, table: LatencyTable) -> dict[int, int]:
    """The mean cycles for which a warp waits for the loads of each line: it finds elements in the L1, in the L2, or
    in DRAM."""
    hit, memory = table.cycles(HIT), table.cycles("ld.global")
    measured = table.named.get(NEAR)
    near = measured.cycles if measured else memory / 2
    beyond = [_far(each, ctas, machine.l2 / SECTOR) for each in run.touched]
    found = {}
    for line, missed in run.missed.items():
        cycles = float(hit)
        for number, share in missed.items():
            far = min(beyond[number] / run.touched[number].asked, 1.0)
            cycles += share * (near - hit + far * (memory - near))
        found[line] = round(cycles)
    return found


def _far(touched: Touched, ctas: int, held: float) -> float:
    """Sectors that a CTA loads from DRAM, or stores there: of an array that the L2 holds, its share of the array at
    most; else those that its neighbours do not need, and its share at least where CTAs have more than that."""
    share = touched.all / ctas
    if touched.all <= held:
        return min(touched.own, share)
    return max(touched.own - touched.common, share if share < touched.own else 0.0)
