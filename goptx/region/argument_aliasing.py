"""What the arguments of recorded launches have in common: which are one buffer or one number, and where kernels meet.

Requires: launches in order. Two kernels *meet* at a buffer that both touch and one writes. Buffers are told by their
addresses: equal ones are one buffer, whatever the extent of the array; arrays of different addresses that overlap, and
raw pointers into an array, are not understood. Of two raw pointers nothing is known but whether they are equal.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from goptx.errors import InputError
from goptx.launch.arguments import Access, passed_by_value
from goptx.launch.device_arrays import Extent
from goptx.launch.independence import PAGE
from goptx.memo import Memo
from goptx.region.recorded import Recorded

Place = tuple[int, int]  # the number of a launch, and of its parameter
Group = tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class Meeting:
    """buffers: of pointers that are equal, several each. numbers: likewise of other arguments, of several launches.
    met: pairs of pointers that are equal, at which kernels meet. unclear: pairs of pointers by which they may.
    private, local: those of `buffers` which the caller says are temporaries of a thread, or of a CTA. lone: all other
    pointers. declared: what the caller says of equal pointers, of one launch and of those with others among them too.
    """

    buffers: tuple[Group, ...]
    numbers: tuple[Group, ...]
    met: tuple[Group, ...]
    unclear: tuple[Group, ...]
    private: tuple[Group, ...]
    local: tuple[Group, ...]
    lone: Group
    declared: tuple[tuple[str, Group], ...] = ()


NOTHING = Meeting((), (), (), (), (), (), ())


@dataclass(frozen=True, slots=True)
class _Pointer:
    place: Place
    access: Access
    extent: Extent

    @property
    def writes(self) -> bool:
        return self.access != "read"


_FOUND: Memo[Hashable, Meeting] = Memo(most=256)  # most regions come again with the arguments that they had


def meeting(launches: Sequence[Recorded], private: Sequence[Extent], local: Sequence[Extent]) -> Meeting:
    """As `_meeting`."""
    key = tuple((r.known.key, r.contents, r.extents) for r in launches), tuple(private), tuple(local)
    return _FOUND.made(key, lambda: _meeting(launches, private, local))


def _meeting(launches: Sequence[Recorded], private: Sequence[Extent], local: Sequence[Extent]) -> Meeting:
    """`private` and `local` are arrays, or raw pointers, that are said to be temporaries. Raises `InputError` for one
    that no launch takes."""
    pointers = list(_pointers(launches))
    groups = _equal((p.extent[0], p.place) for p in pointers if p.extent[0])
    buffers = [g for g in groups if len(g) > 1]
    kinds: dict[Place, str] = {}
    for kind, declared in (("private", private), ("local", local)):
        for extent in declared:
            inside = [p.place for p in pointers if _holds(extent, p.extent)]
            if not inside:
                raise InputError(f"{kind}(): no launch of the region takes that buffer; give one that they hand on.")
            if any(kinds.setdefault(place, kind) != kind for place in inside):
                raise InputError("a buffer is said to be both private() and local(); say one of them.")
    own = {
        kind: tuple(g for g in buffers if several(g) and all(kinds.get(place) == kind for place in g))
        for kind in ("private", "local")
    }
    temporary = {place for groups in own.values() for g in groups for place in g}
    met: list[Group] = []
    unclear: list[Group] = []
    for one, other in combinations(pointers, 2):
        equal = one.extent[0] == other.extent[0]
        cross = one.place[0] != other.place[0] and (one.writes or other.writes)
        kept = not equal and (one.place in temporary or other.place in temporary)
        if (cross or kept) and _overlap(one.extent, other.extent):
            (met if equal else unclear).append((one.place, other.place))
    together = {place for group in buffers for place in group}
    return Meeting(
        buffers=tuple(buffers),
        numbers=tuple(g for g in _equal(_numbers(launches)) if several(g)),
        met=tuple(met),
        unclear=tuple(unclear),
        private=own["private"],
        local=own["local"],
        lone=tuple(p.place for p in pointers if p.place not in together),
        declared=tuple((kinds[first], g) for g in groups if (first := next((p for p in g if p in kinds), None))),
    )


def _pointers(launches: Sequence[Recorded]) -> Iterator[_Pointer]:
    for k, launch in enumerate(launches):
        for i, (param, extent) in enumerate(zip(launch.known.params, launch.extents, strict=True)):
            if extent is not None and param.access != "none" and not passed_by_value(param):
                yield _Pointer((k, i), param.access, extent)


def _numbers(launches: Sequence[Recorded]) -> Iterator[tuple[object, Place]]:
    """What is no pointer, by what tells equal ones."""
    for k, launch in enumerate(launches):
        for i, (param, content) in enumerate(zip(launch.known.params, launch.contents, strict=True)):
            if param.access == "none" and not passed_by_value(param):
                yield (param.type.startswith("f"), content), (k, i)


def _equal(found: Iterator[tuple[object, Place]]) -> list[Group]:
    """In groups, in the order of their first ones."""
    groups: dict[object, list[Place]] = {}
    for key, place in found:
        groups.setdefault(key, []).append(place)
    return [tuple(group) for group in groups.values()]


def several(group: Group) -> bool:
    """Whether it is of several launches."""
    return len({k for k, _ in group}) > 1


def _overlap(one: Extent, other: Extent) -> bool:
    """Whether they have bytes in common, as far as is known. A raw pointer is a byte; what lies nowhere has none."""
    if not all(e[2] and (e[1] != e[2] or e[0] >= PAGE) for e in (one, other)):
        return False
    ends = [e[2] + (e[1] == e[2]) for e in (one, other)]
    return one[1] < ends[1] and other[1] < ends[0]


def _holds(declared: Extent, extent: Extent) -> bool:
    """Whether a buffer is that which is declared, or a part of it."""
    if declared[1] == declared[2]:
        return declared[0] == extent[0] != 0
    return bool(extent[2]) and declared[1] <= extent[1] < declared[2] and extent[2] <= declared[2]
