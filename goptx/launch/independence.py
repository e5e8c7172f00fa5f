"""Whether the arguments of a launch keep the kernels independent.

Requires: parameters with known accesses (analysis/values/pointer_effects.py), and an extent for each argument.
"unknown" counts as read and written. Pointers stored in memory or in structures that cannot be tracked are not checked,
and the kernels' real range from a raw pointer is unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from operator import itemgetter

from goptx.errors import DependentKernels
from goptx.launch.arguments import POINTER, Access, parameter_names, passed_by_value
from goptx.launch.device_arrays import Extent, raw
from goptx.launch.parameter import Parameter

_ACCESS_WORDS: dict[Access, str] = {
    "read": "is read", "written": "is written", "both": "is read and written", "unknown": "may be read and written",
}  # fmt: skip
PAGE = 4096  # bytes; nothing is ever mapped below, where null pointers lead: such a number is not a pointer
ACCEPTED = 1024  # sets of arguments of which it is cached that they are independent
LAUNCH = "launch the kernels one after the other, or pass independent=True if they never touch the same bytes"


@dataclass(frozen=True, slots=True)
class _Pointer:
    """An argument, or the value at `offset` bytes into a structure."""

    position: int
    kernel: str
    access: Access
    offset: int | None = None

    def extent(self, extents: Sequence[Extent | None], contents: Sequence[bytes | int]) -> Extent | None:
        if self.offset is None:
            return extents[self.position]
        if not contents:
            return None
        structure = contents[self.position]
        assert isinstance(structure, bytes)
        return raw(int.from_bytes(structure[self.offset :][:POINTER], "little"))


class Independence:
    """`pairs` are pointers of different kernels, one of which its kernel writes while the other kernel accesses its."""

    def __init__(self, params: Sequence[Parameter]) -> None:
        self.params = params
        accessed = list(_pointers(params))
        self.pairs = [
            (one, other)
            for one, other in combinations(accessed, 2)
            if one.kernel != other.kernel and {one.access, other.access} != {"read"}
        ]
        positions = {(p.position, p.offset is None) for pair in self.pairs for p in pair}
        arrays = sorted(position for position, whole in positions if whole)
        self._compared: Callable[[Sequence[Extent | None]], Hashable] = itemgetter(*arrays) if arrays else len
        self._structures = sorted(position for position, whole in positions if not whole)
        self._accepted: set[Hashable] = set()

    def check(
        self, extents: Sequence[Extent | None], remedy: str = LAUNCH, contents: Sequence[bytes | int] = ()
    ) -> str:
        """Raises `DependentKernels` for a pair of arrays that overlap, and for a raw pointer that equals the other of
        its pair. A raw pointer into an array may or may not do harm: returns the warning for it, "" if there is none.

        `extents` are those of all parameters, None for other values than pointers; `contents` are those of all, bytes
        of structures, without which structures are not checked. What was accepted is not compared again.
        """
        structures = tuple(contents[i] for i in self._structures) if contents else None
        key = self._compared(extents), structures
        if key in self._accepted:  # most launches are like earlier ones
            return ""
        doubts = []
        for i, j in self.pairs:
            one, other = (p.extent(extents, contents) for p in (i, j))
            if one and other and one[1] <= other[2] and other[1] <= one[2]:
                what, certain = _common(one, other)
                if what and certain:
                    raise DependentKernels(
                        f"{self._in_words(i, j)}: {what}. The kernels depend on each other; {remedy}.",
                        rule="independent-kernels",
                    )
                if what:
                    doubts.append(f"{self._in_words(i, j)}: {what}. The kernels may depend on each other; {remedy}.")
        if not doubts:
            if len(self._accepted) >= ACCEPTED:
                self._accepted.clear()
            self._accepted.add(key)
        return "\n".join(doubts)

    def _in_words(self, one: _Pointer, other: _Pointer) -> str:
        """The accesses of both, a write first."""
        names = parameter_names(self.params)
        order = (other, one) if one.access == "read" else (one, other)
        return ", ".join(f"{_named(names[p.position], p.offset)} {_ACCESS_WORDS[p.access]}" for p in order)


def _pointers(params: Sequence[Parameter]) -> Iterator[_Pointer]:
    for i, p in enumerate(params):
        if p.kernel is None or p.access == "none":
            continue
        if passed_by_value(p):
            yield from (_Pointer(i, p.kernel, access, offset) for offset, access in p.inside)
        elif p.size == POINTER:
            yield _Pointer(i, p.kernel, p.access)


def _named(name: str, offset: int | None) -> str:
    """`A:0 (s)`, or `A:0+8 (s)` for the value at offset 8 in it."""
    return name.replace(" ", f"+{offset} ", 1) if offset else name


def _common(one: Extent, other: Extent) -> tuple[str, bool]:
    """What they have in common as text, "" for nothing, and whether both kernels surely access it."""
    pointers = [extent for extent in (one, other) if extent[1] == extent[2]]
    if not one[2] or not other[2] or (len(pointers) == 2 and one[0] < PAGE):
        return "", True
    if pointers and one[0] == other[0]:
        return ("the same array" if len(pointers) == 1 else f"the same pointer, {one[0]:#x}"), True
    size = min(one[2], other[2]) - max(one[1], other[1])
    if len(pointers) == 1:
        array = other if pointers[0] is one else one
        into = array[1] <= pointers[0][0] < array[2]
        return ("a raw pointer into the array of the other" if into else ""), False
    if size <= 0:
        return "", True
    return ("the same array" if one[1:] == other[1:] else f"their arrays have {size} bytes in common"), True
