"""Whole numbers that a kernel computes before its own code: what is known of them is folded, the rest becomes
instructions on fresh 32-bit registers.

Requires: numbers below 2**31, so that nothing overflows. Each register is written once, and what was computed before
is not computed again.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from goptx.ptx.ir import Address, Immediate, Instruction, Name, Operand, Registers, Vector

Value = int | Name


@dataclass(slots=True)
class Fresh:
    """Registers whose names begin with `stem`; `types` has the type of each, its number being its place."""

    stem: str
    types: list[str] = field(default_factory=list)

    def register(self, type_: str) -> Name:
        self.types.append(type_)
        return Name(f"{self.stem}{len(self.types) - 1}")

    def declared(self) -> tuple[Registers, ...]:
        """One declaration for each type."""
        return tuple(
            Registers((type_,), tuple((f"{self.stem}{i}", None) for i, t in enumerate(self.types) if t == type_))
            for type_ in dict.fromkeys(self.types)
        )


def free_stem(stem: str, names: Iterable[str]) -> str:
    """The stem, made longer until none of the names begins with it."""
    taken = list(names)
    while any(name.startswith(stem) for name in taken):
        stem += "_"
    return stem


@dataclass(slots=True)
class Scalars:
    """`code` computes them, in order."""

    fresh: Fresh
    code: list[Instruction] = field(default_factory=list)
    made: dict[tuple[object, ...], Name] = field(default_factory=dict)

    def add(self, a: Value, b: Value) -> Value:
        if isinstance(a, int) and isinstance(b, int):
            return a + b
        return a if b == 0 else b if a == 0 else self._made("add.u32", a, b)

    def subtract(self, a: Value, b: Value) -> Value:
        """Where `b` is above `a`, what is left is above all numbers that matter."""
        if isinstance(a, int) and isinstance(b, int):
            return a - b
        return a if b == 0 else self._made("sub.u32", a, b)

    def multiply(self, a: Value, b: Value) -> Value:
        if isinstance(a, int) and isinstance(b, int):
            return a * b
        return 0 if 0 in (a, b) else a if b == 1 else b if a == 1 else self._made("mul.lo.u32", a, b)

    def multiply_add(self, a: Value, b: Value, c: Value) -> Value:
        """a * b + c."""
        if 0 in (a, b, c) or 1 in (a, b) or (isinstance(a, int) and isinstance(b, int)):
            return self.add(self.multiply(a, b), c)
        return self._made("mad.lo.u32", a, b, c)

    def divide(self, a: Value, b: Value, most: int) -> Value:
        """Rounded down; `a` is at most `most`. ptxas writes out a division in full even by a constant, so by what is
        known this multiplies: with m = 2**(32+s) / b + 1 and an s large enough that the error of m does not change the
        result."""
        if isinstance(b, int):
            if isinstance(a, int):
                return a // b
            if b & (b - 1) == 0:
                return a if b == 1 else self._made("shr.u32", a, b.bit_length() - 1)
            shift = next(s for s in range(32) if (b - (1 << 32 + s) % b) * most < 1 << 32 + s)
            high = self._made("mul.hi.u32", a, (1 << 32 + shift) // b + 1)
            return self._made("shr.u32", high, shift) if shift else high
        return 0 if a == 0 else self._made("div.u32", a, b)

    def remainder(self, a: Value, b: Value, most: int) -> Value:
        """As `divide`."""
        if isinstance(b, int):
            if isinstance(a, int):
                return a % b
            if b & (b - 1) == 0:
                return 0 if b == 1 else self._made("and.b32", a, b - 1)
        return 0 if a == 0 else self._made("sub.u32", a, self.multiply(self.divide(a, b, most), b))

    def least(self, a: Value, b: Value) -> Value:
        """Of two numbers."""
        if isinstance(a, int) and isinstance(b, int):
            return min(a, b)
        return a if a == b else 0 if 0 in (a, b) else self._made("min.u32", a, b)

    def round_up(self, a: Value, unit: int) -> Value:
        """To a multiple of a power of two."""
        if isinstance(a, int):
            return -(-a // unit) * unit
        return self._made("and.b32", self.add(a, unit - 1), -unit)

    def read(self, name: str) -> Name:
        """A special register, or the address of a shared variable."""
        return self._made("mov.u32", Name(name))

    def read_address(self, place: Operand) -> Name:
        """Of a shared variable, or of a place in it."""
        return self._made("mov.u32", place)

    def parameter(self, name: str) -> Name:
        return self._made("ld.param.u32", Address((Name(name),)))

    def element(self, array: Operand, index: Value, size: int) -> Name:
        """The address of an element of an array, in 64 bits; `size` in bytes."""
        return self._made("mad.wide.u32", index, size, self._made("mov.u64", array, type_=".b64"), type_=".b64")

    def widened(self, a: Value) -> Name:
        """In 64 bits."""
        return self._made("cvt.u64.u32", a, type_=".b64")

    def halves(self, a: Value, b: Value) -> tuple[Name, Name]:
        """The low and the high word of a * (b + 1)."""
        wide = self._made("mad.wide.u32", a, b, self.widened(a), type_=".b64")
        low, high = ((half, wide) for half in ("low", "high"))
        if low not in self.made:
            self.made[low], self.made[high] = (self.fresh.register(".b32") for _ in range(2))
            self.code.append(Instruction("mov.b64", (Vector((self.made[low], self.made[high])), wide)))
        return self.made[low], self.made[high]

    def compare(self, relation: str, a: Value, b: Value) -> Name:
        """A predicate: "ge", "gt" and so on."""
        return self._made(f"setp.{relation}.u32", a, b, type_=".pred")

    def select(self, condition: Name, a: Value, b: Value) -> Value:
        """`a` where the predicate holds, else `b`."""
        return a if a == b else self._made("selp.b32", a, b, condition)

    def either(self, a: Name, b: Name) -> Name:
        return self._made("or.pred", a, b, type_=".pred")

    def of_warp(self, a: Value) -> Value:
        """A number that is equal for all lanes of a warp, so that an assembler knows it: then it has uniform registers
        for what is computed from it."""
        return a if isinstance(a, int) else self._made("shfl.sync.idx.b32", a, 0, 31, -1)

    def holds_for_warp(self, a: Name) -> Name:
        """The same for a predicate."""
        return self._made("vote.sync.any.pred", a, -1, type_=".pred")

    def _made(self, opcode: str, *operands: Value | Operand, type_: str = ".b32") -> Name:
        key = (opcode, *operands)
        if key not in self.made:
            self.made[key] = self.fresh.register(type_)
            self.code.append(Instruction(opcode, (self.made[key], *map(operand, operands))))
        return self.made[key]


def operand(value: Value | Operand) -> Operand:
    return Immediate(str(value)) if isinstance(value, int) else value
