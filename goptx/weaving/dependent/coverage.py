"""Whether what one kernel loads of a CTA's piece of a buffer was stored before, by a kernel before it.

Requires: a store and a load of two kernels, with one table of atoms; the load lies in the CTA's piece. Two proofs:

    same thread    both addresses are equal expressions, and what holds where the thread loads implies what it takes to
                   come to the store: a thread that loads its element has stored it, whatever the conditions are
    owner          each element of the piece is stored by one thread of the CTA, its owner. The number of the owner of
                   the element that is loaded follows from the two addresses; the conditions of the store, with that
                   number in place of `%tid.x`, have to hold where the other thread loads
"""

from __future__ import annotations

from goptx.analysis.values.access_sites import Access
from goptx.analysis.values.expressions import Atoms, Condition, Expression, Key
from goptx.analysis.values.footprint import Footprint, Size, footprint, indexed
from goptx.launch.shape import Limit
from goptx.weaving.dependent.kernel_accesses import KernelAccesses

Limits = frozenset[Limit]
_SHARED = ("%ntid", "%nctaid", "%ctaid")  # what all threads of a CTA have in common


def covering(of: KernelAccesses, store: Access, mine: KernelAccesses, load: Access, size: Size) -> Limits | None:
    """The limits of the launches for which the store covers the load; None where that is not proved."""
    needed = of.places.reaching_condition(store.place[0])
    if needed is None or of.places.depth[store.place[0]] or store.width < load.width:
        return None
    needed &= of.places.values.guards[store.place]
    known = mine.places.condition(load.place)
    if store.address == load.address and known.implies(needed):
        return frozenset()
    foot = _owned(of, store, size)
    owner = _owner(of, store, mine, load)
    if foot is None or owner is None or store.width != load.width:
        return None
    seen = _Seen(of.places.values.atoms, owner)
    return foot.limits if all(seen.implied(known, *literal) for literal in needed.all) else None


def _owned(of: KernelAccesses, store: Access, size: Size) -> Footprint | None:
    """The footprint of a store of one element for each thread, side by side from the buffer's beginning on."""
    foot = footprint(of.places.values, store.offset, size)
    fits = foot is not None and foot.exclusive and not foot.origin.terms and foot.pitch == store.width
    return foot if fits else None


def _owner(of: KernelAccesses, store: Access, mine: KernelAccesses, load: Access) -> Expression | None:
    """The number within its CTA of the thread that stores the element that is loaded."""
    kind, number, factor = _numbered(of, store)
    other_kind, other, other_factor = _numbered(mine, load)
    tid = of.places.values.atoms.expression(number.bits, "special", "%tid.x")
    pitch = number.coefficient(*tid.atoms())
    if (kind, factor, number.bits) != (other_kind, other_factor, other.bits) or pitch <= 0:
        return None
    further = [(factors, divmod(number.signed(count), pitch)) for factors, count in (other - number).terms]
    if any(rest for _, (_, rest) in further):
        return None
    bits = number.bits
    return tid + Expression(bits, frozenset((factors, times % (1 << bits)) for factors, (times, _) in further))


def _numbered(of: KernelAccesses, access: Access) -> tuple[str, Expression, int]:
    """An offset as a multiple of a number of fewer bits, or of one as wide as itself."""
    return indexed(of.places.values, access.offset) or ("", access.offset, 1)


class _Seen:
    """Conditions of the owner of an element as another thread of the CTA sees them: with `owner` for `%tid.x`."""

    def __init__(self, atoms: Atoms, owner: Expression) -> None:
        self.atoms = atoms
        self.owner = owner
        self.tid = atoms.number("special", "%tid.x")

    def implied(self, known: Condition, atom: int, holds: bool) -> bool:
        key = self.key(self.atoms.keys[atom])
        return key is not None and (self.atoms.numbers.get(key), holds) in known.all

    def key(self, key: Key) -> Key | None:
        """None for what depends on the thread in another way than by its number. Votes of a warp do: their last part is
        not None."""
        word, *parts = key
        if word == "special":
            return key if str(parts[0]).startswith(_SHARED) else None
        if word in ("made", "phi", "merge", "if", "undefined") or (word == "op" and parts[-1] is not None):
            return None
        found = [self.part(part) for part in parts]
        if any(part is None and before is not None for part, before in zip(found, parts, strict=True)):
            return None
        if word == "eq" and isinstance(found[0], Expression):  # as value_numbering.py has it
            found = [min(found[0], found[0].times(-1), key=lambda e: sorted(e.terms))]
        return (word, *found)

    def part(self, part: object) -> object:
        match part:
            case Expression():
                return self.expression(part)
            case Condition(literals):
                keys = [(self.key(self.atoms.keys[atom]), holds) for atom, holds in literals]
                seen = [(self.atoms.number(*key), holds) for key, holds in keys if key is not None]
                return Condition(frozenset(seen)) if len(seen) == len(keys) else None
            case ("other", *_):
                return None
            case tuple():
                found = tuple(map(self.part, part))
                return None if None in found else found
        return part

    def expression(self, value: Expression) -> Expression | None:
        total = Expression(value.bits, frozenset())
        for factors, count in value.terms:
            term: Expression | None = Expression(value.bits, frozenset((((), 1),)))
            for factor in factors:
                seen = self.atom(factor, value.bits)
                term = self.atoms.product(term, seen) if term is not None and seen is not None else None
            if term is None:
                return None
            total += term.times(count)
        return total

    def atom(self, atom: int, bits: int) -> Expression | None:
        if atom == self.tid:
            return self.in_bits(bits)
        word, *parts = self.atoms.keys[atom]
        if word in ("signed", "unsigned") and isinstance(parts[0], Expression):
            inner = self.expression(parts[0])
            return None if inner is None else self.atoms.widened(inner, bits, word == "signed")
        key = self.key(self.atoms.keys[atom])
        return None if key is None else self.atoms.expression(bits, *key)

    def in_bits(self, bits: int) -> Expression | None:
        """The owner's number with other bits: it is small, and so is what a sum of numbers of threads adds up to."""
        owner = self.owner
        plain = all(len(f) < 2 and all(self.atoms.keys[a][0] == "special" for a in f) for f, _ in owner.terms)
        if bits == owner.bits:
            return owner
        if not plain:
            return None
        return Expression(bits, frozenset((f, owner.signed(c) % (1 << bits)) for f, c in owner.terms))
