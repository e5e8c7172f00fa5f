"""The footprint of a thread: whether an address belongs to an element that only one thread accesses.

Requires: the values of a flow; launches along x only unless stated otherwise. Recognised are elements indexed by the
number of the thread in the grid, `%ctaid.x * %ntid.x + %tid.x`, those reached from there by steps of the size of the
grid, and those indexed by rows and columns. Numbers wrap at their width: the results hold for launches within the
`limits`. Loop counters (and `row * length + column`) of 32 bits or more are assumed not to wrap.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import prod

from goptx.analysis.values.expressions import Atoms, Condition, Expression, Key, constant
from goptx.analysis.values.value_numbering import Values
from goptx.launch.shape import MOST_ALONG, MOST_CTAS, Limit
from goptx.ptx.opcodes import facts_of

_GRID = ("%ntid.x", "%nctaid.x")
_MOST_X = 1 << 31  # threads along x, so that thread numbers are not negative
_NARROW = 32  # bits; counters with fewer may wrap


@dataclass(frozen=True, slots=True)
class Size:
    """The threads of a CTA and the CTAs of the grid along x, where known; `more` has the sizes along other axes."""

    threads: int | None = None
    ctas: int | None = None
    more: tuple[tuple[str, int], ...] = ()

    def breaks(self, limit: Limit) -> bool:
        """Whether a launch of this size surely violates the limit."""
        return prod(self.of(name) or 1 for name in limit.sizes) > limit.most

    def of(self, name: str) -> int | None:
        """A size such as `%ntid.x`; None if unknown."""
        return {"%ntid.x": self.threads, "%nctaid.x": self.ctas, **dict(self.more)}.get(name)


UNKNOWN = Size()
Limits = frozenset[Limit]
NO_LIMITS: Limits = frozenset()


@dataclass(frozen=True, slots=True)
class Footprint:
    """An address as `origin + pitch * thread + offset`, bytes.

    advances: it is different in each iteration of its loop. exclusive: the addresses of other threads and other
    iterations are `pitch` or more away. axes: how many axes a launch may have. limits: for which launches this holds.
    """

    origin: Expression
    pitch: int
    offset: int
    advances: bool
    exclusive: bool
    axes: int = 1
    limits: Limits = NO_LIMITS


def footprint(
    values: Values, address: Expression, size: Size = UNKNOWN, known: Condition | None = None
) -> Footprint | None:
    """The footprint; None where the address has no such form. `known` is what holds where the address is used."""
    return _Search(values, size, known or Condition()).run(address)


@dataclass(frozen=True, slots=True)
class Piece:
    """A CTA's piece of a buffer: it begins at `origin + stride * %ctaid.x` and has the size of the stride, which is
    multiplied by the threads of the CTA if `by_threads`. limits: for which launches that holds."""

    origin: Expression
    stride: int
    by_threads: bool
    limits: Limits = field(default=NO_LIMITS, compare=False)


def piece_of_cta(values: Values, address: Expression, size: Size, width: int) -> Piece | None:
    """The piece that contains an access of `width` bytes; None where that is not proved."""
    return _Search(values, size, Condition()).piece(address, width) if width else None


@dataclass(frozen=True, slots=True)
class _Numbering:
    """How a number counts the threads: by `pitch` for each along x, and by `stride` for each CTA where that is, or may
    be, larger than the CTA's threads need. layout: what else distinguishes it from other numberings."""

    pitch: int
    layout: tuple[Key, ...]
    limits: Limits
    axes: int = 1
    stride: int = 0


