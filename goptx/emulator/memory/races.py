"""Finds data races between threads of one CTA, by vector clocks (after FastTrack, Flanagan and Freund, PLDI 2009).

Each thread counts how often it made its accesses visible to others: at a barrier, at `bar.warp.sync`, at an atomic or
another strong access. Two accesses to one byte are ordered if the later thread has seen a later count of the earlier
one. Only the last two readers of a byte are recorded, which is enough where all threads of a CTA take part in its
barriers. Threads of different CTAs are not checked; nor is a write that does not change the value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from goptx.emulator.faults import Trouble
from goptx.emulator.instructions.lanewise import Array
from goptx.emulator.lanes import WARP
from goptx.emulator.memory.address_spaces import WRITTEN, Space

if TYPE_CHECKING:
    from goptx.emulator.machine import Machine

NOBODY = -1


class _Shadow:
    """For every byte of a space: the last writer and the last two readers, each with its count at the time, and whether
    that was a strong access."""

    def __init__(self, bytes_: int) -> None:
        self.writer, self.reader, self.other = (np.full(bytes_, NOBODY, np.int32) for _ in range(3))
        self.wrote, self.read, self.other_read = (np.zeros(bytes_, np.int32) for _ in range(3))
        self.strong_write = np.zeros(bytes_, np.bool_)
        self.strong_read = np.zeros(bytes_, np.bool_)


class Races:
    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        threads = machine.warps_per_cta * WARP
        self.threads = threads
        # clock[lane, thread]: the latest count of that thread of its CTA that the lane has seen
        self.clock = np.zeros((machine.lanes, threads), np.int32)
        self.clock[machine.every_lane, machine.thread] = 1
        self.shadows: dict[str, _Shadow] = {}
        self.published: dict[tuple[str, int], Array] = {}  # by strong accesses: the counts published there
        self.arrived: dict[int, Array] = {}  # by threads that have arrived at a barrier

    def read(self, space: Space, addresses: Array, width: int, lanes: Array, strong: bool) -> None:
        """Raises `Trouble` where another thread's write is not ordered before it."""
        if space.name not in ("shared", "global"):
            return
        if strong:
            self.acquire(space, addresses, lanes)
        shadow = self._shadow(space)
        at, lanes = self._bytes(space, addresses, width, lanes)
        self._check(
            shadow.writer[at], shadow.wrote[at], lanes, shadow.strong_write[at] & strong, "reads", "wrote", space
        )
        newer = self._seen(shadow.reader[at], shadow.read[at], lanes) | (shadow.reader[at] == NOBODY)
        keep = ~newer & (shadow.reader[at] != lanes)
        shadow.other[at] = np.where(keep, shadow.reader[at], NOBODY)
        shadow.other_read[at] = np.where(keep, shadow.read[at], 0)
        shadow.reader[at], shadow.read[at], shadow.strong_read[at] = lanes, self._count(lanes), strong
        self._same_instruction_readers(shadow, at, lanes)

    def write(self, space: Space, addresses: Array, values: Array, width: int, lanes: Array, strong: bool) -> None:
        """Raises `Trouble` where another thread's access is not ordered before it. Runs before the write."""
        if space.name not in ("shared", "global"):
            return
        shadow = self._shadow(space)
        new = np.ascontiguousarray(values).view(np.uint8).ravel()
        at, owners = self._bytes(space, addresses, width, lanes)
        changes = (space.bytes[at] != new) | (space.state[at] & WRITTEN == 0)
        both = shadow.strong_write[at] & strong
        self._check(shadow.writer[at], shadow.wrote[at], owners, both | ~changes, "writes", "wrote", space)
        for reader, read in ((shadow.reader[at], shadow.read[at]), (shadow.other[at], shadow.other_read[at])):
            self._check(reader, read, owners, (shadow.strong_read[at] & strong) | ~changes, "writes", "read", space)
        self._collide(at, new, owners, strong, space)
        who, at = owners[changes | strong], at[changes | strong]
        shadow.writer[at], shadow.wrote[at], shadow.strong_write[at] = who, self._count(who), strong
        if strong:
            self.publish(space, addresses, lanes)

    def written(self, space: Space, addresses: Array, width: int, lanes: Array) -> None:
        """The bytes of an earlier asynchronous `write` have been written now."""
        shadow = self._shadow(space)
        at, lanes = self._bytes(space, addresses, width, lanes)
        shadow.writer[at], shadow.wrote[at], shadow.strong_write[at] = lanes, self._count(lanes), False

    def atomic(self, space: Space, addresses: Array, width: int, lanes: Array) -> None:
        """An atomic access is ordered with other strong ones, and orders its thread's earlier accesses."""
        if space.name not in ("shared", "global"):
            return
        counts = self._count(lanes)
        for i in range(len(lanes)):  # one after the other: each sees those before it
            self.acquire(space, addresses[i : i + 1], lanes[i : i + 1])
            self.publish(space, addresses[i : i + 1], lanes[i : i + 1])
        shadow = self._shadow(space)
        at, owners = self._bytes(space, addresses, width, lanes)
        self._check(shadow.writer[at], shadow.wrote[at], owners, shadow.strong_write[at], "updates", "wrote", space)
        for reader, read in ((shadow.reader[at], shadow.read[at]), (shadow.other[at], shadow.other_read[at])):
            self._check(reader, read, owners, shadow.strong_read[at], "updates", "read", space)
        counts = np.repeat(counts, width)
        shadow.writer[at], shadow.wrote[at], shadow.strong_write[at] = owners, counts, True

    def arrive(self, slot: int, lanes: Array) -> None:
        """These threads of one CTA arrive at a barrier: threads that wait there will see their accesses."""
        seen = self.clock[lanes].max(axis=0)
        self.arrived[slot] = np.maximum(self.arrived[slot], seen) if slot in self.arrived else seen
        self.clock[lanes, self.machine.thread[lanes]] += 1

    def leave(self, slot: int, lanes: Array) -> None:
        """These threads have waited until all had arrived."""
        self.clock[lanes] = np.maximum(self.clock[lanes], self.arrived[slot])

    def warp(self, lanes: Array, peers: Array) -> None:
        """Lanes of warps have synchronised, each with those in its mask."""
        keys = lanes // WARP << 32 | peers.astype(np.int64)
        for key in np.unique(keys):
            members = lanes[keys == key]
            self.clock[members] = self.clock[members].max(axis=0)
            self.clock[members, self.machine.thread[members]] += 1

    # ------------------------------------------------------------------------------------------------

    def _shadow(self, space: Space) -> _Shadow:
        if space.name not in self.shadows:
            self.shadows[space.name] = _Shadow(len(space.bytes))
        return self.shadows[space.name]

    def _bytes(self, space: Space, addresses: Array, width: int, lanes: Array) -> tuple[Array, Array]:
        """The place of each accessed byte, and its lane. Raises `Trouble` for addresses out of bounds."""
        space.words(addresses, width, lanes)
        start = addresses - space.base
        if space.of_lane is not None:
            start = start + space.of_lane[lanes] * space.size
        return (start[:, None] + np.arange(width)).ravel(), np.repeat(lanes, width)

    def _count(self, lanes: Array) -> Array:
        return np.asarray(self.clock[lanes, self.machine.thread[lanes]])

    def _seen(self, others: Array, counts: Array, lanes: Array) -> Array:
        """Whether each lane has seen that count of the other lane; lanes of other CTAs count as seen."""
        same = (others != NOBODY) & (others // self.threads == lanes // self.threads)
        return np.asarray(~same | (self.clock[lanes, np.where(same, others % self.threads, 0)] >= counts))

    def _check(
        self, others: Array, counts: Array, lanes: Array, excused: Array, does: str, did: str, space: Space
    ) -> None:
        wrong = (others != lanes) & ~self._seen(others, counts, lanes) & ~excused
        if wrong.any():
            first = int(np.flatnonzero(wrong)[0])
            one, two = (int(self.machine.thread[int(x[first])]) for x in (lanes, others))
            raise Trouble(
                "race",
                f"thread {one} {does} {space.name} memory that thread {two} {did} with no barrier in between",
                np.unique(lanes[wrong]),
            )

    def _collide(self, at: Array, values: Array, lanes: Array, strong: bool, space: Space) -> None:
        """Raises `Trouble` for lanes that write different values to one byte in one instruction."""
        order = np.argsort(at, kind="stable")
        pairs = (at[order][1:] == at[order][:-1]) & (values[order][1:] != values[order][:-1])
        if pairs.any() and not strong:
            first = int(np.flatnonzero(pairs)[0])
            one, two = (int(lanes[order[first + i]]) for i in (0, 1))
            if one // self.threads == two // self.threads:
                threads = [int(self.machine.thread[x]) for x in (one, two)]
                raise Trouble(
                    "race",
                    f"threads {threads[0]} and {threads[1]} write different values to one place in {space.name} memory",
                    np.array([one, two]),
                )

    def _same_instruction_readers(self, shadow: _Shadow, at: Array, lanes: Array) -> None:
        """Where several lanes read one byte at once, records the last and another one of them as readers."""
        fewer = shadow.reader[at] != lanes
        shadow.other[at[fewer]] = lanes[fewer]
        shadow.other_read[at[fewer]] = self._count(lanes[fewer])

    def publish(self, space: Space, addresses: Array, lanes: Array) -> None:
        """Publishes the lanes' accesses so far to threads that read this place with a strong access."""
        for address, lane in zip(addresses.tolist(), lanes.tolist(), strict=True):
            key = self._key(space, address, lane)
            seen: Any = self.published.get(key)
            self.published[key] = self.clock[lane].copy() if seen is None else np.maximum(seen, self.clock[lane])
        self.clock[lanes, self.machine.thread[lanes]] += 1

    def acquire(self, space: Space, addresses: Array, lanes: Array) -> None:
        for address, lane in zip(addresses.tolist(), lanes.tolist(), strict=True):
            seen = self.published.get(self._key(space, address, lane))
            if seen is not None:
                self.clock[lane] = np.maximum(self.clock[lane], seen)

    def _key(self, space: Space, address: int, lane: int) -> tuple[str, int]:
        """The place, separately for each CTA: threads of different CTAs are not checked."""
        return f"{space.name} {lane // self.threads}", address
