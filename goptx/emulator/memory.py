"""Address spaces as byte arrays, with what is known of every byte: mapped, written, writable.

Requires: accesses of 1, 2, 4, 8 or 16 bytes. Every access is checked: `Trouble` names the lanes that leave what is
mapped, that are misaligned, or that read bytes nobody wrote.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from goptx.emulator.arithmetic.lanewise import Array
from goptx.emulator.trouble import Trouble

MAPPED, WRITTEN, WRITABLE = 1, 2, 4  # the state of a byte
ALL = MAPPED | WRITTEN | WRITABLE
STRIDE = 16  # bytes; what instances of a space are aligned to

# Where the spaces lie among generic addresses. Those of shared and local memory also have addresses of their
# own, which are smaller by the window; the others have only these.
WINDOWS = {
    "shared": 0x0100_0000_0000,
    "local": 0x0200_0000_0000,
    "param": 0x0300_0000_0000,
    "const": 0x0400_0000_0000,
    "global": 0x7000_0000_0000,
}
CODE = 0x0500_0000_0000  # function n has the address CODE + 16 n, which is in no space
FIRST = 1024  # the lowest address within shared and local memory, so that null is in neither


@dataclass(frozen=True, slots=True)
class Extent:
    """A buffer or variable: `name` has the bytes from `start` (an address of its space) up to `end`."""

    name: str
    start: int
    end: int


@dataclass(slots=True)
class Space:
    """One address space. `instances` of it, each of `size` bytes, lie one after the other in `bytes`; the lane
    that accesses it belongs to one of them (`of_lane`, None where there is one only). As long as it is `watched`,
    `changed` becomes true when a store changes anything."""

    name: str
    base: int
    size: int
    instances: int = 1
    of_lane: Array | None = None
    extents: list[Extent] = field(default_factory=list)
    bytes: Array = field(init=False)
    state: Array = field(init=False)
    views: dict[int, tuple[Array, Array]] = field(init=False)
    watched: bool = False
    changed: bool = False

    def __post_init__(self) -> None:
        self.size += -self.size % STRIDE
        self.bytes = np.zeros(self.instances * self.size, np.uint8)
        self.state = np.zeros_like(self.bytes)
        self._view()

    def _view(self) -> None:
        self.views = {w: (self.bytes.view(f"u{w}"), self.state.view(f"u{w}")) for w in (1, 2, 4, 8)}

    def grow(self, size: int) -> None:
        """Makes every instance `size` bytes large, what lies in it stays."""
        size += -size % STRIDE
        bytes_, state = self.bytes.reshape(self.instances, -1), self.state.reshape(self.instances, -1)
        self.bytes = np.zeros(self.instances * size, np.uint8)
        self.state = np.zeros_like(self.bytes)
        self.bytes.reshape(self.instances, size)[:, : self.size] = bytes_
        self.state.reshape(self.instances, size)[:, : self.size] = state
        self.size = size
        self._view()

    def map(self, start: int, size: int, state: int, name: str = "") -> None:
        """Gives `size` bytes from the address `start` on the state, in every instance."""
        at = start - self.base
        self.state.reshape(self.instances, self.size)[:, at : at + size] = state
        if name:
            self.extents.append(Extent(name, start, start + size))

    def load(self, addresses: Array, width: int, lanes: Array, strict: bool) -> tuple[Array, Array | None]:
        """The bytes at the addresses as unsigned integers; with them, where not all bytes were ever written, which
        of them were (None: all). Outside of local memory such a read is trouble in strict mode."""
        if width == 16:
            halves = [self.load(addresses + offset, 8, lanes, strict) for offset in self._halves(addresses, lanes)]
            known = None if halves[0][1] is None and halves[1][1] is None else _both(halves[0][1], halves[1][1])
            return np.stack([halves[0][0], halves[1][0]], axis=-1).view("V16")[..., 0], known
        words = self.words(addresses, width, lanes)
        content, state = self.views[width]
        found = state.take(words)
        want = _pattern(MAPPED | WRITTEN, width)
        if np.bitwise_and.reduce(found, initial=want) == want:
            return content.take(words), None
        self._mapped(found, MAPPED, width, addresses, lanes, "read")
        known = (found & want) == want
        if strict and self.name != "local":
            self._unwritten(addresses[~known], lanes[~known], width)
        return content.take(words), known

    def store(self, addresses: Array, values: Array, width: int, lanes: Array, known: Array | None) -> None:
        """Writes the values; where `known` is False, only local memory takes them, as never written."""
        if width == 16:
            halves = np.ascontiguousarray(values).view(np.uint64).reshape(-1, 2)
            for part, offset in enumerate(self._halves(addresses, lanes)):
                self.store(addresses + offset, halves[:, part], 8, lanes, known)
            return
        words = self.words(addresses, width, lanes)
        content, state = self.views[width]
        found = state.take(words)
        want = _pattern(MAPPED | WRITABLE, width)
        if np.bitwise_and.reduce(found, initial=want) != want:
            self._mapped(found, MAPPED | WRITABLE, width, addresses, lanes, "written")
        if self.watched:
            self.changed |= bool((content.take(words) != values).any())
        content[words] = values
        state[words] = _pattern(ALL, width) if known is None else np.where(known, _pattern(ALL, width), want)

    def finish(self, addresses: Array, width: int, lanes: Array) -> None:
        """What an earlier `store` put there counts as written from now on."""
        for offset in range(width):
            self.state[self.words(addresses + offset, 1, lanes)] = ALL

    def words(self, addresses: Array, width: int, lanes: Array) -> Array:
        """Positions in the view of that width. Raises `Trouble` for addresses out of reach or misaligned."""
        offsets = addresses - self.base
        beyond = max(0, self.size - width + 1)  # the first offset at which an access would leave the space
        if len(offsets) and int(offsets.view(np.uint64).max()) >= beyond:
            outside = offsets.view(np.uint64) >= np.uint64(beyond)
            self._outside(addresses[outside], lanes[outside], width, "accessed")
        if width > 1 and int(np.bitwise_or.reduce(offsets)) & (width - 1):
            wrong = (offsets & (width - 1)) != 0
            first = int(addresses[wrong][0])
            raise Trouble(
                "misaligned",
                f"{self.name} address {first:#x} is no multiple of the access's {width} bytes",
                lanes[wrong],
            )
        if self.of_lane is not None:
            offsets = offsets + self.of_lane.take(lanes) * self.size
        return offsets >> (width.bit_length() - 1)

    def places(self, addresses: Array, lanes: Array) -> Array:
        """What tells addresses apart across the instances of the space."""
        return addresses if self.of_lane is None else addresses + self.of_lane[lanes] * self.size

    def _halves(self, addresses: Array, lanes: Array) -> tuple[int, int]:
        if int(np.bitwise_or.reduce(addresses)) & 15:
            wrong = (addresses & 15) != 0
            raise Trouble(
                "misaligned",
                f"{self.name} address {int(addresses[wrong][0]):#x} is no multiple of the access's 16 bytes",
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
                else (f"{nearest.start - address} bytes ahead of the beginning")
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


def _both(first: Array | None, second: Array | None) -> Array | None:
    if first is None or second is None:
        return second if first is None else first
    return first & second


def _pattern(state: int, width: int) -> Any:
    """That state in each byte of a word."""
    return np.dtype(f"u{width}").type(int.from_bytes(bytes([state]) * width, "little"))


class Memory:
    """All spaces of a launch. Generic addresses are told apart by their window."""

    def __init__(self, spaces: list[Space]) -> None:
        self.spaces = {s.name: s for s in spaces}

    def parts(self, space: str, addresses: Array) -> list[tuple[Space, Array | slice, Array]]:
        """The spaces that the addresses lie in, which of the lanes go there, and their addresses in it."""
        if space:
            return [(self.spaces[space], slice(None), addresses)]
        local = self.spaces["global"]
        if not len(addresses) or int(addresses.min()) >= WINDOWS["global"]:
            return [(local, slice(None), addresses)]
        kinds = np.searchsorted(list(WINDOWS.values()), addresses, side="right") - 1
        names = list(WINDOWS)
        parts: list[tuple[Space, Array | slice, Array]] = []
        for kind in np.unique(kinds):
            chosen = np.flatnonzero(kinds == kind)
            name = names[kind] if kind >= 0 else "global"  # null and the like: no window, so no buffer
            own = addresses[chosen]
            parts.append((self.spaces[name], chosen, own - WINDOWS[name] if name in ("shared", "local") else own))
        return parts
