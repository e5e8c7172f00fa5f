"""What the registers of a thread hold, as expressions: optimistic value numbering (Alpern, Wegman and Zadeck 1988).

Requires: a flow without regions, a table of atoms. Ensures: two values with the same expression are the same number
whenever the thread has been at both places in the same iteration of the loops around them. In loops, registers count as
equal until an iteration proves otherwise, so equal counters of loops that run as one are one atom.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import count

from goptx.analysis.cfg import Code, Flow, loops
from goptx.analysis.dataflow import register_of, solve, written
from goptx.analysis.terminators import Branch
from goptx.analysis.values.expressions import MOST_TERMS, Atoms, Condition, Expression, Key, Value, constant
from goptx.ptx.ir import (
    TYPE_BYTES,
    Address,
    Arguments,
    Guard,
    Immediate,
    Instruction,
    Name,
    Negated,
    Operand,
    Sum,
    Vector,
    whole_number,
)
from goptx.ptx.opcodes import Facts, Scope, facts_of
from goptx.ptx.verify import SPECIAL
from goptx.ptx.walk import names_in

Environment = dict[str, Value]
Place = tuple[str, int]  # the block of an instruction, and its position there
_OF_THE_THREAD = ("%tid.", "%ntid.", "%ctaid.", "%nctaid.", "%laneid")
_INTEGERS = frozenset(f"{kind}{bits}" for kind in "usb" for bits in (16, 32, 64))
_NOT_PLAIN = frozenset(("hi", "cc", "sat", "pack"))
_ADDRESS = 64  # bits
_flows = count()


class Values:
    """The values of a flow.

    addresses: for each instruction, by its place, the addresses among its operands.
    guards: for each guarded instruction, its condition. branches: for each block with a branch, its condition.
    steps: for an atom that stands for a register at the beginning of a loop, its initial value and its change in each
        iteration.
    """

    def __init__(self, flow: Flow, atoms: Atoms) -> None:
        self.flow = flow
        self.atoms = atoms
        self.tag = next(_flows)
        self.addresses: dict[Place, tuple[Expression, ...]] = {}
        self.guards: dict[Place, Condition] = {}
        self.branches: dict[str, Condition] = {}
        self.steps: dict[int, tuple[Expression, Expression]] = {}
        self._passed = {n for i in flow.instructions() if _passes(i) for o in i.operands for n in names_in(o)}
        self._order = flow.reverse_postorder()
        self._rank = flow.ranks()
        self._pred = {n: [p for p in flow.graph().pred[n] if p in self._rank] for n in self._order}
        self._bodies = loops(flow)
        self._groups: dict[str, dict[str, str]] = {}  # at the beginning of loops: the leader of each register's class
        self._after = solve(self._order, self._pred, self._environment)
        self._find_steps()

    def holds(self, block: str, guard: Guard) -> Condition:
        """The condition of a guard at the end of a block."""
        return self._guard(self._after[block], guard)

    def _environment(self, name: str, after: Mapping[str, Environment]) -> Environment:
        """What registers hold after a block."""
        values = self._entering(name, after)
        block = self.flow.blocks[name]
        for i, code in enumerate(block.code):
            self._run(values, code, (name, i))
        if isinstance(block.end, Branch):
            self.branches[name] = self._guard(values, block.end.guard)
        return values

    def _entering(self, name: str, after: Mapping[str, Environment]) -> Environment:
        if name == self.flow.entry and not self._pred[name]:
            return {}
        above = [after[p] for p in self._pred[name] if self._rank[p] < self._rank[name]]
        below = [p for p in self._pred[name] if self._rank[p] >= self._rank[name]]
        values = self._merged(name, above) if name != self.flow.entry else {}
        if not below:
            return values
        body = self._bodies.get(name, frozenset(self._order))
        changed = sorted({r for b in body for code in self.flow.blocks[b].instructions() for r in written(code)})
        before, now = self._groups.get(name, {}), dict[str, str]()
        leaders: dict[object, str] = {}
        for register in changed:
            first = values.get(register)
            last = tuple(after[p].get(register) for p in below if p in after)
            leader = leaders.setdefault((before.get(register), first, last), register)
            now[register] = leader
            values[register] = self._like(first or next((v for v in last if v), None), "phi", self.tag, name, leader)
        self._groups[name] = now
        return values

    def _merged(self, name: str, predecessors: Sequence[Environment]) -> Environment:
        if len(predecessors) == 1:
            return dict(predecessors[0])
        values: Environment = {}
        for register in dict.fromkeys(r for e in predecessors for r in e):
            found = tuple(e.get(register) for e in predecessors)
            if found.count(found[0]) == len(found) and found[0] is not None:
                values[register] = found[0]
            else:
                example = next((v for v in found if v is not None), None)
                values[register] = self._like(example, "merge", self.tag, name, found)
        return values

    def _like(self, example: Value | None, *key: object) -> Value:
        """A value of which only the kind is known."""
        if isinstance(example, Condition):
            return self.atoms.literal(True, *key)
        return self.atoms.expression(example.bits if example else _ADDRESS, *key)

    def _find_steps(self) -> None:
        """Finds registers that change by the same step in each iteration of a loop."""
        for header, groups in self._groups.items():
            predecessors = [p for p in self._pred[header] if self._rank[p] < self._rank[header]]
            latches = [p for p in self._pred[header] if p not in predecessors]
            entering = self._merged(header, [self._after[p] for p in predecessors]) if predecessors else {}
            for leader in dict.fromkeys(groups.values()):
                atom = self.atoms.number("phi", self.tag, header, leader)
                ends = {self._after[p].get(leader) for p in latches}
                first, last = entering.get(leader), ends.pop() if len(ends) == 1 else None
                if isinstance(first, Expression) and isinstance(last, Expression) and first.bits == last.bits:
                    step = last - self.atoms.expression(last.bits, "phi", self.tag, header, leader)
                    if not any(self._changes(key, header) for key in self.atoms.within(step)):
                        self.steps[atom] = first, step

    def _changes(self, key: Key, header: str) -> bool:
        """Whether an atom may differ between iterations of a loop."""
        body = self._bodies.get(header, frozenset(self._order))
        return key[0] == "made" or (key[0] in ("phi", "merge") and key[1] == self.tag and key[2] in body)

    # instructions ------------------------------------------------------------------------------------

    def _run(self, values: Environment, code: Code, place: Place) -> None:
        if not isinstance(code, Instruction):
            for register in written(code):
                values[register] = self._made(place, register, _ADDRESS)
            return
        facts = facts_of(code.opcode)
        found = [self._value(values, o.parts[0], _ADDRESS) for o in code.operands if isinstance(o, Address)]
        self.addresses[place] = tuple(
            a if isinstance(a, Expression) else self._made(place, "address", _ADDRESS) for a in found
        )
        guard = self._guard(values, code.guard) if code.guard else Condition()
        self.guards[place] = guard
        registers = sorted(written(code))
        results = [self._result(values, code, facts, place, r, len(registers) == 1) for r in registers]
        for register, result in zip(registers, results, strict=True):
            if guard.all:  # threads that do not run it retain the old value
                old = values.get(register)
                result = self._like(result, "if", guard, result, old) if old is not None else result
            values[register] = result

    def _made(self, place: Place, register: str, bits: int) -> Expression:
        return self.atoms.expression(bits, "made", self.tag, *place, register)

    def _result(
        self, values: Environment, code: Instruction, facts: Facts, place: Place, register: str, only: bool
    ) -> Value:
        predicate = facts.gives_predicate
        bits = _bits(facts)
        plain = isinstance(code.operands[0], Name) and "." not in str(code.operands[0])
        unknown: Value = (
            self.atoms.literal(True, "made", self.tag, *place, register)
            if predicate
            else self._made(place, register, bits)
        )
        if facts.loads_parameter and not predicate:
            name = self._parameter(code, facts, place, register)
            return self.atoms.expression(bits, "parameter", name, bits) if name else unknown
        votes = facts.votes
        pure = facts.known and not facts.row.access and (votes or facts.row.scope == Scope.THREAD)
        if (
            not (pure and plain and only and _is_steady(code))
            or facts.uses_carry
            or facts.sets_carry
            or facts.row.updates
        ):
            return unknown
        taken = tuple(self._value(values, o, _operand_bits(facts, i)) for i, o in enumerate(code.operands[1:]))
        rule = _RULES.get(facts.base)
        if rule and not facts.modifiers & _NOT_PLAIN and (found := rule(self.atoms, facts, *taken)) is not None:
            return found
        here = place[0] if votes else None  # a warp votes at one place after the other
        key = (code.opcode, taken, here, self.tag if votes else None)
        return self.atoms.literal(True, "op", *key) if predicate else self.atoms.expression(bits, "op", *key)

    def _parameter(self, load: Instruction, facts: Facts, place: Place, register: str) -> str:
        """The parameter of the kernel, or the offset into it, that a register is loaded from: `p`, `p+8`; "" where the
        address is computed from anything else."""
        lanes = _lanes(load.operands[0])
        if len(self.addresses[place]) != 1 or lanes.count(register) != 1 or facts.types[-1] not in TYPE_BYTES:
            return ""
        address = self.addresses[place][0]
        offset = address.coefficient() + lanes.index(register) * TYPE_BYTES[facts.types[-1]]
        rest = address - constant(address.coefficient(), address.bits)
        ((factors, times),) = rest.terms if len(rest.terms) == 1 else (((), 0),)
        word, *of = self.atoms.keys[factors[0]] if len(factors) == 1 and times == 1 else ("",)
        if word != "address" or str(of[0]) in self._passed or offset < 0:
            return ""
        return f"{of[0]}+{offset}" if offset else str(of[0])

    def _value(self, values: Environment, operand: Operand, bits: int) -> object:
        match operand:
            case Immediate(text):
                number = _number(text)
                return self.atoms.expression(bits, "number", text) if number is None else constant(number, bits)
            case Name(text) if text in values:
                return values[text]
            case Name(text) if text.startswith(_OF_THE_THREAD):
                return self.atoms.expression(bits, "special", text)
            case Name(text) if text.startswith("%"):
                return self.atoms.expression(bits, "undefined", self.tag, text)
            case Name(text):
                return self.atoms.expression(bits, "address", text)
            case Sum(base, tail):
                found = self._value(values, base, bits)
                number = _number("".join(map(str, tail)))
                if number is not None and isinstance(found, Expression):
                    return found + constant(number, found.bits)
            case Negated(name):
                found = self._value(values, name, bits)
                if isinstance(found, Condition):
                    return self.atoms.inverted(found)
            case Vector(parts) | Arguments(parts):
                return tuple(self._value(values, p, bits) for p in parts)
        return ("other", self.tag, str(operand), tuple(values.get(register_of(n)) for n in names_in(operand)))

    def _guard(self, values: Environment, guard: Guard) -> Condition:
        found = values.get(guard.predicate.text)
        if not isinstance(found, Condition):
            found = self.atoms.literal(True, "undefined", self.tag, guard.predicate.text)
        return self.atoms.inverted(found) if guard.negated else found


def _bits(facts: Facts) -> int:
    """Of a result."""
    sizes = [8 * TYPE_BYTES[t] for t in facts.types[:1] if t in TYPE_BYTES]
    size = sizes[0] if sizes else _ADDRESS
    return 2 * size if "wide" in facts.modifiers else size


def _operand_bits(facts: Facts, position: int) -> int:
    if facts.adds_to_product and position == 2:
        return _bits(facts)
    if facts.shifts and position == 1:
        return 32
    sizes = [8 * TYPE_BYTES[t] for t in facts.types[-1:] if t in TYPE_BYTES]
    return sizes[0] if sizes else _ADDRESS


def _is_steady(code: Instruction) -> bool:
    """Whether it gives the same result each time for the same sources. Clocks, for example, do not."""
    names = (name for operand in code.operands for name in names_in(operand))
    return all(n.startswith(_OF_THE_THREAD) or n.partition(".")[0] not in SPECIAL for n in names)


def _passes(code: Instruction) -> bool:
    """Whether it names parameters of a call, which hold one value after the other."""
    facts = facts_of(code.opcode)
    return facts.calls or facts.stores_parameter


def _lanes(operand: Operand) -> list[str]:
    return [str(part) for part in (operand.parts if isinstance(operand, Vector) else (operand,))]


def _number(text: str) -> int | None:
    matched = re.fullmatch(r"([+-]*)(0[xXbB][0-9a-fA-F]+U?|[0-9]+U?)", text)
    return whole_number(matched[2]) * (-1) ** matched[1].count("-") if matched else None


# Rules: the result of an instruction, None where it has no form of its own ------------------------------


def _integers(rule: Callable[..., Value | None]) -> Callable[..., Value | None]:
    """Applies a rule only to integers that all have the width of the instruction's type."""

    def checked(atoms: Atoms, facts: Facts, *values: object) -> Value | None:
        if not facts.types or not set(facts.types) <= _INTEGERS:
            return None
        for i, value in enumerate(values):
            if not isinstance(value, Expression) or value.bits != _operand_bits(facts, i):
                return None
        found = rule(atoms, facts, *values)
        return None if isinstance(found, Expression) and len(found.terms) > MOST_TERMS else found

    return checked


