"""How the arguments of recorded launches alias: which are the same buffer or number, and where kernels conflict.

Requires: launches in order. Two kernels *conflict* at a buffer that both access and one writes. A buffer is identified
by its address: equal addresses are one buffer, whatever the extents of the arrays. Arrays of different addresses that
overlap, and raw pointers into an array, are unclear. Of two raw pointers it is known only whether they are equal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from goptx.errors import InputError
from goptx.launch.arguments import Access
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


class _Pointer(NamedTuple):
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
    for one, other in _overlapping(pointers):
        equal = one.extent[0] == other.extent[0]
        cross = one.position[0] != other.position[0] and (one.writes or other.writes)
        aliased = not equal and (one.position in temporary or other.position in temporary)
        if cross or aliased:
            (conflicts if equal else unclear).append((one.position, other.position))
    shared = {position for group in buffers for position in group}
    return Aliasing(
        buffers=tuple(buffers),
        numbers=tuple(filter(several, _equal(_numbers(launches)))),
        conflicts=tuple(conflicts),
        unclear=tuple(unclear),
        private=own["private"],
        local=own["local"],
        lone=tuple(p.position for p in pointers if p.position not in shared),
        declared=tuple((kinds[first], g) for g in groups if (first := next(filter(kinds.__contains__, g), None))),
    )


def _pointers(launches: Sequence[Recorded]) -> Iterator[_Pointer]:
    for k, launch in enumerate(launches):
        for i, access in launch.known.accessed:
            extent = launch.extents[i]
            if extent is not None:
                yield _Pointer((k, i), access, extent)


def _numbers(launches: Sequence[Recorded]) -> Iterator[tuple[object, Position]]:
    """The arguments that are not pointers, each with a key that is equal for equal arguments."""
    for k, launch in enumerate(launches):
        for i, floating in launch.known.numbers:
            yield (floating, launch.contents[i]), (k, i)


def _equal(found: Iterator[tuple[object, Position]]) -> list[Group]:
    """Positions with equal keys in groups, in the order of their first members."""
    groups: dict[object, list[Position]] = {}
    for key, position in found:
        groups.setdefault(key, []).append(position)
    return list(map(tuple, groups.values()))


def several(group: Group) -> bool:
    """Whether the group, which is in order, has parameters of several launches."""
    return group[0][0] != group[-1][0]


def _overlapping(pointers: Sequence[_Pointer]) -> list[tuple[_Pointer, _Pointer]]:
    """The pairs of pointers that are known to have bytes in common, in order. A raw pointer is one byte; a null pointer
    has none."""
    spans = []
    for k, (_, _, (address, start, end)) in enumerate(pointers):
        if end and (start != end or address >= PAGE):
            spans.append((start, end + (start == end), k))
    spans.sort()
    if all(end <= start for (_, end, _), (start, _, _) in pairwise(spans)):  # most often
        return []
    found: list[tuple[int, int]] = []
    active: list[tuple[int, int]] = []  # spans that may go on beyond the present one: their ends and numbers
    for start, end, k in spans:
        active = [span for span in active if span[0] > start]
        found += [(min(j, k), max(j, k)) for _, j in active]
        active.append((end, k))
    return [(pointers[j], pointers[k]) for j, k in sorted(found)]


def _holds(declared: Extent, extent: Extent) -> bool:
    """Whether a buffer is the declared one, or a part of it."""
    if declared[1] == declared[2]:
        return declared[0] == extent[0] != 0
    return bool(extent[2]) and declared[1] <= extent[1] < declared[2] and extent[2] <= declared[2]
