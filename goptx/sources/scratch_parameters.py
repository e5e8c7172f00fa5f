"""Removes parameters that are null pointers in every launch from an entry.

Requires: a parsed module. Ensures: an entry without the parameters, in which 0 replaces each load of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from goptx.errors import InputError
from goptx.ptx.ir import Address, Function, Immediate, Instruction, Module, Name, Scope, Statement
from goptx.ptx.opcodes import facts_of
from goptx.ptx.walk import operand_names

POINTER = 8  # bytes


def without_scratch_parameters(module: Module, entry: Function, positions: Sequence[int]) -> Module:
    """Positions are those of a sequence: -1 is the last parameter. Raises `InputError` where one is not a pointer, or
    has other uses than loads."""
    count = len(entry.parameters)
    there = [p for p in positions if -count <= p < count]
    taken = [entry.parameters[p] for p in there]
    if len(there) < len(positions) or any(p.size != POINTER for p in taken):
        raise InputError(
            f"{module.source}:{entry.line}: `{entry.name}` lacks the scratch pointers that its framework passes after "
            "the arguments, as goptx knows them; give its PTX text instead, and all arguments at the launch."
        )
    names = {p.name for p in taken}

    def place(statement: Statement) -> Statement:
        match statement:
            case Scope(inner):
                return Scope(tuple(map(place, inner)))
            case Instruction() if names & {*operand_names((statement,))}:
                return loaded(statement)
        return statement

    def loaded(load: Instruction) -> Instruction:
        facts = facts_of(load.opcode)
        whole = len(load.operands) == 2 and load.operands[1] in [Address((Name(n),)) for n in names]
        if not (facts.loads_parameter and whole and load.opcode.endswith("64")):
            raise InputError(
                f"{module.source}:{load.line}: `{load}` takes a scratch pointer of the framework in another way than "
                "by a load of it; give the PTX text instead, and all arguments at the launch."
            )
        return replace(load, opcode="mov.b64", operands=(load.operands[0], Immediate("0")))

    made = replace(
        entry,
        parameters=tuple(p for p in entry.parameters if p.name not in names),
        body=tuple(map(place, entry.body or ())),
    )
    return replace(module, items=tuple(made if i is entry else i for i in module.items))
