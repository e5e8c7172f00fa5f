"""Global memory with the arrays of a launch specification, of which bytes are made when they are accessed first.

Requires: arguments as a specification describes them. Ensures: each element is drawn as described, by its position
alone, so that it is the same whatever is accessed before. It differs from that of sample_data.py, which draws whole
arrays. So a few CTAs of a launch on arrays of gigabytes need little memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from goptx.emulator.instructions.lanewise import Array
from goptx.emulator.memory.address_spaces import ALL, WINDOWS, Space
from goptx.emulator.memory.caller_buffers import Buffers
from goptx.launch.sample_data import POISON
from goptx.launch.specification import Argument

PAGE = 256  # bytes that are made together; every array begins with a page
BETWEEN = 256  # pages without memory between arrays
BEGUN = 1 << 16  # bytes for which there is room at first

Bits = np.ndarray[Any, np.dtype[np.uint64]]
Elements = np.ndarray[Any, np.dtype[Any]]


@dataclass(slots=True)
class DescribedSpace(Space):
    """Global memory in pages. `table` has for each page how many pages had been made with it, 0 if it was not made;
    `bytes` has them in the order in which they were made. `arrays`: each with its first page."""

    arrays: Sequence[tuple[int, Argument]] = ()
    table: Array = field(default_factory=lambda: np.zeros(0, np.int32))
    made: int = 0

    def words(self, addresses: Array, width: int, lanes: Array, aligned: bool = False) -> Array:
        """As `Space.words`, of addresses in the pages."""
        offsets = np.asarray(addresses, np.int64) - self.base
        outside = (offsets < 0) | (offsets > len(self.table) * PAGE - width)
        if outside.any():
            self._outside(addresses[outside], lanes[outside], width, "accessed")
        pages = offsets // PAGE
        found = self.table[pages]
        if not found.all():
            self._make(np.unique(pages[found == 0]))
            found = self.table[pages]
        places = (found.astype(np.int64) - 1) * PAGE + offsets % PAGE
        return Space.words(self, places + self.base, width, lanes, aligned)

    def places(self, addresses: Array, lanes: Array) -> Array:
        return addresses

    def begin(self, variables: int) -> None:
        """The first pages are those of the module's variables, which have their contents from the beginning."""
        self.made = -(-variables // PAGE)
        self.table[: self.made] = np.arange(1, self.made + 1)

    def _make(self, pages: Array) -> None:
        if (self.made + len(pages)) * PAGE > self.size:
            self.grow(max((self.made + len(pages)) * PAGE, 2 * self.size))
        self.table[pages] = np.arange(self.made + 1, self.made + len(pages) + 1)
        first = self.made
        self.made += len(pages)
        for start, argument in self.arrays:
            size = np.dtype(argument.dtype).itemsize
            own = np.flatnonzero((pages >= start) & ((pages - start) * PAGE < argument.length * size))
            if len(own):
                index = (pages[own] - start)[:, None] * (PAGE // size) + np.arange(PAGE // size)
                here = first + own
                content = elements(argument, index.ravel()).view(np.uint8)
                self.bytes.reshape(-1, PAGE)[here] = content.reshape(-1, PAGE)
                inside = np.repeat(index < argument.length, size, axis=1)
                self.state.reshape(-1, PAGE)[here] = np.where(inside, ALL, 0)


class DescribedBuffers(Buffers):
    """The arrays among the arguments of a launch. `values`: those of all arguments, addresses where they are arrays.
    variables: bytes of the module's variables."""

    def __init__(self, arguments: Sequence[Argument], variables: int) -> None:
        super().__init__()
        page = -(-variables // PAGE) + BETWEEN
        self.described: list[tuple[int, Argument]] = []
        self.values: list[np.generic] = []
        for argument in arguments:
            if argument.is_array:
                self.described.append((page, argument))
                self.values.append(np.uint64(WINDOWS["global"] + page * PAGE))
                page += -(-argument.length * np.dtype(argument.dtype).itemsize // PAGE) + BETWEEN
            else:
                self.values.append(np.dtype(argument.dtype).type(argument.value))
        self.pages = page

    def space(self, variables: int) -> Space:
        """Global memory, which begins with `variables` bytes for variables, with the arrays."""
        base, table = WINDOWS["global"], np.zeros(self.pages, np.int32)
        made = DescribedSpace("global", base, max(BEGUN, 2 * variables), arrays=self.described, table=table)
        made.begin(variables)
        return made

    def give_back(self, space: Space) -> None:
        """There are no arrays of a caller."""


def elements(argument: Argument, index: Array) -> Elements:
    """The elements of a described array at these positions."""
    dtype = np.dtype(argument.dtype)
    if argument.role == "out":
        return np.full(len(index) * dtype.itemsize, POISON, np.uint8).view(dtype)
    made = index * (argument.generator == "arange")
    if argument.generator not in ("zeros", "arange"):
        seed = _mixed(np.array([argument.seed + 1], np.uint64))
        made = _drawn(argument, _mixed(index.astype(np.uint64) + seed), dtype)
    return made.astype(dtype)


def _drawn(argument: Argument, bits: Bits, dtype: np.dtype[Any]) -> Elements:
    share, low = _share(bits), argument.low
    if argument.generator == "integers":
        drawn: Elements = np.floor(share * (int(argument.high) - int(low))) + int(low)
        return drawn.astype(np.uint64 if dtype.kind == "u" else np.int64)
    if argument.generator == "normal":  # Box and Muller, 1958
        drawn = low + argument.high * np.sqrt(-2.0 * np.log1p(-share)) * np.cos(2.0 * np.pi * _share(_mixed(bits)))
    else:
        drawn = low + (argument.high - low) * share
    return drawn


def _mixed(numbers: Bits) -> Bits:
    """Numbers whose bits depend on all bits of the given ones (SplitMix64: Steele, Lea and Flood, 2014)."""
    mixed = numbers + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


def _share(bits: Bits) -> Elements:
    """Numbers from 0 on, below 1."""
    return (bits >> np.uint64(11)) * 2.0**-53
