"""Which register holds what a load of a private buffer reads, where the caller promises that it is the thread's own.

The promise (`assume_private`): what a thread loads is what it has stored last itself to that element. So neither the
addresses of load and store nor their conditions have to be proved equal, and other threads do not count. What is left
to prove is *which* store of the thread it was, since each address expression becomes one register:

    one address    the stores that may run before the load have one address expression, or one of them is the load's and
                   the others are that far from it, in bytes, that they are other elements
    one width      those stores and the load move equally many elements of equal size
    one element    a store in a loop stores to one element each time around; else the load follows it in the same loop,
                   and no other time around stores the element, or each time around has stored it

Requires: the accesses of the buffer, which are plain. Ensures: a load that does not fit is refused, and so is one of
which it is certain that no store of the thread stores its element.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from goptx.analysis.cfg import loops
from goptx.analysis.values.access_sites import Access, AccessSites
from goptx.analysis.values.expressions import Expression, Key
from goptx.analysis.values.footprint import Size, footprint
from goptx.analysis.values.value_numbering import Place

_CHANGES = ("made", "phi", "merge")  # atoms that belong to a place of the flow


class Unmatched(Exception):
    """A load, a store that may be the one (None before any), and why that is not known."""

    def __init__(self, load: Access, store: Access | None, why: str = "") -> None:
        super().__init__(why)
        self.load = load
        self.store = store
        self.why = why


def registers_of(
    places: AccessSites, accesses: Sequence[Access], size: Size, describe: Callable[[Access], str]
) -> dict[Place, Expression]:
    """By each access the address expression whose register it takes; `describe` is for messages. Raises `Unmatched`."""
    match = _Match(places, [a for a in accesses if a.writes], size, describe)
    return {a.place: a.address if a.writes else match.store_of(a).address for a in accesses}


class _Match:
    def __init__(
        self, places: AccessSites, stores: Sequence[Access], size: Size, describe: Callable[[Access], str]
    ) -> None:
        self.places = places
        self.stores = stores
        self.size = size
        self.describe = describe
        self.bodies = list(loops(places.flow).values())

    def store_of(self, load: Access) -> Access:
        """One of the stores whose address is that of the register."""
        before = [s for s in self.stores if self.places.precedes(s.place, load.place)]
        if not before:
            raise Unmatched(load, None)
        around = [s for s in self.stores if s not in before and self.loops_of(s) & self.loops_of(load)]
        equal = [s for s in (*before, *around) if s.address == load.address]
        chosen = equal or [*before, *around]
        self.check_one(load, chosen, [s for s in (*before, *around) if s not in chosen])
        if not self.is_of_one_element(load, chosen):
            raise Unmatched(load, chosen[-1], "which stores it in a loop, perhaps another element each time around")
        return chosen[-1]

    def check_one(self, load: Access, chosen: Sequence[Access], others: Sequence[Access]) -> None:
        """The chosen stores are to one address, of the load's width; others are to other elements."""
        one = chosen[-1]
        for store in (*chosen, *others):
            if store in chosen and store.address != one.address:
                raise Unmatched(load, store, f"where {self.describe(one)} may be the store that ran last, too")
            if store in others and not (self.is_apart(one, store) and self.is_steady(store) >= self.is_steady(one)):
                raise Unmatched(load, store, f"where {self.describe(one)} may be the store that ran last, too")
        if any((s.element, s.lanes) != (load.element, load.lanes) for s in chosen):
            raise Unmatched(load, one, "which stores elements of another width")
        if one.address != load.address and self.is_apart(one, load):
            raise Unmatched(load, one, "which is another element, and the only one that the thread has stored")

    def is_of_one_element(self, load: Access, chosen: Sequence[Access]) -> bool:
        """Whether the store that ran last is to the element that is loaded, of all times around a loop."""
        if all(map(self.is_steady, chosen)):
            return True
        equal = [s for s in chosen if s.address == load.address and self.places.precedes(s.place, load.place)]
        if any(self.places.dominates(s.place, load.place) for s in equal):
            return True
        return all(s in equal and self.loops_of(s) == self.loops_of(load) and self.turns(s) for s in chosen)

    def turns(self, store: Access) -> bool:
        """Whether it is to another element each time around its only loop."""
        known = self.places.condition(store.place)
        foot = footprint(self.places.values, store.address, self.size, known)
        return self.places.depth[store.place[0]] == 1 and foot is not None and foot.advances

    def loops_of(self, access: Access) -> frozenset[int]:
        return frozenset(i for i, body in enumerate(self.bodies) if access.place[0] in body)

    def is_steady(self, store: Access) -> bool:
        """Whether all that a thread stores there is to one element."""
        within = self.places.values.atoms.within(store.address)
        return not self.places.depth[store.place[0]] or not any(map(self.may_change, within))

    def may_change(self, key: Key) -> bool:
        """Whether an atom may be another one each time around a loop."""
        word, *parts = key
        if word == "op" and parts[-2] is not None:  # a warp votes in a block
            return bool(self.places.depth.get(str(parts[-2]), 1))
        return word == "undefined" or (word in _CHANGES and bool(self.places.depth.get(str(parts[1]), 1)))

    @staticmethod
    def is_apart(one: Access, other: Access) -> bool:
        """Whether they touch no byte in common: they are a known number of bytes from each other."""
        distance = one.address - other.address
        if distance.number is None:
            return False
        bytes_ = distance.signed(distance.number)
        return bytes_ >= other.width or -bytes_ >= one.width
