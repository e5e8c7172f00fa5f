"""SHA-256 digests of a message's last block with each thread's nonces, hashed again for each further pass (FIPS 180-4),
exact. Constants are computed as the standard derives them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from suite_b.references import host, words
from suite_b.references.words import Words, filled, roots, rotated, with_nonces

NONCE = 3  # its word in the block


def problem(given: Mapping[str, Any], found: Mapping[str, Any]) -> str:
    return words.problem("sha256", given, found, 8, partial(digests, given))


def digests(given: Mapping[str, Any], nonces: Words) -> Sequence[Words]:
    digest = compressed(filled(host(given["state"]), nonces), with_nonces(given["block"], NONCE, nonces))
    for _ in range(1, int(given["passes"])):
        padding = [1 << 31, *[0] * 6, 256]
        digest = compressed(filled(roots(2, 8, 32), nonces), [*digest, *filled(padding, nonces)])
    return digest


def compressed(state: Sequence[Words], block: Sequence[Words]) -> list[Words]:
    """The state after a block of 16 words (6.2.2 of the standard)."""
    w = list(block)
    for i in range(16, 64):
        x, y = w[i - 15], w[i - 2]
        sigma0 = rotated(x, 7) ^ rotated(x, 18) ^ x >> np.uint32(3)
        sigma1 = rotated(y, 17) ^ rotated(y, 19) ^ y >> np.uint32(10)
        w.append(w[i - 16] + sigma0 + w[i - 7] + sigma1)
    a, b, c, d, e, f, g, h = state
    for constant, word in zip(roots(3, 64, 32), w, strict=True):
        sum1 = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)
        t1 = h + sum1 + (e & f ^ ~e & g) + np.uint32(constant) + word
        t2 = (rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)) + (a & b ^ a & c ^ b & c)
        a, b, c, d, e, f, g, h = t1 + t2, a, b, c, d + t1, e, f, g
    return [old + new for old, new in zip(state, (a, b, c, d, e, f, g, h), strict=True)]
