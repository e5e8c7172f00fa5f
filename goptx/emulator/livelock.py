"""Detects livelock: lanes that go around in loops for ever.

Requires: no clock is read; between two checks, every lane that could go on did. The lanes are in a livelock once all
are where they were before, with the same registers and memory (cycle finding after Brent, 1980), and nothing in shared
or global memory was changed meanwhile: then no lane sees anything new, in whatever order they run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from goptx.emulator.instructions.lanewise import Array
from goptx.emulator.lane_groups import Groups, joined, united
from goptx.emulator.lane_positions import Place
from goptx.emulator.lanes import Frame
from goptx.emulator.memory.address_spaces import Space

ENDLESS = 1 << 13  # steps in waiting loops for each place, after which changing registers do not count as progress
ROUNDS = 64  # rounds that change memory and restore it, after which that does not count as progress
COMMON = ("shared", "global")  # spaces through which threads communicate

Ready = Mapping[tuple[int, Place], Sequence[Groups]]


class Livelock:
    """Saves the state after as many checks as a power of two. `rounds` counts how often the state was as before
    although
    memory had changed meanwhile: then the lanes should run in another order."""

    def __init__(self, spaces: Mapping[str, Space]) -> None:
        self.spaces = spaces
        self.registers: dict[Frame, list[bytes]] = {}
        self.memory: dict[str, Array] = {}
        self.begin()

    def begin(self) -> None:
        """Starts anew, after a change that no check has seen."""
        self.checks = self.rounds = 0
        self.watches = False
        self.groups: dict[tuple[int, Place], Groups] = {}

    def reached(self, ready: Ready, waited: int) -> bool:
        """Whether the lanes at `ready`, all that can go on, are in a livelock. `waited` is the number of steps for
        which all of them have been in loops that are known to wait for other threads."""
        self.checks += 1
        if self.groups and self._same_places(ready) and self._same_registers() and self._same_memory(*self.spaces):
            changed = any(self.spaces[name].changed for name in COMMON)
            if self.watches and (not changed or self.rounds == ROUNDS):
                return True
            self.rounds += self.watches
            self.checks, self.watches = 1, True
        if self.checks & (self.checks - 1):
            return False
        places = len({place for _, place in ready})
        vain = bool(self.groups) and waited > ENDLESS * places and self._same_memory(*COMMON)
        self.groups = {key: united(joined(parts)) for key, parts in ready.items()}
        frames = {key[1].context.frame for key in ready}
        self.registers = {frame: [values.tobytes() for values in frame.values] for frame in frames}
        self.memory = {name: space.bytes.copy() for name, space in self.spaces.items()}
        for name in COMMON:
            self.spaces[name].watched, self.spaces[name].changed = self.watches, False
        return vain

    def _same_places(self, ready: Ready) -> bool:
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
            now.tobytes() == then
            for frame, values in self.registers.items()
            for now, then in zip(frame.values, values, strict=True)
        )

    def _same_memory(self, *names: str) -> bool:
        return all(np.array_equal(self.spaces[name].bytes, self.memory[name]) for name in names)
