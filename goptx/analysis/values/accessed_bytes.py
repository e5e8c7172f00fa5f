"""The bytes that a kernel accesses through its pointers, as far as thread numbers determine them.

Requires: a flow and the shape of the launch. The results include accesses of threads beyond a guard (see ranges.py).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from goptx.analysis.cfg import Flow
from goptx.analysis.dataflow import read, written
from goptx.analysis.values.ranges import Extent, Ranges
from goptx.ptx.ir import TYPE_BYTES, Address, Instruction
from goptx.ptx.opcodes import facts_of
from goptx.ptx.walk import names_in


@dataclass(slots=True)
class Accesses:
    """The results by parameter name.

    arrays: for a pointer, the number of bytes accessed from there on, and the PTX type of an element.
    unclear: for a pointer, the first instruction that may access other bytes, or passes the pointer on.
    bounds: for a scalar that bounds a thread's number, the number of values below the bound; 0 if unknown.
    mentioned: all names that the kernel mentions.
    """

    arrays: dict[str, tuple[int, str]] = field(default_factory=dict)
    unclear: dict[str, Instruction] = field(default_factory=dict)
    bounds: dict[str, int] = field(default_factory=dict)
    mentioned: set[str] = field(default_factory=set)


def accesses(
    flow: Flow,
    pointers: Collection[str],
    scalars: Collection[str],
    known: Mapping[str, int],
    grid: Extent,
    block: Extent,
) -> Accesses:
    """`pointers` are the parameters that may be pointers, `scalars` the other integers, `known` values of either."""
    code = list(flow.instructions())
    return _Search(code, set(pointers) - set(known), Ranges(code, {*pointers, *scalars}, known, grid, block)).run()


class _Search:
    def __init__(self, code: list[Instruction], pointers: set[str], ranges: Ranges) -> None:
        self.code = code
        self.pointers = pointers
        self.ranges = ranges
        self.found = Accesses()
        self.types: dict[str, set[str]] = {}  # the types with which instructions use a register
        for instruction in code:
            types = facts_of(instruction.opcode).types
            for registers, taken in ((written(instruction), types[:1]), (read(instruction), types[-1:])):
                for register in registers:
                    self.types.setdefault(register, set()).update(taken)

    def run(self) -> Accesses:
        found = self.found
        for instruction in self.code:
            facts = facts_of(instruction.opcode)
            found.mentioned.update(name for operand in instruction.operands for name in names_in(operand))
            if facts.relates:
                self.bound(instruction)
            addresses = [o for o in instruction.operands if isinstance(o, Address)]
            single = facts.accesses_element and facts.types and addresses
            if single and facts.space in ("", "global"):
                self.touch(instruction, addresses[0])
            if facts.row.access and not facts.only_loads_element:
                taken = instruction.operands[facts.row.writes :]
                passed_on = [o for o in taken if not (single and isinstance(o, Address))]
                self.doubt(self.ranges.sources(passed_on) & self.pointers, instruction)
        for name in self.pointers & (found.arrays.keys() | found.unclear.keys()):
            found.bounds.pop(name, None)
        return found

    def touch(self, instruction: Instruction, address: Address) -> None:
        value = self.ranges.of(address.parts[0])
        if self.ranges.in_variable(address):
            return
        if value is None or value.low < 0:
            self.doubt((self.ranges.sources([address]) & self.pointers) or self.pointers, instruction)
        elif value.base in self.pointers:
            facts = facts_of(instruction.opcode)
            lanes = next((int(m[1:]) for m in facts.modifiers if m in ("v2", "v4", "v8")), 1)
            before, element = self.found.arrays.get(value.base, (0, ""))
            end = value.high + TYPE_BYTES[facts.types[-1]] * lanes
            if not element.startswith("f"):
                element = self.element(instruction, facts.types[-1])
            self.found.arrays[value.base] = (max(before, end), element)

    def element(self, instruction: Instruction, type_: str) -> str:
        """The type of an access, or the floating-point type with which other instructions use its registers."""
        floating = f"f{type_[1:]}"
        registers = read(instruction) | written(instruction)
        return floating if any(floating in self.types[r] for r in registers) else type_

    def doubt(self, pointers: Collection[str], instruction: Instruction) -> None:
        for name in pointers:
            self.found.unclear.setdefault(name, instruction)

    def bound(self, instruction: Instruction) -> None:
        """Records the parameters that a thread's number is compared with or divided by."""
        first, second = instruction.operands[1:3]
        for number, limit in ((first, second), (second, first)):
            if self.ranges.counts_threads(number) and not self.ranges.counts_threads(limit):
                value = self.ranges.of(number)
                numbers = value.high + 1 if value and value.natural else 0
                for name in self.ranges.sources([limit]):
                    self.found.bounds[name] = max(self.found.bounds.get(name, 0), numbers)
