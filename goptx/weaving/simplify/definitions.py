"""The registers of a flow that one instruction defines for good, and what is known of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from goptx.analysis.cfg import Flow
from goptx.analysis.dataflow import read, written
from goptx.analysis.values.thread_values import number
from goptx.launch.launch_plan import WARP
from goptx.ptx.ir import Instruction, Name, Operand


@dataclass(frozen=True, slots=True)
class Definitions:
    """`of` has the one instruction that writes a register, without a guard; registers that are written elsewhere, too,
    are not in it. `uses` counts the instructions and branches that read a register."""

    of: Mapping[str, Instruction]
    uses: Mapping[str, int]

    @classmethod
    def in_flow(cls, flow: Flow) -> Definitions:
        writes, uses = Counter[str](), Counter[str]()
        found: dict[str, Instruction] = {}
        for code in flow.codes():
            writes.update(written(code))
            uses.update(read(code))
            if isinstance(code, Instruction) and code.guard is None:
                found |= dict.fromkeys(written(code), code)
        for end in flow.ends():
            uses.update(end.reads())
        return cls({name: code for name, code in found.items() if writes[name] == 1}, uses)

    def number(self, operand: Operand) -> int | None:
        """The number that an operand always is, if it is a constant or a register that holds one."""
        match operand:
            case Name("WARP_SZ"):
                return WARP
            case Name(register) if register in self.of and _MOVE.fullmatch(self.of[register].opcode):
                return self.number(self.of[register].operands[1])
        return number(operand)

    def power(self, operand: Operand) -> int | None:
        """The n for which an operand is always 2**n."""
        found = self.number(operand)
        return found.bit_length() - 1 if found and found > 0 and found & (found - 1) == 0 else None


DIVISION = re.compile(r"(?P<name>div|rem)\.(?P<kind>[su])(?P<bits>32|64)")
_MOVE = re.compile(r"mov\.[bsu](32|64)")
