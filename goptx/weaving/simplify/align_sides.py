"""Finds which operations of two sides of a branch can be one, operands that differ chosen by the branch's predicate.

Requires: both sides. Ensures: in both, operations that are one come in the same order, so that dependences hold. Of the
alignments that dynamic programming looks at, the one that saves most issue slots.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from goptx.ptx.opcodes import facts_of
from goptx.weaving.simplify.branch_sides import (
    Constant,
    Operation,
    Outer,
    Own,
    Side,
    Types,
    Value,
    chosen_type,
    common_type,
)

CHOICE = {"pred": 3} | dict.fromkeys(("b64", "u64", "s64", "f64"), 2)  # machine instructions that choose; else one
ROUNDS = 8  # alignments that are tried, each without the pairs that were wrong before

Both = tuple[Value, Value]  # what the first side has in a place, and the second
Pair = tuple[int, int]  # numbers of operations of the sides


class Alignment(NamedTuple):
    """`saved`: issue slots less than all operations of both sides have. `chosen`: what has to be chosen."""

    saved: int = 0
    length: int = 0
    pairs: frozenset[Pair] = frozenset()
    chosen: frozenset[Both] = frozenset()


@dataclass(frozen=True)
class Sides:
    """Both sides of one branch. `results` are the registers that they write and that are read after them, those in
    `summed` perhaps by sums of floating-point numbers."""

    sides: tuple[Side, Side]
    types: Types
    results: Sequence[str]
    summed: Collection[str]
    kinds: dict[Both, str] = field(default_factory=dict)  # in which type two values are chosen
    separate: set[Pair] = field(default_factory=set)  # operations that must not be one

    def best(self) -> Alignment | None:
        """What saves most; None where a result cannot be chosen."""
        for _ in range(ROUNDS):
            found = self._aligned()
            wrong = {pair for pair in found.pairs if self._is_read_otherwise(pair, found.pairs)}
            if not wrong:
                return None if self._equal_products(found.pairs) else self._choosing(found, self._ends())
            self.separate.update(wrong)
        return None

    def _aligned(self) -> Alignment:
        first, second = (side.operations for side in self.sides)
        above = [Alignment()] * (len(second) + 1)
        for i in range(len(first)):
            row = [Alignment()]
            for j in range(len(second)):
                found = max(above[j + 1], row[j], key=_order)
                paired = self._with_pair(above[j], i, j)
                row.append(found if paired is None else max(paired, found, key=_order))
            above = row
        return above[-1]

    def _ends(self) -> list[Both]:
        return [self._end(r) for r in self.results]

    def _end(self, register: str) -> Both:
        return self.sides[0].value(register), self.sides[1].value(register)

    def pair(self, i: int, j: int) -> tuple[Operation, Operation] | None:
        """Two operations as they are where they become one; None if they cannot."""
        one, other = self.sides[0].operations[i], self.sides[1].operations[j]
        if one.form != other.form:
            one, other = one.divided() or one, other.divided() or other
        return (one, other) if one.form == other.form else None

    def kind(self, values: Both) -> str:
        """The type in which one of two values is chosen; "" where that is not possible."""
        if values not in self.kinds:
            own = [self._type_of(v, side) for v, side in zip(values, self.sides, strict=True)]
            self.kinds[values] = chosen_type(values, own)
        return self.kinds[values]

    def result_type(self, values: Both) -> str:
        """The type of a register for one of two values."""
        own = [self._type_of(v, side) for v, side in zip(values, self.sides, strict=True)]
        known = [kind for kind in own if kind]
        return common_type(known) if known else self.kind(values)

    def _type_of(self, value: Value, side: Side) -> str:
        match value:
            case Outer(name):
                return self.types.get(name, "")
            case Own(number, part):
                return self.types[side.operations[number].results[part]]
            case Constant():
                return value.kind

    def _with_pair(self, before: Alignment, i: int, j: int) -> Alignment | None:
        pair = self.pair(i, j)
        if pair is None or (i, j) in self.separate or self._makes_contraction(before.pairs, i, j, pair):
            return None
        values = list(zip(pair[0].sources, pair[1].sources, strict=True))
        found = self._choosing(before, values)
        if found is None:
            return None
        own = self.sides[0].operations[i].cost + self.sides[1].operations[j].cost - pair[0].cost
        return found._replace(saved=found.saved + own, length=found.length + 1, pairs=found.pairs | {(i, j)})

    def _choosing(self, before: Alignment, values: Iterable[Both]) -> Alignment | None:
        """With choices of the values that are not one; None where these are not possible."""
        new = {v for v in values if not is_one(v, before.pairs)} - before.chosen
        if not all(map(self.kind, new)):
            return None
        cost = sum(CHOICE.get(self.kind(v), 1) for v in new)
        return before._replace(saved=before.saved - cost, chosen=before.chosen | new)

    def _makes_contraction(self, pairs: frozenset[Pair], i: int, j: int, pair: tuple[Operation, Operation]) -> bool:
        """Whether the assembler could contract another product and sum than in the kernel as it was: where a choice
        comes between the two, or where products of both sides become one that is read after them."""
        facts = facts_of(pair[0].instruction.opcode)
        if facts.is_sum or facts.hands_product_on:
            values = zip(pair[0].sources, pair[1].sources, strict=True)
            if any(
                any(s.is_product(v) for v, s in zip(both, self.sides, strict=True))
                for both in values
                if not is_one(both, pairs)
            ):
                return True
        ends = [self._end(r) for r in self.results if r in self.summed]
        parts = range(len(pair[0].results)) if i in self.sides[0].products else ()
        return any((Own(i, part), Own(j, part)) in ends for part in parts)

    def _equal_products(self, pairs: frozenset[Pair]) -> bool:
        """Whether the assembler would make one of two products that must not be one: both have the same factors."""
        first, second = (
            {k: o for k, o in enumerate(side.operations) if facts_of(o.instruction.opcode).is_product}
            for side in self.sides
        )
        return any(
            one.form == other.form and all(is_one(both, pairs) for both in zip(one.sources, other.sources, strict=True))
            for i, one in first.items()
            for j, other in second.items()
            if (i, j) not in pairs
        )

    def _is_read_otherwise(self, pair: Pair, pairs: frozenset[Pair]) -> bool:
        """Whether a sum, or a copy for it, reads a product that is one for both sides, and not all that reads it is
        one, too. What else reads a product decides whether the assembler contracts it."""
        if pair[0] not in self.sides[0].products:
            return False
        readers = [side.readers(number) for number, side in zip(pair, self.sides, strict=True)]
        facts = (
            facts_of(s.operations[k].instruction.opcode)
            for s, own in zip(self.sides, readers, strict=True)
            for k in own
        )
        alike = [(i, j) for i in readers[0] for j in readers[1] if (i, j) in pairs]
        is_summed = any(f.is_sum or f.hands_product_on for f in facts)
        return is_summed and not len(alike) == len(readers[0]) == len(readers[1])


def is_one(values: Both, pairs: frozenset[Pair]) -> bool:
    """Whether both sides have the same value, if these operations are one."""
    match values:
        case (Own(i, part), Own(j, other)):
            return (i, j) in pairs and part == other
        case (Constant() as one, Constant() as two):
            return one[:2] == two[:2] and (one.kind == two.kind or not (one.kind and two.kind))
        case (Outer(), Outer()):
            return values[0] == values[1]
    return False


def _order(found: Alignment) -> tuple[int, int]:
    return found.saved, found.length
