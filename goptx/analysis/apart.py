"""Whether an address is that of an element of one thread alone.

Requires: the values of a flow, launches along x only (`Footprint.alone` holds for no others), of fewer than 2**32
threads. Known are elements counted by the number of the thread in the grid, `%ctaid.x * %ntid.x + %tid.x`, and those
that it comes to by steps as wide as the grid.
"""

from __future__ import annotations

from dataclasses import dataclass

from goptx.analysis.expressions import Atoms, Expression, constant
from goptx.analysis.values import Values


@dataclass(frozen=True, slots=True)
class Size:
    """Threads of a CTA and CTAs of the grid along x, as far as they are known."""

    threads: int | None = None
    ctas: int | None = None


UNKNOWN = Size()


@dataclass(frozen=True, slots=True)
class Footprint:
    """An address as `origin + pitch * thread + offset`, bytes. turns: it is another one each way around its loop.
    alone: other threads, and other ways around, are `pitch` or more away."""

    origin: Expression
    pitch: int
    offset: int
    turns: bool
    alone: bool


def footprint(values: Values, address: Expression, size: Size = UNKNOWN) -> Footprint | None:
    """None where it has no such form."""
    return _Search(values, size).run(address)


@dataclass(frozen=True, slots=True)
class Piece:
    """What a CTA has of a buffer: `origin + stride * %ctaid.x` and as many bytes from there; the stride is counted
    in threads of the CTA if that is `by_threads`."""

    origin: Expression
    stride: int
    by_threads: bool


def piece_of_cta(values: Values, address: Expression, size: Size, width: int) -> Piece | None:
    """The piece that an access of `width` bytes lies in; None where that is not shown."""
    return _Search(values, size).piece(address, width) if width else None


class _Search:
    def __init__(self, values: Values, size: Size) -> None:
        self.values = values
        self.atoms = values.atoms
        self.size = size

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
        pitch = self.pitch(inner)
        if pitch is None:
            return None
        if number != inner:  # what is added in fewer bits is part of where the elements begin
            origin = origin + self.atoms.expression(origin.bits, "added", number - inner, factor)
        offset = origin.coefficient()
        turns = step is not None and self.is_positive(step)
        alone = step is None or self.is_whole_grid(step, pitch)
        return Footprint(origin - constant(offset, origin.bits), factor * pitch, offset, turns, alone)

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
        # In threads and units: what lies below and above has to stay within the piece for a CTA of one thread too.
        low, high = ([factor * part for part in bound] for bound in bounds)
        low, high = [low[0] + offset, low[1]], [high[0] + offset + width, factor * stride * bool(by_threads) - high[1]]
        room = factor * stride if not by_threads else 0
        threads = 1 if by_threads and self.size.threads is None else self.size.threads or 0
        fits = low[1] >= 0 and low[0] + low[1] * threads >= 0 and high[1] >= 0 and high[0] <= room + high[1] * threads
        return Piece(origin - constant(offset, origin.bits), factor * stride, bool(by_threads)) if fits else None

    def bounds(self, number: Expression, by_threads: bool) -> tuple[tuple[int, int], tuple[int, int]] | None:
        """The least and the largest that a number can be, each as a number and what is added for each thread of a
        CTA."""
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
        """The largest that an atom from 0 on can be, where the threads of a CTA are known."""
        word, *rest = self.atoms.keys[atom]
        if atom == self.special("%tid.x"):
            return self.size.threads - 1 if self.size.threads else None
        if word != "op" or not isinstance(rest[1], tuple):
            return None
        base = str(rest[0]).partition(".")[0]
        parts = [self.most_of(e) if isinstance(e, Expression) else None for e in rest[1]]
        known = [p for p in parts if p is not None]
        if base == "and":
            return min(known, default=None)
        if base in ("or", "xor") and len(known) == 2:
            return (1 << max(known).bit_length()) - 1
        return None

    def most_of(self, number: Expression) -> int | None:
        if number.number is not None:
            return number.number if number.signed(number.number) >= 0 else None
        bounds = self.bounds(number, False)
        return bounds[1][0] if bounds and bounds[0][0] >= 0 else None

    def unrolled(self, value: Expression) -> tuple[Expression, Expression | None]:
        """The value the first time around a loop, and its step."""
        for factors, count in value.terms:
            if len(factors) == 1 and factors[0] in self.values.steps:
                first, step = self.values.steps[factors[0]]
                rest = value - Expression(value.bits, frozenset(((factors, count),)))
                return rest + first.times(count), step.times(count)
        return value, None

    def pitch(self, number: Expression) -> int | None:
        """How often the number of the thread counts, if there is nothing else."""
        tid, cta, ntid = (self.special(f"%{n}.x") for n in ("tid", "ctaid", "ntid"))
        pitch = number.coefficient(tid)
        rest = dict(number.terms)
        rest.pop((tid,), None)
        threads = rest.pop(tuple(sorted((cta, ntid))), None)
        if threads is None:
            stride = number.coefficient(cta)
            rest.pop((cta,), None)
            fits = self.size.threads is not None and pitch > 0 and stride >= pitch * self.size.threads
        else:
            fits = number.signed(threads) == pitch
        return pitch if pitch and fits and not rest else None

    def is_whole_grid(self, step: Expression, pitch: int) -> bool:
        step, factor = self.narrowed(step)
        ntid, ctas = self.special("%ntid.x"), self.special("%nctaid.x")
        wholes = [Expression(step.bits, frozenset(((tuple(sorted((ntid, ctas))), 1),)))]
        if self.size.threads:
            wholes.append(Expression(step.bits, frozenset((((ctas,), self.size.threads),))))
            if self.size.ctas:
                wholes.append(constant(self.size.threads * self.size.ctas, step.bits))
        return any(step.times(factor) == whole.times(pitch) for whole in wholes)

    def narrowed(self, step: Expression) -> tuple[Expression, int]:
        """A step that was computed in 32 bits, and how often it counts."""
        ((factors, count),) = step.terms if len(step.terms) == 1 else (((), 0),)
        if len(factors) == 1:
            word, *rest = self.atoms.keys[factors[0]]
            if word in ("signed", "unsigned") and isinstance(rest[0], Expression):
                return rest[0], step.signed(count)
        return step, 1

    def is_positive(self, step: Expression) -> bool:
        step, _ = self.narrowed(step)
        sizes = {self.special(f"%{n}.{axis}") for n in ("ntid", "nctaid") for axis in "xyz"}
        return bool(step.terms) and all(step.signed(c) > 0 and set(f) <= sizes for f, c in step.terms)

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
    """An address that is a multiple of a number of fewer bits: how that was widened, the number, and how many bytes
    it counts."""
    if len(address.terms) != 1:
        return None
    ((factors, count),) = address.terms
    word, *rest = values.atoms.keys[factors[0]] if len(factors) == 1 else ("",)
    if word not in ("signed", "unsigned") or not isinstance(rest[0], Expression):
        return None
    return str(word), rest[0], address.signed(count)


_OWN = ("made", "phi", "merge", "if", "undefined", "other")
_THREAD = ("%tid", "%ctaid", "%laneid")
