"""The sides of a branch as operations on values, so that it does not matter which registers hold these.

Requires: two straight pieces of code that only compute. Ensures: copies and constants are no operations; each value is
one from before the branch, a constant, or the result of an operation of the side.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from goptx.latency.slots import slots
from goptx.ptx.ir import TYPE_BYTES, Immediate, Instruction, Name, Negated, Operand, Vector
from goptx.ptx.opcodes import SELECTABLE, facts_of

ONE = "0f3F800000"
_OF_THREAD = ("%tid.", "%ntid.", "%ctaid.", "%nctaid.")  # special registers that are always the same for a thread

Types = Mapping[str, str]  # of registers, as they are declared


class Outer(NamedTuple):
    """What a register holds before the branch, a special register, or a symbol."""

    name: str


class Constant(NamedTuple):
    """A number as it is written, with its type, "" where that is not one of `selp`; and the type of the register that
    it is moved to, "" where it stands in the operation itself."""

    type: str
    text: str
    kind: str = ""


class Own(NamedTuple):
    """A result of an operation of the side: the operation's number, and which of its results."""

    operation: int
    part: int


Value = Outer | Constant | Own


@dataclass(frozen=True, slots=True)
class Operation:
    """`sources` are the values that it reads, in the order of the text; `form` is what else of it has to be equal in
    another one that is to be the same: its opcode, the types of its results, and how operands are written."""

    instruction: Instruction
    sources: tuple[Value, ...]
    results: tuple[str, ...]
    form: tuple[object, ...]

    @property
    def cost(self) -> int:
        """Issue slots of a warp."""
        return slots(self.instruction)

    def divided(self) -> Operation | None:
        """A reciprocal as the quotient of 1 and its operand, which has the same bits."""
        opcode = facts_of(self.instruction.opcode).as_division
        if not opcode:
            return None
        result, divisor = self.instruction.operands
        quotient = replace(self.instruction, opcode=opcode, operands=(result, Immediate(ONE), divisor))
        sources = (Constant("f32", ONE), *self.sources)
        return Operation(quotient, sources, self.results, (opcode, *self.form[1:], False))


@dataclass(slots=True)
class Side:
    """`held` has the values of the registers that it writes, at its end; `moves` the instruction that moves a constant
    to a register, for each that is moved to one; `products` the numbers of operations that give a product which an
    assembler may contract with a sum, perhaps copied or with another sign."""

    operations: list[Operation] = field(default_factory=list)
    held: dict[str, Value] = field(default_factory=dict)
    moves: dict[Constant, Instruction] = field(default_factory=dict)
    products: set[int] = field(default_factory=set)

    def value(self, register: str) -> Value:
        return self.held.get(register, Outer(register))

    def is_product(self, value: Value) -> bool:
        return isinstance(value, Own) and value.operation in self.products

    def readers(self, number: int) -> list[int]:
        """The operations that read a result of this one."""
        return [
            k
            for k, operation in enumerate(self.operations)
            if any(isinstance(v, Own) and v.operation == number for v in operation.sources)
        ]

    def add_to(self, products: Collection[str]) -> bool:
        """Whether a sum reads one of these registers as it is before the side, perhaps copied or with another sign."""
        handed_on = set[int]()
        for number, operation in enumerate(self.operations):
            facts = facts_of(operation.instruction.opcode)
            if any(v.name in products for v in operation.sources if isinstance(v, Outer)) or any(
                v.operation in handed_on for v in operation.sources if isinstance(v, Own)
            ):
                if facts.is_sum:
                    return True
                if facts.hands_product_on:
                    handed_on.add(number)
        return False

    @property
    def cost(self) -> int:
        return sum(o.cost for o in self.operations)


def side_of(code: Sequence[object], types: Types) -> Side | None:
    """The side that some code is; None where it does anything but compute, or has operands that are not looked at."""
    side = Side()
    for instruction in code:
        if not isinstance(instruction, Instruction) or not _is_plain(instruction, types):
            return None
        _add(side, instruction, types)
    return side


def leaves(operand: Operand) -> Iterator[Operand]:
    """The registers and numbers of an operand."""
    if isinstance(operand, Vector):
        for part in operand.parts:
            yield from leaves(part)
    else:
        yield operand.name if isinstance(operand, Negated) else operand


