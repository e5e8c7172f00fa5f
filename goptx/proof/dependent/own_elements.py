"""Which thread, or CTA, an element belongs to: addresses that no two threads, and no two times around a loop, share.

Requires: launches along x. An index counts the threads if it is `c * (ctaid * ntid + tid)` and what is the same for all
threads, or begins so and goes on by `c * ntid * nctaid` each time around a loop.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import reduce

from goptx.proof.dependent.linear_sums import Sum, Sums
from goptx.proof.memory_order import Access
from goptx.proof.polynomials import Product
from goptx.proof.terms import NO_FORMULA, Terms

ALONG_X = "launches along x"
NO_WRAP = "counters of loops whose step is the grid do not wrap"
NARROW = 32  # bits; shorter counters wrap in launches that are common


@dataclass(frozen=True, slots=True)
class Buffer:
    """A pointer among the parameters: the parameter's name in the fused kernel, and the offset in it; or a variable,
    without an offset."""

    name: str
    offset: str


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a buffer that belongs to one thread, at one time around the loops `heads`. Those of equal `array` and
    `index` are one, and others begin `pitch` bytes further on or more. Those of equal `array` and `start` belong to one
    thread. `begin` and `end` are of the access in it."""

    array: tuple[int, int]  # where pieces begin in the buffer, and `pitch`
    index: int
    start: int
    begin: int
    end: int
    heads: frozenset[int]
    presumed: frozenset[str]

    @property
    def pitch(self) -> int:
        """Bytes."""
        return self.array[1]


@dataclass(frozen=True, slots=True)
class Count:
    """That an index counts threads: the distance of their numbers, the index with counters of loops as they begin, the
    heads of these loops, what is presumed."""

    distance: int
    start: Sum
    heads: frozenset[int] = frozenset()
    presumed: frozenset[str] = frozenset()


