"""Normal forms of what is computed from launch shapes and thread numbers: equal forms are equal numbers.

A form is a sum of products of atoms with coefficients: a whole number, without wrap. The atoms are special registers,
hidden parameters, and quotients of forms, rounded down. A register of 32 bits holds a form modulo 2**32.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import product as pairs_of
from math import gcd, prod

from goptx.proof.formulas import FALSE, TRUE
from goptx.proof.polynomials import Form, Product, divided, less, times, total, whole
from goptx.proof.terms import Terms

MOST_CHOICES = 8  # one after the other, each of which doubles the cases
_Either = Callable[[int, int, int], int]
Limit = tuple[Form, bool]  # a form, and whether it is below 0


class _Unknown(Exception):
    """What is computed has no normal form."""


class Integers:
    """The forms of terms. Comparisons get a name while `learning`; later ones are known if they were then."""

    def __init__(self, terms: Terms) -> None:
        self.terms, self.formulas = terms, terms.formulas
        self.learning = True
        self.comparisons: dict[int, Form] = {}  # the variables that say that a form is below 0
        self._forms: dict[int, Form] = {}
        self._quotients: dict[int, tuple[Form, Form]] = {}
        self._ranges: dict[int, tuple[int, int]] = {}
        self._bounds: list[tuple[frozenset[int], int]] = []
        self._limits: tuple[Limit, ...] = ()
        self._numeric: dict[int, bool] = {}

    # terms -------------------------------------------------------------------------------------------

    def atom(self, term: int, least: int, most: int) -> int:
        """Makes a term a number of which only the range is known."""
        self._forms[term], self._ranges[term] = (((term,), 1),), (least, most)
        return term

    def bound(self, atoms: Sequence[int], most: int) -> None:
        """The product of these atoms, or of some of them, is at most that."""
        self._bounds.append((frozenset(atoms), most))

    def number(self, n: int) -> int:
        return self.term(whole(n))

    def term(self, form: Form, bits: int = 32) -> int:
        """The term of a form modulo 2**bits."""
        half = 1 << bits - 1
        form = tuple((p, m) for p, n in form if (m := (n + half) % (2 * half) - half))
        if not any(p for p, _ in form):
            n = sum(n for _, n in form) % (2 * half)
            found = self.terms.make(str(n))
            self._forms[found] = whole(n)
            return found
        if len(form) == 1 and len(form[0][0]) == 1 and form[0][1] == 1:
            return form[0][0][0]
        low, high = self._range_anywhere(form)
        return self._made(form, 0 if low >= 0 and high < 2 * half else bits)

    def _made(self, form: Form, bits: int = 0) -> int:
        """The term of a form modulo 2**bits, of the form itself if that is 0."""
        head = f"integer {bits} {' '.join(f'{n}*{len(p)}' for p, n in form)}"
        found = self.terms.make(head, *(atom for p, _ in form for atom in p))
        self._forms[found] = form
        return found

    def form(self, term: int) -> Form:
        """Raises `_Unknown` for what is not a number that is known."""
        if term not in self._forms:
            made = self.terms[term]
            if made.parts:
                raise _Unknown
            try:
                self._forms[term] = whole(int(made.head, 0))
            except ValueError:
                raise _Unknown from None
        return self._forms[term]

    def atoms(self, form: Form) -> frozenset[int]:
        """The special registers and parameters in a form."""
        found = set[int]()
        for atom in {a for p, _ in form for a in p}:
            inner = self._quotients.get(atom)
            found |= {atom} if inner is None else self.atoms(inner[0]) | self.atoms(inner[1])
        return frozenset(found)

    # ranges ------------------------------------------------------------------------------------------

    def range(self, form: Form) -> tuple[int, int]:
        """The least and the greatest value, as far as they are known."""
        low, high = self._range(form)
        for limit, below in self._limits:
            (product, n), *_ = (term for term in limit if term[0])
            count, left = divmod(dict(form).get(product, 0), n)
            if count and not left:
                least, most = self._range_anywhere(limit)
                ends = [count * least, count * -1] if below else [0, count * most]
                more = self._range_anywhere(less(form, times(whole(count), limit)))
                low, high = max(low, more[0] + min(ends)), min(high, more[1] + max(ends))
        return low, high

    @contextmanager
    def _where(self, limits: Sequence[Limit]) -> Iterator[None]:
        """Ranges are those where these limits hold."""
        before, self._limits = self._limits, tuple(limits)
        try:
            yield
        finally:
            self._limits = before

    def _limits_of(self, given: int) -> Iterator[Limit]:
        """The limits that a formula implies."""
        for variable in sorted(self.formulas.support(given) & self.comparisons.keys()):
            found = self.formulas.under(self.formulas.variable(variable), given)
            if found is not None:
                yield self.comparisons[variable], found == TRUE

    def _range(self, form: Form) -> tuple[int, int]:
        """What follows from the ranges of its atoms."""
        low = high = 0
        for product, n in form:
            ends = [n * end for end in self._range_of_product(product)]
            low, high = low + min(ends), high + max(ends)
        for atom in dict.fromkeys(a for p, n in form if n < 0 for a in p if a in self._quotients):
            for top, bottom in self._fractions(atom, form):  # a - b * (a / b) is a remainder
                ((product, n),) = times(bottom, (((atom,), 1),))
                own = -dict(form).get(product, 0)
                count = -(-own // n)  # that many remainders are inside, and a little more of the quotient
                rest = total(form, times(whole(-count), top), ((product, count * n),))
                if own > 0 and n > 0 and len(rest) < len(form):
                    ends = [*self.range(rest)]
                    low, high = max(low, ends[0]), min(high, ends[1] + count * (self.range(bottom)[1] - 1))
        return low, high

    def _fractions(self, atom: int, form: Form) -> Iterator[tuple[Form, Form]]:
        """What the quotient `atom` divides by what; also as a quotient of the quotients in a form."""
        top, bottom = self._quotients[atom]
        yield top, bottom
        for other in dict.fromkeys(a for p, _ in form for a in p if a in self._quotients):
            inner, ((below, by),) = self._quotients[other]
            left = divided(bottom[0][0], below)
            if inner == top and left is not None and bottom[0][1] % by == 0 and other != atom:
                yield self._forms[other], ((left, bottom[0][1] // by),)

    def _range_of_product(self, product: Product) -> tuple[int, int]:
        low = high = 1
        for atom in product:
            ends = [a * b for a in (low, high) for b in self._range_of_atom(atom)]
            low, high = min(ends), max(ends)
        for atoms, limit in self._bounds:
            inside = {a for a in product if a in atoms}
            if inside and len(set(product)) == len(product):
                high = min(high, limit * prod(max(map(abs, self._ranges[a])) for a in product if a not in inside))
        return low, high

    def _range_of_atom(self, atom: int) -> tuple[int, int]:
        low, high = self._ranges[atom]
        if self._limits and atom in self._quotients:
            top, bottom = self._quotients[atom]
            found = _ends_of_quotient(self.range(top), self._range_anywhere(bottom))
            low, high = max(low, found[0]), min(high, found[1])
        return low, high

    def _range_anywhere(self, form: Form) -> tuple[int, int]:
        """The range without limits."""
        with self._where(()):
            return self.range(form)

    # quotients and comparisons -----------------------------------------------------------------------

    def quotient(self, top: Form, bottom: Form) -> Form:
        """Rounded down; `bottom` is one product, above 0."""
        least, most = self._range_anywhere(bottom)
        if len(bottom) != 1 or least < 1:
            raise _Unknown
        (low, high), common = self.range(top), gcd(*(n for _, n in top))
        size = -(-least // (common or 1))
        if least == most and common > 1 and low >= 0 and (common * size - least) * (high // common) < least:
            # common / least is 1 / size, and so little more that this does not change the result
            return self.quotient(tuple((p, n // common) for p, n in top), whole(size))
        ((below, by),) = bottom
        found: Form = ()
        rest: Form = ()
        for product, n in top:
            left = divided(product, below)
            count = n // by if left is not None and (n % by == 0 or not product) else 0
            found = total(found, ((left or (), count),))
            rest = total(rest, ((product, n - count * by),))
        low, high = self.range(rest)
        if low >= 0 and high < self.range(bottom)[0]:
            return found
        return total(found, self._fraction(rest, bottom))

    def _fraction(self, top: Form, bottom: Form) -> Form:
        ((first, n),) = top[:1]
        if len(top) == 1 and n == 1 and len(first) == 1 and first[0] in self._quotients:
            inner, by = self._quotients[first[0]]  # a quotient of a quotient
            return self.quotient(inner, times(by, bottom))
        found = self.terms.make("quotient", self._made(top), self._made(bottom))
        self._quotients[found] = top, bottom
        self.atom(found, *_ends_of_quotient(self._range_anywhere(top), self._range_anywhere(bottom)))
        return self._forms[found]

    def negative(self, form: Form) -> int:
        """The formula that a form is below 0."""
        low, high = self.range(form)
        if high < 0 or low >= 0:
            return TRUE if high < 0 else FALSE
        rest = tuple((p, n) for p, n in form if p)
        if rest[0][1] < 0:  # the opposite has a name
            return self.formulas.negation(self.negative(less(whole(-1), form)))
        common = gcd(*(n for _, n in rest))
        named = total(tuple((p, n // common) for p, n in rest), whole(dict(form).get((), 0) // common))
        variable = self.terms.make("negative", self._made(named))
        if variable not in self.comparisons:
            if not self.learning:
                raise _Unknown
            self.comparisons[variable] = named
        return self.formulas.variable(variable)

    # instructions ------------------------------------------------------------------------------------

    def value(self, opcode: str, *operands: int) -> int | None:
        """The term that an instruction computes from terms, None where it has no normal form."""
        rule = _RULES.get(opcode)
        if rule is None:
            return None
        bits = _BITS[opcode.rpartition(".")[2]]
        try:
            return self._by_cases(
                operands, lambda its: rule(self, bits, its), self.terms.choice, partial(self.terms.make, opcode)
            )
        except _Unknown:
            return None

    def comparison(self, opcode: str, first: int, second: int) -> int | None:
        """The formula that a comparison such as "setp.lt.u32" gives, None where it has no normal form."""
        _, relation, type = (*opcode.split("."), "", "")[:3]
        if type not in _BITS or relation not in _RELATIONS:
            return None

        def compared(a: Form, b: Form) -> int:
            if type[0] == "s" and max(self.range(a)[1], self.range(b)[1]) >= 1 << _BITS[type] - 1:
                raise _Unknown
            below, above = self.negative(less(a, b)), self.negative(less(b, a))
            wanted, opposite = _RELATIONS[relation]
            found = self.formulas.either(*(t if w else FALSE for t, w in zip((below, above), wanted, strict=True)))
            return self.formulas.negation(found) if opposite else found

        def rule(its: Sequence[int]) -> int:
            return self._residues(its, (_BITS[type],) * 2, compared, self.formulas.ite)

        try:
            return self._by_cases((first, second), rule, self.formulas.ite, partial(self.terms.atom, opcode))
        except _Unknown:
            return None

    def deciding(self, opcode: str, first: int, second: int) -> list[Form] | None:
        """Forms that decide a comparison such as "setp.lt.u32" by which of them are below 0, None if there are none."""
        _, relation, type = (*opcode.split("."), "", "")[:3]
        if type not in _BITS or relation not in _RELATIONS:
            return None
        size = 1 << _BITS[type]
        numbers, found = list[list[Form]](), list[Form]()
        for form in (self.known(first), self.known(second)):
            low, high = self.range(form) if form is not None else (size, size)
            if form is None or low < -size or high >= size or (type[0] == "s" and (low < 0 or high >= size // 2)):
                return None
            numbers.append([form, total(form, whole(size))] if low < 0 else [form])
            found += [form] if low < 0 else []
        for a, b in pairs_of(*numbers):
            found += [f for f, wanted in zip((less(a, b), less(b, a)), _RELATIONS[relation][0], strict=True) if wanted]
        return [f for f in found if self.range(f)[0] < 0 <= self.range(f)[1]]

    def known(self, term: int) -> Form | None:
        """The form of a term, None for what is not a number that is known."""
        try:
            return self.form(term)
        except _Unknown:
            return None

    def fraction(self, atom: int) -> tuple[Form, Form] | None:
        """What an atom divides by what, None where it is not a quotient."""
        return self._quotients.get(atom)

    def halves(self, term: int) -> list[int] | None:
        """The low and the high word of a number of 64 bits."""
        rules: list[Callable[[Form], Form]] = [lambda a: a, lambda a: self.quotient(a, whole(1 << 32))]
        try:
            return [
                self._by_cases([term], lambda its, rule=rule: self.exact(its, rule, 64), self.terms.choice)  # type: ignore[misc]
                for rule in rules
            ]
        except _Unknown:
            return None

    def _fits(self, form: Form, bits: int) -> bool:
        low, high = self.range(form)
        return low >= 0 and high < 1 << bits

    def _by_cases(
        self, operands: Sequence[int], rule: Callable[[Sequence[int]], int], either: _Either,
        otherwise: Callable[..., int] | None = None, given: int = TRUE, most: int = MOST_CHOICES,
    ) -> int:  # fmt: skip
        """With the choices among the operands made before the rule applies, at most so many. Where launches decide
        them, `otherwise` is what is made of operands that have no normal form in some of the cases."""
        test = next((self.terms[t].formula for t in operands if self.terms[t].head == "choice"), None)
        if test is None:
            with self._where([*self._limits_of(given)]):
                return rule(operands)
        if not most or not all(map(self._is_numeric, operands)):
            raise _Unknown
        found: list[int | None] = []
        cases = [(half, [self.terms.resolved(t, half) for t in operands]) for half in self.formulas.halves(given, test)]
        for half, its in cases:
            try:
                found.append(self._by_cases(its, rule, either, otherwise, half, most - 1))
            except _Unknown:
                found.append(None)
        if not any(f is not None for f in found):
            raise _Unknown
        if None in found and (otherwise is None or not self.formulas.support(test) <= self.comparisons.keys()):
            raise _Unknown
        values = [
            otherwise(*its) if f is None and otherwise else f or 0 for f, (_, its) in zip(found, cases, strict=True)
        ]
        return either(test, *values) if len(values) > 1 else values[0]

    def _is_numeric(self, term: int) -> bool:
        """Whether all terms that it chooses from have normal forms, or one of those between which launches decide."""
        made = self.terms[term]
        if made.head != "choice":
            return self.known(term) is not None
        if term not in self._numeric:
            of_launch = self.formulas.support(made.formula) <= self.comparisons.keys()
            self._numeric[term] = (any if of_launch else all)(map(self._is_numeric, made.parts))
        return self._numeric[term]

    def _residues(
        self, operands: Sequence[int], bits: Sequence[int], rule: Callable[..., int], either: _Either, *done: Form
    ) -> int:
        """The rule for the numbers from 0 to 2**bits - 1 that the operands' registers hold."""
        if not operands:
            return rule(*done)

        def after(form: Form) -> int:
            return self._residues(operands[1:], bits[1:], rule, either, *done, form)

        form, size = self.form(operands[0]), whole(1 << bits[0])
        low, high = self.range(form)
        if self._fits(form, bits[0]):
            return after(form)
        if low >= -(1 << bits[0]) and high < 1 << bits[0]:
            test = self.negative(form)
            if test == TRUE:
                return after(total(form, size))
            with self._where((*self._limits, (form, True))):
                below = after(total(form, size))
            with self._where((*self._limits, (form, False))):
                return either(test, below, after(form))
        return after(less(form, times(size, self.quotient(form, size))))

    def exact(self, operands: Sequence[int], rule: Callable[..., Form], *bits: int, to: int = 32) -> int:
        """The term modulo 2**to of what the rule makes of the numbers that registers hold."""
        return self._residues(operands, bits, lambda *its: self.term(rule(*its), to), self.terms.choice)

    def remainder(self, top: Form, bottom: Form) -> Form:
        return less(top, times(bottom, self.quotient(top, bottom)))

    def constant(self, form: Form, bits: int) -> int:
        if any(p for p, _ in form):
            raise _Unknown
        return sum(n for _, n in form) % (1 << bits)


