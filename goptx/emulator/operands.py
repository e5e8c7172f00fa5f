"""Turns operands into functions that read and write the registers of lanes.

Requires: a flat function body. Every name in an operand is looked up once, here, not at run time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from goptx.emulator.faults import Trouble
from goptx.emulator.instructions.constant_expression import whole
from goptx.emulator.instructions.lanewise import DTYPES, Array
from goptx.emulator.instructions.literal import literal
from goptx.emulator.instructions.special_registers import SPECIAL
from goptx.emulator.lanes import Lanes
from goptx.emulator.memory.address_spaces import FIRST
from goptx.ptx.ir import (
    TYPE_BYTES,
    Address,
    Arguments,
    Expression,
    Immediate,
    Instruction,
    Name,
    Negated,
    Operand,
    Pair,
    Sum,
    Vector,
)

Read = Callable[[Lanes], Array]
Write = Callable[[Lanes, Array, "Array | None"], None]
WIDE = np.dtype("V16")  # a register of 128 bits
CARRY = "%cc"  # not a name of PTX: the carry flag
_INT64 = np.dtype(np.int64)
_ADDRESSES = (Name, Sum)  # what stands between brackets


@dataclass(frozen=True, slots=True)
class Symbol:
    """A variable or function: its space ("code" for functions, "frame" for variables that every activation has anew)
    and its address there; in a frame, its offset from the frame's beginning."""

    space: str
    address: int
    size: int


@dataclass(slots=True, eq=False)
class Source:
    """How to read an operand, and its registers. `lost` finds the undefined bits as `missing` does; None for an operand
    that is undefined as a whole where one of its registers has an undefined bit. It is never changed."""

    read: Read
    registers: tuple[int, ...] = ()
    lost: Callable[[Lanes], Array | None] | None = None

    def each(self, lanes: Lanes) -> Array:
        """One value for each of the lanes, while `read` may return one for all. Not to be changed."""
        values = self.read(lanes)
        return values if values.ndim else np.full(lanes.count, values)

    def missing(self, lanes: Lanes) -> Array | None:
        """The undefined bits of the operand, in each of the lanes: as unsigned integers of the width that is read, or
        as bools where all bits of a lane are alike; None if all are defined."""
        return self.lost(lanes) if self.lost else lanes.unknown(self.registers)


