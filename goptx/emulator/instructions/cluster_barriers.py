"""`barrier.cluster`, whose arrivals and waits are two instructions. A cluster is one CTA here.

A phase is over when all threads of the cluster that have not ended have arrived. A thread arrives, then waits, in turn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from goptx.emulator.faults import Trouble
from goptx.emulator.instructions.lanewise import Array
from goptx.emulator.lane_groups import Groups
from goptx.emulator.lanes import WARP
from goptx.emulator.program import Barrier
from goptx.ptx.opcodes import facts_of

if TYPE_CHECKING:
    from goptx.emulator.lane_positions import Place
    from goptx.emulator.machine import Machine

ARRIVE, WAIT = "cluster arrive", "cluster wait"  # kinds of `Barrier`


class ClusterBarriers:
    """The barriers of all clusters of a machine. `phases` counts those that are over, by CTA; `arrivals` and `waits`
    what each lane did."""

    def __init__(self, machine: Machine, ctas: int) -> None:
        self.machine = machine
        self.phases = np.zeros(ctas, np.int64)
        self.arrivals = np.zeros(machine.lanes, np.int64)
        self.waits = np.zeros(machine.lanes, np.int64)
        self.waiting: list[tuple[Place, Groups]] = []

    def come(self, place: Place, barrier: Barrier, groups: Groups) -> None:
        """The groups arrive, and go on; or they wait. Raises `Trouble` where a thread does not do both in turn."""
        lanes = groups.lanes()
        due = self.arrivals[lanes] == self.waits[lanes]
        ctas = np.unique(self.machine.cta_of(groups.warps))
        if barrier.kind == WAIT:
            if due.any():
                raise Trouble("barrier count", "it waits for its cluster without having arrived", lanes[due])
            self.waiting.append((place, groups))
            self._let_go(ctas)
            return
        if not due.all():
            raise Trouble("barrier count", "it arrives for the second time without having waited", lanes[~due])
        self.arrivals[lanes] += 1
        releases = "relaxed" not in facts_of(barrier.operation.instruction.opcode).modifiers
        for cta in ctas if self.machine.races and releases else ():
            assert self.machine.races is not None
            own = lanes[self.machine.cta_of(lanes // WARP) == cta]
            self.machine.races.arrive(self._slot(int(cta), int(self.phases[cta])), own)
        self.machine.released(place, groups)
        self.complete(ctas)

    def complete(self, ctas: Array) -> None:
        """Ends the phases of these CTAs for which all living threads have arrived."""
        for cta in ctas:
            first = int(cta) * self.machine.warps_per_cta
            warps = np.arange(first, first + self.machine.warps_per_cta)
            living = Groups(warps, self.machine.alive[warps], np.zeros(len(warps), np.int64)).lanes()
            if len(living) and (self.arrivals[living] > self.phases[cta]).all():
                self.phases[cta] += 1
        self._let_go(ctas)

    def _let_go(self, ctas: Array) -> None:
        """Groups whose phase is over go on."""
        waiting, self.waiting = self.waiting, []
        for place, groups in waiting:
            over = self._over(groups) & np.isin(self.machine.cta_of(groups.warps), ctas)
            if not over.all():
                self.waiting.append((place, groups.chosen(~over)))
            if not over.any():
                continue
            free = groups.chosen(over)
            lanes = free.lanes()
            self.waits[lanes] += 1
            if self.machine.races:
                for lane in lanes:
                    slot = self._slot(int(self.machine.cta_of(lane // WARP)), int(self.arrivals[lane]) - 1)
                    if slot in self.machine.races.arrived:  # unless all arrivals were relaxed
                        self.machine.races.leave(slot, np.array([lane]))
            self.machine.released(place, free)

    def _over(self, groups: Groups) -> Array:
        """The groups whose lanes wait for a phase that is over; all lanes of a group wait for the same."""
        firsts = groups.warps * WARP + np.log2(groups.masks & -groups.masks.astype(np.int64)).astype(np.int64)
        return np.asarray(self.arrivals[firsts] <= self.phases[self.machine.cta_of(groups.warps)])

    def _slot(self, cta: int, phase: int) -> int:
        """The number under which the race detector knows a phase; those of CTA barriers are not negative."""
        return -1 - cta - phase * len(self.phases)

    def places(self) -> Iterator[tuple[Place, Groups, Callable[[int], str]]]:
        """Each place where groups wait, with a function from a CTA to the text that describes the wait."""
        for place, groups in self.waiting:
            yield place, groups, lambda cta: "(waiting for the threads of its cluster)"
