"""Finds that lanes go around in loops for ever.

Requires: no clock is read; between two looks, every lane that could go on did. They go around for ever once they are
all where they were before, with the same in registers and memory (cycle finding after Brent, 1980), and nothing
in shared or global memory was changed meanwhile: then whatever the order in which they run, none sees anything new.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from goptx.emulator.instructions.lanewise import Array
from goptx.emulator.lane_groups import Groups, joined, united
from goptx.emulator.lane_positions import Place
from goptx.emulator.lanes import Frame
from goptx.emulator.memory.address_spaces import Space

ENDLESS = 1 << 13  # steps in waiting loops for each place, after which registers that change are no reason to go on
ROUNDS = 64  # in which memory changes and is at last as it was, after which that is no reason to go on
COMMON = ("shared", "global")  # spaces by which threads hear of each other

Ready = Mapping[tuple[int, Place], Sequence[Groups]]


class Standstill:
    """What all was like is kept after as many looks as a power of two. `rounds` counts how often all was as before
    but for memory that changed meanwhile: the order should then be another one."""

    def __init__(self, spaces: Mapping[str, Space]) -> None:
        self.spaces = spaces
        self.registers: dict[Frame, list[Array]] = {}
        self.memory: dict[str, Array] = {}
        self.begin()

    def begin(self) -> None:
        """Something has happened that no look has seen."""
        self.looks = self.rounds = 0
        self.watches = False
        self.groups: dict[tuple[int, Place], Groups] = {}

    def reached(self, ready: Ready, waited: int) -> bool:
        """Whether the lanes at `ready`, all that can go on, will do so for ever. `waited` is for how many steps all of
        them have been in loops that are known to wait for other threads."""
        self.looks += 1
        if self.groups and self._where_they_were(ready) and self._same_registers() and self._same_memory(*self.spaces):
            changed = any(self.spaces[name].changed for name in COMMON)
            if self.watches and (not changed or self.rounds == ROUNDS):
                return True
            self.rounds += self.watches
            self.looks, self.watches = 1, True
        if self.looks & (self.looks - 1):
            return False
        places = len({place for _, place in ready})
        vain = bool(self.groups) and waited > ENDLESS * places and self._same_memory(*COMMON)
        self.groups = {key: united(joined(parts)) for key, parts in ready.items()}
        frames = {key[1].context.frame for key in ready}
        self.registers = {frame: [values.copy() for values in frame.values] for frame in frames}
        self.memory = {name: space.bytes.copy() for name, space in self.spaces.items()}
        for name in COMMON:
            self.spaces[name].watched, self.spaces[name].changed = self.watches, False
        return vain

    def _where_they_were(self, ready: Ready) -> bool:
        if ready.keys() != self.groups.keys():
            return False
        pairs = [(united(joined(parts)), self.groups[key]) for key, parts in ready.items()]
        return all(
            np.array_equal(getattr(now, field), getattr(then, field))
            for now, then in pairs
            for field in ("warps", "masks", "tokens")
        )

    def _same_registers(self) -> bool:
        return all(
            np.array_equal(now, then)
            for frame, values in self.registers.items()
            for now, then in zip(frame.values, values, strict=True)
        )

    def _same_memory(self, *names: str) -> bool:
        return all(np.array_equal(self.spaces[name].bytes, self.memory[name]) for name in names)
