"""The arguments of a launch that is repeated: what is given again unchanged is not packed and not compared again.

Requires: one thread at a time. Ensures: contents and extents that are used are those that packing everything anew would
give. What needs no second look is decided by goptx/launch/repeated/argument_groups.py. No array is held here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

from goptx.launch.bind import Arguments, check_equal
from goptx.launch.device_arrays import Extent
from goptx.launch.repeated.argument_groups import ArgumentGroup, Content, Found, groups, packed
from goptx.launch.repeated.same_arguments import Same, same_arguments

NOTHING: Any = object()  # equal to no content
KINDS = 64  # combinations of types whose groups are cached


class RepeatedArguments:
    """Made for arguments that have not been given yet.

    contents: of each parameter of the kernels, in order: its bytes where it is passed by value as a block of bytes,
        else the number that they are (little-endian).
    extents: of each parameter that is a pointer; None of the others. Where kernels are promised to be independent, the
        size of an array that stays at its address may be an earlier one, unless the arguments are always `sized`.
    """

    def __init__(self, arguments: Arguments, sized: bool = False) -> None:
        self._arguments, self._sized = arguments, sized
        self._slots = [slot for packing in arguments.packings.values() for slot in packing.slots]
        self._counts = [len(packing.slots) for packing in arguments.packings.values()]
        self.contents: list[Content] = [NOTHING] * len(self._slots)
        self.extents: list[Extent | None] = [None] * len(self._slots)
        self._kinds: list[Any] = []
        self._groups: list[ArgumentGroup] = []
        self._known: dict[tuple[Any, ...], list[ArgumentGroup]] = {}  # by types
        self._same: Same | None = None  # recognises the arguments in use
        self._same_sized = False
        self._doubt = ""
        self._compared = False

    def give(self, args: Sequence[Sequence[object]], independent: bool) -> tuple[Iterable[int], str]:
        """Takes one sequence for each kernel; returns the numbers of the parameters whose contents or extents have
        changed, and the text of a warning. Compares arguments unless the kernels are promised to be `independent`.

        Raises `InputError`, `DependentKernels`; nothing has changed then.
        """
        sized = self._sized or not independent
        if self._same is not None:
            if sized is self._same_sized and self._recognised(args) and (independent or self._compared):
                return (), "" if independent else self._doubt
            self._same = None
        if self._counted(args) != self._counts:
            self._arguments.packed(args, independent)  # raises the error
        given = list(chain.from_iterable(args))
        kinds = list(map(type, given))
        if kinds != self._kinds:
            self._groups = self._grouped(kinds)
            self._kinds = kinds
        found: list[Found] = []
        for group in self._groups:
            found += group.changes(given, sized)
        if found or not (independent or self._compared):
            return self._changed(found, independent)
        if all(group.way for group in self._groups):  # given once more, so they may come again
            self._same = same_arguments(args, self._ways(), sized)
            self._same_sized = sized
        return (), "" if independent else self._doubt

    @staticmethod
    def _counted(args: Sequence[Sequence[object]]) -> list[int]:
        try:
            return list(map(len, args))
        except TypeError:  # an argument of its own in place of a kernel's sequence
            return []

    def _recognised(self, args: Sequence[Sequence[object]]) -> bool:
        assert self._same
        try:
            return self._same(args)
        except (TypeError, ValueError):  # other numbers of arguments
            return False

    def _ways(self) -> list[str]:
        """How each argument is recognised."""
        ways = {i: group.way for group in self._groups for i in group.positions}
        return [ways[i] for i in range(len(self._slots))]

    def replace(self, args: Mapping[int, object], independent: bool) -> tuple[Iterable[int], str]:
        """As `give`, for the parameters with these numbers; the others stay."""
        self._kinds, self._same = [], None  # the groups do not see these arguments
        return self._changed([packed(self._slots[i], i, arg) for i, arg in args.items()], independent)

    def _changed(self, found: Sequence[Found], independent: bool) -> tuple[Iterable[int], str]:
        """Of what was `found`, what differs from the earlier arguments is in use from now on."""
        contents, extents = self.contents.copy(), self.extents.copy()
        changed = [i for i, content, extent in found if content != contents[i] or extent != extents[i]]
        for i, content, extent in found:
            contents[i], extents[i] = content, extent
        doubt = ""
        if changed or not (independent or self._compared):
            if self._arguments.lacking:
                check_equal(self._arguments.params, contents)
            if not independent:
                doubt = self._arguments.independence.check(extents, contents=contents)
            self._doubt, self._compared = doubt, not independent
        elif not independent:
            doubt = self._doubt
        self.contents, self.extents = contents, extents
        for group in self._groups:
            group.accept()
        return changed, doubt

    def _grouped(self, kinds: Sequence[Any]) -> list[ArgumentGroup]:
        """The groups of arguments of these types, which have seen none of the arguments."""
        key = tuple(kinds)
        made = self._known.get(key)
        if made is None:
            if len(self._known) >= KINDS:
                self._known.clear()
            made = self._known[key] = groups(self._slots, kinds)
        for group in made:
            group.forget()
        return made
