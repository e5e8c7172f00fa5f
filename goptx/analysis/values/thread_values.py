"""The integers that one thread computes from its number, the sizes of the launch and scalar arguments.

Requires: a flow without regions. Ensures: a value is given only where it is certain, whatever the thread loads: of all
definitions that reach a place, each is known, and all are equal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from goptx.analysis.cfg import Code, Flow
from goptx.analysis.dataflow import written
from goptx.analysis.terminators import Branch
from goptx.ptx.ir import TYPE_BYTES, Address, Immediate, Instruction, Name, Operand, whole_number
from goptx.ptx.opcodes import Facts, facts_of

Place = tuple[str, int]  # a block, and the number of an instruction in it
Lookup = Callable[[str], int | None]  # the value of a register
MOST_STEPS = 200  # instructions that a value is computed by, one from the other

_NOT_PLAIN = frozenset(("hi", "cc", "sat", "pack"))


class ThreadValues:
    """The values of one thread. `special`: those of `%tid.x` and the like. `parameters`: the values of scalar
    parameters, by name. Values are unsigned, of 64 bits; those of predicates 0 or 1."""

    def __init__(self, flow: Flow, special: Mapping[str, int], parameters: Mapping[str, int]) -> None:
        self.flow = flow
        self.special = special
        self.parameters = parameters
        self._known: dict[tuple[str, Place], int | None] = {}
        self._asked: set[tuple[str, Place]] = set()

    def before(self, register: str, place: Place, avoiding: frozenset[str] = frozenset()) -> int | None:
        """The value that a register has before the instruction at `place`. `avoiding`: blocks through which the thread
        has not come, of a loop that it enters."""
        if register in self.special:
            return self.special[register]
        found = {self._made(register, made) for made in self._reaching(register, place, avoiding)}
        return found.pop() if len(found) == 1 else None

    def _made(self, register: str, place: Place | None) -> int | None:
        if place is None:  # there is a way without a definition
            return None
        key = register, place
        if key not in self._known:
            if key in self._asked or len(self._asked) > MOST_STEPS:
                return None
            self._asked.add(key)
            code = self.flow.blocks[place[0]].code[place[1]]
            self._known[key] = self.result(code, register, lambda r: self.before(r, place))
            self._asked.discard(key)
        return self._known[key]

    def _reaching(self, register: str, place: Place, avoiding: frozenset[str]) -> Iterator[Place | None]:
        """The definitions that reach a place; None where a way begins without one."""
        waiting, seen = [place], set[str]()
        predecessors = self.flow.predecessors()
        while waiting:
            block, index = waiting.pop()
            made = last_definition(self.flow.blocks[block].code[:index], register)
            if made is not None:
                yield block, made
                continue
            if block == self.flow.entry:
                yield None
            for name in predecessors[block]:
                if name not in seen and name not in avoiding:
                    seen.add(name)
                    waiting.append((name, len(self.flow.blocks[name].code)))

    def takes(self, block: str) -> bool | None:
        """Whether the branch at the end of a block is taken; None if that is unknown."""
        end = self.flow.blocks[block].end
        if not isinstance(end, Branch) or end.others:
            return None
        value = self.before(end.guard.predicate.text, (block, len(self.flow.blocks[block].code)))
        return None if value is None else bool(value) != end.guard.negated

    def result(self, code: Code, register: str, lookup: Lookup) -> int | None:
        """The value that code gives to a register, if `lookup` finds what it reads."""
        if not isinstance(code, Instruction) or code.guard or written(code) != {register}:
            return None
        facts = facts_of(code.opcode)
        if facts.loads_parameter:
            return self._parameter(code)
        return evaluated(code, facts, lookup) if isinstance(code.operands[0], Name) else None

    def _parameter(self, load: Instruction) -> int | None:
        address = load.operands[1]
        if not isinstance(address, Address) or len(address.parts) != 1 or not isinstance(address.parts[0], Name):
            return None
        return self.parameters.get(address.parts[0].text)


def last_definition(code: Sequence[Code], register: str) -> int | None:
    """The number of the last instruction that writes a register."""
    return next((i for i in range(len(code) - 1, -1, -1) if register in written(code[i])), None)


def evaluated(code: Instruction, facts: Facts, lookup: Lookup) -> int | None:
    """The result of arithmetic on integers and predicates, or of a comparison; None for other instructions and unknown
    operands."""
    kinds = {t[0] for t in facts.types}
    if not kinds or not facts.modifiers.isdisjoint(_NOT_PLAIN) or facts.uses_carry or not kinds <= set("usbp"):
        return None
    if facts.compares:
        sides, relation = compared(code, facts, lookup), relation_of(facts)
        return int(relation(*sides)) if sides and relation and len(code.operands) == 3 else None
    rule = (_OF_PREDICATES if kinds == {"p"} else _OF_INTEGERS).get(facts.base)
    wide = "wide" in facts.modifiers
    if rule is None:
        return None
    to, by = facts.types[0], facts.types[-1]
    bits = _bits(to) * (2 if wide else 1)
    types = [by, "u32" if facts.shifts else by, f"{to[0]}{bits}" if facts.adds_to_product else "pred"]
    values = [_operand(o, t, lookup) for o, t in zip(code.operands[1:], types, strict=False)]
    known = [v for v in values if v is not None]
    found = rule(*known) if len(known) == len(values) else None
    return None if found is None else found % (1 << bits)


def compared(code: Instruction, facts: Facts, lookup: Lookup) -> tuple[int, int] | None:
    """The two numbers that a comparison compares."""
    type_ = facts.types[-1]
    if type_[0] not in "usb":
        return None
    unsigned = not facts.modifiers.isdisjoint(("lo", "ls", "hi", "hs"))
    one, other = (_operand(o, f"u{type_[1:]}" if unsigned else type_, lookup) for o in code.operands[1:3])
    return None if one is None or other is None else (one, other)


def relation_of(facts: Facts) -> Callable[[int, int], bool] | None:
    """What a comparison asks of its two numbers."""
    named = [m for m in facts.modifiers if m in RELATIONS]
    return RELATIONS[named[0]] if len(named) == 1 else None


def _operand(operand: Operand, type_: str, lookup: Lookup) -> int | None:
    """Its value, read as a number of that type."""
    value = number(operand)
    if value is None and isinstance(operand, Name):
        value = lookup(operand.text)
    if value is None:
        return None
    bits = _bits(type_)
    value %= 1 << bits
    return value - (1 << bits) if type_[0] == "s" and value >> (bits - 1) else value


def _bits(type_: str) -> int:
    return 8 * TYPE_BYTES[type_] if type_ in TYPE_BYTES else 1


def number(operand: Operand) -> int | None:
    """The integer that stands in the text."""
    if not isinstance(operand, Immediate):
        return None
    digits = operand.text.lstrip("-")
    try:
        return whole_number(digits) * (-1 if digits != operand.text else 1)
    except ValueError:
        return None


def _quotient(a: int, b: int) -> int | None:
    return None if b == 0 else (abs(a) // abs(b)) * (1 if (a < 0) == (b < 0) else -1)


def _remainder(a: int, b: int) -> int | None:
    found = _quotient(a, b)
    return None if found is None else a - b * found


RELATIONS: Mapping[str, Callable[[int, int], bool]] = {
    "lt": int.__lt__, "lo": int.__lt__, "le": int.__le__, "ls": int.__le__, "gt": int.__gt__, "hi": int.__gt__,
    "ge": int.__ge__, "hs": int.__ge__, "eq": int.__eq__, "ne": int.__ne__,
}  # fmt: skip
Rule = Callable[..., int | None]

_OF_INTEGERS: Mapping[str, Rule] = {
    "mov": int, "cvt": int, "add": int.__add__, "sub": int.__sub__, "mul": int.__mul__,
    "mad": lambda a, b, c: a * b + c, "neg": int.__neg__, "not": int.__invert__, "abs": abs, "min": min, "max": max,
    "and": int.__and__, "or": int.__or__, "xor": int.__xor__, "div": _quotient, "rem": _remainder,
    "shl": lambda a, b: a << min(b, 64), "shr": lambda a, b: a >> min(b, 64),
    "selp": lambda a, b, which: a if which else b,
}  # fmt: skip
_OF_PREDICATES: Mapping[str, Rule] = {
    "mov": int, "not": int.__invert__, "and": int.__and__, "or": int.__or__, "xor": int.__xor__,
}  # fmt: skip
