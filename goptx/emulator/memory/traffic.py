"""Counts memory transactions: 32-byte sectors of global memory, wavefronts of shared memory.

A warp's access to global memory costs one transaction for each sector that its lanes access. An access to shared memory
costs one for each round that the 32 banks of 4 bytes need; lanes that read the same word share it. Accesses of 16 bytes
a lane are processed by half warps: of an H200 a load of 8 bytes takes 2 rounds, or 1 if all lanes read the same, one of
16 bytes 4 or 2 (measured).
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from goptx.emulator.instructions.lanewise import Array
from goptx.emulator.lanes import WARP

SECTOR = 32  # bytes
BANKS = 32
BANK_BYTES = 4
MOST = 1 << 15  # lanes whose accesses are counted together
LARGEST = np.iinfo(np.int64).max


class Traffic:
    """Transactions so far by kernel; `kernel` is the letter of the one whose instruction is running.

    Accesses are collected and counted many at a time, as if each had been made by warps of its own: for few lanes, that
    costs a tenth of counting each where it happens.
    """

    def __init__(self) -> None:
        self.kernel = ""
        self._counted: dict[str, Counter[str]] = {space: Counter() for space in _RULES}
        self._collected: dict[tuple[str, str, int], list[tuple[Array, Array]]] = {}
        self._size = 0  # lanes in `_collected`

    @property
    def shared(self) -> Counter[str]:
        return self._up_to_now("shared")

    @property
    def globals(self) -> Counter[str]:
        return self._up_to_now("global")

    def count(self, space: str, addresses: Array, lanes: Array, width: int) -> None:
        """Counts one access of `width` bytes by each lane; lanes of a warp are adjacent. The arrays must not be changed
        later."""
        if space not in _RULES:
            return
        self._collected.setdefault((space, self.kernel, width), []).append((addresses, lanes))
        self._size += len(lanes)
        if self._size > MOST:
            self._count_collected()

    def _up_to_now(self, space: str) -> Counter[str]:
        self._count_collected()
        return self._counted[space]

    def _count_collected(self) -> None:
        for (space, kernel, width), accesses in self._collected.items():
            self._counted[space][kernel] += _RULES[space](*_united(accesses), width)
        self._collected.clear()
        self._size = 0


def _united(accesses: list[tuple[Array, Array]]) -> tuple[Array, Array]:
    """Several accesses as one, each by warps of its own."""
    if len(accesses) == 1:
        return accesses[0]
    addresses, lanes = (np.concatenate(arrays) for arrays in zip(*accesses, strict=True))
    spacing = (int(lanes.max(initial=0)) // WARP + 1) * WARP
    lengths = [len(numbers) for _, numbers in accesses]
    return addresses, lanes + np.repeat(np.arange(0, spacing * len(accesses), spacing), lengths)


def sectors(addresses: Array, lanes: Array, width: int) -> int:
    """The 32-byte transactions, warp by warp."""
    if not len(addresses):  # copies of no bytes
        return 0
    touched = addresses // SECTOR
    first = int(touched.min())
    reach = int(touched.max()) - first + 1
    warps = int(lanes.max()) // WARP + 1
    if reach * warps > LARGEST:  # allocations far from each other
        touched, first, reach = np.unique(touched, return_inverse=True)[1], 0, len(touched)
    return _distinct(touched - first + lanes // WARP * reach, reach * warps) * max(1, width // SECTOR)


def wavefronts(addresses: Array, lanes: Array, width: int) -> int:
    """The rounds of the banks, warp by warp."""
    if not len(addresses):  # copies of no bytes
        return 0
    parts = max(1, width // BANK_BYTES)
    rounds = lanes // (WARP if parts <= 2 else max(2 * BANKS // parts, 1))  # lanes that share rounds
    words = addresses // BANK_BYTES
    starts = np.flatnonzero(np.concatenate(([True], rounds[1:] != rounds[:-1])))
    spread = np.maximum.reduceat(words, starts) - np.minimum.reduceat(words, starts) + parts
    if (spread <= BANKS).all():
        return len(starts)
    wide = np.repeat(spread > BANKS, np.diff(np.append(starts, len(words))))
    return int((spread <= BANKS).sum()) + _conflicts(words[wide], rounds[wide], parts)


_RULES = {"global": sectors, "shared": wavefronts}


def _conflicts(words: Array, rounds: Array, parts: int) -> int:
    _, numbers = np.unique(rounds, return_inverse=True)
    keys = np.unique((numbers[:, None] * (1 << 40) + words[:, None] + np.arange(parts)).ravel())
    in_bank = np.bincount((keys >> 40) * BANKS + keys % BANKS, minlength=BANKS * (int(numbers.max()) + 1))
    return int(in_bank.reshape(-1, BANKS).max(axis=1).sum())


DENSE = 64  # numbers below the bound for each key, at which a table of them is quicker than sorting the keys


def _distinct(keys: Array, bound: int) -> int:
    """How many different ones there are of the keys, which are from 0 up to the bound."""
    steps = keys[1:] - keys[:-1]
    if not len(steps) or int(steps.min()) >= 0:
        return int(np.count_nonzero(steps)) + 1
    if bound > DENSE * len(keys):
        return len(np.unique(keys))
    found = np.zeros(bound, np.bool_)
    found[keys] = True
    return int(np.count_nonzero(found))
