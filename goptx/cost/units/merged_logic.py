"""Logical operations that the assembler merges with the next one: LOP3 computes any function of three registers.

Requires: a flow without regions. Ensures: one of `and`, `or`, `xor`, `not` of 32 or 64 bits is merged with the only
instruction that reads its result, if that is another one in the same block, and the two read at most three registers.
"""

from __future__ import annotations

from collections import Counter

from goptx.analysis.cfg import Block, Flow
from goptx.analysis.dataflow import read, written
from goptx.ptx.ir import Instruction
from goptx.ptx.opcodes import facts_of

INPUTS = 3

Place = tuple[str, int]  # a block, and the number of an instruction in it


def merged_logic(flow: Flow) -> frozenset[Place]:
    """The operations that take no machine instruction of their own."""
    if not any(map(_is_logical, flow.instructions())):
        return frozenset()
    uses = Counter(register for instruction in flow.instructions() for register in read(instruction))
    uses.update(register for end in flow.ends() for register in end.reads())
    return frozenset((name, number) for name, block in flow.blocks.items() for number in _merged(block, uses))


def _merged(block: Block, uses: Counter[str]) -> set[int]:
    found: set[int] = set()
    inputs: dict[str, tuple[int, frozenset[str]]] = {}  # of results that may be merged: by what, and what it reads
    for number, instruction in enumerate(block.instructions()):
        own = read(instruction)
        if _is_logical(instruction):
            for register in sorted(own & inputs.keys()):
                earlier, others = inputs[register]
                if uses[register] == 1 and len(together := own - {register} | others) <= INPUTS:
                    own = together
                    found.add(earlier)
        for register in written(instruction):
            inputs.pop(register, None)
            inputs = {r: (n, others) for r, (n, others) in inputs.items() if register not in others}
            if _is_logical(instruction):
                inputs[register] = number, frozenset(own)
    return found


def _is_logical(instruction: Instruction) -> bool:
    return facts_of(instruction.opcode).combines_bits and not instruction.guard