def _signed(facts: Facts) -> bool:
    return facts.types[-1][0] == "s"


def _multiply(atoms: Atoms, facts: Facts, a: Expression, b: Expression) -> Expression:
    if "wide" in facts.modifiers:
        a, b = (atoms.widened(v, 2 * v.bits, _signed(facts)) for v in (a, b))
    return atoms.product(a, b)


def _shift(atoms: Atoms, facts: Facts, a: Expression, b: Expression) -> Expression | None:
    return a.times(1 << b.number) if b.number is not None and b.number < a.bits else None


def _convert(atoms: Atoms, facts: Facts, a: Expression) -> Expression | None:
    result = 8 * TYPE_BYTES[facts.types[0]]
    if result == a.bits:
        return a
    return atoms.widened(a, result, _signed(facts)) if result > a.bits else None


def _moved(atoms: Atoms, facts: Facts, a: object) -> Value | None:
    if "pred" in facts.types and isinstance(a, Expression):
        return Condition() if a.number else atoms.literal(False, "true")
    fits = isinstance(a, Condition) or (isinstance(a, Expression) and a.bits == _bits(facts))
    return a if fits and isinstance(a, Expression | Condition) else None


def _compared(atoms: Atoms, facts: Facts, a: Expression, b: Expression) -> Condition | None:
    """The condition in terms of `lt` and `eq` alone, so that a comparison and its opposite have the same atom."""
    kind = "s" if _signed(facts) else "u"
    words = facts.modifiers & _COMPARISONS.keys()
    if len(words) != 1 or facts.modifiers & {"and", "or", "xor"}:
        return None
    word, holds, swap = _COMPARISONS[next(iter(words))]
    if word == "eq":
        difference = min(a - b, b - a, key=lambda e: sorted(e.terms))
        return atoms.literal(holds, "eq", difference)
    return atoms.literal(holds, f"lt.{kind}", *((b, a) if swap else (a, b)))


