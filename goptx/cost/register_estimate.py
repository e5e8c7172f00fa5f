"""How many registers the assembler will give a kernel, from what is live in its PTX.

Requires: a flow without regions. The rule, found in what ptxas 13.0 made of 130 kernels for sm_90: where code is
straight it moves instructions together until they fit the registers at which an SM is full, and beyond them still
saves three of four; what lives across a slow path, which is a branch inside (`div.rn`), or around a loop it cannot.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from goptx.analysis.cfg import Flow, loops
from goptx.analysis.dataflow import killed, live_in, read, register_of, written
from goptx.analysis.register_widths import widths
from goptx.ptx.ir import Instruction, Registers
from goptx.ptx.opcodes import facts_of

FULL = 32  # registers of a thread with which an SM holds all its warps (65,536 for 2,048 threads)
OWN = 8  # for addresses, the stack pointer and what the assembler makes itself
SLOW_PATH = 13  # that the code of a slow path takes
KEPT = 0.25  # of what is beyond FULL
MOST = 255


@dataclass(frozen=True, slots=True)
class Pressure:
    """32-bit registers that are live at one place at most; across a slow path; around a loop; and that one instruction
    takes at most."""

    live: int = 0
    across: int = 0
    around: int = 0
    widest: int = 0

    def __add__(self, other: Pressure) -> Pressure:
        return Pressure(
            self.live + other.live,
            self.across + other.across,
            self.around + other.around,
            max(self.widest, other.widest),
        )

    def __or__(self, other: Pressure) -> Pressure:
        """Of one or the other."""
        return Pressure(
            max(self.live, other.live),
            max(self.across, other.across),
            max(self.around, other.around),
            max(self.widest, other.widest),
        )

    def times(self, copies: int) -> Pressure:
        return Pressure(self.live * copies, self.across * copies, self.around * copies, self.widest)

    @property
    def least(self) -> int:
        """Registers of a thread with fewer of which the assembler refuses the kernel."""
        return self.widest + OWN

    @property
    def registers(self) -> int:
        """Of a thread, as the assembler will say."""
        wanted = self.live + OWN
        if wanted > FULL:
            wanted = FULL + round(KEPT * (wanted - FULL))
        fixed = max(self.across + SLOW_PATH if self.across else 0, self.around + OWN)
        return min(max(wanted, fixed), MOST)


def pressure(flow: Flow, declared: Collection[Registers]) -> Pressure:
    """Of a flow whose registers are `declared`. Predicates do not count, nor does what the constant bank holds."""
    size = widths(declared)
    size |= dict.fromkeys(_constant(flow), 0)
    before = live_in(flow)
    most = across = widest = 0

    def weight(registers: Collection[str]) -> int:
        return sum(size.get(r, 0) for r in registers)

    for block in flow.blocks.values():
        live = frozenset().union(*(before[s] for s in block.end.successors()))
        live |= {register_of(name) for name in block.end.reads()}
        for code in reversed(block.code):
            most = max(most, weight(live | written(code)))
            widest = max(widest, weight(read(code) | written(code)))
            if isinstance(code, Instruction) and facts_of(code.opcode).slow_path:
                across = max(across, weight(live))
            live = (live - killed(code)) | read(code)
        most = max(most, weight(live))
    around = max((weight(before[header]) for header in loops(flow)), default=0)
    return Pressure(most, across, around, widest)


def _constant(flow: Flow) -> set[str]:
    """Registers that hold a parameter, a number or a size of the launch, as operands can do themselves."""
    made: dict[str, list[Instruction]] = {}
    for instruction in flow.instructions():
        for register in written(instruction):
            made.setdefault(register, []).append(instruction)
    once = {r: ways[0] for r, ways in made.items() if len(ways) == 1 and not ways[0].guard}
    found: set[str] = set()
    while more := {r for r, way in once.items() if r not in found and _is_constant(way, found)}:
        found |= more
    return found


def _is_constant(way: Instruction, known: Collection[str]) -> bool:
    facts = facts_of(way.opcode)
    if facts.only_loads_element:
        return facts.space in ("param", "const")
    return facts.moves and all(
        r in known or not r.startswith("%") or r.startswith(("%ntid", "%nctaid")) for r in read(way)
    )
