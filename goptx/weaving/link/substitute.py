"""Puts operands in place of names: of special registers, shared variables and functions, as one kernel has them.

Requires: a flow or a body in which the names have one meaning, flat but for the braces of calls. Ensures: legal PTX, or
`CannotWeave` where the operand cannot stand in the name's place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from goptx.analysis.cfg import Code, Flow
from goptx.errors import CannotWeave
from goptx.ptx.ir import (
    TYPE_BYTES,
    Address,
    Arguments,
    Declaration,
    Directive,
    Element,
    Expression,
    Immediate,
    Instruction,
    Name,
    Operand,
    Registers,
    Scope,
    Statement,
    Sum,
    Vector,
    whole_number,
)
from goptx.ptx.opcodes import facts_of
from goptx.ptx.verify import SPECIAL
from goptx.ptx.walk import names_in


@dataclass(frozen=True, slots=True)
class Substitution:
    """values: what stands for a name: an immediate, a register, several of them, or a variable and an offset.
    addresses: of a variable whose address is known at launch only, the 32-bit register that holds it, for a given
        offset and size in bytes.
    at: file, line and kernel, for messages.
    """

    values: Mapping[str, Operand]
    at: Callable[[int], str]
    addresses: Mapping[str, Callable[[int, int], Name]] = field(default_factory=dict)

    def flow(self, flow: Flow) -> Flow:
        if not self.values and not self.addresses:
            return flow
        return flow.with_code(lambda code: map(self.code, code))

    def code(self, code: Code) -> Code:
        return self.instruction(code) if isinstance(code, Instruction) else self.scope(code)

    def scope(self, scope: Scope) -> Scope:
        """What is declared within the braces is distinct from what has the same name outside."""
        own = {name for s in scope.body for name in _declared(s)}
        inner = replace(self, values={n: v for n, v in self.values.items() if n not in own})
        return replace(scope, body=tuple(inner.statement(s) for s in scope.body))

    def statement(self, statement: Statement) -> Statement:
        match statement:
            case Instruction() | Scope():
                return self.code(statement)
            case Directive(".calltargets", names):
                return replace(statement, values=tuple(str(self.values.get(n, n)) for n in names))
        return statement

    def instruction(self, instruction: Instruction) -> Instruction:
        names = [n for operand in instruction.operands for n in names_in(operand)]
        if self.values.keys().isdisjoint(names) and self.addresses.keys().isdisjoint(names):
            return instruction
        types = facts_of(instruction.opcode).types
        size = TYPE_BYTES[types[-1]] if types else 4
        operands = tuple(self.operand(o, instruction, size) for o in instruction.operands)
        opcode = instruction.opcode
        if size == 2 and any(isinstance(self.values.get(str(o)), Name) for o in instruction.operands):
            opcode = "cvt.u16.u32"  # `mov.u16 %h, %tid.x` of old reads the lower half; of a register it may not
        return replace(instruction, opcode=opcode, operands=operands)

    def operand(self, operand: Operand, instruction: Instruction, size: int) -> Operand:
        """`size`: bytes of the instruction's type, and of an address among its values."""
        match operand:
            case Name(text) if text in self.addresses:
                return self.addresses[text](0, size)
            case Sum(Name(text), tail) if text in self.addresses:
                return self.addresses[text](self._offset(tail, instruction), size)
            case Address((Name() | Sum() as first, *rest)) if _variable(first) in self.addresses:
                offset = self._offset(first.tail, instruction) if isinstance(first, Sum) else 0
                base: Operand = self.addresses[_variable(first)](0, 4)
                if offset:
                    assert isinstance(base, Name)
                    base = Sum(base, (f"+{offset}",))
                return Address((base, *(self.operand(o, instruction, size) for o in rest)))
            case Name(text):
                return self.values.get(text, operand)
            case Sum(Name(text), tail) if text in self.values:
                return self._sum(self.values[text], tail, instruction)
            case Vector(parts):
                made = tuple(self.operand(o, instruction, size) for o in parts)
                if made != parts and any(o in parts and is_special(o) for o in made):
                    raise CannotWeave(
                        f"{self.at(instruction.line)}: `{instruction}` reads several special registers at once; read "
                        "each by a mov of its own.",
                        rule="substitutable-operands",
                    )
                return Vector(made)
            case Address(parts):
                return Address(tuple(self.operand(o, instruction, size) for o in parts))
            case Arguments(parts):
                return Arguments(tuple(self.operand(o, instruction, size) for o in parts))
            case Element(array, index) if array.text in self.values or array.text in self.addresses:
                renamed = self.values.get(array.text)
                if not isinstance(renamed, Name):
                    raise self._refusal(instruction)
                return Element(renamed, index)
            case Sum() | Expression() if any(n in self.values or n in self.addresses for n in names_in(operand)):
                raise self._refusal(instruction)
        return operand

    def _sum(self, base: Operand, tail: tuple[Name | str, ...], instruction: Instruction) -> Operand:
        match base:
            case Name():
                return Sum(base, tail)
            case Sum(variable, (first,)) if isinstance(first, str):
                offset = whole_number(first.lstrip("+")) + self._offset(tail, instruction)
                return Sum(variable, (f"+{offset}",))
        raise self._refusal(instruction)

    def _offset(self, tail: tuple[Name | str, ...], instruction: Instruction) -> int:
        matched = re.fullmatch(r"([+-]+)(0[xXbB][0-9a-fA-F]+U?|[0-9]+U?)", "".join(map(str, tail)))
        if matched is None:
            raise self._refusal(instruction)
        number = whole_number(matched[2])
        return -number if matched[1].count("-") % 2 else number

    def _refusal(self, instruction: Instruction) -> CannotWeave:
        return CannotWeave(
            f"{self.at(instruction.line)}: in `{instruction}` a shared variable stands where an address of its own "
            "cannot be put; take the address first (mov), and add to it.",
            rule="substitutable-operands",
        )


def is_special(operand: Operand) -> bool:
    """Whether it is a special register."""
    return isinstance(operand, Name) and operand.text.partition(".")[0] in SPECIAL


def _variable(operand: Operand) -> str:
    base = operand.base if isinstance(operand, Sum) else operand
    return base.text if isinstance(base, Name | Immediate) else ""


def _declared(statement: Statement) -> Iterable[str]:
    match statement:
        case Registers(_, names):
            return [name for name, _ in names]
        case Declaration(variable):
            return [variable.name]
    return []
