"""Writes two sides of a branch as one piece of straight code.

Requires: the sides, and which of their operations are one. Ensures: all results are written to fresh registers before
any register that the kernel has is written, so each choice still sees the predicate of the branch.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace

from goptx.analysis.dataflow import read, written
from goptx.ptx.ir import Guard, Immediate, Instruction, Name, Operand, Registers
from goptx.weaving.simplify.align_sides import Alignment, Both, Sides, is_one
from goptx.weaving.simplify.branch_sides import Constant, Operation, Outer, Own, Value, leaves, rebuilt


@dataclass(slots=True)
class FreshRegisters:
    """Registers beside those of a kernel; `stem` begins their names, `made` has their types."""

    stem: str
    made: dict[str, str] = field(default_factory=dict)
    count: int = 0

    def new(self, type_: str) -> str:
        name = f"{self.stem}{self.count}"
        self.count += 1
        self.made[name] = type_
        return name

    def declared(self, there: Collection[str]) -> tuple[Registers, ...]:
        """Those that are still there."""
        made = {name: type_ for name, type_ in self.made.items() if name in there}
        types = dict.fromkeys(made.values())
        return tuple(Registers((f".{t}",), tuple((n, None) for n, own in made.items() if own == t)) for t in types)


@dataclass
class Melding:
    """The code of a branch to the first of two sides, or to the second. `guard` holds for the first; `line` is that of
    the branch."""

    sides: Sides
    alignment: Alignment
    guard: Guard
    line: int
    fresh: FreshRegisters
    code: list[Instruction] = field(default_factory=list)
    _names: tuple[dict[Own, str], dict[Own, str]] = field(default_factory=lambda: ({}, {}))
    _chosen: dict[tuple[str, str, Operand, Operand], str] = field(default_factory=dict)
    _constants: dict[Constant, str] = field(default_factory=dict)
    _put_in: dict[str, str] = field(default_factory=dict)  # the kernel's registers for fresh ones
    _otherwise: str = ""  # the register that holds for the second side, if it is needed

    def written(self) -> tuple[Instruction, ...]:
        """The code, with the results in the registers in which they are read."""
        for i, j in self._order():
            self._operation(i, j)
        for register, held in [(r, self._result(r)) for r in self.sides.results]:
            self._put(register, held)
        return tuple(self.code)

    def _put(self, register: str, held: str) -> None:
        """Makes a fresh register one that the kernel has: the instruction that writes it writes that, if nothing after
        it reads what the register has held before; else it is moved there at the end."""
        made = next((k for k, i in enumerate(self.code) if held in written(i)), None)
        if made is None or any(register in read(i) for i in self.code[made + 1 :]):
            self._add(f"mov.{_moved(self.sides.types[register])}", Name(register), Name(self._put_in.get(held, held)))
            return
        self._put_in[held] = register
        del self.fresh.made[held]
        self.code = [_renamed(i, held, register) for i in self.code]

    def _order(self) -> Iterator[tuple[int | None, int | None]]:
        """The operations of both sides: those that are one, and before them what is only in the first or second."""
        i = j = 0
        first, second = (len(side.operations) for side in self.sides.sides)
        for one, other in (*sorted(self.alignment.pairs), (first, second)):
            yield from ((n, None) for n in range(i, one))
            yield from ((None, n) for n in range(j, other))
            if one < first:
                yield one, other
            i, j = one + 1, other + 1

    def _operation(self, i: int | None, j: int | None) -> None:
        if i is not None and j is not None:
            pair = self.sides.pair(i, j)
            assert pair is not None
            sources = [self._source(both) for both in zip(pair[0].sources, pair[1].sources, strict=True)]
            self._write(pair[0], sources, (i, j))
        else:
            side, number = (0, i) if i is not None else (1, j)
            assert number is not None
            operation = self.sides.sides[side].operations[number]
            self._write(operation, [self._operand(v, side) for v in operation.sources], (i, j))

    def _write(self, operation: Operation, sources: Sequence[Operand], numbers: tuple[int | None, int | None]) -> None:
        types = self.sides.types
        results = ["_" if r == "_" else self.fresh.new(types[r]) for r in operation.results]
        for names, number in zip(self._names, numbers, strict=True):
            if number is not None:
                names.update({Own(number, part): name for part, name in enumerate(results)})
        found = iter((*map(Name, results), *sources))
        operands = tuple(rebuilt(operand, found) for operand in operation.instruction.operands)
        self.code.append(replace(operation.instruction, operands=operands))

    def _source(self, both: Both) -> Operand:
        """What an operation of both sides reads."""
        if is_one(both, self.alignment.pairs):
            side = 1 if isinstance(both[0], Constant) and not both[0].kind else 0
            return self._operand(both[side], side)
        return Name(self._choice(both))

    def _operand(self, value: Value, side: int) -> Operand:
        match value:
            case Outer(name):
                return Name(name)
            case Own():
                return Name(self._names[side][value])
            case Constant():
                return Name(self._constant(value)) if value.kind else Immediate(value.text)

    def _constant(self, value: Constant) -> str:
        """The register that a constant is moved to, as one side does."""
        if value not in self._constants:
            move = next(side.moves[value] for side in self.sides.sides if value in side.moves)
            self._constants[value] = self.fresh.new(value.kind)
            self.code.append(replace(move, operands=(Name(self._constants[value]), move.operands[1])))
        return self._constants[value]

    def _choice(self, both: Both) -> str:
        """The register with that of two values which the side has that the branch goes to."""
        one, other = (
            Immediate(v.text) if isinstance(v, Constant) else self._operand(v, side) for side, v in enumerate(both)
        )
        type_ = self.sides.result_type(both)  # an assembler does not take the same number in all of them
        kind = self.sides.kind(both)
        if (kind, type_, one, other) not in self._chosen:
            result = self.fresh.new(type_)
            (self._of_predicates if kind == "pred" else self._of_numbers)(kind, result, one, other)
            self._chosen[kind, type_, one, other] = result
        return self._chosen[kind, type_, one, other]

    def _of_numbers(self, kind: str, result: str, one: Operand, other: Operand) -> None:
        first, second = (other, one) if self.guard.negated else (one, other)
        self._add(f"selp.{kind}", Name(result), first, second, self.guard.predicate)

    def _of_predicates(self, kind: str, result: str, one: Operand, other: Operand) -> None:
        """(goes to the first and `one`) or (goes to the second and `other`)."""
        taken, either = self.fresh.new(kind), self.fresh.new(kind)
        if not self._otherwise:
            self._otherwise = self.fresh.new(kind)
            self._add("not.pred", Name(self._otherwise), self.guard.predicate)
        holds, fails = self.guard.predicate, Name(self._otherwise)
        first, second = (fails, holds) if self.guard.negated else (holds, fails)
        self._add("and.pred", Name(taken), first, one)
        self._add("and.pred", Name(either), second, other)
        self._add("or.pred", Name(result), Name(taken), Name(either))

    def _add(self, opcode: str, *operands: Operand) -> None:
        self.code.append(Instruction(opcode, operands, line=self.line))

    def _result(self, register: str) -> str:
        """The fresh register with what a register holds after both sides."""
        side = self.sides.sides
        both = side[0].value(register), side[1].value(register)
        source = self._source(both)
        if isinstance(source, Name) and source.text in self.fresh.made:
            return source.text
        type_ = self.sides.types[register]
        result = self.fresh.new(type_)
        self._add(f"mov.{_moved(type_)}", Name(result), source)
        return result


def _moved(type_: str) -> str:
    """The type in which a register of that type is moved."""
    return "b16" if type_ in ("f16", "bf16") else type_


def _renamed(instruction: Instruction, old: str, new: str) -> Instruction:
    """The instruction with a register renamed; itself if it does not have that."""
    if old not in read(instruction) and old not in written(instruction):
        return instruction
    found = (Name(new) if leaf == Name(old) else leaf for o in instruction.operands for leaf in leaves(o))
    return replace(instruction, operands=tuple(rebuilt(operand, found) for operand in instruction.operands))
