"""Bounds of the integers in registers, as far as thread numbers determine them.

Requires: the instructions of a kernel and the known part of its launch shape; an unknown size ranges from 1 to the
maximum of a launch. A register has a range if one instruction defines it, by arithmetic on thread numbers, constants
and parameters. Guards and branches are ignored, so the bounds include threads beyond a guard.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import permutations
from operator import and_

from goptx.analysis.cfg import closure
from goptx.analysis.dataflow import read, register_of, written
from goptx.launch.shape import MOST_ALONG, MOST_CTAS, Axes
from goptx.ptx.ir import TYPE_BYTES, Immediate, Instruction, Name, Operand, Sum, whole_number
from goptx.ptx.opcodes import facts_of
from goptx.ptx.walk import names_in

Extent = tuple[int, int, int]
_NUMBERS_OF_THREADS = ("%tid", "%ctaid", "%laneid")
_INTEGERS = frozenset(f"{kind}{bits}" for kind in "usb" for bits in (8, 16, 32, 64))
_NOT_PLAIN = frozenset(("hi", "cc", "sat", "pack"))


@dataclass(frozen=True, slots=True)
class Range:
    """From `low` to `high`, both included, relative to `base` if that is a parameter or variable. `bits`: those that
    may be set in a natural number; None if only `high` says that."""

    low: int
    high: int
    base: str = ""
    bits: int | None = None

    @property
    def natural(self) -> bool:
        return not self.base and self.low >= 0

    @property
    def mask(self) -> int:
        """The bits that may be set in a natural number."""
        below = (1 << self.high.bit_length()) - 1
        return below if self.bits is None else below & self.bits

    @property
    def number(self) -> int | None:
        """The value, if there is only one."""
        return self.low if self.low == self.high and not self.base else None


class Ranges:
    """The ranges of a kernel's operands; None where nothing is known. Parameters without a value in `known` are
    bases."""

    def __init__(
        self,
        code: Sequence[Instruction],
        parameters: Iterable[str],
        known: Mapping[str, int],
        grid: Axes,
        block: Axes,
    ) -> None:
        self._parameters = {p: Range(known[p], known[p]) if p in known else Range(0, 0, p) for p in parameters}
        self._found: dict[str, Range | None] = {"%laneid": Range(0, 31)}
        for axis, ctas, threads in zip("xyz", _sizes(grid, MOST_CTAS), _sizes(block, MOST_ALONG), strict=True):
            self._found |= {f"%ctaid.{axis}": Range(0, ctas.high - 1), f"%nctaid.{axis}": ctas}
            self._found |= {f"%tid.{axis}": Range(0, threads.high - 1), f"%ntid.{axis}": threads}
        self._definitions: dict[str, list[Instruction]] = {}
        feeds: dict[str, frozenset[str]] = {}
        for instruction in code:
            facts = facts_of(instruction.opcode)
            reads = frozenset() if facts.loads and facts.space != "param" else read(instruction)
            for register in written(instruction):
                self._definitions.setdefault(register, []).append(instruction)
                feeds[register] = feeds.get(register, frozenset()) | reads
        self._feeds = feeds
        for register in self._definitions:  # in order, so that most operands have their range already
            self._register(register)

    def of(self, operand: Operand) -> Range | None:
        match operand:
            case Immediate(text):
                return _number(text)
            case Name(text):
                return self._register(text)
            case Sum(base, tail):
                return _add(self.of(base), _number("".join(map(str, tail))))
        return None

    def sources(self, operands: Iterable[Operand]) -> frozenset[str]:
        """The parameters that operands are computed from, except through memory."""
        return self._all_sources(operands) & self._parameters.keys()

    def in_variable(self, operand: Operand) -> bool:
        """Whether an operand is computed from the address of a variable and not from a parameter."""
        names = self._all_sources([operand])
        variables = {n for n in names if n not in self._definitions and not n.startswith("%")}
        return bool(variables) and not variables & self._parameters.keys()

    def counts_threads(self, operand: Operand) -> bool:
        """Whether an operand is computed from the number of a thread, CTA or lane."""
        return any(name.startswith(_NUMBERS_OF_THREADS) for name in self._all_sources([operand]))

    def _all_sources(self, operands: Iterable[Operand]) -> frozenset[str]:
        names = frozenset(register_of(n) for operand in operands for n in names_in(operand))
        return names | closure(names, self._feeds)

    def _register(self, name: str) -> Range | None:
        if name not in self._found:
            self._found[name] = None  # for a register that is computed from itself
            definitions = self._definitions.get(name, [])
            if len(definitions) == 1:
                self._found[name] = self._defined(definitions[0])
            elif not definitions and not name.startswith("%"):
                self._found[name] = Range(0, 0, name)  # a variable
        return self._found[name]

    def _defined(self, instruction: Instruction) -> Range | None:
        """The range of the instruction's one destination."""
        facts = facts_of(instruction.opcode)
        operands = instruction.operands[1:]
        if not isinstance(instruction.operands[0], Name):
            return None
        if facts.loads_parameter:
            return self._parameters.get(str(operands[0]).strip("[]").removesuffix("+0"))
        rule = _RULES.get(facts.base)
        if rule is None or not facts.types or not set(facts.types) <= _INTEGERS or facts.modifiers & _NOT_PLAIN:
            return None
        if rule is _subtract and (divisor := self._divisor(*operands)):
            rule, operands = _remainder, (operands[0], divisor)
        result, source = facts.types[0], facts.types[-1]
        wide = "wide" in facts.modifiers
        # The second factor and the addend have types of their own in `mad.wide` and in shifts.
        ranges = [_fitting(self.of(o), _wider(result) if wide and i == 2 else source) for i, o in enumerate(operands)]
        return _fitting(rule(source[0] == "s", *ranges), _wider(result) if wide else result)

    def _divisor(self, number: Operand, part: Operand) -> Operand | None:
        """What `number` is divided by, if `part` is the quotient times the divisor, so that the difference is the
        remainder: compilers write it so. Only of operands with ranges, which have the same value everywhere."""
        product = self._only_definition(part, _multiply)
        for one, divisor in permutations(product.operands[1:]) if product else ():
            quotient = self._only_definition(one, _divide)
            if quotient and quotient.operands[1:] == (number, divisor) and self.of(number) and self.of(divisor):
                return divisor
        return None

    def _only_definition(self, operand: Operand, rule: Callable[..., Range | None]) -> Instruction | None:
        """The instruction of integers that defines a register, if it is the only one and has this rule."""
        found = self._definitions.get(operand.text, []) if isinstance(operand, Name) else []
        if len(found) != 1:
            return None
        facts = facts_of(found[0].opcode)
        plain = set(facts.types) <= _INTEGERS and not facts.modifiers & {*_NOT_PLAIN, "wide"}
        return found[0] if _RULES.get(facts.base) is rule and plain else None


