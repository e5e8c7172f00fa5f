"""Whether the arguments of a launch keep the kernels independent (design.md, contract 7).

Requires: parameters of whose accesses something is known (analysis/pointers.py), an extent for each argument. "unknown"
counts as read and written. What lies behind pointers in structures and in memory is not seen, nor how far the kernels
really go from a raw pointer.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Protocol

from goptx.analysis.pointers import Access
from goptx.arguments import POINTER, ParameterLike, parameter_names, passed_by_value
from goptx.device_arrays import Extent
from goptx.errors import DependentKernels

_SAID: dict[Access, str] = {
    "read": "is read", "written": "is written", "both": "is read and written", "unknown": "may be read and written",
}  # fmt: skip
PAGE = 4096  # bytes; below, where null pointers lead, nothing is ever mapped: such a number is no pointer
LAUNCH = "launch the kernels one after the other, or pass independent=True if they never touch the same bytes"


class AccessedParameter(ParameterLike, Protocol):
    """`access` is what its kernel does to the memory that it points to."""

    @property
    def access(self) -> Access: ...


class Independence:
    """`pairs` are the parameters of different kernels, by position, of which one is written and the other accessed."""

    def __init__(self, params: Sequence[AccessedParameter]) -> None:
        self.params = params
        accessed = [
            i
            for i, p in enumerate(params)
            if p.kernel is not None and p.access != "none" and p.size == POINTER and not passed_by_value(p)
        ]
        self.pairs = [
            (i, j)
            for i, j in combinations(accessed, 2)
            if params[i].kernel != params[j].kernel and {params[i].access, params[j].access} != {"read"}
        ]
        self._accepted: list[Extent | None] = []

    def check(self, extents: Sequence[Extent | None], remedy: str = LAUNCH) -> str:
        """Raises `DependentKernels` for a pair of arrays that have bytes in common, and for a raw pointer that equals
        the other of its pair. A raw pointer into an array may or may not harm: gives what to warn of, "" if nothing.

        Extents are those of all parameters, None for what is no pointer.
        """
        if extents == self._accepted:  # most launches are like the one before
            return ""
        doubts = []
        for i, j in self.pairs:
            one, other = extents[i], extents[j]
            if one and other and one[1] <= other[2] and other[1] <= one[2]:
                what, certain = _common(one, other)
                if what and certain:
                    raise DependentKernels(f"{self._said(i, j)}: {what}. The kernels depend on each other; {remedy}.")
                if what:
                    doubts.append(f"{self._said(i, j)}: {what}. The kernels may depend on each other; {remedy}.")
        if not doubts:
            self._accepted = list(extents)
        return "\n".join(doubts)

    def _said(self, i: int, j: int) -> str:
        """What is done to either, what is written first."""
        names, accesses = parameter_names(self.params), [p.access for p in self.params]
        order = (j, i) if accesses[i] == "read" else (i, j)
        return ", ".join(f"{names[k]} {_SAID[accesses[k]]}" for k in order)


def _common(one: Extent, other: Extent) -> tuple[str, bool]:
    """What they have in common, "" for nothing, and whether the kernels surely meet there."""
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
