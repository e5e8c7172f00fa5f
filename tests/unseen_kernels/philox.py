"""Random numbers as Triton draws them."""

from __future__ import annotations

import numpy as np
from unseen_kernels.wide_arrays import Array


def philox(seed: int, counter: Array) -> Array:
    """The first word of Philox 4x32-10 (Salmon et al., SC 2011), with the counter in its first word."""
    c = [counter.astype(np.uint64), *(np.zeros(len(counter), np.uint64) for _ in range(3))]
    key, low = [np.uint64(seed), np.uint64(0)], np.uint64(0xFFFFFFFF)
    for _ in range(10):
        a, b = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [b >> np.uint64(32) ^ c[1] ^ key[0], b & low, a >> np.uint64(32) ^ c[3] ^ key[1], a & low]
        key = [key[0] + np.uint64(0x9E3779B9) & low, key[1] + np.uint64(0xBB67AE85) & low]
    return c[0]


def rand(seed: int, counter: Array) -> Array:
    """From 0 to 1, as `tl.rand`."""
    word = philox(seed, counter).astype(np.uint32).view(np.int32).astype(np.int64)
    drawn: Array = np.where(word < 0, -word - 1, word) / (1 << 31)
    return drawn
