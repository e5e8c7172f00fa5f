"""How many registers the assembler will give a kernel, from what is live in its PTX.

Requires: a flow without regions. The rule was found in the code of ptxas 13.0 for 130 kernels on sm_90: within straight
code it reorders instructions until they fit the registers at which an SM is full, and saves three of four registers
beyond. It cannot save registers that are live across a slow path (`div.rn` contains a branch) or around a loop.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from goptx.analysis.cfg import Flow, loops
from goptx.analysis.dataflow import killed, live_in, read, register_of, written
from goptx.analysis.registers.register_demand import FULL, MOST, demand
from goptx.analysis.registers.register_widths import widths
from goptx.memo import Deferred, computed
from goptx.ptx.ir import Instruction, Registers
from goptx.ptx.opcodes import facts_of

OWN = 8  # for addresses, the stack pointer and what the assembler makes itself
SLOW_PATH = 13  # registers that the code of a slow path takes
BEYOND_FULL = 0.25  # the share of the registers beyond FULL that the assembler does not save

NONE = computed(0)


@dataclass(frozen=True, slots=True)
class Pressure:
    """The most 32-bit registers that are live at one point; across a slow path; around a loop; that one instruction
    takes; and that the assembler cannot do without (`needed`, by register_demand.py, computed when it is asked for).
    The constants of the cost model were fitted to the first three, which count more of what is live early."""

    live: int = 0
    across: int = 0
    around: int = 0
    widest: int = 0
    needed: Deferred[int] = field(default=NONE, compare=False, repr=False)

    def __add__(self, other: Pressure) -> Pressure:
        return Pressure(
            self.live + other.live,
            self.across + other.across,
            self.around + other.around,
            max(self.widest, other.widest),
            Deferred(lambda: self.needed.value + other.needed.value),
        )

    def __or__(self, other: Pressure) -> Pressure:
        """The pressure of code that is either the one or the other."""
        return Pressure(
            max(self.live, other.live),
            max(self.across, other.across),
            max(self.around, other.around),
            max(self.widest, other.widest),
            Deferred(lambda: max(self.needed.value, other.needed.value)),
        )

    def times(self, copies: int) -> Pressure:
        needed = Deferred(lambda: self.needed.value * copies)
        return Pressure(self.live * copies, self.across * copies, self.around * copies, self.widest, needed)

    @property
    def least(self) -> int:
        """The least cap per thread: with fewer registers the assembler refuses the kernel."""
        return self.widest + OWN

    @property
    def spills(self) -> bool:
        """Whether a thread has no room for what it needs. Where few registers are live, that is not counted again."""
        return self.live > MOST // 2 and self.needed.value >= MOST

    @property
    def registers(self) -> int:
        """The registers per thread that the assembler is expected to give."""
        wanted = self.live + OWN
        if wanted > FULL:
            wanted = FULL + round(BEYOND_FULL * (wanted - FULL))
        fixed = max(self.across + SLOW_PATH if self.across else 0, self.around + OWN)
        return min(max(wanted, fixed), MOST)


def pressure(flow: Flow, declared: Collection[Registers]) -> Pressure:
    """The pressure of a flow whose registers are `declared`, without predicates and values of the constant bank."""
    size = _Widths(widths(declared) | dict.fromkeys(_constant(flow), 0))
    before = live_in(flow)
    most = across = widest = 0

    def weight(registers: Iterable[str]) -> int:
        return sum(map(size.__getitem__, registers))

    for block in flow.blocks.values():
        live: set[str] = set().union(*(before[s] for s in block.end.successors()))
        live.update(map(register_of, block.end.reads()))
        now = weight(live)
        for code in reversed(block.code):
            outputs, inputs = written(code), read(code)
            if not outputs <= live:  # a result that nobody reads takes a register too
                most = max(most, now + weight(outputs - live))
            elif now > most:
                most = now
            if (taken := weight(inputs | outputs)) > widest:
                widest = taken
            if isinstance(code, Instruction) and facts_of(code.opcode).slow_path:
                across = max(across, now)
            ending, beginning = killed(code) & live, inputs - live  # what it kills it does not read
            live -= ending
            live |= beginning
            now += weight(beginning) - weight(ending)
        most = max(most, now)
    around = max((weight(before[header]) for header in loops(flow)), default=0)
    return Pressure(most, across, around, widest, Deferred(lambda: demand(flow, declared).live))


class _Widths(dict[str, int]):
    """The 32-bit registers that each register takes; none for what is not declared."""

    def __missing__(self, name: str) -> int:
        return 0


def _constant(flow: Flow) -> set[str]:
    """Registers that hold a parameter, a number or a size of the launch: operands can name these without a register."""
    made: dict[str, list[Instruction]] = {}
    for instruction in flow.instructions():
        for register in written(instruction):
            made.setdefault(register, []).append(instruction)
    once = {r: writes[0] for r, writes in made.items() if len(writes) == 1 and not writes[0].guard}
    readers: dict[str, list[str]] = {}
    for register, write in once.items():
        for source in read(write):
            readers.setdefault(source, []).append(register)
    found: set[str] = set()
    waiting = list(once)
    while waiting:
        register = waiting.pop()
        if register not in found and _is_constant(once[register], found):
            found.add(register)
            waiting += readers.get(register, ())
    return found


def _is_constant(instruction: Instruction, known: Collection[str]) -> bool:
    facts = facts_of(instruction.opcode)
    if facts.only_loads_element:
        return facts.space in ("param", "const")
    return facts.moves and all(
        r in known or not r.startswith("%") or r.startswith(("%ntid", "%nctaid")) for r in read(instruction)
    )