def _ends_of_quotient(top: tuple[int, int], bottom: tuple[int, int]) -> tuple[int, int]:
    """The least and the greatest quotient of numbers in these ranges; the lower ones are above 0."""
    (low, high), (least, most) = top, bottom
    return low // (least if low < 0 else most), high // (most if high < 0 else least)


_BITS = {"u32": 32, "s32": 32, "b32": 32, "u64": 64, "s64": 64, "b64": 64}
_RELATIONS = {  # whether a < b, whether a > b; whether it is the opposite
    "lt": ((1, 0), False), "lo": ((1, 0), False), "gt": ((0, 1), False), "hi": ((0, 1), False),
    "ge": ((1, 0), True), "hs": ((1, 0), True), "le": ((0, 1), True), "ls": ((0, 1), True),
    "ne": ((1, 1), False), "eq": ((1, 1), True),
}  # fmt: skip
_Rule = Callable[[Integers, int, Sequence[int]], int]


def _ring(rule: Callable[..., Form]) -> _Rule:
    """Of forms modulo 2**bits."""
    return lambda of, bits, its: of.term(rule(*map(of.form, its)), bits)


def _masked(of: Integers, bits: int, its: Sequence[int]) -> int:
    mask = of.constant(of.form(its[1]), bits)
    low, high = mask + 1, (1 << bits) - mask
    if low & mask and high & (high - 1):
        raise _Unknown
    if not low & mask:
        return of.exact(its[:1], lambda a: of.remainder(a, whole(low)), bits, to=bits)
    return of.exact(its[:1], lambda a: times(whole(high), of.quotient(a, whole(high))), bits, to=bits)