_COMPARISONS = {
    "lt": ("lt", True, False), "gt": ("lt", True, True), "ge": ("lt", False, False), "le": ("lt", False, True),
    "eq": ("eq", True, False), "ne": ("eq", False, False),
}  # fmt: skip


def _joined(atoms: Atoms, facts: Facts, a: Expression, b: Expression) -> Expression | None:
    """`or` of numbers without common bits is their sum."""
    for one, other in ((a, b), (b, a)):
        most = _most(atoms, one)
        if most is not None and all(
            times * _lowest(atoms, f) % (1 << most.bit_length()) == 0 for f, times in other.terms
        ):
            return a + b
    return None


def _lowest(atoms: Atoms, factors: tuple[int, ...]) -> int:
    """A power of two that divides a product."""
    mask = _masked(atoms.keys[factors[0]]) if len(factors) == 1 else 1
    return (mask & -mask) if mask else 1


def _most(atoms: Atoms, value: Expression) -> int | None:
    """The largest value, as an unsigned number; None if unknown."""
    total = 0
    for factors, times in value.terms:
        key = atoms.keys[factors[0]] if len(factors) == 1 else ("",)
        most = 1 if not factors else _MOST.get(str(key[1])) if key[0] == "special" else _masked(key)
        if most is None:
            return None
        total += times * most
    return total if total < 1 << value.bits else None


