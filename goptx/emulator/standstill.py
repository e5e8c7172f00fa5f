"""Finds that loops which wait for other threads wait for ever.

Requires: nobody runs but lanes in such loops. They are at a standstill once they are all where they were before, with
the same in their registers and in memory (cycle finding after Brent, 1980).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from goptx.emulator.arithmetic.lanewise import Array
from goptx.emulator.groups import Groups, joined, united
from goptx.emulator.lanes import Frame
from goptx.emulator.memory import Space
from goptx.emulator.places import Place

FIRST_LOOK = 256  # steps, a power of two
ENDLESS = 1 << 13  # steps for each place, after which registers that change are no reason to go on

Ready = Mapping[tuple[int, Place], Sequence[Groups]]


class Standstill:
    """`steps` in waiting loops since anybody ran who was in none. What all was like is looked at after some of these,
    each time twice as many as the last."""

    def __init__(self, spaces: Mapping[str, Space]) -> None:
        self.spaces = spaces
        self.steps = 0
        self.groups: dict[tuple[int, Place], Groups] = {}
        self.registers: dict[Frame, list[Array]] = {}
        self.memory: dict[str, Array] = {}

    def reached(self, ready: Ready) -> bool:
        """Whether the lanes at `ready`, where one of them runs next, will go on for ever."""
        self.steps += 1
        if self.steps < FIRST_LOOK:
            return False
        if self.steps & (self.steps - 1):
            return self._where_they_were(ready) and self._same_registers() and self._same_memory(*self.spaces)
        vain = self.steps > ENDLESS * len({place for _, place in ready}) and self._same_memory("shared", "global")
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