@dataclass(slots=True)
class Names:
    """The meanings of the names in a function. `registers` maps registers to numbers; the carry flag is the first."""

    symbols: dict[str, Symbol]
    registers: dict[str, int] = field(default_factory=dict)
    dtypes: list[np.dtype[np.generic]] = field(default_factory=list)
    vectors: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def declare(self, types: tuple[str, ...], name: str, count: int | None) -> None:
        """Declares the registers of one `.reg` statement; for a vector its components."""
        scalar = types[-1].removeprefix(".")
        dtype = np.dtype(np.bool_) if scalar == "pred" else WIDE if scalar == "b128" else None
        dtype = dtype or np.dtype(f"u{TYPE_BYTES[scalar]}")
        lanes = next((int(t[2:]) for t in types if t in (".v2", ".v4")), 1)
        names = [name] if count is None else [f"{name}{i}" for i in range(count)]
        if lanes > 1:
            self.vectors |= {each: tuple(f"{each}.{c}" for c in "xyzw"[:lanes]) for each in names}
            names = [component for each in names for component in self.vectors[each]]
        self.registers.update(zip(names, range(len(self.dtypes), len(self.dtypes) + len(names)), strict=True))
        self.dtypes += [dtype] * len(names)

    def name_of(self, register: int) -> str:
        """The name of the register with that number."""
        return next(name for name, number in self.registers.items() if number == register)

    def holds_predicate(self, name: str) -> bool:
        return name in self.registers and self.dtypes[self.registers[name]] == np.bool_

    # reading -----------------------------------------------------------------------------------------

    def source(self, operand: Operand, type_: str) -> Source:
        """Reads the operand as a PTX type: one value for each lane, or a 0-dimensional array."""
        if isinstance(operand, Name) and operand.text in self.registers:  # the most frequent by far
            return self._register(operand.text, type_)
        match operand:
            case Arguments((single,)):
                return self.source(single, type_)
            case Sum() | Expression() if (text := constant(operand)) is not None:
                return self.source(Immediate(text), type_)
            case Immediate(text):
                value = _number(text, type_)
                return Source(lambda lanes: value)
            case Negated(name):
                inner = self.source(name, "pred")
                return Source(lambda lanes: ~inner.read(lanes), inner.registers)
            case Name(text) if text in SPECIAL or text.startswith("%envreg"):
                return self._special(text, type_)
            case Name() | Sum():
                return self._address(operand, DTYPES[type_])
        raise Trouble("unsupported", f"the operand `{operand}` is not one that .{type_} can be read from")

    def _register(self, name: str, type_: str) -> Source:
        number = self.registers[name]
        wanted, step = self._step(name, number, type_)
        if not step:
            return Source(lambda lanes: lanes.read(number), (number,), lambda lanes: lanes.undefined(number))
        if step == "view":
            return Source(
                lambda lanes: lanes.read(number).view(wanted), (number,), lambda lanes: lanes.undefined(number)
            )
        narrow = np.dtype(f"u{wanted.itemsize}")

        def lost(lanes: Lanes) -> Array | None:
            found = lanes.undefined(number)
            if found is None or found.dtype == np.bool_:
                return found
            read = found.astype(narrow)
            return read if read.any() else None

        return Source(lambda lanes: lanes.read(number).astype(narrow).view(wanted), (number,), lost)

    def _step(self, name: str, number: int, type_: str) -> tuple[np.dtype[np.generic], str]:
        """`_between` a register and a type. Raises `Trouble` where the register does not hold the type."""
        wanted, step = _between(self.dtypes[number], type_)
        if step is None:
            raise Trouble("unsupported", f"the register {name} does not hold a .{type_}")
        return wanted, step

    def _special(self, name: str, type_: str) -> Source:
        wanted = DTYPES[type_]

        def read(lanes: Lanes) -> Array:
            values = lanes.machine.special(name)
            values = lanes.of_these(values) if values.ndim else values
            return values.astype(f"u{wanted.itemsize}").view(wanted) if wanted != np.bool_ else values.astype(np.bool_)

        return Source(read)

    def _address(self, operand: Name | Sum, wanted: np.dtype[np.generic]) -> Source:
        """A register plus a constant, or the address of a symbol plus a constant, as an integer."""
        base: Name | Immediate | Sum = operand
        offset = 0
        if isinstance(operand, Sum):
            if Name in map(type, operand.tail):
                raise Trouble("unsupported", f"`{operand}`: an address that adds two names")
            base, offset = operand.base, _signed("0" + "".join(map(str, operand.tail)))
        if isinstance(base, Immediate):
            fixed = (_signed(base.text) + offset + (1 << 63)) % (1 << 64) - (1 << 63)
            return Source(lambda lanes: np.array(fixed).astype(wanted))
        assert isinstance(base, Name)
        if base.text in self.registers:
            number = self.registers[base.text]
            if not offset:
                return Source(lambda lanes: lanes.read(number).astype(wanted), (number,))
            held = self.dtypes[number]
            if held.itemsize == 4:  # the sum wraps around in 32 bits, as addresses of shared memory do
                short = np.uint32(offset % (1 << 32))
                return Source(lambda lanes: (lanes.read(number) + short).astype(wanted), (number,))
            far = wanted.type(offset)
            return Source(lambda lanes: lanes.read(number).astype(wanted) + far, (number,))
        symbol = self.symbol(base.text)
        if symbol.space == "frame":
            inside = FIRST + symbol.address + offset
            return Source(lambda lanes: np.array(lanes.frame.local + inside).astype(wanted))
        fixed = symbol.address + offset
        return Source(lambda lanes: np.array(fixed).astype(wanted))

    def symbol(self, name: str) -> Symbol:
        if name not in self.symbols:
            raise Trouble("unsupported", f"`{name}` is neither a register nor a variable or function")
        return self.symbols[name]

    def address(self, operand: Operand, space: str) -> tuple[Source, str]:
        """Reads addresses (64 bits, signed) from `[...]`, and their space. Where the instruction says `.param`,
        `.local` or nothing, the space is that of the symbol, which may be the frame's."""
        if not (isinstance(operand, Address) and len(operand.parts) == 1):
            raise Trouble("unsupported", f"the operand `{operand}` is not an address")
        inner = operand.parts[0]
        if isinstance(inner, Immediate):
            inner = Sum(inner, ())
        if not isinstance(inner, _ADDRESSES):
            raise Trouble("unsupported", f"the operand `{operand}` is not an address")
        base = inner.base if isinstance(inner, Sum) else inner
        if space in ("param", "local", "") and isinstance(base, Name) and base.text not in self.registers:
            own = self.symbol(base.text).space
            space = "local" if own == "frame" else space or (own if own in ("shared", "local") else "")
        return self._address(inner, _INT64), space

    # writing -----------------------------------------------------------------------------------------

    def target(self, operand: Operand, type_: str) -> Write:
        """Writes values of a PTX type; a wider register gets them extended by sign or by zeros."""
        if not isinstance(operand, Name):
            raise Trouble("unsupported", f"the operand `{operand}` cannot be written")
        number = self.registers.get(operand.text)
        if number is None:
            if operand.text == "_":
                return lambda lanes, values, missing: None
            raise Trouble("unsupported", f"`{operand}` is not a register")
        held = self.dtypes[number]
        given, step = self._step(operand.text, number, type_)
        if step != "resize" or given.kind == "b":
            return lambda lanes, values, missing: lanes.write(
                number, (values if values.ndim else np.full(lanes.count, values)).view(held), missing
            )
        wide = np.dtype(f"{'i' if given.kind == 'i' else 'u'}{held.itemsize}")
        bits = given if given.kind in "iu" else np.dtype(f"u{given.itemsize}")

        def write(lanes: Lanes, values: Array, missing: Array | None) -> None:
            if missing is not None and missing.dtype != np.bool_:
                missing = missing.view(bits).astype(wide).view(held)
            lanes.write(number, _whole(values, lanes).view(bits).astype(wide).view(held), missing)

        return write

    def targets(self, operand: Operand, types: tuple[str, ...]) -> list[Write]:
        """`target` for each part of a destination."""
        if len(types) == 1 and isinstance(operand, Name) and operand.text in self.registers:
            return [self.target(operand, types[0])]
        return [self.target(part, t) for part, t in zip(self.parts(operand), types, strict=False)]

    def parts(self, operand: Operand) -> tuple[Operand, ...]:
        """The registers in a vector or a pair, or a special register of four numbers, such as `%tid`."""
        match operand:
            case Name(text) if text in self.registers:
                return (operand,)
            case Vector(parts):
                return parts
            case Pair(first, second):
                return (first, second)
            case Name(text) if text in self.vectors:
                return tuple(map(Name, self.vectors[text]))
            case Name(text) if f"{text}.w" in SPECIAL:
                return tuple(Name(f"{text}.{c}") for c in "xyzw")
        return (operand,)


