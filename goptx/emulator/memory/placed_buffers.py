"""Global memory at given addresses, as a graph of launches has it: allocations that lie far from each other.

Requires: allocations that do not overlap, and lie outside of the windows of other spaces. Ensures: kernels see the
given addresses; the contents of allocations, and of the module's variables, go on from launch to launch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from goptx.emulator.instructions.lanewise import Array
from goptx.emulator.memory.address_spaces import ALL, CODE, MOST, WINDOWS, Extent, Space
from goptx.emulator.memory.caller_buffers import ALIGNMENT, GAP, Buffers
from goptx.errors import InputError

LARGEST = 1 << 30  # bytes of all allocations together


@dataclass(slots=True)
class PlacedSpace(Space):
    """Global memory of which `starts`, `ends` are the addresses of the allocations, in order, and `offsets` where their
    bytes are in `bytes`. What is below the first offset are the variables of the module."""

    starts: Array = field(default_factory=lambda: np.zeros(0, np.int64))
    ends: Array = field(default_factory=lambda: np.zeros(0, np.int64))
    offsets: Array = field(default_factory=lambda: np.zeros(0, np.int64))
    variables: int = 0

    def words(self, addresses: Array, width: int, lanes: Array, aligned: bool = False) -> Array:
        """As `Space.words`, of addresses in the allocations, whose bytes may be aligned otherwise."""
        given = np.asarray(addresses, np.int64)
        which = np.maximum(np.searchsorted(self.starts, given, side="right") - 1, 0)
        inside = np.zeros(given.shape, np.bool_)
        moved = given
        if len(self.starts):
            inside = (given >= self.starts[which]) & (given + width <= self.ends[which])
            moved = np.where(inside, given - self.starts[which] + self.offsets[which] + self.base, given)
        outside = ~inside & ~((given >= self.base) & (given + width <= self.base + self.variables))
        if outside.any():
            self._outside(given[outside], lanes[outside], width, "accessed")
        return Space.words(self, moved, width, lanes)


class PlacedBuffers(Buffers):
    """The allocations of a graph: `contents` by address, which launches change in place."""

    def __init__(self, contents: Sequence[tuple[int, Array]]) -> None:
        super().__init__()
        self.placed = sorted(contents, key=lambda item: item[0])
        if sum(array.nbytes for _, array in self.placed) > LARGEST:
            raise InputError(
                f"the allocations have more than {LARGEST} bytes, the most that are emulated; give only those that the "
                "kernels use."
            )
        for address, array in self.placed:
            for name, start in {**WINDOWS, "code": CODE}.items():
                if name != "global" and address < start + MOST and start < address + array.nbytes:
                    raise _occupied(address, name)

    def space(self, variables: int) -> Space:
        """Global memory, which begins with `variables` bytes for variables, with the allocations."""
        base, offsets, end = WINDOWS["global"], [], variables + GAP
        for address, array in self.placed:
            if address < base + variables and base < address + array.nbytes:
                raise _occupied(address, "variables'")
            end += (address - end) % ALIGNMENT  # so that it is aligned as its address is
            offsets.append(end)
            end += array.nbytes
        starts = np.array([address for address, _ in self.placed], np.int64)
        sizes = np.array([array.nbytes for _, array in self.placed], np.int64)
        made = PlacedSpace(
            "global", base, end + GAP, starts=starts, ends=starts + sizes, offsets=np.array(offsets, np.int64),
            variables=variables,
        )  # fmt: skip
        for (address, array), offset in zip(self.placed, offsets, strict=True):
            made.state[offset : offset + array.nbytes] = ALL
            made.bytes[offset : offset + array.nbytes] = array
            made.extents.append(Extent(f"the allocation at {address:#x}", address, address + array.nbytes))
        return made

    def give_back(self, space: Space) -> None:
        """Copies the contents to the arrays."""
        assert isinstance(space, PlacedSpace)
        for (_, array), offset in zip(self.placed, space.offsets, strict=True):
            array[:] = space.bytes[offset : offset + array.nbytes]


def _occupied(address: int, name: str) -> InputError:
    return InputError(
        f"the allocation at {address:#x} lies where the emulator has its own {name} addresses; give it another address."
    )
