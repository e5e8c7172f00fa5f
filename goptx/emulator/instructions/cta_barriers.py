"""CTA barriers: which threads have arrived or wait, and when a barrier completes.

A warp arrives when all of its lanes that have not ended are at the barrier, at one instruction or at several. It then
counts as 32 threads, however many it has (PTX ISA, `barrier.cta`; an H200 does so). A barrier without a count waits
for all warps that have not ended.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from goptx.emulator.faults import Trouble
from goptx.emulator.instructions.cluster_barriers import ARRIVE, WAIT, ClusterBarriers
from goptx.emulator.instructions.lanewise import Array
from goptx.emulator.lane_groups import FULL, NONE, Groups, popcount
from goptx.emulator.lanes import WARP, Lanes
from goptx.emulator.program import Barrier
from goptx.ptx.opcodes import facts_of

if TYPE_CHECKING:
    from goptx.emulator.lane_positions import Place
    from goptx.emulator.machine import Machine

IDS = 16
UNSET = -1  # the count of a barrier without arrivals
ALL = 0  # the count of a barrier that waits for all threads


@dataclass(slots=True)
class Waiters:
    """Groups that wait at one place, and the slot of their barrier: 16 times the CTA's number plus the id."""

    place: Place
    groups: Groups
    slots: Array