def rebuilt(operand: Operand, found: Iterator[Operand]) -> Operand:
    """The operand with other registers and numbers."""
    if isinstance(operand, Vector):
        return Vector(tuple(rebuilt(part, found) for part in operand.parts))
    leaf = next(found)
    return Negated(leaf) if isinstance(operand, Negated) and isinstance(leaf, Name) else leaf


def _is_plain(instruction: Instruction, types: Types) -> bool:
    if instruction.guard or not instruction.operands or not facts_of(instruction.opcode).only_computes:
        return False
    result, *sources = instruction.operands
    if not isinstance(result, Name | Vector):
        return False
    if not all(isinstance(leaf, Name) and (leaf.text in types or leaf.text == "_") for leaf in leaves(result)):
        return False
    return all(_is_source(leaf, types) for source in sources for leaf in leaves(source))


def _is_source(leaf: Operand, types: Types) -> bool:
    if isinstance(leaf, Name):
        known = leaf.text in types or leaf.text.startswith(_OF_THREAD) or not leaf.text.startswith("%")
        return known and leaf.text != "_"
    return isinstance(leaf, Immediate)


def _add(side: Side, instruction: Instruction, types: Types) -> None:
    facts = facts_of(instruction.opcode)
    result, *sources = instruction.operands
    values = tuple(
        _value(side, leaf, "" if isinstance(source, Vector) else facts.number_type)  # parts have a smaller type
        for source in sources
        for leaf in leaves(source)
    )
    if facts.moves and not facts.converts_address and isinstance(result, Name) and len(values) == 1:
        value, kind = values[0], types[result.text]
        if isinstance(value, Constant) and value.type and not value.kind and width(kind) == width(value.type):
            moved = value._replace(kind=kind)
            side.moves.setdefault(moved, instruction)
            side.held[result.text] = moved
            return
        if isinstance(sources[0], Name) and types.get(sources[0].text) == kind:
            side.held[result.text] = value
            return
    results = tuple(leaf.text for leaf in leaves(result) if isinstance(leaf, Name))
    form = (instruction.opcode, tuple(types.get(r, r) for r in results), *map(_form, (result, *sources)))
    number = len(side.operations)
    if facts.is_product or (facts.hands_product_on and any(map(side.is_product, values))):
        side.products.add(number)
    side.operations.append(Operation(instruction, values, results, form))
    side.held |= {r: Own(number, part) for part, r in enumerate(results) if r != "_"}


def _value(side: Side, leaf: Operand, type_: str) -> Value:
    if isinstance(leaf, Name):
        return side.value(leaf.text)
    assert isinstance(leaf, Immediate)
    return Constant(type_, leaf.text)


def _form(operand: Operand) -> object:
    """How an operand is written: whether it is negated; of a vector, that of its parts."""
    if isinstance(operand, Vector):
        return tuple(map(_form, operand.parts))
    return isinstance(operand, Negated)


def width(type_: str) -> int:
    """The bits of a type; 0 for predicates."""
    return 0 if type_ == "pred" else 8 * TYPE_BYTES.get(type_, 0)


def chosen_type(values: Sequence[Value], kinds: Sequence[str]) -> str:
    """The type in which `selp` chooses one of two values, "pred" for predicates, "" where it cannot; `kinds` are the
    types of the registers that hold the values, "" for numbers."""
    numbers = {v.type for v in values if isinstance(v, Constant)}
    registers = {k for v, k in zip(values, kinds, strict=True) if not isinstance(v, Constant)}
    if "" in registers or "" in numbers or len(numbers) > 1:
        return ""
    if "pred" in registers:
        return "pred" if len(registers) == 1 and not numbers else ""
    if numbers:
        (type_,) = numbers
        return type_ if all(width(k) == width(type_) and _agree(k, type_) for k in registers) else ""
    if len(registers) == 1 and registers <= SELECTABLE:
        return next(iter(registers))
    return _of_bits(registers)


def common_type(kinds: Iterable[str]) -> str:
    """The type of a register for values of registers of these types."""
    each = set(kinds)
    return each.pop() if len(each) == 1 else _of_bits(each)


def _of_bits(kinds: Collection[str]) -> str:
    """The type of all values that are as wide, "" if `selp` has none."""
    bits = {width(k) for k in kinds}
    found = f"b{min(bits)}"
    return found if len(bits) == 1 and found in SELECTABLE else ""


def _agree(kind: str, type_: str) -> bool:
    """Whether an operand of a type may be a register of another type that is as wide."""
    return kind == type_ or "b" in (kind[0], type_[0]) or "f" not in (kind[0], type_[0])
