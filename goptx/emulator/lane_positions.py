"""Where lanes can be: a segment, in one activation of its function."""

from __future__ import annotations

from dataclasses import dataclass, field

from goptx.emulator.lanes import Frame
from goptx.emulator.program import Barrier, Code, Done, Goto, Invoke, Meet, Operation, Segment


@dataclass(slots=True, eq=False)
class Context:
    """One activation of a function: the calls that lead to it, and the registers of all lanes in it."""

    code: Code
    frame: Frame
    caller: Place | None = None
    invoke: Invoke | None = None
    places: dict[int, Place] = field(default_factory=dict)
    callees: dict[tuple[int, str], Context] = field(default_factory=dict)
    depth: int = 0


@dataclass(slots=True, eq=False)
class Place:
    """A segment in a context. `key` orders places, the smaller goes on first; `last` is when it last went on."""

    context: Context
    number: int
    segment: Segment
    key: tuple[int, ...]
    id: int
    last: int = 0

    @property
    def spins(self) -> bool:
        """Whether it lies in a loop that is known to wait for other threads, or in a function called there."""
        return bool(self.key[0])

    @property
    def operation(self) -> Operation | None:
        """What lanes that wait here execute next: where they meet others, or the first operation."""
        ending = self.segment.ending
        if isinstance(ending, Meet | Barrier):
            return ending.operation
        if self.segment.operations:
            return self.segment.operations[0]
        return None if isinstance(ending, Goto | Done) else ending.operation
