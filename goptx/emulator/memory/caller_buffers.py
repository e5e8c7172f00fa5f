"""The caller's arrays as buffers in global memory.

Arrays that share memory on the host share it here, too. Between buffers lies unmapped space at least as large as they
are, so that an index that leaves one buffer does not reach another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from goptx.emulator.memory.address_spaces import ALL, WINDOWS, WRITABLE, Space
from goptx.errors import InputError
from goptx.launch.device_arrays import Extent, strided

Host = np.ndarray[Any, np.dtype[Any]]
ALIGNMENT = 256  # bytes, as for cudaMalloc
GAP = 1 << 16  # bytes at least between buffers


@dataclass(slots=True)
class _Buffer:
    name: str
    array: Host
    start: int  # in the host's memory
    end: int


@dataclass(slots=True)
class Buffers:
    """Arrays in the order in which they were added; `addresses` are known after they are laid out."""

    arrays: list[_Buffer] = field(default_factory=list)
    addresses: list[int] = field(default_factory=list)

    def add(self, name: str, array: Host) -> int:
        """Adds an array as a buffer and returns its number. Raises `InputError` for an array that is not contiguous."""
        if not array.flags.c_contiguous:
            raise InputError(f"parameter {name}: the array is not contiguous; pass np.ascontiguousarray(...) of it.")
        if array.dtype.hasobject:
            raise InputError(f"parameter {name}: an array of Python objects cannot be a buffer.")
        start = int(array.__array_interface__["data"][0])
        self.arrays.append(_Buffer(name, array, start, start + array.nbytes))
        return len(self.arrays) - 1

    def lay_out(self, start: int) -> list[int]:
        """The address of each buffer, from `start` on."""
        self.addresses = [0] * len(self.arrays)
        order = sorted(range(len(self.arrays)), key=lambda i: (self.arrays[i].start, self.arrays[i].end))
        host_start, host_end, base = 0, -1, start + ALIGNMENT
        for number in order:
            buffer = self.arrays[number]
            if buffer.start >= host_end:  # shares no memory with those before it
                base = (base + 2 * max(0, host_end - host_start) + GAP) // ALIGNMENT * ALIGNMENT
                host_start, host_end = buffer.start, buffer.end
            host_end = max(host_end, buffer.end)
            self.addresses[number] = base + buffer.start - host_start
        return self.addresses

    def space(self, variables: int) -> Space:
        """Global memory, which begins with `variables` bytes for variables, with the buffers and their contents."""
        base = WINDOWS["global"]
        ends = [a + b.array.nbytes - base for a, b in zip(self.addresses, self.arrays, strict=True)]
        made = Space("global", base, max([variables, *ends]) + GAP)
        placed = zip(self.addresses, self.arrays, strict=True)
        for address, buffer in sorted(placed, key=lambda item: item[1].array.flags.writeable):
            # read-only ones first: memory with a writable view is writable
            state = ALL if buffer.array.flags.writeable else ALL & ~WRITABLE
            made.map(address, buffer.array.nbytes, state, buffer.name)
            at = address - base
            made.bytes[at : at + buffer.array.nbytes] = _raw(buffer.array)
        return made

    def give_back(self, space: Space) -> None:
        """Copies the contents of the buffers to the arrays."""
        for address, buffer in zip(self.addresses, self.arrays, strict=True):
            if buffer.array.flags.writeable:
                at = address - space.base
                _raw(buffer.array)[:] = space.bytes[at : at + buffer.array.nbytes]


def host_extents(values: Sequence[object]) -> list[Extent | None]:
    """The host memory of the arrays among arguments; None for other values."""
    return [
        strided(v.__array_interface__["data"][0], v.shape, v.strides, v.itemsize)
        if isinstance(v, np.ndarray) and v.ndim
        else None
        for v in values
    ]


def _raw(array: Host) -> Host:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8) if array.size else np.zeros(0, np.uint8)
