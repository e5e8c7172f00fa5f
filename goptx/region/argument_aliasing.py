"""How the arguments of recorded launches alias: which are the same buffer or number, and where kernels conflict.

Requires: launches in order. Two kernels *conflict* at a buffer that both access and one writes. A buffer is identified
by its address: equal addresses are one buffer, whatever the extents of the arrays. Arrays of different addresses that
overlap, and raw pointers into an array, are unclear. Of two raw pointers it is known only whether they are equal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from goptx.errors import InputError
from goptx.launch.arguments import Access, passed_by_value
from goptx.launch.device_arrays import Extent
from goptx.launch.independence import PAGE
from goptx.region.recorded import Recorded

Position = tuple[int, int]  # the number of a launch, and of its parameter
Group = tuple[Position, ...]


@dataclass(frozen=True, slots=True)
class Aliasing:
    """buffers: groups of several equal pointers. numbers: groups of other equal arguments, of several launches.
    conflicts: pairs of equal pointers at which kernels conflict. unclear: pairs of pointers at which they may conflict.
    private, local: the `buffers` that the caller declares temporaries of a thread, or of a CTA. lone: pointers that are
    in no group of `buffers`. declared: the declared kind of each group of equal pointers with a declared one in it.
    """

    buffers: tuple[Group, ...]
    numbers: tuple[Group, ...]
    conflicts: tuple[Group, ...]
    unclear: tuple[Group, ...]
    private: tuple[Group, ...]
    local: tuple[Group, ...]
    lone: Group
    declared: tuple[tuple[str, Group], ...] = ()


NO_ALIASING = Aliasing((), (), (), (), (), (), ())


@dataclass(frozen=True, slots=True)
class _Pointer:
    position: Position
    access: Access
    extent: Extent

    @property
    def writes(self) -> bool:
        return self.access != "read"


def aliasing_of(launches: Sequence[Recorded], private: Sequence[Extent], local: Sequence[Extent]) -> Aliasing:
    """`private` and `local` are arrays, or raw pointers, that are declared temporaries. Raises `InputError` for one
    that no launch takes."""
    pointers = list(_pointers(launches))
    groups = _equal((p.extent[0], p.position) for p in pointers if p.extent[0])
    buffers = [g for g in groups if len(g) > 1]
    kinds: dict[Position, str] = {}
    for kind, declared in (("private", private), ("local", local)):
        for extent in declared:
            inside = [p.position for p in pointers if _holds(extent, p.extent)]
            if not inside:
                raise InputError(f"{kind}(): no launch of the region takes that buffer; give one that launches share.")
            if any(kinds.setdefault(position, kind) != kind for position in inside):
                raise InputError("a buffer is declared both private() and local(); declare one of them.")
    own = {
        kind: tuple(g for g in buffers if several(g) and all(kinds.get(position) == kind for position in g))
        for kind in ("private", "local")
    }
    temporary = {position for groups in own.values() for g in groups for position in g}
    conflicts: list[Group] = []
    unclear: list[Group] = []
    for one, other in combinations(pointers, 2):
        equal = one.extent[0] == other.extent[0]
        cross = one.position[0] != other.position[0] and (one.writes or other.writes)
        aliased = not equal and (one.position in temporary or other.position in temporary)
        if (cross or aliased) and _overlap(one.extent, other.extent):
            (conflicts if equal else unclear).append((one.position, other.position))
    shared = {position for group in buffers for position in group}
    return Aliasing(
        buffers=tuple(buffers),
        numbers=tuple(g for g in _equal(_numbers(launches)) if several(g)),
        conflicts=tuple(conflicts),
        unclear=tuple(unclear),
        private=own["private"],
        local=own["local"],
        lone=tuple(p.position for p in pointers if p.position not in shared),
        declared=tuple((kinds[first], g) for g in groups if (first := next((p for p in g if p in kinds), None))),
    )


def _pointers(launches: Sequence[Recorded]) -> Iterator[_Pointer]:
    for k, launch in enumerate(launches):
        for i, (param, extent) in enumerate(zip(launch.known.params, launch.extents, strict=True)):
            if extent is not None and param.access != "none" and not passed_by_value(param):
                yield _Pointer((k, i), param.access, extent)


def _numbers(launches: Sequence[Recorded]) -> Iterator[tuple[object, Position]]:
    """The arguments that are not pointers, each with a key that is equal for equal arguments."""
    for k, launch in enumerate(launches):
        for i, (param, content) in enumerate(zip(launch.known.params, launch.contents, strict=True)):
            if param.access == "none" and not passed_by_value(param):
                yield (param.type.startswith("f"), content), (k, i)


def _equal(found: Iterator[tuple[object, Position]]) -> list[Group]:
    """Positions with equal keys in groups, in the order of their first members."""
    groups: dict[object, list[Position]] = {}
    for key, position in found:
        groups.setdefault(key, []).append(position)
    return [tuple(group) for group in groups.values()]


def several(group: Group) -> bool:
    """Whether the group has parameters of several launches."""
    return len({k for k, _ in group}) > 1


def _overlap(one: Extent, other: Extent) -> bool:
    """Whether two extents are known to have bytes in common. A raw pointer is one byte; a null pointer has none."""
    if not all(e[2] and (e[1] != e[2] or e[0] >= PAGE) for e in (one, other)):
        return False
    ends = [e[2] + (e[1] == e[2]) for e in (one, other)]
    return one[1] < ends[1] and other[1] < ends[0]


def _holds(declared: Extent, extent: Extent) -> bool:
    """Whether a buffer is the declared one, or a part of it."""
    if declared[1] == declared[2]:
        return declared[0] == extent[0] != 0
    return bool(extent[2]) and declared[1] <= extent[1] < declared[2] and extent[2] <= declared[2]
