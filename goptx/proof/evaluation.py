"""What a step computes, as terms and formulas over what it reads: one meaning for all kernels.

Registers of predicates hold formulas, all others terms. A register that has no value yet may hold anything.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from functools import reduce

from goptx.proof.code.kernel_code import CARRY, NOWHERE, Program, Source, Step
from goptx.proof.formulas import FALSE, TRUE
from goptx.proof.placement.integers import Integers
from goptx.proof.quotients import comparison, division
from goptx.proof.terms import Terms

Registers = MutableMapping[str, int]
_OF_LAUNCH = frozenset(("%dynamic_smem_size", "%total_smem_size", "%aggr_smem_size"))  # other ones in a fused kernel


@dataclass(frozen=True, slots=True)
class Evaluation:
    """`symbols` has the common names of parameters and variables, `renamed` those of registers that are never written;
    `side` distinguishes what has no common name. `special` are the terms of special registers that have others than
    their names; `integers` what is known of numbers that come from them."""

    terms: Terms
    program: Program
    symbols: Mapping[str, str]
    renamed: Mapping[str, str]
    side: str
    special: Mapping[str, int] = field(default_factory=dict)
    integers: Integers | None = None

    def read(self, registers: Mapping[str, int], name: str) -> int:
        """The value of a register: a formula if it is a predicate."""
        value = registers.get(name)
        if value is None:
            head = f"undefined {self.renamed.get(name, name)}"
            return self.terms.atom(head) if self.program.is_predicate(name) else self.terms.make(head)
        return value

    def guard(self, registers: Mapping[str, int], step: Step) -> int:
        """Whether the step is executed."""
        if not step.guard:
            return TRUE
        test = self.read(registers, step.guard)
        return self.terms.formulas.negation(test) if step.negated else test

    def name(self, registers: Mapping[str, int], name: str) -> int:
        """The term of a name: of a register's value, of a special register, of a symbol."""
        type = self.program.type_of(name)
        if name in self.special:
            return self.special[name]
        if type is None:
            common = (name.startswith("%") and name not in _OF_LAUNCH) or name in ("_", "WARP_SZ")
            return self.terms.make(name if common else f"symbol {self.symbols.get(name, f'{self.side} {name}')}")
        value = self.read(registers, name)
        return self.terms.make("predicate", formula=value) if type == ".pred" else value

    def source(self, registers: Mapping[str, int], source: Source) -> int:
        """The term of an operand, without the offset of an address."""
        if source.text == "{}":
            found = self.name(registers, source.names[0])
            formula = self.terms[found].formula
            return (
                self.terms.make("predicate", formula=self.terms.formulas.negation(formula)) if source.negated else found
            )
        if not source.names:
            return self.terms.make(source.text)
        parts = [self.name(registers, n) for n in source.names]
        return self.terms.make(f"{'!' if source.negated else ''}{source.text}", *parts)

    def truth(self, registers: Mapping[str, int], source: Source) -> int:
        """The formula of a predicate operand."""
        if source.text != "{}":
            digits = source.text.removeprefix("-")
            if not digits.isdigit():
                return self.terms.atom("no predicate", self.source(registers, source))
            return TRUE if int(digits) else FALSE
        name = source.names[0]
        value = self.read(registers, name)
        if not self.program.is_predicate(name):
            value = self.terms.atom("no predicate", self.name(registers, name))
        return self.terms.formulas.negation(value) if source.negated else value

    def write(self, registers: Registers, step: Step, values: list[int]) -> None:
        """Puts the values into the destinations where the step is executed."""
        test = self.guard(registers, step)
        written = (*step.writes, CARRY) if step.facts.sets_carry else step.writes
        if step.facts.calls:  # functions may use the carry flag
            lost = (CARRY,) if step.keeps else (*step.writes, CARRY)
            registers.update({name: self._unknown(name, step) for name in lost})
        for name, value in zip(written, values, strict=False):
            if name == NOWHERE:
                continue
            if test != TRUE:
                before = self.read(registers, name)
                choose = self.terms.formulas.ite if self.program.is_predicate(name) else self.terms.choice
                value = choose(test, value, before)
            registers[name] = value

    def _unknown(self, name: str, step: Step) -> int:
        head = f"unknown {self.side} {step.number} {name}"
        return self.terms.atom(head) if self.program.is_predicate(name) else self.terms.make(head)

    def values(self, registers: Registers, step: Step) -> list[int]:
        """What a step that has no effect but on registers computes, for each of its destinations."""
        terms, formulas, base, sources = self.terms, self.terms.formulas, step.facts.base, step.sources
        to_predicate = bool(step.writes) and self.program.is_predicate(step.writes[0])
        if to_predicate and base in ("mov", "not", "and", "or", "xor"):
            values = [self.truth(registers, s) for s in sources]
            match base:
                case "mov":
                    return values
                case "not":
                    return [formulas.negation(values[0])]
                case "and":
                    return [formulas.both(*values)]
                case "or":
                    return [formulas.either(*values)]
                case _:
                    return [formulas.negation(formulas.same(*values))]
        if base == "setp":
            return self._comparison(registers, step)
        to_numbers = not any(map(self.program.is_predicate, step.writes))
        if base == "mov" and to_numbers and len(step.writes) == 1 and self._is_register(sources[0]):
            return [self.name(registers, sources[0].names[0])]
        if base == "selp" and to_numbers:
            test, type_ = self.truth(registers, sources[2]), step.opcode.rpartition(".")[2]
            return [terms.choice(test, *(self._chosen(registers, s, type_) for s in sources[:2]))]
        parts = [self.source(registers, s) for s in sources]
        parts += [self.name(registers, w) for w in step.writes if step.facts.row.updates]
        if step.facts.uses_carry:
            parts.append(self.read(registers, CARRY))
        opcode, inputs = division(terms, step.opcode, parts)
        known = self._number(opcode, len(step.writes), inputs) if to_numbers else None
        if known is not None:
            return known
        offsets = "".join(f"+{s.offset}" for s in sources if s.offset is not None)
        head = opcode + offsets
        whole = terms.make(head, *inputs)
        if len(step.writes) == 1 and not step.facts.sets_carry:
            return [formulas.variable(whole) if to_predicate else whole]
        written = (*step.writes, CARRY) if step.facts.sets_carry else step.writes
        found = [terms.make(f"part {k}", whole) for k in range(len(written))]
        return [
            formulas.variable(v) if self.program.is_predicate(w) else v for w, v in zip(written, found, strict=True)
        ]

    def _chosen(self, registers: Registers, source: Source, type_: str) -> int:
        """An operand of a selection. What a constant is depends on its type, as where it is moved to a register."""
        found = self.source(registers, source)
        if self._is_register(source) or type_[0] != "f":
            return found
        return self.terms.make(f"mov.{type_}", found)

    def _number(self, opcode: str, results: int, parts: Sequence[int]) -> list[int] | None:
        """Of numbers that come from launch shapes."""
        if self.integers is None:
            return None
        if opcode == "mov.b64" and results == 2:
            return self.integers.halves(parts[0])
        found = self.integers.value(opcode, *parts) if results == 1 else None
        return None if found is None else [found]

    def _is_register(self, source: Source) -> bool:
        return source.text == "{}" and self.program.type_of(source.names[0]) is not None

    def _comparison(self, registers: Registers, step: Step) -> list[int]:
        """Of `setp.lt.and.s32 p|q, a, b, c`."""
        formulas = self.terms.formulas
        words = step.opcode.split(".")
        joins = words[2] if len(step.sources) == 3 else ""
        head = ".".join(w for i, w in enumerate(words) if not (joins and i == 2))
        first, second = (self.source(registers, s) for s in step.sources[:2])
        found = self._compared(head, first, second)
        packed = step.facts.types[-1].endswith("x2")  # then the second one is that of the upper halves
        both = [found, self.terms.atom(f"{head} upper", first, second) if packed else formulas.negation(found)]
        if joins:
            third = self.truth(registers, step.sources[2])
            if joins == "xor":
                both = [formulas.negation(formulas.same(value, third)) for value in both]
            else:
                both = [(formulas.both if joins == "and" else formulas.either)(value, third) for value in both]
        return both[: len(step.writes)]

    def _compared(self, head: str, first: int, second: int) -> int:
        if normal := comparison(self.terms, head, first, second, self.most):
            found = self._truth_of(normal.opcode, normal.first, normal.second)
            return self.terms.formulas.negation(found) if normal.negated else found
        return self._truth_of(head, first, second)

    def _truth_of(self, head: str, first: int, second: int) -> int:
        known = self.integers.comparison(head, first, second) if self.integers else None
        return self.terms.atom(head, first, second) if known is None else known

    def indexed(self, index: int, count: int) -> list[int]:
        """For each target of an indirect branch the formula that a lane goes there: the index is its number, as
        `setp.eq.u32` finds out, and no other one."""
        head, formulas = self.terms[index].head, self.terms.formulas
        numbers = [self.terms.make(str(k)) for k in range(count)]
        if head.isdigit():
            return [TRUE if n == index else FALSE for n in numbers]
        equal = [self._compared("setp.eq.u32", index, n) for n in numbers]
        others = [reduce(formulas.either, (e for e in equal if e != its), FALSE) for its in equal]
        return [formulas.both(e, formulas.negation(other)) for e, other in zip(equal, others, strict=True)]

    def most(self, value: int, choices: int = 4) -> int | None:
        """The greatest number of 32 bits that a term may be, None where that is not known."""
        term = self.terms[value]
        known = self.integers.known(value) if self.integers else None
        if self.integers and known is not None:
            low, high = self.integers.range(known)
            return high if low >= 0 else None
        numbers = [int(head) for head in (self.terms[p].head for p in term.parts) if head.isdigit()]
        if term.head in ("and.b32", "min.u32") and numbers:
            return min(numbers)
        if term.head == "choice" and choices:
            both = [self.most(p, choices - 1) for p in term.parts]
            return None if None in both else max(n for n in both if n is not None)
        return int(term.head) if term.head.isdigit() else None


def operands_of(side: Evaluation, registers: Mapping[str, int], step: Step) -> tuple[int, ...]:
    """The terms of what a step reads."""
    parts = [side.source(registers, s) for s in step.sources]
    parts += [side.name(registers, w) for w in step.writes if step.facts.row.updates]
    return tuple(parts)