def _sizes(extent: Axes, most: Extent) -> list[Range]:
    """The ranges of the sizes along the axes."""
    return [Range(1, m) if n is None else Range(n, n) for n, m in zip(extent, most, strict=True)]


def _number(text: str) -> Range | None:
    """The range of `16` or `-0x10`, and of the text after a name: `+16`, `+-16`."""
    matched = re.fullmatch(r"([+-]*)(0[xX][0-9a-fA-F]+U?|[0-9]+U?)", text)
    if matched is None:
        return None
    number = whole_number(matched[2]) * (-1) ** matched[1].count("-")
    return Range(number, number, bits=number if number >= 0 else None)


def _wider(type_: str) -> str:
    return f"{type_[0]}{16 * TYPE_BYTES[type_]}"


def _fitting(value: Range | None, type_: str) -> Range | None:
    """None if the type cannot represent the value; untyped bits may be signed or unsigned."""
    if value is None or value.base:
        return value
    bits = 8 * TYPE_BYTES[type_]
    least, most = -(1 << bits - 1) if type_[0] != "u" else 0, 1 << bits - (type_[0] == "s")
    return value if least <= value.low and value.high < most else None


# Rules: the range of a result, from whether the operation is signed and the ranges of its operands --------


def _add(a: Range | None, b: Range | None) -> Range | None:
    if not a or not b or (a.base and b.base):
        return None
    bits = a.mask | b.mask if _disjoint(a, b) else None  # no bit is carried
    return Range(a.low + b.low, a.high + b.high, a.base or b.base, bits)


def _disjoint(a: Range, b: Range) -> bool:
    """Whether no bit may be set in both."""
    return a.natural and b.natural and not a.mask & b.mask


