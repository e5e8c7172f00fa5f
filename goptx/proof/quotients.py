"""Normal forms of quotients: what is computed by a division, and what by shifts and products in its place.

* *Powers of two.* t / 2**n of unsigned numbers is t >> n, and the remainder t & (2**n - 1). Of signed ones of b bits it
  is (t + m) >> n where m is 2**n - 1 if t < 0, else 0: m = (t >> b-1) >>> b-n; the remainder is t - ((t + m) & -2**n).
* *Comparisons of quotients*, of 32 bits, rounded towards zero. Unsigned: t / s >= h where t >= h * s, and t / s > h
  where t >= h * s + s, both in 64 bits. Signed: let a = |s|, n = -a, and t' = t or, if s < 0, -t. Then t / s = t' / a.
  t' / a >= h where t' >= h * a if h > 0, t' >= h * a + 1 - a else; t' / a > h where t' >= h * a + a if h >= 0,
  t' >= h * a + 1 else. The same with both signs changed: -t' <= h * n + (0 or -1 - n), -t' <= h * n + (n or -1).
* *Multiplied quotients.* If |q| < 2**(31-k), 2**k * q > m where q > floor(m / 2**k), and 2**k * q >= m where
  2**k * q > m - 1; m may be raised to 1 - 2**31, since 2**k * q is never below that. |t / s| <= |t| for s != 0, and
  |t / 2**j| <= 2**(31-j), so j > k suffices, and so does 0 <= t < 2**(31-k).

PTX leaves open a quotient by zero, and -2**31 / -1: that there are none is presumed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from goptx.proof.terms import Terms

_DIVISION = re.compile(r"(div|rem)\.([su])(32|64)")
_ROUNDED = re.compile(r"(shr|sub)\.s(32|64)")
_COMPARISON = re.compile(r"setp\.(lt|le|gt|ge|lo|ls|hi|hs)\.([su])(32|64)")
_CONSTANT = re.compile(r"-?[0-9]+|0[xX][0-9a-fA-F]+")
_UNSIGNED = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}
_MIRRORED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}
_LEAST = 1 - 2**31
_LANES = 32
DIVISIBLE = "no number is divided by 0, and -2^31 not by -1, where a comparison of products stands for one of quotients"
Most = Callable[[int], int | None]


@dataclass(frozen=True, slots=True)
class Compared:
    """The comparison `opcode` of two terms, or its opposite."""

    opcode: str
    first: int
    second: int
    negated: bool


def division(terms: Terms, opcode: str, parts: Sequence[int]) -> tuple[str, Sequence[int]]:
    """The instruction whose result is that of this one: of divisions by powers of two the normal form, else itself."""
    if matched := _DIVISION.fullmatch(opcode):
        name, kind, bits = matched.groups()
        n = _power(terms, parts[1])
        if n is None:
            return opcode, parts
        if kind == "s":
            return opcode, (parts[0], terms.make(str(1 << n)))
        last = n if name == "div" else (1 << n) - 1
        return f"shr.u{bits}" if name == "div" else f"and.b{bits}", (parts[0], terms.make(str(last)))
    if matched := _ROUNDED.fullmatch(opcode):
        name, bits = matched[1], int(matched[2])
        return (_quotient if name == "shr" else _remainder)(terms, bits, parts) or (opcode, parts)
    return opcode, parts


def _quotient(terms: Terms, bits: int, parts: Sequence[int]) -> tuple[str, Sequence[int]] | None:
    """The signed division by 2**n that is a shift of `parts`."""
    raised, n = terms[parts[0]], _number(terms, parts[1])
    if n is None or not 0 < n < bits - 1 or not raised.parts or parts[0] != _raised(terms, bits, raised.parts[0], n):
        return None
    return f"div.s{bits}", (raised.parts[0], terms.make(str(1 << n)))


def _remainder(terms: Terms, bits: int, parts: Sequence[int]) -> tuple[str, Sequence[int]] | None:
    """The remainder of signed division by 2**n that is a difference of `parts`."""
    cut = terms[parts[1]]
    mask = _number(terms, cut.parts[1]) if cut.head == f"and.b{bits}" else None
    n = (-mask).bit_length() - 1 if mask is not None and mask < 0 else 0
    if not 0 < n < bits - 1 or mask != -(1 << n) or cut.parts[0] != _raised(terms, bits, parts[0], n):
        return None
    return f"rem.s{bits}", (parts[0], terms.make(str(1 << n)))


def _raised(terms: Terms, bits: int, top: int, n: int) -> int:
    """The term top + (2**n - 1 if top < 0 else 0)."""
    sign = terms.make(f"shr.s{bits}", top, terms.make(str(bits - 1)))
    return terms.make(f"add.s{bits}", top, terms.make(f"shr.u{bits}", sign, terms.make(str(bits - n))))


def comparison(terms: Terms, opcode: str, first: int, second: int, most: Most) -> Compared | None:
    """The normal form of a comparison of a quotient, None for what is not one. `most` gives the greatest number of 32
    bits that a term may be, None where that is not known."""
    matched = _COMPARISON.fullmatch(opcode)
    if matched is None:
        return None
    relation, kind, bits = matched.groups()
    relation = _UNSIGNED.get(relation, relation)
    if bits == "64":
        return _of_products(terms, kind, relation, first, second)
    for own, other, wanted in ((first, second, relation), (second, first, _MIRRORED[relation])):
        if terms[own].head == f"div.{kind}32":
            return _normal(kind, wanted, own, other)
        if kind == "s" and (scaled := _scaled(terms, own, most)):
            quotient, k = scaled
            if wanted in ("ge", "lt"):
                raised = terms.make("max.s32", other, terms.make(str(_LEAST)))
                other = terms.make("add.s32", raised, terms.make("-1"))
                wanted = {"ge": "gt", "lt": "le"}[wanted]
            return _normal(kind, wanted, quotient, terms.make("shr.s32", other, terms.make(str(k))))
    return None


def _normal(kind: str, relation: str, quotient: int, limit: int) -> Compared:
    wanted = {"lt": "ge", "le": "gt"}.get(relation, relation)
    return Compared(f"setp.{wanted}.{kind}32", quotient, limit, wanted != relation)


def _scaled(terms: Terms, number: int, most: Most) -> tuple[int, int] | None:
    """The quotient and the k where a term is that quotient multiplied by 2**k, and cannot overflow."""
    term = terms[number]
    if term.head not in ("shl.b32", "mul.lo.s32"):
        return None
    quotient = terms[term.parts[0]]
    k = (_number if term.head == "shl.b32" else _power)(terms, term.parts[1])
    if k is None or not 0 < k < 31 or quotient.head != "div.s32":
        return None
    greatest = most(quotient.parts[0])
    if greatest is not None and greatest < 1 << 31 - k:
        return term.parts[0], k
    top = terms[quotient.parts[0]]
    small = _number(terms, top.parts[1]) if top.head in ("div.s32", "shr.s32") else None
    if small is None or small < 1:
        return None
    j = small if top.head == "shr.s32" else small.bit_length() - 1
    return (term.parts[0], k) if k < j < 32 else None


def _of_products(terms: Terms, kind: str, relation: str, first: int, second: int) -> Compared | None:
    """The comparison of a quotient that a comparison of products is."""
    made = terms.make
    wide, bound = terms[first], terms[second]
    if kind == "u" and relation in ("ge", "lt"):
        product, top = terms[bound.parts[0]] if bound.head == "add.u64" else bound, _widened(terms, first)
        if top is None or product.head != "mul.wide.u32":
            return None
        limit, bottom = product.parts
        if bound.head == "add.u64" and _widened(terms, bound.parts[1]) != bottom:
            return None
        strict, holds = bound.head == "add.u64", relation == "ge"
    elif kind == "s" and relation in ("le", "gt") and wide.head == "mul.wide.s32" and bound.head == "add.s64":
        product = terms[bound.parts[0]]
        sign = _sign_of(terms, wide.parts[1])
        if sign is None or product.head != "mul.wide.s32":
            return None
        top, limit, bottom, holds = wide.parts[0], product.parts[0], terms[sign].parts[0], relation == "le"
        negative = made("sub.s32", sign, made("xor.b32", bottom, sign))
        mores = {made("cvt.s64.s32", _more(terms, limit, negative, strict)): strict for strict in (False, True)}
        if product.parts[1] != negative or bound.parts[1] not in mores:
            return None
        strict = mores[bound.parts[1]]
    else:
        return None
    wanted = "gt" if strict else "ge"
    terms.presumed[DIVISIBLE] = None
    return Compared(f"setp.{wanted}.{kind}32", made(f"div.{kind}32", top, bottom), limit, not holds)


def _widened(terms: Terms, number: int) -> int | None:
    """The term of 32 bits that is the low word of one of 64 bits whose high word is 0."""
    term = terms[number]
    if term.head != "mov.b64" or len(term.parts) != 1:
        return None
    words = terms[term.parts[0]]
    return words.parts[0] if words.head == "{{{},0}}" and len(words.parts) == 1 else None


def _sign_of(terms: Terms, factor: int) -> int | None:
    """The term s >> 31 in `~(s >> 31) | 1`, which is -1 for s >= 0, else 1."""
    either = terms[factor]
    if either.head != "or.b32" or either.parts[1] != terms.make("1"):
        return None
    inverse = terms[either.parts[0]]
    sign = terms[inverse.parts[0]] if inverse.head == "not.b32" else either
    return inverse.parts[0] if sign.head == "shr.s32" and sign.parts[1] == terms.make("31") else None


def _more(terms: Terms, limit: int, negative: int, strict: bool) -> int:
    """What is added to limit * negative."""
    low = terms.atom("setp.lt.s32", limit, terms.make("0" if strict else "1"))
    if strict:
        return terms.choice(low, terms.make("-1"), negative)
    return terms.choice(low, terms.make("not.b32", negative), terms.make("0"))


def _number(terms: Terms, number: int) -> int | None:
    """The number that a term is, if it is a constant."""
    term = terms[number]
    if re.fullmatch(r"mov\.[bsu](32|64)", term.head):
        return _number(terms, term.parts[0])
    if term.head == "WARP_SZ":
        return _LANES
    return int(term.head, 0) if not term.parts and _CONSTANT.fullmatch(term.head) else None


def _power(terms: Terms, number: int) -> int | None:
    """The n if a term is the constant 2**n."""
    found = _number(terms, number)
    return found.bit_length() - 1 if found and found > 0 and found & (found - 1) == 0 else None
