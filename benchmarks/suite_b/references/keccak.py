"""Keccak as it was before SHA-3 padded otherwise. Constants are computed as FIPS 202 derives them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from suite_b.references.words import Words, filled, rotated


def keccak_512(message: Sequence[Words]) -> list[Words]:
    """Eight words of 64 bits; the message has fewer than nine."""
    return _state(message, 9)[:8]


def keccak_256(message: Sequence[Words]) -> list[Words]:
    """Four words of 64 bits; the message has fewer than 17."""
    return _state(message, 17)[:4]


def _state(message: Sequence[Words], rate: int) -> list[Words]:
    padding = [0] * (25 - len(message))
    padding[0] ^= 1
    padding[rate - 1 - len(message)] ^= 1 << 63
    a = [*message, *filled(padding, message[0])]
    for constant in _constants():
        columns = [a[x] ^ a[x + 5] ^ a[x + 10] ^ a[x + 15] ^ a[x + 20] for x in range(5)]
        b: list[Any] = [None] * 25
        for i, rotation in enumerate(_rotations()):
            x, y = i % 5, i // 5
            turned = a[i] ^ columns[(x + 4) % 5] ^ rotated(columns[(x + 1) % 5], -1)
            b[y + 5 * ((2 * x + 3 * y) % 5)] = rotated(turned, -rotation)
        a = [b[i] ^ ~b[i // 5 * 5 + (i + 1) % 5] & b[i // 5 * 5 + (i + 2) % 5] for i in range(25)]
        a[0] = a[0] ^ np.uint64(constant)
    return a


@cache
def _rotations() -> list[int]:
    """Of the 25 lanes (3.2.2 of the standard)."""
    found, x, y = [0] * 25, 1, 0
    for t in range(24):
        found[x + 5 * y] = (t + 1) * (t + 2) // 2 % 64
        x, y = y, (2 * x + 3 * y) % 5
    return found


@cache
def _constants() -> list[int]:
    """Of the 24 rounds, by a shift register (3.2.5 of the standard)."""
    register, bits = 1, []
    for _ in range(24 * 7):
        bits.append(register & 1)
        register = register << 1 ^ (0x171 if register & 0x80 else 0)
    return [sum(bits[7 * i + j] << (1 << j) - 1 for j in range(7)) for i in range(24)]