class Elements:
    """Pieces of accesses."""

    def __init__(self, terms: Terms, loops: Mapping[int, tuple[tuple[bool, int], ...]]) -> None:
        """`loops` has for each value of a register at the head of a loop the values that come in, with whether they
        come from inside."""
        self.terms = terms
        self.sums = Sums(terms)
        self.loops = loops
        self._followed = set[int]()  # values whose edges are being looked at
        tid, ntid, ctaid, nctaid = (terms.make(f"%{name}.x") for name in ("tid", "ntid", "ctaid", "nctaid"))
        self.tid, self.ntid, self.ctaid = tid, ntid, ctaid
        self.cta: Product = tuple(sorted((ctaid, ntid)))
        self.grid: Product = tuple(sorted((ntid, nctaid)))

    def buffer(self, access: Access) -> Buffer | None:
        """The buffer that an access is counted from; None if that is not one pointer."""
        parts = self.sums.of(access.base).parts
        found = [(p, b) for p, n in parts for u in p if (b := self._pointer(u))]
        return found[0][1] if len(found) == 1 and (found[0][0], 1) in parts and len(found[0][0]) == 1 else None

    def _pointer(self, unknown: int) -> Buffer | None:
        term = self.terms[unknown]
        if term.head.startswith("symbol "):
            return Buffer(term.head.removeprefix("symbol "), "")
        base, _, offset = term.head.partition("+")
        if base.removesuffix("64") not in ("ld.param.u", "ld.param.b", "ld.param.s"):
            return None
        symbol = self.terms[self.terms[term.parts[0]].parts[0]].head
        return Buffer(symbol.removeprefix("symbol "), offset) if symbol.startswith("symbol ") else None

    def address(self, access: Access) -> Sum:
        return self.sums.of(access.base).plus(self.sums.constant(access.offset, 64))

    def _within(self, access: Access) -> Sum | None:
        """The address less the pointer; None where that is not known."""
        if self.buffer(access) is None:
            return None
        address = self.address(access)
        return Sum(64, frozenset((p, n) for p, n in address.parts if not any(map(self._pointer, p))))

    def piece(self, access: Access) -> Piece | None:
        """The thread's own piece that an access lies in; None where that is not proved."""
        address = self._within(access)
        varying = self._varying(address) if address else {}
        if address is None or not varying:
            return None
        index, scale = Sum(64, frozenset(varying.items())), 1
        only = next(iter(varying))
        if len(varying) == len(only) == 1 and only[0] in self.sums.narrow:
            index, scale = self.sums.narrow[only[0]], address.signed(varying[only])
        count = self._counted(index)
        if count is None or not 0 < scale < 1 << 31:
            return None
        origin = self.sums.term(Sum(64, frozenset(p for p in address.variable.parts if p[0] not in varying)))
        begin = address.signed(address.constant)
        presumed = count.presumed | {ALONG_X}
        if index.bits < 64:
            presumed |= {f"at most 2^{index.bits}{'' if count.distance == 1 else f' / {count.distance}'} threads"}
        numbers = self.sums.term(index), self.sums.term(count.start)
        pitch = scale * count.distance
        return Piece((origin, pitch), *numbers, begin, begin + access.size, count.heads, presumed)

    def _varying(self, value: Sum) -> dict[Product, int]:
        """The parts that may differ between threads."""
        return {p: n for p, n in value.parts if not all(map(self._is_common, p))}

    def _counted(self, index: Sum) -> Count | None:
        varying = {p: index.signed(n) for p, n in self._varying(index).items()}
        times = varying.get((self.tid,), 0)
        if times > 0 and varying == {(self.tid,): times, self.cta: times}:
            return Count(times, index)
        block = varying.get((self.ctaid,), 0)
        if 0 < times <= block and varying == {(self.tid,): times, (self.ctaid,): block} and block % times == 0:
            presumed = {f"blocks of at most {block // times} threads"}
            presumed |= {f"at most 2^{index.bits} / {block} CTAs"} if index.bits < 64 else set()
            return Count(times, index, presumed=frozenset(presumed))
        ((product, times),) = list(varying.items()) if len(varying) == 1 else [((), 0)]
        count = self._around(product[0], index.bits) if len(product) == 1 and times > 0 else None
        if count is None:
            return None
        others = Sum(index.bits, frozenset(p for p in index.parts if p[0] != product))
        return Count(count.distance * times, others.plus(count.start, times), count.heads, count.presumed)

    def _around(self, value: int, bits: int) -> Count | None:
        """The same of a value at the head of a loop, that counts up by all threads of the grid; or of one that is the
        same by each way to a block."""
        if value in self._followed or bits < NARROW:
            return None
        self._followed.add(value)
        found = self._followed_around(value, bits)
        self._followed.discard(value)
        return found

    def _followed_around(self, value: int, bits: int) -> Count | None:
        comes = [(inside, self.sums.of(v, bits)) for inside, v in self.loops.get(value, ())]
        first = {v for inside, v in comes if not inside}
        count = self._counted(next(iter(first))) if len(first) == 1 else None
        if count is None or count.heads:
            return None
        own = self.sums.of(value, bits)
        if any(v.plus(own, -1).parts != {(self.grid, count.distance)} for inside, v in comes if inside):
            return None
        if not any(inside for inside, _ in comes):
            return count
        return Count(count.distance, count.start, self.terms.blocks(value), count.presumed | {NO_WRAP})

    def of_cta(self, access: Access) -> tuple[tuple[int, int, bool], frozenset[str]] | None:
        """The CTA's own piece that an access lies in: where such pieces begin, the bytes of one, or of one for each
        thread; and what is presumed. None where that is not proved."""
        address = self._within(access)
        if address is None:
            return None
        expanded = reduce(Sum.plus, (self._expanded(*part) for part in address.parts), Sum(64, frozenset()))
        parts = {p: expanded.signed(n) for p, n in expanded.parts}
        by_thread, step = self.cta in parts, parts.get((self.tid,), 0)
        stride = parts.pop(self.cta if by_thread else (self.ctaid,), 0)
        parts.pop((self.tid,), 0)
        most = stride // abs(step) if step and not by_thread else 1
        if step < 0 and by_thread:
            parts[self.ntid,] = parts.get((self.ntid,), 0) + step
        begin = parts.pop((), 0) + (step * (most - 1) if step < 0 and not by_thread else 0)
        begin -= step if step < 0 and by_thread else 0
        origin = Sum(64, frozenset((p, n % (1 << 64)) for p, n in parts.items() if n))
        fits = begin >= 0 and begin + access.size <= abs(step or stride) <= stride
        if not fits or self._varying(origin):
            return None
        presumed = {ALONG_X, *(limit for product, _ in address.parts for limit in self._limits(product))}
        if step and not by_thread:
            presumed.add(f"blocks of at most {most} threads")
        return (self.sums.term(origin), stride, by_thread), frozenset(presumed)

    def _limits(self, product: Product) -> Iterator[str]:
        """Within what numbers that are widened do not wrap."""
        inner = self.sums.narrow.get(product[0]) if len(product) == 1 else None
        for part, count in inner.parts if inner else ():
            if part in (self.cta, (self.ctaid,)):
                most = f"2^{inner.bits}{'' if count == 1 else f' / {count}'}" if inner else ""
                yield f"at most {most} {'threads' if part == self.cta else 'CTAs'}"

    def _expanded(self, product: Product, count: int) -> Sum:
        """A part of a sum, with what is widened as if it did not wrap."""
        inner = self.sums.narrow.get(product[0]) if len(product) == 1 else None
        if inner is None or all(self._is_common(u) for u in product):
            return Sum(64, frozenset([(product, count)]))
        signed = Sum(64, frozenset((p, inner.signed(n) % (1 << 64)) for p, n in inner.parts))
        return signed.times(self.sums.constant(count, 64))

    def _is_common(self, unknown: int) -> bool:
        """Whether all threads of a launch have the same value, at all times."""
        if unknown in self.sums.narrow:
            return all(self._is_common(u) for product, _ in self.sums.narrow[unknown].parts for u in product)
        term = self.terms[unknown]
        if term.head.startswith("%"):
            return term.head.startswith(("%ntid.", "%nctaid."))
        if not term.parts:
            return term.head.startswith("symbol ") or term.head[:1].isdigit() or term.head[:1] == "-"
        known = term.head.startswith("ld.param.") or (term.formula == NO_FORMULA and not term.head.startswith("ld."))
        return known and all(map(self._is_common, term.parts))
