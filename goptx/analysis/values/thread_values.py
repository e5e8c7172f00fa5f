"""The integers that one thread computes from its number, the sizes of the launch and arguments.

Requires: a flow without regions. Ensures: a value is given only where it is certain, whatever the thread loads: of all
definitions that reach a place, each is known, and all are equal. From an array of which only the range of its elements
is known, a thread loads one in this range, the same wherever it loads from that place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from goptx.analysis.cfg import Code, Flow, loops
from goptx.analysis.dataflow import written
from goptx.analysis.terminators import Branch
from goptx.ptx.ir import TYPE_BYTES, Address, Immediate, Instruction, Name, Operand, Sum, whole_number
from goptx.ptx.opcodes import Facts, facts_of

Place = tuple[str, int]  # a block, and the number of an instruction in it
Lookup = Callable[[str], int | None]  # the value of a register
MOST_STEPS = 200  # instructions that a value is computed by, one from the other
ARRAY_BITS = 44  # bits of an address within an array
FAR = 1 << 20  # a number by which another is shifted, to see whether code adds to it
SCATTER, PERIOD = 2654435761, 1 << 32  # Knuth's multiplicative hash, by which elements differ


class Elements(NamedTuple):
    """Whole numbers in an array, from `low` to `high` - 1."""

    low: int
    high: int

    def at(self, place: int) -> int:
        """A number in the range for the byte at this place."""
        return self.low + (place * SCATTER % PERIOD * (self.high - self.low)) // PERIOD


_NOT_PLAIN = frozenset(("hi", "cc", "sat", "pack"))


class ThreadValues:
    """The values of one thread. `special`: those of `%tid.x` and the like. `parameters`: the values of scalar
    parameters, by name. `arrays`: the elements of arrays of whole numbers, by the names of the parameters that point to
    them. Values are unsigned, of 64 bits; those of predicates 0 or 1."""

    def __init__(
        self,
        flow: Flow,
        special: Mapping[str, int],
        parameters: Mapping[str, int],
        arrays: Mapping[str, Elements] | None = None,
    ) -> None:
        self.flow = flow
        self.special = special
        self._arrays = list((arrays or {}).values())
        self.parameters = {**parameters, **{name: n << ARRAY_BITS for n, name in enumerate(arrays or {}, 1)}}
        self.trips: Callable[[str], float | None] = lambda header: None  # how often the thread runs a loop, if known
        self._loops = loops(flow)
        self._known: dict[tuple[str, Place], int | None] = {}
        self._asked: set[tuple[str, Place]] = set()
        self._counting: set[str] = set()
        self._taken: dict[str, bool | None] = {}
        self._passed = frozenset(flow.blocks)
        self._passed = self._passes()

    def before(self, register: str, place: Place, avoiding: frozenset[str] = frozenset()) -> int | None:
        """The value that a register has before the instruction at `place`. `avoiding`: blocks through which the thread
        has not come, of a loop that it enters."""
        if register in self.special:
            return self.special[register]
        found = {self._arriving(register, made, place[0]) for made in self._reaching(register, place, avoiding)}
        return found.pop() if len(found) == 1 else None

    def _passes(self) -> frozenset[str]:
        """The blocks that the thread may come to, as its branches are known."""
        found = {self.flow.entry}
        for name in self.flow.reverse_postorder():
            if name in found:
                self._taken[name] = self._finds_taken(name)
                found.update(t for t in self.flow.blocks[name].end.successors() if self._leads(name, t))
        return frozenset(found)

    def _arriving(self, register: str, made: Place | None, block: str) -> int | None:
        """The value that a definition has given a register when the thread comes to a block."""
        around = [h for h, body in self._loops.items() if made and made[0] in body and block not in body]
        value = self._made(register, made)
        if value is None and made and len(around) == 1 and around[0] not in self._counting:
            self._counting.add(around[0])
            value = self._counted(register, made, around[0])
            self._counting.discard(around[0])
        return value

    def _counted(self, register: str, made: Place, header: str) -> int | None:
        """The value after a loop of a register that grows by the same in each iteration."""
        body, code = self._loops[header], self.flow.blocks[made[0]].code[made[1]]
        latches = [n for n in self.flow.predecessors()[header] if n in body]
        definitions = sum(register in written(c) for n in body for c in self.flow.blocks[n].code)
        once = definitions == 1 and all(self.flow.dominates(made[0], n) for n in latches)
        at_head = made[0] == header and len(body) > 1
        if not once or at_head or not isinstance(code, Instruction):
            return None
        first, times = self.before(register, (header, 0), body), self.trips(header)
        step, further = (self._stepped(code, register, begin, header) for begin in (0, FAR))
        if first is None or times is None or step is None or further is None:
            return None
        size = 1 << _bits(facts_of(code.opcode).types[0])
        return (first + int(times) * step) % size if (further - step) % size == FAR else None

    def _stepped(self, code: Instruction, register: str, begin: int, header: str) -> int | None:
        """What code makes of a number in a register."""
        place = header, 0
        return self.result(code, register, lambda r: begin if r == register else self.before(r, place))

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
                if name in self._passed and name not in seen and name not in avoiding and self._leads(name, block):
                    seen.add(name)
                    waiting.append((name, len(self.flow.blocks[name].code)))

    def _leads(self, block: str, target: str) -> bool:
        """Whether the thread may go from the end of a block to another, as far as is known already."""
        end, taken = self.flow.blocks[block].end, self._taken.get(block)
        if taken is None or not isinstance(end, Branch):
            return True
        return target == (end.taken if taken else end.fallen)

    def takes(self, block: str) -> bool | None:
        """Whether the branch at the end of a block is taken; None if that is unknown."""
        return self._taken.get(block)

    def _finds_taken(self, block: str) -> bool | None:
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
        if facts.only_loads_element and facts.space in ("", "global"):
            return self._element(code, facts.types[-1], lookup)
        return evaluated(code, facts, lookup) if isinstance(code.operands[0], Name) else None

    def _parameter(self, load: Instruction) -> int | None:
        address = load.operands[1]
        if not isinstance(address, Address) or len(address.parts) != 1 or not isinstance(address.parts[0], Name):
            return None
        return self.parameters.get(address.parts[0].text)

    def _element(self, load: Instruction, type_: str, lookup: Lookup) -> int | None:
        """One of an array."""
        address = load.operands[1]
        if not isinstance(address, Address) or len(address.parts) != 1 or type_[0] == "f":
            return None
        part = address.parts[0]
        base, offset = (
            (part.base, number(Immediate("".join(map(str, part.tail)).removeprefix("+"))))
            if isinstance(part, Sum)
            else (part, 0)
        )
        begin = lookup(base.text) if isinstance(base, Name) else None
        if begin is None or offset is None or not 0 < (begin + offset) >> ARRAY_BITS <= len(self._arrays):
            return None
        array, place = divmod(begin + offset, 1 << ARRAY_BITS)
        return self._arrays[array - 1].at(place) % (1 << _bits(type_))


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
    "mov": int, "cvt": int, "cvta": int, "add": int.__add__, "sub": int.__sub__, "mul": int.__mul__,
    "mad": lambda a, b, c: a * b + c, "neg": int.__neg__, "not": int.__invert__, "abs": abs, "min": min, "max": max,
    "and": int.__and__, "or": int.__or__, "xor": int.__xor__, "div": _quotient, "rem": _remainder,
    "shl": lambda a, b: a << min(b, 64), "shr": lambda a, b: a >> min(b, 64),
    "selp": lambda a, b, which: a if which else b,
}  # fmt: skip
_OF_PREDICATES: Mapping[str, Rule] = {
    "mov": int, "not": int.__invert__, "and": int.__and__, "or": int.__or__, "xor": int.__xor__,
}  # fmt: skip
