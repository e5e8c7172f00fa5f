"""The arguments of a launch that is repeated: what is given again unchanged is not packed and not compared again.

Requires: one thread at a time. Ensures: contents and extents are those that packing everything anew would give. Objects
that cannot change (numbers, numpy's scalars) are recognised by identity; of arrays of torch and CuPy the address and
the size are read each time; all other arguments are packed each time. No array is held here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any

from goptx.launch.bind import Arguments, check_equal
from goptx.launch.device_arrays import Extent, extent_reader

NOTHING: Any = object()  # equal to no argument
Content = int | bytes


class RepeatedArguments:
    """Made for arguments that have not been given yet.

    contents: of each parameter of the kernels, in order: its bytes where it is passed by value as a block of bytes,
        else the number that they are (little-endian).
    extents: of each parameter that is a pointer; None of the others.
    """

    def __init__(self, arguments: Arguments) -> None:
        self._arguments = arguments
        self._slots = [slot for packing in arguments.packings.values() for slot in packing.slots]
        self._counts = [len(packing.slots) for packing in arguments.packings.values()]
        count = len(self._slots)
        self._positions = range(count)
        self.contents: list[Content] = [NOTHING] * count
        self.extents: list[Extent | None] = [None] * count
        self._same: list[Any] = [NOTHING] * count  # objects that cannot change
        self._kinds: list[Any] = [None] * count  # types of arrays
        self._readers: list[Callable[[Any], Extent | None]] = [_unread] * count  # of arrays
        self._doubt = ""
        self._compared = False

    def give(self, args: Sequence[Sequence[object]], independent: bool) -> tuple[Iterable[int], str]:
        """Takes one sequence for each kernel; returns the numbers of the parameters whose contents may have changed,
        and the text of a warning. Compares arguments unless the kernels are promised to be `independent`.

        Raises `InputError`, `DependentKernels`; nothing has changed then.
        """
        if [len(own) for own in args] != self._counts:
            self._arguments.packed(args, independent)  # raises the error
        moved: dict[int, Extent] = {}
        other: dict[int, object] = {}
        given = chain.from_iterable(args)
        for i, arg, same, kind, read, extent in zip(
            self._positions, given, self._same, self._kinds, self._readers, self.extents, strict=True
        ):
            if arg is same:
                continue
            if type(arg) is kind:
                now = read(arg)
                if now is not None:
                    if now != extent:
                        moved[i] = now
                    continue
            other[i] = arg
        return self._changed(moved, other, independent)

    def replace(self, args: Mapping[int, object], independent: bool) -> tuple[Iterable[int], str]:
        """As `give`, for the parameters with these numbers; the others stay."""
        return self._changed({}, args, independent)

    def _changed(
        self, moved: dict[int, Extent], other: Mapping[int, object], independent: bool
    ) -> tuple[Iterable[int], str]:
        """`moved` are arrays of the same types as before at other addresses or of other sizes."""
        if not moved and not other and (independent or self._compared):
            return (), "" if independent else self._doubt
        contents, extents = self.contents.copy(), self.extents.copy()
        for i, extent in moved.items():
            contents[i], extents[i] = extent[0], extent
        for i, arg in other.items():
            slot = self._slots[i]
            content, extents[i] = slot.packed(arg)
            contents[i] = content if slot.kind == "array" else int.from_bytes(content, "little")
        if self._arguments.lacking:
            check_equal(self._arguments.params, contents)
        doubt = "" if independent else self._arguments.independence.check(extents, contents=contents)
        self.contents, self.extents = contents, extents
        self._doubt, self._compared = doubt, not independent
        for i, arg in other.items():
            self._recognise(i, arg)
        return [*moved, *other], doubt

    def _recognise(self, i: int, arg: object) -> None:
        """Notes how it is found that the next argument of the parameter equals this one."""
        kind: Any = type(arg)
        read = extent_reader(kind) if self._slots[i].pointer else None
        self._same[i] = arg if read is None and _is_constant(kind) else NOTHING
        self._kinds[i], self._readers[i] = (None, _unread) if read is None else (kind, read)


def _unread(arg: object) -> None:
    """For what is not an array of torch or CuPy."""


@lru_cache(maxsize=256)
def _is_constant(kind: Any) -> bool:
    """Whether objects of the type never change."""
    import numpy as np

    return kind in (int, float, bool, bytes, type(None)) or (
        issubclass(kind, np.number | np.bool_) and kind.__module__ == "numpy"
    )
