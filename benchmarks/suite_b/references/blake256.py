"""BLAKE-256 digests, 14 rounds without salt, of a message's last block with each thread's nonces, exact (SHA-3 proposal
BLAKE, version 1.3). Constants are computed as the proposal derives them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, partial
from itertools import count
from typing import Any

import numpy as np

from suite_b.references import host, words
from suite_b.references.blake import ORDER, mix
from suite_b.references.words import Words, filled, with_nonces

NONCE, ROUNDS, ROTATIONS = 3, 14, (16, 12, 8, 7)  # the nonce's word in the block


def problem(given: Mapping[str, Any], found: Mapping[str, Any]) -> str:
    return words.problem("blake256", given, found, 8, partial(digests, given))


def digests(given: Mapping[str, Any], nonces: Words) -> Sequence[Words]:
    state, message = filled(host(given["state"]), nonces), with_nonces(given["block"], NONCE, nonces)
    pi, bits = digits_of_pi(16), int(given["bits"])
    v = [*state, *filled([*pi[:4], pi[4] ^ bits, pi[5] ^ bits, *pi[6:8]], nonces)]
    for order in (ORDER * 2)[:ROUNDS]:
        pairs = zip(order[::2], order[1::2], strict=True)
        mix(v, [message[x] ^ np.uint32(pi[y]) for one, two in pairs for x, y in ((one, two), (two, one))], ROTATIONS)
    return [h ^ x ^ y for h, x, y in zip(state, v[:8], v[8:], strict=True)]


@cache
def digits_of_pi(number: int) -> list[int]:
    """The first words of 32 bits after the point, by Machin's formula."""
    one = 1 << 32 * number + 32  # with a word for rounding
    pi = 16 * _arctangent(5, one) - 4 * _arctangent(239, one)
    return [pi >> 32 * (number - i) & 0xFFFFFFFF for i in range(number)]


def _arctangent(inverse: int, one: int) -> int:
    """Of 1 / inverse, in units of 1 / one."""
    total, power = 0, one // inverse
    for i in count():
        if not power:
            break
        total += (-power if i % 2 else power) // (2 * i + 1)
        power //= inverse * inverse
    return total