def _masked(key: Key) -> int | None:
    """The largest result of `and` with a constant."""
    if key[0] != "op" or not facts_of(str(key[1])).masks or not isinstance(key[2], tuple):
        return None
    numbers = [e.number for e in key[2] if isinstance(e, Expression) and e.number is not None]
    return min(numbers, default=None)


_MOST = {"%tid.x": 1023, "%tid.y": 1023, "%tid.z": 63, "%laneid": 31}


def _both(atoms: Atoms, facts: Facts, a: object, b: object) -> Condition | None:
    return a & b if isinstance(a, Condition) and isinstance(b, Condition) else None


def _either(atoms: Atoms, facts: Facts, a: object, b: object) -> Value | None:
    if not (isinstance(a, Condition) and isinstance(b, Condition)):
        return _integers(_joined)(atoms, facts, a, b)
    return atoms.inverted(atoms.inverted(a) & atoms.inverted(b))


def _not(atoms: Atoms, facts: Facts, a: object) -> Condition | None:
    return atoms.inverted(a) if isinstance(a, Condition) else None


_RULES: dict[str, Callable[..., Value | None]] = {
    "mov": _moved,
    "cvta": _moved,
    "cvt": _integers(_convert),
    "add": _integers(lambda atoms, facts, a, b: a + b),
    "sub": _integers(lambda atoms, facts, a, b: a - b),
    "neg": _integers(lambda atoms, facts, a: a.times(-1)),
    "mul": _integers(_multiply),
    "mad": _integers(lambda atoms, facts, a, b, c: _multiply(atoms, facts, a, b) + c),
    "shl": _integers(_shift),
    "setp": _integers(_compared),
    "and": _both,
    "or": _either,
    "not": _not,
}
