"""Memory for the parameters of launches, in the layout in which the driver takes them. Imports nothing of CUDA."""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise

from goptx.launch.repeated.argument_groups import Content

WORD = 8  # bytes; each parameter begins at a multiple, which is enough for all types of PTX parameters


class ParameterMemory:
    """The parameters of several launches. Each launch has `sizes` in bytes of the parameters that are written, and the
    contents of constant `hidden` ones, which come after them.

    tables: for each launch the address of the table with the address of each parameter, which the driver takes.
    starts: of each parameter that is written, the position of its first word in `words`.
    words: all of the memory.

    The driver reads the memory while it starts a launch, so nothing may write it meanwhile.
    """

    def __init__(self, launches: Sequence[tuple[Sequence[int], Sequence[bytes]]]) -> None:
        counts = [len(sizes) + len(hidden) for sizes, hidden in launches]
        slots = [-(-size // WORD) for sizes, hidden in launches for size in (*sizes, *map(len, hidden))]
        starts = [0, *accumulate(slots)]
        self.words = array("Q", bytes(WORD * (starts[-1] + 1)))
        self._bytes = memoryview(self.words).cast("B")
        base, _ = self.words.buffer_info()
        self._table = (ctypes.c_void_p * (len(slots) + 1))(*[base + WORD * start for start in starts[:-1]])
        firsts = [0, *accumulate(counts)]
        self.tables = [ctypes.addressof(self._table) + WORD * first for first in firsts[:-1]]
        ends = [starts[first] for first in firsts]
        self._parts = [self._bytes[WORD * one : WORD * other] for one, other in pairwise(ends)]
        self.starts: list[int] = []  # of the parameters that are written, in words
        for first, (sizes, hidden) in zip(firsts, launches, strict=False):
            self.starts += starts[first : first + len(sizes)]
            for start, content in zip(starts[first + len(sizes) :], hidden, strict=False):
                self._put(start, content)

    def write(self, position: int, content: Content) -> None:
        """Writes the parameter with this number among those of all launches that are written: bytes, or the number that
        they are (little-endian), of at most `WORD` bytes."""
        if isinstance(content, int):
            self.words[self.starts[position]] = content
        else:
            self._put(self.starts[position], content)

    def write_last(self, number: int) -> None:
        """Writes the last parameter of the last launch, which may be a hidden one: a number of at most `WORD` bytes."""
        self.words[-2] = number

    def contents(self) -> list[bytes]:
        """All parameters of each launch as one string; equal for equal parameters."""
        return [part.tobytes() for part in self._parts]

    def fill(self, contents: Iterable[Content]) -> None:
        """Writes all of them."""
        for position, content in enumerate(contents):
            self.write(position, content)

    def _put(self, start: int, content: bytes) -> None:
        self._bytes[WORD * start : WORD * start + len(content)] = content
