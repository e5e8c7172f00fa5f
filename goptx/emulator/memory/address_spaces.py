"""Address spaces as byte arrays, with the state of every byte: mapped, written, writable.

Requires: accesses of 1, 2, 4, 8 or 16 bytes. Every access is checked: `Trouble` names the lanes that access unmapped or
misaligned addresses, or read bytes that were never written.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from goptx.emulator.faults import Trouble
from goptx.emulator.instructions.lanewise import Array
from goptx.emulator.memory.undefined import whole

MAPPED, WRITTEN, WRITABLE = 1, 2, 4  # the state of a byte
ALL = MAPPED | WRITTEN | WRITABLE
STRIDE = 16  # bytes; the alignment of the instances of a space

# The windows of the spaces among generic addresses. Shared and local memory also have addresses of their own, which are
# smaller by the window's begin; the others have only generic ones.
WINDOWS = {
    "shared": 0x0100_0000_0000,
    "local": 0x0200_0000_0000,
    "param": 0x0300_0000_0000,
    "const": 0x0400_0000_0000,
    "global": 0x7000_0000_0000,
}
MOST = 1 << 32  # bytes of a window that are that space's; further generic addresses are global ones
CODE = 0x0500_0000_0000  # function n has the address CODE + 16 n, which is in no space
FIRST = 1024  # the lowest address within shared and local memory, so that null is in neither


@dataclass(frozen=True, slots=True)
class Extent:
    """A buffer or variable: `name` is the bytes from `start` (an address of its space) up to `end`."""

    name: str
    start: int
    end: int


@dataclass(slots=True)
class Space:
    """One address space. Its instances, each of `size` bytes, lie one after the other in `bytes`; `of_lane` has each
    lane's instance (None where there is only one), `begins` where in `bytes` that is; `every_lane` are the numbers of
    all lanes, the array itself that accesses of all of them name. While it is `watched`, `changed`
    becomes true when a store changes anything. `partly` has the defined bits of bytes that are defined in part; it
    exists from the first such byte on."""

    name: str
    base: int
    size: int
    instances: int = 1
    of_lane: Array | None = None
    extents: list[Extent] = field(default_factory=list)
    bytes: Array = field(init=False)
    state: Array = field(init=False)
    views: dict[int, tuple[Array, Array]] = field(init=False)
    begins: Array | None = field(init=False)
    watched: bool = False
    changed: bool = False
    partly: Array | None = field(default=None, init=False)
    every_lane: Array | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self.size += -self.size % STRIDE
        self.bytes = np.zeros(self.instances * self.size, np.uint8)
        self.state = np.zeros(len(self.bytes), np.uint8)
        self._view()

    def _view(self) -> None:
        self.begins = None if self.of_lane is None else self.of_lane * self.size
        self.views = {w: (self.bytes.view(f"u{w}"), self.state.view(f"u{w}")) for w in (1, 2, 4, 8)}

    def grow(self, size: int) -> None:
        """Enlarges every instance to `size` bytes and preserves its contents."""
        size += -size % STRIDE
        self.bytes = self._grown(self.bytes, size)
        self.state = self._grown(self.state, size)
        self.partly = None if self.partly is None else self._grown(self.partly, size)
        self.size = size
        self._view()

    def _grown(self, old: Array, size: int) -> Array:
        new = np.zeros((self.instances, size), old.dtype)
        new[:, : self.size] = old.reshape(self.instances, -1)
        return new.reshape(-1)

    def map(self, start: int, size: int, state: int, name: str = "", instances: Array | None = None) -> None:
        """Sets the state of `size` bytes from the address `start` on, in every instance or in some."""
        at, which = start - self.base, slice(None) if instances is None else instances
        self.state.reshape(self.instances, self.size)[which, at : at + size] = state
        if self.partly is not None:
            self.partly.reshape(self.instances, self.size)[which, at : at + size] = 0
        if name:
            self.extents.append(Extent(name, start, start + size))

    def undefined(self, positions: Array) -> Array:
        """The undefined bits of the bytes at those positions, as bytes."""
        lost = np.where(self.state[positions] & WRITTEN, 0, 255).astype(np.uint8)
        return lost if self.partly is None else lost & ~self.partly[positions]

    def load(
        self, addresses: Array, width: int, lanes: Array, strict: bool, aligned: bool = False
    ) -> tuple[Array, Array | None]:
        """The bytes at the addresses as unsigned integers, and their undefined bits (None: all are defined; for 16
        bytes, the lanes with any). Outside of local memory reading undefined bits is a fault in strict mode. `aligned`
        states that the addresses are known to be multiples of the width."""
        if width == 16:
            halves = [self.load(addresses + offset, 8, lanes, strict) for offset in self._halves(addresses, lanes)]
            lost = [missing != 0 for _, missing in halves if missing is not None]
            values = np.stack([halves[0][0], halves[1][0]], axis=-1).view("V16")[..., 0]
            return values, np.logical_or.reduce(lost) if lost else None
        words = self.words(addresses, width, lanes, aligned)
        content, state = self.views[width]
        found = state.take(words)
        want = _pattern(MAPPED | WRITTEN, width)
        if np.bitwise_and.reduce(found) & want == want:
            return content.take(words), None
        self._mapped(found, MAPPED, width, addresses, lanes, "read")
        missing = self.missing(words, width)
        if strict and self.name != "local" and (lost := missing != 0).any():
            self._unwritten(addresses[lost], lanes[lost], width)
        return content.take(words), missing

    def missing(self, words: Array, width: int) -> Array:
        """The undefined bits in words of that width, by position among such words."""
        return self.undefined(words[:, None] * width + np.arange(width)).view(f"u{width}")[:, 0]

    def store(
        self, addresses: Array, values: Array, width: int, lanes: Array, missing: Array | None, aligned: bool = False
    ) -> None:
        """Writes the values; the bits that are `missing`, or all of a lane, count as undefined. `aligned` as for
        `load`."""
        if width == 16:
            halves = np.ascontiguousarray(values).view(np.uint64).reshape(-1, 2)
            for part, offset in enumerate(self._halves(addresses, lanes)):
                self.store(addresses + offset, halves[:, part], 8, lanes, missing)
            return
        words = self.words(addresses, width, lanes, aligned)
        content, state = self.views[width]
        found = state.take(words)
        want = _pattern(MAPPED | WRITABLE, width)
        if np.bitwise_and.reduce(found) & want != want:
            self._mapped(found, MAPPED | WRITABLE, width, addresses, lanes, "written")
        if self.watched:
            self.changed |= bool((content.take(words) != values).any())
        content[words] = values
        if missing is None:
            state[words] = _pattern(ALL, width)
            return
        lost = np.ascontiguousarray(whole(missing, content.dtype))
        bytes_ = lost.view(np.uint8)
        state[words] = np.where(bytes_ == 0, ALL, MAPPED | WRITABLE).astype(np.uint8).view(f"u{width}")
        if self.partly is None and ((bytes_ == 0) | (bytes_ == 255)).all():
            return
        if self.partly is None:
            self.partly = np.zeros_like(self.bytes)
        self.partly.view(f"u{width}")[words] = ~lost

    def finish(self, addresses: Array, width: int, lanes: Array) -> None:
        """Makes the values of an earlier `store` defined."""
        for offset in range(width):
            self.state[self.words(addresses + offset, 1, lanes)] = ALL

    def words(self, addresses: Array, width: int, lanes: Array, aligned: bool = False) -> Array:
        """Positions in the view of that width. Raises `Trouble` for addresses out of bounds or misaligned; they are not
        misaligned if known to be `aligned`."""
        offsets = addresses - self.base
        beyond = max(0, self.size - width + 1)  # the first offset at which an access would leave the space
        if len(offsets) and int(np.maximum.reduce(offsets.view(np.uint64))) >= beyond:
            outside = offsets.view(np.uint64) >= np.uint64(beyond)
            self._outside(addresses[outside], lanes[outside], width, "accessed")
        if width > 1 and not aligned and int(np.bitwise_or.reduce(offsets)) & (width - 1):
            wrong = (offsets & (width - 1)) != 0
            first = int(addresses[wrong][0])
            raise Trouble(
                "misaligned",
                f"{self.name} address {first:#x} is not a multiple of the access's {width} bytes",
                lanes[wrong],
            )
        if self.begins is not None:
            offsets = offsets + (self.begins if lanes is self.every_lane else self.begins.take(lanes))
        return offsets >> (width.bit_length() - 1)

    def places(self, addresses: Array, lanes: Array) -> Array:
        """Numbers that identify addresses across the instances of the space."""
        return addresses if self.begins is None else addresses + self.begins[lanes]

    def _halves(self, addresses: Array, lanes: Array) -> tuple[int, int]:
        if int(np.bitwise_or.reduce(addresses)) & 15:
            wrong = (addresses & 15) != 0
            raise Trouble(
                "misaligned",
                f"{self.name} address {int(addresses[wrong][0]):#x} is not a multiple of the access's 16 bytes",
                lanes[wrong],
            )
        return 0, 8

    def _mapped(self, found: Array, want: int, width: int, addresses: Array, lanes: Array, how: str) -> None:
        for needed in (MAPPED, want):
            pattern = _pattern(needed, width)
            wrong = (found & pattern) != pattern
            if wrong.any() and needed == MAPPED:
                self._outside(addresses[wrong], lanes[wrong], width, how)
            if wrong.any():
                name = self._extent(int(addresses[wrong][0])).name
                raise Trouble("read-only", f"{name} is read-only and is written", lanes[wrong])

    def _unwritten(self, addresses: Array, lanes: Array, width: int) -> None:
        extent = self._extent(int(addresses[0]))
        where = (
            f"byte {int(addresses[0]) - extent.start} of {extent.name}" if extent.name else f"{int(addresses[0]):#x}"
        )
        raise Trouble(
            "uninitialised", f"{width} bytes of {self.name} memory are read that nobody wrote, at {where}", lanes
        )

    def _outside(self, addresses: Array, lanes: Array, width: int, how: str) -> None:
        address = int(addresses[0])
        nearest = min(self.extents, key=lambda e: max(e.start - address, address - e.end), default=None)
        hint = ""
        if nearest is not None:
            size = nearest.end - nearest.start
            place = (
                f"{address - nearest.end + width} bytes past the end"
                if address >= nearest.start
                else (f"{nearest.start - address} bytes before the beginning")
            )
            hint = f"; the nearest is {nearest.name} of {size} bytes, this is {place}"
        raise Trouble(
            "out of bounds",
            f"{width} bytes at {self.name} address {address:#x} are {how}, where no buffer or variable lives{hint}",
            lanes,
        )

    def _extent(self, address: int) -> Extent:
        for extent in self.extents:
            if extent.start <= address < extent.end:
                return extent
        return Extent("", address, address)


@lru_cache
def _pattern(state: int, width: int) -> Any:
    """The state repeated in each byte of a word."""
    return np.dtype(f"u{width}").type(int.from_bytes(bytes([state]) * width, "little"))


class Memory:
    """All spaces of a launch. The windows distinguish generic addresses."""

    def __init__(self, spaces: list[Space]) -> None:
        self.spaces = {s.name: s for s in spaces}

    def parts(self, space: str, addresses: Array) -> list[tuple[Space, Array | slice, Array]]:
        """The spaces of the addresses, each with its lanes and their addresses in it."""
        if space:
            return [(self.spaces[space], slice(None), addresses)]
        local = self.spaces["global"]
        if not len(addresses) or int(addresses.min()) >= WINDOWS["global"]:
            return [(local, slice(None), addresses)]
        starts = np.array([0, *WINDOWS.values()])
        kinds = np.searchsorted(starts[1:], addresses, side="right") - 1
        kinds[addresses - starts[kinds + 1] >= MOST] = -1
        names = list(WINDOWS)
        parts: list[tuple[Space, Array | slice, Array]] = []
        for kind in np.unique(kinds):
            chosen = np.flatnonzero(kinds == kind)
            name = names[kind] if kind >= 0 else "global"  # null and similar: no window, so no buffer
            own = addresses[chosen]
            parts.append((self.spaces[name], chosen, own - WINDOWS[name] if name in ("shared", "local") else own))
        return parts
