"""Accesses to parameters that cannot fault: by the parameter's name, at a constant offset within it.

A computed address may lie anywhere, even if computed from the name of a parameter.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from goptx.ptx.ir import TYPE_BYTES, Address, Instruction, Name, Sum, whole_number
from goptx.ptx.opcodes import facts_of

_OFFSET = re.compile(r"\+?(0[xX][0-9a-fA-F]+U?|[0-9]+U?)")


def lies_within(access: Instruction, sizes: Mapping[str, int]) -> bool:
    """Whether the instruction accesses bytes of one of these parameters, by name; `sizes` has their sizes in bytes."""
    facts = facts_of(access.opcode)
    address = next((operand for operand in access.operands if isinstance(operand, Address)), None)
    if facts.space != "param" or not facts.types or address is None:
        return False
    match address.parts:
        case (Name(name),):
            offset = 0
        case (Sum(Name(name), (str(tail),)),) if matched := _OFFSET.fullmatch(tail):
            offset = whole_number(matched[1])
        case _:
            return False
    lanes = next((int(word[1:]) for word in ("v2", "v4", "v8") if word in facts.modifiers), 1)
    return name in sizes and offset + lanes * TYPE_BYTES[facts.types[-1]] <= sizes[name]
