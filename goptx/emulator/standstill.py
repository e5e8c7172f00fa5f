"""Finds that lanes go around in loops for ever.

Requires: no clock is read. They do so once they are all where they were before, with the same in their registers and
in memory (cycle finding after Brent, 1980).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from goptx.emulator.arithmetic.lanewise import Array
from goptx.emulator.groups import Groups, joined, united
from goptx.emulator.lanes import Frame
from goptx.emulator.memory import Space
from goptx.emulator.places import Place

ENDLESS = 1 << 13  # steps in waiting loops for each place, after which registers that change are no reason to go on

Ready = Mapping[tuple[int, Place], Sequence[Groups]]


class Standstill:
    """What all was like is looked at after `first_look` steps, a power of two, and each time after twice as many as
    the last. `waits`: all steps are in loops that wait for other threads, so far as `steps` is kept at 0 otherwise."""

    def __init__(self, spaces: Mapping[str, Space], first_look: int, waits: bool) -> None:
        self.spaces = spaces
        self.first_look = first_look
        self.waits = waits
        self.steps = 0
        self.groups: dict[tuple[int, Place], Groups] = {}
        self.registers: dict[Frame, list[Array]] = {}
        self.memory: dict[str, Array] = {}

    def reached(self, ready: Ready) -> bool:
        """Whether the lanes at `ready`, where one of them runs next, will go on for ever."""
        self.steps += 1
        if self.steps < self.first_look:
            return False
        if self.steps & (self.steps - 1):
            return self._where_they_were(ready) and self._same_registers() and self._same_memory(*self.spaces)
        vain = (
            self.waits
            and self.steps > ENDLESS * len({place for _, place in ready})
            and self._same_memory("shared", "global")
        )
        self.groups = {key: united(joined(parts)) for key, parts in ready.items()}
        frames = {key[1].context.frame for key in ready}
        self.registers = {frame: [values.copy() for values in frame.values] for frame in frames}
        self.memory = {name: space.bytes.copy() for name, space in self.spaces.items()}
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
