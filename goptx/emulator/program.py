"""The machine's program: operations in segments, segments in functions.

A segment is straight code up to a point where lanes may diverge, synchronise or wait, or where other threads may
observe the order of accesses. The segments of a function are in an order that keeps loops contiguous, so of all places
where lanes wait, the lowest number runs next.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from goptx.emulator.lanes import Lanes
from goptx.emulator.memory.layout import Layout
from goptx.emulator.operands import Names, Source, Write
from goptx.ptx.ir import (
    Function,
    Instruction,
    Module,
    Operand,
    Variable,
)
from goptx.results.fused_kernel import Origin

Execute = Callable[[Lanes], None]


@dataclass(slots=True, eq=False)
class Operation:
    """One instruction ready to run. `number` identifies it in the program and in the counts. `only_writes` has the
    registers that it writes if it has no other effect, so that any lane may execute it."""

    instruction: Instruction
    execute: Execute
    guard: Source | None
    function: str
    block: str
    origin: Origin
    number: int
    only_writes: tuple[int, ...] | None = None


# The ends of segments. Targets are numbers of segments; `reconvergence` is where diverged lanes reconverge, None where
# that is only at the end of the function.


@dataclass(frozen=True, slots=True)
class Goto:
    target: int


@dataclass(frozen=True, slots=True)
class Fork:
    operation: Operation
    condition: Source
    negated: bool
    taken: int
    fallen: int
    reconvergence: int | None
    uniform: bool = False
    around: bool = False  # a branch around a guarded instruction, which is counted where it is executed


@dataclass(frozen=True, slots=True)
class Choose:
    operation: Operation
    index: Source
    targets: tuple[int, ...]
    reconvergence: int | None
    uniform: bool = False


@dataclass(frozen=True, slots=True)
class Done:
    """The end of a function, or of the thread if `thread`."""

    thread: bool = False


@dataclass(frozen=True, slots=True)
class Invoke:
    """A call: the callee's name or the source of its address, the arguments and results."""

    operation: Operation
    callee: str | Source
    arguments: tuple[Operand, ...]
    results: tuple[Operand, ...]
    following: int
    uniform: bool = False


@dataclass(frozen=True, slots=True)
class WarpSync:
    """Lanes of a warp execute `operation` together: those in its mask, or without a mask the whole warp."""

    operation: Operation
    mask: Source | None
    following: int


@dataclass(frozen=True, slots=True)
class Barrier:
    """A CTA barrier. Without an id (except cluster barriers) it is barrier 0; without a count, all threads take
    part."""

    operation: Operation
    kind: str  # "sync", "arrive" or "red"; of a cluster "cluster arrive" or "cluster wait"
    aligned: bool
    id: Source
    count: Source | None
    following: int
    condition: Source | None = None  # the predicate of a reduction
    write: Write | None = None


Ending = Goto | Fork | Choose | Done | Invoke | WarpSync | Barrier


@dataclass(slots=True)
class Segment:
    block: str
    operations: list[Operation]
    ending: Ending
    spins: bool = False


@dataclass(slots=True)
class Code:
    """A function ready to run. `parameters` and `results` are its formal ones, each a symbol of the frame or the name
    of a register."""

    name: str
    names: Names
    segments: list[Segment]
    frame_bytes: int
    parameters: tuple[Variable, ...]
    results: tuple[Variable, ...]


@dataclass(slots=True)
class Program:
    module: Module
    layout: Layout
    entry: Function
    origins: Mapping[int, Origin]
    kernel: str
    operations: list[Operation] = field(default_factory=list)
    codes: dict[str, Code] = field(default_factory=dict)