def _subtract(_: bool, a: Range | None, b: Range | None) -> Range | None:
    return _add(a, Range(-b.high, -b.low)) if b and not b.base else None


def _multiply(_: bool, a: Range | None, b: Range | None) -> Range | None:
    if not a or not b or a.base or b.base:
        return None
    corners = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
    return Range(min(corners), max(corners))


def _shift_left(a: Range | None, b: Range | None) -> Range | None:
    if not b or b.number is None or not 0 <= b.number < 64:
        return None
    found = _multiply(False, a, Range(1 << b.number, 1 << b.number))
    return Range(found.low, found.high, bits=a.mask << b.number) if found and a and a.natural else found


def _shift_right(a: Range | None, b: Range | None) -> Range | None:
    if not a or not a.natural or not b or b.number is None or b.number < 0:
        return None
    return Range(a.low >> b.number, a.high >> b.number, bits=a.mask >> b.number)


def _and(a: Range | None, b: Range | None) -> Range | None:
    known = [r for r in (a, b) if r and r.natural]
    return _of_bits([r.mask for r in known], min(r.high for r in known)) if known else None


def _of_bits(masks: Sequence[int], most: int) -> Range:
    """At most `most`, with bits that are in all masks."""
    bits = reduce(and_, masks)
    return Range(0, min(most, bits), bits=bits)


def _or(a: Range | None, b: Range | None) -> Range | None:
    if not a or not b or not a.natural or not b.natural:
        return None
    both = a.mask | b.mask
    if _disjoint(a, b):
        return Range(a.low + b.low, a.high + b.high, bits=both)
    return Range(max(a.low, b.low), both, bits=both)


def _exclusive_or(a: Range | None, b: Range | None) -> Range | None:
    found = _or(a, b)
    return found if not found or not a or not b or _disjoint(a, b) else Range(0, found.high, bits=found.bits)


def _field(signed: bool, a: Range | None, position: Range | None, length: Range | None) -> Range | None:
    """`bfe` of constant places: bits of an unsigned number."""
    if signed or not position or position.number is None or not length or length.number is None:
        return None
    width = (1 << (length.number & 0xFF)) - 1
    if not a or not a.natural:
        return Range(0, width)
    first = position.number & 0xFF
    return _of_bits([a.mask >> first, width], a.high >> first)


def _divide(_: bool, a: Range | None, b: Range | None) -> Range | None:
    if not a or not b or not a.natural or b.base or b.low <= 0:
        return None
    return Range(a.low // b.high, a.high // b.low)


def _remainder(signed: bool, a: Range | None, b: Range | None) -> Range | None:
    """The result is at most the dividend and less than the divisor."""
    if signed and not (a and a.natural):
        return None
    highs = [a.high] if a and a.natural else []
    highs += [b.high - 1] if b and not b.base and b.low > 0 else []
    return Range(0, min(highs)) if highs else None


def _either(a: Range | None, b: Range | None) -> Range | None:
    if not a or not b or a.base != b.base:
        return None
    return Range(min(a.low, b.low), max(a.high, b.high), a.base)


def _extreme(choose: Callable[[int, int], int]) -> Callable[..., Range | None]:
    def rule(_: bool, a: Range | None, b: Range | None) -> Range | None:
        if not a or not b or a.base or b.base:
            return None
        return Range(choose(a.low, b.low), choose(a.high, b.high))

    return rule


_RULES: dict[str, Callable[..., Range | None]] = {
    "mov": lambda _, a: a,
    "cvt": lambda _, a: a,
    "cvta": lambda _, a: a,
    "add": lambda _, a, b: _add(a, b),
    "sub": _subtract,
    "mul": _multiply,
    "mad": lambda _, a, b, c: _add(_multiply(False, a, b), c),
    "shl": lambda _, a, b: _shift_left(a, b),
    "shr": lambda _, a, b: _shift_right(a, b),
    "and": lambda _, a, b: _and(a, b),
    "or": lambda _, a, b: _or(a, b),
    "xor": lambda _, a, b: _exclusive_or(a, b),
    "bfe": _field,
    "div": _divide,
    "rem": _remainder,
    "min": _extreme(min),
    "max": _extreme(max),
    "selp": lambda _, a, b, p: _either(a, b),
}
