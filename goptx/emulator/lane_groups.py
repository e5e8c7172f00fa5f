"""Groups of lanes of one warp at one place, and how groups diverge and reconverge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from goptx.emulator.instructions.lanewise import Array
from goptx.emulator.lanes import WARP, Lanes

FULL = np.uint32(0xFFFFFFFF)
LANE = np.arange(WARP, dtype=np.uint32)
NONE = -1  # no token: these lanes reconverge only at the kernel's end


@dataclass(slots=True, eq=False)
class Groups:
    """Groups at one place: for each its warp, the mask of its lanes, and the token under which it diverged. `ready` are
    their lanes as the machine last ran them: groups often stay together from place to place."""

    warps: Array
    masks: Array
    tokens: Array
    ready: Lanes | None = field(default=None, init=False)

    def __len__(self) -> int:
        return len(self.warps)

    def active(self) -> Array:
        """For each group, which of the 32 lanes are in it."""
        return (self.masks[:, None] >> LANE & np.uint32(1)).astype(np.bool_)

    def lanes(self) -> Array:
        """The flat numbers of all lanes, group after group."""
        numbers = self.warps[:, None] * WARP + np.arange(WARP)
        return numbers.ravel() if (self.masks == FULL).all() else numbers[self.active()]

    def packed(self, chosen: Array) -> Array:
        """One value for each lane of `lanes()` as one mask for each group."""
        if (self.masks == FULL).all():
            return pack(chosen.reshape(-1, WARP))
        bits = np.zeros((len(self), WARP), np.bool_)
        bits[self.active()] = chosen
        return pack(bits)

    def narrowed(self, masks: Array) -> Groups:
        """The groups with only the lanes in `masks`; groups without lanes are left out."""
        left = masks != 0
        return Groups(self.warps[left], masks[left], self.tokens[left])

    def chosen(self, which: Array) -> Groups:
        return Groups(self.warps[which], self.masks[which], self.tokens[which])


def pack(bits: Array) -> Array:
    """Rows of 32 bools as masks, lane 0 lowest."""
    return np.asarray(np.packbits(bits, axis=1, bitorder="little").view("<u4")[:, 0], np.uint32)


def joined(parts: Sequence[Groups]) -> Groups:
    """All of them in one, `united` if they come from several parts."""
    if len(parts) == 1:
        return parts[0]
    return united(Groups(*(np.concatenate([getattr(p, f) for p in parts]) for f in ("warps", "masks", "tokens"))))


def united(groups: Groups) -> Groups:
    """The groups in the order of their warps; those of one warp become one if they have the same token."""
    order = np.lexsort((groups.tokens, groups.warps))
    warps, masks, tokens = groups.warps[order], groups.masks[order], groups.tokens[order]
    first = np.flatnonzero(np.concatenate(([True], (warps[1:] != warps[:-1]) | (tokens[1:] != tokens[:-1]))))
    return Groups(warps[first], np.bitwise_or.reduceat(masks, first), tokens[first])


def no_groups() -> Groups:
    return Groups(np.zeros(0, np.int64), np.zeros(0, np.uint32), np.zeros(0, np.int64))


def popcount(masks: Array) -> Array:
    """The number of lanes in each mask."""
    bits = np.unpackbits(np.ascontiguousarray(masks).view(np.uint8)).reshape(-1, WARP)
    return np.asarray(bits.sum(axis=1, dtype=np.int64))


@dataclass(slots=True)
class Tokens:
    """Where diverged groups reconverge. A token has the lanes that diverged under it (`members`), those of them that
    have come to its place (`arrived`), and their previous token (`parent`)."""

    parent: Array = field(default_factory=lambda: np.zeros(0, np.int64))
    place: Array = field(default_factory=lambda: np.zeros(0, np.int64))
    warp: Array = field(default_factory=lambda: np.zeros(0, np.int64))
    members: Array = field(default_factory=lambda: np.zeros(0, np.uint32))
    arrived: Array = field(default_factory=lambda: np.zeros(0, np.uint32))
    free: list[int] = field(default_factory=list)

    def diverge(self, groups: Groups, place: int) -> Array:
        """A token for each group that diverges, to reconverge at `place`. A group that will reconverge there anyway
        keeps its token."""
        tokens = groups.tokens.copy()
        fresh = np.flatnonzero((tokens == NONE) | (self.place[tokens] != place) if len(self.place) else tokens == NONE)
        if not len(fresh):
            return tokens
        while len(self.free) < len(fresh):
            self._grow(max(64, len(self.place)))
        new = np.array([self.free.pop() for _ in range(len(fresh))], np.int64)
        self.parent[new], self.place[new], self.warp[new] = tokens[fresh], place, groups.warps[fresh]
        self.members[new], self.arrived[new] = groups.masks[fresh], 0
        tokens[fresh] = new
        return tokens

    def arrive(self, groups: Groups, place: int) -> tuple[Groups, Array]:
        """The groups that do not reconverge here, and the tokens of those that have arrived."""
        if not len(self.place):
            return groups, groups.tokens[:0]
        here = (groups.tokens != NONE) & (self.place[groups.tokens] == place)
        if not np.count_nonzero(here):
            return groups, groups.tokens[:0]
        np.bitwise_or.at(self.arrived, groups.tokens[here], groups.masks[here])
        return groups.chosen(~here), np.unique(groups.tokens[here])

    def complete(self, tokens: Array, alive: Array) -> Array:
        """The tokens of which no living member is missing; `alive` has a mask for each warp."""
        missing = self.members[tokens] & alive[self.warp[tokens]] & ~self.arrived[tokens]
        return np.asarray(tokens[missing == 0])

    def release(self, tokens: Array, alive: Array) -> Groups:
        """The arrived lanes go on under their previous token; empty tokens become free."""
        groups = Groups(self.warp[tokens], self.arrived[tokens] & alive[self.warp[tokens]], self.parent[tokens])
        self.members[tokens] &= ~self.arrived[tokens]
        self.arrived[tokens] = 0
        finished = tokens[(self.members[tokens] & alive[self.warp[tokens]]) == 0]
        self.place[finished] = NONE
        self.members[finished] = 0
        self.free += finished.tolist()
        return groups.narrowed(groups.masks)

    def waiting(self) -> Array:
        """The tokens with lanes that wait for others."""
        return np.flatnonzero(self.arrived)

    def _grow(self, more: int) -> None:
        size = len(self.place)
        for name in ("parent", "place", "warp", "members", "arrived"):
            old = getattr(self, name)
            setattr(self, name, np.concatenate([old, np.full(more, 0, old.dtype)]))
        self.place[size:] = NONE
        self.free += range(size, size + more)
