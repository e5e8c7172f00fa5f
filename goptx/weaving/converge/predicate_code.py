"""Instructions on predicates and lane masks that goptx puts into kernels, and fresh registers for them.

What is made here has line 0, which distinguishes it from what was read from text.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from goptx.ptx.ir import Guard, Immediate, Instruction, Name, Operand, Registers

STEMS = ("any", "both", "brought", "case", "coming", "found", "if", "in", "lanes", "run", "unless")


def free_prefix(prefix: str, registers: Iterable[str]) -> str:
    """The prefix, made longer until no register of the kernel could bear the name of a fresh one."""
    names = list(registers)
    while any(name.startswith(f"%{prefix}_{stem}") for name in names for stem in STEMS):
        prefix += "_"
    return prefix


@dataclass(slots=True)
class Fresh:
    """Registers beside those of the kernel, their names beginning with `prefix`; `made` has them by type."""

    prefix: str
    made: dict[str, list[str]] = field(default_factory=lambda: {"pred": [], "b32": [], "b16": []})

    def predicate(self, stem: str) -> str:
        """A new predicate register."""
        return self.named(f"{stem}{len(self.made['pred'])}")

    def named(self, stem: str) -> str:
        """The predicate register of that name, made when first asked for."""
        return self.register("pred", stem)

    def register(self, type_: str, stem: str) -> str:
        """The register of that type and name, made when first asked for."""
        name = f"%{self.prefix}_{stem}"
        if name not in self.made[type_]:
            self.made[type_].append(name)
        return name

    def is_side(self, register: str) -> bool:
        """Whether it is a predicate of the lanes that take one side of a branch."""
        return register.startswith(f"%{self.prefix}_if")

    def declared(self) -> tuple[Registers, ...]:
        return tuple(Registers((f".{t}",), tuple((name, None) for name in names)) for t, names in self.made.items())

    def conjunction(self, result: str, left: str, right: Guard) -> list[Instruction]:
        """result := left and right."""
        if not right.negated:
            return [both(result, left, right.predicate.text)]
        unless = self.named("unless")
        return [invert(unless, right.predicate.text), both(result, left, unless)]


def inverted(guard: Guard) -> Guard:
    return Guard(guard.predicate, not guard.negated)


def both(result: str, left: str, right: str) -> Instruction:
    return _on_predicates("and", Name(result), Name(left), Name(right))


def either(result: str, left: str, right: str) -> Instruction:
    return _on_predicates("or", Name(result), Name(left), Name(right))


def copy(result: str, source: str) -> Instruction:
    return _on_predicates("mov", Name(result), Name(source))


def invert(result: str, source: str) -> Instruction:
    return _on_predicates("not", Name(result), Name(source))


def set_true(result: str) -> Instruction:
    return _on_predicates("mov", Name(result), Immediate("1"))


def set_false(result: str) -> Instruction:
    return _on_predicates("mov", Name(result), Immediate("0"))


def equals(result: str, value: Operand, number: int) -> Instruction:
    """result := value equals number."""
    return Instruction("setp.eq.u32", (Name(result), value, Immediate(str(number))))


def _on_predicates(operation: str, *operands: Operand) -> Instruction:
    return Instruction(f"{operation}.pred", operands)


def ballot(result: str, predicate: str) -> Instruction:
    return Instruction("vote.sync.ballot.b32", (Name(result), Name(predicate), Immediate("-1")))


def vote_any(result: str, predicate: str) -> Instruction:
    return Instruction("vote.sync.any.pred", (Name(result), Name(predicate), Immediate("-1")))


def is_ours(instruction: Instruction) -> bool:
    """Inserted by goptx, not written in the kernel."""
    return instruction.line == 0


def any_of_cta(result: str, predicate: str) -> Instruction:
    """result := the predicate holds for a thread of the CTA, all threads of which come to its barrier 0."""
    return Instruction("bar.red.or.pred", (Name(result), Immediate("0"), Name(predicate)))
