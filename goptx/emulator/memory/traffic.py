"""Counts memory transactions: 32-byte sectors of global memory, wavefronts of shared memory.

A warp's access to global memory costs one transaction for each sector that its lanes access. An access to shared memory
costs one for each round that the 32 banks of 4 bytes need; lanes that read the same word share it. Accesses of 8 bytes
a lane are processed by half warps, of 16 by quarter warps (CUDA C++ Programming Guide, compute capability 5.x and
later).
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from goptx.emulator.instructions.lanewise import Array

SECTOR = 32  # bytes
BANKS = 32
BANK_BYTES = 4


class Traffic:
    """Transactions so far by kernel; `kernel` is the letter of the one whose instruction is running."""

    def __init__(self) -> None:
        self.kernel = ""
        self.shared: Counter[str] = Counter()
        self.globals: Counter[str] = Counter()

    def count(self, space: str, addresses: Array, lanes: Array, width: int) -> None:
        """Counts one access of `width` bytes by each lane; lanes of a warp are adjacent."""
        if space == "global":
            self.globals[self.kernel] += sectors(addresses, lanes, width)
        elif space == "shared":
            self.shared[self.kernel] += wavefronts(addresses, lanes, width)


def sectors(addresses: Array, lanes: Array, width: int) -> int:
    """The 32-byte transactions, warp by warp."""
    touched = addresses // SECTOR + (lanes >> 5 << 40)
    total = _distinct(touched)
    return total * max(1, width // SECTOR)


def wavefronts(addresses: Array, lanes: Array, width: int) -> int:
    """The rounds of the banks, warp by warp."""
    if not len(addresses):  # copies of no bytes
        return 0
    parts = max(1, width // BANK_BYTES)  # a round serves 32 / parts lanes
    rounds = lanes // (BANKS // min(parts, BANKS))
    words = addresses // BANK_BYTES
    starts = np.flatnonzero(np.concatenate(([True], rounds[1:] != rounds[:-1])))
    spread = np.maximum.reduceat(words, starts) - np.minimum.reduceat(words, starts) + parts
    if (spread <= BANKS).all():
        return len(starts)
    wide = np.repeat(spread > BANKS, np.diff(np.append(starts, len(words))))
    return int((spread <= BANKS).sum()) + _conflicts(words[wide], rounds[wide], parts)


def _conflicts(words: Array, rounds: Array, parts: int) -> int:
    _, numbers = np.unique(rounds, return_inverse=True)
    keys = np.unique((numbers[:, None] * (1 << 40) + words[:, None] + np.arange(parts)).ravel())
    in_bank = np.bincount((keys >> 40) * BANKS + keys % BANKS, minlength=BANKS * (int(numbers.max()) + 1))
    return int(in_bank.reshape(-1, BANKS).max(axis=1).sum())


def _distinct(keys: Array) -> int:
    steps = np.diff(keys)
    if len(steps) and int(steps.min()) < 0:
        return len(np.unique(keys))
    return int(np.count_nonzero(steps)) + 1