class Barriers:
    """The barriers of all CTAs of a machine. `completed` counts by kernel how often one completed."""

    def __init__(self, machine: Machine, ctas: int) -> None:
        self.machine = machine
        self.completed: Counter[str] = machine.launch.counts.barriers
        self.arrived = np.zeros(ctas * IDS, np.int64)
        self.expected = np.full(ctas * IDS, UNSET)
        self.lanes = np.zeros(ctas * IDS, np.int64)  # lanes of the warps that arrived
        self.true = np.zeros(ctas * IDS, np.int64)  # lanes whose predicate was true, in a reduction
        self.reduces = np.zeros(ctas * IDS, np.bool_)
        self.waiting: list[Waiters] = []
        self.clusters = ClusterBarriers(machine, ctas)
        # for each warp that has not arrived: the lanes at a barrier, those whose predicate is true, and which barrier
        self.come = np.zeros(machine.warps, np.uint32)
        self.holding = np.zeros(machine.warps, np.uint32)
        self.at = np.zeros(machine.warps, np.int64)  # twice the slot, plus 1 where they do not wait

    def arrive(self, place: Place, barrier: Barrier, groups: Groups, lanes: Lanes) -> None:
        """The groups arrive at their barriers. Raises `Trouble` for invalid ids or counts."""
        if barrier.kind in (ARRIVE, WAIT):
            self.clusters.come(place, barrier, groups)
            return
        ids, counts = self._operands(barrier, groups, lanes)
        slots = self.machine.cta_of(groups.warps) * IDS + ids
        self._check(slots, counts, barrier, groups)
        self._check_warps(slots * 2 + (barrier.kind == "arrive"), groups)
        self.expected[slots] = counts
        self.reduces[slots] = barrier.kind == "red"
        if (self.expected[slots] != counts).any():
            raise Trouble("barrier count", f"some wait for {counts.min()} threads and others for {counts.max()}")
        np.bitwise_or.at(self.come, groups.warps, groups.masks)
        if barrier.condition is not None:
            lanes.require(barrier.condition.registers, "reduced at a barrier")
            holds = barrier.condition.each(lanes)
            np.bitwise_or.at(self.holding, groups.warps, groups.packed(holds))
        for slot in np.unique(slots) if self.machine.races else ():
            assert self.machine.races is not None
            self.machine.races.arrive(int(slot), groups.chosen(slots == slot).lanes())
        self.waiting.append(Waiters(place, groups, slots))
        touched = self._count(np.unique(groups.warps))
        over = touched[(self.expected[touched] != ALL) & (self.arrived[touched] > self.expected[touched])]
        if len(over) and self.machine.strict:
            first = over[0]
            raise Trouble(
                "barrier count",
                f"{self.arrived[first]} threads arrive at barrier {first % IDS}, which counts {self.expected[first]}",
                groups.chosen(slots == first).lanes(),
            )
        self._complete(touched)

    def end(self, groups: Groups) -> None:
        """These threads have ended; others may have waited only for them."""
        ctas = np.unique(self.machine.cta_of(groups.warps))
        if self.clusters.waiting:
            self.clusters.complete(ctas)
        if not self.come.any() and (self.expected == UNSET).all():
            return
        self._count(np.unique(groups.warps))
        slots = (ctas[:, None] * IDS + np.arange(IDS)).ravel()
        self._complete(slots[self.expected[slots] != UNSET])

    def _count(self, warps: Array) -> Array:
        """Counts the warps that are complete now, and returns their slots. Threads that only arrive go on."""
        alive = self.machine.alive[warps]
        warps = warps[(self.come[warps] != 0) & (self.come[warps] == alive)]
        slots = self.at[warps] >> 1
        np.add.at(self.arrived, slots, WARP)
        np.add.at(self.lanes, slots, popcount(self.come[warps]))
        np.add.at(self.true, slots, popcount(self.holding[warps]))
        self.come[warps] = self.holding[warps] = 0
        if (self.at[warps] & 1).any():
            for record in self._taken(lambda w: np.isin(w.groups.warps, warps) & (self.at[w.groups.warps] & 1 == 1)):
                self.machine.released(record.place, record.groups)
        return np.unique(slots)

    def _taken(self, chosen: Callable[[Waiters], Array]) -> list[Waiters]:
        """Removes the chosen groups from those that wait, and returns them."""
        waiting, self.waiting = self.waiting, []
        taken: list[Waiters] = []
        for record in waiting:
            free = chosen(record)
            for where, part in ((taken, free), (self.waiting, ~free)):
                if part.any():
                    where.append(Waiters(record.place, record.groups.chosen(part), record.slots[part]))
        return taken

    def waits(self) -> Iterator[tuple[Place, Groups, Callable[[int], str]]]:
        """Each place where groups wait, with a function from a CTA to the text that describes the wait."""
        for waiting in self.waiting:
            yield waiting.place, waiting.groups, partial(self._description, waiting)
        yield from self.clusters.places()

    def _description(self, waiting: Waiters, cta: int) -> str:
        machine = self.machine
        mine = machine.cta_of(waiting.groups.warps) == cta
        slot = int(waiting.slots[mine][0])
        counted = int(self.expected[slot])
        here = np.zeros_like(machine.alive)
        for record in self.waiting:
            same = record.slots == slot
            np.bitwise_or.at(here, record.groups.warps[same], record.groups.masks[same])
        # the missing threads: those of the warp, or else those of the CTA
        asked = np.where(self.come != 0, machine.alive, 0) & np.where(here != 0, FULL, 0)
        if not (asked & ~here).any() and counted == ALL:
            asked = np.where(machine.cta_of(np.arange(machine.warps)) == cta, machine.alive, 0)
        missing = np.flatnonzero(asked & ~here)
        needed = counted or self._living(np.array([slot]))[0]
        text = f"barrier {slot % IDS} has {self.arrived[slot]} of {needed} threads"
        if len(missing):
            groups = Groups(missing, (asked & ~here)[missing].astype(np.uint32), np.full(len(missing), NONE))
            text += f", waits for {machine.launch.threads_text(machine, groups.lanes())}"
        return f"({text})"

    def _operands(self, barrier: Barrier, groups: Groups, lanes: Lanes) -> tuple[Array, Array]:
        """Id and count for each group: all of its lanes must name the same."""
        found = []
        for source in (barrier.id, barrier.count):
            if source is None:
                found.append(np.full(len(groups), ALL))
                continue
            lanes.require(source.registers, "an operand of a barrier")
            values = source.read(lanes).astype(np.int64)
            if not values.ndim:  # an immediate
                found.append(np.full(len(groups), values))
                continue
            ends = np.cumsum(popcount(groups.masks))
            firsts = values[np.concatenate(([0], ends[:-1]))]
            if (np.repeat(firsts, np.diff(ends, prepend=0)) != values).any():
                raise Trouble("barrier count", "lanes that execute it together name different barriers or counts")
            found.append(firsts)
        return found[0], found[1]

    def _check(self, slots: Array, counts: Array, barrier: Barrier, groups: Groups) -> None:
        ids = slots - self.machine.cta_of(groups.warps) * IDS
        threads = self.machine.launch.threads
        if (ids >= IDS).any() or (ids < 0).any():
            raise Trouble("barrier count", f"there is no barrier {ids.max()}; ids go from 0 to {IDS - 1}")
        if barrier.kind == "arrive" and barrier.count is None:
            raise Trouble("barrier count", "an arrival needs a count of threads")
        if barrier.count is None:
            pass
        elif (counts % WARP != 0).any() or (counts <= 0).any():
            raise Trouble("barrier count", f"the count {counts.max()} is not a multiple of {WARP} above 0")
        elif (counts > -(-threads // WARP) * WARP).any():
            raise Trouble("barrier count", f"the count {counts.max()} is more than the CTA's {threads} threads")
        busy = self.expected[slots] != UNSET
        other = busy & (self.expected[slots] != counts)
        if other.any():
            slot = int(slots[other][0])
            one, two = (f"{c} threads" if c != ALL else "all threads" for c in (self.expected[slot], counts[other][0]))
            raise Trouble(
                "barrier count",
                f"barrier {slot % IDS} is waited at for {one} by some and for {two} by others",
                groups.chosen(other).lanes(),
            )
        if (busy & (self.reduces[slots] != (barrier.kind == "red"))).any():
            raise Trouble("barrier count", "some threads reduce at the barrier and others do not")

    def _check_warps(self, at: Array, groups: Groups) -> None:
        """Checks that the lanes of a warp are at one barrier, and that all or none of them wait there."""
        before = self.at[groups.warps]
        self.at[groups.warps] = at
        elsewhere = (self.at[groups.warps] != at) | ((self.come[groups.warps] != 0) & (before != at))
        if elsewhere.any():
            lanes = groups.chosen(elsewhere).lanes()
            raise Trouble("convergence", "other lanes of the warp are at another barrier, or differ in waiting", lanes)

    def _living(self, slots: Array) -> Array:
        """The number of threads of the CTA that have not ended, in whole warps."""
        per_cta = (self.machine.alive != 0).reshape(-1, self.machine.warps_per_cta).sum(axis=1) * WARP
        return np.asarray(per_cta[slots // IDS])

    def _complete(self, slots: Array) -> None:
        """Releases the threads of barriers at which all have arrived."""
        if not len(slots):
            return
        needed = np.where(self.expected[slots] == ALL, self._living(slots), self.expected[slots])
        done = slots[(self.expected[slots] != UNSET) & (self.arrived[slots] >= needed) & (self.arrived[slots] > 0)]
        if not len(done):
            return
        lanes, true = self.lanes.copy(), self.true.copy()
        let_go = self._taken(lambda w: np.isin(w.slots, done) & (self.come[w.groups.warps] == 0))
        self.arrived[done] = self.lanes[done] = self.true[done] = 0
        left = np.concatenate([np.zeros(0, np.int64), *(w.slots for w in self.waiting)])
        finished = np.setdiff1d(done, left)  # except where part of a warp waits for the rest
        self.expected[finished] = UNSET
        seen: set[int] = set()
        for record in let_go:
            barrier = record.place.segment.ending
            assert isinstance(barrier, Barrier)
            first_seen = set(record.slots.tolist()) - seen
            seen |= first_seen
            self.completed[barrier.operation.origin.kernel] += len(first_seen)
            if barrier.kind == "red":
                self._reduce(record.place, barrier, record.groups, true[record.slots], lanes[record.slots])
            for slot in np.unique(record.slots) if self.machine.races else ():
                assert self.machine.races is not None
                self.machine.races.leave(int(slot), record.groups.chosen(record.slots == slot).lanes())
            self.machine.released(record.place, record.groups)
        for slot in finished if self.machine.races else ():
            assert self.machine.races is not None
            self.machine.races.arrived.pop(int(slot))

    def _reduce(self, place: Place, barrier: Barrier, groups: Groups, true: Array, lanes: Array) -> None:
        """Writes the result of a reduction over `lanes` threads, of which `true` have a true predicate."""
        words = facts_of(barrier.operation.instruction.opcode).modifiers
        result = true.astype(np.uint32) if "popc" in words else (true == lanes if "and" in words else true > 0)
        assert barrier.write is not None
        barrier.write(self.machine.lanes_in(place.context, groups), np.repeat(result, popcount(groups.masks)), None)
