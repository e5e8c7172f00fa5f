"""Makes a scalar parameter of a kernel the number of its CTA along one axis ("two-dimensional" in Harlan).

Requires: a module with the entry, device functions inlined where that can be. Ensures: a kernel without the parameter,
in which start + step * index stands in its place; along the axis it sees the grid of one CTA that it was launched with.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from goptx.errors import CannotWeave, InputError
from goptx.ptx.flatten import flatten
from goptx.ptx.ir import (
    TYPE_BYTES,
    Address,
    Function,
    Immediate,
    Instruction,
    Module,
    Name,
    Operand,
    Registers,
    Scope,
    Statement,
    Variable,
)
from goptx.ptx.opcodes import facts_of
from goptx.ptx.walk import mentioned, operand_names
from goptx.weaving.link.substitute import Substitution
from goptx.weaving.link.symbols import reached_symbols
from goptx.weaving.shapes.scalar_code import free_stem

INTEGERS = ("u32", "s32", "u64", "s64")


@dataclass(frozen=True, slots=True)
class Iteration:
    """`parameter`, by position, is start + step * index along the axis ("x", "y" or "z")."""

    parameter: int
    axis: str
    start: int
    step: int


def iterated(module: Module, entry: Function, over: Iteration) -> Module:
    """The module with the entry so. Raises `InputError` where the parameter is not an integer, or start or step does
    not fit; `CannotWeave` where the kernel uses the axis, or does more with the parameter than load it."""
    parameter = entry.parameters[over.parameter]
    described = f"{module.source}:{entry.line}: `{entry.name}`"
    if parameter.type not in INTEGERS or parameter.size != TYPE_BYTES[parameter.type]:
        raise InputError(
            f"{described}: parameter {over.parameter} ({parameter.name}) is not an integer of 32 or 64 bits but "
            f".{parameter.type} of {parameter.size} bytes."
        )
    bits = 8 * parameter.size
    if over.step == 0 or not all(-(1 << bits - 1) <= n < 1 << bits for n in (over.start, over.step)):
        raise InputError(
            f"{described}: start={over.start}, step={over.step} do not fit .{parameter.type}; give numbers of its "
            "range, and a step that is not 0."
        )
    flat = flatten(entry.body or (), lambda name: name)
    reached = reached_symbols(module, entry)
    for function in (f for f in module.functions if f.name in reached):
        for register in (f"%{r}{a}" for r in ("ctaid", "nctaid") for a in ("", f".{over.axis}")):
            if register in operand_names(function.body or ()):
                raise CannotWeave(
                    f"{module.source}:{function.line}: the device function `{function.name}` reads {register}, so the "
                    f"axis {over.axis} is in use; inline the function, or take another axis.",
                    rule="batch-axis",
                )
    loading = _Loading(module, entry, parameter, flat.registers, over)
    code = tuple(loading.statement(s) for s in flat.code)
    body = (*flat.registers, *loading.declared(), *flat.variables, *loading.begin(), *code)
    parameters = tuple(p for p in entry.parameters if p is not parameter)
    made = replace(entry, parameters=parameters, body=body)
    return replace(module, items=tuple(made if i is entry else i for i in module.items))


class _Loading:
    """What becomes of the entry's statements."""

    def __init__(
        self, module: Module, entry: Function, parameter: Variable, registers: Sequence[Registers], over: Iteration
    ) -> None:
        self.module, self.entry, self.parameter, self.over = module, entry, parameter, over
        self.bytes = parameter.size
        self.registers = registers
        names = [name for declared in registers for name, _ in declared.names]
        self.stem = free_stem("%iteration", names)
        self.nctaid = Substitution({f"%nctaid.{over.axis}": Immediate("1")}, self.at)

    def at(self, line: int) -> str:
        return f"{self.module.source}:{line}: `{self.entry.name}`"

    @property
    def value(self) -> Name:
        return Name(f"{self.stem}{self.bytes}")

    def declared(self) -> list[Registers]:
        return [Registers((f".b{8 * n}",), ((f"{self.stem}{n}", None),)) for n in sorted({4, self.bytes})]

    def begin(self) -> list[Instruction]:
        """What computes the value."""
        index = Name(f"{self.stem}4")
        code = [Instruction("mov.u32", (index, Name(f"%ctaid.{self.over.axis}")))]
        if self.bytes == 8:
            code.append(Instruction("cvt.u64.u32", (self.value, index)))
        if (self.over.start, self.over.step) != (0, 1):
            numbers = (Immediate(str(n)) for n in (self.over.step, self.over.start))
            opcode = f"mad.lo.{self.parameter.type[0]}{8 * self.bytes}"
            code.append(Instruction(opcode, (self.value, self.value, *numbers)))
        return code

    def statement(self, statement: Statement) -> Statement:
        match statement:
            case Instruction():
                return self.instruction(statement)
            case Scope(inner):
                return Scope(tuple(map(self.statement, inner)))
        assert self.parameter.name not in mentioned((statement,))  # its address is not a constant
        return statement

    def instruction(self, instruction: Instruction) -> Instruction:
        names = operand_names((instruction,))
        for register in ("%ctaid", f"%ctaid.{self.over.axis}", "%nctaid"):
            if register in names:
                raise CannotWeave(
                    f"{self.at(instruction.line)}: `{instruction}` reads {register}, so the axis {self.over.axis} is "
                    "in use; take another axis.",
                    rule="batch-axis",
                )
        if self.parameter.name in names:
            return self.loaded(instruction)
        return self.nctaid.instruction(instruction)

    def loaded(self, load: Instruction) -> Instruction:
        """The value in place of what is loaded."""
        facts = facts_of(load.opcode)
        whole = len(load.operands) == 2 and load.operands[1] == Address((Name(self.parameter.name),))
        size = TYPE_BYTES[facts.types[-1]] if facts.types else 0
        target = load.operands[0]
        width = self.width(target)
        if not (facts.loads_parameter and whole and size == self.bytes and width):
            raise CannotWeave(
                f"{self.at(load.line)}: `{load}` takes the parameter in another way than by a load of all its "
                f"{self.bytes} bytes, so nothing can stand in its place.",
                rule="substitutable-operands",
            )
        if width == self.bytes:
            return replace(load, opcode=f"mov.b{8 * self.bytes}", operands=(target, self.value))
        sign = "s" if facts.types[-1].startswith("s") else "u"  # into a wider register
        return replace(load, opcode=f"cvt.{sign}{8 * width}.{sign}{8 * self.bytes}", operands=(target, self.value))

    def width(self, register: Operand) -> int:
        """Bytes; 0 for what is not a register of one number."""
        for declared in self.registers:
            for name, count in declared.names:
                numbers = str(register).removeprefix(name)
                ranged = count is not None and str(register).startswith(name) and numbers.isdigit()
                if str(register) == name or (ranged and int(numbers) < (count or 0)):
                    return TYPE_BYTES.get(declared.types[-1].removeprefix("."), 0) if len(declared.types) == 1 else 0
        return 0
