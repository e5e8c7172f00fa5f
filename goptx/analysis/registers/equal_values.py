"""Which registers of a block hold the same value, as the assembler finds it: local value numbering.

Requires: the code of one block after the other, in order. Ensures: two registers are equal only if the same operation
computed both of equal inputs, and nothing was written between, for loads. Copies of a kernel that run in one thread
compute many equal values. Guards are not compared: what a guarded instruction would have written is undefined where it
does not run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import Enum, auto
from functools import lru_cache

from goptx.analysis.cfg import Code
from goptx.analysis.dataflow import written
from goptx.ptx.ir import Address, Immediate, Instruction, Name, Negated, Operand, Sum, Vector
from goptx.ptx.opcodes import Scope, facts_of

Form = str | int | tuple["Form", ...] | None  # of an operand: equal for equal values; None: it is not known
Known = dict[Form, tuple[str, int]]  # by opcode and inputs: the register of the first result, and its number
_CHANGING = ("%clock", "%globaltimer", "%pm")  # special registers that have another value at each read


class Kind(Enum):
    COMPUTES = auto()  # a function of its operands
    LOADS = auto()  # of memory, too
    WRITES = auto()  # it may write memory
    OTHER = auto()


class EqualValues:
    """The values of the registers at one point, each with a number. `single`: registers that one instruction writes;
    any other may keep its old value where a guarded instruction writes it."""

    def __init__(self, single: Iterable[str]) -> None:
        self.single = frozenset(single)
        self._numbers: dict[str, int] = {}
        self._computed: Known = {}
        self._loaded: Known = {}  # from memory that may be written
        self._count = 0

    def begin_block(self) -> None:
        self._computed.clear()
        self._loaded.clear()

    def take(self, code: Code) -> Mapping[str, str]:
        """Notes what the code writes. Returns for each register that it writes another that holds the same value;
        nothing where it is the first that computes them, or where they are not known."""
        kind = _kind(code.opcode) if isinstance(code, Instruction) else Kind.WRITES
        if isinstance(code, Instruction) and kind in (Kind.COMPUTES, Kind.LOADS):
            known = self._loaded if kind is Kind.LOADS else self._computed
            target, form = code.operands[0], self._forms(code.operands[1:])
            if form is not None and (code.guard is None or self.single.issuperset(written(code))):
                if isinstance(target, Name) and "." not in target.text:
                    return self._equal(known, (code.opcode, form), target.text)
                if targets := _parts(target):
                    return self._all_equal(known, (code.opcode, len(targets), form), targets)
        if kind is Kind.WRITES:
            self._loaded.clear()
        for register in written(code):
            self._numbers[register] = self._fresh()
        return {}

    def place(self, store: Instruction) -> Form:
        """What is equal for two stores to the same place under the same guard. None where it is not known."""
        guard = store.guard and f"{store.guard.negated} {self._form(store.guard.predicate)}"
        place = self._form(store.operands[0])
        return None if place is None or facts_of(store.opcode).volatile else (store.opcode, place, guard or "")

    def _equal(self, known: Known, key: Form, target: str) -> Mapping[str, str]:
        found = known.get(key)
        if found is None:
            number = self._numbers[target] = self._fresh()
            known[key] = target, number
            return {}
        first, number = found
        unchanged = self._numbers.get(first) == number
        self._numbers[target] = number
        return {target: first} if unchanged and first != target else {}

    def _all_equal(self, known: Known, key: Form, targets: Sequence[str]) -> Mapping[str, str]:
        found: dict[str, str] = {}
        for i, target in enumerate(targets):
            found |= self._equal(known, (i, key), target)
        return found if len(found) == len(targets) else {}

    def _fresh(self) -> int:
        self._count += 1
        return self._count

    def _forms(self, operands: tuple[Operand, ...]) -> Form:
        found = tuple(map(self._form, operands))
        return None if None in found else found

    def _form(self, operand: Operand) -> Form:
        if isinstance(operand, Name):
            text = operand.text
            return None if text.startswith(_CHANGING) else self._numbers.get(text, text)
        if isinstance(operand, Immediate):
            return operand.text
        if isinstance(operand, Address | Vector):
            return self._forms(operand.parts)
        if isinstance(operand, Sum):
            form = self._form(operand.base)
            return None if form is None else (form, *map(str, operand.tail))
        return ("!", self._form(operand.name)) if isinstance(operand, Negated) else None


def _parts(operand: Operand) -> Sequence[str]:
    """The registers that a vector writes; none if they are not written whole."""
    parts = operand.parts if isinstance(operand, Vector) else ()
    names = [p.text for p in parts if isinstance(p, Name) and "." not in p.text]
    return names if len(names) == len(parts) else ()


@lru_cache(maxsize=4096)
def _kind(opcode: str) -> Kind:
    facts = facts_of(opcode)
    row = facts.row
    if row.access not in ("", "l") or facts.calls or facts.volatile:
        return Kind.WRITES
    if row.scope > Scope.THREAD or row.writes != 1 or row.updates or facts.sets_carry or facts.uses_carry:
        return Kind.OTHER
    return Kind.LOADS if row.access and not facts.read_only and not facts.loads_parameter else Kind.COMPUTES
