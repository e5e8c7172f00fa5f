"""What the machine runs: operations in segments, segments in functions.

A segment is straight code up to where lanes may part, meet or wait, or other threads may tell in which order things are
done. Segments of a function stand in an order that keeps loops together, so of all places where lanes wait, the lowest
number is where to go on.
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
    """One instruction ready to run. `number` counts them through the program; what it did is counted there. `harmless`
    has the registers that it writes if it does nothing else, so that it does not matter who executes it."""

    instruction: Instruction
    execute: Execute
    guard: Source | None
    function: str
    block: str
    origin: Origin
    number: int
    harmless: tuple[int, ...] | None = None


# How segments end. Targets are numbers of segments; `rejoin` is where lanes that part come together again,
# None where that is only at the end of the function.


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
    rejoin: int | None
    uniform: bool = False
    around: bool = False  # a guarded instruction, which is counted where it is executed


@dataclass(frozen=True, slots=True)
class Choose:
    operation: Operation
    index: Source
    targets: tuple[int, ...]
    rejoin: int | None
    uniform: bool = False


@dataclass(frozen=True, slots=True)
class Done:
    """The end of a function, or of the thread, in whatever function it is."""

    thread: bool = False


@dataclass(frozen=True, slots=True)
class Invoke:
    """A call: the callee's name, or where its address is; the arguments and results."""

    operation: Operation
    callee: str | Source
    arguments: tuple[Operand, ...]
    results: tuple[Operand, ...]
    following: int
    uniform: bool = False


@dataclass(frozen=True, slots=True)
class Meet:
    """Lanes of a warp execute `operation` together: those that its mask names, or without one the whole warp."""

    operation: Operation
    mask: Source | None
    following: int


@dataclass(frozen=True, slots=True)
class Barrier:
    """Threads of a CTA meet. Without an id (cluster barriers aside) it is barrier 0; without a count, all meet."""

    operation: Operation
    kind: str  # "sync", "arrive" or "red"
    aligned: bool
    id: Source
    count: Source | None
    following: int
    condition: Source | None = None  # of a reduction
    write: Write | None = None


Ending = Goto | Fork | Choose | Done | Invoke | Meet | Barrier


@dataclass(slots=True)
class Segment:
    block: str
    operations: list[Operation]
    ending: Ending
    spins: bool = False


@dataclass(slots=True)
class Code:
    """A function ready to run. `formals` and `results` are its parameters, each a symbol of the frame or the name
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
    operations: list[Operation] = field(default_factory=list)
    codes: dict[str, Code] = field(default_factory=dict)
