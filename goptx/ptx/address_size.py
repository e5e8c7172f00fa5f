"""The bits of addresses in a module that has no `.address_size`, as PTX before 2.3 is.

The manual gives 32, but compilers of that age also wrote modules with 64-bit addresses, and ptxas 13.0 looks at the
code: addresses have 32 bits where a register of 32 bits is the address of global or generic memory, and else 64.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable

from goptx.ptx.flatten import numbered
from goptx.ptx.ir import (
    TYPE_BYTES,
    Address,
    Declaration,
    Function,
    Instruction,
    Item,
    Name,
    Registers,
    Scope,
    Statement,
    Sum,
    Variable,
)
from goptx.ptx.opcodes import facts_of

_Types = ChainMap[tuple[str, bool], str]  # of registers: (`%r`, True) is that of `%r<4>`, (`%r1`, False) of `%r1`
_NARROW = [f".{name}" for name, bytes_ in TYPE_BYTES.items() if bytes_ == 4]


def address_bits(items: Iterable[Item]) -> int:
    """32 or 64."""
    items = tuple(items)
    outside = {i.name for i in items if isinstance(i, Variable) and i.space == ".global"}
    types: _Types = ChainMap()
    _declare(items, types)
    bodies = [(f.body, types) for f in items if isinstance(f, Function) and f.body is not None]
    while bodies:
        body, around = bodies.pop()
        types = around.new_child()
        _declare(body, types)
        for statement in body:
            match statement:
                case Scope(inner):
                    bodies.append((inner, types))
                case Instruction() if _has_narrow_address(statement, types, outside):
                    return 32
    return 64


def _declare(statements: Iterable[Item | Statement], types: _Types) -> None:
    for statement in statements:
        match statement:
            case Registers(words, names):
                types.update({(name, count is not None): words[-1] for name, count in names})
            case Declaration(variable):
                types[variable.name, False] = ""


def _has_narrow_address(instruction: Instruction, types: _Types, outside: set[str]) -> bool:
    facts = facts_of(instruction.opcode)
    operands = instruction.operands
    if facts.moves:  # of an address
        narrow = any(f".{word}" in _NARROW for word in facts.types)
        of_address = facts.converts_address or (len(operands) > 1 and _base(operands[1]) in outside)
        return narrow and of_address
    addresses = [o.parts[0] for o in operands if isinstance(o, Address)] if facts.space in ("", "global") else []
    return any(_type_of(_base(address), types) in _NARROW for address in addresses)


def _base(operand: object) -> str:
    base = operand.base if isinstance(operand, Sum) else operand
    return base.text if isinstance(base, Name) else ""


def _type_of(name: str, types: _Types) -> str:
    """The type of a register such as `.u32`, "" where the name is not one."""
    single = types.get((name, False))
    if single is not None:
        return single
    return next((types[stem, True] for stem, _ in numbered(name) if (stem, True) in types), "")