class _Search:
    def __init__(self, values: Values, size: Size, known: Condition) -> None:
        self.values = values
        self.atoms = values.atoms
        self.size = size
        self.known = known

    def run(self, address: Expression) -> Footprint | None:
        start, step = self.unrolled(address)
        varying = [(f, c) for f, c in start.terms if not self.is_uniform(f)]
        factor, number = 1, Expression(start.bits, frozenset(varying))
        origin = start - number
        if len(varying) == 1 and len(varying[0][0]) == 1:
            word, *rest = self.atoms.keys[varying[0][0][0]]
            if word in ("signed", "unsigned") and step is None and isinstance(rest[0], Expression):
                factor, (number, step) = start.signed(varying[0][1]), self.unrolled(rest[0])
                if step is None and rest[0] != number:
                    return None
        inner = Expression(number.bits, frozenset((f, c) for f, c in number.terms if not self.is_uniform(f)))
        found = self.numbering(inner)
        if found is None:
            return None
        if number != inner:  # an addition in fewer bits belongs to the origin
            origin = origin + self.atoms.expression(origin.bits, "added", number - inner, factor)
        offset = origin.coefficient()
        for key in found.layout:
            origin = origin + self.atoms.expression(origin.bits, *key, factor)
        limits = found.limits
        advances = step is not None and self.advances(step, number.bits)
        exclusive = step is None
        if step is not None and found.axes == 1 and (limit := self.of_whole_grids(step, number.bits, found)):
            limits, advances, exclusive = limits | {limit}, True, True
        exclusive = exclusive and not any(map(self.size.breaks, limits))
        return Footprint(
            origin - constant(offset, origin.bits),
            factor * found.pitch,
            offset,
            advances,
            exclusive,
            found.axes,
            limits,
        )

    def piece(self, address: Expression, width: int) -> Piece | None:
        varying = Expression(address.bits, frozenset((f, c) for f, c in address.terms if not self.is_uniform(f)))
        origin, number, factor = address - varying, varying, 1
        if len(varying.terms) == 1:
            ((factors, count),) = varying.terms
            word, *rest = self.atoms.keys[factors[0]]
            if len(factors) == 1 and word in ("signed", "unsigned") and isinstance(rest[0], Expression):
                factor, number = varying.signed(count), rest[0]
        cta, ntid = self.special("%ctaid.x"), self.special("%ntid.x")
        by_threads = number.coefficient(cta, ntid)
        stride = by_threads or number.coefficient(cta)
        ctas = Expression(number.bits, frozenset(((tuple(sorted((cta, ntid) if by_threads else (cta,))), 1),)))
        offset = origin.coefficient()
        bounds = self.bounds(number - ctas.times(stride), bool(by_threads))
        if bounds is None or factor * stride <= 0:
            return None
        # Each bound is a constant and a part per thread. Both bounds must lie in the piece for a CTA of one thread too.
        low, high = ([factor * part for part in bound] for bound in bounds)
        low, high = [low[0] + offset, low[1]], [high[0] + offset + width, factor * stride * bool(by_threads) - high[1]]
        room = factor * stride if not by_threads else 0
        threads = 1 if by_threads and self.size.threads is None else self.size.threads or 0
        fits = low[1] >= 0 and low[0] + low[1] * threads >= 0 and high[1] >= 0 and high[0] <= room + high[1] * threads
        limit = Limit(_GRID if by_threads else _GRID[1:], (1 << number.bits) // abs(stride))
        if not fits or self.size.breaks(limit):
            return None
        return Piece(origin - constant(offset, origin.bits), factor * stride, bool(by_threads), frozenset((limit,)))

    def bounds(self, number: Expression, by_threads: bool) -> tuple[tuple[int, int], tuple[int, int]] | None:
        """The least and the largest value of a number, each as a constant and an addend for each thread of a CTA."""
        tid, ntid = self.special("%tid.x"), self.special("%ntid.x")
        low, high = [0, 0], [0, 0]
        for factors, count in number.terms:
            times = number.signed(count)
            if factors == ():
                low[0] += times
                high[0] += times
            elif factors == (ntid,) and by_threads:
                low[1] += times
                high[1] += times
            elif factors == (tid,) and by_threads:
                most = low if times < 0 else high
                most[0] -= times
                most[1] += times
            else:
                found = self.most(factors[0]) if len(factors) == 1 else None
                if found is None:
                    return None
                (high if times > 0 else low)[0] += times * found
        return (low[0], low[1]), (high[0], high[1])

    def most(self, atom: int) -> int | None:
        """The largest value of a non-negative atom, where the threads of a CTA are known."""
        word, *rest = self.atoms.keys[atom]
        if atom == self.special("%tid.x"):
            return self.size.threads - 1 if self.size.threads else None
        if word != "op" or not isinstance(rest[1], tuple):
            return None
        facts = facts_of(str(rest[0]))
        parts = [self.most_of(e) if isinstance(e, Expression) else None for e in rest[1]]
        known = [p for p in parts if p is not None]
        if facts.masks:
            return min(known, default=None)
        if facts.has_no_bits_beyond and len(known) == 2:
            return (1 << max(known).bit_length()) - 1
        return None

    def most_of(self, number: Expression) -> int | None:
        if number.number is not None:
            return number.number if number.signed(number.number) >= 0 else None
        bounds = self.bounds(number, False)
        return bounds[1][0] if bounds and bounds[0][0] >= 0 else None

    def unrolled(self, value: Expression) -> tuple[Expression, Expression | None]:
        """The value in the first iteration of a loop, and its step."""
        for factors, count in value.terms:
            if len(factors) == 1 and factors[0] in self.values.steps:
                first, step = self.values.steps[factors[0]]
                rest = value - Expression(value.bits, frozenset(((factors, count),)))
                return rest + first.times(count), step.times(count)
        return value, None

    def numbering(self, number: Expression) -> _Numbering | None:
        """How the number counts the threads, if it has no other terms."""
        number, limits = self.unmasked(number)
        if (found := self.along(number)) is not None:
            return replace(found, limits=found.limits | limits)
        for fast, slow in ("xy", "yx"):
            found = self.rows(number, fast, slow)
            if found is not None:
                return replace(found, limits=found.limits | limits)
        return None

    def along(self, number: Expression) -> _Numbering | None:
        """How the number counts the threads along x, if it has no other terms."""
        tid, cta, ntid = (self.special(f"%{n}.x") for n in ("tid", "ctaid", "ntid"))
        pitch = number.coefficient(tid)
        rest = dict(number.terms)
        rest.pop((tid,), None)
        numbers, stride = 1 << number.bits, 0
        if rest.pop(tuple(sorted((cta, ntid))), None) is not None:
            limits = {Limit(_GRID, numbers // (abs(pitch) or 1))}
            fits = number.coefficient(cta, ntid) == pitch
        else:
            stride = number.coefficient(cta)
            rest.pop((cta,), None)
            fits = pitch > 0 and stride >= pitch
            close = fits and self.size.threads is not None and stride == pitch * self.size.threads
            limits = {Limit(_GRID[:1], stride // (pitch or 1)), Limit(_GRID[1:], numbers // (abs(stride) or 1))}
            stride = 0 if close else stride
        if not pitch or not fits or rest or any(map(self.size.breaks, limits)):
            return None
        return _Numbering(pitch, (("stride", stride),) if stride else (), frozenset(limits), stride=stride)

    def rows(self, number: Expression, fast: str, slow: str) -> _Numbering | None:
        """How `column + length * row` counts the threads along two axes of the grid, where columns are known to be
        fewer than a row is long."""
        terms = dict(number.terms)
        column = self.in_grid(fast, number.bits)
        pitch, tid = number.coefficient(self.special(f"%tid.{fast}")), self.special(f"%tid.{slow}")
        if pitch <= 0 or number.bits < _NARROW:
            return None
        found = [f for f in terms if tid in f]
        length = tuple(a for a in found[0] if a != tid) if len(found) == 1 else (tid,)
        if not self.is_uniform(length):
            return None
        times = number.coefficient(tid, *length)
        row = Expression(number.bits, frozenset(((length, 1),)))
        lines = self.atoms.product(self.in_grid(slow, number.bits), row)
        if number != column.times(pitch) + lines.times(times) or times < pitch or times % pitch:
            return None
        across, down = ((f"%ntid.{axis}", f"%nctaid.{axis}") for axis in (fast, slow))
        limits = {Limit(("%ntid.z",), 1), Limit(("%nctaid.z",), 1)}
        if not length:
            limits |= {Limit(across, times // pitch), Limit(down, (1 << number.bits) // times)}
        elif length != tuple(sorted(map(self.special, across))):
            if times != pitch or not self.is_below(fast, row):
                return None
            limits.add(Limit(across, _MOST_X))
        else:
            limits.add(Limit(across + down, (1 << number.bits) // times))
        layout = (("rows", fast, tuple(self.atoms.keys[a] for a in length), times),)
        return None if any(map(self.size.breaks, limits)) else _Numbering(pitch, layout, frozenset(limits), 2)

    def in_grid(self, axis: str, bits: int) -> Expression:
        """The number of the thread in the grid."""
        tid, cta, ntid = (self.special(f"%{n}.{axis}") for n in ("tid", "ctaid", "ntid"))
        threads = self.size.of(f"%ntid.{axis}")  # where known, the constant stands in place of `%ntid`
        ctas = (tuple(sorted((cta, ntid))), 1) if threads is None else ((cta,), threads)
        return Expression(bits, frozenset((((tid,), 1), ctas)))

    def is_below(self, axis: str, length: Expression) -> bool:
        """Whether the number of the thread along an axis is known to be less than a product, in its width or before
        both were widened."""
        lengths = [length]
        ((factors, _),) = length.terms
        word, *rest = self.atoms.keys[factors[0]] if len(factors) == 1 else ("",)
        if word in ("signed", "unsigned") and isinstance(rest[0], Expression) and rest[0].bits >= _NARROW:
            lengths.append(rest[0])
        keys = [(f"lt.{kind}", self.in_grid(axis, e.bits), e) for e in lengths for kind in "su"]
        return any((self.atoms.numbers.get(key), True) in self.known.all for key in keys)

    def unmasked(self, number: Expression) -> tuple[Expression, Limits]:
        """The number without masks that leave all bits of `%tid.x`, and the limits on block sizes for which they do."""
        limits: set[Limit] = set()
        for factors, count in number.terms:
            key = self.atoms.keys[factors[0]] if len(factors) == 1 else ("",)
            if key[0] != "op" or not facts_of(str(key[1])).masks or not isinstance(key[2], tuple):
                continue
            for value, mask in (key[2], key[2][::-1]):
                times = value.coefficient(self.special("%tid.x")) if isinstance(value, Expression) else 0
                whole = Expression(number.bits, frozenset((((self.special("%tid.x"),), times),)))
                if times <= 0 or value != whole or not isinstance(mask, Expression) or mask.number is None:
                    continue
                threads, left = divmod(mask.number, times)
                if not left and not times & (times - 1) and not threads & (threads + 1):
                    limits.add(Limit(_GRID[:1], threads + 1))
                    number = number - Expression(number.bits, frozenset(((factors, count),))) + whole.times(count)
        return number, frozenset(limits)

    def of_whole_grids(self, step: Expression, bits: int, found: _Numbering) -> Limit | None:
        """If a step is a positive multiple of the grid's size: the limit of launches in which it is neither zero nor
        negative (if computed in 32 bits)."""
        step, factor = self.narrowed(step)
        step, bits = step.times(factor), min(bits, step.bits)
        ntid, ctas = self.special("%ntid.x"), self.special("%nctaid.x")
        wholes: list[tuple[tuple[int, ...], int, tuple[str, ...]]] = []  # factors, count and sizes
        if found.stride:
            wholes.append(((ctas,), found.stride, _GRID[1:]))
        else:
            wholes.append((tuple(sorted((ntid, ctas))), found.pitch, _GRID))
            if self.size.threads:
                wholes.append(((ctas,), found.pitch * self.size.threads, _GRID[1:]))
                if self.size.ctas:
                    wholes.append(((), found.pitch * self.size.threads * self.size.ctas, ()))
        for factors, count, sizes in wholes:
            times = step.coefficient(*factors)
            whole = Expression(step.bits, frozenset(((factors, 1),)))
            if times and step == whole.times(times) and times % count == 0 and times // count > 0 and bits >= _NARROW:
                return Limit(sizes, ((1 << bits - 1) - 1) // abs(times))
        return None

    def narrowed(self, step: Expression) -> tuple[Expression, int]:
        """A step that was computed in 32 bits, and its factor."""
        ((factors, count),) = step.terms if len(step.terms) == 1 else (((), 0),)
        if len(factors) == 1:
            word, *rest = self.atoms.keys[factors[0]]
            if word in ("signed", "unsigned") and isinstance(rest[0], Expression):
                return rest[0], step.signed(count)
        return step, 1

    def advances(self, step: Expression, bits: int) -> bool:
        """Whether a step surely changes the number: it is positive and does not wrap."""
        step, times = self.narrowed(step)
        most = {f"%ntid.{a}": n for a, n in zip("xyz", MOST_ALONG, strict=True)}
        most |= {f"%nctaid.{a}": n for a, n in zip("xyz", MOST_CTAS, strict=True)}
        sizes = {self.special(name): n for name, n in most.items()}
        total = 0
        for factors, count in step.terms:
            if step.signed(count) <= 0 or not set(factors) <= sizes.keys():
                return False
            total += step.signed(count) * prod(sizes[f] for f in factors)
        return times > 0 and 0 < total < 1 << step.bits - 1 and bits >= _NARROW and total * times < 1 << bits - 1

    def special(self, name: str) -> int:
        return self.atoms.number("special", name)

    def is_uniform(self, factors: tuple[int, ...]) -> bool:
        return is_uniform(self.atoms, Expression(32, frozenset(((factors, 1),))))


def is_uniform(atoms: Atoms, value: object) -> bool:
    """Whether a value is the same for all threads of a grid."""
    return all(
        k[0] not in _OWN and not (k[0] == "special" and str(k[1]).startswith(_THREAD)) for k in atoms.within(value)
    )


def indexed(values: Values, address: Expression) -> tuple[str, Expression, int] | None:
    """For an address that is a multiple of a narrower number: how that was widened, the number, and the bytes per
    unit."""
    if len(address.terms) != 1:
        return None
    ((factors, count),) = address.terms
    word, *rest = values.atoms.keys[factors[0]] if len(factors) == 1 else ("",)
    if word not in ("signed", "unsigned") or not isinstance(rest[0], Expression):
        return None
    return str(word), rest[0], address.signed(count)


_OWN = ("made", "phi", "merge", "if", "undefined", "other")
_THREAD = ("%tid", "%ctaid", "%laneid")