def _whole(values: Array, lanes: Lanes) -> Array:
    return values if values.ndim else np.full(lanes.count, values)


@lru_cache
def _between(held: np.dtype[np.generic], type_: str) -> tuple[np.dtype[np.generic], str | None]:
    """The dtype of a PTX type, and how a register's own becomes it: "" where they are the same, by a "view" where only
    the sizes are, else "resize"; None where such a register cannot hold the type."""
    wanted = WIDE if type_ == "b128" else DTYPES[type_]
    alike = held.kind == wanted.kind or not {held.kind, wanted.kind} & {"b", WIDE.kind}
    if not alike or held.itemsize < wanted.itemsize:
        return wanted, None
    return wanted, "" if held == wanted else "view" if held.itemsize == wanted.itemsize else "resize"


@lru_cache(maxsize=1 << 12)
def _signed(expression: str) -> int:
    """The value of a constant expression as a signed integer of 64 bits."""
    return (whole(expression) + (1 << 63)) % (1 << 64) - (1 << 63)


@lru_cache(maxsize=1 << 12)
def _number(text: str, type_: str) -> Array:
    """The value of an immediate, which instructions share."""
    value = literal(text, type_)
    value.flags.writeable = False
    return value


def constant(operand: Sum | Expression) -> str | None:
    """The text of an expression without names other than WARP_SZ, with the number in its place; None if it has some."""
    parts = operand.pieces if isinstance(operand, Expression) else (operand.base, *operand.tail)
    if any(isinstance(part, Name) and part.text != "WARP_SZ" for part in parts):
        return None
    return "".join("32" if isinstance(part, Name) else str(part) for part in parts)


def operands_of(instruction: Instruction) -> tuple[Operand, ...]:
    """The operands, with those in parentheses as separate operands."""
    operands = instruction.operands
    if Arguments not in map(type, operands):
        return operands
    return tuple(o.parts[0] if isinstance(o, Arguments) and len(o.parts) == 1 else o for o in operands)
