"""Integers and predicates of a thread as expressions of thread numbers, parameters and opaque values.

An integer is a sum of products of *atoms* modulo a power of two, so equal sums are equal numbers whatever computed
them. A predicate is a conjunction of atoms and negated atoms. Atoms are numbered in one table: two expressions, also of
different kernels, are equal if they are the same value here. The converse does not hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

MOST_TERMS = 16  # of an expression; a longer sum becomes an atom


@dataclass(frozen=True, slots=True)
class Expression:
    """`terms` has the non-zero products: the sorted factors and the coefficient. The factors () are the number 1."""

    bits: int
    terms: frozenset[tuple[tuple[int, ...], int]]

    @property
    def number(self) -> int | None:
        """The value if it is constant, as an unsigned number."""
        if not self.terms:
            return 0
        ((factors, count),) = self.terms if len(self.terms) == 1 else (((-1,), 0),)
        return count if factors == () else None

    def coefficient(self, *factors: int) -> int:
        """The coefficient of a product, as a signed number."""
        return self.signed(dict(self.terms).get(tuple(sorted(factors)), 0))

    def signed(self, count: int) -> int:
        return count - (1 << self.bits) if count >> (self.bits - 1) else count

    def atoms(self) -> frozenset[int]:
        return frozenset(a for factors, _ in self.terms for a in factors)

    def __add__(self, other: Expression) -> Expression:
        return _made(self.bits, [*self.terms, *other.terms])

    def __sub__(self, other: Expression) -> Expression:
        return self + other.times(-1)

    def times(self, count: int) -> Expression:
        return _made(self.bits, [(factors, c * count) for factors, c in self.terms])


@dataclass(frozen=True, slots=True)
class Condition:
    """A conjunction: each atom holds (True) or does not hold (False). Without atoms it is always true."""

    all: frozenset[tuple[int, bool]] = frozenset()

    def __and__(self, other: Condition) -> Condition:
        return Condition(self.all | other.all)

    def implies(self, other: Condition) -> bool:
        return other.all <= self.all


Value = Expression | Condition
Key = tuple[object, ...]  # what defines an atom: a word, then its operands


def _made(bits: int, terms: Sequence[tuple[tuple[int, ...], int]]) -> Expression:
    found: dict[tuple[int, ...], int] = {}
    for factors, count in terms:
        found[factors] = (found.get(factors, 0) + count) % (1 << bits)
    return Expression(bits, frozenset((f, c) for f, c in found.items() if c))


def constant(number: int, bits: int) -> Expression:
    return _made(bits, [((), number)])


@dataclass(slots=True)
class Atoms:
    """The table: the key of each atom by its number."""

    keys: list[Key] = field(default_factory=list)
    numbers: dict[Key, int] = field(default_factory=dict)

    def number(self, *key: object) -> int:
        if key not in self.numbers:
            self.numbers[key] = len(self.keys)
            self.keys.append(key)
        return self.numbers[key]

    def expression(self, bits: int, *key: object) -> Expression:
        return _made(bits, [((self.number(*key),), 1)])

    def literal(self, holds: bool, *key: object) -> Condition:
        return Condition(frozenset(((self.number(*key), holds),)))

    def product(self, one: Expression, other: Expression) -> Expression:
        if len(one.terms) * len(other.terms) > MOST_TERMS:
            return self.expression(one.bits, "mul", one, other)
        terms = [(tuple(sorted((*f, *g))), c * d) for f, c in one.terms for g, d in other.terms]
        return _made(one.bits, terms)

    def widened(self, value: Expression, bits: int, signed: bool) -> Expression:
        """The value with more bits, sign-extended if it is `signed`."""
        if value.number is not None:
            return constant(value.signed(value.number) if signed else value.number, bits)
        ((factors, count),) = value.terms if len(value.terms) == 1 else (((), 0),)
        if value.bits == 32 and count == 1 and len(factors) == 1 and self.keys[factors[0]][0] == "special":
            return Expression(bits, value.terms)  # numbers of threads and CTAs are below 2**31
        return self.expression(bits, "signed" if signed else "unsigned", value)

    def inverted(self, condition: Condition) -> Condition:
        if len(condition.all) == 1:
            ((atom, holds),) = condition.all
            word, *of = self.keys[atom]
            if word == "all" and not holds and isinstance(of[0], Condition):
                return of[0]
            return Condition(frozenset(((atom, not holds),)))
        return self.literal(False, "all", condition)

    def within(self, value: object) -> Iterator[Key]:
        """The keys of all atoms in a value, recursively."""
        stack, seen = [value], set[int]()
        while stack:
            match stack.pop():
                case Expression() as expression:
                    found = expression.atoms()
                case Condition(literals):
                    found = frozenset(a for a, _ in literals)
                case tuple() as parts:
                    stack += parts
                    continue
                case _:
                    continue
            for atom in found - seen:
                seen.add(atom)
                yield self.keys[atom]
                stack.append(self.keys[atom])

    def render(self, value: object) -> str:
        """The value as text for messages."""
        match value:
            case Expression(_, terms):
                terms_as_text = sorted(
                    (self._term(value, f, c) for f, c in terms), key=lambda t: (t.lstrip("-")[:1].isdigit(), t)
                )
                return " + ".join(terms_as_text).replace("+ -", "- ") or "0"
            case Condition(literals):
                return (
                    " and ".join(sorted(f"{'' if holds else 'not '}{self._atom(a)}" for a, holds in literals))
                    or "always"
                )
            case tuple():
                return ", ".join(map(self.render, value))
        return str(value)

    def _term(self, whole: Expression, factors: tuple[int, ...], count: int) -> str:
        names = "*".join(sorted(map(self._atom, factors)))
        number = whole.signed(count)
        return str(number) if not names else names if number == 1 else f"{number}*{names}"

    def _atom(self, atom: int) -> str:
        word, *rest = self.keys[atom]
        match word:
            case "special" | "parameter" | "address" | "number":
                return str(rest[0])
            case "signed" | "unsigned":
                return f"({self.render(rest[0])})"
            case "made" | "phi" | "merge" | "undefined":
                return f"what {self._named(rest)} holds"
        return f"{word}({', '.join(map(self.render, rest))})"

    @staticmethod
    def _named(rest: Sequence[object]) -> str:
        return f"`{rest[-1]}`" if isinstance(rest[-1], str) else "a register"