def _least(of: Integers, bits: int, its: Sequence[int]) -> int:
    return of._residues(
        its, (bits, bits), lambda a, b: of.terms.choice(of.negative(less(a, b)), of.term(a, bits), of.term(b, bits)),
        of.terms.choice,
    )  # fmt: skip


def _wide(of: Integers, bits: int, its: Sequence[int]) -> int:
    return of.exact(its, lambda a, b, c=(): total(times(a, b), c), 32, 32, 64, to=64)


def _not_negative(rule: _Rule) -> _Rule:
    """Of signed numbers that are not below 0: as of unsigned ones."""

    def ruled(of: Integers, bits: int, its: Sequence[int]) -> int:
        if not all(of._fits(of.form(term), bits - 1) for term in its):
            raise _Unknown
        return rule(of, bits, its)

    return ruled


def _shift(of: Integers, its: Sequence[int]) -> Form:
    """2**n for a constant shift by n bits."""
    n = of.constant(of.form(its[1]), 32)
    if n > 64:
        raise _Unknown
    return whole(1 << n)


_MODULAR: dict[str, _Rule] = {
    "mov": _ring(lambda a: a),
    "add": _ring(total),
    "sub": _ring(less),
    "mul.lo": _ring(times),
    "mad.lo": _ring(lambda a, b, c: total(times(a, b), c)),
    "shl": lambda of, bits, its: of.term(times(of.form(its[0]), _shift(of, its)), bits),
}
_UNSIGNED: dict[str, _Rule] = {
    "div.u": lambda of, bits, its: of.exact(its, of.quotient, bits, bits, to=bits),
    "rem.u": lambda of, bits, its: of.exact(its, of.remainder, bits, bits, to=bits),
    "shr.u": lambda of, bits, its: of.exact(its[:1], lambda a: of.quotient(a, _shift(of, its)), bits, to=bits),
    "and.b": _masked,
    "min.u": _least,
}
_ALIKE = ("div.u", "rem.u", "shr.u")
_RULES: dict[str, _Rule] = {
    **{f"{name}.{type}": rule for name, rule in _MODULAR.items() for type in _BITS},
    **{f"{name}{bits}": rule for name, rule in _UNSIGNED.items() for bits in (32, 64)},
    **{f"{name[:-1]}s{bits}": _not_negative(_UNSIGNED[name]) for name in _ALIKE for bits in (32, 64)},
    "mul.hi.u32": lambda of, bits, its: of.exact(its, lambda a, b: of.quotient(times(a, b), whole(1 << 32)), 32, 32),
    "mul.wide.u32": _wide,
    "mad.wide.u32": _wide,
    "cvt.u64.u32": lambda of, bits, its: of.exact(its, lambda a: a, 32, to=64),
}
