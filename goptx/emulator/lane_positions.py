"""The positions of lanes: a segment, in one activation of its function."""

from __future__ import annotations

from dataclasses import dataclass, field

from goptx.emulator.lanes import Frame
from goptx.emulator.program import Barrier, Code, Done, Goto, Invoke, Operation, Segment, WarpSync


@dataclass(slots=True, eq=False)
class Context:
    """One activation of a function: the calls that lead to it, and its registers for all lanes."""

    code: Code
    frame: Frame
    caller: Place | None = None
    invoke: Invoke | None = None
    places: dict[int, Place] = field(default_factory=dict)
    callees: dict[tuple[int, str], Context] = field(default_factory=dict)
    depth: int = 0


@dataclass(slots=True, eq=False)
class Place:
    """A segment in a context. `key` orders places, the smallest runs first; `last` is the time of its last run."""

    context: Context
    number: int
    segment: Segment
    key: tuple[int, ...]
    id: int
    last: int = 0

    @property
    def spins(self) -> bool:
        """Whether it lies in a loop that is known to wait for other threads, or in a function called in one."""
        return bool(self.key[0])

    @property
    def operation(self) -> Operation | None:
        """What lanes that wait here execute next: the convergent instruction or barrier, or the first operation."""
        ending = self.segment.ending
        if isinstance(ending, WarpSync | Barrier):
            return ending.operation
        if self.segment.operations:
            return self.segment.operations[0]
        return None if isinstance(ending, Goto | Done) else ending.operation
