"""Whether the arguments of a launch keep the kernels independent.

Requires: parameters with known accesses (analysis/values/pointer_effects.py), and an extent for each argument.
"unknown" counts as read and written. Pointers stored in memory or in structures that cannot be tracked are not checked,
and the kernels' real range from a raw pointer is unknown.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from goptx.errors import DependentKernels
from goptx.launch.arguments import POINTER, Access, parameter_names, passed_by_value
from goptx.launch.device_arrays import Extent, raw
from goptx.launch.parameter import Parameter

_ACCESS_WORDS: dict[Access, str] = {
    "read": "is read", "written": "is written", "both": "is read and written", "unknown": "may be read and written",
}  # fmt: skip
PAGE = 4096  # bytes; nothing is ever mapped below, where null pointers lead: such a number is not a pointer
LAUNCH = "launch the kernels one after the other, or pass independent=True if they never touch the same bytes"


@dataclass(frozen=True, slots=True)
class _Pointer:
    """An argument, or the value at `offset` bytes into a structure."""

    position: int
    kernel: str
    access: Access
    offset: int | None = None

    def extent(self, extents: Sequence[Extent | None], contents: Sequence[bytes]) -> Extent | None:
        if self.offset is None:
            return extents[self.position]
        if not contents:
            return None
        return raw(int.from_bytes(contents[self.position][self.offset :][:POINTER], "little"))


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
        self.structures = any(p.offset is not None for pair in self.pairs for p in pair)
        self._accepted: list[Extent | None] = []

    def check(self, extents: Sequence[Extent | None], remedy: str = LAUNCH, contents: Sequence[bytes] = ()) -> str:
        """Raises `DependentKernels` for a pair of arrays that overlap, and for a raw pointer that equals the other of
        its pair. A raw pointer into an array may or may not do harm: returns the warning for it, "" if there is none.

        `extents` are those of all parameters, None for other values than pointers; `contents` are the bytes of all,
        without which structures are not checked.
        """
        if extents == self._accepted and not self.structures:  # most launches are like the one before
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
            self._accepted = list(extents)
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
