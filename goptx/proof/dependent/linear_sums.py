"""Addresses as sums of products: `base + 4 * i` is one value whatever instructions compute it.

Arithmetic is modulo a power of two, as in PTX. A number that is widened is an unknown of its own, since it may have
wrapped before.
"""

from __future__ import annotations

from dataclasses import dataclass

from goptx.proof.polynomials import Form, Product, times, total, whole
from goptx.proof.terms import Terms

SMALL = ("%tid.", "%ntid.", "%ctaid.", "%nctaid.")  # below 2^31, so widening does not change them


@dataclass(frozen=True, slots=True)
class Sum:
    """`parts` has how often each product counts, without zeros. The empty product is the constant."""

    bits: int
    parts: frozenset[tuple[Product, int]]

    @property
    def constant(self) -> int:
        return dict(self.parts).get((), 0)

    @property
    def variable(self) -> Sum:
        """Without the constant."""
        return Sum(self.bits, frozenset(p for p in self.parts if p[0]))

    def signed(self, number: int) -> int:
        return number - (1 << self.bits) if number >> (self.bits - 1) else number

    def plus(self, other: Sum, count: int = 1) -> Sum:
        return _sum(self.bits, total((*self.parts,), times((*other.parts,), whole(count))))

    def times(self, other: Sum) -> Sum:
        return _sum(self.bits, times((*self.parts,), (*other.parts,)))


def _sum(bits: int, form: Form) -> Sum:
    return Sum(bits, frozenset((p, n % (1 << bits)) for p, n in form if n % (1 << bits)))


def _unknown(term: int) -> Form:
    return (((term,), 1),)


class Sums:
    """The sums that terms are."""

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self.narrow: dict[int, Sum] = {}  # of an unknown that is a number widened, that number
        self._known: dict[tuple[int, int], Sum] = {}
        self._numbers: dict[Sum, int] = {}

    def of(self, number: int, bits: int = 64) -> Sum:
        """The sum that a term is, in that many bits."""
        key = number, bits
        if key not in self._known:
            found = self._made(number, bits)
            self._known[key] = found if found is not None else _sum(bits, _unknown(number))
        return self._known[key]

    def term(self, value: Sum) -> int:
        """One term for equal sums."""
        return self.terms.make(f"sum {self._numbers.setdefault(value, len(self._numbers))}")

    def constant(self, number: int, bits: int) -> Sum:
        return _sum(bits, whole(number))

    def _made(self, number: int, bits: int) -> Sum | None:
        """None for what is no sum."""
        term = self.terms[number]
        base, *words = term.head.split(".")
        if not term.parts:
            try:
                return self.constant(int(term.head, 0), bits)
            except ValueError:
                return None
        if term.head == "[{}]" or (base == "cvta" and "global" in words):
            return self.of(term.parts[0], bits)
        kinds = [w for w in words if w[0] in "sub" and w[1:].isdigit()]
        if not kinds or len(kinds) + (words[0] in ("lo", "wide")) != len(words):
            return None
        return self._of_numbers(base, words, [int(k[1:]) for k in kinds], kinds[-1][0] == "s", term.parts, bits)

    def _of_numbers(
        self, base: str, words: list[str], sizes: list[int], signed: bool, parts: tuple[int, ...], bits: int
    ) -> Sum | None:
        size = sizes[-1]
        if base == "cvt" and len(sizes) == 2 and sizes[0] == bits:
            change = self._widened if size <= bits else self._narrowed
            return change(self.of(parts[0], size), bits, signed)
        if words[0] == "wide" and 2 * size == bits and base in ("mul", "mad"):
            one, two = (self._widened(self.of(p, size), bits, signed) for p in parts[:2])
            return one.times(two).plus(self.of(parts[2], bits)) if base == "mad" else one.times(two)
        if size != bits or len(sizes) > 1:
            return None
        values = [self.of(p, bits) for p in parts]
        match base, words[0]:
            case "mov", _:
                return values[0]
            case "add", _:
                return values[0].plus(values[1])
            case "sub", _:
                return values[0].plus(values[1], -1)
            case "neg", _:
                return self.constant(0, bits).plus(values[0], -1)
            case "mul", "lo":
                return values[0].times(values[1])
            case "mad", "lo":
                return values[0].times(values[1]).plus(values[2])
            case "shl", _ if not self.of(parts[1], 32).variable.parts and self.of(parts[1], 32).constant < bits:
                return values[0].times(self.constant(1 << self.of(parts[1], 32).constant, bits))
        return None

    def _widened(self, value: Sum, bits: int, signed: bool) -> Sum:
        if value.bits == bits:
            return value
        if not value.variable.parts:
            return self.constant(value.signed(value.constant) if signed else value.constant, bits)
        if len(value.parts) == 1:
            ((product, count),) = value.parts
            if count == 1 and len(product) == 1 and self.terms[product[0]].head.startswith(SMALL):
                return _sum(bits, ((product, 1),))
        unknown = self.terms.make(f"widened {'s' if signed else 'u'}", self.term(value))
        self.narrow[unknown] = value
        return _sum(bits, _unknown(unknown))

    def _narrowed(self, value: Sum, bits: int, signed: bool) -> Sum:
        total = self.constant(0, bits)
        for product, count in value.parts:
            part = self.constant(count, bits)
            for unknown in product:
                inner = self.narrow.get(unknown)
                wide = inner is not None and inner.bits == bits
                part = part.times(inner if inner is not None and wide else _sum(bits, _unknown(unknown)))
            total = total.plus(part)
        return total
