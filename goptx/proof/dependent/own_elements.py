"""Which thread an element belongs to: addresses that no two threads, and no two times around a loop, have in common.

Requires: launches along x. An index counts the threads if it is `c * (ctaid * ntid + tid)` and what is the same for all
threads, or begins so and goes on by `c * ntid * nctaid` each time around a loop.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from goptx.proof.dependent.linear_sums import Product, Sum, Sums
from goptx.proof.memory_order import Access
from goptx.proof.terms import NO_FORMULA, Terms

ALONG_X = "launches along x"


@dataclass(frozen=True, slots=True)
class Buffer:
    """A pointer among the parameters: the parameter's name in the fused kernel, and the offset in it."""

    name: str
    offset: str


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a buffer that belongs to one thread, at one time around the loops `heads`: those of equal `array` and
    `index` are one, and others begin `pitch` bytes further on or more. `begin` and `end` are of the access in it."""

    array: tuple[Buffer, int]  # the buffer and where the pieces begin in it
    index: int
    pitch: int
    begin: int
    end: int
    heads: frozenset[int]
    presumed: frozenset[str]


class Elements:
    """Pieces of accesses."""

    def __init__(self, terms: Terms, loops: Mapping[int, tuple[tuple[bool, int], ...]]) -> None:
        """`loops` has for each value of a register at the head of a loop the values that come in, with whether they
        come from inside."""
        self.terms = terms
        self.sums = Sums(terms)
        self.loops = loops
        tid, ntid, ctaid, nctaid = (terms.make(f"%{name}.x") for name in ("tid", "ntid", "ctaid", "nctaid"))
        self.tid, self.ctaid = tid, ctaid
        self.cta: Product = tuple(sorted((ctaid, ntid)))
        self.grid: Product = tuple(sorted((ntid, nctaid)))

    def buffer(self, access: Access) -> Buffer | None:
        """The buffer that an access is counted from; None if that is not one pointer."""
        found = [b for p, n in self.sums.of(access.base).parts if n == 1 and len(p) == 1 and (b := self._pointer(p[0]))]
        others = any(self._pointer(u) for p, n in self.sums.of(access.base).parts for u in p if n != 1 or len(p) > 1)
        return found[0] if len(found) == 1 and not others else None

    def _pointer(self, unknown: int) -> Buffer | None:
        term = self.terms[unknown]
        base, _, offset = term.head.partition("+")
        if base.removesuffix("64") not in ("ld.param.u", "ld.param.b", "ld.param.s"):
            return None
        symbol = self.terms[self.terms[term.parts[0]].parts[0]].head
        return Buffer(symbol.removeprefix("symbol "), offset) if symbol.startswith("symbol ") else None

    def address(self, access: Access) -> Sum:
        return self.sums.of(access.base).plus(self.sums.constant(access.offset, 64))

    def piece(self, access: Access) -> Piece | None:
        """The thread's own piece that an access lies in; None where that is not proved."""
        buffer = self.buffer(access)
        address = self.address(access)
        varying = {p: n for p, n in address.variable.parts if not all(map(self._is_common, p))}
        if buffer is None or not varying:
            return None
        if len(varying) == 1 and len(next(iter(varying))) == 1 and (u := next(iter(varying))[0]) in self.sums.narrow:
            index, scale = self.sums.narrow[u], address.signed(varying[u,])
        else:
            index, scale = Sum(64, frozenset(varying.items())), 1
        counted = self._counted(index)
        if counted is None or not 0 < scale < 1 << 31:
            return None
        times, heads, presumed = counted
        origin = Sum(64, frozenset(p for p in address.variable.parts if p[0] not in varying))
        begin = address.signed(address.constant)
        if index.bits < 64:
            presumed |= {f"at most 2^{index.bits}{'' if times == 1 else f' / {times}'} threads"}
        return Piece(
            (buffer, self.sums.term(origin)), self.sums.term(index), scale * times, begin, begin + access.size, heads,
            presumed | {ALONG_X},
        )  # fmt: skip

    def _counted(self, index: Sum) -> tuple[int, frozenset[int], frozenset[str]] | None:
        """The distance of the numbers of threads in an index, the loops that it counts, and what is presumed."""
        varying = {p: index.signed(n) for p, n in index.variable.parts if not all(map(self._is_common, p))}
        times = varying.get((self.tid,), 0)
        if times > 0 and varying == {(self.tid,): times, self.cta: times}:
            return times, frozenset(), frozenset()
        block = varying.get((self.ctaid,), 0)
        if 0 < times <= block and varying == {(self.tid,): times, (self.ctaid,): block} and block % times == 0:
            return times, frozenset(), frozenset({f"blocks of at most {block // times} threads"})
        ((product, count),) = list(varying.items()) if len(varying) == 1 else [((), 0)]
        if len(product) == 1 and count > 0 and product[0] in self.loops:
            found = self._around(product[0], index.bits)
            return found and (found[0] * count, *found[1:])
        return None

    def _around(self, value: int, bits: int) -> tuple[int, frozenset[int], frozenset[str]] | None:
        """The same of a value at the head of a loop, that counts up by all threads of the grid."""
        found = None
        for inside, comes in self.loops[value]:
            if not inside:
                first = self._counted(self.sums.of(comes, bits))
                if first is None or first[1] or found not in (None, first):
                    return None
                found = first
        for inside, comes in self.loops[value]:
            step = self.sums.of(comes, bits).plus(self.sums.of(value, bits), -1)
            if inside and (found is None or step.parts != {(self.grid, found[0])}):
                return None
        if found is None:
            return None
        return found[0], self.terms.blocks(value), found[2] | {"counters of loops whose step is the grid do not wrap"}

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
