"""Operations that the assembler merges with the next one.

Requires: a flow without regions. Ensures: one is merged with the only instruction that reads its result, if that is
another one in the same block, and the two read at most three registers. So are `and`, `or`, `xor`, `not` of 32 or 64
bits with another of them: LOP3 computes any function of three registers. From sm_90 on a sum of 32 bits is merged with
a minimum or maximum of it, and one of these with another of the same kind (VIADDMNMX, VIMNMX3).
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from goptx.analysis.cfg import Block, Flow
from goptx.analysis.dataflow import read, written
from goptx.ptx.ir import Instruction
from goptx.ptx.opcodes import facts_of

INPUTS = 3
LOGIC, SUM = "logic", "sum"
WORDS = (("s32",), ("u32",))

Place = tuple[str, int]  # a block, and the number of an instruction in it


class _Result(NamedTuple):
    """A result that may be merged: the number of its instruction, of which kind this is, and what it reads."""

    number: int
    kind: str
    inputs: frozenset[str]


def merged_operations(flow: Flow, minimum: bool) -> frozenset[Place]:
    """The operations that take no machine instruction of their own. `minimum`: whether there are instructions that add
    and take the minimum."""
    if not any(_kind(i, minimum) for i in flow.instructions()):
        return frozenset()
    uses = Counter(register for instruction in flow.instructions() for register in read(instruction))
    uses.update(register for end in flow.ends() for register in end.reads())
    return frozenset((name, number) for name, block in flow.blocks.items() for number in _merged(block, uses, minimum))


def _merged(block: Block, uses: Counter[str], minimum: bool) -> set[int]:
    found: set[int] = set()
    results: dict[str, _Result] = {}
    for number, instruction in enumerate(block.instructions()):
        own, kind = read(instruction), _kind(instruction, minimum)
        whole = False  # whether it has taken in all that it can
        for register in sorted(own & results.keys()) if kind else ():
            earlier = results[register]
            together = own - {register} | earlier.inputs
            if not whole and _takes(kind, earlier.kind) and uses[register] == 1 and len(together) <= INPUTS:
                own, whole = together, kind != LOGIC
                found.add(earlier.number)
        for register in written(instruction):
            results.pop(register, None)
            results = {r: result for r, result in results.items() if register not in result.inputs}
            if kind and not whole:
                results[register] = _Result(number, kind, frozenset(own))
    return found


def _kind(instruction: Instruction, minimum: bool) -> str:
    """LOGIC, SUM, or the name of a minimum or maximum; "" for what is not merged."""
    facts = facts_of(instruction.opcode)
    if instruction.guard:
        return ""
    if facts.combines_bits:
        return LOGIC
    if not minimum or facts.types not in WORDS or facts.modifiers - {"s32", "u32"}:
        return ""
    return SUM if facts.adds else facts.base if facts.takes_extreme else ""


def _takes(kind: str, earlier: str) -> bool:
    """Whether an instruction of a kind takes in an earlier one."""
    return kind == earlier != SUM or (earlier == SUM and kind not in (SUM, LOGIC))
